# SPDX-License-Identifier: Apache-2.0
"""Boosted trees that are trained at once, of examples that are one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.data.dataset import DatasetV2
from ...estimator.trees.boosted_trees import (
    BoostedTreesBase,
    classification_head,
    regression_head,
)
from ...estimator.trees.growers import TreeHParams
from ...estimator.trees.model import bt_model_fn

if TYPE_CHECKING:
    from ...estimator.model_fn import EstimatorSpec


def _repeated(input_fn: Callable[[], Any]) -> Callable[[], Any]:
    """Every step needs the batch again."""

    def repeating() -> Any:
        found = input_fn()
        return found.repeat() if isinstance(found, DatasetV2) else found

    return repeating


def _trained(
    train_input_fn: Callable[[], Any],
    train_hooks: Sequence[Any] | None,
    hparams: TreeHParams,
    feature_columns: Sequence[Any],
    head: Any,
    closed_form: Any,
    model_dir: str | None,
    config: object,
    is_classification: bool,
) -> BoostedTreesBase:
    def model_fn(features: Any, labels: object, mode: str, config: object) -> EstimatorSpec:
        return bt_model_fn(
            *(features, labels, mode, head, feature_columns, hparams, 1, config, closed_form),
            train_in_memory=True,
        )

    estimator = BoostedTreesBase(
        *(model_fn, model_dir, config, feature_columns, head, hparams.center_bias),
        *(is_classification, hparams.quantile_sketch_epsilon),
    )
    estimator.train(_repeated(train_input_fn), hooks=train_hooks)
    return estimator


@export("contrib.estimator.boosted_trees_classifier_train_in_memory")
def boosted_trees_classifier_train_in_memory(
    train_input_fn: Callable[[], Any],
    feature_columns: Sequence[Any],
    model_dir: str | None = None,
    n_classes: int = 2,
    weight_column: object = None,
    label_vocabulary: Sequence[str] | None = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: object = None,
    train_hooks: Sequence[Any] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesBase:
    """Trees for two classes, trained.

    Args:
        train_input_fn: gives features and labels, or a Dataset of one element that has all.
        train_hooks: of training.
        others: as of tf.estimator.BoostedTreesClassifier.

    Returns:
        An estimator.

    Raises:
        ValueError: an argument is out of range.
    """
    head, closed_form = classification_head(n_classes, weight_column, label_vocabulary)
    hparams = TreeHParams(
        *(n_trees, max_depth, learning_rate, l1_regularization, l2_regularization),
        *(tree_complexity, min_node_weight, center_bias, pruning_mode, quantile_sketch_epsilon),
    )
    return _trained(
        *(train_input_fn, train_hooks, hparams, feature_columns, head, closed_form),
        *(model_dir, config, True),
    )


@export("contrib.estimator.boosted_trees_regressor_train_in_memory")
def boosted_trees_regressor_train_in_memory(
    train_input_fn: Callable[[], Any],
    feature_columns: Sequence[Any],
    model_dir: str | None = None,
    label_dimension: int = 1,
    weight_column: object = None,
    n_trees: int = 100,
    max_depth: int = 6,
    learning_rate: float = 0.1,
    l1_regularization: float = 0.0,
    l2_regularization: float = 0.0,
    tree_complexity: float = 0.0,
    min_node_weight: float = 0.0,
    config: object = None,
    train_hooks: Sequence[Any] | None = None,
    center_bias: bool = False,
    pruning_mode: str = "none",
    quantile_sketch_epsilon: float = 0.01,
) -> BoostedTreesBase:
    """Trees for numbers, trained.

    Args:
        train_input_fn: gives features and labels, or a Dataset of one element that has all.
        train_hooks: of training.
        others: as of tf.estimator.BoostedTreesRegressor.

    Returns:
        An estimator.

    Raises:
        ValueError: an argument is out of range.
    """
    head = regression_head(label_dimension, weight_column)
    hparams = TreeHParams(
        *(n_trees, max_depth, learning_rate, l1_regularization, l2_regularization),
        *(tree_complexity, min_node_weight, center_bias, pruning_mode, quantile_sketch_epsilon),
    )
    return _trained(
        *(train_input_fn, train_hooks, hparams, feature_columns, head, None),
        *(model_dir, config, False),
    )
