# SPDX-License-Identifier: Apache-2.0
"""What is done around fits: plant data, plan samples, compare models, look at samples first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from ._call import Call
from ._censored import Censored
from ._errors import UnreluError, text_of
from ._gaussian import RectifiedGaussian, by_column, doubles, drawn, judged
from ._library import ffi, lib
from ._mixture import ReLUUnmixing
from ._model import Model
from ._network import ReLURecovery
from ._options import count_of, options, seed_of
from ._sources import is_path, matrix, names_of, source

Floats = NDArray[np.float64]


# -- generate


def _plant(kind: str, asked: dict[str, Any], seed: int, call: Call) -> tuple[Any, Model]:
    made = options(f"{kind}_plant", asked, call)
    made.seed = seed
    out = ffi.new(f"unrelu_{kind} **")
    call.check(getattr(lib, f"unrelu_{kind}_plant")(made, out, call.error))
    return made, Model(out[0])


def generate(what: str, *, n_samples: int = 100, random_state: Any = None, **asked: Any) -> Any:
    """Plant a random model and draw data from it.

    Parameters
    ----------
    what : {"gaussian", "network", "mixture"}
        The model.
    n_samples : int
        How many samples.
    random_state : int, RandomState instance or None
        The same int draws what ``unrelu generate --seed`` draws.
    **asked
        Sizes and laws, as at the command line: d, k, kappa and bias of all but networks; d, k, m,
        kappa_v, kappa_u, bias, noise, inputs, activation and lemma16 of networks; p and noise of
        mixtures.

    Returns
    -------
    X : ndarray of shape (n_samples, d)
    y : ndarray of shape (n_samples, m)
        Labels, of networks alone.
    truth : RectifiedGaussian, ReLURecovery or ReLUUnmixing
        The planted model.

    Examples
    --------
    >>> import unrelu
    >>> X, truth = unrelu.generate("gaussian", n_samples=5, d=2, random_state=1)
    >>> X.shape, truth.location_.shape
    ((5, 2), (2,))
    >>> X, y, truth = unrelu.generate("network", n_samples=5, d=4, k=3, m=2, random_state=1)
    >>> y.shape, truth.coefs_[0].shape
    ((5, 2), (4, 3))
    """
    call = Call(1)
    seed = seed_of(random_state)
    n_samples = count_of(n_samples, "n_samples", 1)
    if what == "gaussian":
        gaussian = RectifiedGaussian()
        gaussian._take(_plant(what, asked, seed, call)[1])
        X = drawn(lib.unrelu_gaussian_sampler, gaussian._model, n_samples, seed, call)
        return X, gaussian
    if what == "mixture":
        mixture = ReLUUnmixing()
        mixture._take(_plant(what, asked, seed, call)[1])
        return drawn(lib.unrelu_mixture_sampler, mixture._model, n_samples, seed, call), mixture
    if what == "network":
        made, model = _plant(what, asked, seed, call)
        network = ReLURecovery()
        network._take(model)
        X, y = np.empty((n_samples, made.d)), np.empty((n_samples, made.m))
        to_X, to_y = (ffi.cast("double *", values.ctypes.data) for values in (X, y))
        call.check(
            lib.unrelu_network_draw(
                made, model.pointer, 0, n_samples, call.exec, to_X, to_y, call.error
            )
        )
        return X, y, network
    raise UnreluError(f"there is no model {what!r}: gaussian, network, mixture", option="what")


# -- compare


def _fields(struct: Any) -> Bunch:
    """The members of a small struct of the library."""
    found = {}
    for name, field in ffi.typeof(struct).fields:
        value = getattr(struct, name)
        if field.type.kind == "primitive":
            found[name] = value
        elif field.type.kind == "array":
            found[name] = ffi.string(value).decode()
        else:
            found[name] = _fields(value)
    return Bunch(**found)


_KINDS = {RectifiedGaussian: "gaussian", ReLURecovery: "network", ReLUUnmixing: "mixture"}


def compare(truth: Any, model: Any) -> Bunch:
    """How far two models are apart, up to the symmetries of their kind.

    Parameters
    ----------
    truth, model : RectifiedGaussian, ReLURecovery or ReLUUnmixing
        Two fitted or planted estimators of one kind.

    Returns
    -------
    Bunch
        Of Gaussians: b_error, sigma_error, kl, kl_reverse, tv_bound, correlation_rms; of networks
        V_max, U_max, function_error, matched, missing, extra; of mixtures A_max and more.

    Examples
    --------
    >>> import unrelu
    >>> X, truth = unrelu.generate("gaussian", n_samples=20000, d=3, random_state=0)
    >>> apart = unrelu.compare(truth, unrelu.RectifiedGaussian().fit(X))
    >>> apart.tv_bound < 0.05
    True
    """
    kind = _KINDS.get(type(truth))
    if kind is None or type(model) is not type(truth):
        raise UnreluError(
            f"{type(truth).__name__} and {type(model).__name__} cannot be compared: give two "
            "estimators of one kind"
        )
    truth._check_fitted()
    model._check_fitted()
    call = Call(1)
    out = ffi.new(f"unrelu_{kind}_distance *")
    run = getattr(lib, f"unrelu_{kind}_compare")
    call.check(run(truth._model.pointer, model._model.pointer, out, call.error))
    return _fields(out[0])


# -- plan


def plan(what: str = "gaussian", **asked: Any) -> list[Bunch]:
    """How many samples are needed, by every bound that speaks of such a model.

    Parameters
    ----------
    what : {"gaussian", "network", "mixture"}
        The model.
    **asked
        d, k, m, p, error, failure, kappa, b: as ``unrelu plan`` has them.

    Returns
    -------
    list of Bunch
        name, title, says, assumes, source, role ("enough", "needed"), constant ("explicit",
        "open", "measured"), holds, because, n, error_at_one.

    Examples
    --------
    >>> import unrelu
    >>> bounds = unrelu.plan("gaussian", d=5, error=0.1)
    >>> {bound.role for bound in bounds} <= {"enough", "needed"}
    True
    """
    call = Call(1, {"model": "what"})
    values = {"model": what, **asked}
    made = ffi.new("unrelu_plan_options *")
    lib.unrelu_plan_options_init(made, ffi.sizeof("unrelu_plan_options"))
    for name, value in values.items():
        if isinstance(value, (list, tuple, np.ndarray)):
            value = ",".join(repr(float(number)) for number in value)
        _set_plan(made, name, value, call)
    out = ffi.new("unrelu_plan **")
    call.check(lib.unrelu_plan_make(made, out, call.error))
    held = ffi.gc(out[0], lib.unrelu_plan_free)
    found, i = [], 0
    while (bound := lib.unrelu_plan_bound_at(held, i)) != ffi.NULL:
        found.append(_bound(bound))
        i += 1
    return found


def _set_plan(made: Any, name: str, value: Any, call: Call) -> None:
    models = {"gaussian": 0, "network": 1, "mixture": 2}
    if name == "model":
        if value not in models:
            raise UnreluError(f"there is no model {value!r}: {', '.join(models)}", option="what")
        made.model = models[value]
        return
    text = ffi.new("char[]", str(value).encode())
    call.check(lib.unrelu_plan_options_set(made, name.encode(), text, call.error))


def _bound(bound: Any) -> Bunch:
    texts = ("name", "title", "says", "assumes", "source", "because")
    found: dict[str, Any] = {name: text_of(getattr(bound, name)) for name in texts}
    found["role"] = ("enough", "needed")[bound.role]
    found["constant"] = ("explicit", "open", "measured")[bound.constant]
    found["holds"] = bool(bound.holds)
    found["n"], found["error_at_one"] = bound.n, bound.error_at_one
    return Bunch(**found)


# -- check


def check(X: Any, *, limits: Any = None, n_runs: int = 999, random_state: Any = 1) -> Bunch:
    """Look at samples before they are fitted.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), Censored or path
        Samples.
    limits : float, array-like of shape (n_features,) or dict, optional
        The detection limit of cells that are 0, by column.
    n_runs : int
        Simulated samples behind each p-value.
    random_state : int, RandomState instance or None
        Of the simulation.

    Returns
    -------
    Bunch
        By column: `fit` ("good", "slight", "poor", "": cannot be judged), `ks`, `ks_p`, `ties`, and
        of the advised transform `transform`, `boxcox` and how it fits, `transformed_ks`,
        `transformed_ks_p`; `shared_transform` is the one for all columns together.

    Examples
    --------
    >>> import unrelu
    >>> X, _ = unrelu.generate("gaussian", n_samples=400, d=2, bias=1, random_state=0)
    >>> seen = unrelu.check(X, n_runs=99)
    >>> seen.fit, seen.transform
    (['good', 'good'], ['none', 'none'])
    """
    call = Call(1)
    upper = None
    if isinstance(X, Censored):
        x, upper, names = X.lower, X.upper, X.names
    elif is_path(X):
        x, names = X, None
    else:
        x, names = matrix(X), names_of(X)
    with source(x, call, names=names, upper=upper) as opened:
        d = lib.unrelu_source_columns(opened)
        asked = options("goodness", {}, call)
        asked.runs, asked.seed = n_runs, seed_of(random_state)
        at = ffi.NULL
        if limits is not None:
            at = asked.limit = doubles(by_column(limits, names, d, "limits", np.nan), call)
        return _checked(opened, d, asked, at, call)


def _checked(opened: Any, d: int, asked: Any, at: Any, call: Call) -> Bunch:
    ks, ks_p, ties = (np.empty(d) for _ in range(3))
    into = [ffi.cast("double *", values.ctypes.data) for values in (ks, ks_p, ties)]
    call.check(lib.unrelu_columns_distance(opened, asked, call.exec, *into, call.error))
    advice = ffi.new("unrelu_transform_advice[]", d + 1)
    call.check(
        lib.unrelu_transform_suggest(opened, at, ffi.NULL, call.exec, advice, call.error)
    )
    words = [text_of(lib.unrelu_transform_name(advice[j].transform)) for j in range(d + 1)]
    values = np.array([advice[j].values for j in range(d)], dtype=np.float64)
    return Bunch(
        fit=judged(ks, ks_p, values),
        ks=ks,
        ks_p=ks_p,
        ties=ties,
        transform=words[:d],
        boxcox=np.array([getattr(advice[j], "lambda") for j in range(d)]),
        transformed_ks=np.array([advice[j].ks for j in range(d)]),
        transformed_ks_p=np.array([advice[j].ks_p for j in range(d)]),
        shared_transform=words[d],
    )


__all__ = ["check", "compare", "generate", "plan"]
