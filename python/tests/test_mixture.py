# SPDX-License-Identifier: Apache-2.0
import pickle

import numpy as np
import pytest
from sklearn.decomposition import NMF

import unrelu
from unrelu import ReLUUnmixing, UnreluError


@pytest.fixture(scope="module")
def planted():
    return unrelu.generate("mixture", n_samples=600, d=5, p=3, bias=0, random_state=3)


def test_components_are_found_to_rounding(planted):
    X, truth = planted
    model = ReLUUnmixing(random_state=0).fit(X)
    assert model.verdict_ == "exact"
    cosines = abs(model.components_ @ truth.components_.T)
    np.testing.assert_allclose(np.sort(cosines.max(axis=1)), 1, atol=1e-10)
    assert unrelu.compare(truth, model).A_max < 1e-8
    assert model.components_.shape == NMF(3, max_iter=1).fit(abs(X)).components_.shape


def test_fits_and_samples_have_the_bits_of_the_command(planted, command, tmp_path):
    np.save(tmp_path / "x.npy", planted[0])
    command("unmix", tmp_path / "x.npy", "-o", tmp_path / "m.npz", "--seed", 4)
    model = ReLUUnmixing(random_state=4).fit(planted[0])
    with np.load(tmp_path / "m.npz") as file:
        np.testing.assert_array_equal(model.components_.T, file["A"])
        np.testing.assert_array_equal(model.covariance_, file["sigma"])
    command("sample", tmp_path / "m.npz", "-n", 9, "--seed", 2, "-o", tmp_path / "s.npy")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.sample(9, 2), np.load(tmp_path / "s.npy"))


def test_what_is_no_mixture_has_no_components(rng):
    with pytest.warns(unrelu.UnreluWarning) as told:
        model = ReLUUnmixing(random_state=0).fit(rng.normal(size=(100, 4)))
    assert told[0].message.code == "failed"
    assert model.verdict_ == "failed"
    assert model.components_.shape == (0, 4)
    with pytest.raises(UnreluError, match="nothing to draw from"):
        model.sample(3)
    with pytest.raises(UnreluError, match="the fit failed"):
        model.save("never.npz")
    pickle.loads(pickle.dumps(model))
