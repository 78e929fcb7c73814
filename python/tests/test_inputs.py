# SPDX-License-Identifier: Apache-2.0
"""Samples as people have them: masked, nullable, of another type, in part, of the wrong shape."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import unrelu
from unrelu import CensoredImputer, RectifiedGaussian, ReLURecovery, ReLUUnmixing, UnreluError


@pytest.fixture
def samples(planted):
    return planted[0][:400].copy()


def test_what_a_mask_hides_is_missing(samples):
    hole = samples.copy()
    hole[3, 1] = hole[9, 0] = np.nan
    for dtype in (np.float64, np.float32):
        masked = np.ma.masked_array(samples.astype(dtype), mask=np.isnan(hole))
        masked.data[3, 1] = 1e6  # nobody is to see this
        want = RectifiedGaussian().fit(hole.astype(dtype))
        got = RectifiedGaussian().fit(masked)
        np.testing.assert_array_equal(got.covariance_, want.covariance_)
        np.testing.assert_array_equal(got.impute(masked), want.impute(hole.astype(dtype)))
    nullable = pd.DataFrame(hole).convert_dtypes()
    np.testing.assert_array_equal(
        RectifiedGaussian().fit(nullable).location_, RectifiedGaussian().fit(hole).location_
    )
    text = np.ma.masked_array([["<1", "2"], ["3", "4"]], mask=[[0, 1], [0, 0]])
    assert np.isnan(unrelu.read_limits(text).lower[0, 1])


def test_networks_do_without_no_cell(samples):
    y = np.ma.masked_array(samples[:, :2], mask=np.zeros((400, 2), bool))
    y[6, 1] = np.ma.masked
    with pytest.raises(UnreluError, match="y: row 7, column 2 is nan") as caught:
        ReLURecovery().fit(samples, y)
    assert (caught.value.row, caught.value.column) == (7, 2)
    infinite = samples.copy()
    infinite[4, 2] = np.inf
    with pytest.raises(UnreluError, match="X: row 5, column 3 is inf"):
        ReLURecovery().fit(infinite, samples)
    with pytest.raises(UnreluError, match="X: row 5, column 3 is infinite"):
        ReLUUnmixing().fit(infinite)


@pytest.mark.parametrize("ask", ["fit", "check", "impute", "score", "recover", "labels"])
def test_sparse_matrices_are_refused_as_scikit_learn_does_and_as_an_error_of_ours(samples, ask):
    sparse, model = csr_matrix(samples), RectifiedGaussian().fit(samples)
    calls = {
        "fit": lambda: RectifiedGaussian().fit(sparse),
        "check": lambda: unrelu.check(sparse),
        "impute": lambda: model.impute(sparse),
        "score": lambda: model.score(sparse),
        "recover": lambda: ReLURecovery().fit(sparse, samples),
        "labels": lambda: ReLURecovery().fit(samples, sparse),
    }
    with pytest.raises(UnreluError, match="toarray") as caught:
        calls[ask]()
    assert isinstance(caught.value, TypeError)
    assert caught.value.code == "format"
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), TypeError)


def test_dates_and_complex_numbers_are_not_taken_for_numbers():
    days = pd.date_range("2020", periods=5)
    frame = pd.DataFrame({"lead": range(5), "day": days})
    with pytest.raises(UnreluError, match="column 'day' holds dates"):
        RectifiedGaussian().fit(frame)
    with pytest.raises(UnreluError, match="column 'day' holds dates"):
        unrelu.read_limits(frame)
    with pytest.raises(UnreluError, match="column 'day' holds durations"):
        RectifiedGaussian().fit(frame.assign(day=days - days[0]))
    with pytest.raises(UnreluError, match="column 'day' holds complex"):
        RectifiedGaussian().fit(frame.assign(day=np.arange(5) + 1j))
    with pytest.raises(UnreluError, match="X holds dates"):
        RectifiedGaussian().fit(np.column_stack([days, days]))


def test_limits_in_frames_may_be_missing_in_every_way_of_pandas():
    frame = pd.DataFrame(
        {
            "lead": pd.array(["<1", pd.NA, "2"], dtype="string"),
            "zinc": pd.array([1, None, 2], dtype="Int64"),
            "tin": [np.nan, None, pd.NaT],
        }
    )
    read = unrelu.read_limits(frame.astype(object))
    np.testing.assert_array_equal(np.isnan(read.lower), [[0, 0, 1], [1, 1, 1], [0, 0, 1]])


def test_ends_of_intervals_have_one_shape(samples):
    with pytest.raises(UnreluError, match=r"lower has shape \(400, 4\) and upper \(5, 4\)"):
        unrelu.Censored(samples, samples[:5])
    with pytest.raises(UnreluError, match="1 names of 4 columns"):
        unrelu.Censored(samples, samples, ["lead"])
    with pytest.raises(UnreluError, match="no number"):
        unrelu.Censored([["a"]], [["b"]])
    model = RectifiedGaussian().fit(samples)
    for ask in (RectifiedGaussian().fit, model.impute, model.score_samples):
        with pytest.raises(UnreluError, match=r"limits has shape \(5, 4\), where X has"):
            ask(samples, limits=samples[:5])
        with pytest.raises(UnreluError, match=r"upper has shape \(400, 2\), where X has"):
            ask(samples, upper=samples[:, :2])
    lists = unrelu.Censored(samples.tolist(), samples.tolist())
    np.testing.assert_array_equal(
        RectifiedGaussian().fit(lists).location_,
        RectifiedGaussian().fit(samples, upper=samples).location_,
    )


# -- columns that the model left out


def test_answers_are_about_the_columns_that_the_model_kept(samples):
    samples[samples < 0.1] = 0
    wide = np.insert(samples, 1, 0.0, axis=1)  # a column in which nothing was ever seen
    small = RectifiedGaussian(limits=0.1).fit(samples)
    for model in (
        RectifiedGaussian(drop=True, limits=0.1).fit(wide),
        RectifiedGaussian(limits=0.1).fit(wide, columns="1,3-5"),
    ):
        np.testing.assert_array_equal(model.location_, small.location_)
        want = small.impute(samples)
        np.testing.assert_array_equal(model.impute(wide), want)
        np.testing.assert_array_equal(model.impute(wide, limits=np.full(wide.shape, 0.1)), want)
        assert model.impute(wide, 2, random_state=0).shape == (2, *samples.shape)
        np.testing.assert_array_equal(model.score_samples(wide), small.score_samples(samples))
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.impute(wide), want)
    assert model.goodness(wide, n_runs=19).fit == small.goodness(samples, n_runs=19).fit


def test_frames_keep_the_names_of_the_columns_that_the_model_kept(samples):
    frame = pd.DataFrame(np.insert(samples, 1, 0.0, axis=1), columns=list("abcde"))
    model = RectifiedGaussian(drop=True).fit(frame)
    filled = model.impute(frame)
    assert list(filled.columns) == list("acde")
    np.testing.assert_array_equal(filled, RectifiedGaussian().fit(samples).impute(samples))
    imputer = CensoredImputer(estimator=RectifiedGaussian(drop=True), add_indicator=True)
    given = imputer.set_output(transform="pandas").fit(frame).transform(frame)
    hidden = (samples == 0).any(axis=0)
    assert 0 < hidden.sum() < 4
    told = [f"censoredindicator_{name}" for name, some in zip("acde", hidden) if some]
    assert list(given.columns) == [*"acde", *told]
    np.testing.assert_array_equal(given.to_numpy()[:, :4], filled)
    np.testing.assert_array_equal(given.to_numpy()[:, 4:], (samples == 0)[:, hidden])


# -- parameters


@pytest.mark.parametrize(
    "option, ask",
    [
        ("n_jobs", lambda X, model: RectifiedGaussian(n_jobs=0).fit(X)),
        ("n_jobs", lambda X, model: RectifiedGaussian(n_jobs="two").fit(X)),
        ("random_state", lambda X, model: RectifiedGaussian(errors="bootstrap", random_state="a").fit(X)),
        ("limits", lambda X, model: RectifiedGaussian(limits="a").fit(X)),
        ("limits", lambda X, model: RectifiedGaussian(limits={0: "a"}).fit(X)),
        ("censor_at", lambda X, model: RectifiedGaussian(censor_at=[1, 2]).fit(X)),
        ("n_samples", lambda X, model: model.sample(0)),
        ("n_samples", lambda X, model: model.sample(1.5)),
        ("n_samples", lambda X, model: unrelu.generate("network", n_samples=-3)),
        ("draws", lambda X, model: model.impute(X, -1)),
        ("draws", lambda X, model: model.impute(X, 1.5)),
        ("n_runs", lambda X, model: model.goodness(X, n_runs=0)),
        ("rank", lambda X, model: RectifiedGaussian(rank=[1]).fit(X)),
    ],
)
def test_parameters_are_named_where_they_are_refused(planted, option, ask):
    X, truth = planted
    with pytest.raises(UnreluError, match=option) as caught:
        ask(X, truth)
    assert (caught.value.code, caught.value.option) == ("usage", option)
