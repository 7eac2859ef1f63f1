# SPDX-License-Identifier: Apache-2.0
"""The model function of linear estimators that stochastic dual coordinate ascent solves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .....engine.graph.constants import constant_value
from .....ops.public import tf
from ....sessions.session_run_hook import SessionRunArgs, SessionRunHook
from ....variables.global_step import get_global_step
from ...layers.columns.real_valued import real_valued_column
from ...layers.feature_column_ops import transform_features, weighted_sum_from_feature_columns
from ...linear_optimizer.sdca_optimizer import SDCAOptimizer
from .head_classes import BinaryLogisticHead, BinarySvmHead, RegressionHead

if TYPE_CHECKING:
    from .....engine.graph.operation import Operation

_BIAS = "tf_virtual_bias_column"
_LOSSES = (
    (BinarySvmHead, "hinge_loss"),
    (BinaryLogisticHead, "logistic_loss"),
    (RegressionHead, "squared_loss"),
)


class SdcaUpdateWeightsHook(SessionRunHook):
    """Brings the weights up to date in every step."""

    def set_parameters(self, sdca_model: Any, train_op: Any) -> None:
        """Takes what the model function made."""
        self._sdca_model = sdca_model
        self._train_op = train_op

    def begin(self) -> None:
        """Makes the operation."""
        self._update_op = self._sdca_model.update_weights(self._train_op)

    def before_run(self, run_context: object) -> SessionRunArgs:
        """Asks for the operation."""
        del run_context
        return SessionRunArgs(self._update_op)


def _batch_size(tensors: dict[Any, Any]) -> Any:
    """The number of examples, by the first feature that tells."""
    for value in tensors.values():
        tensor = value[0] if type(value) is tuple else value
        if not isinstance(tensor, tf.SparseTensor):
            return tf.shape(tensor)[0]
        shape = constant_value(tensor.dense_shape)
        if shape is not None:
            return shape[0]
    raise ValueError("Could not infer batch size from input features.")


def _add_bias_column(
    columns: Sequence[Any], tensors: dict[Any, Any], bias: Any, variables: dict[Any, list[Any]]
) -> None:
    """Makes of the bias the weight of a feature that is 1 everywhere."""
    if any(column.name is _BIAS for column in columns):
        raise ValueError(f"{_BIAS} is a reserved column name.")
    if not columns:
        raise ValueError("feature_columns can't be empty.")
    size = _batch_size(tensors)
    column = real_valued_column(_BIAS)
    tensors[column] = tf.ones([size, 1], dtype=tf.float32)
    variables[column] = [bias]


def loss_of(head: Any) -> str | None:
    """The name of the loss of a head, or None where it cannot be solved."""
    for kind, loss in _LOSSES:
        if isinstance(head, kind):
            if kind is RegressionHead and head.logits_dimension != 1:
                raise AssertionError("SDCA only applies for logits_dimension=1.")
            return loss
    return None


def sdca_model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> Any:
    """A linear model of columns that is solved.

    Args:
        features: tensors by name.
        labels: the labels.
        mode: of ModeKeys.
        params: a dict of head, feature_columns, optimizer (an SDCAOptimizer), weight_column_name
            and update_weights_hook.

    Raises:
        ValueError: the optimizer or the head is of another kind.
    """
    head, columns, optimizer = params["head"], params["feature_columns"], params["optimizer"]
    hook = params.get("update_weights_hook")
    if not isinstance(optimizer, SDCAOptimizer):
        raise ValueError("Optimizer must be of type SDCAOptimizer")
    loss_type = loss_of(head)
    if loss_type is None:
        raise ValueError(f"Unsupported head type: {head}")
    with tf.variable_scope(
        values=features.values(), name_or_scope="linear", partitioner=optimizer.partitioner
    ) as scope:
        features = features.copy()
        features.update(transform_features(features, columns))
        logits, variables, bias = weighted_sum_from_feature_columns(
            columns_to_tensors=features, feature_columns=columns, num_outputs=1, scope=scope
        )
        _add_bias_column(columns, features, bias, variables)

    def train_op_fn(loss: Any) -> Operation:
        del loss
        model, train_op = optimizer.get_train_step(
            *(variables, params["weight_column_name"], loss_type, features, labels),
            get_global_step(),
        )
        if hook is not None:
            hook.set_parameters(model, train_op)
        return train_op

    made = head.create_model_fn_ops(
        features=features, labels=labels, mode=mode, train_op_fn=train_op_fn, logits=logits
    )
    if hook is None:
        return made
    return made._replace(training_chief_hooks=[*made.training_chief_hooks, hook])
