# SPDX-License-Identifier: Apache-2.0
"""What is drawn is what the model and the samples say."""

import subprocess
import sys

import numpy as np
import pytest

import unrelu
from unrelu import RectifiedGaussian, UnreluError


@pytest.fixture
def ax():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    yield plt.figure().add_subplot()
    plt.close("all")


@pytest.fixture(scope="module")
def fitted(planted):
    X = planted[0][:800]
    return RectifiedGaussian().fit(X), X


@pytest.fixture(scope="module")
def network():
    X, y, _ = unrelu.generate("network", n_samples=200, d=5, k=3, m=2, bias=0.3, random_state=0)
    return unrelu.ReLURecovery(random_state=0).fit(X, y), X


def test_the_package_does_not_need_matplotlib():
    program = "import unrelu, sys; assert 'matplotlib' not in sys.modules; unrelu.plot.columns"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_columns_show_what_was_seen_and_what_is_hidden(fitted, ax):
    model, X = fitted
    assert unrelu.plot.columns(model, X, 1, n_runs=19, ax=ax) is ax
    seen = X[:, 1][X[:, 1] > 0]
    area = sum(bar.get_width() * bar.get_height() for bar in ax.patches)
    assert area == pytest.approx(len(seen) / len(X), rel=1e-9)
    counts = [bar.get_width() * bar.get_height() * len(X) for bar in ax.patches]
    ends = [bar.get_x() for bar in ax.patches] + [seen.max()]
    np.testing.assert_allclose(counts, np.histogram(seen, ends)[0], atol=1e-6)
    at, density = ax.lines[0].get_data()
    mean = np.sum(at * density) / np.sum(density)
    assert mean == pytest.approx(model.location_[1], abs=0.01 * model.scale_[1])
    (shaded,) = ax.collections
    assert shaded.get_paths()[0].vertices[:, 0].max() == 0  # what is below it was recorded as 0
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"hidden: {np.mean(X[:, 1] == 0):.0%} of the cells" in words
    assert ax.get_xlabel() == "x2"


def test_columns_without_hidden_cells_have_no_shade_and_a_transform_is_named(fitted, ax):
    _, X = fitted
    model = RectifiedGaussian(transform="log").fit(X + 1)
    unrelu.plot.columns(model, X + 1, "x3", n_runs=19, ax=ax)
    assert len(ax.collections) == 0
    assert ax.get_xlabel() == "x3 (log)"


def test_quantiles_are_those_of_the_values_seen(fitted, ax):
    model, X = fitted
    assert unrelu.plot.quantiles(model, X, "x1", n_runs=19, ax=ax) is ax
    fitted_at, sample_at = ax.lines[0].get_data()
    share = np.mean(X[:, 0] == 0)
    assert len(sample_at) == pytest.approx(100 * (1 - share), abs=1)
    want = np.quantile(X[:, 0], (np.arange(100) + 0.5) / 100)[-len(sample_at) :]
    np.testing.assert_allclose(sample_at, want, atol=0.05)
    line = ax.lines[1].get_data()
    np.testing.assert_array_equal(line[0], line[1])
    assert (line[0].min(), line[0].max()) == (fitted_at.min(), fitted_at.max())
    assert ax.get_title().startswith("x1: ")


def test_correlations_have_their_intervals(fitted, ax):
    model, _ = fitted
    assert unrelu.plot.correlations(model, ax=ax) is ax
    (drawn,) = ax.containers
    names = [label.get_text() for label in ax.get_yticklabels()]
    interval = model.conf_int().correlation
    for at, rho, name in zip(drawn.lines[0].get_ydata(), drawn.lines[0].get_xdata(), names):
        i, j = (int(word[1]) - 1 for word in name.split(" - "))
        assert rho == model.correlation_[i, j]
        (low, y), (high, _) = drawn.lines[2][0].get_segments()[int(at)]
        assert y == at
        assert (low, high) == pytest.approx(tuple(interval[i, j]), abs=1e-12)
    assert (np.diff(np.abs(drawn.lines[0].get_xdata())) >= 0).all()


def test_weights_and_patterns_are_those_of_the_network(network, ax):
    model, X = network
    assert unrelu.plot.weights(model, ax=ax) is ax
    np.testing.assert_array_equal(ax.images[0].get_array(), model.coefs_[0].T)
    low, high = ax.images[0].get_clim()
    assert (-low, high) == (abs(model.coefs_[0]).max(), abs(model.coefs_[0]).max())
    assert unrelu.plot.patterns(model, X, ax=ax.figure.add_subplot()) is not ax
    drawn = ax.figure.axes[-1].images[0].get_array().astype(bool)
    on = X @ model.coefs_[0] + model.intercepts_[0] > 0
    np.testing.assert_array_equal(drawn.sum(axis=1), on.sum(axis=0))
    assert sorted(map(tuple, drawn.T)) == sorted(map(tuple, on))
    groups = 1 + int((drawn.T[1:] != drawn.T[:-1]).any(axis=1).sum())
    assert groups == len(np.unique(on, axis=0))


def test_what_cannot_be_drawn_is_refused(fitted, network):
    model, X = fitted
    for ask in (
        lambda: unrelu.plot.columns(model, X, "zinc"),
        lambda: unrelu.plot.quantiles(model, X, 4),
        lambda: unrelu.plot.correlations(model, level=95),
        lambda: unrelu.plot.weights(model),
        lambda: unrelu.plot.correlations(network[0]),
    ):
        with pytest.raises(UnreluError) as caught:
            ask()
        assert caught.value.option in ("column", "level", "model")
