# SPDX-License-Identifier: Apache-2.0
"""What is done around fits: plant data, plan samples, compare models, look at samples first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from ._call import Call
from ._errors import UnreluError, text_of
from ._gaussian import RectifiedGaussian, drawn
from ._library import ffi, lib
from ._model import Model
from ._options import options, seed_of


def generate(what: str, *, n_samples: int = 100, random_state: Any = None, **asked: Any) -> Any:
    """Plant a random model and draw data from it.

    Parameters
    ----------
    what : {"gaussian"}
        The model.
    n_samples : int
        How many samples.
    random_state : int, RandomState instance or None
        The same int draws what ``unrelu generate --seed`` draws.
    **asked
        Sizes and laws, as at the command line: d, k, kappa, bias.

    Returns
    -------
    X : ndarray of shape (n_samples, d)
    truth : RectifiedGaussian
        The planted model.

    Examples
    --------
    >>> import unrelu
    >>> X, truth = unrelu.generate("gaussian", n_samples=5, d=2, random_state=1)
    >>> X.shape, truth.location_.shape
    ((5, 2), (2,))
    """
    call = Call(1)
    seed = seed_of(random_state)
    if what == "gaussian":
        made = options("gaussian_plant", asked, call)
        made.seed = seed
        out = ffi.new("unrelu_gaussian **")
        call.check(lib.unrelu_gaussian_plant(made, out, call.error))
        truth = RectifiedGaussian()
        truth._take(Model(out[0]))
        X = drawn(lib.unrelu_gaussian_sampler, truth._model, n_samples, seed, call)
        return X, truth
    raise UnreluError(f"there is no model {what!r}: take gaussian", option="what")


_ = (np, NDArray, Bunch, text_of)
