# SPDX-License-Identifier: Apache-2.0
import os
import subprocess

import numpy as np
import pytest

import unrelu


@pytest.fixture(scope="session")
def command():
    """Runs the command `unrelu` with the same library."""
    path = os.environ.get("UNRELU_COMMAND")
    if not path:
        pytest.skip("the command was not built")

    def run(*words):
        subprocess.run([path, *map(str, words)], check=True, capture_output=True)

    return run


@pytest.fixture(scope="session")
def planted():
    """Samples of four correlated columns, and the model that they are of."""
    X, truth = unrelu.generate("gaussian", n_samples=3000, d=4, kappa=4, random_state=5)
    X.setflags(write=False)
    return X, truth


@pytest.fixture
def rng():
    return np.random.default_rng(0)
