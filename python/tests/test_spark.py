# SPDX-License-Identifier: Apache-2.0
"""In a real local session, whose workers are processes of their own."""

import shutil
import sys

import numpy as np
import pandas as pd
import pytest

import unrelu

sql = pytest.importorskip("pyspark.sql")
if shutil.which("java") is None:
    pytest.skip("there is no Java", allow_module_level=True)
import unrelu.spark  # noqa: E402


@pytest.fixture(scope="module")
def session():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = sql.SparkSession.builder.master("local[2]").appName("unrelu")
        session = builder.config("spark.ui.enabled", "false").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def frame_of(session, X):
    rows = [tuple(float(x) for x in row) for row in X]
    return session.createDataFrame(rows, list("abcd"))


@pytest.mark.parametrize("partitions", [1, 5])
def test_frames_give_the_model_of_one_run(session, planted, partitions):
    frame = pd.DataFrame(planted[0].copy(), columns=list("abcd"))
    want = unrelu.RectifiedGaussian(precision="double").fit(frame)
    got = unrelu.spark.fit(frame_of(session, planted[0]).repartition(partitions))
    for name in ("location_", "covariance_", "correlation_se_"):
        values = getattr(want, name)
        np.testing.assert_allclose(getattr(got, name), values, rtol=1e-12, atol=1e-12)
    assert got.n_samples_ == len(frame)
    assert list(got.feature_names_in_) == list("abcd")


def test_a_bad_partition_is_named_with_its_place(session, planted):
    X = planted[0][:200].copy()
    X[150, 2] = -1
    frame = session.createDataFrame(
        session.sparkContext.parallelize([tuple(map(float, row)) for row in X], 2), list("abcd")
    )
    with pytest.raises(Exception, match="partition 2: .*row 51, column 3"):
        unrelu.spark.fit(frame)
