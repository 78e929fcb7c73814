# SPDX-License-Identifier: Apache-2.0
"""Every example of the documentation is run as it stands."""

import doctest
import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def at_the_top(monkeypatch):
    monkeypatch.chdir(TOP)


def test_docs_python():
    flags = doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(TOP / "docs/python.md"), False, optionflags=flags)
    assert tried > 20
    assert failed == 0


def test_readme(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (TOP / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert re.search(r"copper +3\.88 +2\.67\nzinc +18\.91 +13\.18", printed)
