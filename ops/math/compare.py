# SPDX-License-Identifier: Apache-2.0
"""Comparisons, logic, and the choice between two tensors (Select)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph import rowwise
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ..elementwise import broadcast_shape, elementwise, is_lowerable, require_broadcast
from ..public import raw, tf
from ..shape_inference import merge

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.build import OpFunction
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_COMPARISON = "x: T, y: T -> z: bool"
_NONE = NoGradient("the result is boolean", silent=True)
_EQUALITY = (
    "T: {bfloat16, half, float32, float64, uint8, int8, int16, int32, int64, complex64, "
    "quint8, qint8, qint32, string, bool, complex128}; incompatible_shape_error: bool = True"
)


def _comparison(
    name: str, body: Callable[..., Any], sizes: Callable[..., Any], public: str, doc: str
) -> OpFunction:
    op = elementwise(
        name,
        _COMPARISON,
        "T: realnumbertype",
        body=body,
        sizes=sizes,
        gradient=_NONE,
        doc=doc,
    )
    return export(f"math.{public}", public)(op)


less = _comparison(
    "Less",
    k.lt,
    np.less,
    "less",
    doc="""x < y, element by element.

    Example:
        >>> tf.Session().run(tf.less([1, 2, 3], 2))
        array([ True, False, False])
    """,
)
less_equal = _comparison(
    "LessEqual",
    k.le,
    np.less_equal,
    "less_equal",
    doc="""x <= y, element by element.

    Example:
        >>> tf.Session().run(tf.less_equal([1, 2, 3], 2))
        array([ True,  True, False])
    """,
)
greater = _comparison(
    "Greater",
    k.gt,
    np.greater,
    "greater",
    doc="""x > y, element by element.

    Example:
        >>> tf.Session().run(tf.greater([1, 2, 3], 2))
        array([False, False,  True])
    """,
)
greater_equal = _comparison(
    "GreaterEqual",
    k.ge,
    np.greater_equal,
    "greater_equal",
    doc="""x >= y, element by element.

    Example:
        >>> tf.Session().run(tf.greater_equal([1, 2, 3], 2))
        array([False,  True,  True])
    """,
)


def _equality_shape(c: ShapeContext) -> TensorShape:
    try:
        return broadcast_shape(c)
    except ValueError:
        if c.attr("incompatible_shape_error"):
            raise
        return TensorShape([])


def _equality(
    name: str, body: Callable[..., Any], compare: Callable[..., Any], unequal: bool, doc: str
) -> OpFunction:
    """Equal or NotEqual: `unequal` is the answer for shapes that do not broadcast."""

    def kernel(c: KernelContext, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        try:
            require_broadcast((x, y))
        except errors.InvalidArgumentError:
            if c.attr("incompatible_shape_error"):
                raise
            return np.asarray(unequal)
        return np.asarray(compare(_plain(x), _plain(y)), dtype=bool)

    def lower(b: Builder, op: OpView, x: Value, y: Value) -> Any:
        if not is_lowerable(x.dtype) or not op.attr("incompatible_shape_error"):
            return NotImplemented
        return b.map(body, x, y, dtype="bool")

    def rows(op: Operation, inputs: Sequence[rowwise.Rows]) -> rowwise.Results:
        is_plain = op._attrs["incompatible_shape_error"]
        return rowwise.elementwise(op, inputs) if is_plain else None

    return define(
        name,
        _COMPARISON,
        _EQUALITY,
        rows=rows,
        shape=_equality_shape,
        kernel=kernel,
        lower=lower,
        gradient=_NONE,
        commutative=True,
        sizes=True,
        doc=doc,
    )


def _plain(x: np.ndarray) -> np.ndarray:
    """Quantized numbers as the integers that they are."""
    return x.view(x.dtype[0]) if x.dtype.fields else x


raw_equal = _equality("Equal", k.eq, np.equal, unequal=False, doc="x == y, element by element.")
raw_not_equal = _equality(
    "NotEqual", k.ne, np.not_equal, unequal=True, doc="x != y, element by element."
)


@export("math.equal", "equal")
@dispatched
def equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x == y, element by element.  The operator `==` of tensors compares objects instead.

    Args:
        x: a tensor of numbers, bools or strings.
        y: a tensor of the dtype of `x`; the shapes broadcast.
        name: of the operation.

    Returns:
        A bool tensor of the shape that both broadcast to.

    Raises:
        TypeError: the dtypes differ, or have no order such as tf.resource.
        ValueError: shapes known in the graph do not broadcast.
        InvalidArgumentError: shapes of a run do not.

    Example:
        >>> tf.Session().run(tf.equal([1, 2], [[2], [1]]))
        array([[False,  True],
               [ True, False]])
    """
    return raw_equal(x, y, name=name)


@export("math.not_equal", "not_equal")
@dispatched
def not_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x != y, element by element.  The operator `!=` of tensors compares objects instead.

    Args:
        x: a tensor of numbers, bools or strings.
        y: a tensor of the dtype of `x`; the shapes broadcast.
        name: of the operation.

    Returns:
        A bool tensor of the shape that both broadcast to.

    Raises:
        TypeError: the dtypes differ.
        ValueError: shapes known in the graph do not broadcast.
        InvalidArgumentError: shapes of a run do not.

    Example:
        >>> tf.Session().run(tf.not_equal(["a", "b"], "a"))
        array([False,  True])
    """
    return raw_not_equal(x, y, name=name)


def _approximate_shape(c: ShapeContext) -> TensorShape:
    return merge(c.inputs[0], c.inputs[1])


def _approximate_kernel(c: KernelContext, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.shape != y.shape:
        raise errors.invalid(
            "x and y must be of the same shape. "
            f"x shape: {shape_text(x.shape)}. y shape: {shape_text(y.shape)}"
        )
    with np.errstate(all="ignore"):
        difference = np.abs(np.subtract(x, y))
        return np.asarray(difference < np.asarray(c.attr("tolerance"), difference.dtype))


def _lower_approximate(b: Builder, op: OpView, x: Value, y: Value) -> Any:
    if not is_lowerable(x.dtype) or x.dtype == "bfloat16":
        return NotImplemented
    b.require(b.same_shape(x, y))
    tolerance = np.asarray(op.attr("tolerance"), x.dtype).item()
    return b.map(lambda p, q: k.lt(k.abs(k.sub(p, q)), tolerance), x, y)


approximate_equal = define(
    "ApproximateEqual",
    _COMPARISON,
    "T: numbertype; tolerance: float = 1e-05",
    shape=_approximate_shape,
    kernel=_approximate_kernel,
    lower=_lower_approximate,
    gradient=_NONE,
    commutative=True,
    test={"broadcast": False},
    doc="Whether |x - y| is below the tolerance.",
)


# Logic

_LOGIC = "x: bool, y: bool -> z: bool"

logical_and = elementwise(
    "LogicalAnd",
    _LOGIC,
    body=k.logical_and,
    gradient=_NONE,
    commutative=True,
    doc="""x and y, element by element.

    Example:
        >>> tf.Session().run(tf.logical_and([True, True], [True, False]))
        array([ True, False])
    """,
)
export("math.logical_and", "logical_and")(logical_and)
logical_or = elementwise(
    "LogicalOr",
    _LOGIC,
    body=k.logical_or,
    gradient=_NONE,
    commutative=True,
    doc="""x or y, element by element.

    Example:
        >>> tf.Session().run(tf.logical_or([True, False], [False, False]))
        array([ True, False])
    """,
)
export("math.logical_or", "logical_or")(logical_or)
logical_not = elementwise(
    "LogicalNot",
    "x: bool -> y: bool",
    body=k.logical_not,
    gradient=_NONE,
    doc="""not x, element by element.

    Example:
        >>> tf.Session().run(tf.logical_not([True, False]))
        array([False,  True])
    """,
)
export("math.logical_not", "logical_not")(logical_not)


@export("math.logical_xor", "logical_xor")
@dispatched
def logical_xor(x: TensorLike, y: TensorLike, name: str | None = "LogicalXor") -> Any:
    """Exclusive or: (x | y) & ~(x & y)."""
    # TensorFlow has no such op; the three nodes are those that its Python makes.
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)), name=name)


# Select


def _select_shape(c: ShapeContext) -> TensorShape:
    condition, data = c.inputs[0], merge(c.inputs[1], c.inputs[2])
    if condition.ndims is None or data.ndims is None or condition.ndims == 0:
        return data
    if condition.ndims != 1 or data.ndims == 0:
        return merge(data, condition)
    # A vector chooses whole rows.
    merge(condition, TensorShape([data[0]]))
    return data


def _select_kernel(
    c: KernelContext, condition: np.ndarray, x: np.ndarray, y: np.ndarray
) -> np.ndarray:
    if x.shape != y.shape:
        raise errors.invalid(
            "'then' and 'else' must have the same size.  but received: "
            f"{shape_text(x.shape)} vs. {shape_text(y.shape)}"
        )
    rows = condition.ndim == 1 and x.ndim > 1 and condition.shape[0] == x.shape[0]
    if rows:
        condition = condition.reshape(condition.shape + (1,) * (x.ndim - 1))
    elif condition.ndim and condition.shape != x.shape:
        raise errors.invalid(
            "'cond' must be a scalar, a vector with the first size of 'then', or of its shape, "
            f"but saw: {shape_text(condition.shape)} vs. {shape_text(x.shape)}"
        )
    return np.where(condition, x, y)


def _select_lower(b: Builder, op: OpView, condition: Value, x: Value, y: Value) -> Any:
    if not is_lowerable(x.dtype):
        return NotImplemented
    if condition.ndim == 1 and x.ndim > 1:
        condition = b.reshape(condition, (condition.shape[0],) + (1,) * (x.ndim - 1))
    return b.map(k.select, condition, x, y)


def _select_gradient(op: Operation, grad: Tensor) -> tuple[None, Tensor, Tensor]:
    condition, x = op.inputs[0], op.inputs[1]
    zeros = tf.zeros_like(x)
    return None, tf.where(condition, grad, zeros), tf.where(condition, zeros, grad)


select = define(
    "Select",
    "condition: bool, t: T, e: T -> output: T",
    "T: type",
    shape=_select_shape,
    kernel=_select_kernel,
    lower=_select_lower,
    gradient=_select_gradient,
    sizes=True,
    doc="t where the condition holds, else e; a vector condition chooses rows.",
    test={"shapes": [[[2, 3], [2, 3], [2, 3]], [[2], [2, 3], [2, 3]], [[], [2], [2]]]},
)


def _select_v2_kernel(
    c: KernelContext, condition: np.ndarray, x: np.ndarray, y: np.ndarray
) -> np.ndarray:
    require_broadcast((condition, x, y))
    return np.where(condition, x, y)


def _select_v2_lower(b: Builder, op: OpView, condition: Value, x: Value, y: Value) -> Any:
    return b.map(k.select, condition, x, y) if is_lowerable(x.dtype) else NotImplemented


# The condition may be wider than a branch, so both branches sum over what was broadcast.
def _select_v2_gradient(op: Operation, grad: Tensor) -> tuple[None, Tensor, Tensor]:
    condition, x, y = op.inputs
    zeros = tf.zeros([], dtype=grad.dtype.base_dtype)
    grad_x = select_v2(condition, grad, zeros)
    shape_x, shape = tf.shape(x), tf.shape(op.outputs[0])
    axes_x, _ = raw.BroadcastGradientArgs(shape_x, shape)
    grad_x = tf.reduce_sum(grad_x, keepdims=True, axis=axes_x)
    grad_x = tf.reshape(grad_x, shape_x)
    grad_y = select_v2(condition, zeros, grad)
    shape_y = tf.shape(y)
    axes_y, _ = raw.BroadcastGradientArgs(shape_y, shape)
    grad_y = tf.reduce_sum(grad_y, keepdims=True, axis=axes_y)
    return None, grad_x, tf.reshape(grad_y, shape_y)


select_v2 = define(
    "SelectV2",
    "condition: bool, t: T, e: T -> output: T",
    "T: type",
    shape=broadcast_shape,
    kernel=_select_v2_kernel,
    lower=_select_v2_lower,
    gradient=_select_v2_gradient,
    doc="t where the condition holds, else e; the three broadcast.",
)
