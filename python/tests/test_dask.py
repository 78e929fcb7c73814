# SPDX-License-Identifier: Apache-2.0
"""On a real cluster of two processes."""

import os

import numpy as np
import pandas as pd
import pytest

import unrelu

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
array = pytest.importorskip("dask.array")
unrelu_dask = pytest.importorskip("unrelu.dask")


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(processes=True, **options) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def same(model, want):
    for name in ("location_", "covariance_", "correlation_se_"):
        values = getattr(want, name)
        np.testing.assert_allclose(getattr(model, name), values, rtol=1e-12, atol=1e-12)
    assert model.n_samples_ == want.n_samples_


@pytest.mark.parametrize("rows, columns", [(100, 4), (1700, 2), (3000, 4)])
def test_arrays_give_the_model_of_one_run(client, planted, rows, columns):
    want = unrelu.RectifiedGaussian(precision="double").fit(planted[0])
    got = unrelu_dask.fit(array.from_array(planted[0], chunks=(rows, columns)))
    same(got, want)


def test_frames_keep_their_names(client, planted):
    frames = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(planted[0].copy(), columns=list("abcd"))
    got = unrelu_dask.fit(frames.from_pandas(frame, npartitions=5))
    same(got, unrelu.RectifiedGaussian(precision="double").fit(frame))
    assert list(got.feature_names_in_) == list("abcd")
    assert got.names_ == list("abcd")


def test_a_bad_partition_is_named_with_its_place(client, planted):
    X = planted[0].copy()
    X[1510, 2] = -1
    with pytest.raises(unrelu.UnreluError, match="partition 4: .*row 11, column 3"):
        unrelu_dask.fit(array.from_array(X, chunks=(500, 4)))


def test_what_needs_a_second_look_is_refused(client, planted):
    X = array.from_array(planted[0], chunks=(1000, 4))
    with pytest.raises(unrelu.UnreluError, match="angles"):
        unrelu_dask.fit(X, unrelu.RectifiedGaussian(angles="signs"))


def die_once(block, marker):
    if not os.path.exists(marker):
        open(marker, "w").close()
        os._exit(1)
    return block


def test_a_lost_worker_is_no_loss(client, planted, tmp_path):
    parts = [dask.delayed(part) for part in np.array_split(planted[0], 4)]
    parts[2] = dask.delayed(die_once)(parts[2], str(tmp_path / "died"))
    got = unrelu_dask.fit(parts)
    assert (tmp_path / "died").exists()
    same(got, unrelu.RectifiedGaussian(precision="double").fit(planted[0]))
