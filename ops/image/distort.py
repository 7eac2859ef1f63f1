# SPDX-License-Identifier: Apache-2.0
"""A random box of an image that covers enough of one of some objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.deprecation import deprecated
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.seed import get_seed
from ...engine.record_class import record
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import raw

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext

_MOST = 2**31 - 1
_FLOAT = np.float32


class _Draws:
    """32-bit numbers of a stream, one after the other."""

    def __init__(self, generator: Any) -> None:
        self._numbers = self._read(generator)

    @staticmethod
    def _read(generator: Any) -> Iterator[int]:
        while True:
            yield from generator.blocks(8).ravel().tolist()
            generator = generator.skip(8)

    def share(self) -> np.float32:
        """A float in [0, 1), of 23 bits."""
        bits = np.uint32((127 << 23) | (next(self._numbers) & 0x7FFFFF))
        return bits.view(np.float32) - _FLOAT(1)

    def below(self, limit: int) -> int:
        """An integer in [0, limit), each as likely: draws that would favour some do not count."""
        if limit & (limit - 1) == 0:
            return next(self._numbers) & (limit - 1) if limit else 0 * next(self._numbers)
        refused = 0xFFFFFFFF % limit + 1
        while True:
            number = next(self._numbers)
            if number >= refused:
                return number % limit


@record(frozen=True)
class _Box:
    """Columns and rows, from the first to the one behind the last."""

    left: int
    top: int
    right: int
    bottom: int

    def area(self) -> np.float32:
        return _FLOAT((self.right - self.left) * (self.bottom - self.top))

    def shared(self, other: _Box) -> _Box:
        box = _Box(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )
        is_empty = box.left > box.right or box.top > box.bottom
        return _Box(0, 0, 0, 0) if is_empty else box

    def covers(self, share: Any, boxes: Sequence[_Box]) -> bool:
        """Whether it covers such a share of one of some boxes that are not empty."""
        if self.area() < 1:
            return False
        return any(self.shared(b).area() / b.area() >= share for b in boxes if b.area() >= 1)


def _rounded(x: Any) -> int:
    """The nearest integer, halves to even ones."""
    return int(np.rint(_FLOAT(x)))


def _random_box(
    width: int, height: int, areas: tuple[Any, Any], ratio: np.float32, draws: _Draws
) -> _Box | None:
    """A box of a ratio of width to height, its area between two shares of the image's."""
    if width <= 0 or height <= 0 or areas[1] <= 0 or ratio <= 0 or areas[0] > areas[1]:
        return None
    least, most = (_FLOAT(area) * _FLOAT(width) * _FLOAT(height) for area in areas)
    tall = _rounded(np.sqrt(least / ratio))
    tallest = _rounded(np.sqrt(most / ratio))
    if _rounded(_FLOAT(tallest) * ratio) > width:
        # The width is not to be rounded to one more than there is.
        tallest = int((width + 0.5 - float(_FLOAT(0.0000001))) / float(ratio))
    tallest = min(tallest, height)
    tall = min(tall, tallest)
    if tall < tallest:
        tall += draws.below(tallest - tall + 1)
    wide = _rounded(_FLOAT(tall) * ratio)
    # Rounding may lead out of the range of areas: one row more or less leads back.
    area = _FLOAT(wide * tall)
    if area < least:
        tall += 1
        wide = _rounded(_FLOAT(tall) * ratio)
        area = _FLOAT(wide * tall)
    if area > most:
        tall -= 1
        wide = _rounded(_FLOAT(tall) * ratio)
        area = _FLOAT(wide * tall)
    if area < least or area > most or not 0 < wide <= width or not 0 < tall <= height:
        return None
    top = draws.below(height - tall) if tall < height else 0
    left = draws.below(width - wide) if wide < width else 0
    return _Box(left, top, left + wide, top + tall)


def _options(c: KernelContext) -> None:
    """Raises if an attribute is out of range."""
    ratios, areas = c.attr("aspect_ratio_range"), c.attr("area_range")
    if len(ratios) != 2:
        raise errors.invalid("Aspect ratio range field must specify 2 dimensions")
    if not (ratios[0] > 0 and ratios[1] > 0):
        raise errors.invalid(
            f"Aspect ratio range must be non-negative: [{ratios[0]:g}, {ratios[1]:g}]"
        )
    if len(areas) != 2:
        raise errors.invalid("Area range field must specify 2 dimensions")
    if not (areas[0] > 0 and areas[1] > 0):
        raise errors.invalid(f"Area range must be non-negative: [{areas[0]:g}, {areas[1]:g}]")
    if areas[0] > 1 or areas[1] > 1:
        raise errors.invalid(
            f"Area range must be less then or equal to 1.0: [{areas[0]:g}, {areas[1]:g}]"
        )
    if c.attr("max_attempts") <= 0:
        raise errors.invalid(f"Max attempts must be non-negative: {c.attr('max_attempts')}")


def _image_size(size: np.ndarray) -> tuple[int, int]:
    if size.ndim != 1:
        raise errors.invalid(f"image_size must be 1-dimensional{shape_text(size.shape)}")
    if len(size) != 3:
        raise errors.invalid(f"image_size must contain 3 elements{shape_text(size.shape)}")
    height, width = int(size[0]), int(size[1])
    for name, length in (("height", height), ("width", width)):
        if not 0 <= length < _MOST:
            raise errors.invalid(f"image {name} cannot be >= int32 max")
    return height, width


def _objects(c: KernelContext, boxes: np.ndarray, height: int, width: int) -> list[_Box]:
    if boxes.ndim != 3:
        raise errors.invalid(
            "input boxes must be 3-dimensional [batch, num_boxes, coords]: "
            f"{shape_text(boxes.shape)}"
        )
    if boxes.shape[-1] != 4:
        raise errors.invalid(
            f"bounding boxes must have shape [4] or [*, 4], got {shape_text(boxes.shape)}"
        )
    outside = boxes[~((boxes >= 0) & (boxes <= 1))]
    if outside.size:
        raise errors.invalid(f"All bounding box coordinates must be in [0.0, 1.0]: {outside[0]:g}")
    scale = np.array([height, width] * 2, np.float32)
    found = [
        _Box(int(left), int(top), int(right), int(bottom))
        for top, left, bottom, right in (boxes.reshape(-1, 4) * scale).tolist()
    ]
    if found:
        return found
    if not c.attr("use_image_if_no_bounding_boxes"):
        raise errors.invalid(
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes "
            "if you wish to not provide any bounding boxes."
        )
    return [_Box(0, 0, width, height)]


def _sample(
    c: KernelContext, size: np.ndarray, boxes: np.ndarray, covered: np.ndarray | None = None
) -> tuple[np.ndarray, ...]:
    from ..random.random_ops import stream

    share = _FLOAT(c.attr("min_object_covered") if covered is None else covered)
    if share.ndim:
        raise errors.invalid(f"min_object_covered must be 0-D, got shape {shape_text(share.shape)}")
    _options(c)
    height, width = _image_size(size)
    if not share >= 0:
        raise errors.invalid(f"Min object covered must be non-negative: {float(share):g}")
    objects = _objects(c, boxes, height, width)
    box = _found(c, height, width, share, objects, stream(c))
    whole = box or _Box(0, 0, width, height)
    begin = np.array([whole.top, whole.left, 0])
    extent = np.array([whole.bottom - whole.top, whole.right - whole.left, -1])
    corners = np.array([whole.top, whole.left, whole.bottom, whole.right], np.float32)
    with np.errstate(all="ignore"):
        shares = corners / np.array([height, width] * 2, np.float32)
    kind = size.dtype
    return begin.astype(kind), extent.astype(kind), shares.reshape(1, 1, 4)


def _found(
    c: KernelContext, height: int, width: int, share: Any, objects: Sequence[_Box], stream: Any
) -> _Box | None:
    attempts = c.attr("max_attempts")
    draws = _Draws(stream.reserve(attempts))
    least, most = (_FLOAT(ratio) for ratio in c.attr("aspect_ratio_range"))
    areas = c.attr("area_range")[0], c.attr("area_range")[1]
    for _ in range(attempts):
        ratio = draws.share() * (most - least) + least
        box = _random_box(width, height, areas, ratio, draws)
        if box is not None and box.covers(share, objects):
            return box
    return None


def _shapes(c: ShapeContext) -> list[TensorShape]:
    size = shape_inference.ranked(c.inputs[0], 1)
    boxes = shape_inference.ranked(c.inputs[1], 3)
    for shape in c.inputs[2:]:
        shape_inference.ranked(shape, 0)
    shape_inference.require_dim(size[0], 3)
    shape_inference.require_dim(boxes[2], 4)
    return [TensorShape([3]), TensorShape([3]), TensorShape([1, 1, 4])]


_ATTRS = (
    "aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1.0]; "
    "max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false"
)
_TYPES = "T: {uint8, int8, int16, int32, int64}; seed: int = 0; seed2: int = 0"
_OUTPUTS = "begin: T, size: T, bboxes: float32"


def _example() -> list[Any]:
    return [np.array([40, 50, 3], np.int32), np.array([[[0.2, 0.1, 0.7, 0.9]]], np.float32)]


_DEFINED: dict[str, Any] = {
    "shape": _shapes,
    "kernel": _sample,
    "gradient": NoGradient("random boxes have no gradient", silent=True),
    "stateful": True,
}
define(
    "SampleDistortedBoundingBox",
    f"image_size: T, bounding_boxes: float32 -> {_OUTPUTS}",
    f"{_TYPES}; min_object_covered: float = 0.1; {_ATTRS}",
    doc="A random box that covers enough of one of some boxes: where it begins, its size, itself.",
    test=lambda: {"values": [_example()], "attrs": [{"seed": 1}]},
    **_DEFINED,
)
define(
    "SampleDistortedBoundingBoxV2",
    f"image_size: T, bounding_boxes: float32, min_object_covered: float32 -> {_OUTPUTS}",
    f"{_TYPES}; {_ATTRS}",
    doc="SampleDistortedBoundingBox that is told by a tensor how much is enough.",
    test=lambda: {"values": [[*_example(), np.float32(0.5)]], "attrs": [{"seed": 1, "seed2": 5}]},
    **_DEFINED,
)


def sample_distorted_bounding_box_v2(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int = 0,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """`tf.image.sample_distorted_bounding_box` with one seed, which the graph's one completes."""
    seed1, seed2 = get_seed(seed) if seed else (0, 0)
    return sample_distorted_bounding_box(
        *(image_size, bounding_boxes, seed1, seed2, min_object_covered, aspect_ratio_range),
        *(area_range, max_attempts, use_image_if_no_bounding_boxes, name),
    )


@export("image.sample_distorted_bounding_box")
@deprecated(None, "`seed2` arg is deprecated.Use sample_distorted_bounding_box_v2 instead.")
def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Sequence[float] | None = None,
    area_range: Sequence[float] | None = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """A random box of an image that covers enough of an object; else the whole image.

    Args:
        image_size: three integers, [height, width, channels].
        bounding_boxes: a float32 tensor, [batch, number, 4]: of the objects, (y1, x1, y2, x2) in
            shares of the image.
        seed: an integer; with `seed2` it says which box, unless both are zero.
        seed2: another one.
        min_object_covered: which share of an object the box covers at least.
        aspect_ratio_range: the least and the largest ratio of width to height.
        area_range: the least and the largest share of the image.
        max_attempts: how many boxes are tried.
        use_image_if_no_bounding_boxes: whether the whole image is the object where there is none.
        name: the scope of the operation.

    Returns:
        (begin, size, bboxes): where the box begins and its size, as `tf.slice` wants them, and
        itself, [1, 1, 4], as `tf.image.draw_bounding_boxes` wants it.

    Example:
        >>> begin, size, box = tf.image.sample_distorted_bounding_box(
        ...     [8, 8, 1], [[[0.0, 0.0, 1.0, 1.0]]], seed=3, seed2=1)
        >>> tf.Session().run(size)[2].item()
        -1
    """
    with name_scope(name, "sample_distorted_bounding_box"):
        given: dict[str, Any] = {
            "aspect_ratio_range": aspect_ratio_range,
            "area_range": area_range,
            "max_attempts": max_attempts,
            "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
            "seed": seed,
            "seed2": seed2,
        }
        return raw.SampleDistortedBoundingBoxV2(
            image_size,
            bounding_boxes,
            min_object_covered=min_object_covered,
            name=name,
            **{key: value for key, value in given.items() if value is not None},
        )
