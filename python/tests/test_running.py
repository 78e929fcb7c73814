# SPDX-License-Identifier: Apache-2.0
"""Interrupts, progress, threads, processes."""

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import unrelu
from unrelu import RectifiedGaussian

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
