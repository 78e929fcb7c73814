# SPDX-License-Identifier: Apache-2.0
"""The extension ``unrelu._library``: the C interface, and how a call hears of signals."""

from __future__ import annotations

import sys
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from declarations import declarations  # noqa: E402

ffibuilder = FFI()
ffibuilder.cdef(declarations())
ffibuilder.cdef(
    """
    typedef struct {
        void *handle;
        int stopped;
        ...;
    } python_call;
    void python_call_start(python_call *call, unrelu_exec *exec, int threads, int progress);
    extern "Python" int python_signals(void *handle);
    extern "Python" void python_progress(void *handle, const char *stage, double fraction);
    """
)
ffibuilder.set_source(
    "unrelu._library",
    (HERE / "call.c").read_text(),
    include_dirs=[str(HERE.parent / "include")],
    py_limited_api=True,
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
