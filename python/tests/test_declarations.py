# SPDX-License-Identifier: Apache-2.0
"""Nothing of the public header is lost on the way to Python."""

import re
import sys
from pathlib import Path

import pytest

from unrelu._library import ffi, lib

PYTHON = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PYTHON))
from declarations import HEADER, functions, without_comments  # noqa: E402

TEXT = without_comments(HEADER.read_text())


def test_every_function_is_there():
    # counted in another way than the script finds them: each has one UNRELU_API
    assert len(functions()) == len(re.findall(r"^UNRELU_API ", TEXT, flags=re.MULTILINE))
    for name in functions():
        assert callable(getattr(lib, name)), name


def test_every_enumerator_has_the_value_of_the_compiler():
    blocks = re.findall(r"enum\s*\{(.*?)\}", TEXT, flags=re.DOTALL)
    names = [word for block in blocks for word in re.findall(r"\b(UNRELU_[A-Z0-9_]+)\b", block)]
    assert len(names) > 100
    for name in names:
        assert isinstance(getattr(lib, name), int), name
    assert lib.UNRELU_FLAG_FEW_VALUES == 1 << 12
    assert lib.UNRELU_ECANCELLED == 7


@pytest.mark.parametrize("name", re.findall(r"\}\s*(unrelu_\w+);", TEXT))
def test_every_type_is_known(name):
    kind = ffi.typeof(name)
    if kind.kind == "struct":
        assert kind.fields, name
        assert ffi.sizeof(kind) > 0
