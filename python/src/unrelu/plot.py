# SPDX-License-Identifier: Apache-2.0
"""Plots of fitted models by matplotlib, which is imported when one is drawn.

Every function draws on an axes, the current one by default, and returns it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import UnreluError
from ._gaussian import RectifiedGaussian
from ._library import lib
from ._network import ReLURecovery
from ._sources import finite, matrix

__all__ = ["columns", "correlations", "patterns", "quantiles", "weights"]

_SEEN, _MODEL, _HIDDEN = "#8fb3d9", "#1f3a5f", "#d98c5f"
_POINTS = 400  # of a curve: finer than the pixels of a plot of usual size
_REACH = 3.5  # deviations to both sides: all but 1 in 2000 of a normal


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.gca()


def _number_neurons(ax: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylabel("neuron")


def _expect(model: Any, kind: Any) -> None:
    if not isinstance(model, kind):
        raise UnreluError(
            f"a {type(model).__name__} was given, where a fitted {kind.__name__} is needed",
            option="model",
        )
    model._check_fitted()


def _place(model: RectifiedGaussian, column: int | str) -> int:
    """A column of the model, by name or place."""
    names = list(model.names_)
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, (int, np.integer)) and 0 <= column < len(names):
        return int(column)
    raise UnreluError(f"there is no column {column!r} among {len(names)}", option="column")


def _scale_of(model: RectifiedGaussian) -> str:
    """What is said of an axis in the model's own scale."""
    transform = model._model.get("transform")
    return "" if transform in (None, "", "none") else f" ({transform})"


def columns(
    model: RectifiedGaussian, X: Any, column: int | str = 0, *, n_runs: int = 99, ax: Any = None
) -> Any:
    """The distribution of one column: what was seen, the fitted normal, and the part that is hidden.

    Parameters
    ----------
    model : RectifiedGaussian
        Fitted.
    X : array-like of shape (n_samples, n_features)
        Samples.
    column : int or str
        The place of the column among the model's, or its name.
    n_runs : int
        As of `RectifiedGaussian.goodness`.
    ax : matplotlib.axes.Axes, optional
        By default the current one.

    Returns
    -------
    matplotlib.axes.Axes
        On the scale of the model's transform; bars are densities of all cells, the hidden ones too.
    """
    _expect(model, RectifiedGaussian)
    j, ax = _place(model, column), _axes(ax)
    found = model.goodness(X, n_runs=n_runs)
    edges, counts = found["edges"][j], found["counts"][j]
    total, hidden = found["observed"][j], found["censored"][j]
    heights = counts / np.maximum(total * np.diff(edges), np.finfo(float).tiny)
    ax.bar(edges[:-1], heights, np.diff(edges), align="edge", color=_SEEN, label="seen")
    b, scale = float(model.location_[j]), float(model.scale_[j])
    if scale > 0:
        low = min(b - _REACH * scale, edges[0])
        at = np.linspace(low, max(b + _REACH * scale, edges[-1]), _POINTS)
        ax.plot(at, _density(at, b, scale), color=_MODEL, label="fitted")
        if hidden > 0:
            below = np.linspace(low, edges[0], _POINTS)
            label = f"hidden: {hidden / total:.0%} of the cells"
            ax.fill_between(
                below, _density(below, b, scale), color=_HIDDEN, alpha=0.5, label=label
            )
    ax.set_xlabel(f"{model.names_[j]}{_scale_of(model)}")
    ax.set_ylabel("density")
    ax.legend()
    return ax


def _density(at: NDArray[Any], b: float, scale: float) -> NDArray[Any]:
    density: NDArray[Any] = np.exp(-0.5 * ((at - b) / scale) ** 2) / (scale * np.sqrt(2 * np.pi))
    return density


def quantiles(
    model: RectifiedGaussian, X: Any, column: int | str = 0, *, n_runs: int = 99, ax: Any = None
) -> Any:
    """Quantiles of the values that were seen against those of the model; on the line they agree.

    Parameters
    ----------
    model : RectifiedGaussian
        Fitted.
    X : array-like of shape (n_samples, n_features)
        Samples.
    column : int or str
        The place of the column among the model's, or its name.
    n_runs : int
        As of `RectifiedGaussian.goodness`.
    ax : matplotlib.axes.Axes, optional
        By default the current one.

    Returns
    -------
    matplotlib.axes.Axes
    """
    _expect(model, RectifiedGaussian)
    j, ax = _place(model, column), _axes(ax)
    found = model.goodness(X, n_runs=n_runs)
    sample, fitted = found["sample_quantile"][j], found["model_quantile"][j]
    seen = np.isfinite(sample)
    ax.plot(fitted[seen], sample[seen], "o", markersize=3, color=_MODEL)
    if seen.any():
        ends = [fitted[seen].min(), fitted[seen].max()]
        ax.plot(ends, ends, color=_HIDDEN, zorder=0)
    word = found["fit"][j] or "cannot be judged"
    ax.set_title(f"{model.names_[j]}: {word}")
    ax.set_xlabel(f"quantile of the model{_scale_of(model)}")
    ax.set_ylabel("quantile of the samples")
    return ax


def correlations(model: RectifiedGaussian, *, level: float = 0.95, ax: Any = None) -> Any:
    """The correlation of each pair of columns with its interval, the strongest first.

    Parameters
    ----------
    model : RectifiedGaussian
        Fitted.
    level : float
        Of the intervals.
    ax : matplotlib.axes.Axes, optional
        By default the current one.

    Returns
    -------
    matplotlib.axes.Axes
        Pairs without an error have no bar.
    """
    _expect(model, RectifiedGaussian)
    if len(model.names_) < 2:
        raise UnreluError("a model of one column has no correlations", code="data")
    if not 0 < level < 1:
        raise UnreluError(f"level={level} does not lie between 0 and 1", option="level")
    ax = _axes(ax)
    first, second = np.triu_indices(len(model.names_), 1)
    rho = model.correlation_[first, second]
    se = model.correlation_se_
    half = np.full(len(rho), np.nan) if se is None else se[first, second]
    half = half * lib.unrelu_normal_quantile((1 + level) / 2)
    order = np.argsort(np.abs(rho), kind="stable")
    places = np.arange(len(rho))
    bars = np.vstack([np.minimum(half, rho + 1), np.minimum(half, 1 - rho)])  # within [-1, 1]
    ax.errorbar(rho[order], places, xerr=bars[:, order], fmt="o", color=_MODEL, capsize=2)
    names = [f"{model.names_[first[i]]} - {model.names_[second[i]]}" for i in order]
    ax.set_yticks(places, names)
    ax.axvline(0, color="gray", linewidth=0.8, zorder=0)
    ax.set_xlim(-1, 1)
    ax.set_xlabel(f"correlation, {level:.0%} intervals")
    return ax


def weights(model: ReLURecovery, *, ax: Any = None) -> Any:
    """The rows of V, a neuron each, as colours.

    Parameters
    ----------
    model : ReLURecovery
        Fitted.
    ax : matplotlib.axes.Axes, optional
        By default the current one.

    Returns
    -------
    matplotlib.axes.Axes
    """
    _expect(model, ReLURecovery)
    ax = _axes(ax)
    V = model.coefs_[0].T
    most = float(np.abs(V).max()) or 1.0
    image = ax.imshow(V, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto")
    ax.figure.colorbar(image, ax=ax)
    ax.set_xlabel("input")
    _number_neurons(ax)
    ax.set_title(model.verdict_)
    return ax


def patterns(model: ReLURecovery, X: Any, *, ax: Any = None) -> Any:
    """Which neurons are on, sample by sample, equal patterns side by side.

    Parameters
    ----------
    model : ReLURecovery
        Fitted.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    ax : matplotlib.axes.Axes, optional
        By default the current one.

    Returns
    -------
    matplotlib.axes.Axes
    """
    _expect(model, ReLURecovery)
    ax, x = _axes(ax), matrix(X)
    finite(x, "X", "every input must be finite")
    if x.shape[1] != model.n_features_in_:
        raise UnreluError(
            f"X has {x.shape[1]} columns, and the network {model.n_features_in_} inputs",
            code="format",
        )
    on = x @ model.coefs_[0] + model.intercepts_[0] > 0
    order = np.lexsort(on.T[::-1])
    ax.imshow(on[order].T, cmap="Greys", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    count = len(np.unique(on, axis=0))
    ax.set_xlabel(f"sample, sorted: {count} pattern{'' if count == 1 else 's'} of {len(x)}")
    _number_neurons(ax)
    return ax
