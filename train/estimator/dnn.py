# SPDX-License-Identifier: Apache-2.0
"""Ready-made estimators: dense layers over columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...ops.nn.activation import relu
from ...ops.nn.losses_reduction import Reduction
from .canned_models import dnn_model_fn
from .estimator import Estimator
from .heads import Head, RegressionHead, classifier_head

if TYPE_CHECKING:
    from .model_fn import EstimatorSpec


@export("estimator.DNNClassifier")
class DNNClassifier(Estimator):
    """Dense layers over columns, for classes.

    Args:
        hidden_units: the sizes of the hidden layers.
        feature_columns: dense columns.
        optimizer: an Optimizer, a function that makes one, or a name.
        activation_fn: of the hidden layers.
        dropout: the share of a hidden layer's outputs that training drops; None for none.
        input_layer_partitioner: how the columns' variables are made in parts.
        batch_norm: whether hidden layers are normalized.
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
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: object = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: object = "Adagrad",
        activation_fn: Callable[..., Any] | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Callable[..., Any] | None = None,
        config: object = None,
        warm_start_from: object = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        made: Head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)

        def model_fn(features: object, labels: object, mode: str, config: object) -> EstimatorSpec:
            return dnn_model_fn(
                *(features, labels, mode, config),
                head=made,
                hidden_units=hidden_units,
                feature_columns=tuple(feature_columns or ()),
                optimizer=optimizer,
                activation_fn=activation_fn,
                dropout=dropout,
                input_layer_partitioner=input_layer_partitioner,
                batch_norm=batch_norm,
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@export("estimator.DNNEstimator")
class DNNEstimator(Estimator):
    """Dense layers over columns, with a head of one's own.

    Args:
        hidden_units: the sizes of the hidden layers.
        feature_columns: dense columns.
        optimizer: an Optimizer, a function that makes one, or a name.
        activation_fn: of the hidden layers.
        dropout: the share of a hidden layer's outputs that training drops; None for none.
        input_layer_partitioner: how the columns' variables are made in parts.
        batch_norm: whether hidden layers are normalized.
        head: what becomes of the logits.
        model_dir, config: as of Estimator.
        warm_start_from: as of Estimator.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        optimizer: object = "Adagrad",
        activation_fn: Callable[..., Any] | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Callable[..., Any] | None = None,
        config: object = None,
        warm_start_from: object = None,
        batch_norm: bool = False,
    ) -> None:
        made: Head = head

        def model_fn(features: object, labels: object, mode: str, config: object) -> EstimatorSpec:
            return dnn_model_fn(
                *(features, labels, mode, config),
                head=made,
                hidden_units=hidden_units,
                feature_columns=tuple(feature_columns or ()),
                optimizer=optimizer,
                activation_fn=activation_fn,
                dropout=dropout,
                input_layer_partitioner=input_layer_partitioner,
                batch_norm=batch_norm,
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@export("estimator.DNNRegressor")
class DNNRegressor(Estimator):
    """Dense layers over columns, for numbers.

    Args:
        hidden_units: the sizes of the hidden layers.
        feature_columns: dense columns.
        optimizer: an Optimizer, a function that makes one, or a name.
        activation_fn: of the hidden layers.
        dropout: the share of a hidden layer's outputs that training drops; None for none.
        input_layer_partitioner: how the columns' variables are made in parts.
        batch_norm: whether hidden layers are normalized.
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
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: object = None,
        optimizer: object = "Adagrad",
        activation_fn: Callable[..., Any] | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Callable[..., Any] | None = None,
        config: object = None,
        warm_start_from: object = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        made: Head = RegressionHead(label_dimension, weight_column, loss_reduction)

        def model_fn(features: object, labels: object, mode: str, config: object) -> EstimatorSpec:
            return dnn_model_fn(
                *(features, labels, mode, config),
                head=made,
                hidden_units=hidden_units,
                feature_columns=tuple(feature_columns or ()),
                optimizer=optimizer,
                activation_fn=activation_fn,
                dropout=dropout,
                input_layer_partitioner=input_layer_partitioner,
                batch_norm=batch_norm,
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)
