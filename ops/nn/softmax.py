# SPDX-License-Identifier: Apache-2.0
"""Softmax, its logarithm, and the fused cross-entropies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.tensor import Tensor
from ...engine.types.indices import first_outside
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ..elementwise import is_lowerable
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_FLOATS = "{half, bfloat16, float32, float64}"


def _wide(x: np.ndarray) -> np.ndarray:
    """Half precision is computed in single."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


# The quotient does not change when all logits do by as much, and no exponential overflows where the
# greatest is 0.
def _shifted(logits: np.ndarray) -> np.ndarray:
    top = logits.max(axis=-1, keepdims=True, initial=-np.inf)
    return logits - top


def _require_vector(logits: np.ndarray) -> None:
    if logits.ndim < 1:
        raise errors.invalid(f"logits must have >= 1 dimension, got {shape_text(logits.shape)}")


def _softmax_kernel(c: KernelContext, logits: np.ndarray) -> np.ndarray:
    _require_vector(logits)
    with np.errstate(all="ignore"):
        e = np.exp(_shifted(_wide(logits)))
        return (e * (1 / e.sum(axis=-1, keepdims=True))).astype(logits.dtype)


def _log_softmax_kernel(c: KernelContext, logits: np.ndarray) -> np.ndarray:
    _require_vector(logits)
    with np.errstate(all="ignore"):
        shifted = _shifted(_wide(logits))
        total = np.exp(shifted).sum(axis=-1, keepdims=True)
        return (shifted - np.log(total)).astype(logits.dtype)


def _parts(b: Builder, logits: Value) -> tuple[Any, Any, Any]:
    """Shifted logits, their exponentials and the sums of those, along the last axis."""
    axes = [logits.ndim - 1]
    top = b.reduce("max", logits, axes, keepdims=True)
    shifted = b.map(k.sub, logits, top)
    e = b.map(k.exp, shifted)
    return shifted, e, b.reduce("sum", e, axes, keepdims=True)


def _lower_softmax(b: Builder, op: OpView, logits: Value) -> Any:
    if not is_lowerable(logits.dtype) or logits.ndim < 1:
        return NotImplemented
    # Times the inverse, as TensorFlow does it: one division per row.
    _, e, total = _parts(b, logits)
    return b.map(lambda e, t: k.mul(e, k.div(1.0, t)), e, total)


def _lower_log_softmax(b: Builder, op: OpView, logits: Value) -> Any:
    if not is_lowerable(logits.dtype) or logits.ndim < 1:
        return NotImplemented
    shifted, _, total = _parts(b, logits)
    return b.map(lambda s, t: k.sub(s, k.log(t)), shifted, total)


# ds_i/dx_j = s_i * (1[i = j] - s_j), so dx = (g - sum(g * s)) * s.
def _softmax_gradient(op: Operation, grad: Tensor) -> Any:
    softmax = op.outputs[0]
    total = tf.reduce_sum(grad * softmax, -1, keepdims=True)
    return (grad - total) * softmax


# d(log s_i)/dx_j = 1[i = j] - s_j, so dx = g - sum(g) * s.
def _log_softmax_gradient(op: Operation, grad: Tensor) -> Any:
    softmax = tf.exp(op.outputs[0])
    return grad - tf.reduce_sum(grad, -1, keepdims=True) * softmax


def _at_least_vector(c: ShapeContext) -> TensorShape:
    if c.inputs[0].ndims == 0:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    return c.inputs[0]


_TEST = {
    "shapes": [[[3, 4]], [[2, 3, 5]]],
    "ranges": [(-5.0, 5.0)],
    "dtypes": ["float32", "float64"],
    "gradient": True,
}
softmax_op = define(
    "Softmax",
    "logits: T -> softmax: T",
    f"T: {_FLOATS}",
    shape=_at_least_vector,
    kernel=_softmax_kernel,
    lower=_lower_softmax,
    gradient=_softmax_gradient,
    doc="exp(logits) divided by its sum along the last axis.",
    test=lambda: _TEST,
)
log_softmax_op = define(
    "LogSoftmax",
    "logits: T -> logsoftmax: T",
    f"T: {_FLOATS}",
    shape=_at_least_vector,
    kernel=_log_softmax_kernel,
    lower=_lower_log_softmax,
    gradient=_log_softmax_gradient,
    doc="The logarithm of softmax, computed without taking it.",
    test=lambda: _TEST,
)


def _swapped(logits: Tensor, axis: int, last: Tensor, name: str | None = None) -> Tensor:
    order = tf.concat([tf.range(axis), [last], tf.range(axis + 1, last), [axis]], 0)
    return tf.transpose(logits, order, name=name)


def _along(logits: Any, compute: Callable[..., Any], axis: Any, name: str | None) -> Any:
    """Applies an op of the last axis to another one, by swapping the two."""
    logits = convert_to_tensor(logits)
    shape = logits.get_shape()
    if not isinstance(axis, Tensor) and (axis == -1 or axis == (shape.ndims or 0) - 1):
        return compute(logits, name=name)
    value = constant_value(axis) if isinstance(axis, Tensor) else axis
    if value is not None and not -shape.ndims <= value < shape.ndims:
        raise errors.invalid(
            f"Dimension ({value}) must be in the range [{-shape.ndims}, {shape.ndims}) where "
            f"{shape.ndims} is the number of dimensions in the input."
        )
    rank = tf.rank(logits)
    if isinstance(axis, Tensor):
        axis = tf.where(tf.less(axis, 0), axis + rank, axis)
    elif axis < 0:
        axis += rank
    input_rank = tf.rank(logits)
    axis = axis % shape.ndims
    output = compute(_swapped(logits, axis, tf.subtract(input_rank, 1)))
    output = _swapped(output, axis, tf.subtract(input_rank, 1), name=name)
    output.set_shape(shape)
    return output


def _axis(axis: Any, dim: Any) -> Any:
    from ...engine.deprecation import deprecated_argument_lookup

    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    return -1 if axis is None else axis


@export("nn.softmax", "math.softmax")
def softmax(
    logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Any:
    """exp(logits) divided by its sum along an axis: probabilities.

    Args:
        logits: float16, bfloat16, float32 or float64, of at least one dimension.
        axis: which axis, the last one by default.
        name: of the operation.
        dim: the old name of `axis`.

    Returns:
        A Tensor of the dtype and the shape of `logits`.

    Raises:
        TypeError: the dtype is none of these.
        InvalidArgumentError: the axis is out of range.
        ValueError: there is an axis by each name.

    Example:
        >>> tf.Session().run(tf.nn.softmax([[0.0, 0.0], [0.0, 1.0]]))
        array([[0.5       , 0.5       ],
               [0.26894143, 0.7310586 ]], dtype=float32)
    """
    return _along(logits, softmax_op, _axis(axis, dim), name)


@export("nn.log_softmax", "math.log_softmax")
def log_softmax(
    logits: TensorLike, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Any:
    """The logarithm of softmax: logits - log(sum(exp(logits))) along an axis, without overflow.

    Args:
        logits: float16, bfloat16, float32 or float64, of at least one dimension.
        axis: which axis, the last one by default.
        name: of the operation.
        dim: the old name of `axis`.

    Returns:
        A Tensor of the dtype and the shape of `logits`.

    Raises:
        TypeError: the dtype is none of these.
        InvalidArgumentError: the axis is out of range.
        ValueError: there is an axis by each name.

    Example:
        >>> tf.Session().run(tf.nn.log_softmax([0.0, 100.0]))
        array([-100.,    0.], dtype=float32)
    """
    return _along(logits, log_softmax_op, _axis(axis, dim), name)


def _xent_kernel(c: KernelContext, features: np.ndarray, labels: np.ndarray) -> tuple[Any, Any]:
    try:
        features, labels = np.broadcast_arrays(features, labels)
    except ValueError:
        raise errors.invalid(
            "logits and labels must be broadcastable: logits_size="
            f"{shape_text(features.shape)} labels_size={shape_text(labels.shape)}"
        ) from None
    if features.ndim != 2:
        raise errors.invalid(
            "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional"
        )
    with np.errstate(all="ignore"):
        shifted = _shifted(_wide(features))
        e = np.exp(shifted)
        total = e.sum(axis=-1, keepdims=True)
        wide = _wide(labels)
        loss = (wide * (np.log(total) - shifted)).sum(axis=-1)
        backprop = e / total - wide
    return loss.astype(features.dtype), backprop.astype(features.dtype)


def _lower_xent(b: Builder, op: OpView, features: Value, labels: Value) -> Any:
    if features.dtype != labels.dtype or not is_lowerable(features.dtype):
        return NotImplemented
    shape = b.broadcast_shape(features.shape, labels.shape)
    features, labels = b.broadcast(features, shape), b.broadcast(labels, shape)
    shifted, e, total = _parts(b, features)
    terms = b.map(lambda y, s, t: k.mul(y, k.sub(k.log(t), s)), labels, shifted, total)
    loss = b.reduce("sum", terms, [1])
    backprop = b.map(lambda x, t, y: k.sub(k.div(x, t), y), e, total, labels)
    return loss, backprop


def _is_zero(grad: Tensor) -> bool:
    if grad.op.type in ("ZerosLike", "Zeros"):
        return True
    value = constant_value(grad)
    return value is not None and bool((value == 0).all())


def _scaled_rows(vector: Tensor, matrix: Tensor) -> Tensor:
    return tf.expand_dims(vector, -1) * matrix


def _xent_gradient(op: Operation, grad_loss: Tensor, grad_grad: Tensor) -> tuple[Any, Any]:
    grad = _scaled_rows(grad_loss, op.outputs[1])
    logits = op.inputs[0]
    if grad_grad is not None and not _is_zero(grad_grad):
        # The second output is softmax - labels; its gradient by the logits is that of a softmax.
        probabilities = softmax(logits)
        product = tf.matmul(tf.expand_dims(grad_grad, 1), tf.expand_dims(probabilities, 2))
        grad += (grad_grad - tf.squeeze(product, axis=1)) * probabilities
    # The loss is -sum(labels * log_softmax), linear in the labels.
    return grad, _scaled_rows(grad_loss, -log_softmax(logits))


def _xent_shape(c: ShapeContext) -> list[TensorShape]:
    from ..elementwise import static_broadcast

    both = static_broadcast(c.inputs[0], c.inputs[1])
    if both.ndims not in (None, 2):
        raise ValueError(f"Shape must be broadcasted with rank 2, but is rank {both.ndims}")
    both = both.with_rank(2)
    return [TensorShape([both.as_list()[0]]), both]


define(
    "SoftmaxCrossEntropyWithLogits",
    "features: T, labels: T -> loss: T, backprop: T",
    f"T: {_FLOATS}",
    shape=_xent_shape,
    kernel=_xent_kernel,
    lower=_lower_xent,
    gradient=_xent_gradient,
    doc="The cross-entropy of softmax(features) against labels, and its gradient.",
    test={
        "shapes": [[[3, 4], [3, 4]]],
        "ranges": [(-3.0, 3.0), (0.0, 1.0)],
        "dtypes": ["float32", "float64"],
        # The second output has a gradient for the features only.
        "gradient": False,
    },
)


def _sparse_kernel(c: KernelContext, features: np.ndarray, labels: np.ndarray) -> tuple[Any, Any]:
    for what, value, rank in (("logits", features, 2), ("labels", labels, 1)):
        if value.ndim != rank:
            raise errors.invalid(
                f"{what} must be {rank}-D, but got shape {shape_text(value.shape)}"
            )
    if labels.shape[0] != features.shape[0]:
        raise errors.invalid(
            f"logits and labels must have the same first dimension, got logits shape "
            f"{shape_text(features.shape)} and labels shape {shape_text(labels.shape)}"
        )
    classes = features.shape[1]
    if classes == 0 and features.shape[0]:
        raise errors.invalid(
            f"Must have at least one class, but got logits shape {shape_text(features.shape)}"
        )
    if first_outside(labels, classes) is not None:
        raise _label_error(labels, classes)
    rows = np.arange(len(labels))
    with np.errstate(all="ignore"):
        shifted = _shifted(_wide(features))
        e = np.exp(shifted)
        total = e.sum(axis=-1)
        loss = np.log(total) - shifted[rows, labels]
        backprop = e / total[:, None]
        backprop[rows, labels] -= 1
    return loss.astype(features.dtype), backprop.astype(features.dtype)


def _lower_sparse(b: Builder, op: OpView, features: Any, labels: Any) -> Any:
    fits = features.ndim == 2 and labels.ndim == 1 and labels.shape[0] == features.shape[0]
    if not fits or not is_lowerable(features.dtype):
        return NotImplemented
    shifted, e, total = _parts(b, features)
    column = b.reshape(labels, [labels.shape[0], 1])
    # A comparison with every class instead of a gather: it fuses with the sums over the same row.
    hit = b.map(k.eq, b.iota(features.shape, 1, labels.dtype), column)
    b.require_inside(labels, b.size_scalar(features, [1], labels.dtype), _label_error)
    chosen = b.reduce(
        "sum", b.map(lambda h, s: k.select(h, s, k.const_like(0, s)), hit, shifted), [1]
    )
    flat = b.reshape(total, [features.shape[0]])
    loss = b.map(lambda t, s: k.sub(k.log(t), s), flat, chosen)
    one = k.const_like
    backprop = b.map(
        lambda x, t, h: k.sub(k.div(x, t), k.select(h, one(1, x), one(0, x))), e, total, hit
    )
    return loss, backprop


def _label_error(labels: np.ndarray, classes: int) -> errors.InvalidArgumentError:
    values = " ".join(str(v) for v in labels)
    return errors.invalid(
        f"Received a label value of {labels[first_outside(labels, classes) or 0]} which is outside "
        f"the valid range of [0, {classes}).  Label values: {values}"
    )


def _sparse_gradient(op: Operation, grad: Tensor, _: Tensor) -> tuple[Any, None]:
    message = (
        "Currently there is no way to take the second derivative of "
        "sparse_softmax_cross_entropy_with_logits due to the fused implementation's interaction "
        "with tf.gradients()"
    )
    # The op's second output counts as a constant of the step, so its own slope would be lost
    # silently.
    backprop = raw.PreventGradient(op.outputs[1], message=message)
    return _scaled_rows(grad, backprop), None


def _sparse_shape(c: ShapeContext) -> list[TensorShape]:
    features, labels = c.inputs[0].with_rank(2), c.inputs[1].with_rank(1)
    rows = features.as_list()[0]
    if labels.as_list()[0] is not None and rows is not None and labels.as_list()[0] != rows:
        raise ValueError(f"Dimensions must be equal, but are {rows} and {labels.as_list()[0]}")
    rows = labels.as_list()[0] if rows is None else rows
    return [TensorShape([rows]), TensorShape([rows, features.as_list()[1]])]


define(
    "SparseSoftmaxCrossEntropyWithLogits",
    "features: T, labels: Tlabels -> loss: T, backprop: T",
    f"T: {_FLOATS}; Tlabels: index = int64",
    shape=_sparse_shape,
    kernel=_sparse_kernel,
    lower=_lower_sparse,
    gradient=_sparse_gradient,
    doc="The cross-entropy of softmax(features) against class numbers, and its gradient.",
    test=lambda: {
        "values": [[np.array([[1, 2, 3], [0, 1, -1]], np.float32), np.array([2, 0], np.int64)]],
        # The second output has none, by intent.
        "gradient": False,
    },
)
