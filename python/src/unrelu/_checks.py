# SPDX-License-Identifier: Apache-2.0
"""The checks of scikit-learn that cannot hold, because the data they feed must be refused."""

from __future__ import annotations

from typing import Any

_REASONS: dict[str, dict[str, str]] = {
    "RectifiedGaussian": {
        "check_fit_score_takes_y": "calls partial_fit after fit, which keeps no sums of the samples "
        "that more could be added to: an answer for the new ones alone would be wrong",
    },
    "ReLURecovery": {
        "check_regressor_multioutput": "has 11 samples of 10 inputs and 5 labels, of which no "
        "network of so many weights can be told",
    },
}


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """The checks of ``sklearn.utils.estimator_checks`` that an estimator is expected to fail.

    Parameters
    ----------
    estimator : estimator
        One of this package.

    Returns
    -------
    dict
        The name of each check, and the reason; for ``expected_failed_checks`` of
        ``parametrize_with_checks`` and ``check_estimator``.

    Examples
    --------
    >>> import unrelu
    >>> len(unrelu.expected_failed_checks(unrelu.RectifiedGaussian())) <= 6
    True
    """
    return dict(_REASONS.get(type(estimator).__name__, {}))
