# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.learn.DynamicRnnEstimator`: recurrent nets over sequences of any lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .....engine.api import export
from .....engine.types import dtypes, nest
from .....ops.checks.shape import assert_type
from .....ops.public import tf
from ....optimizers.gradient_descent import MomentumOptimizer
from ....rnn.dynamic import dynamic_rnn
from ...layers.dense import fully_connected
from ...layers.feature_column_ops import (
    input_from_feature_columns,
    sequence_input_from_feature_columns,
    transform_features,
)
from ...layers.optimizers import OPTIMIZER_SUMMARIES, optimize_loss
from ...structures import Structure
from . import rnn_common
from .constants import PredictionKey
from .estimator import Estimator
from .model_fn import ModeKeys, ModelFnOps
from .rnn_common import PredictionType, RNNKeys, state_tuple_to_dict
from .rnn_common import get_state_name as _get_state_name

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor
    from .....engine.types.dtypes import DType
    from ...layers.annotations import Scope

__all__ = ["DynamicRnnEstimator", "state_tuple_to_dict"]


def dict_to_state_tuple(input_dict: dict[str, Any], cell: Any) -> Any:
    """The state of a cell from its parts among features; None if there are none.

    Raises:
        ValueError: some are there, and some not.
    """
    sizes = nest.flatten(cell.state_size)
    found = []
    with tf.name_scope("dict_to_state_tuple"):
        for i, size in enumerate(sizes):
            name = _get_state_name(i)
            part = input_dict.get(name)
            if part is None:
                continue
            checks = [
                tf.assert_rank(part, 2, name=f"check_state_{i}_rank"),
                tf.assert_equal(tf.shape(part)[1], size, name=f"check_state_{i}_shape"),
            ]
            with tf.control_dependencies(checks):
                found.append(tf.identity(part, name=name))
        if not found:
            return None
        if len(found) != len(sizes):
            raise ValueError(
                f"RNN state was partially specified.Expected zero or {len(sizes)} state Tensors; "
                f"got {len(found)}"
            )
        pattern = cell.zero_state(batch_size=1, dtype=dtypes.bool)
        return nest.pack_sequence_as(pattern, found)


def _concatenate_context_input(sequence_input: Structure, context_input: Structure) -> Tensor:
    """Sequences [batch, steps, k] with a context [batch, m] at every step."""
    checks = []
    for what, tensor, rank in (
        ("sequence_input", sequence_input, 3),
        ("context_input", context_input, 2),
    ):
        message = f"{what} must have rank {rank}"
        checks.append(tf.assert_rank(tensor, rank, message=message, data=[tf.shape(tensor)]))
        message = f"{what} must have dtype float32; got {tensor.dtype}."
        checks.append(assert_type(tensor, dtypes.float32, message=message))
    with tf.control_dependencies(checks):
        steps = tf.shape(sequence_input)[1]
        multiples = tf.concat([[1], [steps], [1]], 0)
        tiled = tf.tile(tf.expand_dims(context_input, 1), multiples)
    return tf.concat([sequence_input, tiled], 2)


def build_sequence_input(
    features: dict[str, Any],
    sequence_feature_columns: Iterable[Any],
    context_feature_columns: Iterable[Any] | None,
    weight_collections: Sequence[str] | None = None,
    scope: Scope | None = None,
) -> Any:
    """What a recurrent net reads: sequences, with the context at every step.

    Args:
        features: tensors by name.
        sequence_feature_columns: columns of sequences.
        context_feature_columns: columns of what holds for a whole sequence.
        weight_collections: where variables are noted.
        scope: of the variables.

    Returns:
        Floats [batch, steps, k].
    """
    columns = [*sequence_feature_columns, *(context_feature_columns or ())]
    features = {**features, **transform_features(features.copy(), columns)}
    found = sequence_input_from_feature_columns(
        columns_to_tensors=features,
        feature_columns=sequence_feature_columns,
        weight_collections=weight_collections,
        scope=scope,
    )
    if context_feature_columns is None:
        return found
    context = input_from_feature_columns(
        columns_to_tensors=features,
        feature_columns=context_feature_columns,
        weight_collections=weight_collections,
        scope=scope,
    )
    return _concatenate_context_input(found, context)


def construct_rnn(
    initial_state: Structure,
    sequence_input: Structure,
    cell: Any,
    num_label_columns: int,
    dtype: Any = dtypes.float32,
    parallel_iterations: int | None = 32,
    swap_memory: bool = True,
) -> tuple[Any, Any]:
    """A recurrent net, and a dense layer over its outputs.

    Returns:
        Activations [batch, steps, num_label_columns], and the last state.
    """
    with tf.name_scope("RNN"):
        outputs, final_state = dynamic_rnn(
            cell=cell,
            inputs=sequence_input,
            initial_state=initial_state,
            dtype=dtype,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
            time_major=False,
        )
        activations = fully_connected(outputs, num_label_columns, activation_fn=None)
        return activations, final_state


def _single_value_predictions(
    activations: Structure,
    sequence_length: Structure,
    target_column: Any,
    problem_type: int,
    predict_probabilities: bool,
) -> dict[str, Any]:
    """A prediction for every sequence, from what it ends with."""
    with tf.name_scope("SingleValuePrediction"):
        last = rnn_common.select_last_activations(activations, sequence_length)
        name = rnn_common.predictions_name(problem_type)
        predictions = target_column.logits_to_predictions(last, proba=predict_probabilities)
        if not predict_probabilities:
            return {name: predictions}
        return {PredictionKey.PROBABILITIES: predictions, name: tf.argmax(predictions, 1)}


_multi_value_loss = rnn_common.multi_value_loss


def _single_value_loss(
    activations: Structure,
    labels: Structure,
    sequence_length: Structure,
    target_column: Any,
    features: Structure,
) -> Any:
    """The loss of what sequences end with."""
    with tf.name_scope("SingleValueLoss"):
        last = rnn_common.select_last_activations(activations, sequence_length)
        return target_column.loss(last, labels, features)


def _get_output_alternatives(
    prediction_type: int, problem_type: int, prediction_dict: dict[str, Any]
) -> dict[str, Any] | None:
    """What models of one prediction serve: all but their states."""
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        return None
    if prediction_type == PredictionType.SINGLE_VALUE:
        served = {k: v for k, v in prediction_dict.items() if RNNKeys.STATE_PREFIX not in k}
        return {"dynamic_rnn_output": (problem_type, served)}
    raise ValueError(f"Unrecognized prediction_type: {prediction_type}")


def _get_dynamic_rnn_model_fn(
    cell_type: Any,
    num_units: Any,
    target_column: Any,
    problem_type: int,
    prediction_type: int,
    optimizer: Any,
    sequence_feature_columns: Iterable[Any],
    context_feature_columns: Iterable[Any] | None = None,
    predict_probabilities: bool = False,
    learning_rate: Any = None,
    gradient_clipping_norm: float | None = None,
    dropout_keep_probabilities: Sequence[float | None] | None = None,
    sequence_length_key: str = RNNKeys.SEQUENCE_LENGTH_KEY,
    dtype: DType = dtypes.float32,
    parallel_iterations: int | None = None,
    swap_memory: bool = True,
    name: str = "DynamicRNNModel",
) -> Callable[..., Any]:
    """The model function of a DynamicRnnEstimator, whose arguments it takes."""
    rnn_common.check_problem(problem_type, predict_probabilities)
    if prediction_type not in (PredictionType.SINGLE_VALUE, PredictionType.MULTIPLE_VALUE):
        raise ValueError(
            "prediction_type must be PredictionType.MULTIPLE_VALUEs or "
            f"PredictionType.SINGLE_VALUE; got {prediction_type}"
        )
    is_single = prediction_type == PredictionType.SINGLE_VALUE

    def predictions_of(activations: Structure, length: Any) -> dict[str, Any]:
        asked = (target_column, problem_type, predict_probabilities)
        if is_single:
            return _single_value_predictions(activations, length, *asked)
        return rnn_common.multi_value_predictions(activations, *asked)

    def model(features: Structure, labels: Structure, mode: str) -> dict[str, Any]:
        length = features.get(sequence_length_key)
        inputs = build_sequence_input(features, sequence_feature_columns, context_feature_columns)
        dropout = dropout_keep_probabilities if mode == ModeKeys.TRAIN else None
        cell = rnn_common.construct_rnn_cell(num_units, cell_type, dropout)
        activations, state = construct_rnn(
            dict_to_state_tuple(features, cell),
            inputs,
            cell,
            target_column.num_label_columns,
            dtype=dtype,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
        )
        made: dict[str, Any] = {"predictions": predictions_of(activations, length)}
        if mode != ModeKeys.INFER:
            loss_of = _single_value_loss if is_single else _multi_value_loss
            made["loss"] = loss_of(activations, labels, length, target_column, features)
        made["predictions"].update(state_tuple_to_dict(state))
        if mode != ModeKeys.INFER:
            made["eval_metric_ops"] = rnn_common.get_eval_metric_ops(
                problem_type, prediction_type, length, made["predictions"], labels
            )
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

    def _dynamic_rnn_model_fn(features: Structure, labels: Structure, mode: str) -> ModelFnOps:
        with tf.name_scope(name):
            made = model(features, labels, mode)
        alternatives = _get_output_alternatives(prediction_type, problem_type, made["predictions"])
        return ModelFnOps(mode=mode, output_alternatives=alternatives, **made)

    return _dynamic_rnn_model_fn


@export("contrib.learn.DynamicRnnEstimator")
class DynamicRnnEstimator(Estimator):
    """A recurrent net that is unrolled as far as sequences go (tf.contrib.learn).

    Args:
        problem_type: ProblemType.CLASSIFICATION or LINEAR_REGRESSION.
        prediction_type: 1 for a prediction per sequence, 2 for one at every step.
        sequence_feature_columns: columns of sequences.
        context_feature_columns: columns of what holds for a whole sequence.
        num_classes: how many classes; needed to classify.
        num_units: of the cell; a list makes as many cells.
        cell_type: "basic_rnn", "lstm", "gru" or a subclass of RNNCell.
        optimizer: a name, as of `tf.contrib.layers.optimize_loss`, or an optimizer.
        learning_rate: a float or a tensor.
        predict_probabilities: whether classes come with their probabilities.
        momentum: of the optimizer "Momentum".
        gradient_clipping_norm: the greatest norm of all gradients.
        dropout_keep_probabilities: of the inputs of every cell, and of the output.
        model_dir: the folder of checkpoints and events.
        feature_engineering_fn: a function of features and labels, which gives others.
        config: a RunConfig.

    Raises:
        ValueError: there is no such problem or prediction, or the classes are not counted.
    """

    def __init__(
        self,
        problem_type: int,
        prediction_type: int,
        sequence_feature_columns: Iterable[Any],
        context_feature_columns: Iterable[Any] | None = None,
        num_classes: int | None = None,
        num_units: Any = None,
        cell_type: Any = "basic_rnn",
        optimizer: Any = "SGD",
        learning_rate: Any = 0.1,
        predict_probabilities: bool = False,
        momentum: Any = None,
        gradient_clipping_norm: float | None = 5.0,
        dropout_keep_probabilities: Sequence[float | None] | None = None,
        model_dir: str | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        config: Any = None,
    ) -> None:
        begins = {
            PredictionType.MULTIPLE_VALUE: "MultiValueDynamicRNN",
            PredictionType.SINGLE_VALUE: "SingleValueDynamicRNN",
        }
        if prediction_type not in begins:
            raise ValueError(
                "prediction_type must be one of PredictionType.MULTIPLE_VALUE or "
                f"PredictionType.SINGLE_VALUE; got {prediction_type}"
            )
        target, ends = rnn_common.target_of(problem_type, num_classes)
        if optimizer == "Momentum":
            optimizer = MomentumOptimizer(learning_rate, momentum)
        model_fn = _get_dynamic_rnn_model_fn(
            cell_type=cell_type,
            num_units=num_units,
            target_column=target,
            problem_type=problem_type,
            prediction_type=prediction_type,
            optimizer=optimizer,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            predict_probabilities=predict_probabilities,
            learning_rate=learning_rate,
            gradient_clipping_norm=gradient_clipping_norm,
            dropout_keep_probabilities=dropout_keep_probabilities,
            name=begins[prediction_type] + ends,
        )
        super().__init__(
            model_fn=model_fn,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )
