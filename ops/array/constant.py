# SPDX-License-Identifier: Apache-2.0
"""Const, placeholders and what fills tensors with one value; how Python values become tensors.

`zeros` and `ones` of a small known shape are Const nodes, others Fill nodes, exactly as in
TensorFlow 1.15, since names and op seeds count nodes.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph import rowwise
from ...engine.graph.build import build_op, define
from ...engine.graph.convert import convert_to_tensor, register_tensor_conversion_function
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import Tensor
from ...engine.memory import lasting_copy
from ...engine.tracebacks import shorten
from ...engine.types import dtypes
from ...engine.types.repeated import Repeated, is_vast, whole
from ...engine.types.shape import Dimension, TensorShape, shape_text
from .. import shape_inference
from ..public import tf
from ..ranks import ranked, scalar
from .python_values import as_constant, element_count
from .row_shapes import fill_rows
from .tensor_list_store import zeros_like as zeros_of_lists

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, ShapeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.types.dtypes import DType
    from ...engine.types.texts import PackedTexts
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_CONSTANT = NoGradient("a constant depends on nothing", silent=True)


def _lower_const(b: Builder, op: OpView) -> Any:
    value = op.attr("value")
    if is_vast(value) and value.dtype != object:
        return b.full(value.shape, value.listed[0], op.dtype(0))
    return NotImplemented if value.dtype == object else b.constant(whole(value), op.dtype(0))


const_op = define(
    "Const",
    "-> output: dtype",
    "value: tensor; dtype: type",
    shape=lambda c: TensorShape(c.attr("value").shape),
    kernel=lambda c: whole(c.attr("value")),
    transfer="value",
    lower=_lower_const,
    gradient=_CONSTANT,
    sizes=True,
    doc="A tensor whose value is written in the graph.",
    test=lambda: {"attrs": [{"value": np.array([1.5, -2.0], np.float32), "dtype": dtypes.float32}]},
)


@export("constant")
def constant_v1(
    value: Any,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A tensor whose value is written in the graph.

    Args:
        value: a number, string or bool, nested lists of such, or a NumPy array.
        dtype: of the result; by default float32 for Python's floats, int32 for its integers, and
            that of an array.
        shape: of the result; the last element is repeated where the value has fewer.
        name: of the operation.
        verify_shape: whether the value must have exactly that shape.

    Returns:
        A Tensor.

    Raises:
        TypeError: the value cannot be made a tensor of `dtype`, or has another shape though
            `verify_shape`.
        ValueError: rows have different lengths, or there are more elements than `shape` has.

    Example:
        >>> tf.Session().run(tf.constant([1, 2], shape=[2, 3]))
        array([[1, 2, 2],
               [2, 2, 2]], dtype=int32)
    """
    try:
        made, found = as_constant(value, dtype, shape, verify_shape=verify_shape)
        return _make(made, found, name, None if shape is None else element_count(value))
    except Exception as error:
        shorten(error)
        raise


def constant(
    value: Any, dtype: DTypeLike | None = None, shape: Any = None, name: str | None = "Const"
) -> Tensor:
    """A constant tensor; only single elements are broadcast to a given shape."""
    made = as_constant(value, dtype, shape, allow_broadcast=True)
    return _make(*made, name, None if shape is None else element_count(value))


def _make(
    value: np.ndarray | Repeated, dtype: dtypes.DType, name: str | None, stated: int | None = None
) -> Tensor:
    if not is_vast(value):
        # A private read-only copy: the caller may go on writing to the array that was given.
        value = lasting_copy(whole(value))
        value.flags.writeable = False
    operation = build_op("Const", {}, {"value": value, "dtype": dtype}, name, is_scope=False)
    # Written to a GraphDef, the constant repeats its last element as the program stated it.
    operation._explicit_elements = stated
    return operation.outputs[0]


def is_constant(value: Any) -> bool:
    """Whether a tensor or operation is a Const."""
    return getattr(value, "op", value).type == "Const"


def _from_value(
    v: object, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    del as_ref
    return constant(v, dtype=dtype, name=name)


def _from_shape(
    s: TensorShape, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    del as_ref
    if not s.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {s}")
    sizes = shape_inference.known_sizes(s)
    large = next((size for size in sizes if size >= 2**31), 0)
    if dtype is None:
        dtype = dtypes.int64 if large else dtypes.int32
    elif dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    elif dtype == dtypes.int32 and large:
        raise ValueError(
            f"Cannot convert a TensorShape to dtype int32; a dimension is too large ({large})"
        )
    return constant(sizes, dtype=dtype, name="shape_as_tensor" if name is None else name)


def _from_dimension(
    d: Dimension, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    del as_ref
    if d.value is None:
        raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {d}")
    if dtype is None:
        dtype = dtypes.int32
    elif dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    return constant(d.value, dtype=dtype, name="shape_as_tensor" if name is None else name)


register_tensor_conversion_function((list, tuple), _from_value, 100)
register_tensor_conversion_function(object, _from_value, 200)
register_tensor_conversion_function(TensorShape, _from_shape, 100)
register_tensor_conversion_function(Dimension, _from_dimension, 100)


def _not_fed(c: KernelContext) -> None:
    dtype = dtypes.as_dtype(c.attr("dtype"))
    shape = c.attr("shape") if c.op.type.startswith("Placeholder") else None
    known = f" and shape {shape_text(shape.as_list())}" if shape is not None and shape.ndims else ""
    raise errors.invalid(
        f"You must feed a value for placeholder tensor '{c.op.name}' with dtype "
        f"{dtypes.runtime_name(dtype)}{known}"
    )


def _placeholder_shape(c: ShapeContext) -> TensorShape:
    shape = TensorShape(c.attr("shape"))
    # Graphs of old wrote "any shape" as the scalar shape.
    is_old = c.op.type == "Placeholder" and c.op.graph._producer <= 21
    return shape_inference.unknown() if is_old and shape.ndims == 0 else shape


_placeholder = define(
    "Placeholder",
    "-> output: dtype",
    "dtype: type; shape: shape = None",
    shape=_placeholder_shape,
    kernel=_not_fed,
    gradient=NoGradient("a fed value depends on nothing"),
    transfer="value",
    doc="A tensor that every run must feed.",
    is_fed=True,
)
_placeholder_v2 = define(
    "PlaceholderV2",
    "-> output: dtype",
    "dtype: type; shape: shape",
    shape=_placeholder_shape,
    kernel=_not_fed,
    gradient=NoGradient("a fed value depends on nothing"),
    doc="A tensor that every run must feed.",
    is_fed=True,
)


def _stated_shape(c: ShapeContext) -> TensorShape:
    """The shape that is stated, which may say less than the default's, but not something else."""
    shape_inference.merge(c.inputs[0], TensorShape(c.attr("shape")))
    return TensorShape(c.attr("shape"))


_placeholder_with_default = define(
    "PlaceholderWithDefault",
    "input: dtype -> output: dtype",
    "dtype: type; shape: shape",
    shape=_stated_shape,
    kernel=lambda c, value: value,
    lower=lambda b, op, value: b.identity(value),
    gradient=lambda op, grad: grad,
    transfer="value",
    doc="A tensor that a run may feed and that is its input otherwise.",
    test=lambda: {"attrs": [{"shape": TensorShape(None)}], "gradient": True},
)


@export("placeholder")
def placeholder(
    dtype: DTypeLike, shape: ShapeLike | None = None, name: str | None = None
) -> Tensor:
    """A tensor without a value: every run that needs it must feed one, by `feed_dict`.

    Args:
        dtype: of what will be fed.
        shape: what fed values must match; None for any shape, or for a size that may vary.
        name: of the operation.

    Returns:
        A Tensor of that dtype and static shape.

    Raises:
        TypeError: `dtype` is no dtype.
        InvalidArgumentError: a run needs the tensor and does not feed it.

    Example:
        >>> x = tf.placeholder(tf.float32, [None, 2])
        >>> tf.Session().run(tf.reduce_sum(x, axis=1), feed_dict={x: [[1, 2], [3, 4], [5, 6]]})
        array([ 3.,  7., 11.], dtype=float32)
    """
    return _placeholder(dtype=dtype, shape=TensorShape(shape), name=name)


@export("placeholder_with_default")
def placeholder_with_default(
    input: TensorLike, shape: Sequence[int | None] | None, name: str | None = None
) -> Tensor:
    """A tensor that is `input` in runs that feed no other value.

    Args:
        input: the default, a tensor or what makes one.
        shape: what both the default and fed values must match; None for any, also for a size.
        name: of the operation.

    Returns:
        A Tensor of the dtype of `input` and of that static shape.

    Raises:
        ValueError: the shape of `input` is another.

    Example:
        >>> rate = tf.placeholder_with_default(0.0, [])
        >>> sess = tf.Session()
        >>> sess.run(rate), sess.run(rate, {rate: 0.5})
        (np.float32(0.0), array(0.5, dtype=float32))
    """
    return _placeholder_with_default(input, shape, name=name)


def _zeros_of(c: KernelContext, x: np.ndarray) -> np.ndarray:
    if c.op.outputs[0].dtype == dtypes.variant:
        return zeros_of_lists(x, dtypes.variant)
    return _filled(x.shape, c.out_dtype(), 0)


def _zeros_lower(b: Builder, op: OpView, x: Value) -> Any:
    if x.cell is not None:
        from ...jit.library import of_run

        return of_run.zeros_like(b, x)
    return NotImplemented if op.dtype(0) == "object" else b.full(x.shape, 0, op.dtype(0))


_zeros_like = define(
    "ZerosLike",
    "x: T -> y: T",
    shape=lambda c: c.inputs[0],
    kernel=_zeros_of,
    lower=_zeros_lower,
    gradient=NoGradient("zeros do not depend on the input", silent=True),
    sizes=True,
    rows=rowwise.of_first,
    doc="Zeros of the input's shape and type.",
    test={"dtypes": ["float32", "int32", "bool", "complex64"]},
)
_ones_like = define(
    "OnesLike",
    "x: T -> y: T",
    "T: {bfloat16, half, float32, float64, int8, uint8, int16, uint16, int32, int64, complex64, "
    "complex128, bool}",
    shape=lambda c: c.inputs[0],
    kernel=lambda c, x: _filled(x.shape, c.out_dtype(), 1),
    lower=lambda b, op, x: b.full(x.shape, 1, op.dtype(0)),
    gradient=NoGradient("ones do not depend on the input", silent=True),
    sizes=True,
    rows=rowwise.of_first,
    doc="Ones of the input's shape and type.",
    test={"dtypes": ["float32", "int32", "bool", "complex64"]},
)


def _filled(shape: tuple[int, ...], dtype: np.dtype, value: int) -> np.ndarray:
    if dtype.kind == "O":
        return np.full(shape, b"" if value == 0 else value, dtype=object)
    return np.full(shape, value, dtype=dtype)


def _fill_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[1], 0)
    shape_inference.ranked(c.inputs[0], 1)
    value = c.value(0)
    if value is not None and (value < 0).any():
        raise ValueError(f"Fill dimensions must be >= 0, got {value[value < 0][0]}")
    return c.value_as_shape(0)


def _fill_kernel(
    c: KernelContext, shape: np.ndarray, value: np.ndarray
) -> np.ndarray | PackedTexts:
    if shape.ndim != 1:
        raise errors.invalid(f"dims must be a vector, got shape {shape_text(shape.shape)}")
    for i, size in enumerate(shape.tolist()):
        if isinstance(size, int) and size < 0:
            raise errors.invalid(f"dims[{i}] = {size} must be nonnegative.")
    if 0 in c.packs and shape.size == 1:
        # (One text, in as many places as are wanted.)
        from ...engine.types.texts import PackedTexts

        text: Any = value[()]
        places = np.empty((shape.item(), 2), np.int64)
        places[:] = 0, len(text)
        return PackedTexts(text, places)
    found = np.empty(tuple(shape.tolist()), value.dtype)
    # (As `numpy.full` does, but without making an array of each text, which would lose zeros at
    # its end.)
    found.fill(value[()])
    return found


def _lower_fill(b: Builder, op: OpView, shape: Value, value: Value) -> Any:
    known = b.known(shape)
    return NotImplemented if known is None else b.full(tuple(known.tolist()), value, op.dtype(0))


def _fill_gradient(op: Operation, grad: Tensor) -> tuple[None, Any]:
    return (None, tf.reduce_sum(grad))


_fill = define(
    "Fill",
    "dims: index_type, value: T -> output: T",
    "T: type; index_type: index = int32",
    shape=_fill_shape,
    kernel=ranked(_fill_kernel, scalar(1, "value must be a scalar, got shape {shape}")),
    lower=_lower_fill,
    rows=fill_rows,
    gives_packed=True,
    gradient=_fill_gradient,
    sizes=True,
    doc="A tensor of the given shape with one value everywhere.",
    test=lambda: {
        "values": [
            [np.array([2, 3], np.int32), np.float32(1.5)],
            [np.array([], np.int32), np.float32(2)],
        ]
    },
)


def set_static_shape(tensor: Tensor, shape: TensorLike) -> None:
    """Refines a result's shape by a shape argument that is only partly constant."""
    if not isinstance(shape, Tensor) or tensor.get_shape().is_fully_defined():
        return
    from ...engine.graph.constants import constant_value_as_shape

    known = constant_value_as_shape(shape)
    if known.ndims is not None:
        tensor.set_shape(known)


@export("fill")
def fill(dims: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
    """A tensor with one value everywhere.

    Args:
        dims: the shape: a vector of int32 or int64, known or not.
        value: a scalar of any dtype.
        name: of the operation.

    Returns:
        A tensor of the dtype of `value`.

    Raises:
        ValueError: a size is known to be negative, or `dims` is no vector or `value` no scalar.
        InvalidArgumentError: the same of what only a run knows.

    Example:
        >>> tf.Session().run(tf.fill([2, 3], 7))
        array([[7, 7, 7],
               [7, 7, 7]], dtype=int32)
    """
    result = _fill(dims, value, name=name)
    set_static_shape(result, dims)
    return result


def _small_constant(
    value: object, shape: ShapeLike, dtype: dtypes.DType, name: str
) -> Tensor | None:
    # A tensor among the sizes makes the comparison a tensor, whose truth is a TypeError.
    with suppress(NotImplementedError, TypeError):
        # TensorFlow's limit: a larger constant would make the GraphDef large, a Fill node does not.
        if _element_count(shape) < 1000:
            return constant(value, shape=shape, dtype=dtype, name=name)
    return None


def _element_count(shape: Any) -> Any:
    """The product of the sizes; sizes that are tensors multiply in the graph, as in TensorFlow."""
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    if not isinstance(shape, (list, tuple)):
        return int(np.prod(shape))
    return functools.reduce(operator.mul, shape) if shape else 1


def _uniform(
    shape: Any, dtype: DTypeLike, name: str | None, scope: str, values: dict[str, Any]
) -> Tensor:
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, scope, [shape]) as name:
        value = values.get(dtype.name, values[""])
        if not isinstance(shape, Tensor):
            try:
                output = _small_constant(value, shape, dtype, name)
                if output is not None:
                    return output
                shape = _from_shape(TensorShape(shape))
            except (TypeError, ValueError):
                shape = convert_to_tensor(shape, dtype=dtypes.int32)
        if shape.get_shape().ndims in (None, 0):
            shape = tf.reshape(shape, [-1])  # Ensure that it is a vector.
        return fill(shape, constant(value, dtype=dtype), name=name)


@export("zeros")
def zeros(shape: Any, dtype: DTypeLike = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of zeros.

    Args:
        shape: a list of sizes, a TensorShape, or a vector of int32 or int64.
        dtype: of the result; False fills bools, and "" strings.
        name: of the operation.

    Returns:
        A Tensor; a constant where the shape is known and small.

    Raises:
        TypeError: `dtype` is no dtype, or a size in a list is None.
        ValueError: a size is negative, or a TensorShape is not fully known.

    Example:
        >>> tf.Session().run(tf.zeros([2, 3], tf.int32))
        array([[0, 0, 0],
               [0, 0, 0]], dtype=int32)
    """
    return _uniform(shape, dtype, name, "zeros", {"bool": False, "string": "", "": 0})


@export("ones")
def ones(shape: Any, dtype: DTypeLike = dtypes.float32, name: str | None = None) -> Tensor:
    """A tensor of ones.

    Args:
        shape: a list of sizes, a TensorShape, or a vector of int32 or int64.
        dtype: of the result, of numbers or bools; True fills those.
        name: of the operation.

    Returns:
        A Tensor; a constant where the shape is known and small.

    Raises:
        TypeError: `dtype` is no dtype or that of strings, or a size in a list is None.
        ValueError: a size is negative, or a TensorShape is not fully known.

    Example:
        >>> tf.Session().run(tf.ones([2, 3], tf.int32))
        array([[1, 1, 1],
               [1, 1, 1]], dtype=int32)
    """
    return _uniform(shape, dtype, name, "ones", {"bool": True, "": 1})


@export("zeros_like")
@dispatched
def zeros_like(
    tensor: Any, dtype: DTypeLike | None = None, name: str | None = None, optimize: bool = True
) -> Tensor:
    """Zeros of the shape of a tensor, a constant where that shape is known.

    Args:
        tensor: a tensor, or what makes one.
        dtype: of the result; that of `tensor` if None.
        name: of the operation.
        optimize: whether a known shape may be taken as it is, instead of being computed in the run.

    Returns:
        A Tensor.

    Raises:
        TypeError: `dtype` is no dtype.
        ValueError: `tensor` cannot be made one.

    Example:
        >>> tf.Session().run(tf.zeros_like([[1.5, 2.5]]))
        array([[0., 0.]], dtype=float32)
    """
    from .shape import shape_internal

    with name_scope(name, "zeros_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        if optimize and tensor.shape.is_fully_defined() and tensor.dtype != dtypes.variant:
            return zeros(tensor.shape, dtype=dtype or tensor.dtype, name=name)
        if dtype is not None and dtype != tensor.dtype and dtype != dtypes.variant:
            return zeros(shape_internal(tensor, optimize=optimize), dtype=dtype, name=name)
        return _zeros_like(tensor, name=name)


@export("ones_like")
@dispatched
def ones_like(
    tensor: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    optimize: bool = True,
) -> Tensor:
    """Ones of the shape of a tensor.

    Args:
        tensor: a tensor, or what makes one.
        dtype: of the result; that of `tensor` if None.
        name: of the operation.
        optimize: whether a known shape may be taken as it is, instead of being computed in the run.

    Returns:
        A Tensor.

    Raises:
        TypeError: `dtype` is no dtype, or that of strings.
        ValueError: `tensor` cannot be made one.

    Example:
        >>> tf.Session().run(tf.ones_like([[1.5, 2.5]]))
        array([[1., 1.]], dtype=float32)
    """
    from .shape import shape_internal

    with name_scope(name, "ones_like", [tensor]) as name:
        tensor = convert_to_tensor(tensor, name="tensor")
        shape = shape_internal(tensor, optimize=optimize)
        result = ones(shape, dtype=tensor.dtype if dtype is None else dtype, name=name)
        result.set_shape(tensor.get_shape())
        return result
