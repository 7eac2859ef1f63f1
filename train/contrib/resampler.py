# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.resampler`: images at any points; spatial transformers sample by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...ops.public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


@export("contrib.resampler.resampler")
def resampler(data: TensorLike, warp: TensorLike, name: str = "resampler") -> Tensor:
    """Images at given points, between pixels (tf.contrib.resampler.resampler).

    Args:
        data: floats [batch, height, width, channels].
        warp: points (x, y), [batch, ..., 2]; outside of an image it fades to 0.
        name: of the scope.

    Returns:
        Floats [batch, ..., channels]; both arguments get gradients.

    Example:
        >>> image = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
        >>> print(tf.Session().run(tf.contrib.resampler.resampler(image, [[[0.5, 0.5]]])))
        [[[1.5]]]
    """
    with name_scope(name, "resampler", [data, warp]):
        images = convert_to_tensor(data, name="data")
        points = convert_to_tensor(warp, name="warp")
        return raw.Resampler(images, points)
