# SPDX-License-Identifier: Apache-2.0
"""What workers do: sums of a partition, and sums of sums, as bytes. Nothing here distributes work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._errors import UnreluError
from ._gaussian import RectifiedGaussian
from ._summary import Summary


def summarise(block: Any, parameters: Mapping[str, Any], place: str) -> bytes | None:
    """The summary of one partition; None of one without rows. place: for messages."""
    if len(block) == 0:
        return None
    own = RectifiedGaussian(**parameters)
    try:
        own._add(block, reset=True)
    except UnreluError as error:
        error.args = (f"{place}: {error}",)
        raise
    assert own._summary is not None
    return own._summary.to_bytes()


def merged(parts: Sequence[bytes | None]) -> bytes | None:
    """Their sum, in the order that they are given in."""
    there = [part for part in parts if part is not None]
    if not there:
        return None
    total = Summary.from_bytes(there[0])
    for part in there[1:]:
        total.merge(Summary.from_bytes(part))
    return total.to_bytes()


def solved(estimator: RectifiedGaussian, total: bytes | None, names: Any) -> RectifiedGaussian:
    """The estimator, fitted to all samples that were summed."""
    if total is None:
        raise UnreluError("no partition has rows: there are no samples", code="data")
    estimator._summary = Summary.from_bytes(total)
    estimator.n_features_in_ = estimator._summary.columns
    if names is not None:
        estimator.feature_names_in_ = names
    estimator._solve()
    return estimator
