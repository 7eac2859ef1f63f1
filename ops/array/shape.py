# SPDX-License-Identifier: Apache-2.0
"""Shape, size and rank of tensors, and the ops that change a shape but move no data.

What is known when the graph is built becomes a constant, as in TensorFlow 1.15.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import SparseTensor, SparseTensorValue, Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from .. import shape_inference
from ..public import raw
from ..ranks import ranked, vector
from .constant import constant, set_static_shape
from .row_shapes import expand_dims_rows, reshape_rows, shape_rows, size_rows

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, Gradient, SparseLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.kernel.sizes import AnySize
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_OF_SHAPE = NoGradient("a shape does not depend on the values", silent=True)
_SPARSE = (SparseTensor, SparseTensorValue)


def _sizes(values: Sequence[AnySize]) -> np.ndarray:
    sizes = np.empty(len(values), dtype=object)
    sizes[:] = list(values)
    return sizes


def _vector_of_rank(shape: TensorShape) -> TensorShape:
    return shape_inference.vector(shape.ndims)


_shape = define(
    "Shape",
    "input: T -> output: out_type",
    "T: type; out_type: index = int32",
    shape=lambda c: _vector_of_rank(c.inputs[0]),
    kernel=lambda c, x: np.array(x.shape, dtype=c.out_dtype()),
    lower=lambda b, op, x: b.constant(_sizes(x.shape), op.dtype(0)),
    gradient=_OF_SHAPE,
    takes_packed=("input",),
    sizes=True,
    rows=shape_rows,
    doc="The shape of a tensor.",
    test={"shapes": [[[]], [[3]], [[2, 0, 4]]]},
)
_shape_n = define(
    "ShapeN",
    "input: N * T -> output: N * out_type",
    "N: int >= 1; T: type; out_type: index = int32",
    shape=lambda c: [_vector_of_rank(shape) for shape in c.inputs],
    kernel=lambda c, xs: tuple(np.array(x.shape, dtype=c.out_dtype()) for x in xs),
    lower=lambda b, op, xs: tuple(b.constant(_sizes(x.shape), op.dtype(0)) for x in xs),
    gradient=_OF_SHAPE,
    sizes=True,
    doc="The shapes of several tensors.",
    test={"shapes": [[[2], [3, 1]]]},
)
_size = define(
    "Size",
    "input: T -> output: out_type",
    "T: type; out_type: index = int32",
    shape=lambda c: TensorShape([]),
    kernel=lambda c, x: np.array(x.size, dtype=c.out_dtype()),
    lower=lambda b, op, x: b.constant(_sizes([math.prod(x.shape)]).reshape(()), op.dtype(0)),
    gradient=_OF_SHAPE,
    takes_packed=("input",),
    sizes=True,
    rows=size_rows,
    doc="The number of elements of a tensor.",
    test={"shapes": [[[]], [[3]], [[2, 0, 4]]]},
)
_rank = define(
    "Rank",
    "input: T -> output: int32",
    shape=lambda c: TensorShape([]),
    kernel=lambda c, x: np.array(x.ndim, dtype=np.int32),
    lower=lambda b, op, x: b.constant(np.array(x.ndim, dtype=np.int32), "int32"),
    gradient=_OF_SHAPE,
    takes_packed=("input",),
    sizes=True,
    doc="The number of dimensions of a tensor.",
    test={"shapes": [[[]], [[3]], [[2, 0, 4]]]},
)


@export("shape")
def shape(input: TensorLike, name: str | None = None, out_type: DTypeLike = dtypes.int32) -> Tensor:
    """The shape of a tensor, as a tensor: a constant where it is known, else what a run has.

    Args:
        input: a Tensor or SparseTensor, or what makes one.
        name: of the operation.
        out_type: tf.int32 or tf.int64.

    Returns:
        A vector of that dtype, with one size per dimension.

    Raises:
        TypeError: `out_type` is neither, and the shape not known.
        ValueError: `input` cannot be made a tensor.

    Example:
        >>> x = tf.placeholder(tf.float32, [None, 3])
        >>> tf.Session().run(tf.shape(x), {x: [[1, 2, 3], [4, 5, 6]]})
        array([2, 3], dtype=int32)
        >>> x.shape  # what is known without a run
        TensorShape([Dimension(None), Dimension(3)])
    """
    return shape_internal(input, name, optimize=True, out_type=out_type)


def shape_internal(
    input: TensorLike,
    name: str | None = None,
    optimize: bool = True,
    out_type: DTypeLike = dtypes.int32,
) -> Tensor:
    """As `shape`, but optionally always computed when the graph runs."""
    with name_scope(name, "Shape", [input]) as name:
        if isinstance(input, _SPARSE):
            return raw.Cast(input.dense_shape, DstT=out_type)
        static = convert_to_tensor(input).get_shape()
        if optimize and static.is_fully_defined():
            return constant(static.as_list(), out_type, name=name)
        return _shape(input, out_type=out_type, name=name)


@export("shape_n")
def shape_n(
    input: Sequence[Tensor], out_type: DTypeLike = dtypes.int32, name: str | None = None
) -> list[Tensor]:
    """The shapes of a list of tensors."""
    return _shape_n(input, out_type=out_type, name=name)


@export("size")
@dispatched
def size(input: TensorLike, name: str | None = None, out_type: DTypeLike = dtypes.int32) -> Tensor:
    """The number of elements of a tensor, a constant where it is known.

    Args:
        input: a Tensor or SparseTensor (which counts in its dense form), or what makes one.
        name: of the operation.
        out_type: tf.int32 or tf.int64.

    Returns:
        A scalar of that dtype.

    Raises:
        TypeError: `out_type` is neither, and the shape not known.
        ValueError: `input` cannot be made a tensor.

    Example:
        >>> tf.Session().run(tf.size([[1, 2, 3], [4, 5, 6]]))
        np.int32(6)
    """
    return size_internal(input, name, optimize=True, out_type=out_type)


def size_internal(
    input: TensorLike,
    name: str | None = None,
    optimize: bool = True,
    out_type: DTypeLike = dtypes.int32,
) -> Tensor:
    """As `size`, but optionally always computed when the graph runs."""
    with name_scope(name, "Size", [input]) as name:
        if isinstance(input, _SPARSE):
            return raw.Prod(raw.Cast(input.dense_shape, DstT=out_type), 0, name=name)
        static = convert_to_tensor(input).get_shape()
        if optimize and static.is_fully_defined():
            return constant(static.num_elements(), out_type, name=name)
        # One empty dimension is enough to know that there are no elements.
        if optimize and static.ndims and 0 in static.as_list():
            return constant(0, out_type, name=name)
        return _size(input, out_type=out_type, name=name)


@export("rank")
@dispatched
def rank(input: SparseLike | TensorLike, name: str | None = None) -> Tensor:
    """The number of dimensions of a tensor, a constant where it is known.

    Args:
        input: a Tensor or SparseTensor, or what makes one.
        name: of the operation.

    Returns:
        An int32 scalar.

    Raises:
        ValueError: `input` cannot be made a tensor.

    Example:
        >>> tf.Session().run(tf.rank([[1, 2, 3], [4, 5, 6]]))
        np.int32(2)
    """
    return rank_internal(input, name, optimize=True)


def rank_internal(
    input: SparseLike | TensorLike, name: str | None = None, optimize: bool = True
) -> Tensor:
    """As `rank`, but optionally always computed when the graph runs."""
    with name_scope(name, "Rank", [input]) as name:
        if isinstance(input, _SPARSE):
            return _size(input.dense_shape, name=name)
        static = convert_to_tensor(input).get_shape()
        if optimize and static.ndims is not None:
            return constant(static.ndims, dtypes.int32, name=name)
        return _rank(input, name=name)


# Reshape


def _reshape_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.dims(c.inputs[0])
    wanted = shape_inference.shape_value(c, 1)
    if wanted.ndims is None:
        return wanted
    out = wanted.as_list()
    total = None if given is None else shape_inference.product(given)
    known = shape_inference.product([d for d in out if d is not None])
    if given is None or None in given or total is None or known is None:
        return wanted
    if None not in out or known == 0:
        if known != total:
            raise ValueError(
                f"Cannot reshape a tensor with {total} elements to shape {shape_text(out)} "
                f"({known} elements)"
            )
        return wanted
    # With no elements any size would do.
    if out.count(None) > 1 or known == 0:
        return wanted
    if total % known:
        raise ValueError(f"Dimension size must be evenly divisible by {known} but is {total}")
    out[out.index(None)] = total // known
    return TensorShape(out)


def _reshape_target(shape: tuple[Any, ...], target: list[Any]) -> tuple[Any, ...]:
    """The target with its -1 replaced; sizes may be symbolic."""
    unknown = [i for i, size in enumerate(target) if isinstance(size, int) and size == -1]
    if len(unknown) > 1:
        raise errors.invalid(
            f"Only one input size may be -1, not both {unknown[0]} and {unknown[1]}"
        )
    for i, wanted in enumerate(target):
        if isinstance(wanted, int) and wanted < -1:
            raise errors.invalid(f"Size {i} must be non-negative, not {wanted}")
    if not unknown:
        return tuple(target)
    # Sizes of zero stand for one another: the others tell what is left.
    empty = any(_is_zero(size) for size in target)
    total = math.prod(size for size in shape if not (empty and _is_zero(size)))
    others = target[: unknown[0]] + target[unknown[0] + 1 :]
    rest = math.prod(size for size in others if not _is_zero(size))
    missing = total // rest
    if isinstance(missing, int) and isinstance(rest, int) and missing * rest != total:
        if not empty or total == math.prod(shape):
            what = f"Input to reshape is a tensor with {total} values, but the requested shape"
            raise errors.invalid(f"{what} requires a multiple of {rest}")
    return tuple(missing if i == unknown[0] else size for i, size in enumerate(target))


def _is_zero(size: Any) -> bool:
    return isinstance(size, int) and size == 0


def _reshape_kernel(c: KernelContext, x: np.ndarray, target: np.ndarray) -> np.ndarray:
    if target.ndim > 1:
        raise errors.invalid(f"sizes input must be 1-D, not {shape_text(target.shape)}")
    shape = _reshape_target(x.shape, target.reshape(-1).tolist())
    if math.prod(shape) != x.size:
        raise errors.invalid(
            f"Input to reshape is a tensor with {x.size} values, but the requested shape has "
            f"{math.prod(shape)}"
        )
    return x.reshape([int(size) for size in shape])


def _lower_reshape(b: Builder, op: OpView, x: Value, target: Value) -> Any:
    known = b.known(target)
    if known is None:
        return NotImplemented
    b.require(known.ndim == 1)
    return b.reshape(x, _reshape_target(x.shape, known.tolist()))


def reshape_to_input(op: Operation, grad: Gradient) -> Tensor:
    """The gradient of whatever only changes the shape."""
    return reshape(grad, shape(op.inputs[0]))


_reshape = define(
    "Reshape",
    "tensor: T, shape: Tshape -> output: T",
    "T: type; Tshape: index = int32",
    shape=_reshape_shape,
    kernel=ranked(_reshape_kernel, vector(1, "sizes input must be 1-D, not {shape}")),
    rows=reshape_rows,
    lower=_lower_reshape,
    gradient=lambda op, grad: (reshape_to_input(op, grad), None),
    sizes=True,
    doc="The same elements in another shape; one size may be -1.",
    test=lambda: {
        "values": [
            [np.arange(6, dtype=np.float32), np.array([2, -1], np.int32)],
            [np.array([[1.0]], np.float32), np.array([], np.int32)],
            [np.zeros([0, 3], np.float32), np.array([3, 0], np.int32)],
        ],
        "gradient": True,
    },
)


@export("reshape", "manip.reshape")
def reshape(tensor: object, shape: TensorLike, name: str | None = None) -> Tensor:
    """The elements of a tensor, in their order, in another shape.

    Args:
        tensor: a tensor of any dtype and shape.
        shape: the sizes: int32 or int64; one of them may be -1, for what is left.
        name: of the operation.

    Returns:
        A Tensor of the dtype of `tensor`.

    Raises:
        ValueError: sizes known in the graph do not fit.
        InvalidArgumentError: those of a run do not.

    Example:
        >>> tf.Session().run(tf.reshape([[1, 2, 3], [4, 5, 6]], [-1, 2]))
        array([[1, 2],
               [3, 4],
               [5, 6]], dtype=int32)
    """
    result = _reshape(tensor, shape, name=name)
    set_static_shape(result, shape)
    return result


# ExpandDims and Squeeze


def _expand_dims_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked_at_most(c.inputs[1], 1)
    if c.inputs[1].ndims is not None and c.inputs[1].num_elements() not in (None, 1):
        raise ValueError("'dim' input must be a tensor with a single value")
    given, known = shape_inference.dims(c.inputs[0]), c.value(1)
    if given is None:
        return shape_inference.unknown()
    if known is None:
        return shape_inference.of_rank(len(given) + 1)
    axis = int(known.reshape(-1)[0])
    if not -1 - len(given) <= axis <= len(given):
        raise ValueError(f"dim {axis} not in the interval [{-1 - len(given)}, {len(given)}].")
    axis = axis + len(given) + 1 if axis < 0 else axis
    return TensorShape(given[:axis] + [1] + given[axis:])


def _expanded(shape: tuple[Any, ...], axis: int) -> tuple[Any, ...]:
    if not -1 - len(shape) <= axis <= len(shape):
        raise errors.invalid(
            f"Tried to expand dim index {axis} for tensor with {len(shape)} dimensions."
        )
    axis = axis + len(shape) + 1 if axis < 0 else axis
    return (*shape[:axis], 1, *shape[axis:])


def _expand_dims_kernel(c: KernelContext, x: np.ndarray, axis: np.ndarray) -> np.ndarray:
    if axis.size != 1:
        raise errors.invalid("'dim' must be a tensor with a single value")
    return x.reshape(_expanded(x.shape, int(axis.reshape(-1)[0])))


def _lower_expand_dims(b: Builder, op: OpView, x: Value, axis: Value) -> Any:
    known = b.known(axis)
    if known is None:
        return NotImplemented
    return b.reshape(x, _expanded(x.shape, int(known.reshape(-1)[0])))


_expand_dims = define(
    "ExpandDims",
    "input: T, dim: Tdim -> output: T",
    "T: type; Tdim: index = int32",
    shape=_expand_dims_shape,
    kernel=_expand_dims_kernel,
    rows=expand_dims_rows,
    lower=_lower_expand_dims,
    gradient=lambda op, grad: (reshape_to_input(op, grad), None),
    sizes=True,
    doc="The same elements with a dimension of size 1 inserted.",
    test=lambda: {
        "values": [
            [np.arange(6, dtype=np.float32).reshape(2, 3), np.int32(axis)] for axis in (0, 1, -1)
        ],
        "gradient": True,
    },
)


@export("expand_dims")
@dispatched
def expand_dims(
    input: TensorLike,
    axis: int | Sequence[int] | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """A tensor with a dimension of size 1 inserted.

    Args:
        input: a tensor of any dtype and shape.
        axis: where the new dimension is in the result: an integer in [-rank - 1, rank].
        name: of the operation.
        dim: the old name of `axis`.

    Returns:
        A Tensor of the dtype of `input`, with one more dimension.

    Raises:
        ValueError: there is no axis, or one by each name, or it is out of range.

    Example:
        >>> print(tf.expand_dims([1, 2, 3], 0).shape, tf.expand_dims([1, 2, 3], -1).shape)
        (1, 3) (3, 1)
    """
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return _expand_dims(input, axis, name=name)


def renamed(
    new: str, value: int | Sequence[int] | None, old: str, old_value: int | Sequence[int] | None
) -> Any:
    """The value of an argument that has two names, of which at most one may be given."""
    if old_value is None:
        return value
    if value is not None:
        raise ValueError(f"Cannot specify both '{old}' and '{new}'")
    return old_value


def _squeeze_shape(c: ShapeContext) -> TensorShape:
    given = shape_inference.dims(c.inputs[0])
    axes = c.attr("squeeze_dims") or []
    if given is None:
        return shape_inference.unknown()
    for axis in axes:
        if not -len(given) <= axis < len(given):
            raise ValueError(
                f"Tried to squeeze dim index {axis} for tensor with {len(given)} dimensions."
            )
    chosen = {axis % len(given) for axis in axes} if axes else set()
    # An unknown size may be one, and then its dimension goes: not even the rank is known.
    if not axes and None in given:
        return shape_inference.unknown()
    for axis in sorted(chosen):
        if given[axis] not in (1, None):
            raise ValueError(
                f"Can not squeeze dim[{axis}], expected a dimension of 1, got {given[axis]}"
            )
    return TensorShape(_without(given, chosen, bool(axes)))


def _without(sizes: Sequence[Any], chosen: set[int], explicit: bool) -> list[Any]:
    if explicit:
        return [size for i, size in enumerate(sizes) if i not in chosen]
    return [size for size in sizes if size != 1]


def _squeezed(shape: tuple[Any, ...], axes: list[int]) -> list[Any]:
    for axis in axes:
        if not -len(shape) <= axis < len(shape):
            raise errors.invalid(
                f"Tried to squeeze dim index {axis} for tensor with {len(shape)} dimensions."
            )
    chosen = {axis % len(shape) for axis in axes}
    for axis in sorted(chosen):
        if shape[axis] != 1:
            raise errors.invalid(
                f"Can not squeeze dim[{axis}], expected a dimension of 1, got {shape[axis]}"
            )
    return _without(shape, chosen, bool(axes))


_squeeze = define(
    "Squeeze",
    "input: T -> output: T",
    "T: type; squeeze_dims: list(int) >= 0 = []",
    shape=_squeeze_shape,
    kernel=lambda c, x: x.reshape(_squeezed(x.shape, c.attr("squeeze_dims") or [])),
    lower=lambda b, op, x: b.reshape(x, tuple(_squeezed(x.shape, op.attr("squeeze_dims") or []))),
    gradient=reshape_to_input,
    sizes=True,
    doc="The same elements without dimensions of size 1.",
    test={
        "shapes": [[[1, 2, 1]]],
        "attrs": [{}, {"squeeze_dims": [0]}, {"squeeze_dims": [-1]}],
        "gradient": True,
    },
)


@export("squeeze")
@dispatched
def squeeze(
    input: TensorLike, axis: Any = None, name: str | None = None, squeeze_dims: Any = None
) -> Tensor:
    """A tensor without its dimensions of size 1.

    Args:
        input: a tensor of any dtype and shape.
        axis: which of them, an integer or a list, negative ones from the end; all by default.
        name: of the operation.
        squeeze_dims: the old name of `axis`.

    Returns:
        A Tensor of the dtype of `input`.

    Raises:
        ValueError: such a dimension has another size or is out of range, or there is an axis by
            each name.
        InvalidArgumentError: such a dimension has another size in a run.

    Example:
        >>> x = tf.zeros([1, 2, 1])
        >>> print(tf.squeeze(x).shape, tf.squeeze(x, axis=0).shape)
        (2,) (2, 1)
    """
    axis = renamed("axis", axis, "squeeze_dims", squeeze_dims)
    if np.isscalar(axis):
        axis = [axis]
    return _squeeze(input, [] if axis is None else axis, name=name)


def _ensured(c: KernelContext, x: np.ndarray) -> np.ndarray:
    if not TensorShape(c.attr("shape")).is_compatible_with(TensorShape(list(x.shape))):
        raise errors.invalid(
            f"Shape of tensor {c.op.inputs[0].op.name} {shape_text(x.shape)} is not compatible "
            f"with expected shape {shape_text(shape_inference.dims(TensorShape(c.attr('shape'))))}."
        )
    return x


def _lower_ensured(b: Builder, op: OpView, x: Value) -> Value:
    wanted = shape_inference.dims(TensorShape(op.attr("shape")))
    if wanted is not None:
        b.require(x.ndim == len(wanted))
        b.require(all(n is None or b.equal(size, n) for size, n in zip(x.shape, wanted)))
    return b.identity(x)


_ensure_shape = define(
    "EnsureShape",
    "input: T -> output: T",
    "shape: shape; T: type",
    shape=lambda c: shape_inference.merge(c.inputs[0], TensorShape(c.attr("shape"))),
    kernel=_ensured,
    lower=_lower_ensured,
    gradient=lambda op, grad: grad,
    doc="The input, checked to have a shape when the graph runs.",
    test={"shapes": [[[2, 3]]], "attrs": [{"shape": TensorShape([None, 3])}], "gradient": True},
)


@export("ensure_shape")
def ensure_shape(x: TensorLike, shape: Sequence[int], name: str | None = None) -> Tensor:
    """`x`, with a check when the graph runs that it has the given, partly known shape."""
    return _ensure_shape(x, TensorShape(shape), name=name)
