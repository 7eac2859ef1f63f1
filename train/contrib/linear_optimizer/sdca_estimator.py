# SPDX-License-Identifier: Apache-2.0
"""Estimators of tf.contrib.learn that make the solver themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..learn.estimators.constants import PredictionKey
from ..learn.estimators.estimator import Estimator
from ..learn.estimators.head import multi_class_head, regression_head
from ..learn.estimators.sdca_model_fn import SdcaUpdateWeightsHook, loss_of
from ..learn.estimators.sdca_model_fn import sdca_model_fn as solved_model_fn
from .sdca_optimizer import SDCAOptimizer


def sdca_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> Any:
    """A linear model of columns that is solved, with as many partitions as there are workers.

    Args:
        features, labels, mode, config: as of Estimator's model functions.
        params: a dict of head, feature_columns, example_id_column, l1_regularization,
            l2_regularization, num_loss_partitions, weight_column_name, update_weights_hook and
            partitioner.

    Raises:
        ValueError: the head is of another kind.
    """
    if params["head"].logits_dimension != 1:
        raise AssertionError("SDCA only applies to logits_dimension=1.")
    partitions = params["num_loss_partitions"] or max(1, config.num_worker_replicas)
    optimizer = SDCAOptimizer(
        example_id_column=params["example_id_column"],
        num_loss_partitions=partitions,
        symmetric_l1_regularization=params["l1_regularization"],
        symmetric_l2_regularization=params["l2_regularization"],
        partitioner=params["partitioner"],
    )
    return solved_model_fn(features, labels, mode, {**params, "optimizer": optimizer})


class _SDCAEstimator(Estimator):
    """A linear model of columns that is solved.

    Args:
        example_id_column: the feature with a string for each example that no other has.
        feature_columns: columns of tf.contrib.layers.
        weight_column_name: the feature with examples' weights.
        head: what becomes of the logits.
        l1_regularization, l2_regularization: what weights cost, over all examples.
        num_loss_partitions: how many steps are done at once; the number of workers if None.
        partitioner: how weights are made in parts.
        model_dir, config, feature_engineering_fn: as of Estimator.

    Raises:
        ValueError: the head's loss cannot be solved.
    """

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Sequence[Any],
        weight_column_name: str | None = None,
        model_dir: str | None = None,
        head: Any = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 1.0,
        num_loss_partitions: int | None = None,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        partitioner: Callable[..., Any] | None = None,
    ) -> None:
        if not feature_columns:
            raise AssertionError("feature_columns must not be empty")
        if loss_of(head) is None:
            raise ValueError(
                f"head type: {type(head)} is not supported. Supported head types: "
                "_BinaryLogisticHead, _BinarySvmHead and _RegressionHead."
            )
        if head.logits_dimension != 1:
            raise AssertionError("SDCA only applies to logits_dimension=1.")
        params = {
            "head": head,
            "feature_columns": feature_columns,
            "example_id_column": example_id_column,
            "num_loss_partitions": num_loss_partitions,
            "l1_regularization": l1_regularization,
            "l2_regularization": l2_regularization,
            "weight_column_name": weight_column_name,
            "update_weights_hook": SdcaUpdateWeightsHook(),
            "partitioner": partitioner,
        }
        super().__init__(sdca_model_fn, model_dir, config, params, feature_engineering_fn)

    def _one(self, key: str, input_fn: Callable[[], Any] | None) -> Iterator[Any]:
        found = self.predict(input_fn=input_fn, outputs=[key])
        return (one[key] for one in found)


class SDCALogisticClassifier(_SDCAEstimator):
    """Logistic regression for two classes; arguments as of `_SDCAEstimator`."""

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Sequence[Any],
        weight_column_name: str | None = None,
        model_dir: str | None = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 1.0,
        num_loss_partitions: int | None = None,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        partitioner: Callable[..., Any] | None = None,
    ) -> None:
        head = multi_class_head(n_classes=2, weight_column_name=weight_column_name)
        super().__init__(
            *(example_id_column, feature_columns, weight_column_name, model_dir, head),
            *(l1_regularization, l2_regularization, num_loss_partitions, config),
            partitioner=partitioner,
        )

    def predict_classes(self, input_fn: Callable[[], Any] | None = None) -> Iterator[Any]:
        """The likelier class of each example."""
        return self._one(PredictionKey.CLASSES, input_fn)

    def predict_proba(self, input_fn: Callable[[], Any] | None = None) -> Iterator[Any]:
        """The probabilities of both classes for each example."""
        return self._one(PredictionKey.PROBABILITIES, input_fn)


class SDCALinearRegressor(_SDCAEstimator):
    """Linear regression; arguments as of `_SDCAEstimator`."""

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Sequence[Any],
        weight_column_name: str | None = None,
        model_dir: str | None = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 1.0,
        num_loss_partitions: int | None = None,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        partitioner: Callable[..., Any] | None = None,
    ) -> None:
        head = regression_head(weight_column_name=weight_column_name)
        super().__init__(
            *(example_id_column, feature_columns, weight_column_name, model_dir, head),
            *(l1_regularization, l2_regularization, num_loss_partitions, config),
            partitioner=partitioner,
        )

    def predict_scores(self, input_fn: Callable[[], Any]) -> Iterator[Any]:
        """The number of each example."""
        return self._one(PredictionKey.SCORES, input_fn)
