# SPDX-License-Identifier: Apache-2.0
"""Mixtures of rectified sources as an estimator."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._base import ModelEstimator
from ._errors import UnreluError, warn_all
from ._frames import names_for, samples
from ._gaussian import drawn
from ._library import ffi, lib
from ._model import Model
from ._options import options, seed_of
from ._sources import source

Floats = NDArray[np.float64]


class ReLUUnmixing(ModelEstimator):
    """The sources behind mixtures ``x = A ReLU(W z + b)``, perhaps with noise.

    As NMF, but A is not one of many factorisations: where each source is silent in some samples it
    is the only one, and it is found to rounding where there is no noise.

    Parameters
    ----------
    n_components : int, optional
        Sources; found out by default.
    method : {"facets", "separable"}
        By the facets of the samples' cone, or by samples with one source alone.
    n_jobs : int, optional
        Threads; the result is the same, bit by bit, at any number.
    random_state : int, RandomState instance or None
        Of the search.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        The columns of A, of unit length, as rows.
    components_se_ : ndarray or None
        Standard errors; None where A is known to rounding.
    location_, scale_, covariance_ : ndarray
        Of the sources before rectification.
    noise_ : float
        Standard deviation of the noise of every column.
    verdict_ : str
        "exact", "noisy", or, with an UnreluWarning, "ambiguous" and "failed": then no mixture was
        found, the warning says why with numbers, and there are no components.
    warnings_ : list of (code, message)
        What is to be known of the mixture.

    Examples
    --------
    >>> import unrelu
    >>> X, truth = unrelu.generate("mixture", n_samples=500, d=4, p=2, random_state=0)
    >>> model = unrelu.ReLUUnmixing(random_state=0).fit(X)
    >>> model.verdict_, model.components_.shape
    ('exact', (2, 4))
    """

    n_features_in_: int

    _kind: ClassVar[str] = "mixture"
    _aliases: ClassVar[dict[str, str]] = {
        "p": "n_components",
        "seed": "random_state",
        "threads": "n_jobs",
    }

    def __init__(
        self,
        *,
        n_components: int | None = None,
        method: str = "facets",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> ReLUUnmixing:
        """Find the sources.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Mixtures.
        y : ignored

        Returns
        -------
        self
        """
        x = samples(self, X, reset=True, least=2)
        call = self._call()
        out = ffi.new("unrelu_mixture **")
        asked = options("unmix", {"p": self.n_components, "method": self.method}, call)
        asked.seed = seed_of(self.random_state)
        with source(x, call, names=names_for(self)) as opened:
            status = lib.unrelu_unmix(opened, asked, call.exec, out, call.error)
        try:
            call.check(status)
        except UnreluError as error:
            if error.code != "data":
                raise
            self._fail(str(error))
        else:
            self._take(Model(out[0]))
        warn_all(self.warnings_, stacklevel=2)
        return self

    def _fail(self, why: str) -> None:
        """No mixture was found: nothing is known, and that is said."""
        self.__dict__.pop("_model", None)
        self.verdict_ = "failed"
        self.components_ = np.empty((0, self.n_features_in_))
        self.components_se_: Floats | None = None
        self.n_components_ = 0
        self.warnings_ = [("failed", why)]

    def _take(self, model: Model) -> None:
        self._model = model
        found = model.members()
        self.verdict_ = str(found["verdict"])
        self.components_ = np.ascontiguousarray(found["A"].T)
        errors = found.get("A_se")
        self.components_se_ = None if errors is None else np.ascontiguousarray(errors.T)
        self.n_components_ = len(self.components_)
        self.location_, self.location_se_ = found["b"], found.get("b_se")
        self.scale_, self.scale_se_ = found["scale"], found.get("scale_se")
        self.covariance_, self.covariance_se_ = found["sigma"], found.get("sigma_se")
        self.noise_ = float(found["noise"])
        self.certificate_ = {name: found[name] for name in _CERTIFICATE if name in found}
        self.warnings_ = model.warnings(self._aliases)
        if not hasattr(self, "n_features_in_"):
            self.n_features_in_ = self.components_.shape[1]

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """Draw new mixtures.

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
        check_is_fitted(self, "verdict_")
        if self.verdict_ == "failed":
            raise UnreluError(f"there is nothing to draw from: {self.warnings_[0][1]}", code="data")
        make = lib.unrelu_mixture_sampler
        return drawn(make, self._model, n_samples, random_state, self._call())


_CERTIFICATE = "residual negative samples_checked facets min_off tries precision how_p".split()
