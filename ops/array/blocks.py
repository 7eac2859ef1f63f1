# SPDX-License-Identifier: Apache-2.0
"""Moving blocks of images between space, depth and batch; patches of images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from .. import shape_inference
from .constant import zeros
from .shape import renamed
from .stack import stack

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# Space and depth


def _is_channels_first(attr: Callable[..., Any]) -> bool:
    layout = attr("data_format")
    if layout == "NCHW_VECT_C":
        raise errors.invalid("NCHW_VECT_C is for quantized types on GPUs and not supported")
    return layout == "NCHW"


def _last(shape_: Any, first: bool) -> list[Any]:
    return [shape_[0], shape_[2], shape_[3], shape_[1]] if first else list(shape_)


def _first(shape_: Any, first: bool) -> list[Any]:
    return [shape_[0], shape_[3], shape_[1], shape_[2]] if first else list(shape_)


def _divided(size: int | None, by: int) -> int | None:
    if size is not None and size % by:
        raise ValueError(f"Dimension size must be evenly divisible by {by} but is {size}")
    return None if size is None else size // by


def _times(size: int | None, by: int) -> int | None:
    return None if size is None else size * by


def _space_depth_shape(c: ShapeContext, to_depth: bool) -> TensorShape:
    first, block = _is_channels_first(c.attr), c.attr("block_size")
    n, h, w, d = _last(shape_inference.ranked(c.inputs[0], 4), first)
    if to_depth:
        out = [n, _divided(h, block), _divided(w, block), _times(d, block * block)]
    else:
        out = [n, _times(h, block), _times(w, block), _divided(d, block * block)]
    return TensorShape(_first(out, first))


def _blocks(shape_: Sequence[AnySize], block: int, first: bool, to_depth: bool) -> tuple[Any, ...]:
    """How to split, permute and join the dimensions: blocks become channels or the reverse."""
    n, h, w, d = _last(shape_, first)
    for size, by in ((h, block), (w, block)) if to_depth else ((d, block * block),):
        if isinstance(size, int) and size % by:
            what = "Image width and height" if to_depth else "Input depth dimension"
            raise errors.invalid(f"{what} should be divisible by block_size: {size} and {by}")
    if to_depth and first:
        split, perm = (n, d, h // block, block, w // block, block), (0, 3, 5, 1, 2, 4)
    elif to_depth:
        split, perm = (n, h // block, block, w // block, block, d), (0, 1, 3, 2, 4, 5)
    elif first:
        split, perm = (n, block, block, d // block**2, h, w), (0, 3, 4, 1, 5, 2)
    else:
        split, perm = (n, h, w, block, block, d // block**2), (0, 1, 3, 2, 4, 5)
    if to_depth:
        out = [n, h // block, w // block, d * block**2]
    else:
        out = [n, h * block, w * block, d // block**2]
    return split, perm, tuple(_first(out, first))


def _space_depth_kernel(to_depth: bool) -> Any:
    def kernel(c: KernelContext, x: np.ndarray) -> np.ndarray:
        if x.ndim != 4:
            raise errors.invalid(f"Input rank should be: 4 instead of: {x.ndim}")
        first, block = _is_channels_first(c.attr), c.attr("block_size")
        split, perm, out = _blocks(x.shape, block, first, to_depth)
        return x.reshape(split).transpose(perm).reshape(out)

    return kernel


def _lower_space_depth(to_depth: bool) -> Any:
    def lower(b: Builder, op: OpView, x: Value) -> Value:
        first, block = _is_channels_first(op.attr), op.attr("block_size")
        split, perm, out = _blocks(x.shape, block, first, to_depth)
        return b.reshape(b.transpose(b.reshape(x, split), perm), out)

    return lower


def _space_depth_gradient(op: Operation, grad: Tensor) -> Tensor:
    layout = op.attr("data_format")
    if layout == "NCHW_VECT_C":
        raise ValueError(
            f"Cannot compute {op.type} gradient with NCHW_VECT_C. NCHW_VECT_C requires qint8 "
            "data type."
        )
    inverse = depth_to_space if op.type == "SpaceToDepth" else space_to_depth
    return inverse(grad, op.get_attr("block_size"), data_format=layout)


_LAYOUT = "T: type; block_size: int >= 2; data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"
_space_to_depth = define(
    "SpaceToDepth",
    "input: T -> output: T",
    _LAYOUT,
    shape=lambda c: _space_depth_shape(c, True),
    kernel=_space_depth_kernel(True),
    lower=_lower_space_depth(True),
    gradient=_space_depth_gradient,
    doc="Blocks of pixels as channels.",
    test={
        "shapes": [[[2, 4, 2, 4]]],
        "attrs": [{"block_size": 2}, {"block_size": 2, "data_format": b"NCHW"}],
        "gradient": True,
    },
)
_depth_to_space = define(
    "DepthToSpace",
    "input: T -> output: T",
    _LAYOUT,
    shape=lambda c: _space_depth_shape(c, False),
    kernel=_space_depth_kernel(False),
    lower=_lower_space_depth(False),
    gradient=_space_depth_gradient,
    doc="Channels as blocks of pixels.",
    test={
        "shapes": [[[2, 4, 3, 4]]],
        "attrs": [{"block_size": 2}, {"block_size": 2, "data_format": b"NCHW"}],
        "gradient": True,
    },
)


@export("nn.space_to_depth", "space_to_depth")
def space_to_depth(
    input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """`input` with blocks of pixels moved into the channels."""
    return _space_to_depth(input, block_size=block_size, data_format=data_format, name=name)


@export("nn.depth_to_space", "depth_to_space")
def depth_to_space(
    input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC"
) -> Tensor:
    """`input` with channels moved into blocks of pixels."""
    return _depth_to_space(input, block_size=block_size, data_format=data_format, name=name)


# Space and batch


def _block_shape(c: ShapeContext, to_batch: bool) -> TensorShape:
    count = shape_inference.ranked(c.inputs[1], 1)[0]
    given, block, edges = shape_inference.dims(c.inputs[0]), c.value(1), c.value(2)
    columns = shape_inference.ranked(c.inputs[2], 2)
    shape_inference.merge_dim(columns[1], 2)
    if count is not None and columns[0] is not None and columns[0] != count:
        raise ValueError(f"Dimension must be {count} but is {columns[0]}")
    if given is None or count is None:
        return shape_inference.of_rank(None if given is None else len(given))
    shape_inference.ranked_at_least(c.inputs[0], count + 1)
    tail = given[count + 1 :]
    if block is None:
        return TensorShape([None] * (count + 1) + tail)
    return _moved(given, [int(n) for n in block], edges, to_batch)


def _moved(given: Any, block: list[int], edges: np.ndarray | None, to_batch: bool) -> TensorShape:
    if any(n < 1 for n in block):
        raise ValueError(f"block_shape must be positive, got {block}")
    if edges is not None and (np.asarray(edges) < 0).any():
        raise ValueError(f"{'paddings' if to_batch else 'crops'} cannot be negative")
    volume = int(np.prod(block, dtype=np.int64))
    batch = _times(given[0], volume) if to_batch else _divided(given[0], volume)
    sizes: list[Any] = []
    for i, n in enumerate(block):
        size = given[i + 1]
        edge = None if edges is None else int(edges[i][0]) + int(edges[i][1])
        if size is None or edge is None:
            sizes.append(None)
        elif to_batch:
            sizes.append(_divided(size + edge, n))
        else:
            sizes.append(size * n - edge)
            if sizes[-1] < 0:
                raise ValueError(
                    f"Negative dimension size caused by subtracting {edge} from {size * n}"
                )
    return TensorShape([batch, *sizes, *given[len(block) + 1 :]])


def _check_blocks(shape_: Sequence[AnySize], block: np.ndarray, edges: np.ndarray) -> None:
    if block.ndim != 1:
        raise errors.invalid(f"block_shape rank should be 1 instead of {block.ndim}")
    if len(shape_) < 1 + len(block):
        raise errors.invalid(f"input rank should be >= {1 + len(block)} instead of {len(shape_)}")
    if edges.shape != (len(block), 2):
        raise errors.invalid(f"paddings or crops should have shape [{len(block)}, 2]")
    if (block < 1).any():
        volume = int(np.prod(block, dtype=np.int64))
        raise errors.invalid(
            f"Product of block sizes must be positive, got {volume}"
            if volume < 1
            else f"block_shape must be positive, got {block.tolist()}"
        )


def _space_to_batch(
    c: KernelContext, x: np.ndarray, block: np.ndarray, paddings: np.ndarray
) -> np.ndarray:
    _check_blocks(x.shape, block, paddings)
    count = len(block)
    edges = [(0, 0), *[tuple(p) for p in paddings.tolist()], *[(0, 0)] * (x.ndim - count - 1)]
    x = np.pad(x, edges)
    split, tail = [x.shape[0]], list(x.shape[count + 1 :])
    for i, n in enumerate(block.tolist()):
        size = x.shape[i + 1]
        if size % n:
            raise errors.invalid(
                f"padded_shape[{i}]={size} is not divisible by block_shape[{i}]={n}"
            )
        split += [size // n, n]
    # The axes are now batch, then (outer, block) for each spatial axis, then the rest; the offsets
    # within the blocks go before the batch.
    perm = [2 * i + 2 for i in range(count)] + [0] + [2 * i + 1 for i in range(count)]
    perm += range(2 * count + 1, 2 * count + 1 + len(tail))
    moved = x.reshape(split + tail).transpose(perm)
    sizes = split[1::2]
    return moved.reshape([split[0] * int(np.prod(block, dtype=np.int64)), *sizes, *tail])


def _batch_to_space(
    c: KernelContext, x: np.ndarray, block: np.ndarray, crops: np.ndarray
) -> np.ndarray:
    _check_blocks(x.shape, block, crops)
    count, volume = len(block), int(np.prod(block, dtype=np.int64))
    if x.shape[0] % volume:
        raise errors.invalid(
            f"Input batch dimension ({x.shape[0]}) is not divisible by product of block sizes "
            f"({volume})"
        )
    batch, tail = x.shape[0] // volume, list(x.shape[count + 1 :])
    sizes = list(x.shape[1 : count + 1])
    # The axes are now one offset for each spatial axis, batch, positions, then the rest; each
    # offset goes behind the position that it refines.
    perm = [count]
    for i in range(count):
        perm += [count + 1 + i, i]
    perm += range(2 * count + 1, 2 * count + 1 + len(tail))
    moved = x.reshape([*block.tolist(), batch, *sizes, *tail]).transpose(perm)
    full = [size * n for size, n in zip(sizes, block.tolist())]
    moved = moved.reshape([batch, *full, *tail])
    cut = [slice(None)]
    for (before, after), size in zip(crops.tolist(), full):
        if before < 0 or after < 0 or before + after > size:
            raise errors.invalid(
                f"crops must be non-negative and within the size, got {before}, {after}"
            )
        cut.append(slice(before, size - after))
    return moved[tuple(cut)]


def _lower_space_to_batch(b: Builder, op: OpView, x: Value, block: Value, paddings: Value) -> Any:
    sizes, edges = b.known(block), b.known(paddings)
    if sizes is None or edges is None or edges.dtype == object or sizes.dtype == object:
        return NotImplemented
    _check_blocks(x.shape, sizes, edges)
    count, ints = len(sizes), sizes.tolist()
    rest = x.ndim - count - 1
    padded = b.pad(x, [(0, 0), *[tuple(p) for p in edges.tolist()], *[(0, 0)] * rest])
    batch, tail = padded.shape[0], padded.shape[count + 1 :]
    split, inner, volume = [batch], [], 1
    for size, n in zip(padded.shape[1:], ints):
        # The reference kernel says what is wrong.
        if isinstance(size, int) and size % n:
            return NotImplemented
        split += [size // n, n]
        inner.append(size // n)
        volume *= n
    perm = [2 * i + 2 for i in range(count)] + [0] + [2 * i + 1 for i in range(count)]
    perm += range(2 * count + 1, 2 * count + 1 + rest)
    moved = b.transpose(b.reshape(padded, (*split, *tail)), tuple(perm))
    return b.reshape(moved, (batch * volume, *inner, *tail))


def _lower_batch_to_space(b: Builder, op: OpView, x: Value, block: Value, crops: Value) -> Any:
    sizes, edges = b.known(block), b.known(crops)
    if sizes is None or edges is None or edges.dtype == object or sizes.dtype == object:
        return NotImplemented
    _check_blocks(x.shape, sizes, edges)
    count, ints, volume = len(sizes), sizes.tolist(), int(np.prod(sizes, dtype=np.int64))
    batch, inner, tail = x.shape[0] // volume, x.shape[1 : count + 1], x.shape[count + 1 :]
    perm = [count]
    for i in range(count):
        perm += [count + 1 + i, i]
    perm += range(2 * count + 1, 2 * count + 1 + len(tail))
    moved = b.transpose(b.reshape(x, (*ints, batch, *inner, *tail)), tuple(perm))
    full = [size * n for size, n in zip(inner, ints)]
    moved = b.reshape(moved, (batch, *full, *tail))
    begin = [0, *[before for before, _ in edges.tolist()], *[0] * len(tail)]
    kept = [size - before - after for size, (before, after) in zip(full, edges.tolist())]
    return b.slice(moved, tuple(begin), (batch, *kept, *tail))


def _image() -> np.ndarray:
    return np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)


# The ops undo each other: what one pads the other crops, so each is the other's gradient.
def _space_to_batch_nd_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None, None]:
    return (batch_to_space_nd(grad, op.inputs[1], op.inputs[2]), None, None)


_space_to_batch_nd = define(
    "SpaceToBatchND",
    "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T",
    "T: type; Tblock_shape: index = int32; Tpaddings: index = int32",
    shape=lambda c: _block_shape(c, True),
    kernel=_space_to_batch,
    lower=_lower_space_to_batch,
    gradient=_space_to_batch_nd_gradient,
    doc="Blocks of positions as entries of the batch.",
    test=lambda: {
        "values": [[_image(), np.array([2, 2], np.int32), np.array([[1, 1], [0, 2]], np.int32)]],
        "gradient": True,
    },
)


def _batch_to_space_nd_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None, None]:
    return (space_to_batch_nd(grad, op.inputs[1], op.inputs[2]), None, None)


_batch_to_space_nd = define(
    "BatchToSpaceND",
    "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T",
    "T: type; Tblock_shape: index = int32; Tcrops: index = int32",
    shape=lambda c: _block_shape(c, False),
    kernel=_batch_to_space,
    lower=_lower_batch_to_space,
    gradient=_batch_to_space_nd_gradient,
    doc="Entries of the batch as blocks of positions.",
    test=lambda: {
        "values": [
            [
                _image().reshape(4, 2, 2, 1),
                np.array([2, 2], np.int32),
                np.array([[1, 1], [0, 2]], np.int32),
            ]
        ],
        "gradient": True,
    },
)


def _old_shape(c: ShapeContext, to_batch: bool) -> TensorShape:
    given = shape_inference.ranked(c.inputs[0], 4)
    for size in shape_inference.ranked(c.inputs[1], 2):
        shape_inference.merge_dim(size, 2)
    return _moved(given, [c.attr("block_size")] * 2, c.value(1), to_batch)


def _old_block(c: KernelContext) -> np.ndarray:
    return np.array([c.attr("block_size")] * 2)


def _space_to_batch_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    return (
        batch_to_space(grad, op.inputs[1], block_size=op.get_attr("block_size")),
        None,
    )


def _lower_old(lower: Callable[..., Any]) -> Callable[..., Any]:
    def of_squares(b: Builder, op: OpView, x: Value, edges: Value) -> Any:
        return lower(b, op, x, b.constant([op.attr("block_size")] * 2, "int64"), edges)

    return of_squares


_old_space_to_batch = define(
    "SpaceToBatch",
    "input: T, paddings: Tpaddings -> output: T",
    "T: type; Tpaddings: index = int32; block_size: int >= 2",
    shape=lambda c: _old_shape(c, True),
    kernel=lambda c, x, paddings: _space_to_batch(c, x, _old_block(c), paddings),
    lower=_lower_old(_lower_space_to_batch),
    gradient=_space_to_batch_gradient,
    doc="Square blocks of pixels as entries of the batch.",
    test=lambda: {
        "values": [[_image(), np.array([[0, 0], [2, 0]], np.int32)]],
        "attrs": [{"block_size": 2}],
        "gradient": True,
    },
)


def _batch_to_space_gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
    return (
        space_to_batch(grad, op.inputs[1], block_size=op.get_attr("block_size")),
        None,
    )


_old_batch_to_space = define(
    "BatchToSpace",
    "input: T, crops: Tidx -> output: T",
    "T: type; block_size: int >= 2; Tidx: index = int32",
    shape=lambda c: _old_shape(c, False),
    kernel=lambda c, x, crops: _batch_to_space(c, x, _old_block(c), crops),
    lower=_lower_old(_lower_batch_to_space),
    gradient=_batch_to_space_gradient,
    doc="Entries of the batch as square blocks of pixels.",
    test=lambda: {
        "values": [[_image().reshape(4, 2, 2, 1), np.array([[0, 0], [1, 0]], np.int32)]],
        "attrs": [{"block_size": 2}],
        "gradient": True,
    },
)


@export("space_to_batch_nd", "manip.space_to_batch_nd")
def space_to_batch_nd(
    input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: str | None = None
) -> Tensor:
    """`input` with blocks of positions moved into the batch."""
    return _space_to_batch_nd(input, block_shape, paddings, name=name)


@export("batch_to_space_nd", "manip.batch_to_space_nd")
def batch_to_space_nd(
    input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: str | None = None
) -> Tensor:
    """`input` with entries of the batch moved into blocks of positions."""
    return _batch_to_space_nd(input, block_shape, crops, name=name)


def _square(block_size: Any, block_shape: Any) -> np.ndarray:
    size = renamed("block_shape", block_shape, "block_size", block_size)
    return np.array([size, size], dtype=np.int64)


@export("nn.space_to_batch", "space_to_batch")
def space_to_batch(
    input: TensorLike,
    paddings: TensorLike,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: Any = None,
) -> Tensor:
    """`input` with square blocks of pixels moved into the batch."""
    block = _square(block_size, block_shape)
    result = space_to_batch_nd(input, paddings=paddings, block_shape=block, name=name)
    result.set_shape(result.get_shape().with_rank(4))
    return result


@export("batch_to_space")
def batch_to_space(
    input: TensorLike,
    crops: TensorLike,
    block_size: int | None,
    name: str | None = None,
    block_shape: Any = None,
) -> Tensor:
    """`input` with entries of the batch moved into square blocks of pixels."""
    block = _square(block_size, block_shape)
    result = batch_to_space_nd(input, crops=crops, block_shape=block, name=name)
    result.set_shape(result.get_shape().with_rank(4))
    return result


@export("required_space_to_batch_paddings")
def required_space_to_batch_paddings(
    input_shape: TensorLike,
    block_shape: TensorLike,
    base_paddings: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The paddings that make sizes divisible by the blocks, and the crops that undo them."""
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        sizes = convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
        block = convert_to_tensor(block_shape, dtype=dtypes.int32, name="block_shape")
        block.get_shape().assert_is_fully_defined()
        block.get_shape().assert_has_rank(1)
        (count,) = shape_inference.known_sizes(block.get_shape())
        if count == 0:
            return zeros([0, 2], dtypes.int32), zeros([0, 2], dtypes.int32)
        sizes.get_shape().assert_is_compatible_with([count])
        if base_paddings is None:
            base = zeros([count, 2], dtypes.int32)
        else:
            base = convert_to_tensor(base_paddings, dtype=dtypes.int32, name="base_paddings")
            base.get_shape().assert_is_compatible_with([count, 2])
        known = [constant_value(t) for t in (block, sizes, base)]
        if all(value is not None for value in known):
            block, sizes, base = known
        start, end = base[:, 0], base[:, 1]
        full = sizes + start + end
        extra = (block - full % block) % block
        end = end + extra
        paddings = stack([[start[i], end[i]] for i in range(count)], name="paddings")
        return paddings, stack([[0, extra[i]] for i in range(count)], name="crops")
