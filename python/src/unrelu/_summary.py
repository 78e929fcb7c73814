# SPDX-License-Identifier: Apache-2.0
"""Sums of samples that add up: what `partial_fit` keeps, and what travels between machines."""

from __future__ import annotations

from typing import Any

from ._call import Call
from ._library import ffi, lib

#: sub-sums for the jackknife errors of eigenvalues, as fit has them: each as large as the whole
GROUPS = 10


class Summary:
    """A summary of the library, which is pickled as the bytes of its file."""

    __slots__ = ("pointer",)

    def __init__(self, pointer: Any) -> None:
        self.pointer = ffi.gc(pointer, lib.unrelu_summary_free)

    @classmethod
    def collect(cls, opened: Any, asked: Any, groups: int, call: Call) -> Summary:
        out = ffi.new("unrelu_summary **")
        call.check(
            lib.unrelu_summary_collect(opened, asked, groups, call.exec, out, call.error)
        )
        return cls(out[0])

    @classmethod
    def from_bytes(cls, data: bytes) -> Summary:
        call = Call(1)
        out = ffi.new("unrelu_summary **")
        call.check(lib.unrelu_summary_unpack(ffi.from_buffer(data), len(data), out, call.error))
        return cls(out[0])

    def to_bytes(self) -> bytes:
        call = Call(1)
        data, size = ffi.new("void **"), ffi.new("size_t *")
        call.check(lib.unrelu_summary_pack(self.pointer, data, size, call.error))
        try:
            return bytes(ffi.buffer(data[0], size[0]))
        finally:
            lib.unrelu_free(data[0])

    def merge(self, other: Summary) -> None:
        call = Call(1)
        call.check(lib.unrelu_summary_merge(self.pointer, other.pointer, call.error))

    @property
    def rows(self) -> int:
        return int(lib.unrelu_summary_rows(self.pointer))

    @property
    def columns(self) -> int:
        return int(lib.unrelu_summary_columns(self.pointer))

    def __reduce__(self) -> tuple[Any, ...]:
        return Summary.from_bytes, (self.to_bytes(),)
