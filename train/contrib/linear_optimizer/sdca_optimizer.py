# SPDX-License-Identifier: Apache-2.0
"""The solver for estimators of tf.contrib.learn: from feature columns to its examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.checks.asserts import Assert
from ....ops.public import tf
from ...estimator.sdca_features import pruned_and_unique
from ..layers.columns.crossed import _CrossedColumn
from ..layers.columns.real_valued import _BucketizedColumn, _RealValuedColumn
from ..layers.columns.sparse import _SparseColumn, _WeightedSparseColumn
from .sdca_ops import SdcaModel
from .sparse_feature_column import SparseFeatureColumn

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor


@export("contrib.linear_optimizer.SDCAOptimizer")
class SDCAOptimizer:
    """Solves linear estimators by stochastic dual coordinate ascent.

    Args:
        example_id_column: the feature with a string for each example that no other has.
        num_loss_partitions: how many steps are done at once, over all workers.
        num_table_shards: the number of tables with the state of examples; one if None.
        symmetric_l1_regularization: what the size of a weight costs.
        symmetric_l2_regularization: what half of its square costs; 1 at least.
        adaptive: whether examples that are far from their best are taken more often.
        partitioner: how weights are made in parts.

    Example:
        >>> optimizer = tf.contrib.linear_optimizer.SDCAOptimizer("id")
        >>> print(optimizer.get_name(), optimizer.adaptive)
        SDCAOptimizer True
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = True,
        partitioner: Callable[..., Any] | None = None,
    ) -> None:
        self._example_id_column = example_id_column
        self._num_loss_partitions = num_loss_partitions
        self._num_table_shards = num_table_shards
        self._symmetric_l1_regularization = symmetric_l1_regularization
        self._symmetric_l2_regularization = symmetric_l2_regularization
        self._adaptive = adaptive
        self._partitioner = partitioner

    def get_name(self) -> str:
        """The name of the optimizer."""
        return "SDCAOptimizer"

    @property
    def example_id_column(self) -> str:
        """The feature that tells examples."""
        return self._example_id_column

    @property
    def num_loss_partitions(self) -> int:
        """How many steps are done at once."""
        return self._num_loss_partitions

    @property
    def num_table_shards(self) -> int | None:
        """The number of tables, or None."""
        return self._num_table_shards

    @property
    def symmetric_l1_regularization(self) -> float:
        """What the size of a weight costs."""
        return self._symmetric_l1_regularization

    @property
    def symmetric_l2_regularization(self) -> float:
        """What half of its square costs."""
        return self._symmetric_l2_regularization

    @property
    def adaptive(self) -> bool:
        """Whether examples are chosen by what they lack."""
        return self._adaptive

    @property
    def partitioner(self) -> Callable[..., Any] | None:
        """How weights are made in parts, or None."""
        return self._partitioner

    def get_train_step(
        self,
        columns_to_variables: dict[Any, list[Any]],
        weight_column_name: str | None,
        loss_type: str,
        features: dict[Any, Any],
        targets: Tensor,
        global_step: Any,
    ) -> tuple[SdcaModel, Operation]:
        """The model, and the operation of a step.

        Args:
            columns_to_variables: the weights of each column.
            weight_column_name: the feature with the weights of examples, or None.
            loss_type: the name of the loss, as SdcaModel has it.
            features: tensors by name, and by column.
            targets: the labels.
            global_step: the variable that counts steps.

        Raises:
            ValueError: a column is of a kind that cannot be solved.
        """
        batch_size = targets.shape[0]
        dense: list[Tensor] = []
        sparse: list[SparseFeatureColumn] = []
        variables: dict[str, list[Any]] = {
            "sparse_features_weights": [],
            "dense_features_weights": [],
        }
        for column in sorted(columns_to_variables, key=lambda column: column.key):
            parts = columns_to_variables[column]
            if isinstance(column, _RealValuedColumn):
                dense.append(_as_matrix(features[column]))
                variables["dense_features_weights"].append(parts[0])
                continue
            if isinstance(column, _BucketizedColumn):
                sparse.append(_nonzero(column._to_dnn_input_layer(features[column])))
            elif isinstance(column, (_WeightedSparseColumn, _CrossedColumn, _SparseColumn)):
                sparse.append(_categories(column, features[column]))
            else:
                raise ValueError(
                    f"SDCAOptimizer does not support column type {type(column).__name__}."
                )
            variables["sparse_features_weights"].append(parts if len(parts) > 1 else parts[0])
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
        options = {
            "symmetric_l1_regularization": self._symmetric_l1_regularization,
            "symmetric_l2_regularization": self._symmetric_l2_regularization,
            "adaptive": self._adaptive,
            "num_loss_partitions": self._num_loss_partitions,
            "num_table_shards": self._num_table_shards,
            "loss_type": loss_type,
        }
        model = SdcaModel(examples=examples, variables=variables, options=options)
        return model, model.minimize(global_step=global_step)


def _as_matrix(tensor: Tensor) -> Tensor:
    check = Assert(
        tf.less_equal(tf.rank(tensor), 2), ["transformed_tensor should have rank at most 2."]
    )
    with tf.control_dependencies([check]):
        return tf.reshape(tensor, [tf.shape(tensor)[0], -1])


def _nonzero(dense: Tensor) -> SparseFeatureColumn:
    """What is not zero of a matrix [examples, features]."""
    indices = tf.where(tf.not_equal(dense, tf.cast(0.0, dense.dtype)))
    values = tf.gather_nd(dense, indices)
    rows, columns = (
        tf.reshape(tf.split(value=indices, num_or_size_splits=2, axis=1)[i], [-1]) for i in (0, 1)
    )
    return SparseFeatureColumn(rows, columns, tf.reshape(tf.cast(values, tf.float32), [-1]))


def _categories(column: Any, transformed: Any) -> SparseFeatureColumn:
    if isinstance(column, _WeightedSparseColumn):
        ids = column.id_tensor(transformed)
        weights = tf.reshape(column.weight_tensor(transformed).values, [-1])
    else:
        ids = transformed
        weights = tf.ones([tf.shape(ids.indices)[0]], tf.float32)
    owners = tf.reshape(ids.indices[:, 0], [-1])
    return SparseFeatureColumn(*pruned_and_unique(owners, tf.reshape(ids.values, [-1]), weights))
