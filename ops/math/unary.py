# SPDX-License-Identifier: Apache-2.0
"""Functions of one tensor: signs, roots, exponentials, logarithms, rounding; their *Grad ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.registry import NoGradient
from ...engine.graph.scope_functions import control_dependencies, name_scope
from ...jit.kernel import scalar as k
from ..array.constant import constant
from ..elementwise import Guard, elementwise, is_complex, is_integer, maps_sparse
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.build import OpFunction
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.kernel.scalar import Operand

_SIGNATURE = "x: T -> y: T"
_ANY = "T: {bfloat16, half, float32, float64, int32, int64, complex64, complex128}"
_COMPLEX = "T: {bfloat16, half, float32, float64, complex64, complex128}"
_FLOAT = "T: {bfloat16, half, float32, float64}"
_GRAD = "y: T, dy: T -> z: T"
_SMALL = {"ranges": [(-2, 2)]}
_POSITIVE = {"ranges": [(0.3, 3)]}


def conj(x: Operand) -> Any:
    """The conjugate in a scalar body; nothing for real numbers."""
    return k.conj(x) if is_complex(x) else x


# Eigen's functors of 1.15 look at dy first (cwise_ops_gradients.h), so that the infinite slope of a
# root at zero does no harm where nothing depends on the root.
def unless_zero(dy: Operand, gradient: Operand) -> Any:
    """The gradient; zero where dy is, even if the derivative is infinite or not a number."""
    return k.select(k.eq(dy, k.const_like(0, dy)), k.const_like(0, dy), gradient)


def no_gradient(op: Operation, grad: Tensor) -> list[None]:
    """The gradient of a step function."""
    return [None]


raw_abs = elementwise(
    "Abs",
    _SIGNATURE,
    "T: {bfloat16, half, float32, float64, int8, int16, int32, int64}",
    body=k.abs,
    gradient=lambda op, grad: grad * tf.sign(op.inputs[0]),
    doc="The absolute value.",
)


@export("math.abs", "abs")
@maps_sparse
def abs(x: TensorLike, name: str | None = None) -> Any:
    """The absolute value; of complex numbers, their modulus as a real number.

    Args:
        x: a Tensor of numbers, or a SparseTensor, whose values are mapped.
        name: of the operation.

    Returns:
        What `x` is, of its shape and dtype; complex64 gives float32, and complex128 float64.

    Raises:
        TypeError: the dtype has no absolute value: unsigned integers, bools, strings.

    Example:
        >>> tf.Session().run([tf.abs([-2, 3]), tf.abs([3 + 4j])])
        [array([2, 3], dtype=int32), array([5.])]
    """
    with name_scope(name, "Abs", [x]) as name:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return raw.ComplexAbs(x, Tout=x.dtype.real_dtype, name=name)
        return raw_abs(x, name=name)


negative = elementwise(
    "Neg",
    _SIGNATURE,
    _ANY,
    body=k.neg,
    sizes=np.negative,
    gradient=lambda op, grad: -grad,
    doc="""-x, element by element.

    Example:
        >>> tf.Session().run(tf.negative([1, -2]))
        array([-1,  2], dtype=int32)
    """,
)
export("math.negative", "negative")(maps_sparse(negative))


def _sign_gradient(op: Operation, grad: Tensor) -> Tensor:
    x = op.inputs[0]
    return tf.zeros(tf.shape(x), dtype=x.dtype)


sign = elementwise(
    "Sign",
    _SIGNATURE,
    _ANY,
    body=k.sign,
    gradient=_sign_gradient,
    doc="""-1, 0 or 1 by the sign; of complex numbers, x / |x|.

    Example:
        >>> tf.Session().run(tf.sign([-2.0, 0.0, 3.0]))
        array([-1.,  0.,  1.], dtype=float32)
    """,
)
export("math.sign", "sign")(maps_sparse(sign))


# Reciprocals


def _reciprocal_gradient(op: Operation, grad: Tensor) -> Any:
    return reciprocal_grad(op.outputs[0], grad)


# z = -dy * y**2: dz/dy = -2 * dy * y, and dz/d(dy) = -y**2 is what ReciprocalGrad multiplies by.
def _reciprocal_grad_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    b = op.inputs[1]
    with control_dependencies([grad]):
        ca, cg = tf.conj(op.inputs[0]), tf.conj(grad)
        return cg * -2.0 * b * ca, reciprocal_grad(ca, grad)


def _reciprocal_grad_body(y: Operand, dy: Operand) -> Any:
    y = conj(y)
    return unless_zero(dy, k.mul(k.neg(k.mul(y, y)), dy))


def _reciprocal_body(x: Operand) -> Any:
    one = k.const_like(1, x)
    return k.truncatediv(one, x) if is_integer(x) else k.reciprocal(x)


_NO_ZERO = Guard(0, lambda x: k.eq(x, 0), "Integer division by zero")

reciprocal = elementwise(
    "Reciprocal",
    _SIGNATURE,
    _ANY,
    body=_reciprocal_body,
    guard=_NO_ZERO,
    gradient=_reciprocal_gradient,
    test=lambda: {**_POSITIVE, "dtypes": ["float32", "float64"]},
    doc="""1 / x, element by element.

    Example:
        >>> tf.Session().run(tf.reciprocal([1.0, 4.0]))
        array([1.  , 0.25], dtype=float32)
    """,
)
export("math.reciprocal", "reciprocal")(reciprocal)
inverse = elementwise(
    "Inv",
    _SIGNATURE,
    _ANY,
    body=_reciprocal_body,
    guard=_NO_ZERO,
    gradient=_reciprocal_gradient,
    test=lambda: {**_POSITIVE, "dtypes": ["float32", "float64"]},
    doc="1 / x, element by element: the older name of Reciprocal.",
)
reciprocal_grad = elementwise(
    "ReciprocalGrad",
    _GRAD,
    _COMPLEX,
    body=_reciprocal_grad_body,
    broadcast=False,
    gradient=_reciprocal_grad_gradient,
    doc="-dy * y * y for y = 1 / x.",
)
inverse_grad = elementwise(
    "InvGrad",
    _GRAD,
    _COMPLEX,
    body=_reciprocal_grad_body,
    broadcast=False,
    gradient=_reciprocal_grad_gradient,
    doc="-dy * y * y for y = 1 / x: the older name of ReciprocalGrad.",
)


@export("math.reciprocal_no_nan")
def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / x, and zero where x is zero."""
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        one = constant(1, dtype=x.dtype.base_dtype, name="one")
        return raw.DivNoNan(one, x, name=scope)


# Squares and roots


# Here and below the slope waits for the incoming gradient.  Otherwise it could be computed in the
# forward pass already and hold memory until it is read; the control input is in 1.15's graph, too.
def _square_gradient(op: Operation, grad: Tensor) -> Any:
    x = op.inputs[0]
    with control_dependencies([grad]):
        x = tf.conj(x)
        y = constant(2.0, dtype=x.dtype)
        return tf.multiply(grad, tf.multiply(x, y))


square = elementwise(
    "Square",
    _SIGNATURE,
    _ANY,
    body=k.square,
    gradient=_square_gradient,
    doc="""x * x, element by element.

    Example:
        >>> tf.Session().run(tf.square([-2, 3]))
        array([4, 9], dtype=int32)
    """,
)
export("math.square", "square")(maps_sparse(square))


# z = dy / (2 * a): dz/da = -dy / (2 * a**2) = -z / a, dz/d(dy) = 1 / (2 * a).
def _sqrt_grad_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    a, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        ga = grad / a
        return -tf.conj(ga) * y, 0.5 * ga


sqrt = elementwise(
    "Sqrt",
    _SIGNATURE,
    _COMPLEX,
    body=k.sqrt,
    gradient=lambda op, grad: sqrt_grad(op.outputs[0], grad),
    test=lambda: _POSITIVE,
    doc="""The square root: not a number below 0.

    Example:
        >>> tf.Session().run(tf.sqrt([4.0, 2.0]))
        array([2.       , 1.4142135], dtype=float32)
    """,
)
export("math.sqrt", "sqrt")(maps_sparse(sqrt))
sqrt_grad: OpFunction = elementwise(
    "SqrtGrad",
    _GRAD,
    _COMPLEX,
    body=lambda y, dy: unless_zero(dy, k.div(k.mul(dy, 0.5), conj(y))),
    broadcast=False,
    gradient=_sqrt_grad_gradient,
    test={"ranges": [(0.5, 2), (-2, 2)]},
    doc="dy * 0.5 / y for y = sqrt(x).",
)


# z = -dy * a**3 / 2: dz/da = -3/2 * dy * a**2, and dz/d(dy) = -a**3 / 2 is RsqrtGrad again.
def _rsqrt_grad_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    a, b = op.inputs
    with control_dependencies([grad]):
        ca, cg = tf.conj(a), tf.conj(grad)
        grad_a = -1.5 * cg * b * tf.square(ca)
        return grad_a, rsqrt_grad(ca, grad)


def _rsqrt_grad_body(y: Operand, dy: Operand) -> Any:
    y = conj(y)
    return unless_zero(dy, k.mul(k.mul(dy, -0.5), k.mul(k.mul(y, y), y)))


rsqrt = elementwise(
    "Rsqrt",
    _SIGNATURE,
    _COMPLEX,
    body=k.rsqrt,
    gradient=lambda op, grad: rsqrt_grad(op.outputs[0], grad),
    test=lambda: _POSITIVE,
    doc="""1 / sqrt(x), element by element: inf at 0.

    Example:
        >>> tf.Session().run(tf.rsqrt([1.0, 4.0]))
        array([1. , 0.5], dtype=float32)
    """,
)
export("math.rsqrt", "rsqrt")(rsqrt)
rsqrt_grad: OpFunction = elementwise(
    "RsqrtGrad",
    _GRAD,
    _COMPLEX,
    body=_rsqrt_grad_body,
    broadcast=False,
    gradient=_rsqrt_grad_gradient,
    doc="dy * -0.5 * y ** 3 for y = 1 / sqrt(x).",
)


# Exponentials and logarithms


def _exp_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        return grad * tf.conj(op.outputs[0])


exp = elementwise(
    "Exp",
    _SIGNATURE,
    _COMPLEX,
    body=k.exp,
    gradient=_exp_gradient,
    test=lambda: _SMALL,
    doc="""e to the power of x, element by element.

    Example:
        >>> tf.Session().run(tf.exp([0.0, 1.0]))
        array([1.      , 2.718282], dtype=float32)
    """,
)
export("math.exp", "exp")(exp)


def _expm1_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        x = tf.conj(op.inputs[0])
        y = exp(x)
        return grad * y


expm1 = elementwise(
    "Expm1",
    _SIGNATURE,
    _COMPLEX,
    body=k.expm1,
    gradient=_expm1_gradient,
    test=lambda: _SMALL,
    doc="""exp(x) - 1, exact near zero.

    Example:
        >>> tf.Session().run(tf.expm1([0.0, 1e-7]))
        array([0.0000000e+00, 1.0000001e-07], dtype=float32)
    """,
)
export("math.expm1", "expm1")(expm1)


def _log_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        x = tf.conj(op.inputs[0])
        return grad * reciprocal(x)


log = elementwise(
    "Log",
    _SIGNATURE,
    _COMPLEX,
    body=k.log,
    gradient=_log_gradient,
    test=lambda: _POSITIVE,
    doc="""The natural logarithm: -inf at 0, not a number below.

    Example:
        >>> tf.Session().run(tf.log([1.0, 10.0]))
        array([0.       , 2.3025851], dtype=float32)
    """,
)
export("math.log", "log")(log)


def _log1p_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        x = tf.conj(op.inputs[0])
        return grad * reciprocal(1 + x)


log1p = elementwise(
    "Log1p",
    _SIGNATURE,
    _COMPLEX,
    body=k.log1p,
    gradient=_log1p_gradient,
    test=lambda: _POSITIVE,
    doc="""log(1 + x), exact near zero.

    Example:
        >>> tf.Session().run(tf.log1p([0.0, 1e-7]))
        array([0.0000000e+00, 9.9999994e-08], dtype=float32)
    """,
)
export("math.log1p", "log1p")(log1p)


# Sigmoid


def _sigmoid_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        return sigmoid_grad(tf.conj(op.outputs[0]), grad)


# z = b * a * (1 - a): dz/da = b * (1 - 2 * a), and dz/db = a * (1 - a) is SigmoidGrad again.
def _sigmoid_grad_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    with control_dependencies([grad]):
        a, b = tf.conj(op.inputs[0]), tf.conj(op.inputs[1])
        gb = grad * b
        return gb - 2.0 * gb * a, sigmoid_grad(a, grad)


raw_sigmoid = elementwise(
    "Sigmoid",
    _SIGNATURE,
    _COMPLEX,
    body=k.sigmoid,
    gradient=_sigmoid_gradient,
    doc="1 / (1 + exp(-x)), element by element.",
)
sigmoid_grad = elementwise(
    "SigmoidGrad",
    _GRAD,
    _COMPLEX,
    body=lambda y, dy: k.mul(k.mul(dy, y), k.sub(1, y)),
    broadcast=False,
    gradient=_sigmoid_grad_gradient,
    doc="dy * y * (1 - y) for y = sigmoid(x).",
)


@export("math.sigmoid", "nn.sigmoid", "sigmoid")
def sigmoid(x: TensorLike, name: str | None = None) -> Any:
    """1 / (1 + exp(-x)), element by element: between 0 and 1.

    Args:
        x: a tensor of bfloat16, float16, float32, float64, complex64 or complex128.
        name: of the operation.

    Returns:
        A tensor of the dtype and the shape of `x`.

    Raises:
        TypeError: the dtype is none of these, such as int32.

    Example:
        >>> tf.Session().run(tf.sigmoid([-1.0, 0.0, 100.0]))
        array([0.2689414, 0.5      , 1.       ], dtype=float32)
    """
    with name_scope(name, "Sigmoid", [x]) as name:
        x = convert_to_tensor(x, name="x")
        return raw_sigmoid(x, name=name)


@export("math.log_sigmoid", "log_sigmoid")
@dispatched
def log_sigmoid(x: TensorLike, name: str | None = None) -> Any:
    """log(sigmoid(x)), computed without overflow."""
    with name_scope(name, "LogSigmoid", [x]) as name:
        x = convert_to_tensor(x, name="x")
        # log(1 / (1 + exp(-x))) = -log(1 + exp(-x)): Softplus does not overflow where exp(-x) does.
        return negative(raw.Softplus(-x), name=name)


# Rounding

_STEP = {"gradient": False}

floor = elementwise(
    "Floor",
    _SIGNATURE,
    _FLOAT,
    body=k.floor,
    gradient=no_gradient,
    test=lambda: _STEP,
    doc="""The greatest whole number that is not above x.

    Example:
        >>> tf.Session().run(tf.floor([1.5, -1.5]))
        array([ 1., -2.], dtype=float32)
    """,
)
export("math.floor", "floor")(floor)
ceil = elementwise(
    "Ceil",
    _SIGNATURE,
    _FLOAT,
    body=k.ceil,
    gradient=no_gradient,
    test=lambda: _STEP,
    doc="The least whole number that is not below x.",
)
export("math.ceil", "ceil")(ceil)
rint = elementwise(
    "Rint",
    _SIGNATURE,
    _FLOAT,
    body=k.rint,
    gradient=no_gradient,
    test=lambda: _STEP,
    doc="The nearest whole number; halves go to the even one.",
)
export("math.rint", "rint")(rint)
raw_round = elementwise(
    "Round",
    _SIGNATURE,
    _ANY,
    body=lambda x: x if is_integer(x) else k.rint(x),
    gradient=no_gradient,
    test=lambda: {**_STEP, "dtypes": ["float32", "float64"]},
    doc="The nearest integer; halves go to the even one.",
)


@export("math.round", "round")
@dispatched
def round(x: TensorLike, name: str | None = None) -> Any:
    """The nearest whole number; halves go to the even one.

    Args:
        x: a tensor of numbers; integers are returned as they are.
        name: of the operation.

    Returns:
        A tensor of the dtype and the shape of `x`.

    Raises:
        TypeError: the dtype is no number's.

    Example:
        >>> tf.Session().run(tf.round([0.5, 1.5, -1.7]))
        array([ 0.,  2., -2.], dtype=float32)
    """
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else raw_round(x, name=name)


_TEST_OF_FLOATS = "x: T -> y: bool"
_NONE_FOR_TESTS = NoGradient("the result is boolean")

is_nan = elementwise(
    "IsNan",
    _TEST_OF_FLOATS,
    _FLOAT,
    body=k.isnan,
    gradient=_NONE_FOR_TESTS,
    doc="""Whether each element is not a number.

    Example:
        >>> tf.Session().run(tf.is_nan([1.0, np.nan]))
        array([False,  True])
    """,
)
export("math.is_nan", "debugging.is_nan", "is_nan")(is_nan)
is_inf = elementwise(
    "IsInf",
    _TEST_OF_FLOATS,
    _FLOAT,
    body=k.isinf,
    gradient=_NONE_FOR_TESTS,
    doc="Whether each element is infinite.",
)
export("math.is_inf", "debugging.is_inf", "is_inf")(is_inf)
is_finite = elementwise(
    "IsFinite",
    _TEST_OF_FLOATS,
    _FLOAT,
    body=k.isfinite,
    gradient=_NONE_FOR_TESTS,
    doc="Whether each element is a finite number.",
)
export("math.is_finite", "debugging.is_finite", "is_finite")(is_finite)
