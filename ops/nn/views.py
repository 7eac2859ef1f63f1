# SPDX-License-Identifier: Apache-2.0
"""Compiled forms of pooling and of convolutions of volumes, as views of shifted inputs.

At each offset inside of a window one strided view of the padded input lines up with the output
(`window`); a map of all these views is a pooling.  A convolution of volumes is one of images, whose
channels are those of all planes that a window meets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import product as size_product
from ..run_checks import error_of
from . import window as nw

if TYPE_CHECKING:
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# Views that one map reads.
_MOST_VIEWS = 40
_NEAR = 1e-5  # see pool_maxima
_FLOATS = ("float32", "float64")
_HALVES = ("float16", "bfloat16")


class Pool:
    """A pooling of values of a plan: channels last, the window static and small."""

    def __init__(
        self,
        b: Builder,
        shape: Sequence[Any],
        ksize: Sequence[int],
        strides: Sequence[int],
        padding: Any,
        form: str,
    ) -> None:
        """Raises the builder's NotLowered where it does not serve."""
        text = padding.decode() if isinstance(padding, bytes) else padding
        sizes, windows, steps = (nw.spatial(v, form) for v in (shape, ksize, strides))
        ends = (ksize[0], strides[0], nw.channels(ksize, form), nw.channels(strides, form))
        if any(n != 1 for n in ends) or not all(isinstance(n, int) for n in sizes):
            raise b.host("a pooling over channels, or of sizes that are not static")
        b.require(all(n >= 1 for n in (*windows, *steps)))
        self.b, self.form = b, form
        self.window = nw.at_run_time(nw.window, sizes, windows, steps, text)
        self.offsets = list(np.ndindex(*windows))
        if len(self.offsets) > _MOST_VIEWS:
            raise b.host("a large window")
        self.batch, self.depth = shape[0], nw.channels(shape, form)
        self.padded_sizes = [a.before + a.known + a.after for a in self.window.axes]
        self.shape = (self.batch, *(a.out or 0 for a in self.window.axes), self.depth)

    def inside(self, x: Value) -> Value:
        """A value with its channels last."""
        if not nw.is_channels_first(self.form):
            return x
        return self.b.transpose(x, (0, *range(2, x.ndim), 1))

    def outside(self, x: Value) -> Value:
        """The reverse of `inside`."""
        if not nw.is_channels_first(self.form):
            return x
        return self.b.transpose(x, (0, x.ndim - 1, *range(1, x.ndim - 1)))

    def views(self, x: Value, fill: float) -> list[Value]:
        """For each offset what the padded input has there, one element for each of the output."""
        edges = [(0, 0), *((a.before, a.after) for a in self.window.axes), (0, 0)]
        padded, b = self.b.pad(x, edges, fill), self.b
        steps = [1, *(a.stride for a in self.window.axes), 1]
        return [b.slice(padded, [0, *at, 0], self.shape, steps) for at in self.offsets]

    def counts(self, dtype: str) -> Value:
        """How many elements of the input each window covers."""
        ones = np.ones([1, *(a.known for a in self.window.axes), 1])
        padded = self.window.pad(ones)
        total = sum(padded[where] for _, where in self.window.offsets())
        return self.b.constant(np.asarray(total).astype(dtype))

    def spread(self, parts: Sequence[Value]) -> Value:
        """The sum of what each offset gives to the input, in the order of the offsets.

        Windows that a stride of one step takes apart meet different elements: what they give is
        written side by side, and only what overlaps is added.
        """
        b, axes = self.b, self.window.axes
        steps = [1, *(a.stride for a in axes), 1]
        by_offset = dict(zip(self.offsets, parts, strict=True))
        total: Value | None = None
        for turn in product(*(range(-(-a.window // a.stride)) for a in axes)):
            starts = [
                range(q * a.stride, min((q + 1) * a.stride, a.window))
                for q, a in zip(turn, axes, strict=True)
            ]
            placed = [(by_offset[at], [0, *at, 0], steps) for at in product(*starts)]
            shape = (self.batch, *self.padded_sizes, self.depth)
            one = b.assemble(shape, parts[0].dtype, placed, 0)
            total = one if total is None else b.map(k.add, total, one)
        assert total is not None
        begin = [0, *(a.before for a in axes), 0]
        return b.slice(total, begin, (self.batch, *(a.known for a in axes), self.depth))


def widened(b: Builder, value: Any) -> Any:
    """A value in the dtype in which sums of it are kept."""
    return b.cast(value, "float32") if value.dtype in _HALVES else value


def _of_op(b: Builder, op: OpView, shape: Sequence[Any], given: Sequence[Value] = ()) -> Pool:
    """The pooling of an op, whose window is given by attributes, or by values that are known."""
    windows = [b.known(value) for value in given]
    if any(array is None or array.dtype == object for array in windows):
        raise b.host("the window depends on the data")
    ksize, strides = (
        [array.tolist() for array in windows if array is not None]
        if given
        else (op.attr("ksize"), op.attr("strides"))
    )
    return Pool(b, shape, ksize, strides, op.attr("padding"), op.attr("data_format"))


def lower_avg(b: Builder, op: OpView, x: Value) -> Any:
    """The mean of every window."""
    if x.dtype not in _FLOATS:
        return NotImplemented
    pool = _of_op(b, op, x.shape)
    total = b.fold(k.add, pool.views(pool.inside(x), 0))
    return pool.outside(b.map(k.div, total, pool.counts(x.dtype)))


def lower_avg_grad(b: Builder, op: OpView, sizes: Value, dy: Value) -> Any:
    """The gradient of the mean of every window."""
    known = b.known(sizes)
    if known is None or dy.dtype not in _FLOATS or known.shape != (dy.ndim,):
        return NotImplemented
    pool = _of_op(b, op, tuple(known.tolist()))
    grad = pool.inside(dy)
    b.require_shape(grad, pool.shape)
    share = b.map(k.div, grad, pool.counts(dy.dtype))
    return pool.outside(pool.spread([share] * len(pool.offsets)))


def lower_max(b: Builder, op: OpView, x: Value) -> Any:
    """The largest element of every window of a volume; NaN is larger than nothing."""
    if x.dtype not in _FLOATS:
        return NotImplemented
    pool = _of_op(b, op, x.shape)

    def largest(*values: Any) -> Any:
        best = k.const_like(-np.inf, values[0])
        for value in values:
            best = k.select(k.gt(value, best), value, best)
        return best

    return pool.outside(b.map(largest, *pool.views(pool.inside(x), -np.inf)))


def lower_max_grad(b: Builder, op: OpView, x: Value, y: Value, dy: Value) -> Any:
    """The gradient of pooling volumes: it goes to all elements that are nearly the largest."""
    if x.dtype not in _FLOATS or dy.dtype != x.dtype:
        return NotImplemented
    pool = _of_op(b, op, x.shape)
    top, grad = pool.inside(y), pool.inside(dy)
    b.require_shape(top, pool.shape)
    b.require_shape(grad, pool.shape)

    def share(value: Any, top: Any, grad: Any) -> Any:
        near = k.lt(k.abs(k.sub(value, top)), _NEAR)
        return k.select(near, grad, k.const_like(0, grad))

    # (Nothing is near to infinity, so that what surrounds the input has no share.)
    shares = [b.map(share, view, top, grad) for view in pool.views(pool.inside(x), np.inf)]
    return pool.outside(pool.spread(shares))


def lower_max_grad_grad(
    b: Builder, op: OpView, x: Value, y: Value, ddx: Value, *given: Value
) -> Any:
    """What the first element of every window that equals the largest one gets."""
    if x.dtype not in _FLOATS:
        return NotImplemented
    pool = _of_op(b, op, x.shape, given)
    b.require(b.same_shape(x, ddx))
    top = pool.inside(y)
    b.require_shape(top, pool.shape)
    result = b.full(pool.shape, 0, x.dtype)
    found = b.full(pool.shape, False, "bool")

    def chosen(value: Any, grad: Any, top: Any, result: Any, found: Any) -> tuple[Any, Any]:
        hit = k.logical_and(k.eq(value, top), k.logical_not(found))
        return k.select(hit, grad, result), k.logical_or(found, hit)

    pairs = zip(pool.views(pool.inside(x), np.nan), pool.views(pool.inside(ddx), 0), strict=True)
    for value, grad in pairs:
        result, found = b.map(chosen, value, grad, top, result, found)
    return pool.outside(result)


def lower_argmax(b: Builder, op: OpView, x: Value) -> Any:
    """The largest element of every window, NaN where it comes first, and its flat position."""
    if x.dtype not in _FLOATS:
        return NotImplemented
    pool = Pool(b, x.shape, op.attr("ksize"), op.attr("strides"), op.attr("padding"), "NHWC")
    (height, width), depth = (a.known for a in pool.window.axes), x.shape[3]
    if not isinstance(depth, int):
        return NotImplemented
    ones = pool.window.pad(np.ones([1, height, width, 1], bool), False)
    inside = [ones[where] for _, where in pool.window.offsets()]
    masks = [] if all(mask.all() for mask in inside) else [b.constant(mask) for mask in inside]
    steps = [(row * width + column) * depth for row, column in pool.offsets]
    count = len(steps)

    def first(*given: Any) -> Any:
        values, within = given[:count], given[count:]
        best, step = values[0], k.const(steps[0], "int64")
        found = within[0] if within else None
        for i in range(1, count):
            better = k.lt(best, values[i])
            if found is not None:
                better = k.logical_and(within[i], k.logical_or(k.logical_not(found), better))
                found = k.logical_or(found, within[i])
            best = k.select(better, values[i], best)
            step = k.select(better, k.const(steps[i], "int64"), step)
        return best, step

    top, step = b.map(first, *pool.views(x, 0), *masks)
    n, row, column, channel = (b.iota(pool.shape, axis, "int64") for axis in range(4))
    down, across = pool.window.axes

    def place(step: Any, n: Any, row: Any, column: Any, channel: Any) -> Any:
        y = k.sub(k.mul(row, down.stride), down.before)
        x = k.sub(k.mul(column, across.stride), across.before)
        found = k.add(k.mul(k.add(k.mul(y, width), x), depth), k.add(channel, step))
        if op.attr("include_batch_in_index"):
            found = k.add(found, k.mul(n, height * width * depth))
        return found

    return top, b.cast(b.map(place, step, n, row, column, channel), op.dtype(1))


def _flat(b: Builder, op: OpView, x: Value, argmax: Value, check: Callable[..., object]) -> Value:
    """Positions in the whole input; the run fails where check(argmax, limit) has something."""
    wide, per_image = b.cast(argmax, "int64"), size_product(x.shape[1:])
    is_whole = op.attr("include_batch_in_index")
    limit = b.constant(x.shape[0] * per_image if is_whole else per_image, "int64")
    outside = b.map(lambda i, n: k.logical_or(k.lt(i, 0), k.ge(i, n)), wide, limit)
    error = error_of(lambda argmax, limit: check(argmax, int(limit)))
    b.require_not(b.reduce("any", outside, None), error, wide, limit)
    if is_whole:
        return wide
    image, step = b.iota(argmax.shape, 0, "int64"), b.constant(per_image, "int64")
    return b.map(lambda i, n, step: k.add(i, k.mul(n, step)), wide, image, step)


def lower_argmax_grad(check: Callable[..., object]) -> Callable[..., Any]:
    """The lowering of the gradient of a pooling that knows where its maxima are."""

    def lower(b: Builder, op: OpView, x: Value, dy: Value, argmax: Value) -> Any:
        from ...jit import library

        b.require(b.same_shape(dy, argmax) and x.ndim == 4 and argmax.ndim == 4)
        if any(b.equal(size, 0) for size in (*x.shape, *argmax.shape)):
            return NotImplemented
        count = size_product(argmax.shape)
        places = b.reshape(_flat(b, op, x, argmax, check), [count])
        grads, size = b.reshape(dy, [count]), size_product(x.shape)
        out = library.scatter_rows(b, "add", places, grads, size)
        return out if out is NotImplemented else b.reshape(out, x.shape)

    return lower


def lower_argmax_grad_grad(check: Callable[..., object]) -> Callable[..., Any]:
    """The lowering of what a gradient gives to the maxima."""

    def lower(b: Builder, op: OpView, x: Value, grad: Value, argmax: Value) -> Any:
        b.require(b.same_shape(grad, x) and x.ndim == 4 and argmax.ndim == 4)
        if any(b.equal(size, 0) for size in (*x.shape, *argmax.shape)):
            return NotImplemented
        flat = b.reshape(grad, [size_product(x.shape)])
        return b.pick(flat, _flat(b, op, x, argmax, check))

    return lower


# Convolutions of volumes


class _Planes:
    """A convolution of volumes as one of images: the planes of a window are its channels."""

    def __init__(self, b: Builder, op: OpView, shape: Sequence[Any], w: Sequence[Any]) -> None:
        form = op.attr("data_format")
        padding = op.attr("padding")
        self.padding = padding.decode() if isinstance(padding, bytes) else padding
        strides, dilations = (nw.spatial(op.attr(n), form) for n in ("strides", "dilations"))
        if not isinstance(shape[1], int) or not all(isinstance(n, int) for n in w):
            raise b.host("sizes that are not static")
        axis = nw.at_run_time(nw.axis, shape[1], w[0], strides[0], dilations[0], self.padding)
        self.b, self.axis, self.shape, self.filter = b, axis, shape, w
        self.arguments = (strides[1:], self.padding, dilations[1:])
        self.batch = shape[0] * axis.out
        self.channels = w[0] * w[3]

    def _starts(self) -> list[int]:
        return [tap * self.axis.dilation for tap in range(self.axis.window)]

    def images(self, x: Value) -> Value:
        """For every plane of the output an image of all planes that its window meets."""
        b, axis = self.b, self.axis
        edges = [(0, 0), (axis.before, axis.after), (0, 0), (0, 0), (0, 0)]
        padded = b.pad(x, edges)
        size = (x.shape[0], axis.out, *x.shape[2:])
        steps = [1, axis.stride, 1, 1, 1]
        planes = [b.slice(padded, [0, at, 0, 0, 0], size, steps) for at in self._starts()]
        return b.reshape(b.concat(planes, 4), (self.batch, *x.shape[2:4], self.channels))

    def volumes(self, images: Value) -> Value:
        """The reverse: the planes of each image added where they lie."""
        b, axis = self.b, self.axis
        n, size, height, width, channels = self.shape
        split = (n, axis.out, height, width, axis.window, channels)
        parts = b.reshape(images, split)
        shape = (n, axis.before + size + axis.after, height, width, channels)
        total: Value | None = None
        for tap, at in enumerate(self._starts()):
            one = b.slice(parts, [0, 0, 0, 0, tap, 0], (*split[:4], 1, channels))
            place = (
                b.reshape(one, (*split[:4], channels)),
                [0, at, 0, 0, 0],
                [1, axis.stride, 1, 1, 1],
            )
            placed = b.assemble(shape, images.dtype, [place], 0)
            total = placed if total is None else b.map(k.add, total, placed)
        assert total is not None
        return b.slice(total, [0, axis.before, 0, 0, 0], tuple(self.shape))

    def flat_filter(self, w: Value) -> Value:
        """The filter of the images."""
        _, height, width, _, out = self.filter
        moved = self.b.transpose(w, (1, 2, 0, 3, 4))
        return self.b.reshape(moved, (height, width, self.channels, out))


_LAST, _BACK = (0, 2, 3, 4, 1), (0, 4, 1, 2, 3)


def lower_conv3d(b: Builder, op: OpView, x: Value, w: Value) -> Any:
    """The convolution of volumes."""
    from ...jit import library

    is_first = nw.is_channels_first(op.attr("data_format"))
    x = b.transpose(x, _LAST) if is_first else x
    b.require(b.equal(x.shape[4], w.shape[3]))
    planes = _Planes(b, op, x.shape, w.shape)
    images = planes.images(x)
    out = library.conv2d(b, images, planes.flat_filter(w), *planes.arguments)
    if out is NotImplemented:
        return out
    out = b.reshape(out, (x.shape[0], planes.axis.out, *out.shape[1:]))
    return b.transpose(out, _BACK) if is_first else out


def lower_conv3d_input_gradient(b: Builder, op: OpView, sizes: Value, w: Value, dy: Value) -> Any:
    """The gradient of a convolution of volumes by the volumes."""
    from ...jit import library

    known = b.known(sizes)
    if known is None or known.shape != (5,):
        return NotImplemented
    is_first = nw.is_channels_first(op.attr("data_format"))
    shape = known.tolist()
    if is_first:
        shape, dy = [shape[i] for i in _LAST], b.transpose(dy, _LAST)
    b.require(b.equal(shape[4], w.shape[3]))
    planes = _Planes(b, op, shape, w.shape)
    images = (planes.batch, *shape[2:4], planes.channels)
    b.require(b.equal(dy.shape[1], planes.axis.out) and b.equal(dy.shape[0], shape[0]))
    flat = b.reshape(dy, (planes.batch, *dy.shape[2:]))
    out = library.conv2d_input_gradient(b, images, planes.flat_filter(w), flat, *planes.arguments)
    if out is NotImplemented:
        return out
    out = planes.volumes(out)
    return b.transpose(out, _BACK) if is_first else out


def lower_conv3d_filter_gradient(b: Builder, op: OpView, x: Value, sizes: Value, dy: Value) -> Any:
    """The gradient of a convolution of volumes by the filter."""
    from ...jit import library

    known = b.known(sizes)
    if known is None or known.shape != (5,) or known.dtype == object:
        return NotImplemented
    if nw.is_channels_first(op.attr("data_format")):
        x, dy = b.transpose(x, _LAST), b.transpose(dy, _LAST)
    depth, height, width, channels, out = shape = [int(n) for n in known.tolist()]
    b.require(b.equal(x.shape[4], channels))
    planes = _Planes(b, op, x.shape, shape)
    b.require(b.equal(dy.shape[1], planes.axis.out) and b.equal(dy.shape[0], x.shape[0]))
    flat = b.reshape(dy, (planes.batch, *dy.shape[2:]))
    sizes_2d = (height, width, planes.channels, out)
    found = library.conv2d_filter_gradient(b, planes.images(x), sizes_2d, flat, *planes.arguments)
    if found is NotImplemented:
        return found
    split = b.reshape(found, (height, width, depth, channels, out))
    return b.transpose(split, (2, 0, 1, 3, 4))
