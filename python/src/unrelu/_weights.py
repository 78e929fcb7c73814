# SPDX-License-Identifier: Apache-2.0
"""Networks from wherever people have them, as models of the library."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._base import unpacked
from ._call import Call
from ._errors import UnreluError
from ._library import ffi, lib
from ._model import Model

Floats = NDArray[np.float64]

_GIVE = (
    "give a fitted ReLURecovery or MLPRegressor, a file of weights, the four arrays V, c, U, e, or "
    "a pair of lists, coefs_ and intercepts_"
)

def _refused(why: str) -> UnreluError:
    return UnreluError(f"network: {why}", code="format", option="network")


def _array(name: str, value: Any, shape: tuple[int | None, ...]) -> Floats:
    """Finite numbers of this shape, of which None is any length."""
    try:
        given = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _refused(f"{name} holds what is no number ({error})") from error
    if given.ndim != len(shape) or any(w not in (None, n) for w, n in zip(shape, given.shape)):
        wanted = " x ".join("any" if length is None else str(length) for length in shape)
        raise _refused(f"{name} has shape {given.shape}, where {wanted} is needed")
    if not np.isfinite(given).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(given))[0])
        raise _refused(f"{name} is not finite at {place}")
    return given


def from_weights(V: Any, c: Any, U: Any, e: Any, activation: str = "relu") -> Model:
    """The network ``U f(V x + c) + e``; a bias that is None is 0."""
    V = _array("V", V, (None, None))
    U = _array("U", U, (None, len(V)))
    c = np.zeros(len(V)) if c is None else _array("c", c, (len(V),))
    e = np.zeros(len(U)) if e is None else _array("e", e, (len(U),))
    file = io.BytesIO()
    np.savez(file, kind=np.array("network"), activation=np.array(activation), V=V, c=c, U=U, e=e)
    return unpacked(file.getvalue(), "network")


def _from_layers(coefs: Sequence[Any], intercepts: Any, activation: str) -> Model:
    """As MLPRegressor has them: the transposes of V and U."""
    if intercepts is None:
        intercepts = [None, None]
    if len(coefs) != 2 or len(intercepts) != 2:
        raise _refused(
            f"there are {len(coefs)} layers of weights and {len(intercepts)} of biases: one hidden "
            "layer, which makes two of each, is what can be held against labels"
        )
    V, U = (np.transpose(_array(f"coefs_[{i}]", coefs[i], (None, None))) for i in range(2))
    return from_weights(V, intercepts[0], U, intercepts[1], activation)


def _from_mlp(mlp: Any) -> Model:
    if not hasattr(mlp, "coefs_"):
        raise _refused(f"the {type(mlp).__name__} is not fitted")
    if mlp.out_activation_ != "identity":
        raise _refused(f"its outputs go through {mlp.out_activation_!r}: give a regressor")
    if mlp.activation != "relu":  # "tanh" is tanh on both sides of 0 there, and on one here
        raise _refused(f"its activation is {mlp.activation!r}, where 'relu' is needed")
    return _from_layers(mlp.coefs_, mlp.intercepts_, "relu")


def network_of(network: Any, activation: str = "relu") -> Model:
    """A network of the library from what people have; arrays alone need its activation said."""
    from ._network import ReLURecovery

    if isinstance(network, ReLURecovery):
        network._check_fitted()
        return network._model
    if isinstance(network, (str, os.PathLike)):
        call = Call(1)
        out = ffi.new("unrelu_network **")
        call.check(lib.unrelu_network_load(os.fsencode(network), out, call.error))
        return Model(out[0])
    if hasattr(network, "out_activation_") or type(network).__name__.startswith("MLP"):
        return _from_mlp(network)
    if isinstance(network, (list, tuple)) and len(network) == 4:
        V, c, U, e = network
        return from_weights(V, c, U, e, activation)
    if isinstance(network, (list, tuple)) and len(network) == 2:
        if isinstance(network[0], (list, tuple)):
            return _from_layers(network[0], network[1], activation)
    raise UnreluError(f"network is a {type(network).__name__}: {_GIVE}", option="network")
