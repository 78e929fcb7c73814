# SPDX-License-Identifier: Apache-2.0
"""Fits to frames of Spark: partitions become sums on the workers, the driver solves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ._errors import warn_all
from ._gaussian import RectifiedGaussian
from ._tree import merged, solved, summarise


class _Summed:
    """Of one partition: a generator of at most one summary. A class, so that it is sent by name."""

    def __init__(self, names: list[str], parameters: Mapping[str, Any]) -> None:
        self.names = names
        self.parameters = parameters

    def __call__(self, place: int, rows: Iterable[Any]) -> Iterator[bytes]:
        import pandas as pd

        block = pd.DataFrame(list(rows), columns=self.names)
        summary = summarise(block, self.parameters, f"partition {place + 1}")
        if summary is not None:
            yield summary


def _two(left: bytes | None, right: bytes | None) -> bytes | None:
    return merged([left, right])


def fit(
    dataframe: Any, estimator: RectifiedGaussian | None = None, *, depth: int = 2
) -> RectifiedGaussian:
    """Learn the distribution of the rows of a Spark DataFrame.

    Parameters
    ----------
    dataframe : pyspark.sql.DataFrame
        Samples, of numeric columns; null is missing. Each partition must fit into the memory of a
        worker.
    estimator : RectifiedGaussian, optional
        Whose parameters are taken; it is fitted itself. What needs a second look at the samples
        (`angles`, `robust`, transforms) is refused, with its name.
    depth : int
        Of the tree in which sums are added.

    Returns
    -------
    RectifiedGaussian
        The model of one run over all samples, to 1e-12.
    """
    own = RectifiedGaussian() if estimator is None else estimator
    names = list(dataframe.columns)
    sums = dataframe.rdd.mapPartitionsWithIndex(_Summed(names, own.get_params()))
    total = sums.treeAggregate(None, _two, _two, depth)
    solved(own, total, np.asarray(names, dtype=object))
    warn_all(own.warnings_, stacklevel=2)
    return own
