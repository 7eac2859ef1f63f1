# SPDX-License-Identifier: Apache-2.0
"""One element made of all of a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....engine.api import export
from ....engine.deprecation import deprecated
from ....ops.data.checkpointing import get_single_element
from ....ops.data.dataset import DatasetV2
from ....ops.data.experimental.grouping import Reducer

__all__ = ["get_single_element", "reduce_dataset"]


@export("contrib.data.reduce_dataset")
@deprecated(None, "Use `tf.data.Dataset.reduce(...)`.")
def reduce_dataset(dataset: DatasetV2, reducer: Reducer) -> Any:
    """What a reducer makes of all elements; its `finalize_func` is not called.

    Args:
        dataset: the dataset.
        reducer: a tf.data.experimental.Reducer.

    Returns:
        Its last state.

    Raises:
        TypeError: `dataset` is none.

    Example:
        >>> total = tf.data.experimental.Reducer(
        ...     lambda _: np.int64(0), lambda state, x: state + x, lambda state: state)
        >>> tf.Session().run(tf.contrib.data.reduce_dataset(tf.data.Dataset.range(5), total))
        np.int64(10)
    """
    if not isinstance(dataset, DatasetV2):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return dataset.reduce(reducer.init_func(np.int64(0)), reducer.reduce_func)
