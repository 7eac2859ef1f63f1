# SPDX-License-Identifier: Apache-2.0
"""Ready-made estimators: recurrent layers over columns of sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.types import dtypes
from ...ops.nn.losses_reduction import Reduction
from ...ops.public import tf
from ...ops.summaries.api import histogram
from ..feature_column.input_layer import input_layer
from ..feature_column.sequence_feature_column import concatenate_context_input
from ..feature_column.sequence_input_layer import sequence_input_layer
from ..layers.core import dense
from ..optimizers.optimizer import Optimizer
from ..rnn.cell import RNNCell
from ..rnn.cells import BasicLSTMCell, BasicRNNCell, GRUCell, MultiRNNCell
from ..rnn.dynamic import dynamic_rnn
from ..variables.global_step import get_global_step
from .canned_models import partitioner_of
from .estimator import Estimator
from .heads import Head, classifier_head
from .linear_part import require_dict
from .optimizers import optimizer_of

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from .model_fn import EstimatorSpec

_RATE, _CLIP_NORM = 0.05, 5.0
_CELLS: dict[str, type[RNNCell]] = {
    "basic_rnn": BasicRNNCell,
    "lstm": BasicLSTMCell,
    "gru": GRUCell,
}
# A `cell_type` that was not given: TensorFlow tells it from "basic_rnn".
_NOT_GIVEN: Any = object()

MakeCell = Callable[[str], RNNCell]


def _cell(size: int, kind: Any) -> RNNCell:
    made = _CELLS.get(kind, kind)
    if not made or not issubclass(made, RNNCell):
        raise ValueError(f"Supported cell types are {list(_CELLS)}; got {made}")
    return made(num_units=size)


def _maker(rnn_cell_fn: MakeCell | None, num_units: Sequence[int] | None, kind: Any) -> MakeCell:
    """What makes the cell of a mode."""
    if rnn_cell_fn and (num_units or kind is not _NOT_GIVEN):
        raise ValueError("num_units and cell_type must not be specified when using rnn_cell_fn")
    if rnn_cell_fn:
        return rnn_cell_fn
    chosen = "basic_rnn" if kind is _NOT_GIVEN else kind

    def make(mode: str) -> RNNCell:
        cells = [_cell(size, chosen) for size in num_units or ()]
        return cells[0] if len(cells) == 1 else MultiRNNCell(cells)

    return make


def _last_activations(activations: Any, lengths: Any) -> Tensor:
    """Of outputs [batch, steps, units] the last step of each sequence."""
    with tf.name_scope("select_last_activations", values=[activations, lengths]):
        shape = tf.shape(activations)
        begins = tf.cast(tf.range(shape[0]) * shape[1], dtypes.int64)
        flat = tf.reshape(activations, [shape[0] * shape[1], shape[2]])
        last = tf.gather(flat, begins + lengths - 1)
        last.set_shape([activations.shape[0], activations.shape[2]])
        return last


def _logits(
    features: dict[str, Any],
    mode: str,
    units: int,
    make_cell: MakeCell,
    sequence_columns: Sequence[Any],
    context_columns: Sequence[Any],
    partitioner: Any,
    return_sequences: bool,
) -> tuple[Any, Any]:
    """Logits of the last step or of all, and which steps sequences have."""
    values = tuple(features.values())
    with tf.variable_scope("sequence_input_layer", values=values, partitioner=partitioner):
        inputs, lengths = sequence_input_layer(features, sequence_columns)
        histogram("sequence_length", lengths)
        if context_columns:
            context = input_layer(features=features, feature_columns=context_columns)
            inputs = concatenate_context_input(context, inputs)
    outputs, _ = dynamic_rnn(
        cell=make_cell(mode), inputs=inputs, sequence_length=lengths, dtype=dtypes.float32
    )
    if not return_sequences:
        outputs = _last_activations(outputs, lengths)
    with tf.variable_scope("logits", values=(outputs,)):
        logits = dense(outputs, units=units, kernel_initializer=tf.glorot_uniform_initializer())
    return logits, tf.sequence_mask(lengths)


def _model_fn(
    features: dict[str, Any],
    labels: object,
    mode: str,
    head: Any,
    make_cell: MakeCell,
    sequence_columns: Sequence[Any],
    context_columns: Sequence[Any],
    return_sequences: bool,
    optimizer: Any,
    input_layer_partitioner: Any,
    config: Any,
) -> EstimatorSpec:
    """Recurrent layers over columns."""
    require_dict(features)
    if not isinstance(optimizer, Optimizer):
        from ..contrib.estimator.extenders import clip_gradients_by_norm

        optimizer = clip_gradients_by_norm(optimizer_of(optimizer, _RATE), _CLIP_NORM)
    values = tuple(features.values())
    with tf.variable_scope("rnn", values=values, partitioner=partitioner_of(config)):
        logits, mask = _logits(
            *(features, mode, head.logits_dimension, make_cell, sequence_columns, context_columns),
            input_layer_partitioner or partitioner_of(config, min_slice_size=64 << 20),
            return_sequences,
        )

        def train_op_fn(loss: Any) -> Any:
            return optimizer.minimize(loss, global_step=get_global_step())

        if return_sequences and head.input_sequence_mask_key not in features:
            features[head.input_sequence_mask_key] = mask
        return head.create_estimator_spec(  # type: ignore[no-any-return]
            features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits
        )


@export("contrib.estimator.RNNClassifier")
class RNNClassifier(Estimator):
    """Recurrent layers over columns of sequences, for classes.

    Args:
        sequence_feature_columns: sequence_numeric_columns, and embedding or indicator columns of
            categories in sequences.
        context_feature_columns: dense columns, which every step gets besides.
        num_units: the sizes of the layers.
        cell_type: "basic_rnn", "lstm", "gru" or a class of cells.
        rnn_cell_fn: a function from a mode to a cell, in place of both.
        model_dir, config: as of Estimator.
        n_classes: how many classes there are.
        weight_column: the key or column of examples' weights.
        label_vocabulary: the classes' names, if labels are strings.
        optimizer: an Optimizer, a function that makes one, or a name; with other than the first
            gradients are clipped to a norm of 5.
        loss_reduction: how losses become one, of tf.losses.Reduction.
        input_layer_partitioner: how the columns' variables are made in parts.

    Raises:
        ValueError: cells are given in both ways.
    """

    def __init__(
        self,
        sequence_feature_columns: Sequence[Any],
        context_feature_columns: Sequence[Any] | None = None,
        num_units: Sequence[int] | None = None,
        cell_type: Any = _NOT_GIVEN,
        rnn_cell_fn: MakeCell | None = None,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: object = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: object = "Adagrad",
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        input_layer_partitioner: Callable[..., Any] | None = None,
        config: object = None,
    ) -> None:
        make_cell = _maker(rnn_cell_fn, num_units, cell_type)
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)

        def model_fn(features: Any, labels: object, mode: str, config: object) -> EstimatorSpec:
            return _model_fn(
                *(features, labels, mode, head, make_cell),
                *(tuple(sequence_feature_columns or ()), tuple(context_feature_columns or ())),
                False,
                *(optimizer, input_layer_partitioner, config),
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)


@export("contrib.estimator.RNNEstimator")
class RNNEstimator(Estimator):
    """Recurrent layers over columns of sequences, with a head of one's own.

    Args:
        head: what becomes of the logits.
        sequence_feature_columns, context_feature_columns, num_units, cell_type, rnn_cell_fn: as of
            RNNClassifier.
        return_sequences: whether the head gets the logits of every step; it must take sequences.
        model_dir, config: as of Estimator.
        optimizer, input_layer_partitioner: as of RNNClassifier.

    Raises:
        ValueError: cells are given in both ways, or the head takes no sequences.
    """

    def __init__(
        self,
        head: Head,
        sequence_feature_columns: Sequence[Any],
        context_feature_columns: Sequence[Any] | None = None,
        num_units: Sequence[int] | None = None,
        cell_type: Any = _NOT_GIVEN,
        rnn_cell_fn: MakeCell | None = None,
        return_sequences: bool = False,
        model_dir: str | None = None,
        optimizer: object = "Adagrad",
        input_layer_partitioner: Callable[..., Any] | None = None,
        config: object = None,
    ) -> None:
        make_cell = _maker(rnn_cell_fn, num_units, cell_type)
        if return_sequences and not hasattr(head, "input_sequence_mask_key"):
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when `return_sequences` is set "
                "to True."
            )

        def model_fn(features: Any, labels: object, mode: str, config: object) -> EstimatorSpec:
            return _model_fn(
                *(features, labels, mode, head, make_cell),
                *(tuple(sequence_feature_columns or ()), tuple(context_feature_columns or ())),
                return_sequences,
                *(optimizer, input_layer_partitioner, config),
            )

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)
