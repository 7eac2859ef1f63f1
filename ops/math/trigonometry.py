# SPDX-License-Identifier: Apache-2.0
"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.scope_functions import control_dependencies
from ...jit.kernel import scalar as k
from ..array.constant import constant
from ..elementwise import elementwise, maps_sparse
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

_SIGNATURE = "x: T -> y: T"
_ANY = "T: {bfloat16, half, float32, float64, int32, int64, complex64, complex128}"
_COMPLEX = "T: {bfloat16, half, float32, float64, complex64, complex128}"
_FLOATS = ["float32", "float64"]
_UNIT = {"ranges": [(-0.9, 0.9)], "dtypes": _FLOATS}
_SMALL = {"ranges": [(-1.2, 1.2)], "dtypes": _FLOATS}


def _sin_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        return grad * cos(tf.conj(op.inputs[0]))


def _cos_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        x = tf.conj(op.inputs[0])
        return -grad * sin(x)


def _tan_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        # tan' = 1 / cos**2.
        secant = tf.reciprocal(cos(tf.conj(op.inputs[0])))
        return tf.square(secant) * grad


sin = elementwise(
    "Sin",
    _SIGNATURE,
    _COMPLEX,
    body=k.sin,
    gradient=_sin_gradient,
    doc="""The sine of angles in radians.

    Example:
        >>> tf.Session().run(tf.sin([0.0, 1.0]))
        array([0.      , 0.841471], dtype=float32)
    """,
)
export("math.sin", "sin")(sin)
cos = elementwise(
    "Cos",
    _SIGNATURE,
    _COMPLEX,
    body=k.cos,
    gradient=_cos_gradient,
    doc="""The cosine of angles in radians.

    Example:
        >>> tf.Session().run(tf.cos([0.0, 1.0]))
        array([1.       , 0.5403023], dtype=float32)
    """,
)
export("math.cos", "cos")(cos)
tan = elementwise(
    "Tan",
    _SIGNATURE,
    _ANY,
    body=k.tan,
    gradient=_tan_gradient,
    test=lambda: _SMALL,
    doc="""The tangent of angles in radians.

    Example:
        >>> tf.Session().run(tf.tan([0.0, 1.0]))
        array([0.       , 1.5574077], dtype=float32)
    """,
)
export("math.tan", "tan")(tan)


def _arc_slope(op: Operation, grad: Tensor) -> Tensor:
    """1 / sqrt(1 - x^2)."""
    x = tf.conj(op.inputs[0])
    x2 = tf.square(x)
    one = constant(1, dtype=grad.dtype)
    return tf.reciprocal(tf.sqrt(tf.subtract(one, x2)))


def _asin_gradient(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        return grad * _arc_slope(op, grad)


def _acos_gradient(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        slope = _arc_slope(op, grad)
        return -grad * slope


def _atan_gradient(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        x2 = tf.square(tf.conj(op.inputs[0]))
        one = constant(1, dtype=grad.dtype)
        slope = tf.reciprocal(tf.add(one, x2))
        return grad * slope


asin = elementwise(
    "Asin",
    _SIGNATURE,
    _ANY,
    body=k.asin,
    gradient=_asin_gradient,
    test=lambda: _UNIT,
    doc="""The angle in radians whose sine is x: not a number outside of [-1, 1].

    Example:
        >>> tf.Session().run(tf.asin([0.0, 1.0]))
        array([0.       , 1.5707964], dtype=float32)
    """,
)
export("math.asin", "asin")(asin)
acos = elementwise(
    "Acos",
    _SIGNATURE,
    _ANY,
    body=k.acos,
    gradient=_acos_gradient,
    test=lambda: _UNIT,
    doc="""The angle in radians whose cosine is x: not a number outside of [-1, 1].

    Example:
        >>> tf.Session().run(tf.acos([0.0, 1.0]))
        array([1.5707964, 0.       ], dtype=float32)
    """,
)
export("math.acos", "acos")(acos)
atan = elementwise(
    "Atan",
    _SIGNATURE,
    _ANY,
    body=k.atan,
    gradient=_atan_gradient,
    test=lambda: _SMALL,
    doc="""The angle in radians whose tangent is x.

    Example:
        >>> tf.Session().run(tf.atan([0.0, 1.0]))
        array([0.       , 0.7853982], dtype=float32)
    """,
)
export("math.atan", "atan")(atan)


def _atan2_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    y, x = op.inputs
    with control_dependencies([grad]):
        # d/dy = x / (x**2 + y**2), d/dx = -y / (x**2 + y**2): the first input is y.
        slope = grad / (tf.square(x) + tf.square(y))
        return x * slope, -y * slope


atan2 = elementwise(
    "Atan2",
    "y: T, x: T -> z: T",
    "T: {bfloat16, half, float32, float64}",
    body=k.atan2,
    gradient=_atan2_gradient,
    test={"ranges": [(0.5, 2), (0.5, 2)], "shapes": [[[2, 3], [2, 3]]]},
    doc="""The angle of the point (x, y), in its own quadrant.

    Example:
        >>> tf.Session().run(tf.atan2([1.0, -1.0], [0.0, -1.0]))
        array([ 1.5707964, -2.3561945], dtype=float32)
    """,
)
export("math.atan2", "atan2")(atan2)


def _sinh_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        return grad * cosh(tf.conj(op.inputs[0]))


def _cosh_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        return grad * sinh(tf.conj(op.inputs[0]))


def _tanh_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        return tanh_grad(tf.conj(op.outputs[0]), grad)


# z = b * (1 - a**2): dz/da = -2 * b * a, and dz/db = 1 - a**2 is TanhGrad again.
def _tanh_grad_gradient(op: Operation, grad: Tensor) -> tuple[Any, Any]:
    with control_dependencies([grad]):
        a, b = tf.conj(op.inputs[0]), tf.conj(op.inputs[1])
        return grad * -2.0 * b * a, tanh_grad(a, grad)


sinh = elementwise(
    "Sinh",
    _SIGNATURE,
    _COMPLEX,
    body=k.sinh,
    gradient=_sinh_gradient,
    doc="""The hyperbolic sine.

    Example:
        >>> tf.Session().run(tf.sinh([0.0, 1.0]))
        array([0.       , 1.1752012], dtype=float32)
    """,
)
export("math.sinh", "sinh")(sinh)
cosh = elementwise(
    "Cosh",
    _SIGNATURE,
    _COMPLEX,
    body=k.cosh,
    gradient=_cosh_gradient,
    doc="""The hyperbolic cosine.

    Example:
        >>> tf.Session().run(tf.cosh([0.0, 1.0]))
        array([1.       , 1.5430807], dtype=float32)
    """,
)
export("math.cosh", "cosh")(cosh)
tanh = elementwise(
    "Tanh",
    _SIGNATURE,
    _COMPLEX,
    body=k.tanh,
    gradient=_tanh_gradient,
    doc="""The hyperbolic tangent.

    Example:
        >>> tf.Session().run(tf.tanh([0.0, 1.0]))
        array([0.       , 0.7615942], dtype=float32)
    """,
)
export("math.tanh", "nn.tanh", "tanh")(maps_sparse(tanh))
tanh_grad = elementwise(
    "TanhGrad",
    "y: T, dy: T -> z: T",
    _COMPLEX,
    body=lambda y, dy: k.mul(dy, k.sub(1, k.mul(y, y))),
    broadcast=False,
    gradient=_tanh_grad_gradient,
    doc="dy * (1 - y * y) for y = tanh(x).",
)


# sinh' = cosh, so the inverse has the slope 1 / cosh at its own result.
def _asinh_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        return grad / cosh(tf.conj(op.outputs[0]))


def _acosh_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        return grad / sinh(tf.conj(op.outputs[0]))


def _atanh_gradient(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        x2 = tf.square(tf.conj(op.inputs[0]))
        one = constant(1, dtype=grad.dtype)
        slope = tf.reciprocal(tf.subtract(one, x2))
        return grad * slope


asinh = elementwise(
    "Asinh",
    _SIGNATURE,
    _COMPLEX,
    body=k.asinh,
    gradient=_asinh_gradient,
    doc="""The inverse of the hyperbolic sine.

    Example:
        >>> tf.Session().run(tf.asinh([0.0, 1.0]))
        array([0.       , 0.8813736], dtype=float32)
    """,
)
export("math.asinh", "asinh")(asinh)
acosh = elementwise(
    "Acosh",
    _SIGNATURE,
    _COMPLEX,
    body=k.acosh,
    gradient=_acosh_gradient,
    test={"ranges": [(1.2, 3)]},
    doc="""The inverse of the hyperbolic cosine.

    Example:
        >>> tf.Session().run(tf.acosh([1.0, 2.0]))
        array([0.      , 1.316958], dtype=float32)
    """,
)
export("math.acosh", "acosh")(acosh)
atanh = elementwise(
    "Atanh",
    _SIGNATURE,
    _COMPLEX,
    body=k.atanh,
    gradient=_atanh_gradient,
    test=lambda: _UNIT,
    doc="""The inverse of the hyperbolic tangent.

    Example:
        >>> tf.Session().run(tf.atanh([0.0, 0.5]))
        array([0.        , 0.54930615], dtype=float32)
    """,
)
export("math.atanh", "atanh")(atanh)
