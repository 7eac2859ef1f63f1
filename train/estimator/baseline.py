# SPDX-License-Identifier: Apache-2.0
"""Ready-made estimators: a bias alone, to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...ops.nn.losses_reduction import Reduction
from .canned_models import baseline_model_fn
from .estimator import Estimator
from .heads import Head, RegressionHead, classifier_head

if TYPE_CHECKING:
    from .model_fn import EstimatorSpec


@export("estimator.BaselineClassifier")
class BaselineClassifier(Estimator):
    """A bias alone, for classes.

    Args:
        optimizer: an Optimizer, a function that makes one, or a name.
        n_classes: how many classes there are.
        weight_column: the key or column of examples' weights.
        label_vocabulary: the classes' names, if labels are strings.
        model_dir, config: as of Estimator.
        loss_reduction: how losses become one, of tf.losses.Reduction.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column: object = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: object = "Ftrl",
        config: object = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        made: Head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)

        def model_fn(features: dict[str, Any], labels: object, mode: str) -> EstimatorSpec:
            return baseline_model_fn(
                *(features, labels, mode),
                head=made,
                optimizer=optimizer,
                weight_column=weight_column,
            )

        super().__init__(model_fn, model_dir, config)


@export("estimator.BaselineEstimator")
class BaselineEstimator(Estimator):
    """A bias alone, with a head of one's own.

    Args:
        optimizer: an Optimizer, a function that makes one, or a name.
        head: what becomes of the logits.
        model_dir, config: as of Estimator.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        head: Head,
        model_dir: str | None = None,
        optimizer: object = "Ftrl",
        config: object = None,
    ) -> None:
        made: Head = head

        def model_fn(features: dict[str, Any], labels: object, mode: str) -> EstimatorSpec:
            return baseline_model_fn(
                *(features, labels, mode),
                head=made,
                optimizer=optimizer,
                weight_column=None,
            )

        super().__init__(model_fn, model_dir, config)


@export("estimator.BaselineRegressor")
class BaselineRegressor(Estimator):
    """A bias alone, for numbers.

    Args:
        optimizer: an Optimizer, a function that makes one, or a name.
        label_dimension: how many numbers an example has.
        weight_column: the key or column of examples' weights.
        model_dir, config: as of Estimator.
        loss_reduction: how losses become one, of tf.losses.Reduction.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column: object = None,
        optimizer: object = "Ftrl",
        config: object = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        made: Head = RegressionHead(label_dimension, weight_column, loss_reduction)

        def model_fn(features: dict[str, Any], labels: object, mode: str) -> EstimatorSpec:
            return baseline_model_fn(
                *(features, labels, mode),
                head=made,
                optimizer=optimizer,
                weight_column=weight_column,
            )

        super().__init__(model_fn, model_dir, config)
