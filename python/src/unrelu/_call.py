# SPDX-License-Identifier: Apache-2.0
"""One call of the library: threads, progress, keyboard interrupts, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from joblib import effective_n_jobs

from ._errors import UnreluError, error_of, text_of
from ._library import ffi, lib

_NO_ALIASES: Mapping[str, str] = {}
_progress: ContextVar[Callable[[str, float], object] | None] = ContextVar("progress", default=None)


def threads_of(n_jobs: Any) -> int:
    """By joblib's rules: None is one thread, or what `parallel_config` says; -1 all cores."""
    try:
        return int(effective_n_jobs(n_jobs))
    except (TypeError, ValueError) as error:
        raise UnreluError(
            f"n_jobs={n_jobs!r} is no number of threads: give None, -1 or a whole number",
            option="n_jobs",
        ) from error


class Call:
    """The `exec` and the `error` of one call, and what Python's side of it raised meanwhile."""

    __slots__ = ("_call", "_handle", "aliases", "borrowed", "error", "exec", "progress", "raised")

    def __init__(self, n_jobs: int | None = None, aliases: Mapping[str, str] = _NO_ALIASES) -> None:
        self.error = ffi.new("unrelu_error *")
        self.exec = ffi.new("unrelu_exec *")
        self.progress = _progress.get()
        self.raised: BaseException | None = None
        self.aliases = aliases
        self.borrowed: list[Any] = []
        self._handle = ffi.new_handle(self)
        self._call = ffi.new("python_call *")
        self._call.handle = self._handle
        threads = 1 if n_jobs == 1 else threads_of(n_jobs)
        lib.python_call_start(self._call, self.exec, threads, self.progress is not None)

    def check(self, status: int) -> None:
        """Raise what went wrong, if anything did."""
        if self.raised is not None:
            raise self.raised
        if status != lib.UNRELU_OK:
            raise error_of(self.error, status, self.aliases)

    def keep(self, raised: BaseException) -> None:
        """The first exception of a callback stops the call, and is raised where it ends."""
        if self.raised is None:
            self.raised = raised
        self._call.stopped = lib.UNRELU_STOP


def _call_of(handle: Any) -> Call:
    call: Call = ffi.from_handle(handle)
    return call


def _keep(_kind: Any, raised: BaseException, trace: Any) -> None:
    _call_of(trace.tb_frame.f_locals["handle"]).keep(raised)


# Entering a function of Python is enough: handlers of signals run here, and what they raise goes to
# `onerror`.
@ffi.def_extern(onerror=_keep, error=lib.UNRELU_STOP)
def python_signals(handle: Any) -> int:
    for _ in range(2):  # a jump back, where every version of the interpreter looks
        pass
    return int(lib.UNRELU_GO_ON)


@ffi.def_extern(onerror=_keep)
def python_progress(handle: Any, stage: Any, fraction: float) -> None:
    call = _call_of(handle)
    if call.progress is not None and call.raised is None:
        call.progress(text_of(stage), fraction)


@contextmanager
def progress(callback: Callable[[str, float], object] | None = None) -> Iterator[None]:
    """Show how far calls inside of the block have come.

    Parameters
    ----------
    callback : callable, optional
        Called as ``callback(stage, fraction)``; a fraction below 0 means that the end is not known.
        What it raises stops the call. By default a bar of ``tqdm`` is drawn, if that is installed.

    Examples
    --------
    >>> import unrelu
    >>> seen = []
    >>> X, _ = unrelu.generate("gaussian", n_samples=20000, d=3, random_state=0)
    >>> with unrelu.progress(lambda stage, fraction: seen.append(fraction)):
    ...     model = unrelu.RectifiedGaussian().fit(X)
    >>> bool(seen)
    True
    """
    if callback is not None:
        token = _progress.set(callback)
        try:
            yield
        finally:
            _progress.reset(token)
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield
        return
    with tqdm(total=1.0, bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}") as bar:

        def draw(stage: str, fraction: float) -> None:
            bar.set_description(stage, refresh=False)
            bar.n = max(fraction, 0.0)
            bar.refresh()

        with progress(draw):
            yield
