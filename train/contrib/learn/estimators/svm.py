# SPDX-License-Identifier: Apache-2.0
"""Support vector machines: linear models by a hinge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .....engine.api import export
from ...linear_optimizer.sdca_optimizer import SDCAOptimizer
from .canned import Classifying
from .estimator import Estimator
from .head import binary_svm_head
from .sdca_model_fn import SdcaUpdateWeightsHook, sdca_model_fn


@export("contrib.learn.SVM")
class SVM(Classifying):
    """A linear support vector machine for two classes.

    Args:
        example_id_column: the feature with a string for each example that no other has.
        feature_columns: columns of tf.contrib.layers.
        weight_column_name: the feature with examples' weights.
        l1_regularization, l2_regularization: what weights cost, over all examples.
        num_loss_partitions: how many steps are done at once, over all workers.
        kernels: None; others than linear ones are not there.
        model_dir, config, feature_engineering_fn: as of Estimator.

    Raises:
        ValueError: kernels are given.
    """

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Sequence[Any],
        weight_column_name: str | None = None,
        model_dir: str | None = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        num_loss_partitions: int = 1,
        kernels: object = None,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        if kernels is not None:
            raise ValueError("Kernel SVMs are not currently supported.")
        optimizer = SDCAOptimizer(
            example_id_column=example_id_column,
            num_loss_partitions=num_loss_partitions,
            symmetric_l1_regularization=l1_regularization,
            symmetric_l2_regularization=l2_regularization,
        )
        params = {
            "head": binary_svm_head(
                weight_column_name=weight_column_name, enable_centered_bias=False
            ),
            "feature_columns": feature_columns,
            "optimizer": optimizer,
            "weight_column_name": weight_column_name,
            "update_weights_hook": SdcaUpdateWeightsHook(),
        }
        super().__init__(sdca_model_fn, model_dir, config, params, feature_engineering_fn)

    # All kinds of predictions, unlike other estimators of classes.
    predict = Estimator.predict
