# SPDX-License-Identifier: Apache-2.0
"""What recurrent estimators share: cells by name, predictions and losses of whole sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .....engine.types import nest
from .....ops.metrics.means import accuracy
from .....ops.public import tf
from ....rnn.cell import RNNCell
from ....rnn.cells import BasicRNNCell, GRUCell, LSTMCell, MultiRNNCell
from ....rnn.wrappers import DropoutWrapper
from ...layers import target_column as targets
from ...structures import Structure
from .constants import PredictionKey, ProblemType

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor


class RNNKeys:
    """Names of features and predictions."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


class PredictionType:
    """Whether a sequence gives one prediction, or one at each step."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


_CELL_TYPES = {"basic_rnn": BasicRNNCell, "lstm": LSTMCell, "gru": GRUCell}


def _get_single_cell(cell_type: Any, num_units: int) -> RNNCell:
    cell_type = _CELL_TYPES.get(cell_type, cell_type)
    if not cell_type or not issubclass(cell_type, RNNCell):
        raise ValueError(f"The supported cell types are {list(_CELL_TYPES)}; got {cell_type}")
    return cell_type(num_units=num_units)


def construct_rnn_cell(
    num_units: int | Sequence[int],
    cell_type: Any = "basic_rnn",
    dropout_keep_probabilities: Sequence[float | None] | None = None,
) -> RNNCell:
    """A cell, or several above each other.

    Args:
        num_units: how many units; a list makes as many cells.
        cell_type: "basic_rnn", "lstm", "gru" or a subclass of RNNCell.
        dropout_keep_probabilities: of the inputs of every cell, and of the output.

    Raises:
        ValueError: there is no such cell.
        TypeError: the type is no class and no name.
    """
    sizes = num_units if isinstance(num_units, (list, tuple)) else (num_units,)
    cells = [_get_single_cell(cell_type, size) for size in sizes]
    if dropout_keep_probabilities:
        cells = apply_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else MultiRNNCell(cells)


def apply_dropout(
    cells: Sequence[RNNCell],
    dropout_keep_probabilities: Sequence[Any],
    random_seed: int | None = None,
) -> list[RNNCell]:
    """Cells with dropout of their inputs, and of the last one's output.

    Raises:
        ValueError: there is not one probability more than cells.
    """
    keep = dropout_keep_probabilities
    if len(keep) != len(cells) + 1:
        raise ValueError(
            "The number of dropout probabilities must be one greater than the number of cells. "
            f"Got {len(cells)} cells and {len(keep)} dropout probabilities."
        )
    below = [DropoutWrapper(c, p, 1.0, seed=random_seed) for c, p in zip(cells[:-1], keep[:-2])]
    return [*below, DropoutWrapper(cells[-1], keep[-2], keep[-1])]


def get_eval_metric_ops(
    problem_type: int,
    prediction_type: int,
    sequence_length: Structure,
    prediction_dict: dict[str, Any],
    labels: Structure,
) -> dict[str, Any]:
    """The metrics of a problem: the accuracy of classes, none of numbers."""
    if problem_type != ProblemType.CLASSIFICATION:
        return {}
    classes = prediction_dict[PredictionKey.CLASSES]
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        classes, labels = mask_activations_and_labels(classes, labels, sequence_length)
    return {"accuracy": accuracy(labels, classes)}


def select_last_activations(activations: Structure, sequence_lengths: Structure) -> Tensor:
    """What sequences end with.

    Args:
        activations: [batch, steps, k].
        sequence_lengths: [batch]; all steps count if None.

    Returns:
        [batch, k].
    """
    values = [activations, sequence_lengths]
    with tf.name_scope("select_last_activations", values=values):
        shape = tf.shape(activations)
        batch_size, padded_length, columns = shape[0], shape[1], shape[2]
        if sequence_lengths is None:
            sequence_lengths = padded_length
        flat = tf.reshape(activations, [-1, columns])
        last = tf.gather(flat, tf.range(batch_size) * padded_length + sequence_lengths - 1)
        last.set_shape([activations.shape[0], activations.shape[2]])
        return last


def mask_activations_and_labels(
    activations: Structure, labels: Structure, sequence_lengths: Structure
) -> tuple[Any, Any]:
    """The steps that count, of all sequences in a row.

    Args:
        activations: [batch, steps, k].
        labels: [batch, steps].
        sequence_lengths: [batch]; all steps count if None.

    Returns:
        Activations [n, k] and labels [n].
    """
    values = [activations, labels, sequence_lengths]
    with tf.name_scope("mask_activations_and_labels", values=values):
        shape = tf.shape(labels)
        batch_size, padded_length = shape[0], shape[1]
        if sequence_lengths is None:
            steps = padded_length * batch_size
            return tf.reshape(activations, [steps, -1]), tf.reshape(labels, [steps])
        mask = tf.sequence_mask(sequence_lengths, padded_length)
        return tf.boolean_mask(activations, mask), tf.boolean_mask(labels, mask)


def multi_value_predictions(
    activations: Structure, target_column: Any, problem_type: int, predict_probabilities: bool
) -> dict[str, Any]:
    """Predictions at every step; those after a sequence's end mean nothing.

    Args:
        activations: [batch, steps, k].
        target_column: of tf.contrib.layers, says what activations mean.
        problem_type: ProblemType.CLASSIFICATION or LINEAR_REGRESSION.
        predict_probabilities: whether classes come with their probabilities.

    Returns:
        Classes or scores [batch, steps], and probabilities [batch, steps, classes], by name.
    """
    with tf.name_scope("MultiValuePrediction"):
        shape = tf.shape(activations)
        flat = tf.reshape(activations, [-1, shape[2]])
        found = {}
        if predict_probabilities:
            key = PredictionKey.PROBABILITIES
            probabilities = target_column.logits_to_predictions(flat, proba=True)
            flat_predictions = tf.argmax(probabilities, 1)
            full = shape
            if target_column.num_label_columns == 1:  # Both of two classes.
                full = tf.concat([shape[:2], [2]], 0)
            found[key] = tf.reshape(probabilities, full, name=key)
        else:
            flat_predictions = target_column.logits_to_predictions(flat, proba=False)
        name = predictions_name(problem_type)
        found[name] = tf.reshape(flat_predictions, [shape[0], shape[1]], name=name)
        return found


def predictions_name(problem_type: int) -> str:
    """What predictions of a problem are called."""
    is_classes = problem_type == ProblemType.CLASSIFICATION
    return PredictionKey.CLASSES if is_classes else PredictionKey.SCORES


def multi_value_loss(
    activations: Structure,
    labels: Structure,
    sequence_length: Structure,
    target_column: Any,
    features: Structure,
) -> Any:
    """The loss over all steps that count."""
    with tf.name_scope("MultiValueLoss"):
        masked, true = mask_activations_and_labels(activations, labels, sequence_length)
        return target_column.loss(masked, true, features)


def get_state_name(i: int) -> str:
    """What part `i` of a state is called."""
    return f"{RNNKeys.STATE_PREFIX}_{i}"


def state_tuple_to_dict(state: Structure) -> dict[str, Any]:
    """The parts of a state by their names; None for those that are missing."""
    with tf.name_scope("state_tuple_to_dict"):
        return {
            name: None if part is None else tf.identity(part, name=name)
            for name, part in ((get_state_name(i), p) for i, p in enumerate(nest.flatten(state)))
        }


def check_problem(problem_type: int, predict_probabilities: bool) -> None:
    """Raises ValueError for what recurrent estimators do not solve."""
    if problem_type not in (ProblemType.CLASSIFICATION, ProblemType.LINEAR_REGRESSION):
        raise ValueError(
            "problem_type must be ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION; got "
            f"{problem_type}"
        )
    if problem_type != ProblemType.CLASSIFICATION and predict_probabilities:
        raise ValueError(
            "predict_probabilities can only be set to True for problem_type "
            f"ProblemType.CLASSIFICATION; got {problem_type}."
        )


def target_of(problem_type: int, num_classes: int | None) -> tuple[Any, str]:
    """The target column of a problem, and how the names of its estimators end.

    Raises:
        ValueError: there is no such problem, or the number of classes is missing.
    """
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return targets.regression_target(), "Regressor"
    if problem_type == ProblemType.CLASSIFICATION:
        if not num_classes:
            raise ValueError("For CLASSIFICATION problem_type, num_classes must be specified.")
        return targets.multi_class_target(n_classes=num_classes), "Classifier"
    raise ValueError(
        "problem_type must be either ProblemType.LINEAR_REGRESSION or ProblemType.CLASSIFICATION; "
        f"got {problem_type}"
    )
