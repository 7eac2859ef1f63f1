# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of two tensors: sums, products, quotients, remainders, powers, extremes.

Each op is one scalar body with its gradient; the public functions follow their ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import control_dependencies, name_scope
from ...engine.types import dtypes
from ...jit.kernel import scalar as k
from ..elementwise import Guard, elementwise, is_integer
from ..public import raw, tf
from .gradient import shapes_and_axes, shapes_equal, smart_broadcast, sum_to, undo_broadcast

if TYPE_CHECKING:
    from ...engine.graph.annotations import Gradient, TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.kernel.scalar import Operand

_SIGNATURE = "x: T, y: T -> z: T"
_MORE = (
    "T: {bfloat16, half, float32, float64, uint8, int8, uint16, int16, int32, int64, "
    "complex64, complex128}"
)
_FEWER = "T: {bfloat16, half, float32, float64, int32, int64, complex64, complex128}"
_NO_NAN = "T: {half, float32, float64, complex64, complex128}"
_REAL = "T: {int32, int64, bfloat16, half, float32, float64}"


def _add_gradient(op: Operation, grad: Tensor) -> Any:
    x, y = op.inputs
    if shapes_equal(x, y, grad):
        return grad, grad
    of_x, of_y = smart_broadcast(x, y, grad)
    return undo_broadcast(grad, of_x), undo_broadcast(grad, of_y)


add = elementwise(
    "Add",
    _SIGNATURE,
    "T: {bfloat16, half, float32, float64, uint8, int8, int16, int32, int64, "
    "complex64, complex128, string}",
    body=k.add,
    sizes=np.add,
    gradient=_add_gradient,
    doc="""x + y, element by element; strings are joined.

    Example:
        >>> tf.Session().run(tf.add([1.0, 2.0], [[10.0], [20.0]]))
        array([[11., 12.],
               [21., 22.]], dtype=float32)
    """,
)
export("math.add", "add")(add)

# Only this one is commutative in TensorFlow's registry: Add also joins strings.
add_v2 = elementwise(
    "AddV2",
    _SIGNATURE,
    "T: {bfloat16, half, float32, float64, uint8, int8, int16, int32, int64, "
    "complex64, complex128}",
    body=k.add,
    sizes=np.add,
    gradient=_add_gradient,
    commutative=True,
    doc="x + y; what the operator makes.",
)


def _sub_gradient(op: Operation, grad: Tensor) -> Any:
    x, y = op.inputs
    if shapes_equal(x, y, grad):
        return grad, -grad
    of_x, of_y = smart_broadcast(x, y, grad)
    return undo_broadcast(grad, of_x), undo_broadcast(-grad, of_y)


sub = elementwise(
    "Sub",
    _SIGNATURE,
    _MORE,
    body=k.sub,
    sizes=np.subtract,
    gradient=_sub_gradient,
    doc="x - y, element by element.",
)


@export("math.subtract", "subtract")
@dispatched
def subtract(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x - y, element by element; the operator `-` of tensors.

    Args:
        x: a tensor of numbers.
        y: a tensor of the dtype of `x`; the shapes broadcast.
        name: of the operation.

    Returns:
        A tensor of the dtype of `x`, of the shape that both broadcast to.

    Raises:
        TypeError: the dtypes differ or are no numbers.
        ValueError: shapes known in the graph do not broadcast.
        InvalidArgumentError: shapes of a run do not.

    Example:
        >>> tf.Session().run(tf.subtract([[1.0], [2.0]], [10.0, 20.0]))
        array([[ -9., -19.],
               [ -8., -18.]], dtype=float32)
    """
    return sub(x, y, name)


def _mul_gradient(op: Operation, grad: Gradient) -> tuple[Any, Any]:
    x, y = op.inputs
    # In 1.15 only these two dtypes go without the BroadcastGradientArgs node where shapes are
    # equal.
    if shapes_equal(x, y, grad) and grad.dtype in (dtypes.int32, dtypes.float32):
        return mul(grad, y), mul(grad, x)
    of_x, of_y = smart_broadcast(x, y, grad)
    x, y = tf.conj(x), tf.conj(y)
    grad_x = undo_broadcast(mul(grad, y), of_x)
    return grad_x, undo_broadcast(mul(x, grad), of_y)


mul = elementwise(
    "Mul",
    _SIGNATURE,
    _MORE,
    body=k.mul,
    sizes=np.multiply,
    gradient=_mul_gradient,
    commutative=True,
    doc="x * y, element by element.",
)


@export("math.multiply", "multiply")
@dispatched
def multiply(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x * y, element by element; the operator `*` of tensors.

    Args:
        x: a tensor of numbers.
        y: a tensor of the dtype of `x`; the shapes broadcast.
        name: of the operation.

    Returns:
        A tensor of the dtype of `x`, of the shape that both broadcast to.

    Raises:
        TypeError: the dtypes differ or are no numbers.
        ValueError: shapes known in the graph do not broadcast.
        InvalidArgumentError: shapes of a run do not.

    Example:
        >>> tf.Session().run(tf.multiply([[1.0], [2.0]], [10.0, 20.0]))
        array([[10., 20.],
               [20., 40.]], dtype=float32)
    """
    return mul(x, y, name)


_NO_ZERO_DIVISOR = Guard(1, lambda y: k.eq(y, 0), "Integer division by zero")


def _quotient(x: Operand, y: Operand) -> Any:
    return k.truncatediv(x, y) if is_integer(x) else k.div(x, y)


def _div_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    x, y = op.inputs
    where = shapes_and_axes(x, y)
    x, y = tf.conj(x), tf.conj(y)
    shape_x, shape_y, axes_x, axes_y = where
    grad_x = sum_to(tf.divide(grad, y), axes_x, shape_x)
    # d(x / y)/dy = -x / y**2, divided twice: y * y could overflow where the quotient does not.
    grad_y = grad * tf.divide(tf.divide(-x, y), y)
    return grad_x, sum_to(grad_y, axes_y, shape_y)


_DIVISORS = {"ranges": [(-4, 4), (1, 5)]}

raw_div = elementwise(
    "Div",
    _SIGNATURE,
    _MORE,
    body=_quotient,
    guard=_NO_ZERO_DIVISOR,
    gradient=_div_gradient,
    test=lambda: _DIVISORS,
    doc="x / y; integers truncate.",
)


def _real_div_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    x, y = op.inputs
    shape_x, shape_y, axes_x, axes_y = shapes_and_axes(x, y)
    x, y = tf.conj(x), tf.conj(y)
    grad_x = sum_to(real_div(grad, y), axes_x, shape_x)
    grad_y = grad * real_div(real_div(-x, y), y)
    return grad_x, sum_to(grad_y, axes_y, shape_y)


real_div = elementwise(
    "RealDiv",
    _SIGNATURE,
    _MORE,
    body=_quotient,
    guard=_NO_ZERO_DIVISOR,
    gradient=_real_div_gradient,
    test=lambda: _DIVISORS,
    doc="""x / y of real or complex numbers, element by element.

    Example:
        >>> tf.Session().run(tf.realdiv([1.0, 2.0], 4.0))
        array([0.25, 0.5 ], dtype=float32)
    """,
)
export("realdiv")(real_div)


def _div_no_nan_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    x, y = op.inputs
    shape_x, shape_y, axes_x, axes_y = shapes_and_axes(x, y)
    x, y = tf.conj(x), tf.conj(y)
    # The quotient is constant, zero, for y = 0, so both slopes divide without NaN as well.
    grad_x = sum_to(tf.div_no_nan(grad, y), axes_x, shape_x)
    grad_y = grad * tf.div_no_nan(tf.div_no_nan(-x, y), y)
    return grad_x, sum_to(grad_y, axes_y, shape_y)


def _zero_where(flag: Operand, value: Operand) -> Any:
    return k.select(flag, k.const_like(0, value), value)


raw_div_no_nan = elementwise(
    "DivNoNan",
    _SIGNATURE,
    _NO_NAN,
    body=lambda x, y: _zero_where(k.eq(y, 0), k.div(x, y)),
    gradient=_div_no_nan_gradient,
    test=lambda: _DIVISORS,
    doc="x / y, and zero where y is zero.",
)


def _mul_no_nan_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    x, y = op.inputs
    # MulNoNan is zero where its second factor is.  For y the factor is the gradient: where that is
    # zero, an infinite x does no harm.
    if shapes_equal(x, y, grad):
        return mul_no_nan(grad, y), mul_no_nan(x, grad)
    shape_x, shape_y, axes_x, axes_y = shapes_and_axes(x, y)
    grad_x = sum_to(mul_no_nan(grad, y), axes_x, shape_x)
    return grad_x, sum_to(mul_no_nan(x, grad), axes_y, shape_y)


mul_no_nan = elementwise(
    "MulNoNan",
    _SIGNATURE,
    _NO_NAN,
    body=lambda x, y: _zero_where(k.eq(y, 0), k.mul(x, y)),
    gradient=_mul_no_nan_gradient,
    doc="x * y, and zero where y is zero, whatever x is.",
)

floor_div = elementwise(
    "FloorDiv",
    _SIGNATURE,
    _MORE,
    body=k.floordiv,
    sizes=np.floor_divide,
    guard=_NO_ZERO_DIVISOR,
    gradient=lambda op, grad: (None, None),
    test=lambda: {**_DIVISORS, "dtypes": ["float32", "int32"], "gradient": False},
    doc="""The quotient rounded towards minus infinity.

    Example:
        >>> tf.Session().run(tf.floor_div([7, -7], 2))
        array([ 3, -4], dtype=int32)
    """,
)
export("floor_div")(floor_div)

truncate_div = elementwise(
    "TruncateDiv",
    _SIGNATURE,
    _MORE,
    body=lambda x, y: k.truncatediv(x, y) if is_integer(x) else k.trunc(k.div(x, y)),
    guard=_NO_ZERO_DIVISOR,
    gradient=lambda op, grad: (None, None),
    test=lambda: {**_DIVISORS, "dtypes": ["int32", "int64"], "gradient": False},
    doc="""The quotient rounded towards zero.

    Example:
        >>> tf.Session().run(tf.truncatediv([7, -7], 2))
        array([ 3, -3], dtype=int32)
    """,
)
export("truncatediv")(truncate_div)


def _floor_mod_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    x, y = tf.conj(op.inputs[0]), tf.conj(op.inputs[1])
    shape_x, shape_y, axes_x, axes_y = shapes_and_axes(x, y)
    # x mod y = x - floor(x / y) * y, and the floor is constant between its jumps.
    floor_xy = floor_div(x, y)
    grad_x = sum_to(grad, axes_x, shape_x)
    return grad_x, sum_to(grad * tf.negative(floor_xy), axes_y, shape_y)


# Away from the multiples of y, where the remainder jumps.
_REMAINDERS = {"ranges": [(0.2, 0.8), (1, 2)]}

floor_mod = elementwise(
    "FloorMod",
    _SIGNATURE,
    _REAL,
    body=k.floormod,
    sizes=np.remainder,
    guard=_NO_ZERO_DIVISOR,
    gradient=_floor_mod_gradient,
    test=lambda: _REMAINDERS,
    doc="""The remainder of FloorDiv; it has the sign of y.

    Example:
        >>> tf.Session().run(tf.mod([7, -7], 3))
        array([1, 2], dtype=int32)
    """,
)
export("math.floormod", "floormod", "math.mod", "mod")(floor_mod)

_NO_TRUNCATED = NoGradient("TensorFlow registers none")

raw_mod = elementwise(
    "Mod",
    _SIGNATURE,
    _REAL,
    body=k.truncatemod,
    guard=_NO_ZERO_DIVISOR,
    gradient=_NO_TRUNCATED,
    test=lambda: _DIVISORS,
    doc="The remainder of TruncateDiv; it has the sign of x.",
)

truncate_mod = elementwise(
    "TruncateMod",
    _SIGNATURE,
    _REAL,
    body=k.truncatemod,
    guard=_NO_ZERO_DIVISOR,
    gradient=_NO_TRUNCATED,
    test=lambda: _DIVISORS,
    doc="""The remainder of TruncateDiv; it has the sign of x.

    Example:
        >>> tf.Session().run(tf.truncatemod([7, -7], 3))
        array([ 1, -1], dtype=int32)
    """,
)
export("truncatemod")(truncate_mod)


_NO_NEGATIVE_POWER = Guard(
    1, lambda y: k.lt(y, 0), "Integers to negative integer powers are not allowed"
)


def _pow_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    x, y = op.inputs
    of_x, of_y = smart_broadcast(x, y, grad)
    x, y = tf.conj(x), tf.conj(y)
    # d(x**y)/dx = y * x**(y - 1), d(x**y)/dy = x**y * log(x).
    grad_x = undo_broadcast(grad * y * pow(x, y - 1), of_x)
    z = tf.conj(op.outputs[0])
    # The real logarithm is taken where it exists: elsewhere the derivative by y is set to zero.
    mask = tf.not_equal(x, 0) if x.dtype.is_complex else x > 0
    safe_x = tf.where(mask, x, tf.ones_like(x))
    log_x = tf.where(mask, tf.log(safe_x), tf.zeros_like(x))
    return grad_x, undo_broadcast(grad * z * log_x, of_y)


raw_pow = elementwise(
    "Pow",
    _SIGNATURE,
    _FEWER,
    body=k.pow,
    guard=_NO_NEGATIVE_POWER,
    gradient=_pow_gradient,
    test={"ranges": [(0.5, 2), (0.5, 3)]},
    doc="x to the power of y, element by element.",
)


@export("math.pow", "pow")
@dispatched
def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x to the power y, element by element; the operator `**` of tensors.

    Args:
        x: a tensor of float16, float32, float64, int32, int64, complex64 or complex128.
        y: a tensor of the dtype of `x`; the shapes broadcast.
        name: of the operation.

    Returns:
        A tensor of the dtype of `x`, of the shape that both broadcast to.

    Raises:
        TypeError: a dtype is none of these, or they differ.
        ValueError: shapes known in the graph do not broadcast.
        InvalidArgumentError: an integer power is negative, or shapes of a run do not broadcast.

    Example:
        >>> tf.Session().run(tf.pow([2, 3], [[1], [3]]))
        array([[ 2,  3],
               [ 8, 27]], dtype=int32)
    """
    with name_scope(name, "Pow", [x]) as name:
        return raw_pow(x, y, name=name)


def _extreme_gradient(
    op: Operation, grad: Tensor, selects_x: Callable[..., Any]
) -> tuple[Any, Any]:
    x, y = op.inputs
    shape_x, shape_y, grad_shape = tf.shape(x), tf.shape(y), tf.shape(grad)
    zeros = tf.zeros(grad_shape, grad.dtype)
    # Where both are equal, all of the gradient goes to x: the comparisons include equality.
    mask = selects_x(x, y)
    axes_x, axes_y = raw.BroadcastGradientArgs(shape_x, shape_y)
    grad_x = sum_to(tf.where(mask, grad, zeros), axes_x, shape_x)
    return grad_x, sum_to(tf.where(mask, zeros, grad), axes_y, shape_y)


_EXTREME = "T: {bfloat16, half, float32, float64, int32, int64}"


def _maximum_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    return _extreme_gradient(op, grad, tf.greater_equal)


maximum = elementwise(
    "Maximum",
    _SIGNATURE,
    _EXTREME,
    body=k.maximum,
    sizes=np.maximum,
    gradient=_maximum_gradient,
    doc="""The greater of x and y, element by element.

    Example:
        >>> tf.Session().run(tf.maximum([1.0, 5.0], 2.0))
        array([2., 5.], dtype=float32)
    """,
)
export("math.maximum", "maximum")(maximum)


def _minimum_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    return _extreme_gradient(op, grad, tf.less_equal)


minimum = elementwise(
    "Minimum",
    _SIGNATURE,
    _EXTREME,
    body=k.minimum,
    sizes=np.minimum,
    gradient=_minimum_gradient,
    doc="""The smaller of x and y, element by element.

    Example:
        >>> tf.Session().run(tf.minimum([1.0, 5.0], 2.0))
        array([1., 2.], dtype=float32)
    """,
)
export("math.minimum", "minimum")(minimum)


def _squared_difference_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    x, y = op.inputs
    with control_dependencies([grad]):
        # The slope is 2 * (x - y) for x and its negative for y.  1.15 takes no conjugate here,
        # though the op itself does.
        grad_x = tf.scalar_mul(2.0, grad) * (x - y)
    if shapes_equal(x, y, grad):
        return grad_x, -grad_x
    of_x, of_y = smart_broadcast(x, y, grad)
    return undo_broadcast(grad_x, of_x), -undo_broadcast(grad_x, of_y)


def _squared_difference(x: Operand, y: Operand) -> Any:
    difference = k.sub(x, y)
    return k.mul(difference, k.conj(difference))


squared_difference = elementwise(
    "SquaredDifference",
    _SIGNATURE,
    _FEWER,
    body=_squared_difference,
    gradient=_squared_difference_gradient,
    commutative=True,
    doc="""(x - y) times its conjugate, element by element.

    Example:
        >>> tf.Session().run(tf.squared_difference([1.0, 5.0], 2.0))
        array([1., 9.], dtype=float32)
    """,
)
export("math.squared_difference", "squared_difference")(squared_difference)


def _not_zero(x: Tensor) -> Any:
    zero = tf.cast(0.0, dtype=x.dtype)
    return tf.cast(tf.not_equal(x, zero), dtype=x.dtype)


def _xlogy_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    x, y = op.inputs
    where = shapes_and_axes(x, y)
    with control_dependencies([grad]):
        # d/dx = log(y), but zero where x is: x * log(y) is zero there for every y by definition.
        partial_x = xlogy(_not_zero(x), y)
        partial_y = xdivy(x, y)
        shape_x, shape_y, axes_x, axes_y = where
        grad_x = sum_to(partial_x * grad, axes_x, shape_x)
        return grad_x, sum_to(partial_y * grad, axes_y, shape_y)


def _xdivy_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    x, y = op.inputs
    shape_x, shape_y, axes_x, axes_y = shapes_and_axes(x, y)
    with control_dependencies([grad]):
        # d/dx = 1 / y and d/dy = -x / y**2; both are zero where x is, as the quotient is by
        # definition.
        partial_x = xdivy(_not_zero(x), y)
        partial_y = xdivy(tf.negative(x), y**2)
        grad_x = sum_to(partial_x * grad, axes_x, shape_x)
        return grad_x, sum_to(partial_y * grad, axes_y, shape_y)


_POSITIVE_SECOND = {"ranges": [(-2, 2), (0.5, 3)]}

xlogy = elementwise(
    "Xlogy",
    _SIGNATURE,
    _NO_NAN,
    body=lambda x, y: _zero_where(k.eq(x, 0), k.mul(x, k.log(y))),
    gradient=_xlogy_gradient,
    test=lambda: _POSITIVE_SECOND,
    doc="""x * log(y), and zero where x is zero.

    Example:
        >>> tf.Session().run(tf.math.xlogy([0.0, 2.0], [0.0, 1.0]))
        array([0., 0.], dtype=float32)
    """,
)
export("math.xlogy")(xlogy)

xdivy = elementwise(
    "Xdivy",
    _SIGNATURE,
    _NO_NAN,
    body=lambda x, y: _zero_where(k.eq(x, 0), k.div(x, y)),
    gradient=_xdivy_gradient,
    test=lambda: _POSITIVE_SECOND,
    doc="""x / y, and zero where x is zero.

    Example:
        >>> tf.Session().run(tf.math.xdivy([0.0, 2.0], [0.0, 4.0]))
        array([0. , 0.5], dtype=float32)
    """,
)
export("math.xdivy")(xdivy)
