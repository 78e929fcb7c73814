# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import unrelu
from unrelu import CensoredImputer, RectifiedGaussian


def test_means_are_nearer_than_half_limits(rng):
    """A hidden cell of a correlated pair: the conditional mean beats both simple substitutions."""
    latent = rng.multivariate_normal([0.5, 0.5], [[1, 0.9], [0.9, 1]], size=4000)
    X = np.maximum(latent, 0)
    filled = CensoredImputer().fit_transform(X)
    alone = (X[:, 0] == 0) & (X[:, 1] > 0)
    error = abs(filled - latent)[alone, 0].mean()
    assert error < abs(latent)[alone, 0].mean() * 0.9
    assert (filled[X > 0] == X[X > 0]).all()


def test_slopes_in_a_pipeline_are_unbiased(rng):
    latent = rng.multivariate_normal([0.3, 0.0], [[1, 0.5], [0.5, 1]], size=20000)
    y = latent @ [1.0, -2.0] + 0.1 * rng.normal(size=len(latent))
    X = np.maximum(latent, 0)
    imputed = make_pipeline(CensoredImputer(), LinearRegression()).fit(X, y)
    zeros = LinearRegression().fit(X, y)
    ours, theirs = (abs(m.coef_ - [1, -2]).max() for m in (imputed[-1], zeros))
    assert ours < 0.1 < theirs


def test_draws_have_the_spread_that_means_lack(planted):
    X = planted[0]
    drawn = CensoredImputer(sample_posterior=True, random_state=1).fit(X)
    again = CensoredImputer(sample_posterior=True, random_state=1).fit(X)
    np.testing.assert_array_equal(drawn.transform(X), again.transform(X))
    mean = CensoredImputer().fit_transform(X)
    hidden = X[:, 1] == 0
    assert drawn.transform(X)[hidden, 1].std() > 1.2 * mean[hidden, 1].std()
    with pytest.raises(unrelu.UnreluError, match="exclude each other"):
        CensoredImputer(median=True, sample_posterior=True).fit(X)


def test_frames_names_and_indicators(planted):
    frame = pd.DataFrame(planted[0], columns=list("abcd"))
    imputer = CensoredImputer(add_indicator=True).set_output(transform="pandas").fit(frame)
    out = imputer.transform(frame)
    hidden = [name for name in "abcd" if (frame[name] == 0).any()]
    assert list(out.columns) == list("abcd") + [f"censoredindicator_{name}" for name in hidden]
    for name in hidden:
        np.testing.assert_array_equal(out[f"censoredindicator_{name}"], frame[name] == 0)


def test_parameters_of_the_distribution_are_nested(planted):
    X = np.where(planted[0] < 0.2, 0, planted[0])
    imputer = CensoredImputer(estimator=RectifiedGaussian(limits=0.2))
    assert (imputer.fit_transform(X)[X == 0] <= 0.2).all()
    imputer.set_params(estimator__limits=0.1)
    assert imputer.estimator.limits == 0.1
    data = unrelu.read_limits(np.where(X == 0, "<0.2", X.astype(object)))
    np.testing.assert_array_equal(
        CensoredImputer().fit(data).transform(data)[X > 0], X[X > 0]
    )
