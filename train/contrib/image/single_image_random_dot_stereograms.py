# SPDX-License-Identifier: Apache-2.0
"""Pictures of random dots that show depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import Tensor
from ....ops.public import raw

if TYPE_CHECKING:
    from ....engine.graph.annotations import ShapeLike, TensorLike


@export("contrib.image.single_image_random_dot_stereograms")
def single_image_random_dot_stereograms(
    depth_values: TensorLike,
    hidden_surface_removal: bool | None = None,
    convergence_dots_size: int | None = None,
    dots_per_inch: int | None = None,
    eye_separation: float | None = None,
    mu: float | None = None,
    normalize: bool | None = None,
    normalize_max: float | None = None,
    normalize_min: float | None = None,
    border_level: float | None = None,
    number_colors: int | None = None,
    output_image_shape: ShapeLike | None = None,
    output_data_window: ShapeLike | None = None,
) -> Tensor:
    """A picture of random dots: eyes that look through it see depth.

    Args:
        depth_values: a matrix of numbers, larger ones nearer.
        hidden_surface_removal: whether what stands behind is left out; True unless given.
        convergence_dots_size: of the two black dots below, in pixels; 8.
        dots_per_inch: of the screen; 72.
        eye_separation: in inches; 2.5.
        mu: how deep the picture is, as a share of the distance; 0.3333.
        normalize: whether depths are brought to [0, 1]; True.
        normalize_max: what becomes 1; the largest depth if this is less than `normalize_min`.
        normalize_min: what becomes 0.
        border_level: the depth of the border; 0, far.
        number_colors: 2 for black and white, 256 for grey, more for colours; 256.
        output_image_shape: [width, height, channels]; [1024, 768, 1].
        output_data_window: [width, height] of the data in it; [1022, 757].

    Returns:
        uint8 [height, width, channels].
    """
    attributes: dict[str, Any] = {
        "hidden_surface_removal": hidden_surface_removal,
        "convergence_dots_size": convergence_dots_size,
        "dots_per_inch": dots_per_inch,
        "eye_separation": eye_separation,
        "mu": mu,
        "normalize": normalize,
        "normalize_max": normalize_max,
        "normalize_min": normalize_min,
        "border_level": border_level,
        "number_colors": number_colors,
        "output_image_shape": output_image_shape,
        "output_data_window": output_data_window,
    }
    return raw.SingleImageRandomDotStereograms(depth_values, **attributes)
