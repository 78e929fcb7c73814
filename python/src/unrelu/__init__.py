# SPDX-License-Identifier: Apache-2.0
"""Learn back what a ReLU hid: censored data, ReLU networks, mixtures."""

from ._call import progress
from ._censored import Censored, read_limits
from ._checks import expected_failed_checks
from ._errors import UnreluError, UnreluWarning, text_of
from ._functions import generate
from ._gaussian import RectifiedGaussian
from ._library import lib as _lib

__version__ = text_of(_lib.unrelu_version())

__all__ = [
    "Censored",
    "RectifiedGaussian",
    "UnreluError",
    "UnreluWarning",
    "expected_failed_checks",
    "generate",
    "progress",
    "read_limits",
]
