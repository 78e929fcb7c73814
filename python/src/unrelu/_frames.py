# SPDX-License-Identifier: Apache-2.0
"""What estimators share: validation by scikit-learn's rules, and frames out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._errors import UnreluError
from ._sources import is_path, matrix, names_of, refusing

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data as _validate_data
except ImportError:
    _validate_data = None


def note_features(estimator: Any, X: Any, *, reset: bool) -> None:
    """Set or compare n_features_in_ and feature_names_in_."""
    with refusing():
        if _validate_data is not None:
            _validate_data(estimator, X, reset=reset, skip_check_array=True)
        else:
            estimator._check_feature_names(X, reset=reset)
            estimator._check_n_features(X, reset=reset)


def samples(estimator: Any, X: Any, *, reset: bool, least: int = 1) -> NDArray[Any]:
    """X as an array of floats, with its features noted."""
    x = matrix(X)
    if type(X) is np.ndarray:
        n_features = x.shape[1]
        if reset:
            estimator.n_features_in_ = n_features
            if hasattr(estimator, "feature_names_in_"):
                del estimator.feature_names_in_
        elif n_features != estimator.n_features_in_ or hasattr(estimator, "feature_names_in_"):
            note_features(estimator, x, reset=False)
    else:
        note_features(estimator, X if hasattr(X, "columns") else x, reset=reset)
    if len(x) < least:
        raise UnreluError(
            f"n_samples={len(x)}: {least} samples are needed at least, and many more to learn from",
            code="data",
        )
    return x


def names_for(estimator: Any) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def fitted(estimator: Any, attribute: str = "n_features_in_") -> None:
    check_is_fitted(estimator, attribute)


__all__ = ["fitted", "is_path", "matrix", "names_for", "names_of", "note_features", "samples"]
