# SPDX-License-Identifier: Apache-2.0
"""The rectified Gaussian as an estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from ._base import ModelEstimator
from ._call import Call
from ._censored import Censored
from ._errors import UnreluError, UnreluWarning, warn_all
from ._frames import names_for, note_features, samples
from ._library import ffi, lib
from ._model import Model
from ._options import count_of, options, seed_of
from ._sources import is_path, matrix, names_of, source
from ._summary import GROUPS, Summary

Floats = NDArray[np.float64]


def doubles(values: ArrayLike, call: Call) -> Any:
    """A `const double *` that lives as long as the call."""
    kept = np.ascontiguousarray(values, dtype=np.float64)
    call.borrowed.append(kept)
    return ffi.cast("double *", kept.ctypes.data)


def _number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise UnreluError(f"{what}: {value!r} is no number", option=what) from error


def by_column(value: Any, names: list[str] | None, d: int, what: str, missing: float) -> Floats:
    """One number for each column, from a number, a list, or a mapping of names or places."""
    if isinstance(value, Mapping):
        out = np.full(d, missing)
        for key, given in value.items():
            number = _number(given, what)
            if names is not None and key in names:
                out[names.index(key)] = number
            elif isinstance(key, (int, np.integer)) and 0 <= key < d:
                out[key] = number
            else:
                raise UnreluError(f"{what}: there is no column {key!r}", option=what)
        return out
    try:
        given = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UnreluError(f"{what}={value!r} holds what is no number", option=what) from error
    if given.ndim == 0:
        return np.full(d, float(given))
    if given.shape != (d,):
        raise UnreluError(
            f"{what} has shape {given.shape}, where one number for each of {d} columns is needed",
            option=what,
        )
    return given


def _flag_names(bits: int) -> tuple[str, ...]:
    return tuple(
        ffi.string(lib.unrelu_flag_name(i)).decode() for i in range(32) if bits >> i & 1
    )


def _flags(model: Model) -> list[tuple[str, ...]]:
    bits = model.get("flags")
    return [] if bits is None else [_flag_names(int(b)) for b in bits]


def _member(name: str) -> Callable[[Model], Any]:
    return lambda model: model.get(name)


_SAME_NAMES = (
    "scale scale_se correlation correlation_se observed positive mean mean_ci sd sd_ci median "
    "median_ci quantiles quantiles_ci ucl95 rectified_mean rectified_mean_ci loglik aic bic "
    "joint_loglik joint_loglik_ci lambda limit noise eigenvalues eigenvalues_se W lambda_min"
).split()

#: the attributes of a fitted RectifiedGaussian
MADE: dict[str, Callable[[Model], Any]] = {
    "location_": _member("b"),
    "location_se_": _member("b_se"),
    "covariance_": _member("sigma"),
    "covariance_se_": _member("sigma_se"),
    "names_": lambda model: list(model.get("names")),
    "flags_": _flags,
    **{name + "_": _member(name) for name in _SAME_NAMES},
}


class _ParameterOnly:
    """A parameter whose name is that of a method which the estimator does not have.

    scikit-learn asks ``hasattr(estimator, "transform")`` to know what is a transformer, so that the
    attribute is not to be seen; ``get_params`` and ``set_params`` have it.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        raise AttributeError(
            f"{self.name} is a parameter, not a method: get_params()[{self.name!r}] has its value"
        )

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = value


class RectifiedGaussian(ModelEstimator):
    """The normal distribution behind samples that a ReLU or a detection limit censored.

    Samples are ``x = max(0, W z + b)`` with standard normal ``z``: what lay below zero was recorded
    as zero. Learned are ``b`` and ``W W'`` with standard errors, and from them answers about the
    values before censoring (their mean, median, quantiles) and whatever a cell hides.

    Parameters
    ----------
    censor_at : float or array-like of shape (n_features,), optional
        Values at or below it are censored. By default 0.
    limits : float, array-like of shape (n_features,) or dict, optional
        The detection limit of cells that are 0, by column.
    transform : {"none", "sqrt", "log", "boxcox"} or str, optional
        Of which the values are normal: also "boxcox:0.3", and "leaky:0.1" or "sigmoid" for samples
        that went through these activations.
    method : {"efficient", "paper"}
        The default, or the algorithm of the paper to the letter.
    norms : {"censored", "truncated", "median", "sgd"}, optional
        How location and scale are estimated.
    angles : {"h6", "signs", "likelihood"}, optional
        How correlations are estimated.
    rank : int or "auto", optional
        The number of columns of W.
    additive_noise : float or "auto", optional
        Standard deviation of normal noise that was added after rectification.
    robust : bool
        Leave out rows with gross outliers.
    errors : str
        "auto", "model", "robust", "bootstrap" or "bootstrap:200".
    drop : bool
        Leave out columns that cannot be fitted instead of refusing them.
    precision : {"auto", "double", "single"}
        Of sums inside a block.
    n_jobs : int, optional
        Threads; the result is the same, bit by bit, at any number.
    random_state : int, RandomState instance or None
        Of bootstraps and of projected gradient descent alone.

    Attributes
    ----------
    location_, scale_ : ndarray of shape (n_features,)
        Mean and standard deviation of each column before censoring, on the scale of the transform.
    covariance_, correlation_ : ndarray of shape (n_features, n_features)
        Of the columns before censoring.
    location_se_, scale_se_, covariance_se_, correlation_se_ : ndarray
        Standard errors; NaN where one could not be had.
    mean_, sd_, median_, quantiles_ : ndarray
        Of x before censoring, in the unit of the data, with `mean_ci_` and so on.
    flags_ : list of tuple of str
        What is to be known of each column ("few-positives").
    warnings_ : list of (code, message)
        What is to be known of the model.
    n_features_in_, feature_names_in_, n_samples_
        The samples that were seen.

    Examples
    --------
    >>> import unrelu
    >>> X, truth = unrelu.generate("gaussian", n_samples=2000, d=3, random_state=0)
    >>> model = unrelu.RectifiedGaussian().fit(X)
    >>> bool((abs(model.location_ - truth.location_) < 5 * model.location_se_).all())
    True
    """

    transform = _ParameterOnly()
    n_features_in_: int
    n_samples_: int
    warnings_: list[tuple[str, str]]

    _made = MADE
    _kind: ClassVar[str] = "gaussian"
    _aliases: ClassVar[dict[str, str]] = {
        "limit": "limits",
        "activation": "transform",
        "seed": "random_state",
        "threads": "n_jobs",
    }

    def __init__(
        self,
        *,
        censor_at: float | ArrayLike | None = None,
        limits: float | ArrayLike | Mapping[Any, float] | None = None,
        transform: str | None = None,
        method: str = "efficient",
        norms: str | None = None,
        angles: str | None = None,
        rank: int | str | None = None,
        additive_noise: float | str | None = None,
        robust: bool = False,
        errors: str = "auto",
        drop: bool = False,
        precision: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.censor_at = censor_at
        self.limits = limits
        self.transform = transform
        self.method = method
        self.norms = norms
        self.angles = angles
        self.rank = rank
        self.additive_noise = additive_noise
        self.robust = robust
        self.errors = errors
        self.drop = drop
        self.precision = precision
        self.n_jobs = n_jobs
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name.

        Parameters
        ----------
        deep : bool
            Ignored: no parameter is an estimator.

        Returns
        -------
        dict
        """
        return {name: self.__dict__[name] for name in self._get_param_names()}

    # -- fitting

    def _options(self, call: Call, d: int, names: list[str] | None) -> Any:
        transform = self.__dict__["transform"]
        activation = str(transform).startswith(("leaky", "sigmoid"))
        made = options(
            "gaussian",
            {
                "method": None if self.method == "efficient" else self.method,
                "norms": self.norms,
                "angles": self.angles,
                "rank": self.rank,
                "activation" if activation else "transform": transform,
                "additive-noise": self.additive_noise,
                "robust": self.robust or None,
                "errors": None if self.errors == "auto" else self.errors,
                "drop": self.drop or None,
                "precision": None if self.precision == "auto" else self.precision,
            },
            call,
        )
        if self.norms == "sgd" or self.method == "paper" or "bootstrap" in str(self.errors):
            made.seed = seed_of(self.random_state)
        if self.censor_at is not None:
            at = by_column(self.censor_at, names, d, "censor_at", 0.0)
            made.censor_at, made.censor_count = doubles(at, call), d
        if self.limits is not None:
            made.limit = doubles(by_column(self.limits, names, d, "limits", np.nan), call)
        return made

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        limits: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        **reading: Any,
    ) -> RectifiedGaussian:
        """Learn the distribution.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), Censored, path or iterator of blocks
            Samples; NaN is missing. What `read_limits` returns knows its own limits. A path is read
            by the library as the command line does. Blocks are added up, as `partial_fit` does.
        y : ignored
        limits : array-like of shape (n_samples, n_features), optional
            The detection limit of each cell that is 0; NaN: none.
        upper : array-like of shape (n_samples, n_features), optional
            Makes an interval of each cell, from X to `upper`: a value where both are the same; a
            limit that the value lies below where X is -inf, above where `upper` is inf.
        **reading
            Of paths and arrays: columns, uncensored, top, na, complete; of text files indicator too.

        Returns
        -------
        self
        """
        if hasattr(X, "__next__"):
            return self._fit_blocks(X)
        self._summary: Summary | None = None
        call = self._call()
        out = ffi.new("unrelu_gaussian **")
        if is_path(X):
            with source(X, call, **reading) as opened:
                d = lib.unrelu_source_columns(opened)
                cells = None if limits is None else matrix(limits, what="limits")
                self._run(opened, self._options(call, d, None), cells, call, out)
        else:
            x, high, names = self._samples(X, upper, reset=True, least=2)
            with source(x, call, names=names, upper=high, **reading) as opened:
                asked = self._options(call, lib.unrelu_source_columns(opened), names)
                cells = None if limits is None else _cells(limits, x.shape)
                with _saying_negative(x):
                    self._run(opened, asked, cells, call, out)
        self._take(Model(out[0]))
        warn_all(self.warnings_, stacklevel=2)
        return self

    def _run(self, opened: Any, asked: Any, limits: Any, call: Call, out: Any) -> None:
        if limits is None:
            call.check(lib.unrelu_gaussian_fit(opened, asked, call.exec, out, call.error))
            return
        with source(limits, call) as cells:
            asked.limits = cells
            call.check(lib.unrelu_gaussian_fit(opened, asked, call.exec, out, call.error))

    def _samples(
        self, X: Any, upper: Any, *, reset: bool, least: int = 1
    ) -> tuple[NDArray[Any], NDArray[Any] | None, list[str] | None]:
        if isinstance(X, Censored):
            note_features(self, X.frame_like(), reset=reset)
            return X.lower, X.upper, X.names
        x = samples(self, X, reset=reset, least=least)
        high = None if upper is None else matrix(upper, what="upper")
        if high is not None and high.shape != x.shape:
            raise UnreluError(
                f"upper has shape {high.shape}, where X has {x.shape}", code="format", option="upper"
            )
        return x, high, names_of(X)

    def _fit_blocks(self, blocks: Iterator[Any]) -> RectifiedGaussian:
        self._summary = None
        first = True
        for block in blocks:
            self._add(block, first)
            first = False
        if first:
            raise UnreluError("the iterator has no blocks: there are no samples", code="data")
        self._solve()
        warn_all(self.warnings_, stacklevel=3)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> RectifiedGaussian:
        """Add samples to those of earlier calls; the result is that of `fit` on all of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            More samples.
        y : ignored

        Returns
        -------
        self
            Where there is too little yet to be fitted, without attributes.

        Examples
        --------
        >>> import unrelu
        >>> X, _ = unrelu.generate("gaussian", n_samples=1000, d=3, random_state=0)
        >>> parts = unrelu.RectifiedGaussian().partial_fit(X[:300]).partial_fit(X[300:])
        >>> whole = unrelu.RectifiedGaussian(precision="double").fit(X)
        >>> bool(abs(parts.location_ - whole.location_).max() < 1e-12)
        True
        """
        summary = getattr(self, "_summary", None)
        if hasattr(self, "_model") and summary is None:
            raise UnreluError(
                "fit keeps no sums that samples could be added to; begin with partial_fit"
            )
        self._add(X, reset=summary is None)
        try:
            self._solve()
        except UnreluError as error:
            if error.code != "data":
                raise
            warn_all([("not-enough-yet", str(error))], stacklevel=2)
        return self

    def _add(self, X: Any, reset: bool) -> None:
        x, high, names = self._samples(X, None, reset=reset)
        call = self._call()
        with source(x, call, names=names, upper=high) as opened:
            asked = self._options(call, x.shape[1], names)
            groups = GROUPS if self.rank is not None else 1
            added = Summary.collect(opened, asked, groups, call)
        if reset or self._summary is None:
            self._summary = added
        else:
            self._summary.merge(added)

    def _solve(self) -> None:
        call = self._call()
        out = ffi.new("unrelu_gaussian **")
        assert self._summary is not None
        asked = self._options(call, self._summary.columns, None)
        call.check(
            lib.unrelu_gaussian_fit_summary(
                self._summary.pointer, asked, call.exec, out, call.error
            )
        )
        self._take(Model(out[0]))

    def merge(self, other: RectifiedGaussian) -> RectifiedGaussian:
        """Add the samples of another estimator that was fitted by `partial_fit`.

        Parameters
        ----------
        other : RectifiedGaussian
            Of the same columns and limits.

        Returns
        -------
        self
        """
        mine, theirs = getattr(self, "_summary", None), getattr(other, "_summary", None)
        if mine is None or theirs is None:
            raise UnreluError("merge adds estimators that were fitted by partial_fit, both of them")
        mine.merge(theirs)
        self._solve()
        return self

    # -- attributes

    def _take(self, model: Model) -> None:
        self._forget()
        self._model = model
        self.n_samples_ = int(model.pointer.n)
        self.warnings_ = model.warnings(self._aliases)
        if not hasattr(self, "n_features_in_"):
            self.n_features_in_ = int(model.pointer.d)

    # -- answers

    def _kept(self, names: list[str] | None = None) -> list[int] | None:
        """Which of the columns that `fit` saw are the model's; None: all of them.

        `drop` and `columns` leave some out. Columns without names are called x1, x2, ... .
        """
        width, own = self.n_features_in_, set(self.names_)
        if len(self.names_) == width:
            return None
        for called in (names, names_for(self), [f"x{j + 1}" for j in range(width)]):
            if called is not None and own <= set(called):
                return [j for j, name in enumerate(called) if name in own]
        raise UnreluError(f"which of the {width} columns are the model's {len(own)} is not known")

    @contextmanager
    def _asking(
        self, X: Any, kind: str, call: Call, limits: Any = None, upper: Any = None, **values: Any
    ) -> Iterator[tuple[Any, Any, tuple[int, int]]]:
        """The samples of the model's columns, opened, the options with their limits, and the shape."""
        x, high, names = self._samples(X, upper, reset=False)
        asked = options(kind, values, call)
        by = None
        if self.limits is not None:
            by = by_column(self.limits, names or names_for(self), x.shape[1], "limits", np.nan)
        cells = None if limits is None else _cells(limits, x.shape)
        kept = self._kept(names)
        if kept is not None:
            x, names = x[:, kept], None
            high, cells = (None if part is None else part[:, kept] for part in (high, cells))
            by = None if by is None else by[kept]
        if names is None or not set(self.names_) <= set(names):
            names = list(self.names_)  # whose order scikit-learn's validation has held against fit's
        if by is not None and kind != "goodness":
            asked.limit = doubles(by, call)
        with ExitStack() as stack:
            if cells is not None:
                asked.limits = stack.enter_context(source(cells, call))
            yield stack.enter_context(source(x, call, names=names, upper=high)), asked, x.shape

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """Draw new samples.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, RandomState instance or None
            The same int draws the same samples, those of ``unrelu sample --seed``.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        """
        self._check_fitted()
        return drawn(
            lib.unrelu_gaussian_sampler, self._model, n_samples, random_state, self._call()
        )

    def impute(
        self,
        X: Any,
        draws: int = 0,
        *,
        median: bool = False,
        limits: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        random_state: Any = None,
    ) -> Any:
        """Fill what the samples hide: censored and missing cells.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or Censored
            Samples of the fitted columns.
        draws : int
            0: the conditional mean of each hidden cell; else that many imputations, drawn with the
            parameters' own errors.
        median : bool
            Conditional medians instead of means.
        limits, upper : array-like, optional
            As in `fit`.
        random_state : int, RandomState instance or None
            Of the draws.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features) or (draws, n_samples, n_features)
            A frame where X is one and `draws` is 0. Columns that `fit` dropped are left out.
        """
        self._check_fitted()
        draws = count_of(draws, "draws", 0)
        call = self._call()
        with self._asking(X, "impute", call, limits, upper, median=median or None) as found:
            opened, asked, shape = found
            asked.draws = draws
            asked.seed = seed_of(random_state) if draws else 1
            out = np.empty((max(draws, 1), *shape))
            into = ffi.cast("double *", out.ctypes.data)
            call.check(
                lib.unrelu_gaussian_impute_memory(
                    self._model.pointer, opened, asked, into, call.exec, ffi.NULL, call.error
                )
            )
        if draws:
            return out
        return like(X, out[0], self._kept(names_of(X)))

    def score_samples(
        self,
        X: Any,
        *,
        limits: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        return_error: bool = False,
    ) -> Any:
        """The logarithm of the likelihood of each sample, in the unit of the data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or Censored
            Samples of the fitted columns. Censored cells count with the probability of where they
            lie, missing ones are left out.
        limits, upper : array-like, optional
            As in `fit`.
        return_error : bool
            Also return the standard errors of the integrals over more than two hidden cells of a
            sample; 0 where the likelihood is exact.

        Returns
        -------
        loglik : ndarray of shape (n_samples,)
            NaN where columns follow from others, so that there is no density.
        error : ndarray of shape (n_samples,)
            With `return_error`.
        """
        self._check_fitted()
        call = self._call()
        with self._asking(X, "impute", call, limits, upper) as (opened, asked, shape):
            loglik, error = np.empty(shape[0]), np.empty(shape[0])
            into = [ffi.cast("double *", values.ctypes.data) for values in (loglik, error)]
            call.check(
                lib.unrelu_gaussian_score(
                    self._model.pointer, opened, asked, call.exec, *into, call.error
                )
            )
        return (loglik, error) if return_error else loglik

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of `score_samples`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or Censored
            Samples of the fitted columns.
        y : ignored

        Returns
        -------
        float
        """
        return float(np.mean(self.score_samples(X)))

    def goodness(self, X: Any, *, n_runs: int = 999, random_state: Any = 1) -> Bunch:
        """How well the model fits samples, column by column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or Censored
            Samples of the fitted columns.
        n_runs : int
            Simulated samples behind each p-value.
        random_state : int, RandomState instance or None
            Of the simulation.

        Returns
        -------
        Bunch
            `fit` ("good", "slight", "poor", "": cannot be judged), `ks`, `ks_p`, `ties`, and for
            plots `edges`, `counts`, `sample_quantile`, `model_quantile`.
        """
        self._check_fitted()
        call = self._call()
        out = ffi.new("unrelu_goodness **")
        with self._asking(X, "goodness", call) as (opened, asked, _):
            asked.runs = count_of(n_runs, "n_runs", 1)
            asked.seed = seed_of(random_state)
            call.check(
                lib.unrelu_gaussian_goodness(
                    self._model.pointer, opened, asked, call.exec, out, call.error
                )
            )
        found = Model(out[0]).members()
        found["fit"] = judged(found["ks"], found["ks_p"], found["observed"] - found["censored"])
        return Bunch(**found)

    def conf_int(self, level: float = 0.95) -> Bunch:
        """Confidence intervals.

        Parameters
        ----------
        level : float
            Of the intervals.

        Returns
        -------
        Bunch
            Arrays with a lower and an upper end in the last axis: `location`, `scale`,
            `correlation`, and of x before censoring in the data's unit `mean`, `sd`, `median`.
        """
        self._check_fitted()
        call = self._call()
        half = lib.unrelu_normal_quantile((1 + level) / 2)
        model = self._copy_of_model()
        call.check(lib.unrelu_gaussian_answer(model.pointer, level, call.error))
        found = {
            name: _around(getattr(self, name + "_"), getattr(self, name + "_se_"), half)
            for name in ("location", "scale", "correlation")
        }
        for name in ("mean", "sd", "median"):
            found[name] = model.get(name + "_ci")
        return Bunch(**found)

    def _copy_of_model(self) -> Model:
        from ._base import packed, unpacked

        return unpacked(packed(self._model, self._kind), self._kind)

    def to_frame(self) -> Any:
        """One row for each column: location, scale, and the answers in the data's unit, with errors.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        self._check_fitted()
        shown = {
            "location": self.location_,
            "location_se": self.location_se_,
            "scale": self.scale_,
            "scale_se": self.scale_se_,
            "mean": self.mean_,
            "sd": self.sd_,
            "median": self.median_,
        }
        frame = pd.DataFrame(
            {name: values for name, values in shown.items() if values is not None},
            index=self.names_,
        )
        if self.flags_:
            frame["flags"] = [",".join(flags) for flags in self.flags_]
        return frame

    def summary(self) -> str:
        """A table of the columns as text.

        Returns
        -------
        str
        """
        self._check_fitted()
        width = max(6, *(len(name) for name in self.names_))
        lines = [f"rectified Gaussian, {self.n_samples_} samples, {len(self.names_)} columns"]
        lines.append(f"{'column':{width}}  {'location':>10} {'se':>9}  {'scale':>10} {'se':>9}  flags")
        nothing = np.full(len(self.names_), np.nan)
        errors = self.location_se_ if self.location_se_ is not None else nothing
        of_scale = self.scale_se_ if self.scale_se_ is not None else nothing
        for j, name in enumerate(self.names_):
            lines.append(
                f"{name:{width}}  {self.location_[j]:10.4g} {errors[j]:9.3g}  "
                f"{self.scale_[j]:10.4g} {of_scale[j]:9.3g}  "
                + ",".join(self.flags_[j] if self.flags_ else ())
            )
        lines += [f"{code}: {message}" for code, message in self.warnings_]
        return "\n".join(lines)

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "requires_positive_X": True, "allow_nan": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = True
        return tags


@contextmanager
def _saying_negative(x: NDArray[Any]) -> Iterator[None]:
    """A refused cell below 0 in the words that scikit-learn has for it, before our own."""
    try:
        yield
    except UnreluError as error:
        if error.code == "format" and np.nanmin(x) < 0:
            error.args = (f"Negative values in data: {error}",)
        raise


def _around(values: Floats, errors: Floats | None, half: float) -> Floats:
    spread = np.full_like(values, np.nan) if errors is None else half * errors
    return np.stack([values - spread, values + spread], axis=-1)


def judged(ks: Floats, ks_p: Floats, seen: Floats) -> list[str]:
    """The word of each column, by the one rule of all commands."""
    count = len(ks)
    words = (lib.unrelu_fit_judge(k, p, n, count) for k, p, n in zip(ks, ks_p, seen))
    return [ffi.string(lib.unrelu_fit_word_name(word)).decode() for word in words]


def drawn(make: Any, model: Model, n: int, random_state: Any, call: Call) -> Floats:
    """Rows 0 .. n - 1 of the stream that the seed names."""
    n = count_of(n, "n_samples", 1)
    out = ffi.new("unrelu_sampler **")
    call.check(make(model.pointer, seed_of(random_state), out, call.error))
    sampler = ffi.gc(out[0], lib.unrelu_sampler_free)
    d = int(model.pointer.d)
    x = np.empty((n, d))
    into = ffi.cast("double *", x.ctypes.data)
    call.check(lib.unrelu_sampler_draw(sampler, 0, n, call.exec, into, call.error))
    return x


def _cells(limits: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """A limit for each cell."""
    cells = matrix(limits, what="limits")
    if cells.shape != shape:
        raise UnreluError(
            f"limits has shape {cells.shape}, where X has {shape}: each limit belongs to the cell at "
            "its place",
            code="format",
            option="limits",
        )
    return cells


def like(X: Any, values: Floats, kept: list[int] | None = None) -> Any:
    """A frame where X is one of pandas."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        import pandas as pd

        columns = X.columns if kept is None else X.columns[kept]
        return pd.DataFrame(values, index=X.index, columns=columns)
    return values


__all__ = ["RectifiedGaussian", "UnreluWarning"]
