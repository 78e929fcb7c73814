# SPDX-License-Identifier: Apache-2.0
import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats
from sklearn.base import clone

import unrelu
from unrelu import RectifiedGaussian

NAMES = {
    "location_": "b",
    "location_se_": "b_se",
    "scale_": "scale",
    "covariance_": "sigma",
    "correlation_": "correlation",
    "correlation_se_": "correlation_se",
    "mean_ci_": "mean_ci",
}


def same_bits(model, file):
    for ours, theirs in NAMES.items():
        np.testing.assert_array_equal(getattr(model, ours), file[theirs], err_msg=ours)


@pytest.mark.parametrize(
    "python, words",
    [
        ({}, []),
        ({"transform": "log", "limits": 0.1}, ["--transform", "log", "--limit", "x1=0.1,x2=0.1,x3=0.1,x4=0.1"]),
        ({"angles": "signs"}, ["--angles", "signs"]),
        ({"rank": 2, "norms": "truncated"}, ["--rank", "2", "--norms", "truncated"]),
        ({"censor_at": 0.3}, ["--censor-at", "0.3"]),
        ({"method": "paper", "random_state": 9}, ["--method", "paper", "--seed", "9"]),
        ({"errors": "bootstrap:5", "random_state": 3}, ["--errors", "bootstrap:5", "--seed", "3"]),
    ],
)
def test_fits_have_the_bits_of_the_command(planted, command, tmp_path, python, words):
    X = planted[0]
    if python.get("transform") == "log":
        X = np.where(X < 0.1, 0, X)
    np.save(tmp_path / "x.npy", X)
    command("fit", tmp_path / "x.npy", "-o", tmp_path / "m.npz", *words)
    model = RectifiedGaussian(**python).fit(X)
    with np.load(tmp_path / "m.npz") as file:
        same_bits(model, file)


def test_samples_and_imputations_have_the_bits_of_the_command(planted, command, tmp_path):
    X = planted[0][:200].copy()
    X[3, 1] = np.nan
    model = RectifiedGaussian().fit(planted[0])
    model.save(tmp_path / "m.npz")
    np.save(tmp_path / "x.npy", X)
    command("sample", tmp_path / "m.npz", "-n", 50, "--seed", 4, "-o", tmp_path / "s.npy")
    np.testing.assert_array_equal(model.sample(50, random_state=4), np.load(tmp_path / "s.npy"))
    command("impute", tmp_path / "m.npz", tmp_path / "x.npy", "-o", tmp_path / "i.npy")
    np.testing.assert_array_equal(model.impute(X), np.load(tmp_path / "i.npy"))
    words = ["--draws", 2, "--seed", 8, "-o", tmp_path / "d.npy"]
    command("impute", tmp_path / "m.npz", tmp_path / "x.npy", *words)
    draws = model.impute(X, 2, random_state=8)
    np.testing.assert_array_equal(draws.reshape(400, 4), np.load(tmp_path / "d.npy"))


def test_a_margin_is_the_maximum_of_the_tobit_likelihood(planted):
    x = planted[0][:, 1]

    def loss(p):
        b, s = p[0], np.exp(p[1])
        seen = x[x > 0]
        hidden = np.count_nonzero(x <= 0)
        return -stats.norm.logpdf(seen, b, s).sum() - hidden * stats.norm.logcdf(-b / s)

    best = optimize.minimize(loss, [0.0, 0.0], method="BFGS", options={"gtol": 1e-8})
    model = RectifiedGaussian().fit(planted[0])
    assert model.location_[1] == pytest.approx(best.x[0], abs=1e-5)
    assert model.scale_[1] == pytest.approx(np.exp(best.x[1]), abs=1e-5)
    assert model.loglik_[1] == pytest.approx(-best.fun, abs=1e-6)


def test_planted_parameters_lie_within_their_errors(planted):
    X, truth = planted
    model = RectifiedGaussian().fit(X)
    for name in ("location", "scale", "correlation"):
        apart = abs(getattr(model, name + "_") - getattr(truth, name + "_"))
        errors = getattr(model, name + "_se_")
        known = errors > 0
        assert (apart[known] < 4.5 * errors[known]).all()


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        lambda X: X[::-1].copy()[::-1],
        lambda X: np.hstack([X, X])[:, : X.shape[1]],
        lambda X: X.tolist(),
        lambda X: X.astype(">f8"),
    ],
)
def test_how_samples_lie_in_memory_does_not_matter(planted, change):
    want = RectifiedGaussian().fit(planted[0])
    got = RectifiedGaussian().fit(change(planted[0]))
    np.testing.assert_array_equal(got.covariance_, want.covariance_)


def test_single_precision_is_read_as_it_is(planted):
    single = planted[0].astype(np.float32)
    want = RectifiedGaussian().fit(single.astype(np.float64))
    np.testing.assert_array_equal(RectifiedGaussian().fit(single).covariance_, want.covariance_)


def test_threads_do_not_change_bits(planted):
    one, three = (RectifiedGaussian(n_jobs=n).fit(planted[0]) for n in (1, 3))
    np.testing.assert_array_equal(one.correlation_se_, three.correlation_se_)


def test_partial_fit_and_merge_equal_fit(planted):
    X = planted[0]
    whole = RectifiedGaussian(precision="double").fit(X)
    parts = RectifiedGaussian()
    for start in range(0, len(X), 700):
        parts.partial_fit(X[start : start + 700])
    left, right = (RectifiedGaussian().partial_fit(part) for part in (X[:1234], X[1234:]))
    blocks = RectifiedGaussian().fit(iter(np.array_split(X, 7)))
    ranked = RectifiedGaussian(rank=2, precision="double").fit(X)
    by_parts = RectifiedGaussian(rank=2).partial_fit(X[:2000]).partial_fit(X[2000:])
    np.testing.assert_allclose(by_parts.eigenvalues_, ranked.eigenvalues_, rtol=1e-12)
    assert (by_parts.eigenvalues_se_ > 0).all()
    for got in (parts, left.merge(pickle.loads(pickle.dumps(right))), blocks):
        for name in ("location_", "covariance_", "correlation_se_"):
            want = getattr(whole, name)
            np.testing.assert_allclose(getattr(got, name), want, rtol=1e-12, atol=1e-12)
        assert got.n_samples_ == len(X)


def test_too_few_samples_are_kept_for_later(planted):
    with pytest.warns(unrelu.UnreluWarning) as told:
        model = RectifiedGaussian().partial_fit(planted[0][:2])
    assert told[0].message.code == "not-enough-yet"
    assert not hasattr(model, "location_")
    assert model.partial_fit(planted[0][2:]).n_samples_ == 3000


def test_fit_then_partial_fit_is_refused(planted):
    with pytest.raises(unrelu.UnreluError, match="begin with partial_fit"):
        RectifiedGaussian().fit(planted[0]).partial_fit(planted[0])


def test_copies_are_fitted(planted):
    model = RectifiedGaussian(rank=2).fit(planted[0])
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(again.W_, model.W_)
        np.testing.assert_array_equal(again.sample(3, 1), model.sample(3, 1))
    assert not hasattr(clone(model), "location_")


def test_frames_keep_names_and_missing_values(planted):
    frame = pd.DataFrame(planted[0].copy(), columns=list("abcd"))
    frame.iloc[5, 2] = np.nan
    model = RectifiedGaussian().fit(frame)
    assert list(model.feature_names_in_) == list("abcd")
    assert model.observed_[2] == len(frame) - 1
    filled = model.impute(frame)
    assert isinstance(filled, pd.DataFrame)
    assert list(filled.columns) == list("abcd")
    assert filled.notna().all().all()
    seen = (frame > 0).to_numpy()
    np.testing.assert_array_equal(filled.to_numpy()[seen], frame.to_numpy()[seen])
    assert (filled.to_numpy()[frame.to_numpy() == 0] <= 0).all()
    assert list(model.to_frame().index) == list("abcd")
    nullable = frame.convert_dtypes()
    np.testing.assert_array_equal(
        RectifiedGaussian().fit(nullable).covariance_, model.covariance_
    )
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.impute(frame.to_numpy())
    with pytest.raises(unrelu.UnreluError, match="feature names"):
        model.impute(frame[list("badc")])


TEXT = "lead,zinc\n0.5,2\n<0.25,3\n,1..4\n>9,7\n<0.25,<1\n3,2.5\n1.5,4\n0.9,2.2\n"


def test_limits_of_cells_are_those_of_a_file(tmp_path):
    (tmp_path / "x.csv").write_text(TEXT)
    want = RectifiedGaussian().fit(tmp_path / "x.csv")
    frame = pd.read_csv(tmp_path / "x.csv", dtype=str)
    data = unrelu.read_limits(frame)
    got = RectifiedGaussian().fit(data)
    also = RectifiedGaussian().fit(data.lower, upper=data.upper)
    for model in (got, also):
        np.testing.assert_array_equal(model.covariance_, want.covariance_)
    assert list(got.feature_names_in_) == ["lead", "zinc"]
    filled = got.impute(data)
    assert filled[1, 0] <= 0.25 and filled[3, 0] >= 9 and 1 <= filled[2, 1] <= 4


def test_limits_of_single_cells_are_an_argument_of_fit(planted):
    X = np.where(planted[0] < 0.4, 0, planted[0])
    limits = np.full_like(X, 0.4)
    want = RectifiedGaussian(limits=0.4).fit(X)
    got = RectifiedGaussian().fit(X, limits=limits)
    np.testing.assert_array_equal(got.location_, want.location_)
    by_name = RectifiedGaussian(limits={0: 0.4, 1: 0.4, 2: 0.4, 3: 0.4}).fit(X)
    np.testing.assert_array_equal(by_name.location_, want.location_)


def test_indicators_and_limits_of_frames():
    frame = pd.DataFrame({"lead": [0.5, 1.0], "lead_nd": ["<", ""], "zinc": ["ND", "3"]})
    data = unrelu.read_limits(frame, indicator="_nd", limits={"zinc": 0.2})
    np.testing.assert_array_equal(data.lower, [[-np.inf, -np.inf], [1, 3]])
    np.testing.assert_array_equal(data.upper, [[0.5, 0.2], [1, 3]])
    assert data.names == ["lead", "zinc"]
    with pytest.raises(unrelu.UnreluError, match="its limit is not known") as caught:
        unrelu.read_limits(frame[["zinc"]])
    assert (caught.value.row, caught.value.column, caught.value.option) == (1, 1, "limits")


def test_intervals_of_confidence_follow_the_level(planted):
    model = RectifiedGaussian().fit(planted[0])
    half = stats.norm.ppf(0.95) * model.location_se_
    found = model.conf_int(0.9)
    np.testing.assert_allclose(found.location[:, 1] - model.location_, half, rtol=1e-12)
    np.testing.assert_array_equal(model.conf_int().mean, model.mean_ci_)
    assert (np.diff(found.mean) < np.diff(model.mean_ci_)).all()


def test_goodness_knows_what_is_no_normal(planted, rng):
    X = planted[0].copy()
    X[:, 2] = np.maximum(rng.exponential(size=len(X)) - 0.5, 0)
    with pytest.warns(unrelu.UnreluWarning):
        model = RectifiedGaussian().fit(X)
    found = model.goodness(X, n_runs=99)
    assert found.fit[2] == "poor"
    assert [found.fit[j] for j in (0, 1, 3)] == ["good"] * 3


def test_likelihoods_are_those_of_scipy(planted):
    X = planted[0][:50]
    model = RectifiedGaussian().fit(planted[0])
    loglik, error = model.score_samples(X, return_error=True)
    for x, got in zip(X, loglik):
        hidden = x == 0
        if hidden.sum() > 2:  # scipy draws random points for these
            continue
        b, S = model.location_, model.covariance_
        seen = ~hidden
        want = stats.multivariate_normal.logpdf(x[seen], b[seen], S[np.ix_(seen, seen)])
        if hidden.any():
            along = np.linalg.solve(S[np.ix_(seen, seen)], S[np.ix_(seen, hidden)])
            mean = b[hidden] + (x[seen] - b[seen]) @ along
            left = S[np.ix_(hidden, hidden)] - S[np.ix_(hidden, seen)] @ along
            want += stats.multivariate_normal.logcdf(np.zeros(hidden.sum()), mean, left)
        assert got == pytest.approx(want, abs=1e-6)
    assert (error[(X == 0).sum(axis=1) <= 2] == 0).all()
    assert model.score(X) == loglik.mean()
    other = RectifiedGaussian().fit(planted[0] * [1, 1, 1, 3])
    assert other.score(planted[0]) < model.score(planted[0])


def test_frames_of_polars(planted):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(planted[0].copy(), schema=list("abcd"))
    want = RectifiedGaussian().fit(planted[0])
    model = RectifiedGaussian().fit(frame)
    np.testing.assert_array_equal(model.covariance_, want.covariance_)
    assert list(model.feature_names_in_) == list("abcd")
    b = polars.col("b")
    holes = frame.with_columns(polars.when(b > 1).then(None).otherwise(b).alias("b"))
    missing = (planted[0][:, 1] > 1).sum()
    assert RectifiedGaussian().fit(holes).observed_[1] == len(planted[0]) - missing


def test_what_travels_is_no_larger_than_promised(rng):
    """5.75 doubles for each pair of columns: 23 MB for 1000, here with 200."""
    X = np.maximum(rng.normal(size=(500, 200)), 0)
    summary = pickle.dumps(RectifiedGaussian().partial_fit(X)._summary)
    assert len(summary) < 23e6 * (200 / 1000) ** 2 * 1.1
