# SPDX-License-Identifier: Apache-2.0
"""A fitted model inside of an estimator: pickled, copied and saved as the bytes of its file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from ._call import Call
from ._checks import expected_failed_checks
from ._errors import UnreluError, warn_all
from ._library import ffi, lib
from ._model import Model


def packed(model: Model, kind: str) -> bytes:
    """The bytes of the model's file."""
    call = Call(1)
    bytes_ = ffi.new("void **")
    size = ffi.new("size_t *")
    pack = getattr(lib, f"unrelu_{kind}_pack")
    call.check(pack(model.pointer, bytes_, size, call.error))
    try:
        return bytes(ffi.buffer(bytes_[0], size[0]))
    finally:
        lib.unrelu_free(bytes_[0])


def unpacked(data: bytes, kind: str) -> Model:
    call = Call(1)
    out = ffi.new(f"unrelu_{kind} **")
    unpack = getattr(lib, f"unrelu_{kind}_unpack")
    call.check(unpack(ffi.from_buffer(data), len(data), out, call.error))
    return Model(out[0])


class ModelEstimator(BaseEstimator):  # type: ignore[misc]
    """What estimators with one model of the library share."""

    _kind: ClassVar[str]
    _aliases: ClassVar[dict[str, str]] = {}

    _model: Model

    # attributes of a fitted estimator that are made of the model when they are first asked for: a
    # model has forty members, and copying all of them takes longer than a small fit
    _made: ClassVar[Mapping[str, Callable[[Model], Any]]] = {}

    def __getattr__(self, name: str) -> Any:
        model = self.__dict__.get("_model")
        if model is None or name not in self._made:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = self.__dict__[name] = self._made[name](model)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(self._made if "_model" in self.__dict__ else ())})

    def _forget(self) -> None:
        """Drop what was made of an earlier model."""
        for name in self._made:
            self.__dict__.pop(name, None)

    def _take(self, model: Model) -> None:
        """Make the attributes of the estimator from the model."""
        raise NotImplementedError

    def _call(self) -> Call:
        return Call(getattr(self, "n_jobs", None), self._aliases)

    def _tell(self, model: Model) -> None:
        self.warnings_ = model.warnings(self._aliases)
        warn_all(self.warnings_, stacklevel=3)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a `.npz` file, which all commands of unrelu and `load` read.

        Parameters
        ----------
        path : path-like
            The name of the file, which is replaced whole or not at all.
        """
        self._check_fitted()
        call = self._call()
        save = getattr(lib, f"unrelu_{self._kind}_save")
        call.check(save(self._model.pointer, os.fsencode(path), call.error))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Any:
        """A fitted estimator from a file that `save` or a command of unrelu wrote.

        Parameters
        ----------
        path : path-like
            The file of a model.

        Returns
        -------
        estimator
            With default parameters, and the attributes of the model.
        """
        call = Call(1)
        out = ffi.new(f"unrelu_{cls._kind} **")
        call.check(getattr(lib, f"unrelu_{cls._kind}_load")(os.fsencode(path), out, call.error))
        estimator = cls()
        estimator._take(Model(out[0]))
        return estimator

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "warnings_")
        if not hasattr(self, "_model"):
            raise UnreluError("the fit failed, and there is no model", code="data")

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_model" in state:
            state["_model"] = packed(state["_model"], self._kind)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if isinstance(state.get("_model"), bytes):
            state["_model"] = unpacked(state["_model"], self._kind)
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        return super().__sklearn_tags__()

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"_xfail_checks": expected_failed_checks(self)}
