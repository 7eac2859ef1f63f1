# SPDX-License-Identifier: Apache-2.0
"""The solver as contrib has it: an l2 of 1 at least, and variables that are references."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.public import raw, tf
from ...estimator.sdca_model import _SDCAModel
from .sharded_mutable_dense_hashtable import ShardedMutableDenseHashTable

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor


@export("contrib.linear_optimizer.SdcaModel")
class SdcaModel(_SDCAModel):
    """A linear model that is solved by stochastic dual coordinate ascent.

    Args:
        examples: a dict of `sparse_features` (a list of SparseFeatureColumn), `dense_features` (a
            list of float32 matrices), `example_labels`, `example_weights` (float32 vectors) and
            `example_ids` (strings).
        variables: a dict of the lists `sparse_features_weights` and `dense_features_weights`.
        options: a dict of `loss_type` ("logistic_loss", "squared_loss", "hinge_loss",
            "smooth_hinge_loss" or "poisson_loss"), `symmetric_l1_regularization` and
            `symmetric_l2_regularization`, and maybe `num_loss_partitions` (1), `num_table_shards`
            (1) and `adaptive` (True).

    Raises:
        ValueError: something is missing or out of range.

    Example:
        >>> weights = tf.Variable(tf.zeros([1]))
        >>> examples = {
        ...     "sparse_features": [],
        ...     "dense_features": [tf.constant([[1.0], [-1.0]])],
        ...     "example_labels": [1.0, 0.0],
        ...     "example_weights": [1.0, 1.0],
        ...     "example_ids": ["a", "b"],
        ... }
        >>> model = tf.contrib.linear_optimizer.SdcaModel(
        ...     examples,
        ...     {"sparse_features_weights": [], "dense_features_weights": [weights]},
        ...     {
        ...         "loss_type": "squared_loss",
        ...         "symmetric_l1_regularization": 0.0,
        ...         "symmetric_l2_regularization": 1.0,
        ...     },
        ... )
        >>> step = model.update_weights(model.minimize())
        >>> with tf.Session() as sess:
        ...     sess.run(tf.global_variables_initializer())
        ...     sess.run(step)
        ...     bool(sess.run(weights)[0] > 0.0)
        True
    """

    _SLOT_SUFFIX = "_unshrinked/SDCAOptimizer"
    _make_slot: Callable[..., Any] = staticmethod(tf.Variable)
    _table = ShardedMutableDenseHashTable
    _select = "where"

    def _check_penalties(self, l2: float, l1: float) -> None:
        for name, value in (("l1", l1), ("l2", l2)):
            if value < 0.0:
                raise ValueError(
                    f"symmetric_{name}_regularization should be non-negative. Found ({value:f})"
                )

    def _symmetric_l2_regularization(self) -> float:
        # The steps assume as much.
        return max(self._options["symmetric_l2_regularization"], 1.0)

    def _stated_l2(self) -> float:
        return self._options["symmetric_l2_regularization"]

    def _linear_predictions(self, examples: dict[str, Any]) -> Tensor:
        """Products of weights and features; every example has a feature in every column."""
        with tf.name_scope("sdca/prediction"):
            sparse: Any = 0.0
            weights = self._tensors(self._variables["sparse_features_weights"])
            for column, weight in zip(examples["sparse_features"], weights):
                products = tf.multiply(
                    tf.gather(weight, column.feature_indices), column.feature_values
                )
                sparse += tf.segment_sum(products, column.example_indices)
            features = self._tensors(examples["dense_features"])
            variables = self._tensors(self._variables["dense_features_weights"])
            dense: Any = 0.0
            for feature, variable in zip(features, variables):
                dense += tf.matmul(feature, tf.expand_dims(variable, -1))
        return tf.reshape(dense, [-1]) + sparse

    def update_weights(self, train_op: Operation) -> Operation:
        """The operation that brings the variables up to date, after `minimize`'s.

        Args:
            train_op: what `minimize` gave.
        """
        with tf.control_dependencies([train_op]):
            copies = self._copies()
        with tf.control_dependencies(copies):
            shrunk = []
            for part in self._all_weights():
                with tf.device(part.device):
                    shrunk.append(
                        raw.SdcaShrinkL1(
                            self._tensors([part], as_ref=True),
                            l1=self._symmetric_l1_regularization(),
                            l2=self._symmetric_l2_regularization(),
                        )
                    )
            return tf.group(*shrunk)
