# SPDX-License-Identifier: Apache-2.0
"""The public cross-entropies and other losses of `tf.nn`, built of smaller ops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.hints import hinted
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...jit.kernel import scalar as k
from ..elementwise import is_lowerable
from ..public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def require_keywords(name: str, sentinel: object, labels: TensorLike, logits: TensorLike) -> None:
    """Raises ValueError unless labels and logits were given by name."""
    if sentinel is not None:
        raise ValueError(f"Only call `{name}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def _flat_rows(logits: Any) -> Tensor:
    """All axes but the last one made into one."""
    rank = tf.rank(logits)
    last = tf.slice(tf.shape(logits), [tf.subtract(rank, 1)], [1])
    output = tf.reshape(logits, tf.concat([[-1], last], 0))
    shape = logits.get_shape()
    if shape.ndims is not None:
        dims = shape.as_list()
        if None not in dims[:-1]:
            output.set_shape([math.prod(dims[:-1]), dims[-1]])
    return output


def _axis_last(tensor: TensorLike, axis: int, rank: Tensor) -> Tensor:
    order = tf.concat([tf.range(axis), tf.range(axis + 1, rank), [axis]], 0)
    return tf.transpose(tensor, order)


@export("nn.softmax_cross_entropy_with_logits_v2")
def softmax_cross_entropy_with_logits_v2(
    labels: TensorLike,
    logits: TensorLike,
    axis: int | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> Any:
    """The cross-entropy of softmax(logits) against labels; gradients flow into both.

    Args:
        labels: probabilities of the classes, of the shape of `logits`, or that broadcast to it.
        logits: float16, bfloat16, float32 or float64; scores of the classes along an axis.
        axis: which axis, the last one by default.
        name: of the operation.
        dim: the old name of `axis`.

    Returns:
        A Tensor of the dtype of `logits`, and of its shape without the axis.

    Raises:
        ValueError: the shapes known in the graph do not fit, or there is an axis by each name.
        InvalidArgumentError: those of a run do not fit.

    Example:
        >>> loss = tf.nn.softmax_cross_entropy_with_logits_v2([[0.0, 1.0]], [[3.0, 5.0]])
        >>> tf.Session().run(loss)
        array([0.12692805], dtype=float32)
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        is_half = logits.dtype in (dtypes.float16, dtypes.bfloat16)
        precise = tf.cast(logits, dtypes.float32) if is_half else logits
        labels = tf.cast(labels, precise.dtype)
        rank = tf.rank(precise)
        shape = logits.get_shape()
        if axis != -1:
            precise = _axis_last(precise, axis, rank)
            labels = _axis_last(labels, axis, rank)
        input_shape = tf.shape(precise)
        precise, labels = _flat_rows(precise), _flat_rows(labels)
        cost, _ = raw.SoftmaxCrossEntropyWithLogits(precise, labels, name=name)
        cost = tf.reshape(cost, tf.slice(input_shape, [0], [tf.subtract(rank, 1)]))
        if shape.ndims is not None:
            dims = shape.as_list()
            del dims[axis]
            cost.set_shape(dims)
        return tf.cast(cost, logits.dtype) if is_half else cost


@export("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: Any = -1,
    name: str | None = None,
    axis: int | None = None,
) -> Any:
    """The cross-entropy of softmax(logits) against labels, which count as constants for gradients.

    Args:
        _sentinel: not to be given: the other arguments go by keyword.
        labels: probabilities of the classes, of the shape of `logits`.
        logits: float16, bfloat16, float32 or float64; scores of the classes along an axis.
        dim: which axis, the last one by default.
        name: of the operation.
        axis: another name of `dim`.

    Returns:
        A Tensor of the dtype of `logits`, and of its shape without the axis.

    Raises:
        ValueError: an argument is missing or not given by keyword, or shapes do not fit.

    Example:
        >>> labels, logits = tf.constant([[0.0, 1.0]]), tf.constant([[3.0, 5.0]])
        >>> tf.Session().run(tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        array([0.12692805], dtype=float32)
    """
    require_keywords("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    if axis is not None:
        dim = axis
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as name:
        labels = tf.stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, axis=dim, name=name)


def _check_label_shapes(labels: Tensor, logits: Tensor) -> bool:
    """Checks the static shapes; tells whether they are known completely."""
    labels_shape, logits_shape = labels.get_shape(), logits.get_shape()
    if logits_shape.ndims == 0:
        raise ValueError(f"Logits cannot be scalars - received shape {logits_shape}.")
    if logits_shape.ndims is None:
        return False
    if labels_shape.ndims is not None and labels_shape.ndims != logits_shape.ndims - 1:
        raise hinted(
            ValueError,
            f"Rank mismatch: Rank of labels (received {labels_shape.ndims}) should equal rank of "
            f"logits minus 1 (received {logits_shape.ndims}).",
        )
    known = labels_shape.is_fully_defined() and logits_shape[:-1].is_fully_defined()
    if known and labels_shape != logits_shape[:-1]:
        raise hinted(
            ValueError,
            f"Shape mismatch: The shape of labels (received {labels_shape}) should equal the shape "
            f"of logits except for the last dimension (received {logits_shape}).",
        )
    return known


@export("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    name: str | None = None,
) -> Any:
    """The cross-entropy of softmax(logits) against class numbers.

    Args:
        _sentinel: not to be given: the other arguments go by keyword.
        labels: int32 or int64 [...]: the right classes, in [0, classes).
        logits: float16, bfloat16, float32 or float64 [..., classes].
        name: of the operation.

    Returns:
        A Tensor of the shape of `labels` and the dtype of `logits`.

    Raises:
        ValueError: an argument is missing or not given by keyword, or shapes do not fit.
        InvalidArgumentError: a label is out of range in a run.

    Example:
        >>> loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[3.0, 5.0]])
        >>> tf.Session().run(loss)
        array([0.12692805], dtype=float32)
    """
    require_keywords("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        is_half = logits.dtype == dtypes.float16
        precise = tf.cast(logits, dtypes.float32) if is_half else logits
        labels_static = labels.get_shape()
        labels_shape = tf.shape(labels)
        known = _check_label_shapes(labels, logits)
        if logits.get_shape().ndims == 2:
            cost, _ = raw.SparseSoftmaxCrossEntropyWithLogits(precise, labels, name=name)
            return tf.cast(cost, dtypes.float16) if is_half else cost
        checks = []
        if not known:
            checks.append(tf.assert_equal(tf.shape(labels), tf.shape(logits)[:-1]))
        with control_dependencies(checks):
            classes = tf.shape(logits)[tf.rank(logits) - 1]
            precise = tf.reshape(precise, [-1, classes])
            labels = tf.reshape(labels, [-1])
            cost, _ = raw.SparseSoftmaxCrossEntropyWithLogits(precise, labels, name=name)
            cost = tf.reshape(cost, labels_shape)
            cost.set_shape(labels_static)
            return tf.cast(cost, dtypes.float16) if is_half else cost


def _require_one_shape(labels: Tensor, logits: Tensor, names: str = "logits and labels") -> None:
    try:
        labels.get_shape().merge_with(logits.get_shape())
    except ValueError:
        raise ValueError(
            f"{names} must have the same shape ({logits.get_shape()} vs {labels.get_shape()})"
        ) from None


@export("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    name: str | None = None,
) -> Tensor:
    """The cross-entropy of sigmoid(logits) against labels, element by element.

    Args:
        _sentinel: not to be given: the other arguments go by keyword.
        labels: probabilities, of the shape and dtype of `logits`.
        logits: a tensor of floating-point numbers.
        name: of the operation.

    Returns:
        A Tensor of the shape and dtype of `logits`.

    Raises:
        TypeError: the dtypes differ.
        ValueError: an argument is missing or not given by keyword, or the shapes differ.

    Example:
        >>> loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[0.0, 100.0])
        >>> tf.Session().run(loss)
        array([  0.6931472, 100.       ], dtype=float32)
    """
    require_keywords("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _require_one_shape(labels, logits)
        # max(x, 0) - x * z + log(1 + exp(-abs(x))), with a gradient at zero.
        zeros = tf.zeros_like(logits, dtype=logits.dtype)
        positive = logits >= zeros
        relu_logits = tf.where(positive, logits, zeros)
        negated = tf.where(positive, -logits, logits)
        return tf.add(relu_logits - logits * labels, tf.log1p(tf.exp(negated)), name=name)


@export("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(
    labels: TensorLike | None = None,
    logits: TensorLike | None = None,
    pos_weight: Any = None,
    name: str | None = None,
    targets: TensorLike | None = None,
) -> Tensor:
    """Sigmoid cross-entropy in which positive labels weigh `pos_weight`."""
    labels = deprecated_argument_lookup("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        _require_one_shape(labels, logits)
        # pos_weight * z * -log(sigmoid(x)) + (1 - z) * -log(1 - sigmoid(x)), where with q =
        # pos_weight the terms of log(1 + exp(-x)) = log1p(exp(-|x|)) + max(-x, 0) add up to 1 + (q
        # - 1) * z.
        log_weight = 1 + (pos_weight - 1) * labels
        return tf.add(
            (1 - labels) * logits,
            log_weight * (tf.log1p(tf.exp(-tf.abs(logits))) + raw.Relu(-logits)),
            name=name,
        )


@export("nn.log_poisson_loss")
def log_poisson_loss(
    targets: TensorLike,
    log_input: TensorLike,
    compute_full_loss: bool = False,
    name: str | None = None,
) -> Tensor:
    """The negative log-likelihood of Poisson counts, given the logarithm of their rate."""
    with name_scope(name, "log_poisson_loss", [log_input, targets]) as name:
        log_input = convert_to_tensor(log_input, name="log_input")
        targets = convert_to_tensor(targets, name="targets")
        _require_one_shape(targets, log_input, "log_input and targets")
        # -log(exp(-rate) * rate**z / z!) without log(z!), which no gradient needs.
        result = tf.exp(log_input) - log_input * targets
        if compute_full_loss:
            half = tf.constant(0.5, dtype=targets.dtype)
            two_pi = tf.constant(2 * math.pi, dtype=targets.dtype)
            # Stirling's log(z!), good for z > 1; 0! and 1! have the logarithm zero.
            stirling = (targets * tf.log(targets)) - targets + (half * tf.log(two_pi * targets))
            zeros = tf.zeros_like(targets, dtype=targets.dtype)
            ones = tf.ones_like(targets, dtype=targets.dtype)
            small = tf.logical_and(targets >= zeros, targets <= ones)
            result += tf.where(small, zeros, stirling)
        return result


def _lower_l2(b: Builder, op: OpView, x: Value) -> Any:
    if not is_lowerable(x.dtype):
        return NotImplemented
    total = b.reduce("sum", b.map(k.square, x), list(range(x.ndim)))
    return b.map(lambda t: k.mul(t, 0.5), total)


l2_loss = define(
    "L2Loss",
    "t: T -> output: T",
    "T: {half, bfloat16, float32, float64}",
    shape=lambda c: TensorShape([]),
    kernel=lambda c, x: np.asarray(
        np.sum(np.square(x), dtype=x.dtype) * x.dtype.type(0.5), x.dtype
    ),
    lower=_lower_l2,
    gradient=lambda op, grad: op.inputs[0] * grad,
    doc="""Half the sum of the squares of all elements.

    Args:
        t: of any shape

    Returns:
        It is a scalar.

    Example:
        >>> tf.Session().run(tf.nn.l2_loss([3.0, 4.0]))
        np.float32(12.5)
    """,
    test={"dtypes": ["float32", "float64"], "gradient": True},
)
export("nn.l2_loss")(l2_loss)
