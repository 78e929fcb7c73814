# SPDX-License-Identifier: Apache-2.0
"""Samples for the library: arrays and frames where they lie in memory, or files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from ._call import Call
from ._errors import UnreluError, UnreluTypeError
from ._library import ffi, lib
from ._options import options

_FLOATS = {np.dtype(np.float64): lib.UNRELU_DOUBLES, np.dtype(np.float32): lib.UNRELU_FLOATS}


def is_path(X: Any) -> bool:
    return isinstance(X, (str, os.PathLike))


@contextmanager
def refusing() -> Iterator[None]:
    """Errors of scikit-learn's validation as our own."""
    try:
        yield
    except UnreluError:
        raise
    except ValueError as error:
        raise UnreluError(str(error), code="format") from error
    except TypeError as error:
        raise UnreluTypeError(str(error), code="format") from error


def names_of(X: Any) -> list[str] | None:
    """The names of a frame's columns, if all of them are texts."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "__len__"):
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def matrix(X: Any, *, what: str = "X") -> NDArray[Any]:
    """X as float64 or float32, copied only where it is neither; rows are samples.

    NaN is a missing value, and so is what a mask hides; whether infinities are values is the
    library's to say, with their place.
    """
    if isinstance(X, np.ma.MaskedArray):
        X = _of_mask(X, what)
    if type(X) is not np.ndarray and hasattr(X, "__dataframe__"):
        if not hasattr(X, "to_numpy"):
            X = X.to_pandas() if hasattr(X, "to_pandas") else np.asarray(X)
        else:
            X = _of_frame(X)
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype in _FLOATS and X.size:
        return X
    with refusing():
        return _checked(X, what)


def _of_mask(X: Any, what: str) -> Any:
    with refusing():
        return X.astype(X.dtype if X.dtype in _FLOATS else np.float64).filled(np.nan)


def refuse_kind(dtype: Any, where: str) -> None:
    """Dates, durations and complex numbers would become numbers of which nobody thinks."""
    words = {"M": "dates", "m": "durations", "c": "complex numbers: Complex data not supported"}
    kind = getattr(dtype, "kind", None)
    if kind in words:
        raise UnreluError(
            f"{where} holds {words[kind]}, where numbers are needed; leave it out", code="format"
        )


def finite(x: NDArray[Any], what: str, needs: str) -> None:
    """Refuse the first cell that is none, with its place."""
    if np.isfinite(x).all():
        return
    i, j = (int(place) for place in np.argwhere(~np.isfinite(x))[0])
    raise UnreluError(
        f"{what}: row {i + 1}, column {j + 1} is {x[i, j]} (NaN or infinity): {needs}",
        code="format",
        row=i + 1,
        column=j + 1,
    )


def _of_frame(X: Any) -> Any:
    """pandas and polars; missing values of any kind become NaN."""
    if hasattr(X, "iloc"):
        for name, dtype in zip(X.columns, X.dtypes):
            refuse_kind(dtype, f"column {name!r}")
    try:
        if hasattr(X, "iloc"):
            return X.to_numpy(dtype=_frame_dtype(X), na_value=np.nan)
        return X.to_numpy()
    except (TypeError, ValueError) as error:
        raise UnreluError(
            f"the frame holds what is no number ({error}); text such as '<0.25' or 'ND' is read by "
            "unrelu.read_limits",
            code="format",
        ) from error


def _frame_dtype(X: Any) -> Any:
    """float32 stays what it is where all columns are."""
    return np.float32 if all(kind == np.float32 for kind in X.dtypes) else np.float64


def _checked(X: Any, what: str) -> NDArray[Any]:
    """By scikit-learn, whose sentences people know."""
    refuse_kind(getattr(X, "dtype", None), what)
    finite = "ensure_all_finite" if _HAS_ENSURE else "force_all_finite"
    given: NDArray[Any] = check_array(
        X, dtype=[np.float64, np.float32], input_name=what, estimator="unrelu", **{finite: False}
    )
    return given


def _has_ensure() -> bool:
    import inspect

    return "ensure_all_finite" in inspect.signature(check_array).parameters


_HAS_ENSURE = _has_ensure()


def described(x: NDArray[Any], call: Call) -> Any:
    """An ``unrelu_matrix`` of an array of either float type, wherever its elements lie."""
    if not x.dtype.isnative:
        x = x.astype(x.dtype.newbyteorder("="))
    call.borrowed.append(x)
    made = ffi.new("unrelu_matrix *")
    made.data = ffi.cast("void *", x.ctypes.data)
    made.type = _FLOATS[x.dtype]
    made.row_step, made.column_step = x.strides
    return made


def texts(words: Sequence[str], call: Call) -> Any:
    """``const char *const *``, alive as long as the call."""
    kept = [ffi.new("char[]", word.encode("utf-8", "replace")) for word in words]
    made = ffi.new("char *[]", kept)
    call.borrowed.extend([kept, made])
    return made


@contextmanager
def source(
    X: Any,
    call: Call,
    *,
    names: Sequence[str] | None = None,
    upper: NDArray[Any] | None = None,
    **reading: Any,
) -> Iterator[Any]:
    """An open ``unrelu_source`` of a path or of what `matrix` returns.

    `reading` are the options of sources: columns, indicator, uncensored, top, na, complete.
    """
    asked = options("source", reading, call) if reading else ffi.NULL
    out = ffi.new("unrelu_source **")
    if is_path(X):
        status = lib.unrelu_source_open(os.fsencode(X), asked, out, call.error)
    else:
        n, d = X.shape
        high = ffi.NULL if upper is None else described(upper, call)
        called = ffi.NULL if names is None else texts(names, call)
        status = lib.unrelu_source_matrix(
            described(X, call), high, n, d, called, asked, out, call.error
        )
    call.check(status)
    try:
        yield out[0]
    finally:
        lib.unrelu_source_close(out[0])
