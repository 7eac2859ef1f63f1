# SPDX-License-Identifier: Apache-2.0
"""Ops of coloured pixels: hue, saturation and value, and what is changed by way of them.

What a pixel becomes is stated once, by a body of its three channels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import OpFunction, define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from .. import shape_inference
from .color_gradient import gradient_of_hsv

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.kernel.scalar import Operand
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

Pixel = tuple[Any, Any, Any]
Body = Callable[..., Pixel]


def _colours() -> np.ndarray:
    return np.array(
        [
            [[0.2, 0.5, 0.9], [1, 1, 1], [0, 0, 0]],
            [[0.9, 0.1, 0.1], [0.3, 0.8, 0.3], [0.4, 0.2, 0.6]],
        ],
        np.float32,
    )


# Bodies.


def _any_of(category: Any, *numbers: int) -> Any:
    """Whether a category is one of some numbers."""
    result = k.eq(category, float(numbers[0]))
    for number in numbers[1:]:
        result = k.logical_or(result, k.eq(category, float(number)))
    return result


def to_hsv(r: Operand, g: Operand, b: Operand) -> Pixel:
    """Hue, saturation and value of a colour, the hue being a share of the circle."""
    # As reductions from no colour at all, which pass over NaN.
    value, least = k.const_like(-np.inf, r), k.const_like(np.inf, r)
    for channel in (r, g, b):
        value, least = k.maximum(value, channel), k.minimum(least, channel)
    spread = k.sub(value, least)
    saturation = k.select(k.gt(value, 0.0), k.div(spread, value), k.const_like(0, r))
    one, six = k.const_like(1, r), k.const_like(6, r)
    scale = k.mul(k.div(1.0, spread), k.div(one, six))
    third, two_thirds = (k.div(k.const_like(n, r), six) for n in (2, 4))
    hue = k.select(
        k.eq(r, value),
        k.mul(scale, k.sub(g, b)),
        k.select(
            k.eq(g, value),
            k.add(k.mul(scale, k.sub(b, r)), third),
            k.add(k.mul(scale, k.sub(r, g)), two_thirds),
        ),
    )
    hue = k.select(k.gt(spread, 0.0), hue, k.const_like(0, r))
    saturation = k.select(k.gt(value, 0.0), saturation, k.const_like(0, r))
    return k.select(k.lt(hue, 0.0), k.add(hue, 1.0), hue), saturation, value


def from_hsv(hue: Operand, saturation: Operand, value: Operand) -> Pixel:
    """The colour of a hue, a saturation and a value."""
    place = k.mul(hue, 6.0)

    def channel(level: Any) -> Any:
        share = k.minimum(k.maximum(level, 0.0), 1.0)
        grey = k.add(k.neg(saturation), 1.0)
        return k.mul(k.add(grey, k.mul(saturation, share)), value)

    red = k.sub(k.abs(k.sub(place, 3.0)), 1.0)
    green, blue = (k.add(k.neg(k.abs(k.sub(place, at))), 2.0) for at in (2.0, 4.0))
    return channel(red), channel(green), channel(blue)


def turned(r: Operand, g: Operand, b: Operand, delta: Operand) -> Pixel:
    """A colour whose hue is moved by a share of the circle, its lightest and darkest kept."""
    darkest, lightest = k.minimum(r, k.minimum(g, b)), k.maximum(r, k.maximum(g, b))
    # The sixth of the circle, and the channel between the other two.
    cold, warm = k.lt(b, r), k.gt(b, g)
    below, above = k.lt(b, g), k.gt(b, r)
    rises = k.lt(r, g)
    sixth = k.select(
        rises,
        k.select(cold, k.const_like(1, r), k.select(warm, k.const_like(3, r), _like(2, r))),
        k.select(below, _like(0, r), k.select(above, _like(4, r), _like(5, r))),
    )
    middle = k.select(
        rises, k.select(cold, r, k.select(warm, g, b)), k.select(below, g, k.select(above, r, b))
    )
    spread = k.sub(lightest, darkest)
    share = k.div(k.sub(middle, darkest), spread)
    is_even = _any_of(sixth, 0, 2, 4)
    hue = k.add(sixth, k.select(is_even, share, k.sub(1.0, share)))
    hue = k.select(k.eq(lightest, darkest), _like(0, r), hue)
    hue = k.add(hue, k.mul(delta, 6.0))
    # Into [0, 6): what rounding leaves at an end goes to the other one.
    hue = k.sub(hue, k.mul(k.floor(k.div(hue, 6.0)), 6.0))
    hue = k.select(k.lt(hue, 0.0), k.add(hue, 6.0), hue)
    hue = k.select(k.ge(hue, 6.0), k.sub(hue, 6.0), hue)
    sixth = k.trunc(hue)
    share = k.sub(hue, sixth)
    share = k.select(_any_of(sixth, 1, 3, 5), k.sub(1.0, share), share)
    middle = k.add(darkest, k.mul(share, spread))
    return (
        k.select(_any_of(sixth, 1, 4), middle, _unless(sixth, (2, 3), lightest, darkest)),
        k.select(_any_of(sixth, 0, 3), middle, k.select(_any_of(sixth, 1, 2), lightest, darkest)),
        k.select(
            _any_of(sixth, 3, 4),
            lightest,
            k.select(_any_of(sixth, 0, 1), darkest, middle),
        ),
    )


def _like(number: float, x: Operand) -> Any:
    return k.const_like(number, x)


def _unless(category: Any, numbers: tuple[int, ...], value: Any, other: Any) -> Any:
    return k.select(_any_of(category, *numbers), other, value)


def saturated(r: Operand, g: Operand, b: Operand, scale: Operand) -> Pixel:
    """A colour whose saturation is multiplied, and kept between 0 and 1."""
    value = k.maximum(r, k.maximum(g, b))
    spread = k.sub(value, k.minimum(r, k.minimum(g, b)))
    saturation = k.select(k.gt(value, 0.0), k.div(spread, value), _like(0, r))
    norm = k.div(1.0, k.mul(spread, 6.0))

    def third(x: Any, share: float) -> Any:
        # TensorFlow's literals have double precision here.
        return k.cast(k.add(k.cast(x, "float64"), share), "float32")

    hue = k.select(
        k.eq(r, value),
        k.mul(norm, k.sub(g, b)),
        k.select(
            k.eq(g, value),
            third(k.mul(norm, k.sub(b, r)), 2.0 / 6.0),
            third(k.mul(norm, k.sub(r, g)), 4.0 / 6.0),
        ),
    )
    hue = k.select(k.le(spread, 0.0), _like(0, r), hue)
    hue = k.select(k.lt(hue, 0.0), k.add(hue, 1.0), hue)
    saturation = k.minimum(k.maximum(k.mul(saturation, scale), 0.0), 1.0)
    chroma = k.mul(saturation, value)
    grey = k.sub(value, chroma)
    place = k.mul(hue, 6.0)
    sixth = k.trunc(place)
    part = k.sub(place, k.mul(k.floor(k.mul(place, 0.5)), 2.0))
    other = k.mul(chroma, k.sub(1.0, k.abs(k.sub(part, 1.0))))

    def channel(full: tuple[int, int], partial: tuple[int, int]) -> Any:
        rest = k.select(_any_of(sixth, *partial), other, _like(0, r))
        return k.add(k.select(_any_of(sixth, *full), chroma, rest), grey)

    return channel((0, 5), (1, 4)), channel((1, 2), (0, 3)), channel((3, 4), (2, 5))


# Ops.


def _shape_of_colours(c: ShapeContext) -> TensorShape:
    sizes = shape_inference.ranked_at_least(c.inputs[0], 1)
    if sizes is None:
        return shape_inference.unknown()
    shape_inference.require_dim(sizes[-1], 3)
    return TensorShape([*sizes[:-1], 3])


def _pixelwise(
    images: np.ndarray, body: Body, *factors: np.ndarray, dtype: str | None = None
) -> np.ndarray:
    """A body of every pixel, computed in a dtype if it has one of its own."""
    work = images if dtype is None else images.astype(dtype)
    with np.errstate(all="ignore"):
        channels = body(*(work[..., i] for i in range(3)), *factors)
    return np.stack(channels, axis=-1).astype(images.dtype)


def _lower_pixelwise(
    b: Builder, images: Value, body: Body, *factors: Value, dtype: str | None = None
) -> Any:
    if images.dtype == "bfloat16":
        return NotImplemented
    work = images if dtype is None else b.cast(images, dtype)
    one = (*images.shape[:-1], 1)
    lead = [0] * (images.ndim - 1)
    channels = [b.slice(work, [*lead, i], one) for i in range(3)]
    results = b.map(body, *channels, *factors)
    return b.concat([b.cast(result, images.dtype) for result in results], images.ndim - 1)


def _require_colours(b: Builder, images: Value, rank: int) -> None:
    b.require(images.ndim >= rank and b.equal(images.shape[-1], 3))


def _define_space(name: str, body: Body, gradient: Any, doc: str) -> OpFunction:
    def kernel(c: KernelContext, images: np.ndarray) -> np.ndarray:
        if not images.ndim:
            raise errors.invalid(f"input must be at least 1D{shape_text(images.shape)}")
        if images.shape[-1] != 3:
            raise errors.failed_precondition(
                f"input must have 3 channels but input only has {images.shape[-1]} channels."
            )
        return _pixelwise(images, body)

    def lower(b: Builder, op: OpView, images: Value) -> Any:
        _require_colours(b, images, 1)
        return _lower_pixelwise(b, images, body)

    return define(
        name,
        "images: T -> output: T",
        "T: {half, bfloat16, float32, float64} = float32",
        shape=_shape_of_colours,
        kernel=kernel,
        lower=lower,
        gradient=gradient,
        doc=doc,
        test=lambda: {
            "values": [
                [_colours()],
                [_colours().astype(np.float64)],
                [_colours().astype(np.float16)],
            ],
            # Of some colours the hue has no derivative.
            "gradient": False,
        },
    )


_rgb_to_hsv = _define_space(
    "RGBToHSV",
    to_hsv,
    gradient_of_hsv,
    """Hue, saturation and value of images of red, green and blue.

    Args:
        images: the last dimension is of three channels, in [0, 1].

    Returns:
        It has the shape of `images`; all channels are in [0, 1].

    Example:
        >>> tf.Session().run(tf.image.rgb_to_hsv([[0.0, 0.0, 0.5]])).tolist()
        [[0.6666666865348816, 1.0, 0.5]]
    """,
)
export("image.rgb_to_hsv")(_rgb_to_hsv)
_hsv_to_rgb = _define_space(
    "HSVToRGB",
    from_hsv,
    NoGradient("TensorFlow has no gradient of it", silent=True),
    """Red, green and blue of images of hue, saturation and value: the inverse of `rgb_to_hsv`.

    Args:
        images: the last dimension is of three channels, in [0, 1].

    Returns:
        It has the shape of `images`.

    Example:
        >>> tf.Session().run(tf.image.hsv_to_rgb([[0.0, 1.0, 0.5]])).tolist()
        [[0.5, 0.0, 0.0]]
    """,
)
export("image.hsv_to_rgb")(_hsv_to_rgb)


def _define_change(name: str, factor: str, body: Body, doc: str) -> None:
    def kernel(c: KernelContext, images: np.ndarray, amount: np.ndarray) -> np.ndarray:
        if images.ndim < 3:
            raise errors.invalid(f"input must be at least 3-D, got shape{shape_text(images.shape)}")
        if amount.ndim:
            raise errors.invalid(f"{factor} must be scalar: {shape_text(amount.shape)}")
        if images.shape[-1] != 3:
            raise errors.invalid(
                f"input must have 3 channels but instead has {images.shape[-1]} channels."
            )
        return _pixelwise(images, body, amount, dtype="float32")

    def lower(b: Builder, op: OpView, images: Value, amount: Value) -> Any:
        _require_colours(b, images, 3)
        b.require(amount.ndim == 0)
        return _lower_pixelwise(b, images, body, amount, dtype="float32")

    define(
        name,
        f"images: T, {factor}: float32 -> output: T",
        "T: {half, float32} = float32",
        shape=shape_inference.images,
        kernel=kernel,
        lower=lower,
        gradient=NoGradient("TensorFlow has no gradient of it"),
        doc=doc,
        test=lambda: {"values": [[_colours(), np.float32(0.3)], [_colours(), np.float32(-1.2)]]},
    )


_define_change("AdjustHue", "delta", turned, "Images whose hue is moved by a share of the circle.")
_define_change("AdjustSaturation", "scale", saturated, "Images whose saturation is multiplied.")


# Contrast.


def _contrast(c: KernelContext, images: np.ndarray, factor: np.ndarray) -> np.ndarray:
    if images.ndim < 3:
        raise errors.invalid(f"input must be at least 3-D, got shape{shape_text(images.shape)}")
    if factor.ndim:
        raise errors.invalid(f"contrast_factor must be scalar: {shape_text(factor.shape)}")
    if not images.size:
        return images
    with np.errstate(all="ignore"):
        # Whole numbers of 8 bits stay exact in this sum, of which TensorFlow fixes no order.
        total = images.astype(np.float32).sum((-3, -2), dtype=np.float64, keepdims=True)
        count = np.float32(images.shape[-3] * images.shape[-2])
        mean = (total.astype(np.float32) / count).astype(images.dtype)
        change = (images - mean).astype(np.float32) * factor
        return mean + change.astype(images.dtype)


def _lower_contrast(b: Builder, op: OpView, images: Value, factor: Value) -> Any:
    b.require(images.ndim >= 3 and factor.ndim == 0)
    axes = (images.ndim - 3, images.ndim - 2)
    total = b.reduce("sum", b.cast(images, "float32"), axes, keepdims=True)
    count = b.size_scalar(images, axes, "float32")

    def body(x: Any, whole: Any, number: Any, amount: Any) -> Any:
        mean = k.cast(k.div(whole, number), images.dtype)
        change = k.mul(k.cast(k.sub(x, mean), "float32"), amount)
        return k.add(mean, k.cast(change, images.dtype))

    return b.map(body, images, total, count, factor)


def _shape_of_contrast(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[1], 0)
    return shape_inference.images(c)


define(
    "AdjustContrastv2",
    "images: T, contrast_factor: float32 -> output: T",
    "T: {half, float32} = float32",
    shape=_shape_of_contrast,
    kernel=_contrast,
    lower=_lower_contrast,
    gradient=NoGradient("TensorFlow has no gradient of it"),
    doc="Images whose channels differ more, or less, from their means over height and width.",
    test=lambda: {"values": [[_colours(), np.float32(1.7)]]},
)
