# SPDX-License-Identifier: Apache-2.0
import pickle
import warnings

import numpy as np
import pytest

import unrelu
from unrelu import RectifiedGaussian, UnreluError


@pytest.mark.parametrize(
    "X, code, words",
    [
        ([[1.0, 2.0], [np.inf, 1.0], [2.0, 0.0]], "format", "row 2, column 1"),
        ([["a", "b"], ["c", "d"]], "format", "could not convert"),
        ([1.0, 2.0, 3.0], "format", "Reshape your data"),
        (np.empty((0, 3)), "format", "0 sample"),
        (np.empty((5, 0)), "format", "0 feature"),
        ([[1.0, 2.0]], "data", "n_samples=1"),
        ([[1.0, 2.0], [-3.0, 1.0], [2.0, 0.0]], "format", "row 2"),
        ("no such file.csv", "io", "no such file"),
    ],
)
def test_what_is_refused_says_why(X, code, words):
    with pytest.raises(UnreluError, match=words) as caught:
        RectifiedGaussian().fit(X)
    assert caught.value.code == code
    assert isinstance(caught.value, ValueError)


def test_options_are_in_the_words_of_python():
    X = np.column_stack([np.zeros(50), np.abs(np.random.default_rng(0).normal(size=50))])
    with pytest.raises(UnreluError, match="`drop=True`") as caught:
        RectifiedGaussian().fit(X)
    assert caught.value.option == "drop=True"
    assert "--" not in str(caught.value)
    with pytest.raises(UnreluError, match="norms") as caught:
        RectifiedGaussian(norms="none of them").fit(X)
    assert caught.value.option == "norms"
    with pytest.raises(UnreluError, match="random_state") as caught:
        RectifiedGaussian(method="paper", random_state=-1).fit(X)
    assert caught.value.code == "usage"


def test_errors_and_warnings_are_pickled_whole():
    error = UnreluError("why", code="data", option="rank", row=3, column=4)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == "why"
    assert vars(again) == vars(error)
    warning = pickle.loads(pickle.dumps(unrelu.UnreluWarning("so", "few-positives")))
    assert (str(warning), warning.code) == ("so", "few-positives")


def test_warnings_have_codes_and_stay_with_the_model(rng):
    X = np.maximum(rng.normal(size=(60, 2)) - [0, 2.2], 0)
    X[:3, 1] = [0.1, 0.2, 0.3]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = RectifiedGaussian().fit(X)
    codes = [w.message.code for w in told if isinstance(w.message, unrelu.UnreluWarning)]
    assert "few-positives" in codes
    assert codes == [code for code, _ in model.warnings_]
    assert "few-positives" in model.flags_[1]
