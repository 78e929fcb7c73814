# SPDX-License-Identifier: Apache-2.0
"""Samples with limits of their own in each cell, and frames that hold them as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import UnreluError
from ._sources import refuse_kind

_MISSING = {"", "na", "nan", "none", "null"}
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_CELL = re.compile(rf"(?P<sign>[<>]?)\s*(?P<low>{_NUMBER})(?:\s*\.\.\s*(?P<high>{_NUMBER}))?")


@dataclass(frozen=True)
class Censored:
    """Samples of which some are known to lie in an interval only.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_samples, n_features)
        The ends of each cell: equal for a value, -inf below a limit, inf above one, NaN: missing.
    names : list of str or None
        Of the columns.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    names: list[str] | None = None

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            try:
                ends = np.asarray(getattr(self, name), dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise UnreluError(f"{name} holds what is no number ({error})", code="format") from error
            object.__setattr__(self, name, ends)
        if self.lower.ndim != 2 or self.lower.shape != self.upper.shape:
            raise UnreluError(
                f"lower has shape {self.lower.shape} and upper {self.upper.shape}, where both are "
                "n_samples x n_features",
                code="format",
            )
        if self.names is not None and len(self.names) != self.lower.shape[1]:
            raise UnreluError(
                f"there are {len(self.names)} names of {self.lower.shape[1]} columns", code="format"
            )

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.lower.shape

    def frame_like(self) -> Any:
        """What scikit-learn's validation of names looks at."""
        if self.names is None:
            return self.lower
        import pandas as pd

        return pd.DataFrame(np.empty((0, len(self.names))), columns=self.names)


def read_limits(
    X: Any,
    *,
    limits: Any = None,
    indicator: str | None = None,
    columns: Sequence[str] | None = None,
) -> Censored:
    """Read a frame whose cells say themselves what is censored.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n_samples, n_features)
        Cells are numbers, or text: "<0.25" (below a limit), ">900" (above one), "0.2..0.5" (between
        two), "ND" (not detected, needs `limits`), "NA" or nothing (missing).
    limits : float or dict of float by name, optional
        The detection limits of cells that are "ND".
    indicator : str, optional
        A suffix: the column ``lead`` is a limit where ``lead`` + suffix is true, 1, "<", "U" or "ND".
    columns : list of str, optional
        Which columns are read; by default all but the indicators.

    Returns
    -------
    Censored
        For `RectifiedGaussian.fit` and the other estimators.

    Examples
    --------
    >>> import unrelu
    >>> data = unrelu.read_limits([["<0.25", "3"], ["0.5", "1..4"], ["NA", ">9"]])
    >>> data.lower
    array([[-inf,  3. ],
           [ 0.5,  1. ],
           [ nan,  9. ]])
    >>> data.upper
    array([[0.25, 3.  ],
           [0.5 , 4.  ],
           [ nan,  inf]])
    """
    names, cells = _table(X)
    told = _indicators(names, indicator)
    wanted = list(columns) if columns is not None else None
    keep = [
        j
        for j in range(cells.shape[1])
        if j not in told.values() and (wanted is None or (names is not None and names[j] in wanted))
    ]
    if wanted is not None and len(keep) != len(wanted):
        missing = [name for name in wanted if names is None or name not in names]
        raise UnreluError(f"there is no column {missing[0]!r}" if missing else "columns repeat")
    lower = np.empty((len(cells), len(keep)))
    upper = np.empty_like(lower)
    for to, j in enumerate(keep):
        name = names[j] if names is not None else None
        limit = limits.get(name) if isinstance(limits, dict) else limits
        for i in range(len(cells)):
            lower[i, to], upper[i, to] = _interval(cells[i, j], limit, i, j, name)
            if j in told and _is_limit(cells[i, told[j]], i, told[j]):
                if np.isfinite(upper[i, to]):
                    lower[i, to] = -np.inf
    return Censored(lower, upper, [names[j] for j in keep] if names is not None else None)


def _table(X: Any) -> tuple[list[str] | None, NDArray[Any]]:
    columns = getattr(X, "columns", None)
    names = None if columns is None else [str(name) for name in columns]
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(object), np.nan)
    for name, dtype in zip(columns if columns is not None else (), getattr(X, "dtypes", ())):
        refuse_kind(dtype, f"column {name!r}")
    cells = X.to_numpy(dtype=object) if hasattr(X, "iloc") else np.asarray(X, dtype=object)
    if cells.ndim == 1:
        cells = cells[:, None]
    if cells.ndim != 2:
        raise UnreluError(f"a table has two dimensions, not {cells.ndim}", code="format")
    return names, cells


def _indicators(names: list[str] | None, suffix: str | None) -> dict[int, int]:
    """Which column tells of which."""
    if suffix is None:
        return {}
    if names is None:
        raise UnreluError("indicator needs names of columns", option="indicator")
    place = {name: j for j, name in enumerate(names)}
    found = {j: place[name + suffix] for name, j in place.items() if name + suffix in place}
    if not found:
        raise UnreluError(f"no two columns are called x and x{suffix}", option="indicator")
    return found


def _is_missing(cell: Any) -> bool:
    """None, NaN, and the NA and NaT of pandas, which is not asked: it need not be there."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(cell, (float, np.floating)) and bool(np.isnan(cell))


def _is_limit(cell: Any, i: int, j: int) -> bool:
    if isinstance(cell, str):
        word = cell.strip().lower()
        if word in {"true", "1", "<", "u", "nd"}:
            return True
        if word in {"false", "0", "=", "e", "j", ""}:
            return False
    elif _is_missing(cell):
        return False
    elif cell in (0, 1):
        return bool(cell)
    raise UnreluError(
        f"row {i + 1}, column {j + 1}: {cell!r} does not say whether a value was seen",
        code="format",
        row=i + 1,
        column=j + 1,
    )


def _interval(cell: Any, limit: Any, i: int, j: int, name: str | None) -> tuple[float, float]:
    where = f"row {i + 1}, column {j + 1}" + (f" ({name})" if name else "")
    if _is_missing(cell):
        return np.nan, np.nan
    if not isinstance(cell, str):
        if isinstance(cell, Real):
            return float(cell), float(cell)
        cell = str(cell)
    text = cell.strip()
    if text.lower() in _MISSING:
        return np.nan, np.nan
    if text.upper() == "ND":
        if limit is None or not np.isfinite(limit):
            raise UnreluError(
                f"{where} is 'ND' (not detected), and its limit is not known: give it in `limits`",
                code="format",
                option="limits",
                row=i + 1,
                column=j + 1,
            )
        return -np.inf, float(limit)
    match = _CELL.fullmatch(text)
    if match is None or (match["sign"] and match["high"]):
        raise UnreluError(
            f"{where} is {text!r}, which is neither a number nor a limit ('<0.25', 'ND')",
            code="format",
            row=i + 1,
            column=j + 1,
        )
    low = float(match["low"])
    if match["sign"] == "<":
        return -np.inf, low
    if match["sign"] == ">":
        return low, np.inf
    return low, float(match["high"]) if match["high"] else low
