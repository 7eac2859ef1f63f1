# SPDX-License-Identifier: Apache-2.0
"""The ops of `tf.contrib.resampler`: images at any points; outside they fade to 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from .. import shape_inference
from ..public import raw

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# The four pixels around a point: whether each is the right one, whether the lower one.
_CORNERS = ((0, 0), (1, 1), (0, 1), (1, 0))


_NO_IMAGES = (
    "Only bilinear interpolation is currently supported. The input data shape must be [batch_size, "
    "data_height, data_width, data_channels], but is: "
)
_NO_IMAGES_IN_GRADIENT = (
    "Only bilinear interpolation is supported, the input data tensor must be a batch of 2d data; "
    "data shape should have 4 entries corresponding to [batch_size, data_height, data_width, "
    "data_channels], but is: "
)


def _check(data: np.ndarray, warp: np.ndarray, no_images: str = _NO_IMAGES) -> None:
    if data.ndim != 4:
        raise errors.unimplemented(f"{no_images}{shape_text(data.shape)}")
    if warp.ndim < 2:
        raise errors.invalid(
            f"warp should be at least a matrix, got shape {shape_text(warp.shape)}"
        )
    if warp.shape[-1] != 2:
        raise errors.unimplemented(
            "Only bilinear interpolation is supported, warping coordinates must be 2D; warp "
            f"shape last entry should be 2, but shape vector is: {shape_text(warp.shape)}"
        )
    if data.shape[0] != warp.shape[0]:
        raise errors.invalid(
            "Batch size of data and warp tensor must be the same, but input shapes are: "
            f"{shape_text(data.shape)}, {shape_text(warp.shape)}"
        )


class _Points:
    """Where points lie in images: pixels, and the shares of the left and upper ones."""

    def __init__(self, data: np.ndarray, warp: np.ndarray) -> None:
        self.height, self.width = data.shape[1:3]
        self.flat = data.reshape(-1, data.shape[3])
        points = warp.reshape(len(warp), -1, 2)
        x, y = points[..., 0], points[..., 1]
        one = data.dtype.type(1)
        self.is_seen = (x > -one) & (y > -one) & (x < self.width) & (y < self.height)
        x, y = (np.where(self.is_seen, p, 0 * one) for p in (x, y))
        self.left, self.top = (np.floor(p.astype(np.float32)).astype(np.int64) for p in (x, y))
        self.dx = ((self.left + 1).astype(data.dtype) - x)[..., None]
        self.dy = ((self.top + 1).astype(data.dtype) - y)[..., None]
        self.first = np.arange(len(warp))[:, None] * (self.height * self.width)

    def place(self, right: int, lower: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows of `flat` for one corner, and whether they are pixels."""
        x, y = self.left + right, self.top + lower
        inside = self.is_seen & (x >= 0) & (y >= 0) & (x < self.width) & (y < self.height)
        return self.first + np.where(inside, y * self.width + x, 0), inside

    def pixels(self, right: int, lower: int) -> np.ndarray:
        """The pixels at one corner, 0 outside."""
        at, inside = self.place(right, lower)
        return np.where(inside[..., None], self.flat[at], self.flat.dtype.type(0))

    def share(self, right: int, lower: int) -> np.ndarray:
        """What part of a point is of one corner."""
        one = self.flat.dtype.type(1)
        return (one - self.dx if right else self.dx) * (one - self.dy if lower else self.dy)


def _resampled(c: KernelContext, data: np.ndarray, warp: np.ndarray) -> np.ndarray:
    _check(data, warp)
    shape = (*warp.shape[:-1], data.shape[3])
    if not data.size or not warp.size:
        return np.zeros(shape, data.dtype)
    with np.errstate(all="ignore"):
        at = _Points(data, warp)
        parts = [at.share(*corner) * at.pixels(*corner) for corner in _CORNERS]
        total = parts[0] + parts[1] + parts[2] + parts[3]
        return np.where(at.is_seen[..., None], total, data.dtype.type(0)).reshape(shape)


def _resampled_grad(
    c: KernelContext, data: np.ndarray, warp: np.ndarray, grad: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    _check(data, warp, _NO_IMAGES_IN_GRADIENT)
    expected = (*warp.shape[:-1], data.shape[3])
    if grad.shape != expected:
        raise errors.invalid(
            "grad_output shape is not consistent with data and warp shapes; it should be "
            f"{shape_text(expected)} but is {shape_text(grad.shape)}"
        )
    by_data, by_warp = np.zeros_like(data), np.zeros_like(warp)
    if not data.size or not warp.size:
        return by_data, by_warp
    with np.errstate(all="ignore"):
        at = _Points(data, warp)
        one = data.dtype.type(1)
        grads = np.where(at.is_seen[..., None], grad.reshape(*at.dx.shape[:2], -1), 0 * one)
        tl, br, bl, tr = (at.pixels(*corner) for corner in _CORNERS)
        by_x = (grads * ((one - at.dy) * (br - bl) + at.dy * (tr - tl))).sum(-1)
        by_y = (grads * ((one - at.dx) * (br - tr) + at.dx * (bl - tl))).sum(-1)
        slopes = np.where(at.is_seen[..., None], np.stack([by_x, by_y], -1), 0 * one)
        by_warp[:] = slopes.reshape(warp.shape)
        flat = by_data.reshape(-1, data.shape[3])
        for corner in _CORNERS:
            rows, inside = at.place(*corner)
            np.add.at(flat, rows[inside], (grads * at.share(*corner))[inside])
    return by_data, by_warp


class _LoweredPoints:
    """The same in a plan: each value is [batch, points, 1], images are rows of pixels."""

    def __init__(self, b: Builder, data: Value, warp: Value) -> None:
        b.require(data.ndim == 4 and warp.ndim >= 2)
        b.require(b.equal(warp.shape[-1], 2) and b.equal(data.shape[0], warp.shape[0]))
        b.require(not any(b.equal(n, 0) for n in (*data.shape, *warp.shape)))
        batch, self.height, self.width, self.depth = data.shape
        self.b, self.dtype = b, data.dtype
        self.pixels_in_all = batch * self.height * self.width
        self.flat = b.reshape(data, (self.pixels_in_all, self.depth))
        count: Any = 1
        for n in warp.shape[1:-1]:
            count = count * n
        points = b.reshape(warp, (batch, count, 2))
        self.shape = (batch, count, 1)
        x, y = (b.slice(points, [0, 0, i], self.shape) for i in (0, 1))
        self.sizes = [
            b.iota(self.shape, 0, "int64"),
            b.constant(self.height, "int64"),
            b.constant(self.width, "int64"),
        ]
        self.is_seen = b.map(_is_seen, x, y, *self.sizes[1:])
        self.left, self.dx = b.map(_cell, x, self.is_seen)
        self.top, self.dy = b.map(_cell, y, self.is_seen)
        self.places = {corner: self._place(*corner) for corner in _CORNERS}

    def _place(self, right: int, lower: int) -> tuple[Value, Value]:
        def place(
            left: Any, top: Any, seen: Any, image: Any, height: Any, width: Any
        ) -> tuple[Any, Any]:
            x, y = k.add(left, right), k.add(top, lower)
            across = k.logical_and(k.ge(x, 0), k.lt(x, width))
            inside = k.logical_and(k.logical_and(k.ge(y, 0), k.lt(y, height)), across)
            inside = k.logical_and(inside, seen)
            at = k.add(k.mul(k.add(k.mul(image, height), y), width), x)
            return k.select(inside, at, k.sub(image, image)), inside

        return self.b.map(place, self.left, self.top, self.is_seen, *self.sizes)

    def pixels(self, corner: tuple[int, int]) -> Value:
        """The pixels at one corner, [batch, points, depth]; 0 outside."""
        at, inside = self.places[corner]
        found = self.b.pick(self.flat, self.b.reshape(at, self.shape[:2]), 0)
        return self.b.map(lambda v, i: k.select(i, v, k.cast(0, v.dtype)), found, inside)

    def share(self, corner: tuple[int, int]) -> Value:
        """What part of a point is of one corner."""
        return self.b.map(lambda dx, dy: _share(dx, dy, *corner), self.dx, self.dy)


def _is_seen(x: Any, y: Any, height: Any, width: Any) -> Any:
    tall, wide = k.cast(height, x.dtype), k.cast(width, x.dtype)
    before = k.logical_and(k.gt(x, -1.0), k.gt(y, -1.0))
    return k.logical_and(before, k.logical_and(k.lt(x, wide), k.lt(y, tall)))


def _cell(x: Any, is_seen: Any) -> tuple[Any, Any]:
    """The pixel before a place, and how near it is."""
    left = k.floor(k.select(is_seen, x, k.cast(0, x.dtype)))
    return k.cast(left, "int64"), k.sub(k.add(left, 1.0), x)


def _share(dx: Any, dy: Any, right: int, lower: int) -> Any:
    return k.mul(k.sub(1.0, dx) if right else dx, k.sub(1.0, dy) if lower else dy)


def _lower(b: Builder, op: OpView, data: Value, warp: Value) -> Any:
    if data.dtype not in ("float32", "float64"):
        return NotImplemented
    at = _LoweredPoints(b, data, warp)

    def total(seen: Any, *terms: Any) -> Any:
        shares, pixels = terms[:4], terms[4:]
        parts = [k.mul(s, p) for s, p in zip(shares, pixels)]
        found = k.add(k.add(k.add(parts[0], parts[1]), parts[2]), parts[3])
        return k.select(seen, found, k.cast(0, found.dtype))

    shares, pixels = ([f(corner) for corner in _CORNERS] for f in (at.share, at.pixels))
    out = b.map(total, at.is_seen, *shares, *pixels)
    return b.reshape(out, (*warp.shape[:-1], at.depth))


def _slopes(
    seen: Any, grad: Any, dx: Any, dy: Any, tl: Any, br: Any, bl: Any, tr: Any
) -> tuple[Any, Any]:
    """How a value changes with x and with y, times a gradient: a scalar body."""

    def between(d: Any, far: Any, near: Any) -> Any:
        slope = k.mul(grad, k.add(k.mul(k.sub(1.0, d), far), k.mul(d, near)))
        return k.select(seen, slope, k.cast(0, slope.dtype))

    return between(dy, k.sub(br, bl), k.sub(tr, tl)), between(dx, k.sub(br, tr), k.sub(bl, tl))


def _lower_grad(b: Builder, op: OpView, data: Value, warp: Value, grad: Value) -> Any:
    from ...jit import library

    if data.dtype not in ("float32", "float64"):
        return NotImplemented
    at = _LoweredPoints(b, data, warp)
    b.require_shape(grad, (*warp.shape[:-1], at.depth))
    grads = b.reshape(grad, (*at.shape[:2], at.depth))
    pixels = [at.pixels(corner) for corner in _CORNERS]
    slopes = b.map(_slopes, at.is_seen, grads, at.dx, at.dy, *pixels)
    by_warp = b.concat([b.reduce("sum", slope, [2], keepdims=True) for slope in slopes], 2)
    indices, updates = [], []
    for corner in _CORNERS:
        row, inside = at.places[corner]
        # What lies outside is no row at all, and is skipped.
        row = b.map(lambda i, ok: k.select(ok, i, k.sub(k.sub(i, i), 1)), row, inside)
        indices.append(b.reshape(row, at.shape[:2]))
        updates.append(b.map(k.mul, grads, at.share(corner)))
    flat = library.scatter_rows(
        b, "add", b.concat(indices, 0), b.concat(updates, 0), at.pixels_in_all
    )
    return b.reshape(flat, data.shape), b.reshape(by_warp, warp.shape)


def _shape(c: ShapeContext) -> TensorShape:
    data, warp = (shape_inference.ranked_at_least(c.inputs[i], 1) for i in (0, 1))
    if warp is None:
        return TensorShape(None)
    return TensorShape([*warp[:-1], None if data is None else data[-1]])


def _gradient(op: Operation, grad: Tensor) -> Any:
    data, warp = op.inputs
    return raw.ResamplerGrad(data, warp, convert_to_tensor(grad, name="grad_output"))


_TYPES = "T: {half, bfloat16, float32, float64}"


def _data() -> np.ndarray:
    return np.linspace(-1, 2, 48).reshape(2, 4, 3, 2).astype(np.float32)


def _warp() -> np.ndarray:
    return np.array(
        [[[0.25, 1.5], [-0.5, 3.25], [7.5, 1.25]], [[2.5, 0.75], [1.25, -0.75], [-1.5, 0.5]]],
        np.float32,
    )


def _grads() -> np.ndarray:
    return np.linspace(-1, 1, 12).reshape(2, 3, 2).astype(np.float32)


define(
    "ResamplerGrad",
    "data: T, warp: T, grad_output: T -> grad_data: T, grad_warp: T",
    _TYPES,
    shape=lambda c: c.inputs[:2],
    kernel=_resampled_grad,
    lower=_lower_grad,
    gradient=NoGradient("TensorFlow has no gradient of it", silent=True),
    doc="The gradient of Resampler.",
    test=lambda: {"values": [[_data(), _warp(), _grads()]]},
)
define(
    "Resampler",
    "data: T, warp: T -> output: T",
    _TYPES,
    shape=_shape,
    kernel=_resampled,
    lower=_lower,
    gradient=_gradient,
    doc="Images at given points (x, y), between pixels.",
    test=lambda: {"values": [[_data(), _warp()]]},
)
