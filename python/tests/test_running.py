# SPDX-License-Identifier: Apache-2.0
"""Interrupts, progress, threads, processes."""

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import unrelu
from unrelu import CensoredImputer, RectifiedGaussian, ReLURecovery, UnreluError

LONG = {"errors": "bootstrap:100000", "random_state": 0}  # many minutes, if nothing stops it


def test_a_keyboard_interrupt_stops_a_running_fit(planted):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        RectifiedGaussian(**LONG).fit(planted[0])
    RectifiedGaussian().fit(planted[0])  # and nothing is left behind


def test_what_a_signal_handler_raises_stops_a_fit_in_any_number_of_threads(planted):
    class Enough(Exception):
        pass

    def handler(number, frame):
        raise Enough

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Enough):
            RectifiedGaussian(n_jobs=3, **LONG).fit(planted[0])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_what_progress_raises_stops_a_fit(planted):
    seen = []

    def tell(stage, fraction):
        seen.append((stage, fraction))
        if len(seen) == 3:
            raise ZeroDivisionError

    with unrelu.progress(tell), pytest.raises(ZeroDivisionError):
        RectifiedGaussian(**LONG).fit(planted[0])
    assert len(seen) == 3
    assert all(isinstance(stage, str) and fraction <= 1 for stage, fraction in seen)


def test_other_threads_go_on_while_a_fit_runs(planted):
    """The interpreter's lock is not held: a thread stops the fit, which would not end."""
    stop = threading.Event()

    def tell(stage, fraction):
        if stop.is_set():
            raise StopIteration

    threading.Timer(0.3, stop.set).start()
    with unrelu.progress(tell), pytest.raises(StopIteration):
        RectifiedGaussian(**LONG).fit(planted[0])


def covariance_of(X):
    return RectifiedGaussian(n_jobs=2).fit(X).covariance_


def test_threads_and_forked_processes_give_the_same_bits(planted):
    parts = np.array_split(planted[0], 6)
    want = [covariance_of(part) for part in parts]
    with ThreadPoolExecutor(3) as pool:
        threads = list(pool.map(covariance_of, parts))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        processes = pool.map(covariance_of, parts)
    np.testing.assert_array_equal(threads, want)
    np.testing.assert_array_equal(processes, want)


def test_a_keyboard_interrupt_stops_a_running_recovery():
    asked = {"d": 40, "k": 30, "m": 2, "noise": 0.2}  # a minute
    X, y, _ = unrelu.generate("network", n_samples=6000, random_state=0, **asked)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        ReLURecovery(random_state=0).fit(X, y)


def test_searches_in_processes_of_their_own_give_what_one_process_gives(planted):
    """Estimators, fitted ones, errors and warnings go there and back."""
    X = planted[0][:600]
    searches = [
        GridSearchCV(
            make_pipeline(CensoredImputer(), LinearRegression()),
            {"censoredimputer__median": [False, True]},
            cv=2,
            n_jobs=jobs,
            error_score="raise",
        ).fit(X, X.sum(axis=1))
        for jobs in (1, 2)
    ]
    scores = [search.cv_results_["mean_test_score"] for search in searches]
    np.testing.assert_array_equal(*scores)
    fitted = Parallel(n_jobs=2)(delayed(RectifiedGaussian().fit)(part) for part in (X[:300], X))
    np.testing.assert_array_equal(fitted[1].covariance_, RectifiedGaussian().fit(X).covariance_)
    np.testing.assert_array_equal(fitted[1].impute(X), RectifiedGaussian().fit(X).impute(X))
    with pytest.raises(UnreluError, match="row 1, column") as caught:
        Parallel(n_jobs=2)(delayed(RectifiedGaussian().fit)(part) for part in (-1 - X, X))
    assert caught.value.row == 1


def test_random_states_follow_the_conventions(planted):
    model = RectifiedGaussian().fit(planted[0])
    one = model.sample(4, np.random.RandomState(3))
    np.testing.assert_array_equal(one, model.sample(4, np.random.RandomState(3)))
    state = np.random.RandomState(3)
    assert (model.sample(4, state) != model.sample(4, state)).any()
    np.random.seed(1)
    first = model.sample(4)
    assert (first != model.sample(4)).any()
    np.random.seed(1)
    np.testing.assert_array_equal(first, model.sample(4))
