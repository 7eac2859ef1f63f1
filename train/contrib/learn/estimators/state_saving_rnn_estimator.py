# SPDX-License-Identifier: Apache-2.0
"""`StateSavingRnnEstimator`: recurrent nets over segments, whose states go on in the next batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .....engine.graph.tensor import SparseTensor
from .....engine.types import dtypes, nest
from .....engine.types.shape import TensorShape
from .....ops.public import tf
from ....optimizers.gradient_descent import MomentumOptimizer
from ....rnn.cells import LSTMStateTuple
from ....rnn.static import static_state_saving_rnn
from ...layers import feature_column_ops
from ...layers.dense import fully_connected
from ...layers.optimizers import OPTIMIZER_SUMMARIES, optimize_loss
from ...structures import Structure
from ...training.sequence_queueing_state_saver import batch_sequences_with_states
from . import rnn_common
from .estimator import Estimator
from .model_fn import ModeKeys, ModelFnOps
from .rnn_common import PredictionType, RNNKeys, state_tuple_to_dict
from .rnn_common import get_state_name as _get_state_name

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor
    from ...training.state_saver import NextQueuedSequenceBatch

_multi_value_loss = rnn_common.multi_value_loss


def construct_state_saving_rnn(
    cell: Any,
    inputs: Sequence[Any],
    num_label_columns: int,
    state_saver: Any,
    state_name: Any,
    scope: str = "rnn",
) -> tuple[Any, Any]:
    """A recurrent net over a segment, and a dense layer over its outputs.

    Args:
        cell: the cell.
        inputs: [batch, k] for each step.
        num_label_columns: how many activations there are at each step.
        state_saver: has `state` and `save_state`.
        state_name: the names of the state's parts there, like the state.
        scope: of the net.

    Returns:
        Activations [batch, steps, num_label_columns], and the last state.
    """
    with tf.name_scope(scope):
        outputs, final_state = static_state_saving_rnn(
            cell=cell, inputs=inputs, state_saver=state_saver, state_name=state_name, scope=scope
        )
        joined = tf.stack(outputs, axis=1)
        activations = fully_connected(joined, num_label_columns, activation_fn=None)
        return activations, tf.identity(final_state, name=RNNKeys.FINAL_STATE_KEY)


def _get_name_or_parent_names(column: Any) -> list[str]:
    """The names of the features that a column reads."""
    return [parent.name for parent in column.parent_columns] or [column.name]


def _found(features: dict[str, Any], names: Iterable[str], kind: str) -> dict[str, Any]:
    found = {}
    for name in names:
        if features.get(name) is None:
            raise ValueError(f"No key in features for {kind} feature: {name}")
        found[name] = features[name]
    return found


def _prepare_features_for_sqss(
    features: dict[str, Any],
    labels: Structure,
    mode: str,
    sequence_feature_columns: Iterable[Any],
    context_feature_columns: Iterable[Any] | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The features of steps, labels among them, and those of whole sequences.

    Raises:
        ValueError: a feature is missing, or a column is none of sequences.
    """
    feature_column_ops._check_sequence_columns(sequence_feature_columns)
    names = [n for column in sequence_feature_columns for n in _get_name_or_parent_names(column)]
    sequences = _found(features, names, "sequence")
    context = _found(features, [column.name for column in context_feature_columns or ()], "context")
    if mode != ModeKeys.INFER:
        sequences[RNNKeys.LABELS_KEY] = labels
    return sequences, context


def _get_state_names(cell: Any) -> Any:
    """The names of the parts of a cell's state, like the state.

    Raises:
        TypeError: the state has a shape rather than a size.
    """
    size = cell.state_size
    if isinstance(size, TensorShape):
        raise TypeError("cell.state_size of type TensorShape is not supported.")

    def pair(i: int) -> list[str]:
        return [f"{_get_state_name(i)}_c", f"{_get_state_name(i)}_h"]

    if isinstance(size, int):
        return _get_state_name(0)
    if isinstance(size, LSTMStateTuple):
        return pair(0)
    return [
        (pair if isinstance(size[0], LSTMStateTuple) else _get_state_name)(i)
        for i in range(len(size))
    ]


def _get_initial_states(cell: Any) -> dict[str, Any]:
    names = nest.flatten(_get_state_names(cell))
    values = nest.flatten(cell.zero_state(1, dtype=dtypes.float32))
    return {name: tf.squeeze(value, axis=0) for name, value in zip(names, values)}


def _read_batch(
    cell: Any,
    features: dict[str, Any],
    labels: Structure,
    mode: str,
    num_unroll: int,
    batch_size: int,
    sequence_feature_columns: Iterable[Any],
    context_feature_columns: Iterable[Any] | None = None,
    num_threads: int = 3,
    queue_capacity: int = 1000,
    seed: int | None = None,
) -> NextQueuedSequenceBatch:
    """A batch of segments with the states that they go on from."""
    sequences, context = _prepare_features_for_sqss(
        features, labels, mode, sequence_feature_columns, context_feature_columns
    )
    return batch_sequences_with_states(
        input_key="key",
        input_sequences=sequences,
        input_context=context,
        input_length=None,
        initial_states=_get_initial_states(cell),
        num_unroll=num_unroll,
        batch_size=batch_size,
        pad=True,
        make_keys_unique=True,
        make_keys_unique_seed=seed,
        num_threads=num_threads,
        capacity=queue_capacity,
    )


def _prepare_inputs_for_rnn(
    sequence_features: dict[str, Any],
    context_features: dict[str, Any],
    sequence_feature_columns: Iterable[Any],
    num_unroll: int,
) -> list[Any]:
    """The inputs of each step, [batch, k], with the context at every step."""
    for feature in sequence_features.values():
        if isinstance(feature, SparseTensor):
            # Batches of segments do not know that they have three dimensions.
            feature.dense_shape.set_shape([3])
    sequences = feature_column_ops.sequence_input_from_feature_columns(
        columns_to_tensors=sequence_features, feature_columns=sequence_feature_columns
    )
    sequences.set_shape([None, num_unroll, None])
    if not context_features:
        return tf.unstack(sequences, axis=1)

    def tiled(feature: Any) -> Tensor:
        return tf.squeeze(tf.tile(tf.expand_dims(feature, 1), [1, num_unroll, 1]), axis=2)

    context = tf.stack([tiled(context_features[key]) for key in sorted(context_features)], 2)
    return tf.unstack(tf.concat([sequences, context], axis=2), axis=1)


def _get_rnn_model_fn(
    cell_type: Any,
    target_column: Any,
    problem_type: int,
    optimizer: Any,
    num_unroll: int,
    num_units: Any,
    num_threads: int,
    queue_capacity: int,
    batch_size: int,
    sequence_feature_columns: Iterable[Any],
    context_feature_columns: Iterable[Any] | None = None,
    predict_probabilities: bool = False,
    learning_rate: Any = None,
    gradient_clipping_norm: float | None = None,
    dropout_keep_probabilities: Sequence[float | None] | None = None,
    name: str = "StateSavingRNNModel",
    seed: int | None = None,
) -> Callable[..., Any]:
    """The model function of a StateSavingRnnEstimator, whose arguments it takes."""
    rnn_common.check_problem(problem_type, predict_probabilities)
    if num_unroll <= 0:
        raise ValueError(f"num_unroll must be positive; got {num_unroll}.")

    def model(features: Structure, labels: Structure, mode: str) -> dict[str, Any]:
        dropout = dropout_keep_probabilities if mode == ModeKeys.TRAIN else None
        cell = rnn_common.construct_rnn_cell(num_units, cell_type, dropout)
        batch = _read_batch(
            *(cell, features, labels, mode, num_unroll, batch_size),
            *(sequence_feature_columns, context_feature_columns),
            num_threads=num_threads,
            queue_capacity=queue_capacity,
            seed=seed,
        )
        sequences = batch.sequences
        if mode != ModeKeys.INFER:
            labels = sequences.pop(RNNKeys.LABELS_KEY)
        activations, state = construct_state_saving_rnn(
            cell=cell,
            inputs=_prepare_inputs_for_rnn(
                sequences, batch.context, sequence_feature_columns, num_unroll
            ),
            num_label_columns=target_column.num_label_columns,
            state_saver=batch,
            state_name=_get_state_names(cell),
        )
        made: dict[str, Any] = {
            "predictions": rnn_common.multi_value_predictions(
                activations, target_column, problem_type, predict_probabilities
            )
        }
        if mode != ModeKeys.INFER:
            rest = (labels, batch.length, target_column, features)
            made["loss"] = _multi_value_loss(activations, *rest)
            kind = (problem_type, PredictionType.MULTIPLE_VALUE, batch.length)
            made["eval_metric_ops"] = rnn_common.get_eval_metric_ops(
                *kind, made["predictions"], labels
            )
        made["predictions"].update(state_tuple_to_dict(state))
        if mode == ModeKeys.TRAIN:
            made["train_op"] = optimize_loss(
                loss=made["loss"],
                global_step=None,
                learning_rate=learning_rate,
                optimizer=optimizer,
                clip_gradients=gradient_clipping_norm,
                summaries=OPTIMIZER_SUMMARIES,
            )
        return made

    def _rnn_model_fn(features: Structure, labels: Structure, mode: str) -> ModelFnOps:
        with tf.name_scope(name):
            made = model(features, labels, mode)
        return ModelFnOps(mode=mode, **made)

    return _rnn_model_fn


class StateSavingRnnEstimator(Estimator):
    """A recurrent net over segments of sequences; the states of one go on in the next.

    Args:
        problem_type: ProblemType.CLASSIFICATION or LINEAR_REGRESSION.
        num_unroll: how many steps a segment has.
        batch_size: how many segments a batch has.
        sequence_feature_columns: columns of sequences.
        context_feature_columns: columns of what holds for a whole sequence.
        num_classes: how many classes; needed to classify.
        num_units: of the cell; a list makes as many cells.
        cell_type: "basic_rnn", "lstm", "gru" or a subclass of RNNCell.
        optimizer_type: a name, as of `tf.contrib.layers.optimize_loss`, or an optimizer.
        learning_rate: a float or a tensor.
        predict_probabilities: whether classes come with their probabilities.
        momentum: of the optimizer "Momentum".
        gradient_clipping_norm: the greatest norm of all gradients.
        dropout_keep_probabilities: of the inputs of every cell, and of the output.
        model_dir: the folder of checkpoints and events.
        config: a RunConfig.
        feature_engineering_fn: a function of features and labels, which gives others.
        num_threads: how many threads bring examples.
        queue_capacity: how many examples wait.
        seed: of the keys that tell examples from each other.

    Raises:
        ValueError: there is no such problem, or the classes are not counted.
    """

    def __init__(
        self,
        problem_type: int,
        num_unroll: int,
        batch_size: int,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        num_classes: int | None = None,
        num_units: Any = None,
        cell_type: Any = "basic_rnn",
        optimizer_type: Any = "SGD",
        learning_rate: Any = 0.1,
        predict_probabilities: bool = False,
        momentum: Any = None,
        gradient_clipping_norm: float | None = 5.0,
        dropout_keep_probabilities: Sequence[float | None] | None = None,
        model_dir: str | None = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        num_threads: int = 3,
        queue_capacity: int = 1000,
        seed: int | None = None,
    ) -> None:
        target, ends = rnn_common.target_of(problem_type, num_classes)
        if optimizer_type == "Momentum":
            optimizer_type = MomentumOptimizer(learning_rate, momentum)
        model_fn = _get_rnn_model_fn(
            cell_type=cell_type,
            target_column=target,
            problem_type=problem_type,
            optimizer=optimizer_type,
            num_unroll=num_unroll,
            num_units=num_units,
            num_threads=num_threads,
            queue_capacity=queue_capacity,
            batch_size=batch_size,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            predict_probabilities=predict_probabilities,
            learning_rate=learning_rate,
            gradient_clipping_norm=gradient_clipping_norm,
            dropout_keep_probabilities=dropout_keep_probabilities,
            name=f"MultiValueStateSavingRNN{ends}",
            seed=seed,
        )
        super().__init__(
            model_fn=model_fn,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )
