# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own checks of estimators."""

import inspect
import warnings

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import unrelu

ESTIMATORS = [
    unrelu.RectifiedGaussian(),
    unrelu.CensoredImputer(),
    unrelu.ReLURecovery(random_state=0),
    unrelu.ReLUUnmixing(random_state=0),
]
EXPECTED = {}
if "expected_failed_checks" in inspect.signature(parametrize_with_checks).parameters:
    EXPECTED["expected_failed_checks"] = unrelu.expected_failed_checks


@parametrize_with_checks(ESTIMATORS, **EXPECTED)
def test_scikit_learn_is_at_home(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", unrelu.UnreluWarning)
        check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_few_checks_are_expected_to_fail_and_each_has_a_reason(estimator):
    failing = unrelu.expected_failed_checks(estimator)
    assert len(failing) <= 6
    assert all(len(reason) > 20 for reason in failing.values())
