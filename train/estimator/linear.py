# SPDX-License-Identifier: Apache-2.0
"""Ready-made estimators: linear models of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...ops.nn.losses_reduction import Reduction
from .canned_models import linear_model_fn
from .estimator import Estimator
from .heads import Head, RegressionHead, classifier_head
from .linear_sdca import check_sdca

if TYPE_CHECKING:
    from .model_fn import EstimatorSpec


@export("estimator.LinearClassifier")
class LinearClassifier(Estimator):
    """A linear model of columns, for classes.

    Args:
        feature_columns: dense or categorical columns.
        optimizer: an Optimizer, a function that makes one, a name, or a LinearSDCA.
        partitioner: how variables are made in parts.
        sparse_combiner: "mean", "sqrtn" or "sum", of the weights of an example's categories.
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
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: object = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: object = "Ftrl",
        config: object = None,
        partitioner: Callable[..., Any] | None = None,
        warm_start_from: object = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        many = "LinearSDCA cannot be used in a multi-class setting." if n_classes > 2 else None
        check_sdca(optimizer, feature_columns, sparse_combiner, many)
        made: Head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)

        def model_fn(features: object, labels: object, mode: str, config: object) -> EstimatorSpec:
            return linear_model_fn(
                *(features, labels, mode, config),
                head=made,
                feature_columns=tuple(feature_columns or ()),
                optimizer=optimizer,
                partitioner=partitioner,
                sparse_combiner=sparse_combiner,
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@export("estimator.LinearEstimator")
class LinearEstimator(Estimator):
    """A linear model of columns, with a head of one's own.

    Args:
        feature_columns: dense or categorical columns.
        optimizer: an Optimizer, a function that makes one, a name, or a LinearSDCA.
        partitioner: how variables are made in parts.
        sparse_combiner: "mean", "sqrtn" or "sum", of the weights of an example's categories.
        head: what becomes of the logits.
        model_dir, config: as of Estimator.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        head: Head,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        optimizer: object = "Ftrl",
        config: object = None,
        partitioner: Callable[..., Any] | None = None,
        sparse_combiner: str = "sum",
    ) -> None:
        made: Head = head

        def model_fn(features: object, labels: object, mode: str, config: object) -> EstimatorSpec:
            return linear_model_fn(
                *(features, labels, mode, config),
                head=made,
                feature_columns=tuple(feature_columns or ()),
                optimizer=optimizer,
                partitioner=partitioner,
                sparse_combiner=sparse_combiner,
            )

        super().__init__(model_fn, model_dir, config)


@export("estimator.LinearRegressor")
class LinearRegressor(Estimator):
    """A linear model of columns, for numbers.

    Args:
        feature_columns: dense or categorical columns.
        optimizer: an Optimizer, a function that makes one, a name, or a LinearSDCA.
        partitioner: how variables are made in parts.
        sparse_combiner: "mean", "sqrtn" or "sum", of the weights of an example's categories.
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
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: object = None,
        optimizer: object = "Ftrl",
        config: object = None,
        partitioner: Callable[..., Any] | None = None,
        warm_start_from: object = None,
        loss_reduction: str = Reduction.SUM,
        sparse_combiner: str = "sum",
    ) -> None:
        wide = "LinearSDCA can only be used with one-dimensional label."
        check_sdca(
            optimizer, feature_columns, sparse_combiner, wide if label_dimension > 1 else None
        )
        made: Head = RegressionHead(label_dimension, weight_column, loss_reduction)

        def model_fn(features: object, labels: object, mode: str, config: object) -> EstimatorSpec:
            return linear_model_fn(
                *(features, labels, mode, config),
                head=made,
                feature_columns=tuple(feature_columns or ()),
                optimizer=optimizer,
                partitioner=partitioner,
                sparse_combiner=sparse_combiner,
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)
