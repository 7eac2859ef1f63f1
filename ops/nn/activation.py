# SPDX-License-Identifier: Apache-2.0
"""Activations: relu and its kin, elu, selu, softplus, softsign, and their gradient ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.registry import NoGradient
from ...engine.types import dtypes
from ...jit.kernel import scalar as k
from ..elementwise import elementwise
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.kernel.scalar import Operand
    from ...jit.trace.tracer import OpView

_FLOATS = "T: {half, bfloat16, float32, float64}"
_REAL = "T: realnumbertype"
_FORWARD = "features: T -> activations: T"
_BACKWARD = "gradients: T, features: T -> backprops: T"
_FROM_OUTPUT = "gradients: T, outputs: T -> backprops: T"
_FLOAT_TEST = {"ranges": [(-4.0, 4.0)], "dtypes": ["float32", "float64"], "gradient": True}


def _zero(x: Operand) -> Any:
    return k.const_like(0, x)


def _zeros(x: Tensor) -> Tensor:
    return tf.zeros(shape=tf.shape(x), dtype=x.dtype)


def _gated(condition: Operand, grad: Operand) -> Any:
    # TensorFlow multiplies by the condition: no number and infinity times zero are no numbers.
    return k.select(condition, grad, k.mul(grad, _zero(grad)))


relu = elementwise(
    "Relu",
    _FORWARD,
    "T: realnumbertype, qint8",
    body=lambda x: k.maximum(x, _zero(x)),
    # The output is positive where the input is, so the input need not be kept for the gradient.
    gradient=lambda op, grad: raw.ReluGrad(grad, op.outputs[0]),
    doc="""max(features, 0), element by element: the rectified linear unit.

    Args:
        features: of any shape

    Example:
        >>> tf.Session().run(tf.nn.relu([-1.0, 2.0]))
        array([0., 2.], dtype=float32)
    """,
    test={"dtypes": ["float32", "float64", "int32"], "gradient": True},
)
export("nn.relu")(relu)
elementwise(
    "ReluGrad",
    _BACKWARD,
    _REAL,
    body=lambda grad, x: _gated(k.gt(x, _zero(x)), grad),
    gradient=lambda op, grad: (raw.ReluGrad(grad, op.inputs[1]), _zeros(op.inputs[1])),
    doc="The gradient of relu: passes where the features, or outputs, are positive.",
    alike=True,
)
elementwise(
    "Relu6",
    _FORWARD,
    _REAL,
    body=lambda x: k.minimum(k.maximum(x, _zero(x)), k.const_like(6, x)),
    gradient=lambda op, grad: raw.Relu6Grad(grad, op.outputs[0]),
    doc="min(max(features, 0), 6).",
    test={"dtypes": ["float32", "float64", "int32"], "gradient": True},
)


def _relu6_gradient(grad: Operand, x: Operand) -> Any:
    return _gated(k.logical_and(k.gt(x, _zero(x)), k.lt(x, k.const_like(6, x))), grad)


elementwise(
    "Relu6Grad",
    _BACKWARD,
    _REAL,
    body=_relu6_gradient,
    gradient=lambda op, grad: (raw.Relu6Grad(grad, op.inputs[1]), _zeros(op.inputs[1])),
    doc="The gradient of relu6.",
    alike=True,
)


def _leaky(op: KernelContext | OpView) -> Any:
    alpha = op.attr("alpha")
    return lambda x: k.select(k.gt(x, _zero(x)), x, k.mul(x, alpha))


def _leaky_backward(op: KernelContext | OpView) -> Any:
    alpha = op.attr("alpha")
    return lambda grad, x: k.select(k.gt(x, _zero(x)), grad, k.mul(grad, alpha))


_LEAKY_ATTRS = "alpha: float = 0.2; T: {half, bfloat16, float32, float64} = float32"
elementwise(
    "LeakyRelu",
    _FORWARD,
    _LEAKY_ATTRS,
    attr_body=_leaky,
    gradient=lambda op, grad: raw.LeakyReluGrad(grad, op.inputs[0], alpha=op.get_attr("alpha")),
    doc="The features where positive, else alpha * features.",
    test=lambda: {**_FLOAT_TEST, "attrs": [{}, {"alpha": 0.1}]},
)
elementwise(
    "LeakyReluGrad",
    _BACKWARD,
    _LEAKY_ATTRS,
    attr_body=_leaky_backward,
    gradient=lambda op, grad: (
        raw.LeakyReluGrad(grad, op.inputs[1], alpha=op.get_attr("alpha")),
        _zeros(op.inputs[1]),
    ),
    doc="The gradient of leaky_relu.",
    alike=True,
)
elu = elementwise(
    "Elu",
    _FORWARD,
    _FLOATS,
    body=lambda x: k.select(k.lt(x, _zero(x)), k.expm1(x), x),
    gradient=lambda op, grad: raw.EluGrad(grad, op.outputs[0]),
    doc="""The exponential linear unit: exp(features) - 1 where that is negative, else features.

    Example:
        >>> tf.Session().run(tf.nn.elu([-1.0, 2.0]))
        array([-0.63212055,  2.        ], dtype=float32)
    """,
    test=lambda: _FLOAT_TEST,
)
export("nn.elu")(elu)


def _elu_second(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    outputs = op.inputs[1]
    # EluGrad = dy * (y + 1) for y < 0, so dy is its slope by y there; elsewhere it does not depend
    # on y.
    return (
        raw.EluGrad(grad, outputs),
        tf.where(outputs < 0, grad * op.inputs[0], tf.zeros_like(outputs)),
    )


elementwise(
    "EluGrad",
    _FROM_OUTPUT,
    _FLOATS,
    body=lambda grad, y: k.select(
        k.lt(y, _zero(y)), k.mul(k.add(y, k.const_like(1, y)), grad), grad
    ),
    gradient=_elu_second,
    doc="The gradient of elu, from its outputs.",
    alike=True,
)
# Scale and scale * alpha, which keep mean zero and variance one from layer to layer.
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA = 1.7580993408473768599402175208123


def _selu(x: Operand) -> Any:
    low = k.mul(k.expm1(x), _SELU_SCALE_ALPHA)
    return k.select(k.lt(x, _zero(x)), low, k.mul(x, _SELU_SCALE))


def _selu_backward(grad: Operand, y: Operand) -> Any:
    # For x < 0, y = scale_alpha * (exp(x) - 1), so dy/dx = scale_alpha * exp(x) = y + scale_alpha.
    low = k.mul(grad, k.add(y, k.const_like(_SELU_SCALE_ALPHA, y)))
    return k.select(k.lt(y, _zero(y)), low, k.mul(grad, _SELU_SCALE))


def _selu_second(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    outputs = op.inputs[1]
    return (
        raw.SeluGrad(grad, outputs),
        tf.where(outputs < 0.0, grad * op.inputs[0], tf.zeros_like(outputs)),
    )


selu = elementwise(
    "Selu",
    _FORWARD,
    _FLOATS,
    body=_selu,
    gradient=lambda op, grad: raw.SeluGrad(grad, op.outputs[0]),
    doc="""scale * features where positive, else scale * alpha * (exp(features) - 1).

    Example:
        >>> tf.Session().run(tf.nn.selu([-1.0, 2.0]))
        array([-1.1113307,  2.101402 ], dtype=float32)
    """,
    test=lambda: _FLOAT_TEST,
)
export("nn.selu")(selu)
elementwise(
    "SeluGrad",
    _FROM_OUTPUT,
    _FLOATS,
    body=_selu_backward,
    gradient=_selu_second,
    doc="The gradient of selu, from its outputs.",
    alike=True,
)


def _softplus(x: Operand) -> Any:
    name = str(x.dtype)
    # TensorFlow's half says that its epsilon is 2**-13.
    known = {"bfloat16": 2.0**-7, "float16": 2.0**-13}
    epsilon = known.get(name) or float(np.finfo(name).eps)
    # The offset of 2 is TensorFlow's, found by experiment (softplus_op.h).
    threshold = float(np.log(epsilon) + 2.0)
    small = k.lt(x, k.const_like(threshold, x))
    large = k.gt(x, k.const_like(-threshold, x))
    # exp(x) and x are exact to rounding where log(1 + exp(x)) would lose or overflow.
    e = k.exp(k.select(large, _zero(x), x))
    return k.select(large, x, k.select(small, e, k.log1p(e)))


def _softplus_second(op: Operation, grad: Tensor) -> tuple[Tensor, Any]:
    dy, x = op.inputs
    with control_dependencies([grad]):
        ddy = raw.SoftplusGrad(grad, x)
        # The slope of 1 / (1 + exp(-x)) is exp(-x) / (1 + exp(-x))**2, here divided by exp(-x).
        d2x = grad * dy / (tf.exp(-x) + 2.0 + tf.exp(x))
        return ddy, d2x


softplus = elementwise(
    "Softplus",
    _FORWARD,
    _FLOATS,
    body=_softplus,
    gradient=lambda op, grad: grad * tf.sigmoid(op.inputs[0]),
    doc="""log(exp(features) + 1), element by element; computed without overflow.

    Example:
        >>> tf.Session().run(tf.nn.softplus([-1.0, 0.0, 30.0]))
        array([ 0.31326163,  0.6931472 , 30.        ], dtype=float32)
    """,
    test=lambda: _FLOAT_TEST,
)
export("math.softplus", "nn.softplus")(softplus)
elementwise(
    "SoftplusGrad",
    _BACKWARD,
    _FLOATS,
    body=lambda grad, x: k.div(grad, k.add(k.exp(k.neg(x)), k.const_like(1, x))),
    gradient=_softplus_second,
    doc="The gradient of softplus.",
    alike=True,
)


def _one_plus_abs(x: Operand) -> Any:
    return k.add(k.const_like(1, x), k.abs(x))


softsign = elementwise(
    "Softsign",
    _FORWARD,
    _FLOATS,
    body=lambda x: k.div(x, _one_plus_abs(x)),
    gradient=lambda op, grad: raw.SoftsignGrad(grad, op.inputs[0]),
    doc="""features / (abs(features) + 1).

    Example:
        >>> tf.Session().run(tf.nn.softsign([-1.0, 3.0]))
        array([-0.5 ,  0.75], dtype=float32)
    """,
    test=lambda: _FLOAT_TEST,
)
export("nn.softsign", "math.softsign")(softsign)


elementwise(
    "SoftsignGrad",
    _BACKWARD,
    _FLOATS,
    body=lambda grad, x: k.div(grad, k.square(_one_plus_abs(x))),
    gradient=NoGradient("TensorFlow has none"),
    doc="The gradient of softsign.",
    alike=True,
)


@export("nn.relu6")
def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """min(max(features, 0), 6), element by element.

    Args:
        features: a tensor of real numbers.
        name: of the operation.

    Returns:
        A Tensor of its dtype and shape.

    Raises:
        TypeError: the dtype is another, such as complex64.

    Example:
        >>> tf.Session().run(tf.nn.relu6([-1.0, 2.0, 9.0]))
        array([0., 2., 6.], dtype=float32)
    """
    with name_scope(name, "Relu6", [features]) as name:
        return raw.Relu6(convert_to_tensor(features, name="features"), name=name)


@export("nn.leaky_relu")
def leaky_relu(features: TensorLike, alpha: Any = 0.2, name: str | None = None) -> Tensor:
    """The features where they are positive, else alpha * features.

    Args:
        features: a tensor of real numbers; integers become float32.
        alpha: the slope below 0, a number or a scalar tensor.
        name: of the operation.

    Returns:
        A Tensor of that dtype and of the shape of `features`.

    Raises:
        ValueError: `features` cannot be made a tensor.

    Example:
        >>> tf.Session().run(tf.nn.leaky_relu([-1.0, 2.0]))
        array([-0.2,  2. ], dtype=float32)
    """
    with name_scope(name, "LeakyRelu", [features, alpha]) as name:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = tf.cast(features, dtypes.float32)
        alpha = alpha.item() if isinstance(alpha, np.ndarray) else alpha
        return raw.LeakyRelu(features, alpha=alpha, name=name)


@export("nn.crelu")
def crelu(features: TensorLike, name: str | None = None, axis: int = -1) -> Any:
    """Relu of the features and of their negation, side by side."""
    with name_scope(name, "CRelu", [features]) as name:
        features = convert_to_tensor(features, name="features")
        both = tf.concat([features, -features], axis, name=name)
        return relu(both)


@export("nn.relu_layer")
def relu_layer(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Any:
    """relu(matmul(x, weights) + biases)."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as name:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        from .bias import bias_add

        return relu(bias_add(tf.matmul(x, weights), biases), name=name)


@export("nn.swish")
def swish(features: TensorLike) -> Any:
    """features * sigmoid(features); the gradient computes the sigmoid again."""

    @tf.custom_gradient
    def of(features: TensorLike) -> Any:
        def grad(dy: object) -> Any:
            # Only the features are kept for the gradient.  Without the dependency the second
            # sigmoid could be merged with the first, which would have to be kept as well.
            with control_dependencies([dy]):
                sigmoid = tf.sigmoid(features)
            return dy * (sigmoid * (1.0 + features * (1.0 - sigmoid)))

        return features * tf.sigmoid(features), grad

    return of(convert_to_tensor(features, name="features"))
