# SPDX-License-Identifier: Apache-2.0
"""Fits to collections of Dask: partitions become sums on the workers, the driver solves."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import UnreluError, warn_all
from ._gaussian import RectifiedGaussian
from ._sources import names_of
from ._tree import merged, solved, summarise

#: summaries that one task adds up: the depth of the tree is the logarithm of the partitions' number
FAN_IN = 8


def _blocks(collection: Any) -> list[Any]:
    """The partitions as delayed objects, in the order of the rows."""
    if hasattr(collection, "rechunk"):
        if collection.ndim != 2:
            raise UnreluError(f"a dask array of samples has 2 dimensions, not {collection.ndim}")
        return list(collection.rechunk({1: -1}).to_delayed().ravel())
    if hasattr(collection, "to_delayed"):
        return list(collection.to_delayed())
    return list(collection)


def fit(
    collection: Any, estimator: RectifiedGaussian | None = None, **compute: Any
) -> RectifiedGaussian:
    """Learn the distribution of samples that lie on many machines.

    Parameters
    ----------
    collection : dask.array.Array, dask.dataframe.DataFrame or iterable of dask.delayed
        Samples. Each partition must fit into the memory of a worker.
    estimator : RectifiedGaussian, optional
        Whose parameters are taken; it is fitted itself. What needs a second look at the samples
        (`angles`, `robust`, transforms) is refused, with its name.
    **compute
        For `dask.compute`: scheduler, retries.

    Returns
    -------
    RectifiedGaussian
        The model of one run over all samples, to 1e-12.

    Examples
    --------
    >>> import dask.array                                          # doctest: +SKIP
    >>> X = dask.array.from_zarr("s3://bucket/samples.zarr")       # doctest: +SKIP
    >>> model = unrelu.dask.fit(X)                                 # doctest: +SKIP
    """
    import dask

    own = RectifiedGaussian() if estimator is None else estimator
    parameters = own.get_params()
    add, unite = dask.delayed(summarise), dask.delayed(merged)
    level = [
        add(block, parameters, f"partition {i + 1}") for i, block in enumerate(_blocks(collection))
    ]
    if not level:
        raise UnreluError("the collection has no partitions", code="data")
    while len(level) > 1:
        level = [unite(level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
    (total,) = dask.compute(level[0], **compute)
    names = names_of(collection)
    solved(own, total, None if names is None else np.asarray(names, dtype=object))
    warn_all(own.warnings_, stacklevel=2)
    return own
