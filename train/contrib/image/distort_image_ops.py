# SPDX-License-Identifier: Apache-2.0
"""Hue, saturation and value changed as brightness and two differences, given or by chance.

TensorFlow 1.15 has them in `tensorflow.contrib.image.python.ops.distort_image_ops` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.scope_functions import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.image.convert import convert_image_dtype
from ....ops.public import raw, tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


def random_hsv_in_yiq(
    image: TensorLike,
    max_delta_hue: float = 0,
    lower_saturation: float = 1,
    upper_saturation: float = 1,
    lower_value: float = 1,
    upper_value: float = 1,
    seed: int | None = None,
) -> Tensor:
    """`adjust_hsv_in_yiq` by random numbers of `delta_hue`, `scale_saturation` and `scale_value`.

    Args:
        image: numbers [..., 3].
        max_delta_hue: the hue turns by up to this, in radians, to either side.
        lower_saturation: the least factor of the saturation.
        upper_saturation: the largest one.
        lower_value: the least factor of the value.
        upper_value: the largest one.
        seed: an integer; with the graph's seed it says which numbers.

    Returns:
        A Tensor of the same dtype and shape.

    Raises:
        ValueError: a bound is negative, or a lower one above an upper one.
    """
    for number, what in (
        (max_delta_hue, "max_delta"),
        (lower_saturation, "lower_saturation"),
        (lower_value, "lower_value"),
    ):
        if number < 0:
            raise ValueError(f"{what} must be non-negative.")
    if lower_saturation > upper_saturation:
        raise ValueError("lower_saturation must be < upper_saturation.")
    if lower_value > upper_value:
        raise ValueError("lower_value must be < upper_value.")

    def between(low: float, high: float) -> Any:
        return low if low == high else tf.random_uniform([], low, high, seed=seed)

    hue: Any = 0 if max_delta_hue == 0 else between(-max_delta_hue, max_delta_hue)
    saturation = between(lower_saturation, upper_saturation)
    return adjust_hsv_in_yiq(image, hue, saturation, between(lower_value, upper_value))


def adjust_hsv_in_yiq(
    image: TensorLike,
    delta_hue: Any = 0,
    scale_saturation: Any = 1,
    scale_value: Any = 1,
    name: str | None = None,
) -> Tensor:
    """Colours with another hue, saturation and value.

    Args:
        image: numbers [..., 3], of rank 3 or more; integers go up to the dtype's largest.
        delta_hue: by how much the hue turns, in radians.
        scale_saturation: what the saturation is multiplied by.
        scale_value: what all is multiplied by.
        name: of the scope.

    Returns:
        A Tensor of the same dtype and shape.
    """
    with name_scope(name, "adjust_hsv_in_yiq", [image]) as name:
        given = convert_to_tensor(image, name="image")
        floats = convert_image_dtype(given, dtypes.float32)
        altered = raw.AdjustHsvInYiq(floats, delta_hue, scale_saturation, scale_value)
        return convert_image_dtype(altered, given.dtype)
