# SPDX-License-Identifier: Apache-2.0
"""What all metrics share: variables that accumulate, shapes that agree, values and updates.

labels, predictions, values: tensors of one shape, or with a last dimension of 1 more or less.
weights: None, a scalar, or a tensor that broadcasts to the values.
metrics_collections, updates_collections: collections that get the value and the update.
name: the name of the variable scope.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys, add_to_collections
from ...engine.graph.convert import convert_to_tensor
from ..public import tf
from ..sparse.arithmetic import remove_squeezable_dimensions
from ..state.merging import merged
from ..state.variable_modes import VariableAggregation, VariableSynchronization

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, ShapeLike, TensorLike
    from ...engine.graph.tensor import Tensor


def metric_variable(
    shape: ShapeLike, dtype: DTypeLike, validate_shape: bool = True, name: str | None = None
) -> Any:
    """A local variable that begins at zero, in LOCAL_VARIABLES and METRIC_VARIABLES."""
    return tf.Variable(
        lambda: tf.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
        name=name,
    )


def collected(
    value: TensorLike,
    update: TensorLike,
    metrics_collections: Sequence[str] | None,
    updates_collections: Sequence[str] | None,
) -> tuple[Any, Any]:
    """Value and update, put into the collections asked for."""
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update


def computed(
    compute: Callable[..., Any],
    variables: Any,
    updates: Any,
    metrics_collections: Sequence[str] | None,
    updates_collections: Sequence[str] | None,
) -> tuple[Any, Any]:
    """compute(*variables, "value") and compute(*updates, "update_op"), collected."""
    value = merged(lambda *given: compute(*given, "value"), *variables)
    update = compute(*updates, "update_op")
    return collected(value, update, metrics_collections, updates_collections)


def matched(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    """The three with last dimensions of 1 dropped or added, so that their ranks agree.

    Labels and weights may be None.  ValueError when the shapes cannot agree.
    """
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    if weights is None:
        return predictions, labels, None
    weights = convert_to_tensor(weights)
    given, wanted = weights.get_shape().ndims, predictions.get_shape().ndims
    if given == 0:
        return predictions, labels, weights
    if given is None or wanted is None:
        return predictions, labels, _matched_at_run_time(weights, predictions)
    if given - wanted == 1:
        weights = tf.squeeze(weights, [-1])
    elif wanted - given == 1:
        weights = tf.expand_dims(weights, [-1])
    return predictions, labels, weights


def _matched_at_run_time(weights: Any, predictions: Any) -> Any:
    """Weights of the predictions' rank, or scalar ones."""
    rank = tf.rank(weights)
    rank_diff = rank - tf.rank(predictions)
    shape = weights.get_shape()

    def unchanged() -> Any:
        return weights

    def squeezed() -> Tensor:
        return tf.squeeze(weights, [-1])

    def expanded() -> Any:
        is_short = tf.equal(rank_diff, -1)
        return tf.cond(is_short, lambda: tf.expand_dims(weights, [-1]), unchanged)

    # A branch that would squeeze a last size other than 1 could not even be built.
    fixed = shape.ndims is not None and not shape.dims[-1].is_compatible_with(1)
    longer = unchanged if fixed else squeezed
    return tf.cond(
        tf.equal(rank, 0), unchanged, lambda: tf.cond(tf.equal(rank_diff, 1), longer, expanded)
    )
