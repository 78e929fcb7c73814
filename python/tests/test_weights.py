# SPDX-License-Identifier: Apache-2.0
"""Networks of other programs, held against labels."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor

import unrelu
from unrelu import UnreluError


MET = ("exact", "exact-uncertified")  # the labels are met to rounding


@pytest.fixture(scope="module")
def planted():
    return unrelu.generate("network", n_samples=300, d=4, k=3, m=2, bias=0.3, random_state=2)


@pytest.fixture(scope="module")
def learned():
    """An MLPRegressor, and the labels that it gives itself."""
    X = np.random.default_rng(1).normal(size=(400, 3))
    mlp = MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=50, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        mlp.fit(X, np.column_stack([np.maximum(X[:, 0], X[:, 1]), np.abs(X[:, 2])]))
    return mlp, X, mlp.predict(X)


def outputs(held, X):
    """By the definition."""
    hidden = np.maximum(X @ held.coefs_[0] + held.intercepts_[0], 0)
    return hidden @ held.coefs_[1] + held.intercepts_[1]


def test_mlpregressor_is_the_network_of_its_own_outputs(learned):
    mlp, X, y = learned
    held = unrelu.certify(mlp, X, y)
    assert held.verdict_ in MET
    assert held.n_hidden_ == 4
    np.testing.assert_allclose(outputs(held, X), y, atol=1e-12)
    y = y.copy()
    y[7, 1] += 0.01  # one label of 800
    assert unrelu.certify(mlp, X, y).verdict_ not in MET


def test_one_label_of_mlpregressor_is_a_vector(learned):
    mlp, X, _ = learned
    y = mlp.predict(X)[:, 0]
    one = MLPRegressor(hidden_layer_sizes=(4,), random_state=0).partial_fit(X, y)
    held = unrelu.certify(one, X, one.predict(X))
    assert held.verdict_ in MET
    assert held.predict(X).shape == (len(X),)


def test_arrays_are_the_network_that_they_are_of(planted):
    X, y, truth = planted
    V, U = (coefs.T for coefs in truth.coefs_)
    c, e = truth.intercepts_
    want = unrelu.certify(truth, X, y)
    scale = np.array([0.01, 1, 300.0])  # a network is the same for any scales above 0 of its neurons
    for network in [
        (V, c, U, e),
        [V.tolist(), c.tolist(), U.tolist(), e.tolist()],
        (V * scale[:, None], c * scale, U / scale, e),
        (truth.coefs_, truth.intercepts_),
        truth.to_mlp(),
    ]:
        held = unrelu.certify(network, X, y)
        assert held.verdict_ == want.verdict_ == "exact"
        apart = unrelu.compare(truth, held)
        assert max(apart.V_max, apart.U_max, apart.c_max, apart.e_max) < 1e-12
    assert unrelu.certify((V, c, U + 0.01, e), X, y).verdict_ not in MET
    assert unrelu.certify((V, None, U, None), X, y).verdict_ not in MET


def test_biases_that_are_none_are_zero():
    X, y, truth = unrelu.generate("network", n_samples=300, d=3, k=2, m=2, random_state=4)
    V, U = (coefs.T for coefs in truth.coefs_)
    assert unrelu.certify((V, None, U, None), X, y).verdict_ == "exact"
    assert unrelu.certify((truth.coefs_, None), X, y).verdict_ == "exact"


def test_the_activation_is_that_of_the_network():
    asked = {"d": 3, "k": 2, "m": 2, "activation": "leaky:0.1"}
    X, y, truth = unrelu.generate("network", n_samples=300, random_state=4, **asked)
    held = unrelu.certify(truth, X, y)
    assert (held.activation_, held.verdict_) == ("leaky:0.1", "exact")
    arrays = (truth.coefs_, truth.intercepts_)
    assert unrelu.certify(arrays, X, y, activation="leaky:0.1").verdict_ == "exact"
    assert unrelu.certify(arrays, X, y).verdict_ not in MET


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda V, c, U, e: (V, c, U.T, e), r"U has shape \(3, 2\), where any x 3 is needed"),
        (lambda V, c, U, e: (V, c[:2], U, e), r"c has shape \(2,\), where 3 is needed"),
        (lambda V, c, U, e: (V[0], c, U, e), r"V has shape \(4,\)"),
        (lambda V, c, U, e: (V * np.nan, c, U, e), r"V is not finite at \(0, 0\)"),
        (lambda V, c, U, e: ("V", c, U, e), "V holds what is no number"),
        (lambda V, c, U, e: ([V.T, V.T, U.T], [c, c, e]), "one hidden layer"),
        (lambda V, c, U, e: (V, c, U), "give a fitted ReLURecovery or MLPRegressor"),
        (lambda V, c, U, e: 3, "network is a int"),
        (lambda V, c, U, e: MLPRegressor(), "not fitted"),
        (lambda V, c, U, e: unrelu.ReLURecovery(), "not fitted"),
        (lambda V, c, U, e: (np.zeros((0, 4)), c[:0], U[:, :0], e), "no neurons"),
        (lambda V, c, U, e: (V[:, :2], c, U, e), "2"),
    ],
)
def test_what_is_no_network_is_refused(planted, make, words):
    X, y, truth = planted
    V, U = (coefs.T for coefs in truth.coefs_)
    c, e = truth.intercepts_
    with pytest.raises(ValueError, match=words):
        unrelu.certify(make(V, c, U, e), X, y)


def test_networks_of_sklearn_that_are_of_another_kind_are_refused(learned):
    _, X, y = learned
    deep = MLPRegressor(hidden_layer_sizes=(3, 3), max_iter=1).partial_fit(X, y)
    logistic = MLPRegressor(hidden_layer_sizes=(3,), activation="logistic").partial_fit(X, y)
    classes = MLPClassifier(hidden_layer_sizes=(3,)).partial_fit(X, y[:, 0] > 0, classes=[False, True])
    tanh = MLPRegressor(hidden_layer_sizes=(3,), activation="tanh").partial_fit(X, y)
    refused = [(deep, "3 layers"), (logistic, "'logistic'"), (tanh, "'tanh'"), (classes, "regressor")]
    for network, words in refused:
        with pytest.raises(UnreluError, match=words) as caught:
            unrelu.certify(network, X, y)
        assert caught.value.option == "network"
