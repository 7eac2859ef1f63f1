# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.periodic_resample`: sizes grow at the cost of one, as in subpixel convolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.api import export
from ...engine.graph.tensor import Tensor
from ...ops.public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import ShapeLike, TensorLike


@export("contrib.periodic_resample.periodic_resample")
def periodic_resample(values: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """A tensor in another shape, elements side by side coming one upon another.

    Args:
        values: float32, float64, int32 or int64.
        shape: as many sizes as `values` has, none smaller; one is None, and shrinks.
        name: of the op.

    Returns:
        A Tensor of that shape.

    Example:
        >>> table = tf.reshape(tf.range(12), [3, 4])
        >>> resampled = tf.contrib.periodic_resample.periodic_resample(table, [6, None])
        >>> print(tf.Session().run(resampled).tolist())
        [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]
    """
    return raw.PeriodicResample(values, shape=shape, name=name)
