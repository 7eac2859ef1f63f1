# SPDX-License-Identifier: Apache-2.0
"""Ready-made estimators: a linear model and dense layers, added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...ops.nn.activation import relu
from ...ops.nn.losses_reduction import Reduction
from .canned_models import combined_model_fn
from .estimator import Estimator
from .heads import Head, RegressionHead, classifier_head

if TYPE_CHECKING:
    from .model_fn import EstimatorSpec


@export("estimator.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(Estimator):
    """A linear model and dense layers, added up, for classes.

    Args:
        linear_feature_columns, dnn_feature_columns: columns of the two parts; one may be missing.
        linear_optimizer, dnn_optimizer: Optimizers, functions that make one, or names.
        dnn_hidden_units: the sizes of the hidden layers.
        dnn_activation_fn, dnn_dropout, batch_norm: of the hidden layers.
        input_layer_partitioner: how the columns' variables are made in parts.
        linear_sparse_combiner: "mean", "sqrtn" or "sum", of the weights of an example's categories.
        n_classes: how many classes there are.
        weight_column: the key or column of examples' weights.
        label_vocabulary: the classes' names, if labels are strings.
        model_dir, config: as of Estimator.
        warm_start_from: as of Estimator.
        loss_reduction: how losses become one, of tf.losses.Reduction.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: object = "Ftrl",
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: object = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[..., Any] | None = relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: object = None,
        label_vocabulary: Sequence[str] | None = None,
        input_layer_partitioner: Callable[..., Any] | None = None,
        config: object = None,
        warm_start_from: object = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        _require_columns(linear_feature_columns, dnn_feature_columns)
        made: Head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)

        def model_fn(features: object, labels: object, mode: str, config: object) -> EstimatorSpec:
            return combined_model_fn(
                *(features, labels, mode, config),
                head=made,
                linear_feature_columns=tuple(linear_feature_columns or ()),
                linear_optimizer=linear_optimizer,
                dnn_feature_columns=tuple(dnn_feature_columns or ()),
                dnn_optimizer=dnn_optimizer,
                dnn_hidden_units=dnn_hidden_units,
                dnn_activation_fn=dnn_activation_fn,
                dnn_dropout=dnn_dropout,
                input_layer_partitioner=input_layer_partitioner,
                batch_norm=batch_norm,
                linear_sparse_combiner=linear_sparse_combiner,
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@export("estimator.DNNLinearCombinedEstimator")
class DNNLinearCombinedEstimator(Estimator):
    """A linear model and dense layers, added up, with a head of one's own.

    Args:
        linear_feature_columns, dnn_feature_columns: columns of the two parts; one may be missing.
        linear_optimizer, dnn_optimizer: Optimizers, functions that make one, or names.
        dnn_hidden_units: the sizes of the hidden layers.
        dnn_activation_fn, dnn_dropout, batch_norm: of the hidden layers.
        input_layer_partitioner: how the columns' variables are made in parts.
        linear_sparse_combiner: "mean", "sqrtn" or "sum", of the weights of an example's categories.
        head: what becomes of the logits.
        model_dir, config: as of Estimator.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        head: Head,
        model_dir: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: object = "Ftrl",
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: object = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[..., Any] | None = relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Callable[..., Any] | None = None,
        config: object = None,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        _require_columns(linear_feature_columns, dnn_feature_columns)
        made: Head = head

        def model_fn(features: object, labels: object, mode: str, config: object) -> EstimatorSpec:
            return combined_model_fn(
                *(features, labels, mode, config),
                head=made,
                linear_feature_columns=tuple(linear_feature_columns or ()),
                linear_optimizer=linear_optimizer,
                dnn_feature_columns=tuple(dnn_feature_columns or ()),
                dnn_optimizer=dnn_optimizer,
                dnn_hidden_units=dnn_hidden_units,
                dnn_activation_fn=dnn_activation_fn,
                dnn_dropout=dnn_dropout,
                input_layer_partitioner=input_layer_partitioner,
                batch_norm=batch_norm,
                linear_sparse_combiner=linear_sparse_combiner,
            )

        super().__init__(model_fn, model_dir, config)


@export("estimator.DNNLinearCombinedRegressor")
class DNNLinearCombinedRegressor(Estimator):
    """A linear model and dense layers, added up, for numbers.

    Args:
        linear_feature_columns, dnn_feature_columns: columns of the two parts; one may be missing.
        linear_optimizer, dnn_optimizer: Optimizers, functions that make one, or names.
        dnn_hidden_units: the sizes of the hidden layers.
        dnn_activation_fn, dnn_dropout, batch_norm: of the hidden layers.
        input_layer_partitioner: how the columns' variables are made in parts.
        linear_sparse_combiner: "mean", "sqrtn" or "sum", of the weights of an example's categories.
        label_dimension: how many numbers an example has.
        weight_column: the key or column of examples' weights.
        model_dir, config: as of Estimator.
        warm_start_from: as of Estimator.
        loss_reduction: how losses become one, of tf.losses.Reduction.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: object = "Ftrl",
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: object = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[..., Any] | None = relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: object = None,
        input_layer_partitioner: Callable[..., Any] | None = None,
        config: object = None,
        warm_start_from: object = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        _require_columns(linear_feature_columns, dnn_feature_columns)
        made: Head = RegressionHead(label_dimension, weight_column, loss_reduction)

        def model_fn(features: object, labels: object, mode: str, config: object) -> EstimatorSpec:
            return combined_model_fn(
                *(features, labels, mode, config),
                head=made,
                linear_feature_columns=tuple(linear_feature_columns or ()),
                linear_optimizer=linear_optimizer,
                dnn_feature_columns=tuple(dnn_feature_columns or ()),
                dnn_optimizer=dnn_optimizer,
                dnn_hidden_units=dnn_hidden_units,
                dnn_activation_fn=dnn_activation_fn,
                dnn_dropout=dnn_dropout,
                input_layer_partitioner=input_layer_partitioner,
                batch_norm=batch_norm,
                linear_sparse_combiner=linear_sparse_combiner,
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


def _require_columns(*columns: Sequence[Any] | None) -> None:
    if not any(columns):
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
