# SPDX-License-Identifier: Apache-2.0
"""Two-layer ReLU networks as a regressor."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import MultiOutputMixin, RegressorMixin

from ._base import ModelEstimator
from ._call import Call
from ._errors import UnreluError, warn_all
from ._frames import names_for, samples
from ._library import ffi, lib
from ._model import Model
from ._options import options, seed_of
from ._sources import finite, matrix, source
from ._weights import network_of

Floats = NDArray[np.float64]

#: fits that are returned, but not as what was asked for: each is told by a warning
_WEAK = {"exact-uncertified", "approximate", "incomplete"}


class ReLURecovery(MultiOutputMixin, RegressorMixin, ModelEstimator):  # type: ignore[misc]
    """The two-layer network behind inputs and labels, exactly where the data allow it.

    Labels are ``y = U f(V x + c) + e``, perhaps with noise. Where they have none the weights are
    found to rounding, and a certificate says that no other network of this kind meets the labels;
    where they have, the maximum of the likelihood is found, with standard errors.

    Parameters
    ----------
    n_hidden : int, optional
        Neurons; found out by default.
    method : str
        "auto", or one of the methods of docs/methods.md.
    activation : str
        "relu", "power:2", "expm1", "expm1sq", "leaky:0.1" or "tanh".
    bias : {"auto", "none", "hidden", "both", "output"}
        Which biases are fitted.
    noise : {"auto", "none", "gaussian"}
        Whether labels have noise.
    robust : bool
        Huber's objective for labels with noise.
    log_probabilities : bool
        Labels are logarithms of the probabilities of classes.
    certify : bool
        Integer or rational data: the exact fit again, in exact arithmetic.
    time_limit : float, optional
        Seconds after which the best network so far is returned.
    budget : int, optional
        Candidates after which enumerating methods give up.
    n_jobs : int, optional
        Threads; the result is the same, bit by bit, at any number.
    random_state : int, RandomState instance or None
        Of the starts.

    Attributes
    ----------
    coefs_ : list of ndarray
        V' (n_features, n_hidden) and U' (n_hidden, n_outputs), as MLPRegressor has them.
    intercepts_ : list of ndarray
        c and e.
    coefs_se_, intercepts_se_ : list of ndarray or None
        Standard errors; None where the fit is exact.
    verdict_ : str
        "exact", "noisy", or weaker, with an UnreluWarning: "exact-uncertified", "approximate",
        "incomplete".
    certificate_ : dict
        What the verdict rests on: residuals, ranks, guarantee and whether its conditions hold.
    n_hidden_ : int
        Neurons.
    noise_ : float
        Standard deviation of the labels' noise.
    warnings_ : list of (code, message)
        What is to be known of the network.

    Examples
    --------
    >>> import unrelu
    >>> X, y, truth = unrelu.generate("network", n_samples=400, d=4, k=3, m=2, random_state=0)
    >>> model = unrelu.ReLURecovery(random_state=0).fit(X, y)
    >>> model.verdict_
    'exact'
    >>> bool(abs(model.predict(X) - y).max() < 1e-9)
    True
    """

    _kind: ClassVar[str] = "network"
    _aliases: ClassVar[dict[str, str]] = {
        "k": "n_hidden",
        "seed": "random_state",
        "threads": "n_jobs",
    }

    def __init__(
        self,
        *,
        n_hidden: int | None = None,
        method: str = "auto",
        activation: str = "relu",
        bias: str = "auto",
        noise: str = "auto",
        robust: bool = False,
        log_probabilities: bool = False,
        certify: bool = False,
        time_limit: float | None = None,
        budget: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.method = method
        self.activation = activation
        self.bias = bias
        self.noise = noise
        self.robust = robust
        self.log_probabilities = log_probabilities
        self.certify = certify
        self.time_limit = time_limit
        self.budget = budget
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _options(self, call: Call) -> Any:
        made = options(
            "recover",
            {
                "k": self.n_hidden,
                "method": self.method,
                "activation": self.activation,
                "bias": self.bias,
                "noise": self.noise,
                "robust": self.robust or None,
                "log-probabilities": self.log_probabilities or None,
                "certify": self.certify or None,
                "time-limit": self.time_limit,
                "budget": self.budget,
            },
            call,
        )
        made.seed = seed_of(self.random_state)
        return made

    def fit(self, X: Any, y: Any) -> ReLURecovery:
        """Find the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Labels.

        Returns
        -------
        self
        """
        x = samples(self, X, reset=True, least=2)
        finite(x, "X", _EVERY_CELL)
        labels, self._one_output = labels_of(y, len(x))
        call = self._call()
        out = ffi.new("unrelu_network **")
        asked = self._options(call)
        with source(x, call, names=names_for(self)) as inputs, source(labels, call) as answers:
            call.check(lib.unrelu_recover(inputs, answers, asked, call.exec, out, call.error))
        self._take(Model(out[0]))
        warn_all(self.warnings_, stacklevel=2)
        return self

    def _take(self, model: Model) -> None:
        found = model.members()
        verdict = str(found["verdict"])
        if verdict == "failed":
            raise UnreluError(f"no network was found: {found['failure']}", code="data")
        self._model = model
        self.verdict_ = verdict
        self.coefs_ = [np.ascontiguousarray(found["V"].T), np.ascontiguousarray(found["U"].T)]
        self.intercepts_ = [found["c"], found["e"]]
        known = found.get("V_se") is not None and found.get("U_se") is not None
        self.coefs_se_ = [found["V_se"].T.copy(), found["U_se"].T.copy()] if known else None
        self.intercepts_se_ = [found.get("c_se"), found.get("e_se")] if known else None
        self.n_hidden_, d = found["V"].shape
        self.n_outputs_ = len(found["U"])
        self.n_layers_ = 3
        self.out_activation_ = "identity"
        self.activation_ = str(found["activation"])
        self.noise_ = float(found.get("noise", 0.0))
        self.certificate_ = {name: found[name] for name in _CERTIFICATE if name in found}
        self.warnings_ = model.warnings(self._aliases)
        if verdict in _WEAK and not any(code == verdict for code, _ in self.warnings_):
            self.warnings_.insert(0, (verdict, _WEAK_SENTENCES[verdict]))
        if not hasattr(self, "n_features_in_"):
            self.n_features_in_ = d
        if not hasattr(self, "_one_output"):
            self._one_output = False

    def predict(self, X: Any) -> Floats:
        """The network's outputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            As the labels of `fit` were.
        """
        self._check_fitted()
        x = np.ascontiguousarray(samples(self, X, reset=False), dtype=np.float64)
        finite(x, "X", "every input must be finite")
        call = self._call()
        out = np.empty((len(x), self.n_outputs_))
        call.check(
            lib.unrelu_network_predict(
                self._model.pointer,
                ffi.cast("double *", x.ctypes.data),
                len(x),
                call.exec,
                ffi.cast("double *", out.ctypes.data),
                call.error,
            )
        )
        return out[:, 0] if self._one_output else out

    def to_mlp(self) -> Any:
        """The same network as a fitted `sklearn.neural_network.MLPRegressor`.

        Returns
        -------
        MLPRegressor
        """
        from sklearn.neural_network import MLPRegressor

        self._check_fitted()
        if self.activation_ != "relu":
            raise UnreluError(f"MLPRegressor has no activation {self.activation_!r}")
        mlp = MLPRegressor(hidden_layer_sizes=(self.n_hidden_,), activation="relu")
        mlp.coefs_ = [coefs.copy() for coefs in self.coefs_]
        mlp.intercepts_ = [intercepts.copy() for intercepts in self.intercepts_]
        mlp.n_features_in_ = self.n_features_in_
        mlp.n_outputs_ = self.n_outputs_
        mlp.n_layers_ = self.n_layers_
        mlp.out_activation_ = self.out_activation_
        if hasattr(self, "feature_names_in_"):
            mlp.feature_names_in_ = self.feature_names_in_
        return mlp

    def to_torch(self) -> Any:
        """The same network as a `torch.nn.Sequential` in double precision.

        Returns
        -------
        torch.nn.Sequential
        """
        import torch

        self._check_fitted()
        name, _, slope = self.activation_.partition(":")
        activation: Any
        if name == "relu":
            activation = torch.nn.ReLU()
        elif name == "leaky":
            activation = torch.nn.LeakyReLU(float(slope))
        else:
            raise UnreluError(f"torch.nn has no module for the activation {self.activation_!r}")
        hidden = torch.nn.Linear(self.n_features_in_, self.n_hidden_, dtype=torch.float64)
        output = torch.nn.Linear(self.n_hidden_, self.n_outputs_, dtype=torch.float64)
        with torch.no_grad():
            for layer, weights, bias in zip((hidden, output), self.coefs_, self.intercepts_):
                layer.weight.copy_(torch.from_numpy(weights.T.copy()))
                layer.bias.copy_(torch.from_numpy(bias.copy()))
        return torch.nn.Sequential(hidden, activation, output)

    def export(self, path: str | os.PathLike[str], *, float32: bool = False) -> None:
        """Write the weights for other programs, by the ending of the name.

        Parameters
        ----------
        path : path-like
            ``.safetensors`` (what PyTorch calls 0.weight, 0.bias, 2.weight, 2.bias) or ``.onnx``.
        float32 : bool
            Rounded to single precision.
        """
        self._check_fitted()
        call = self._call()
        call.check(
            lib.unrelu_network_export(self._model.pointer, os.fsencode(path), float32, call.error)
        )

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "poor_score": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


_CERTIFICATE = (
    "residual holdout_residual samples_checked min_active min_inactive gap starts starts_agree "
    "linear_rank inputs_rank method biases precision how_k guarantee guarantee_holds "
    "guarantee_because assumption proof tried V_rational U_rational"
).split()

_WEAK_SENTENCES = {
    "exact-uncertified": "the labels are met to rounding, and it is not shown that no other network does",
    "approximate": "no network that was found meets the labels, and what is left is no noise",
    "incomplete": "the search was stopped; this is the closest network until then",
}


_EVERY_CELL = "every cell is needed; leave such rows out of X and y"


def labels_of(y: Any, n: int) -> tuple[NDArray[Any], bool]:
    """Labels as a matrix, and whether they were one column without a second dimension."""
    if y is None:
        raise UnreluError("requires y to be passed, but the target y is None")
    as_it_is = hasattr(y, "columns") or isinstance(y, np.ma.MaskedArray) or issparse(y)
    given = y if as_it_is else np.asarray(y)
    one = given.ndim == 1
    labels = matrix(given.reshape(-1, 1) if one else given, what="y")
    if len(labels) != n:
        raise UnreluError(
            f"Found input variables with inconsistent numbers of samples: X has {n} rows, "
            f"y has {len(labels)}",
            code="format",
        )
    finite(labels, "y", _EVERY_CELL)
    return labels, one


def certify(network: Any, X: Any, a: Any, **asked: Any) -> ReLURecovery:
    """Hold a network from anywhere against inputs and labels.

    Parameters
    ----------
    network : ReLURecovery, MLPRegressor, path-like, or list or tuple of ndarray
        Fitted, with one hidden layer; a file of weights; the four arrays V (k, d), c (k), U (m, k),
        e (m); or the two lists `coefs_` and `intercepts_`, as MLPRegressor has them. A bias that is
        None is 0.
    X : array-like of shape (n_samples, n_features)
        Inputs.
    a : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels.
    **asked
        Parameters of `ReLURecovery`: bias, activation, certify, random_state. The activation is by
        default that of the network, of arrays "relu".

    Returns
    -------
    ReLURecovery
        With the network's weights, but for the order and scale of neurons, and the verdict.

    Examples
    --------
    >>> import unrelu
    >>> X, y, truth = unrelu.generate("network", n_samples=300, d=3, k=2, m=2, random_state=0)
    >>> unrelu.certify(truth, X, y).verdict_
    'exact'
    >>> unrelu.certify((truth.coefs_, truth.intercepts_), X, y + 1e-3).verdict_
    'approximate'
    """
    given = network_of(network, asked.get("activation", "relu"))
    held = ReLURecovery(**{"activation": str(given.get("activation")), **asked})
    x = samples(held, X, reset=True)
    finite(x, "X", _EVERY_CELL)
    labels, held._one_output = labels_of(a, len(x))
    call = held._call()
    out = ffi.new("unrelu_network **")
    if held.random_state is None:
        held.random_state = 1
    made = held._options(call)
    with source(x, call) as inputs, source(labels, call) as answers:
        call.check(
            lib.unrelu_certify(
                given.pointer, inputs, answers, made, call.exec, out, call.error
            )
        )
    held._take(Model(out[0]))
    warn_all(held.warnings_, stacklevel=2)
    return held
