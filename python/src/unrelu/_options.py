# SPDX-License-Identifier: Apache-2.0
"""Options of the library from parameters of Python."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ._call import Call
from ._errors import UnreluError
from ._library import ffi, lib

SEED_MOST = 2**63 - 1


def text_value(name: str, value: Any) -> bytes | None:
    """A value as the library's setters read it; None: yes."""
    if value is True:
        return None
    if value is False:
        return b"no"
    if isinstance(value, (str, bytes)):
        return value.encode() if isinstance(value, str) else value
    if isinstance(value, (int, np.integer)):
        return str(int(value)).encode()
    if isinstance(value, (float, np.floating)):
        return repr(float(value)).encode()
    raise UnreluError(f"{name}={value!r}: a {type(value).__name__} is no value of it", option=name)


def options(struct: str, values: Mapping[str, Any], call: Call) -> Any:
    """A new ``unrelu_<struct>_options`` with these values; None is the default.

    Texts that the library borrows live as long as the call.
    """
    made = ffi.new(f"unrelu_{struct}_options *")
    getattr(lib, f"unrelu_{struct}_options_init")(made, ffi.sizeof(made[0]))
    setter = getattr(lib, f"unrelu_{struct}_options_set")
    for name, value in values.items():
        if value is None:
            continue
        text = text_value(name, value)
        kept = ffi.NULL if text is None else ffi.new("char[]", text)
        call.check(setter(made, name.encode(), kept, call.error))
        call.borrowed.append(kept)
    return made


def seed_of(random_state: Any) -> int:
    """A seed, by scikit-learn's conventions: an int is itself, None and generators are drawn from.

    With the same int the numbers are, bit by bit, those of ``--seed`` at the command line.
    """
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if not 0 <= random_state <= SEED_MOST:
            raise UnreluError(
                f"random_state={random_state} is out of range; take a whole number from 0 to 2^63 - 1",
                option="random_state",
            )
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(SEED_MOST))
    try:
        state = check_random_state(random_state)
    except ValueError as error:
        raise UnreluError(f"random_state: {error}", option="random_state") from error
    return int(state.randint(SEED_MOST, dtype=np.int64))


def count_of(value: Any, name: str, least: int) -> int:
    """A parameter that counts."""
    try:
        count = operator.index(value)
    except TypeError as error:
        raise UnreluError(f"{name}={value!r} is not a whole number", option=name) from error
    if count < least:
        raise UnreluError(f"{name}={count}: at least {least} is needed", option=name)
    return count
