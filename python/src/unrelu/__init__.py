# SPDX-License-Identifier: Apache-2.0
"""Learn back what a ReLU hid: censored data, ReLU networks, mixtures."""

from . import plot
from ._call import progress
from ._censored import Censored, read_limits
from ._checks import expected_failed_checks
from ._errors import UnreluError, UnreluWarning, text_of
from ._functions import check, compare, generate, plan
from ._gaussian import RectifiedGaussian
from ._imputer import CensoredImputer
from ._library import lib as _lib
from ._mixture import ReLUUnmixing
from ._network import ReLURecovery, certify

__version__ = text_of(_lib.unrelu_version())

__all__ = [
    "Censored",
    "CensoredImputer",
    "ReLURecovery",
    "ReLUUnmixing",
    "RectifiedGaussian",
    "UnreluError",
    "UnreluWarning",
    "certify",
    "check",
    "compare",
    "expected_failed_checks",
    "generate",
    "plan",
    "plot",
    "progress",
    "read_limits",
]
