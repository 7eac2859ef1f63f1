# SPDX-License-Identifier: Apache-2.0
"""Elements of several datasets in turns, as early versions called it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.deprecation import deprecated
from ....ops.data.experimental.choosing import parallel_interleave

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from .batching import Apply


@export("contrib.data.sloppy_interleave")
@deprecated(None, "Use `tf.contrib.data.parallel_interleave(..., sloppy=True)`.")
def sloppy_interleave(
    map_func: Callable[..., Any], cycle_length: TensorLike, block_length: TensorLike = 1
) -> Apply:
    """`tf.data.experimental.parallel_interleave` with `sloppy=True`.

    Args:
        map_func: a function from an element to a dataset.
        cycle_length: how many datasets are read at a time.
        block_length: how many elements of one come after each other.

    Returns:
        A function for `Dataset.apply`.
    """
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)
