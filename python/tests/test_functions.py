# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess

import numpy as np
import pytest

import unrelu


def answer(*words):
    path = os.environ.get("UNRELU_COMMAND")
    if not path:
        pytest.skip("the command was not built")
    done = subprocess.run([path, *map(str, words)], check=True, capture_output=True)
    return json.loads(done.stdout)


def test_plans_are_those_of_the_command():
    want = answer("plan", "gaussian", "-d", 5, "--error", 0.1, "--b", "0,1", "--json")["bounds"]
    got = unrelu.plan("gaussian", d=5, error=0.1, b=[0, 1])
    assert [bound.name for bound in got] == [bound["name"] for bound in want]
    for ours, theirs in zip(got, want):
        assert ours.n == pytest.approx(theirs["n"], nan_ok=True) or not ours.holds
    with pytest.raises(unrelu.UnreluError):
        unrelu.plan("gaussian", d=5, error=-1)
    with pytest.raises(unrelu.UnreluError):
        unrelu.plan("forest")


def test_checks_are_those_of_the_command(planted, tmp_path):
    np.save(tmp_path / "x.npy", planted[0])
    found = answer("check", tmp_path / "x.npy", "--json")
    want = {name: [column[name] for column in found["columns"]] for name in found["columns"][0]}
    got = unrelu.check(planted[0])
    assert got.fit == want["fit"]
    assert got.transform == want["transform"]
    assert got.shared_transform == found["transform"]
    np.testing.assert_allclose(got.ks, want["ks"], rtol=1e-12)
    np.testing.assert_allclose(got.ks_p, want["ks_p"], rtol=1e-12)
    np.testing.assert_allclose(got.boxcox, want["lambda"], rtol=1e-12)
    skewed = unrelu.check(np.exp(2 * planted[0]), n_runs=99)
    assert "log" in skewed.transform


def test_distances_are_those_of_the_command(planted, tmp_path):
    X, truth = planted
    model = unrelu.RectifiedGaussian().fit(X)
    truth.save(tmp_path / "t.npz")
    model.save(tmp_path / "m.npz")
    want = answer("compare", tmp_path / "t.npz", tmp_path / "m.npz", "--json")
    got = unrelu.compare(truth, model)
    assert got.b_error == pytest.approx(want["b_error"], rel=1e-12)
    assert got.kl == pytest.approx(want["kl"], rel=1e-12)
    with pytest.raises(unrelu.UnreluError, match="cannot be compared"):
        unrelu.compare(truth, unrelu.ReLURecovery())
