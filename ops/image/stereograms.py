# SPDX-License-Identifier: Apache-2.0
"""Pictures of random dots that show depth: the op of `single_image_random_dot_stereograms`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, as_shape
from ..shape_inference import known_sizes

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext


class _Scene(NamedTuple):
    """Depths, 0 far and 1 near, of every pixel of the picture, and how it is looked at."""

    depths: np.ndarray
    eyes: int
    mu: float
    hides: bool

    def separation(self, depth: np.ndarray | float) -> np.ndarray:
        """How far apart the two dots are that the eyes see as one."""
        wide = (1 - self.mu * depth) * self.eyes / (2 - self.mu * depth)
        return np.trunc(wide + np.copysign(0.5, wide)).astype(int)

    def visible(self, border: float) -> np.ndarray:
        """Before which points nothing stands that is nearer, on the way to either eye."""
        height, width = self.depths.shape
        if not self.hides:
            return np.ones((height, width), bool)
        step = 2 * (2 - self.mu * self.depths) / (self.mu * self.eyes)
        result, is_open = np.ones((height, width), bool), np.ones((height, width), bool)
        t = 1
        while is_open.any() and t < width + 1:
            limit = self.depths + step * t
            sides = np.pad(self.depths, ((0, 0), (t, t)), constant_values=border)
            nearest = np.maximum(sides[:, :width], sides[:, 2 * t :])
            result &= ~is_open | (nearest < limit)
            is_open &= result & (limit < 1)
            t += 1
        return result


def _normalized(c: KernelContext, depths: np.ndarray) -> np.ndarray:
    values = depths.astype(np.float64)
    if c.attr("normalize"):
        low, high = (float(np.float32(c.attr(f"normalize_{end}"))) for end in ("min", "max"))
        if high < low:
            low, high = values.min(initial=values.flat[0]), values.max(initial=values.flat[0])
        with np.errstate(all="ignore"):
            values = (values - low) / (high - low)
    return np.where(values > 1, 1.0, np.where(values < 0, 0.0, values))


def _margins(c: KernelContext, tall: int, wide: int, window: tuple[int, int]) -> tuple[int, ...]:
    """The left and upper margins of the data, and the row that dots end on."""
    across, down = wide - window[0], tall - window[1]
    if c.attr("convergence_dots_size") > 0:
        top = max(0, down - c.attr("convergence_dots_size")) // 3
        return across // 2, top, tall - 1 - top
    return across // 2, int(down / 2), tall - 1


def _scene(c: KernelContext, depths: np.ndarray, tall: int, wide: int, at: Any) -> _Scene:
    """Depths as the picture shows them; the border has its own."""
    window = known_sizes(as_shape(c.attr("output_data_window")))
    values = _normalized(c, depths)
    height, width = values.shape
    x = width * (np.arange(wide) - at[0]) / float(window[0])
    y = height * (np.arange(tall) - at[1]) / float(window[1])
    inside = ((y >= 0) & (y < height))[:, None] & ((x >= 0) & (x < width))
    rows, columns = (np.clip(p.astype(int), 0, size - 1) for p, size in ((y, height), (x, width)))
    border = float(np.float32(c.attr("border_level")))
    shown = np.where(inside, values[rows[:, None], columns], border)
    eyes = int(np.float32(c.attr("eye_separation")) * np.float32(c.attr("dots_per_inch")))
    mu = float(np.float32(c.attr("mu")))
    return _Scene(shown, eyes, mu, c.attr("hidden_surface_removal"))


def _tied(separations: list[int], visible: list[bool]) -> list[int]:
    """Of each pixel of a row the one to the right that has its colour; itself: any colour."""
    width = len(separations)
    same = list(range(width))
    for x, apart in enumerate(separations):
        left = x - int(apart / 2)
        if visible[x] and left >= 0 and left + apart < width:
            _tie(same, left, left + apart)
    return same


def _tie(same: list[int], left: int, right: int) -> None:
    """Gives two pixels one colour; what the left one was tied to between them, too."""
    other = same[left]
    while other not in (left, right) and other < right:
        left, other = other, same[other]
    same[left] = right


def _stereogram(c: KernelContext, depths: np.ndarray) -> np.ndarray:
    sizes, windows = (
        as_shape(c.attr(name)) for name in ("output_image_shape", "output_data_window")
    )
    if depths.ndim != 2 or not depths.size:
        raise errors.invalid(f"depth_values must be a matrix with elements, not {depths.shape}")
    if sizes.ndims != 3 or windows.ndims != 2 or None in sizes.as_list() + windows.as_list():
        raise errors.invalid(
            "output_image_shape must have three sizes and output_data_window two, not "
            f"{sizes} and {windows}"
        )
    size, window = known_sizes(sizes), known_sizes(windows)
    if 0 in window:
        raise errors.invalid(f"output_data_window must not be empty, but is {window}")
    colors = c.attr("number_colors")
    wide, tall, channels = size[0], size[1], 3 if colors > 256 else size[2]
    margins = _margins(c, tall, wide, (window[0], window[1]))
    scene = _scene(c, depths, tall, wide, margins)
    if not scene.eyes * scene.mu:
        raise errors.invalid("dots_per_inch, eye_separation and mu must not be 0")
    border = float(np.float32(c.attr("border_level")))
    # TensorFlow draws by C's rand(), which no seed of a graph sets.
    random = np.random.default_rng()
    drawn = random.integers(0, 256, (tall, wide, channels)).astype(np.uint8)
    image = np.where(drawn % 2, np.uint8(255), np.uint8(0)) if colors == 2 else drawn
    separations, visible = scene.separation(scene.depths).tolist(), scene.visible(border).tolist()
    for row in range(tall):
        same = _tied(separations[row], visible[row])
        # From the right, as what a pixel is tied to lies there; at last none is tied to another.
        for x in range(wide - 1, -1, -1):
            same[x] = same[same[x]]
        image[row] = image[row, same]
    _draw_dots(c, image, int(scene.separation(0.0)), margins[2])
    return image


def _draw_dots(c: KernelContext, image: np.ndarray, apart: int, bottom: int) -> None:
    """Two black dots, by which the eyes find the right distance."""
    size = c.attr("convergence_dots_size")
    flat = image.reshape(-1, image.shape[2])
    middle, width = image.shape[1] // 2, image.shape[1]
    for center in (middle - int(apart / 2), middle + int(apart / 2)):
        for row in range(bottom, bottom - size, -1):
            first = row * width + center - size // 2
            flat[max(first, 0) : max(first + size, 0)] = 0


def _shape(c: ShapeContext) -> TensorShape:
    size = as_shape(c.attr("output_image_shape"))
    return TensorShape([size[1], size[0], 3 if c.attr("number_colors") > 256 else 1])


define(
    "SingleImageRandomDotStereograms",
    "depth_values: T -> image: uint8",
    "T: {float64, float32, int64, int32}; hidden_surface_removal: bool = true; "
    "convergence_dots_size: int = 8; dots_per_inch: int = 72; eye_separation: float = 2.5; "
    "mu: float = 0.3333; normalize: bool = true; normalize_max: float = -100.0; "
    "normalize_min: float = 100.0; border_level: float = 0.0; number_colors: int = 256; "
    "output_image_shape: shape = [1024, 768, 1]; output_data_window: shape = [1022, 757]",
    shape=_shape,
    kernel=_stereogram,
    gradient=NoGradient("random dots have no gradient", silent=True),
    doc="A picture of random dots that shows depths to eyes that look through it.",
    test={"needs": "dots of the clock"},
)
