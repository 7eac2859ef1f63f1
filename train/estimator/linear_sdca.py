# SPDX-License-Identifier: Apache-2.0
"""Linear estimators that stochastic dual coordinate ascent solves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...ops.public import tf
from ...ops.summaries.api import scalar
from ..feature_column.linear_model import LinearModel
from ..feature_column.protocol import CategoricalColumn, DenseColumn, is_feature_column_v2
from ..feature_column.state import FeatureTransformationCache
from ..sessions.session_run_hook import SessionRunArgs, SessionRunHook
from ..variables.global_step import get_global_step
from .heads import BinaryClassHead, RegressionHead
from .linear_part import _parts, fraction_of_zero
from .mode_keys import ModeKeys
from .sdca_features import pruned_and_unique
from .sdca_model import _SDCAModel, _SparseFeatureColumn

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from .heads import Head
    from .model_fn import EstimatorSpec


@export("estimator.experimental.LinearSDCA")
class LinearSDCA:
    """Solves LinearClassifier and LinearRegressor by stochastic dual coordinate ascent.

    Args:
        example_id_column: the feature with a string for each example that no other has.
        num_loss_partitions: how many workers there are.
        num_table_shards: the number of tables with the state of examples; one if None.
        symmetric_l1_regularization: what the size of a weight costs.
        symmetric_l2_regularization: what half of its square costs; above 0, and better above 1.
        adaptive: whether examples that are far from their best are taken more often.

    Example:
        >>> column = tf.feature_column.numeric_column("x")
        >>> optimizer = tf.estimator.experimental.LinearSDCA("id", symmetric_l2_regularization=2.0)
        >>> model = tf.estimator.LinearRegressor([column], optimizer=optimizer)
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = False,
    ) -> None:
        self._example_id_column = example_id_column
        self._num_loss_partitions = num_loss_partitions
        self._num_table_shards = num_table_shards
        self._symmetric_l1_regularization = symmetric_l1_regularization
        self._symmetric_l2_regularization = symmetric_l2_regularization
        self._adaptive = adaptive

    def _prune_and_unique_sparse_ids(self, id_weight_pair: Any) -> _SparseFeatureColumn:
        """Without negative ids, and with each once for an example."""
        ids = id_weight_pair.id_tensor
        if id_weight_pair.weight_tensor:
            weights = id_weight_pair.weight_tensor.values
        else:
            weights = tf.ones([tf.shape(ids.indices)[0]], tf.float32)
        owners = tf.reshape(ids.indices[:, 0], [-1])
        flat = tf.cast(tf.reshape(ids.values, [-1]), tf.int64)
        return _SparseFeatureColumn(*pruned_and_unique(owners, flat, weights))

    def get_train_step(
        self,
        state_manager: Any,
        weight_column_name: Any,
        loss_type: str,
        feature_columns: Sequence[Any],
        features: dict[str, Any],
        targets: Tensor,
        bias_var: Any,
        global_step: Any,
    ) -> tuple[_SDCAModel, Operation]:
        """The model, and the operation of a step.

        Args:
            state_manager: where the weights of columns are.
            weight_column_name: the feature with the weights of examples, or None.
            loss_type: "logistic_loss" or "squared_loss".
            feature_columns: the columns.
            features: tensors by name.
            targets: the labels.
            bias_var: the variable that every example has.
            global_step: the variable that counts steps.

        Raises:
            ValueError: a column is of a kind that cannot be solved.
        """
        batch_size = tf.shape(targets)[0]
        cache = FeatureTransformationCache(features)
        dense: list[Tensor] = []
        sparse: list[_SparseFeatureColumn] = []
        dense_weights: list[Any] = []
        sparse_weights: list[Any] = []
        for column in sorted(feature_columns, key=lambda column: column.name):
            if isinstance(column, CategoricalColumn):
                pair = column.get_sparse_tensors(cache, state_manager)
                sparse.append(self._prune_and_unique_sparse_ids(pair))
                sparse_weights.append(state_manager.get_variable(column, "weights"))
            elif isinstance(column, DenseColumn):
                if column.variable_shape.ndims != 1:
                    raise ValueError(
                        f"Column {type(column).__name__} has rank {column.variable_shape.ndims}, "
                        "larger than 1."
                    )
                dense.append(column.get_dense_tensor(cache, state_manager))
                dense_weights.append(state_manager.get_variable(column, "weights"))
            else:
                raise ValueError(
                    f"LinearSDCA does not support column type {type(column).__name__}."
                )
        dense.append(tf.ones([batch_size, 1]))
        dense_weights.append(bias_var)
        weights = (
            tf.reshape(features[weight_column_name], shape=[-1])
            if weight_column_name
            else tf.ones([batch_size])
        )
        examples = {
            "sparse_features": sparse,
            "dense_features": dense,
            "example_labels": tf.cast(tf.reshape(targets, shape=[-1]), tf.float32),
            "example_weights": weights,
            "example_ids": features[self._example_id_column],
        }
        variables = {
            "sparse_features_weights": sparse_weights,
            "dense_features_weights": dense_weights,
        }
        model = _SDCAModel(examples, variables, self._options(loss_type))
        return model, model.minimize(global_step=global_step)

    def _options(self, loss_type: str) -> dict[str, Any]:
        return {
            "symmetric_l1_regularization": self._symmetric_l1_regularization,
            "symmetric_l2_regularization": self._symmetric_l2_regularization,
            "adaptive": self._adaptive,
            "num_loss_partitions": self._num_loss_partitions,
            "num_table_shards": self._num_table_shards,
            "loss_type": loss_type,
        }


def check_sdca(
    optimizer: object, columns: Sequence[Any], sparse_combiner: str, refusal: str | None
) -> None:
    """ValueError where a model cannot be solved.

    Args:
        optimizer: the optimizer of the model; nothing is checked of others than LinearSDCA.
        columns: the model's columns.
        sparse_combiner: how the weights of an example's categories become one.
        refusal: what is wrong with the model's outputs, or None.
    """
    if not isinstance(optimizer, LinearSDCA):
        return
    if sparse_combiner != "sum":
        raise ValueError('sparse_combiner must be "sum" when optimizer is a LinearSDCA object.')
    if not is_feature_column_v2(columns):
        raise ValueError("V2 feature columns required when optimizer is a LinearSDCA object.")
    if refusal:
        raise ValueError(refusal)


class _SDCAUpdateWeightsHook(SessionRunHook):
    """Brings the weights up to date in every step."""

    def __init__(self, sdca_model: _SDCAModel, train_op: Operation) -> None:
        self._sdca_model = sdca_model
        self._train_op = train_op

    def begin(self) -> None:
        """Makes the operation."""
        self._update_op = self._sdca_model.update_weights(self._train_op)

    def before_run(self, run_context: object) -> SessionRunArgs:
        """Asks for the operation."""
        del run_context
        return SessionRunArgs(self._update_op)


def sdca_model_fn(
    features: dict[str, Any],
    labels: Any,
    mode: str,
    head: Head,
    feature_columns: Sequence[Any],
    optimizer: LinearSDCA,
) -> EstimatorSpec:
    """A linear model of columns that is solved.

    Raises:
        ValueError: the head's loss cannot be solved.
    """
    if isinstance(head, BinaryClassHead):
        loss_type = "logistic_loss"
    elif isinstance(head, RegressionHead):
        loss_type = "squared_loss"
    else:
        raise ValueError(f"Unsupported head type: {head}")
    model = LinearModel(
        feature_columns=feature_columns, units=1, sparse_combiner="sum", name="linear_model"
    )
    logits = model(features)
    bias = _parts([model.bias])
    scalar("bias", bias[0][0])
    weights = [variable for variable in model.variables if variable is not model.bias]
    scalar("fraction_of_zero_weights", fraction_of_zero(_parts(weights)))
    if mode != ModeKeys.TRAIN:
        return head.create_estimator_spec(features, mode, logits, labels)
    solver, train_op = optimizer.get_train_step(
        *(model.layer._state_manager, head._weight_column, loss_type, feature_columns),
        *(features, labels, model.bias, get_global_step()),
    )
    spec = head.create_estimator_spec(
        features, mode, logits, labels, train_op_fn=lambda loss: train_op
    )
    hook = _SDCAUpdateWeightsHook(solver, train_op)
    return spec._replace(training_chief_hooks=(*spec.training_chief_hooks, hook))
