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
        secant = tf.reciprocal(cos(tf.conj(op.inputs[0])))
        return tf.square(secant) * grad


sin = elementwise("Sin", _SIGNATURE, _COMPLEX, body=k.sin, gradient=_sin_gradient, doc="The sine.")
export("math.sin", "sin")(sin)
cos = elementwise(
    "Cos", _SIGNATURE, _COMPLEX, body=k.cos, gradient=_cos_gradient, doc="The cosine."
)
export("math.cos", "cos")(cos)
tan = elementwise(
    "Tan", _SIGNATURE, _ANY, body=k.tan, gradient=_tan_gradient, test=_SMALL, doc="The tangent."
)
export("math.tan", "tan")(tan)


def _arc_slope(op: Operation, grad: Tensor) -> Any:
    """1 / sqrt(1 - x^2)."""
    x = tf.conj(op.inputs[0])
    x2 = tf.square(x)
    one = constant(1, dtype=grad.dtype)
    return tf.reciprocal(tf.sqrt(tf.subtract(one, x2)))


def _asin_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        return grad * _arc_slope(op, grad)


def _acos_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        slope = _arc_slope(op, grad)
        return -grad * slope


def _atan_gradient(op: Operation, grad: Tensor) -> Any:
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
    test=_UNIT,
    doc="The angle whose sine is x.",
)
export("math.asin", "asin")(asin)
acos = elementwise(
    "Acos",
    _SIGNATURE,
    _ANY,
    body=k.acos,
    gradient=_acos_gradient,
    test=_UNIT,
    doc="The angle whose cosine is x.",
)
export("math.acos", "acos")(acos)
atan = elementwise(
    "Atan",
    _SIGNATURE,
    _ANY,
    body=k.atan,
    gradient=_atan_gradient,
    test=_SMALL,
    doc="The angle whose tangent is x.",
)
export("math.atan", "atan")(atan)


def _atan2_gradient(op: Operation, grad: Tensor) -> Any:
    y, x = op.inputs
    with control_dependencies([grad]):
        slope = grad / (tf.square(x) + tf.square(y))
        return x * slope, -y * slope


atan2 = elementwise(
    "Atan2",
    "y: T, x: T -> z: T",
    "T: {bfloat16, half, float32, float64}",
    body=k.atan2,
    gradient=_atan2_gradient,
    test={"ranges": [(0.5, 2), (0.5, 2)], "shapes": [[[2, 3], [2, 3]]]},
    doc="The angle of the point (x, y), in its own quadrant.",
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


def _tanh_grad_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        a, b = tf.conj(op.inputs[0]), tf.conj(op.inputs[1])
        return grad * -2.0 * b * a, tanh_grad(a, grad)


sinh = elementwise(
    "Sinh", _SIGNATURE, _COMPLEX, body=k.sinh, gradient=_sinh_gradient, doc="The hyperbolic sine."
)
export("math.sinh", "sinh")(sinh)
cosh = elementwise(
    "Cosh", _SIGNATURE, _COMPLEX, body=k.cosh, gradient=_cosh_gradient, doc="The hyperbolic cosine."
)
export("math.cosh", "cosh")(cosh)
tanh = elementwise(
    "Tanh",
    _SIGNATURE,
    _COMPLEX,
    body=k.tanh,
    gradient=_tanh_gradient,
    doc="The hyperbolic tangent.",
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


def _asinh_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        return grad / cosh(tf.conj(op.outputs[0]))


def _acosh_gradient(op: Operation, grad: Tensor) -> Any:
    with control_dependencies([grad]):
        return grad / sinh(tf.conj(op.outputs[0]))


def _atanh_gradient(op: Operation, grad: Tensor) -> Any:
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
    doc="The inverse of the hyperbolic sine.",
)
export("math.asinh", "asinh")(asinh)
acosh = elementwise(
    "Acosh",
    _SIGNATURE,
    _COMPLEX,
    body=k.acosh,
    gradient=_acosh_gradient,
    test={"ranges": [(1.2, 3)]},
    doc="The inverse of the hyperbolic cosine.",
)
export("math.acosh", "acosh")(acosh)
atanh = elementwise(
    "Atanh",
    _SIGNATURE,
    _COMPLEX,
    body=k.atanh,
    gradient=_atanh_gradient,
    test=_UNIT,
    doc="The inverse of the hyperbolic tangent.",
)
export("math.atanh", "atanh")(atanh)
