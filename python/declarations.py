# SPDX-License-Identifier: Apache-2.0
"""The public header as cffi reads it: declarations without comments, macros and C++.

Nothing is listed by hand, so that what the header gains is there in Python too.
"""

from __future__ import annotations

import re
from pathlib import Path

HEADER = Path(__file__).resolve().parent.parent / "include" / "unrelu" / "unrelu.h"


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def whole_lines(text: str) -> str:
    return re.sub(r"\\\n", " ", text)


def without_conditions(text: str) -> str:
    """Leave out what stands between #if and #endif: C++, compilers, and the guard itself."""
    body = re.sub(r"#ifndef UNRELU_H\n#define UNRELU_H\n", "", text)
    body = body[: body.rindex("#endif")]
    return re.sub(r"^#if.*?^#endif", "", body, flags=re.DOTALL | re.MULTILINE)


def constant(match: re.Match[str]) -> str:
    """A macro's value is what the compiler says; cffi asks it for whole numbers only."""
    name, value = match.group(1), match.group(2)
    if re.search(r"\d\.\d", value):
        return f"static const double {name};"
    return f"#define {name} ..."


def declarations(header: Path = HEADER) -> str:
    """All of the header in the subset of C that ``cffi.FFI.cdef`` reads."""
    text = without_conditions(whole_lines(without_comments(header.read_text())))
    text = re.sub(r"^#include.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^#define\s+(\w+)\s+(.+)$", constant, text, flags=re.MULTILINE)
    text = text.replace("UNRELU_API ", "")
    return re.sub(r"\n\s*\n+", "\n", text)


def functions(header: Path = HEADER) -> list[str]:
    """The names of the public functions."""
    text = without_conditions(whole_lines(without_comments(header.read_text())))
    return re.findall(r"UNRELU_API[^;{]*?\b(unrelu_\w+)\s*\(", text)


if __name__ == "__main__":
    print(declarations())
