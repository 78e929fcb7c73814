# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, in Python's words."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from ._library import ffi, lib


class UnreluError(ValueError):
    """A call that was refused: one sentence that names the place, the value and a remedy.

    Attributes
    ----------
    code : str
        "usage" (parameters), "io" (a file), "format" (what the data hold), "data" (they cannot
        support the model), "memory", "cancelled" or "internal".
    option : str or None
        The parameter that the sentence names first, as Python has it: ``"drop=True"``, ``"rank"``.
    row, column : int or None
        The cell of the data that it is about, counted from 1 as in the sentence.

    Examples
    --------
    >>> import unrelu
    >>> try:
    ...     unrelu.RectifiedGaussian().fit([[1.0, 2.0], [0.0, float("inf")], [3.0, 0.5]])
    ... except unrelu.UnreluError as error:
    ...     print(error.code, error.row, error.column)
    format 2 2
    """

    def __init__(
        self,
        text: str,
        *,
        code: str = "usage",
        option: str | None = None,
        row: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(text)
        self.code = code
        self.option = option
        self.row = row
        self.column = column

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), str(self), dict(self.__dict__))


class UnreluTypeError(UnreluError, TypeError):
    """The same where scikit-learn raises a TypeError: sparse matrices, names that are no texts."""


def _unpickled(kind: type[UnreluError], text: str, members: dict[str, Any]) -> UnreluError:
    error = kind(text)
    error.__dict__.update(members)
    return error


class UnreluWarning(UserWarning):
    """What a result does not say by itself; ``code`` is for programs ("few-positives").

    The codes are those of ``docs/formats.md``; a fitted model keeps them in ``warnings_``.
    """

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.code)


def text_of(pointer: Any) -> str:
    """A text of the library."""
    return "" if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")


@lru_cache(maxsize=None)
def switches() -> frozenset[str]:
    """The options that are yes or no, of all tables of the library."""
    found = set()
    option = ffi.new("unrelu_option *")
    for name in dir(lib):
        if not re.fullmatch(r"unrelu_\w+_option", name):
            continue
        listed: Callable[[int, Any], int] = getattr(lib, name)
        i = 0
        while listed(i, option):
            if text_of(option.values) == "no|yes":
                found.add(text_of(option.name))
            i += 1
    return frozenset(found)


def spelled(name: str, aliases: Mapping[str, str]) -> str:
    """An option of the library as a parameter of Python: ``drop=True``, ``additive_noise``."""
    if name in aliases:
        return aliases[name]
    word = name.replace("-", "_")
    return word + "=True" if name in switches() else word


def in_python(text: str, aliases: Mapping[str, str]) -> str:
    """A sentence of the library; what it calls "matrix in memory" is `X` here."""
    text = text.replace("matrix in memory", "X")
    return re.sub(r"`([a-z0-9-]+)`", lambda m: f"`{spelled(m.group(1), aliases)}`", text)


def error_of(error: Any, status: int, aliases: Mapping[str, str]) -> UnreluError:
    """What the library says, as an exception."""
    option = text_of(error.option)
    return UnreluError(
        in_python(text_of(error.text), aliases),
        code=text_of(lib.unrelu_status_name(status)),
        option=spelled(option, aliases) if option else None,
        row=error.row or None,
        column=error.column or None,
    )


def warn_all(found: Iterable[tuple[str, str]], stacklevel: int = 3) -> None:
    for code, message in found:
        warnings.warn(UnreluWarning(message, code), stacklevel=stacklevel + 1)
