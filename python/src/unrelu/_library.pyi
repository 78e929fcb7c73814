# SPDX-License-Identifier: Apache-2.0
# What cffi compiles has no types of its own: everything that comes from it is Any, and has one
# where it leaves the function that asked.
from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

class _FFI:
    def def_extern(self, **options: Any) -> Callable[[_F], _F]: ...
    def __getattr__(self, name: str) -> Any: ...

ffi: _FFI
lib: Any
