# SPDX-License-Identifier: Apache-2.0
"""Ops that make a tensor larger by repeating it or by putting something around it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from .. import shape_inference
from ..elementwise import is_lowerable
from ..public import tf
from ..ranks import ranked, scalar
from . import lowered, moving_slices
from .constant import ones
from .join import concat
from .layout import transpose
from .shape import rank, reshape, shape, size
from .stack import stack

if TYPE_CHECKING:
    from ...engine.graph.annotations import Gradient, TensorLike
    from ...engine.graph.build import OpFunction
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# Pad


def _pad_shape(c: ShapeContext) -> TensorShape:
    columns = shape_inference.ranked(c.inputs[1], 2)
    shape_inference.merge_dim(columns[1], 2)
    given, paddings = shape_inference.dims(c.inputs[0]), c.value(1)
    count = columns[0] if given is None else len(given)
    if columns[0] is not None and given is not None and columns[0] != len(given):
        raise ValueError(f"Shape must be rank {columns[0]} but is rank {len(given)}")
    if paddings is None:
        return shape_inference.of_rank(count)
    if (paddings < 0).any():
        before, after = paddings[(paddings < 0).any(1)][0]
        raise ValueError(f"Paddings must be non-negative: {before}, {after}")
    given = given or [None] * len(paddings)
    return TensorShape(
        [None if d is None else d + int(p[0]) + int(p[1]) for d, p in zip(given, paddings)]
    )


def _amounts(ndim: int, paddings: np.ndarray) -> list[tuple[Any, Any]]:
    if paddings.ndim != 2 or paddings.shape[1] != 2:
        raise errors.invalid(
            f"paddings must be a matrix with 2 columns: {shape_text(paddings.shape)}"
        )
    if len(paddings) != ndim:
        raise errors.invalid(
            "The first dimension of paddings must be the rank of inputs"
            f"{shape_text(paddings.shape)} {ndim}"
        )
    for before, after in paddings.tolist():
        if before < 0 or after < 0:
            raise errors.invalid(f"Paddings must be non-negative: {before} {after}")
    return [(before, after) for before, after in paddings.tolist()]


def _pad_kernel(
    c: KernelContext, x: np.ndarray, paddings: np.ndarray, fill: Any = None
) -> np.ndarray:
    amounts = _amounts(x.ndim, paddings)
    if fill is None:
        fill = b"" if c.out_dtype().kind == "O" else 0
    shape_ = [n + before + after for n, (before, after) in zip(x.shape, amounts)]
    if math.prod(shape_) > np.iinfo(np.int64).max:
        raise errors.internal(
            f"Encountered overflow when multiplying the sizes of {shape_text(shape_)}"
        )
    out = np.full(shape_, fill, dtype=x.dtype)
    place: list[Any] = [slice(before, before + n) for n, (before, _) in zip(x.shape, amounts)]
    # (The ellipsis: without dimensions, the object in `x` is put there, and not `x` itself.)
    out[(*place, ...)] = x
    return out


def _lower_pad(
    b: Builder, op: OpView, x: Value, paddings: Value, fill: Value | None = None
) -> Value:
    known = b.known(paddings)
    if known is None:
        b.require_shape(paddings, (x.ndim, 2))
        scalar_fill = b.constant(0, x.dtype) if fill is None else fill
        return moving_slices.padded(b, x, paddings, scalar_fill, _amounts)
    if fill is None:
        return b.pad(x, _amounts(x.ndim, known))
    b.require(fill.ndim == 0)
    value, amounts = b.known(fill), _amounts(x.ndim, known)
    if value is not None and value.dtype != object:
        return b.pad(x, amounts, value.item())
    padded = b.pad(x, amounts)
    for axis, (before, _) in enumerate(amounts):
        ends = (b.constant(size, "int64") for size in (before, before + x.shape[axis]))
        padded = b.map(_inside_or, padded, fill, b.iota(padded.shape, axis, "int64"), *ends)
    return padded


def _inside_or(x: Any, fill: Any, place: Any, begin: Any, end: Any) -> Any:
    return k.select(k.logical_and(k.ge(place, begin), k.lt(place, end)), x, fill)


def _pad_gradient(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    x, paddings = op.inputs[0], op.inputs[1]
    before = tf.slice(paddings, [0, 0], stack([rank(x), 1]))
    begin = reshape(before, [-1])
    return (tf.slice(grad, begin, shape(x)), *([None] * (len(op.inputs) - 1)))


def _pads() -> list[Any]:
    return [np.array([[1, 2, 3]], np.float32), np.array([[1, 0], [0, 2]], np.int32)]


_pad = define(
    "Pad",
    "input: T, paddings: Tpaddings -> output: T",
    "T: type; Tpaddings: index = int32",
    shape=_pad_shape,
    kernel=_pad_kernel,
    lower=_lower_pad,
    gradient=_pad_gradient,
    sizes=True,
    doc="A tensor with zeros around it.",
    test=lambda: {"values": [_pads()], "gradient": True},
)
_pad_v2 = define(
    "PadV2",
    "input: T, paddings: Tpaddings, constant_values: T -> output: T",
    "T: type; Tpaddings: index = int32",
    shape=_pad_shape,
    kernel=ranked(_pad_kernel, scalar(2, "constant_values must be a scalar. Found: {shape}")),
    lower=_lower_pad,
    gradient=_pad_gradient,
    sizes=True,
    doc="A tensor with a constant around it.",
    # As in TensorFlow, no gradient reaches the constant.
    test=lambda: {"values": [[*_pads(), np.float32(7)]], "gradient": False},
)


def _mirror_offset(mode: str) -> int:
    return 1 if mode in ("REFLECT", b"REFLECT") else 0


def _mirrored(n: int, before: int, after: int, offset: int) -> np.ndarray:
    """For every position of a padded dimension, the position it mirrors."""
    if before > n - offset or after > n - offset:
        bound = "less than the dimension size" if offset else "no greater than the dimension size"
        raise errors.invalid(f"paddings must be {bound}: {before}, {after} {bound.split()[0]} {n}")
    at = np.arange(-before, n + after)
    # SYMMETRIC repeats the element at the border: -1 mirrors 0.  REFLECT does not: -1 mirrors 1.
    at = np.where(at < 0, -at - 1 + offset, at)
    return np.where(at >= n, 2 * n - 1 - at - offset, at)


def _mirror_pad_kernel(c: KernelContext, x: np.ndarray, paddings: np.ndarray) -> np.ndarray:
    offset = _mirror_offset(c.attr("mode"))
    for axis, (before, after) in enumerate(_amounts(x.ndim, paddings)):
        x = np.take(x, _mirrored(x.shape[axis], before, after, offset), axis=axis)
    return x


def _lower_mirror_pad(b: Builder, op: OpView, x: Any, paddings: Value) -> Any:
    known, offset = b.known(paddings), _mirror_offset(op.attr("mode"))
    if known is None or known.dtype == object:
        return NotImplemented
    return lowered.mirrored(b, x, _amounts(x.ndim, known), offset)


def _lower_mirror_pad_grad(b: Builder, op: OpView, dy: Any, paddings: Value) -> Any:
    known, offset = b.known(paddings), _mirror_offset(op.attr("mode"))
    if known is None or known.dtype == object or not is_lowerable(dy.dtype):
        return NotImplemented
    return lowered.mirrored_gradient(b, dy, _amounts(dy.ndim, known), offset)


def _mirror_pad_grad_kernel(c: KernelContext, dy: np.ndarray, paddings: np.ndarray) -> np.ndarray:
    offset = _mirror_offset(c.attr("mode"))
    for axis, (before, after) in enumerate(_amounts(dy.ndim, paddings)):
        n = dy.shape[axis] - before - after
        moved = np.moveaxis(dy, axis, 0)
        out = np.zeros((n, *moved.shape[1:]), dtype=dy.dtype)
        # The transpose of a gather is a scatter that adds.
        np.add.at(out, _mirrored(n, before, after, offset), moved)
        dy = np.moveaxis(out, 0, axis)
    return dy


def _mirror_pad_grad_shape(c: ShapeContext) -> TensorShape:
    given, paddings = shape_inference.dims(c.inputs[0]), c.value(1)
    if given is None or paddings is None:
        count = shape_inference.ranked(c.inputs[1], 2)[0]
        return shape_inference.of_rank(count if given is None else len(given))
    return TensorShape(
        [None if d is None else d - int(p[0]) - int(p[1]) for d, p in zip(given, paddings)]
    )


_MODES = [{"mode": b"REFLECT"}, {"mode": b"SYMMETRIC"}]
_mirror_pad = define(
    "MirrorPad",
    "input: T, paddings: Tpaddings -> output: T",
    "T: type; Tpaddings: index = int32; mode: {'REFLECT', 'SYMMETRIC'}",
    shape=_pad_shape,
    kernel=_mirror_pad_kernel,
    lower=_lower_mirror_pad,
    gradient=lambda op, grad: (
        _mirror_pad_grad(grad, op.inputs[1], mode=op.get_attr("mode")),
        None,
    ),
    doc="A tensor with its own reflection around it.",
    test=lambda: {
        "values": [[np.array([[1, 2, 3], [4, 5, 6]], np.float32), _pads()[1]]],
        "attrs": _MODES,
        "gradient": True,
    },
)
_mirror_pad_grad: OpFunction = define(
    "MirrorPadGrad",
    "input: T, paddings: Tpaddings -> output: T",
    "T: type; Tpaddings: index = int32; mode: {'REFLECT', 'SYMMETRIC'}",
    shape=_mirror_pad_grad_shape,
    kernel=_mirror_pad_grad_kernel,
    lower=_lower_mirror_pad_grad,
    gradient=lambda op, grad: (_mirror_pad(grad, op.inputs[1], mode=op.get_attr("mode")), None),
    doc="The gradient of MirrorPad: reflections are added where they come from.",
    test=lambda: {
        "values": [[np.ones([3, 5], np.float32), _pads()[1]]],
        "attrs": _MODES,
        "gradient": True,
    },
)


@export("pad")
def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: float = 0,
) -> Tensor:
    """A tensor with more elements around it.

    Args:
        tensor: a tensor of any dtype.
        paddings: int32 or int64 [rank, 2]: how many are put before and after, per dimension.
        mode: "CONSTANT" puts one value there, "REFLECT" what lies behind the edge, mirrored, and
            "SYMMETRIC" that with the edge itself.
        name: of the operation.
        constant_values: the scalar that is put there.

    Returns:
        A Tensor of the dtype of `tensor`; each size has grown by its two paddings.

    Raises:
        ValueError: there is no such mode, or `paddings` are negative or do not fit the rank.
        InvalidArgumentError: it is so in a run, or a mirrored padding is too large.

    Example:
        >>> tf.Session().run(tf.pad([[1, 2], [3, 4]], [[0, 1], [1, 0]]))
        array([[0, 1, 2],
               [0, 3, 4],
               [0, 0, 0]], dtype=int32)
        >>> tf.Session().run(tf.pad([1, 2, 3], [[2, 0]], "REFLECT"))
        array([3, 2, 1, 2, 3], dtype=int32)
    """
    mode = mode.upper()
    if mode == "CONSTANT":
        if not isinstance(constant_values, Tensor) and constant_values == 0:
            result = _pad(tensor, paddings, name=name)
        else:
            result = _pad_v2(tensor, paddings, constant_values, name=name)
    elif mode in ("REFLECT", "SYMMETRIC"):
        result = _mirror_pad(tensor, paddings, mode=mode, name=name)
    else:
        raise ValueError(f"Unknown padding mode: {mode}")
    _refine_padded(result)
    return result


def _refine_padded(result: Tensor) -> None:
    """What paddings that are only partly constant still tell about the shape."""
    paddings = constant_value(result.op.inputs[1], partial=True)
    given = shape_inference.dims(result.op.inputs[0].get_shape())
    if given is None or paddings is None or result.get_shape().is_fully_defined():
        return
    out: list[int | None] = []
    for padding, dim in zip(paddings, given):
        known = padding is not None and all(x is not None for x in padding)
        out.append(int(sum(padding)) + dim if known and dim is not None else None)
    result.set_shape(out)


# Tile


def _tile_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.dims(c.inputs[0])
    count = shape_inference.ranked(c.inputs[1], 1)[0]
    if given is not None and count is not None and len(given) != count:
        raise ValueError(f"Shape must be rank {len(given)} but is rank {count}")
    multiples = shape_inference.dims(c.value_as_shape(1))
    if multiples is None or given is None:
        return shape_inference.of_rank(count if given is None else len(given))
    return TensorShape(
        [
            0 if 0 in (d, m) else None if d is None or m is None else d * m
            for d, m in zip(given, multiples)
        ]
    )


def _multiples(ndim: int, multiples: np.ndarray) -> list[Any]:
    if multiples.ndim != 1:
        raise errors.invalid(
            f"Expected multiples to be 1-D, but got shape {shape_text(multiples.shape)}"
        )
    if len(multiples) != ndim:
        raise errors.invalid(
            f"Expected multiples argument to be a vector of length {ndim} but got length "
            f"{len(multiples)}"
        )
    for i, times in enumerate(multiples.tolist()):
        if times < 0:
            raise errors.invalid(f"Expected multiples[{i}] >= 0, but got {times}")
    return multiples.tolist()


def _tile_kernel(c: KernelContext, x: np.ndarray, multiples: np.ndarray) -> np.ndarray:
    times = _multiples(x.ndim, multiples)
    if math.prod(n * m for n, m in zip(x.shape, times)) > np.iinfo(np.int64).max:
        raise errors.invalid(f"The result of tiling {shape_text(x.shape)} by {times} is too large")
    return np.tile(x, times)


def _lower_tile(b: Builder, op: OpView, x: Value, multiples: Value) -> Any:
    known = b.known(multiples)
    if known is None:
        return NotImplemented
    times = _multiples(x.ndim, known)
    # [n] is read as [1, n], broadcast to [m, n] and read as [m * n]: no element moves before it is
    # used.
    inner = [size for n in x.shape for size in (1, n)]
    outer = [size for n, m in zip(x.shape, times) for size in (m, n)]
    repeated = b.broadcast(b.reshape(x, tuple(inner)), tuple(outer))
    return b.reshape(repeated, tuple(n * m for n, m in zip(x.shape, times)))


def _tile_gradient(op: Operation, grad: Gradient) -> tuple[Any, ...]:
    """Multiples and sizes interleaved: [2, 20, 3, 30], of which the even ones are summed."""
    input_shape = shape(op.inputs[0], out_type=op.inputs[1].dtype)
    split_shape = reshape(transpose(stack([op.inputs[1], input_shape])), [-1])
    axes = tf.range(0, size(split_shape), 2)
    if isinstance(grad, IndexedSlices):
        # Row i of the result is row i mod n of the input: the sparse rows are summed to one
        # repetition.
        first = tf.cast(input_shape[0], grad.indices.dtype)
        grad = tf.unsorted_segment_sum(grad.values, tf.mod(grad.indices, first), first)
        split_shape = concat([[1], split_shape[1:]], axis=0)
    result = tf.reduce_sum(reshape(grad, split_shape), axes)
    result.set_shape(op.inputs[0].get_shape())
    return result, None


_tile = define(
    "Tile",
    "input: T, multiples: Tmultiples -> output: T",
    "T: type; Tmultiples: index = int32",
    shape=_tile_shape,
    kernel=_tile_kernel,
    lower=_lower_tile,
    gradient=_tile_gradient,
    sizes=True,
    doc="A tensor repeated along its dimensions.",
    test=lambda: {
        "values": [
            [np.array([[1, 2]], np.float32), np.array([2, 3], np.int32)],
            [np.float32(3), np.array([], np.int32)],
            [np.array([1, 2], np.float32), np.array([0], np.int32)],
        ],
        "gradient": True,
    },
)


@export("tile", "manip.tile")
@dispatched
def tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """A tensor repeated along its dimensions.

    Args:
        input: a tensor of any dtype.
        multiples: how often, per dimension: a vector of int32 or int64.
        name: of the operation.

    Returns:
        A Tensor of the dtype of `input`; each size is multiplied.

    Raises:
        ValueError: there is not one multiple per dimension.
        InvalidArgumentError: it is so in a run, or a multiple is negative.

    Example:
        >>> tf.Session().run(tf.tile([[1, 2]], [2, 3]))
        array([[1, 2, 1, 2, 1, 2],
               [1, 2, 1, 2, 1, 2]], dtype=int32)
    """
    return _tile(input, multiples, name=name)


@export("meshgrid")
def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinate tensors of a grid, from one vector per dimension."""
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        count = len(args)
        flat = (1,) * count
        output = [reshape(stack(x), flat[:i] + (-1,) + flat[i + 1 :]) for i, x in enumerate(args)]
        shapes = [size(x) for x in args]
        dtype = convert_to_tensor(args[0]).dtype.base_dtype
        # As NumPy's and MATLAB's: x, the first argument, runs along the columns.
        if indexing == "xy" and count > 1:
            output[0] = reshape(output[0], (1, -1) + (1,) * (count - 2))
            output[1] = reshape(output[1], (-1, 1) + (1,) * (count - 2))
            shapes[0], shapes[1] = shapes[1], shapes[0]
        factor = ones(shapes, dtype)
        return [x * factor for x in output]
