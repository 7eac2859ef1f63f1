# SPDX-License-Identifier: Apache-2.0
"""The loss of connectionist temporal classification: CTCLoss, CTCLossV2 and their functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.tensor import SparseTensor
from ...engine.types.shape import TensorShape
from ...jit.kernel import scalar as k
from ..public import raw, tf
from ..shape_inference import merge_dim, ranked
from .ctc_dense import ctc_loss_dense
from .ctc_labels import size_of
from .ctc_reference import Rule, loss_and_gradient, states_of

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_NAMES = "preprocess_collapse_repeated", "ctc_merge_repeated", "ignore_longer_outputs_than_inputs"
_FLAGS = "{}: bool = false; {}: bool = true; {}: bool = false".format(*_NAMES)
_SIGNATURE = (
    "inputs: {0}, labels_indices: int64, labels_values: int32, sequence_length: int32 "
    "-> loss: {0}, gradient: {0}"
)


def _shape(c: ShapeContext) -> list[TensorShape]:
    time, batch, classes = ranked(c.inputs[0], 3)
    (rows, _), (count,) = ranked(c.inputs[1], 2), ranked(c.inputs[2], 1)
    merge_dim(rows, count)
    batch = merge_dim(batch, ranked(c.inputs[3], 1)[0])
    return [TensorShape([batch]), TensorShape([time, batch, classes])]


def _rule(op: KernelContext | OpView, blank_is_last: bool) -> Rule:
    """The flags of an op; those of the second version are the only ones that it knows."""
    collapses, merges, leaves_out = (op.attr(name) for name in _NAMES)
    rule = Rule(collapses, merges, leaves_out, blank_is_last)
    if not blank_is_last and rule != Rule(False, True, False, False):
        wanted = {
            "preprocess_collapse_repeated to be false": rule.collapses,
            "ctc_merge_repeated_ to be true": not rule.merges,
            "ignore_longer_outputs_than_inputs_ tobe false": rule.leaves_out,
        }
        text = next(text for text, is_wrong in wanted.items() if is_wrong)
        raise errors.invalid(f"GPU CTCLossOp requires {text}")
    return rule


def _kernel(blank_is_last: bool) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    def kernel(
        c: KernelContext,
        scores: np.ndarray,
        indices: np.ndarray,
        labels: np.ndarray,
        lengths: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        rule = _rule(c, blank_is_last)
        states = states_of(scores, indices, labels, lengths, rule)
        return loss_and_gradient(scores, states, rule.merges)

    return kernel


def _lower(blank_is_last: bool) -> Callable[..., Any]:
    def lower(
        b: Builder, op: OpView, scores: Value, indices: Value, labels: Value, lengths: Value
    ) -> tuple[Any, Any]:
        from ...jit import library

        rule = _rule(op, blank_is_last)
        b.require(scores.ndim == 3 and indices.ndim == 2)
        b.require(labels.ndim == 1 and lengths.ndim == 1)
        b.require(b.equal(scores.shape[1], lengths.shape[0]) and b.equal(indices.shape[1], 2))
        b.require(b.equal(indices.shape[0], labels.shape[0]))
        b.require(not b.equal(scores.shape[1], 0) and not b.equal(scores.shape[2], 0))
        flags = rule.collapses, rule.merges, rule.leaves_out
        loss, gradient, wrong = library.aligned(
            b, scores, indices, labels, lengths, blank_is_last, flags
        )

        def refusal(x: Any, places: Any, values: Any, counts: Any) -> errors.OpError:
            try:
                states_of(x, places, values, counts, rule)
            except errors.InvalidArgumentError as error:
                return error
            return errors.internal("labels are right, but the compiled kernel refuses them")

        is_wrong = b.reduce("any", b.map(lambda flag: k.ne(flag, 0), wrong), None)
        b.require_not(is_wrong, refusal, scores, indices, labels, lengths)
        return loss, gradient

    return lower


def _gradient(op: Operation, grad: Tensor, _: Tensor) -> tuple[Any, None, None, None]:
    # The op's second output counts as a constant of the step, so its own slope would be lost
    # silently.
    slopes = raw.PreventGradient(
        op.outputs[1],
        message="Currently there is no way to take the second  derivative of ctc_loss due to the "
        "fused implementation's interaction  with tf.gradients()",
    )
    return tf.expand_dims(grad, -1) * slopes, None, None, None


_SAMPLE = [
    np.random.RandomState(3).uniform(-2, 2, [5, 2, 4]).astype(np.float32),
    np.array([[0, 0], [0, 1], [1, 0], [1, 1]]),
    np.array([1, 2, 2, 2], np.int32),
    np.array([5, 4], np.int32),
]

define(
    "CTCLoss",
    _SIGNATURE.format("T"),
    f"{_FLAGS}; T: {{float32, float64}} = float32",
    shape=_shape,
    kernel=_kernel(blank_is_last=True),
    lower=_lower(blank_is_last=True),
    gradient=_gradient,
    doc="""The negative logarithm of the probability of labels, and its gradient.

    The blank is the last class.
    """,
    test=lambda: {
        "values": [_SAMPLE],
        "attrs": [{}, {_NAMES[0]: True}, {_NAMES[1]: False}, {_NAMES[2]: True}],
        # The second output has none, by intent.
        "gradient": False,
    },
)

define(
    "CTCLossV2",
    _SIGNATURE.format("float32"),
    _FLAGS,
    shape=_shape,
    kernel=_kernel(blank_is_last=False),
    lower=_lower(blank_is_last=False),
    gradient=_gradient,
    doc="""The negative logarithm of the probability of labels, and its gradient.

    The blank is class 0, and all flags have their defaults.
    """,
    test=lambda: {"values": [_SAMPLE], "gradient": False},
)


@export("nn.ctc_loss")
def ctc_loss(
    labels: SparseTensor,
    inputs: TensorLike | None = None,
    sequence_length: TensorLike | None = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: TensorLike | None = None,
) -> Tensor:
    """The negative logarithm of the probability of labels, over all ways to align them with steps.

    The blank is the last class.  Scores go through a softmax here.

    Args:
        labels: a SparseTensor of int32, [batch, most labels]; each below classes - 1.
        inputs: scores of classes, float32 or float64, [time, batch, classes].
        sequence_length: an int32 vector, the number of steps of each row; at least that of labels.
        preprocess_collapse_repeated: whether labels that repeat the one before do not count.
        ctc_merge_repeated: whether a label may last for several steps.
        ignore_longer_outputs_than_inputs: whether rows with more labels than steps have a loss and
            a gradient of zero, in place of an error.
        time_major: whether time comes before the batch in `inputs`.
        logits: the same as `inputs`.

    Returns:
        A vector of the dtype of `inputs`, a loss for each row; infinity where no way has a
        probability.

    Raises:
        TypeError: labels are no SparseTensor.
        ValueError: both `inputs` and `logits` are given.
        InvalidArgumentError: labels of a row are none, negative, out of order or too many.

    Example:
        >>> labels = tf.SparseTensor([[0, 0]], [0], [1, 1])
        >>> tf.Session().run(tf.nn.ctc_loss(labels, tf.zeros([2, 1, 2]), [2]))
        array([0.28768207], dtype=float32)
    """
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected labels (first argument) to be a SparseTensor")
    scores = deprecated_argument_lookup("logits", logits, "inputs", inputs)
    lengths: Any = sequence_length
    if not time_major:
        scores = tf.transpose(scores, [1, 0, 2])
    loss, _ = raw.CTCLoss(
        scores,
        labels.indices,
        labels.values,
        lengths,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )
    return loss


@export("nn.ctc_loss_v2")
def ctc_loss_v2(
    labels: SparseTensor | TensorLike,
    logits: TensorLike,
    label_length: TensorLike | None,
    logit_length: TensorLike,
    logits_time_major: bool = True,
    unique: tuple[TensorLike, TensorLike] | None = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Any:
    """The negative logarithm of the probability of labels, whose blank is any class.

    Args:
        labels: a SparseTensor, or [batch, most labels] padded with zeros, of int32.
        logits: scores of classes, float32 (float64, too, with a SparseTensor), [time, batch,
            classes].
        label_length: a vector, the number of labels of each row; not used with a SparseTensor.
        logit_length: a vector, the number of steps of each row.
        logits_time_major: whether time comes before the batch in `logits`.
        unique: what `tf.nn.ctc_unique_labels` gives for the labels; not used with a SparseTensor.
        blank_index: the class of the blank, counted from the last one if negative; 0 by default,
            and to be given with a SparseTensor.
        name: the scope of the operations for labels that are no SparseTensor.

    Returns:
        A vector, a loss for each row.

    Raises:
        ValueError: there is no `blank_index` beside a SparseTensor.
    """
    if not isinstance(labels, SparseTensor):
        blank = 0 if blank_index is None else blank_index
        return ctc_loss_dense(
            labels, logits, label_length, logit_length, logits_time_major, unique, blank, name
        )
    if blank_index is None:
        raise ValueError("blank_index must be given when using SparseTensor labels.")
    scores = convert_to_tensor(logits)
    at: Any = blank_index if blank_index >= 0 else size_of(scores, 2) + blank_index
    others = scores[:, :, :at], scores[:, :, at + 1 :]
    values = tf.where(labels.values < at, labels.values, labels.values - 1)
    return ctc_loss(
        SparseTensor(labels.indices, values, labels.dense_shape),
        tf.concat([*others, scores[:, :, at : at + 1]], axis=2),
        logit_length,
        time_major=logits_time_major,
    )
