# SPDX-License-Identifier: Apache-2.0
"""Iterators in checkpoints, and what else of `tf.data.experimental` belongs to the core."""

from __future__ import annotations

from typing import Any

from ...engine import api
from ...engine.api import export
from ..public import raw
from . import structure
from .dataset import DatasetV2

INFINITE, UNKNOWN = -1, -2
api.constant("data.experimental.INFINITE_CARDINALITY", INFINITE)
api.constant("data.experimental.UNKNOWN_CARDINALITY", UNKNOWN)


@export("data.experimental.cardinality")
def cardinality(dataset: Any) -> Any:
    """The number of elements of a dataset, as an int64 tensor.

    Args:
        dataset: a tf.data.Dataset.

    Returns:
        A scalar; `tf.data.experimental.INFINITE_CARDINALITY` for endless datasets,
        `UNKNOWN_CARDINALITY` where only reading would tell.

    Example:
        >>> dataset = tf.data.Dataset.range(7).batch(2)
        >>> tf.Session().run(tf.data.experimental.cardinality(dataset))
        np.int64(4)
    """
    return raw.DatasetCardinality(dataset._variant_tensor)


@export("data.experimental.get_single_element")
def get_single_element(dataset: Any) -> Any:
    """The only element of a dataset.

    Args:
        dataset: a tf.data.Dataset.

    Raises:
        TypeError: it is none.
        InvalidArgumentError: in a run it has no element, or more than one.

    Example:
        >>> dataset = tf.data.Dataset.range(3).batch(3)
        >>> tf.Session().run(tf.data.experimental.get_single_element(dataset))
        array([0, 1, 2])
    """
    if not isinstance(dataset, DatasetV2):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    flat = raw.DatasetToSingleElement(dataset._variant_tensor, **dataset._flat_structure)
    return structure.from_compatible_tensor_list(dataset.element_spec, flat)
