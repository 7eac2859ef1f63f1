# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.learn.models`: regressions and recurrent nets as functions of tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ....engine.api import export
from ....engine.graph.defaults import get_default_graph
from ....engine.types import dtypes
from ....ops.public import tf
from ....ops.state.init import RandomNormal
from ....ops.summaries.api import histogram
from ...rnn.cell import RNNCell
from ...rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, MultiRNNCell
from ...rnn.static import static_rnn
from ..rnn.wrappers import AttentionCellWrapper
from ..structures import Structure
from .ops import losses_ops


@export("contrib.learn.models.linear_regression_zero_init")
def linear_regression_zero_init(x: Structure, y: Structure) -> tuple[Any, Any]:
    """`linear_regression` whose variables begin at 0."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


@export("contrib.learn.models.logistic_regression_zero_init")
def logistic_regression_zero_init(x: Structure, y: Structure) -> tuple[Any, Any]:
    """`logistic_regression` whose variables begin at 0."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def _weights_and_bias(
    x: Structure, y: Structure, outputs: Structure, init_mean: float | None, init_stddev: float
) -> tuple[Any, Any]:
    """The variables of a dense layer, of which summaries are written."""
    name = tf.get_variable_scope().name
    histogram(f"{name}.x", x)
    histogram(f"{name}.y", y)
    dtype = x.dtype.base_dtype
    initializer = None
    if init_mean is not None:
        initializer = RandomNormal(init_mean, init_stddev, dtype=dtype)
    settings = {"dtype": dtype, "initializer": initializer}
    weights = tf.get_variable("weights", [x.shape[1], outputs], **settings)
    bias = tf.get_variable("bias", [outputs], **settings)
    histogram(f"{name}.weights", weights)
    histogram(f"{name}.bias", bias)
    return weights, bias


@export("contrib.learn.models.linear_regression")
def linear_regression(
    x: Structure, y: Structure, init_mean: float | None = None, init_stddev: float = 1.0
) -> tuple[Any, Any]:
    """Predictions x w + b with new variables, and their mean squared error.

    Args:
        x: [batch, n].
        y: [batch] or [batch, m].
        init_mean, init_stddev: of the normal numbers that variables begin with; they begin as
            `tf.get_variable`'s do if the mean is None.

    Returns:
        Predictions of the shape of y, and a scalar.
    """
    with tf.variable_scope("linear_regression"):
        outputs = 1 if len(y.shape) == 1 else y.shape[1]
        weights, bias = _weights_and_bias(x, y, outputs, init_mean, init_stddev)
        return losses_ops.mean_squared_error_regressor(x, y, weights, bias)


@export("contrib.learn.models.logistic_regression")
def logistic_regression(
    x: Structure,
    y: Structure,
    class_weight: Any = None,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> tuple[Any, Any]:
    """Probabilities of classes with new variables, and their cross entropy.

    Args:
        x: [batch, n].
        y: one-hot rows [batch, classes].
        class_weight: [classes], what logits are multiplied by; the graph's tensor "class_weight:0"
            if None, where there is one.
        init_mean, init_stddev: as of `linear_regression`.

    Returns:
        Probabilities [batch, classes], and a scalar.
    """
    with tf.variable_scope("logistic_regression"):
        weights, bias = _weights_and_bias(x, y, y.shape[-1], init_mean, init_stddev)
        if not class_weight and "class_weight" in get_default_graph()._nodes_by_name:
            class_weight = get_default_graph().get_tensor_by_name("class_weight:0")
        return losses_ops.softmax_classifier(x, y, weights, bias, class_weight=class_weight)


def _reverse_seq(input_seq: Sequence[Any], lengths: Structure) -> list[Any]:
    """Steps in the other order, of each example only those that count."""
    if lengths is None:
        return list(reversed(input_seq))
    for step in input_seq:
        step.set_shape(step.shape.with_rank(2))
    return tf.unstack(tf.reverse_sequence(tf.stack(input_seq), lengths, 0, 1))


@export("contrib.learn.models.bidirectional_rnn")
def bidirectional_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: list[Any],
    initial_state_fw: Structure = None,
    initial_state_bw: Structure = None,
    dtype: Any = None,
    sequence_length: Structure = None,
    scope: str | None = None,
) -> tuple[list[Any], Any]:
    """Two cells over the same steps, one from the end.

    Args:
        cell_fw, cell_bw: the cells.
        inputs: [batch, n] for each step.
        initial_state_fw, initial_state_bw: of the cells; zeros if None.
        dtype: of these zeros.
        sequence_length: int64 [batch], how many steps count.
        scope: how the names of the scopes begin, "BiRNN" if None.

    Returns:
        Both outputs side by side for each step, and both states side by side.

    Raises:
        TypeError: a cell is none, or inputs are no list.
        ValueError: there are no inputs.
    """
    for name, cell in (("cell_fw", cell_fw), ("cell_bw", cell_bw)):
        if not isinstance(cell, RNNCell):
            raise TypeError(f"{name} must be an instance of RNNCell")
    if not isinstance(inputs, list):
        raise TypeError("inputs must be a list")
    if not inputs:
        raise ValueError("inputs must not be empty")
    name = scope or "BiRNN"
    with tf.variable_scope(f"{name}_FW"):
        forward, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length)
    with tf.variable_scope(f"{name}_BW"):
        steps = _reverse_seq(inputs, sequence_length)
        found, state_bw = static_rnn(cell_bw, steps, initial_state_bw, dtype, sequence_length)
    backward = _reverse_seq(found, sequence_length)
    outputs = [tf.concat([fw, bw], 1) for fw, bw in zip(forward, backward)]
    return outputs, tf.concat([state_fw, state_bw], 1)


_CELLS: dict[str, Any] = {
    "rnn": BasicRNNCell,
    "gru": GRUCell,
    "lstm": functools.partial(BasicLSTMCell, state_is_tuple=False),
}


@export("contrib.learn.models.get_rnn_model")
def get_rnn_model(
    rnn_size: int,
    cell_type: str,
    num_layers: int,
    input_op_fn: Callable[[Any], Any],
    bidirectional: bool,
    target_predictor_fn: Callable[[Any, Any], Any],
    sequence_length: Structure,
    initial_state: Structure,
    attn_length: int | None,
    attn_size: int | None,
    attn_vec_size: int | None,
) -> Callable[[Any, Any], Any]:
    """A function of features and labels: a predictor of a recurrent net's last state.

    Args:
        rnn_size: how many units a cell has.
        cell_type: "rnn", "gru" or "lstm".
        num_layers: how many cells are above each other.
        input_op_fn: makes steps of features.
        bidirectional: whether there is a second net, from the end.
        target_predictor_fn: called with the state and the labels.
        sequence_length: int64 [batch], how many steps count.
        initial_state: of the cells; zeros if None.
        attn_length, attn_size, attn_vec_size: of the attention of cells, none if the length is
            None.

    Returns:
        The function, which raises ValueError if there is no such cell.
    """

    def cells() -> MultiRNNCell:
        if cell_type not in _CELLS:
            raise ValueError(f"cell_type {cell_type} is not supported. ")
        return MultiRNNCell([one() for _ in range(num_layers)], state_is_tuple=False)

    def one() -> RNNCell:
        cell = _CELLS[cell_type](rnn_size)
        if attn_length is None:
            return cell  # type: ignore[no-any-return]
        return AttentionCellWrapper(
            cell,
            attn_length=attn_length,
            attn_size=attn_size,
            attn_vec_size=attn_vec_size,
            state_is_tuple=False,
        )

    def rnn_estimator(x: Structure, y: Structure) -> Any:
        steps = input_op_fn(x)
        length = {"dtype": dtypes.float32, "sequence_length": sequence_length}
        if bidirectional:
            starts = {"initial_state_fw": initial_state, "initial_state_bw": initial_state}
            _, encoding = bidirectional_rnn(cells(), cells(), steps, **starts, **length)
        else:
            _, encoding = static_rnn(cells(), steps, initial_state=initial_state, **length)
        return target_predictor_fn(encoding, y)

    return rnn_estimator
