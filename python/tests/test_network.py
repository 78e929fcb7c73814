# SPDX-License-Identifier: Apache-2.0
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.neural_network import MLPRegressor

import unrelu
from unrelu import ReLURecovery, UnreluError


@pytest.fixture(scope="module")
def exact():
    return unrelu.generate("network", n_samples=400, d=5, k=3, m=2, bias=0.3, random_state=2)


def test_weights_are_found_to_rounding(exact):
    X, y, truth = exact
    model = ReLURecovery(random_state=1).fit(X, y)
    assert model.verdict_ == "exact"
    assert model.n_hidden_ == 3
    apart = unrelu.compare(truth, model)
    assert max(apart.V_max, apart.U_max, apart.c_max) < 1e-9
    assert (apart.matched, apart.missing, apart.extra) == (3, 0, 0)
    assert model.certificate_["samples_checked"] == len(X)
    assert model.certificate_["residual"] < 1e-13
    assert model.coefs_se_ is None


def test_shapes_are_those_of_mlpregressor(exact):
    X, y, _ = exact
    model = ReLURecovery(random_state=1).fit(X, y)
    mlp = MLPRegressor(hidden_layer_sizes=(3,), max_iter=2).partial_fit(X, y)
    for name in ("coefs_", "intercepts_"):
        ours, theirs = getattr(model, name), getattr(mlp, name)
        assert [w.shape for w in ours] == [w.shape for w in theirs]
    converted = model.to_mlp()
    np.testing.assert_allclose(converted.predict(X), model.predict(X), rtol=1e-12, atol=1e-12)
    by_hand = np.maximum(X @ model.coefs_[0] + model.intercepts_[0], 0)
    want = by_hand @ model.coefs_[1] + model.intercepts_[1]
    np.testing.assert_allclose(model.predict(X), want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "python, words",
    [({}, []), ({"bias": "both", "n_hidden": 3}, ["--bias", "both", "-k", "3"])],
)
def test_fits_have_the_bits_of_the_command(exact, command, tmp_path, python, words):
    X, y, _ = exact
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "a.npy", y)
    files = [tmp_path / "x.npy", tmp_path / "a.npy", "-o", tmp_path / "m.npz"]
    command("recover", *files, "--seed", 7, *words)
    model = ReLURecovery(random_state=7, **python).fit(X, y)
    with np.load(tmp_path / "m.npz") as file:
        np.testing.assert_array_equal(model.coefs_[0].T, file["V"])
        np.testing.assert_array_equal(model.coefs_[1].T, file["U"])
        np.testing.assert_array_equal(model.intercepts_[0], file["c"])
        assert model.verdict_ == str(file["verdict"])
    loaded = ReLURecovery.load(tmp_path / "m.npz")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_planted_networks_are_those_of_the_command(command, tmp_path):
    words = ["--d", 4, "--k", 3, "--m", 2, "-n", 20, "--noise", 0.1, "--seed", 6, "-o", tmp_path]
    command("generate", "network", *[f"-{w[2:]}" if w in ("--d", "--k", "--m") else w for w in words])
    asked = {"d": 4, "k": 3, "m": 2, "noise": 0.1}
    X, y, _ = unrelu.generate("network", n_samples=20, random_state=6, **asked)
    np.testing.assert_array_equal(X, np.load(tmp_path / "x.npy"))
    np.testing.assert_array_equal(y, np.load(tmp_path / "a.npy"))


def test_labels_with_noise_have_errors():
    asked = {"d": 3, "k": 2, "m": 3, "noise": 0.05}
    X, y, truth = unrelu.generate("network", n_samples=4000, random_state=1, **asked)
    model = ReLURecovery(random_state=0, bias="none").fit(X, y)
    assert model.verdict_ == "noisy"
    apart = abs(model.coefs_[0] - truth.coefs_[0]) / model.coefs_se_[0]
    assert apart.max() < 5
    assert model.score(X, y) > 0.99
    assert cross_val_score(ReLURecovery(random_state=0), X[:500], y[:500], cv=3).min() > 0.99


def test_one_label_is_a_vector(exact):
    X, y, _ = exact
    model = ReLURecovery(random_state=1).fit(pd.DataFrame(X, columns=list("abcde")), y[:, 0])
    assert model.predict(pd.DataFrame(X, columns=list("abcde"))).shape == (len(X),)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(pd.DataFrame(X, columns=list("abcde"))).shape == (len(X),)
    assert list(again.feature_names_in_) == list("abcde")


def test_what_is_no_network_is_not_called_one(rng):
    X = rng.normal(size=(300, 3))
    y = np.sin(3 * X[:, :1]) * X[:, 1:2] + X[:, 2:] ** 2
    with pytest.warns(unrelu.UnreluWarning) as told:
        model = ReLURecovery(random_state=0, n_hidden=2).fit(X, y)
    assert model.verdict_ not in ("exact", "exact-uncertified")
    assert told


def test_certificates_of_networks_from_elsewhere(exact, tmp_path):
    X, y, truth = exact
    truth.export(tmp_path / "net.safetensors")
    held = unrelu.certify(tmp_path / "net.safetensors", X, y)
    assert held.verdict_ == "exact"
    wrong = y + 0.1 * np.sin(X[:, :2])
    with pytest.warns(unrelu.UnreluWarning):
        assert unrelu.certify(truth, X, wrong).verdict_ not in ("exact", "exact-uncertified")


def test_what_is_refused(exact):
    X, y, _ = exact
    with pytest.raises(UnreluError, match="inconsistent numbers of samples"):
        ReLURecovery().fit(X, y[:-1])
    with pytest.raises(UnreluError, match="`n_hidden`|n_hidden"):
        ReLURecovery(n_hidden=-1).fit(X, y)
    hole = X.copy()
    hole[4, 1] = np.nan
    with pytest.raises(UnreluError, match="row 5, column 2"):
        ReLURecovery().fit(hole, y)
    with pytest.raises(UnreluError, match="row 5, column 2") as caught:
        ReLURecovery(random_state=0).fit(X, y).predict(hole)
    assert (caught.value.row, caught.value.column) == (5, 2)


def test_torch_gives_the_same_outputs(exact):
    torch = pytest.importorskip("torch")
    X, y, _ = exact
    model = ReLURecovery(random_state=1).fit(X, y)
    with torch.no_grad():
        out = model.to_torch()(torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(out, model.predict(X), rtol=1e-12, atol=1e-12)
