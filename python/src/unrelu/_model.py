# SPDX-License-Identifier: Apache-2.0
"""Models of the library: their members as arrays of NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import in_python, text_of
from ._library import ffi, lib

_TYPES: dict[int, tuple[str, Any]] = {
    lib.UNRELU_DOUBLES: ("double", np.float64),
    lib.UNRELU_SIZES: ("size_t", np.uintp),
    lib.UNRELU_INTS: ("int", np.intc),
    lib.UNRELU_BYTES: ("uint8_t", np.uint8),
    lib.UNRELU_UINT32S: ("uint32_t", np.uint32),
    lib.UNRELU_UINT64S: ("uint64_t", np.uint64),
}


def _value(array: Any) -> Any:
    """A copy of one member: a number, a text, or an array."""
    shape = tuple(array.shape[i] for i in range(array.dimensions))
    count = math.prod(shape)
    if array.type == lib.UNRELU_TEXTS:
        texts = ffi.cast("const char *const *", array.data)
        found = np.array([text_of(texts[i]) for i in range(count)], dtype=object)
        return found.reshape(shape) if shape else found[0]
    name, dtype = _TYPES[array.type]
    size = count * ffi.sizeof(name)
    numbers: NDArray[Any] = np.frombuffer(ffi.buffer(array.data, size), dtype=dtype).copy()
    return numbers.reshape(shape) if shape else numbers[0].item()


class Model:
    """A model or result that the library made, freed when nobody looks at it any more."""

    __slots__ = ("pointer", "_base")

    def __init__(self, pointer: Any) -> None:
        self.pointer = pointer
        self._base = ffi.gc(ffi.cast("unrelu_model *", pointer), lib.unrelu_model_free)

    @property
    def kind(self) -> str:
        return text_of(self._base.kind)

    def get(self, name: str) -> Any:
        """The member of this name, as a copy; None where the model has none."""
        array = ffi.new("unrelu_array *")
        if not lib.unrelu_model_member(self._base, name.encode(), array):
            return None
        return _value(array)

    def members(self) -> dict[str, Any]:
        """All members by name, as they are called in files."""
        found: dict[str, Any] = {}
        array = ffi.new("unrelu_array *")
        i = 0
        while lib.unrelu_model_at(self._base, i, array):
            found.setdefault(text_of(array.name), _value(array))
            i += 1
        return found

    def warnings(self, aliases: dict[str, str]) -> list[tuple[str, str]]:
        """Code and sentence of each warning."""
        count = ffi.new("size_t *")
        found = lib.unrelu_model_warnings(self._base, count)
        return [
            (text_of(found[i].code), in_python(text_of(found[i].message), aliases))
            for i in range(count[0])
        ]
