# SPDX-License-Identifier: Apache-2.0
"""Censored and missing cells filled, in a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ._censored import Censored
from ._checks import expected_failed_checks
from ._errors import UnreluError
from ._frames import note_features
from ._gaussian import RectifiedGaussian
from ._options import seed_of
from ._sources import matrix, refusing

Floats = NDArray[np.float64]


class CensoredImputer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace what was not seen by what it is expected to be, given the other cells of its row.

    Fits a `RectifiedGaussian`; then censored cells (0, or limits of their own) and missing ones
    become their conditional means.

    Parameters
    ----------
    estimator : RectifiedGaussian, optional
        The distribution that is fitted, with its parameters (transform, limits, ...).
    median : bool
        Conditional medians instead of means.
    sample_posterior : bool
        Draws from the conditional law, the parameters' own errors among them, instead of means;
        several imputers with different `random_state` give multiple imputations.
    add_indicator : bool
        Add a column for each that had hidden cells in `fit`: 1 where the cell was hidden.
    n_jobs : int, optional
        Threads; the result is the same, bit by bit, at any number.
    random_state : int, RandomState instance or None
        Of the draws.

    Attributes
    ----------
    estimator_ : RectifiedGaussian
        The fitted distribution.
    indicator_features_ : ndarray of int
        The columns that an indicator is added for.
    n_features_in_, feature_names_in_
        The samples that were seen.

    Examples
    --------
    >>> import unrelu
    >>> X, _ = unrelu.generate("gaussian", n_samples=500, d=3, random_state=0)
    >>> filled = unrelu.CensoredImputer().fit_transform(X)
    >>> bool((filled[X > 0] == X[X > 0]).all()), bool((filled[X == 0] < 0).all())
    (True, True)
    """

    def __init__(
        self,
        *,
        estimator: RectifiedGaussian | None = None,
        median: bool = False,
        sample_posterior: bool = False,
        add_indicator: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.median = median
        self.sample_posterior = sample_posterior
        self.add_indicator = add_indicator
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, **given: Any) -> CensoredImputer:
        """Learn the distribution.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or Censored
            Samples; NaN is missing.
        y : ignored
        **given
            limits and upper, as of `RectifiedGaussian.fit`.

        Returns
        -------
        self
        """
        if self.median and self.sample_posterior:
            raise UnreluError(
                "median and sample_posterior exclude each other: a draw is no median",
                option="median",
            )
        own = RectifiedGaussian() if self.estimator is None else clone(self.estimator)
        if self.n_jobs is not None:
            own.set_params(n_jobs=self.n_jobs)
        self.estimator_ = own.fit(X, **given)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(own, name):
                setattr(self, name, getattr(own, name))
            elif hasattr(self, name):
                delattr(self, name)
        hidden = own.positive_ < own.n_samples_
        self.indicator_features_ = self._columns()[hidden]
        return self

    def _columns(self) -> NDArray[np.intp]:
        """The columns that are filled: those that the distribution did not drop."""
        kept = self.estimator_._kept()
        return np.arange(self.n_features_in_) if kept is None else np.asarray(kept)

    def transform(self, X: Any, **given: Any) -> Any:
        """Fill what the samples hide.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or Censored
            Samples of the fitted columns.
        **given
            limits and upper, as of `RectifiedGaussian.impute`.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self, "estimator_")
        if not isinstance(X, Censored):
            note_features(self, X if hasattr(X, "columns") else matrix(X), reset=False)
        own = self.estimator_
        if self.sample_posterior:
            filled = own.impute(X, 1, random_state=seed_of(self.random_state), **given)[0]
        else:
            filled = np.asarray(own.impute(X, median=self.median, **given))
        if not self.add_indicator:
            return filled
        before = (X.lower if isinstance(X, Censored) else matrix(X))[:, self._columns()]
        told = filled != before  # NaN differs from all
        wanted = np.isin(self._columns(), self.indicator_features_)
        return np.hstack([filled, told[:, wanted].astype(np.float64)])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns of `transform`.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns, where `fit` was given none.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self, "estimator_")
        with refusing():
            names = _check_feature_names_in(self, input_features)
        filled = np.asarray(names, dtype=object)[self._columns()]
        if not self.add_indicator:
            return filled
        added = [f"censoredindicator_{names[j]}" for j in self.indicator_features_]
        return np.concatenate([filled, np.asarray(added, dtype=object)])

    def _more_tags(self) -> dict[str, Any]:
        return {
            "_xfail_checks": expected_failed_checks(self),
            "requires_positive_X": True,
            "allow_nan": True,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = True
        return tags
