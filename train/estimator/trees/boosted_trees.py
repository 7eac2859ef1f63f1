# SPDX-License-Identifier: Apache-2.0
"""Ready-made estimators: boosted trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types import dtypes
from ....ops.nn.losses_reduction import Reduction
from ....ops.public import raw, tf
from ...checkpoints.checkpoint_utils import load_checkpoint
from .. import head_checks as checks
from ..estimator import Estimator
from ..heads import BinaryClassHead, Head, MultiClassHead, RegressionHead
from ..mode_keys import ModeKeys
from . import columns as tree_columns
from .explanations import DEBUG_KEY, explained, importances
from .growers import TreeHParams
from .model import ClosedForm, bt_model_fn, predict_logits

if TYPE_CHECKING:
    from ..model_fn import EstimatorSpec

# What n_classes and label_dimension are until there can be more: TensorFlow tells a given
# number from none.
_NOT_GIVEN = object()


class BoostedTreesBase(Estimator):
    """What the estimators of trees share."""

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: str | None,
        config: object,
        feature_columns: Sequence[Any],
        head: Head,
        center_bias: bool,
        is_classification: bool,
        quantile_sketch_epsilon: float,
    ) -> None:
        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)
        self._sorted_feature_columns = tree_columns.by_name(feature_columns)
        self._head = head
        self._n_features = tree_columns.count_features(self._sorted_feature_columns)
        self._feature_col_names = tree_columns.feature_names(self._sorted_feature_columns)
        self._center_bias = center_bias
        self._is_classification = is_classification
        self._quantile_sketch_epsilon = quantile_sketch_epsilon

    def experimental_feature_importances(self, normalize: bool = False) -> Any:
        """What splits by each column gained, by the columns' names, the greatest first.

        Args:
            normalize: whether they are to sum to one.

        Raises:
            ValueError: nothing was trained.
            AssertionError: what is to sum to one is negative or nothing.
        """
        reader = load_checkpoint(self._model_dir)
        serialized = reader.get_tensor("boosted_trees:0_serialized")
        return importances(serialized, self._feature_col_names, normalize)

    def experimental_predict_with_explanations(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Any = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Predictions, with what each column contributed.

        Args:
            input_fn, predict_keys, hooks, checkpoint_path: as of Estimator.predict.

        Yields:
            Predictions by key, with "bias" (what is predicted without any split) and "dfc" (what
            columns add to it, by their names, the greatest first).

        Raises:
            ValueError: the bias is not centered, or the head links logits to other numbers.
        """
        if not self._center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using "
                "experimental_predict_with_explanations."
            )
        if not self._is_classification:
            link = getattr(self._head, "_inverse_link_fn", None)
            if link not in (None, tf.identity):
                raise ValueError(
                    "For now only identity inverse_link_fn in regression_head is supported for "
                    "experimental_predict_with_explanations."
                )
        explaining = Estimator(
            model_fn=lambda features, labels, mode: self._explaining(features),
            model_dir=self.model_dir,
            config=self.config,
            warm_start_from=self._warm_start_settings,
        )
        if predict_keys is not None:
            predict_keys = {*predict_keys, DEBUG_KEY}
        predictions = explaining.predict(
            input_fn,
            predict_keys=predict_keys,
            hooks=hooks,
            checkpoint_path=checkpoint_path,
            yield_single_examples=True,
        )
        for prediction in predictions:
            prediction["bias"], prediction["dfc"] = explained(
                prediction.pop(DEBUG_KEY), self._feature_col_names, self._is_classification
            )
            yield prediction

    def _explaining(self, features: dict[str, Any]) -> EstimatorSpec:
        size, columns = self._head.logits_dimension, self._sorted_feature_columns
        with tf.name_scope("boosted_trees"):
            ensemble, asked, logits = predict_logits(
                features, columns, self._quantile_sketch_epsilon, size
            )
            spec = self._head.create_estimator_spec(features, ModeKeys.PREDICT, logits)
            spec.predictions[DEBUG_KEY] = raw.BoostedTreesExampleDebugOutputs(
                ensemble.resource_handle, asked, logits_dimension=size
            )
            return spec


def _closed_form(head: Head) -> ClosedForm:
    """Gradients and hessians of the mean cross entropy of two classes."""

    def gradients_and_hessians(logits: Any, labels: Any) -> tuple[Any, Any]:
        found = tf.reciprocal(tf.exp(-logits) + 1.0)
        share = tf.reciprocal(tf.cast(tf.size(found), dtypes.float32))
        labels = tf.cast(labels, dtypes.float32)
        labels = checks.checked_labels(labels, logits, head.logits_dimension)
        return (found - labels) * share, found * (1.0 - found) * share

    return gradients_and_hessians


@export("estimator.BoostedTreesClassifier")
class BoostedTreesClassifier(BoostedTreesBase):
    """Boosted trees, for two classes.

    Args:
        feature_columns: bucketized, indicator and numeric columns.
        n_batches_per_layer: of how many batches a layer is.
        model_dir, config: as of Estimator.
        n_classes: 2.
        weight_column: the key or column of examples' weights.
        label_vocabulary: the classes' names, if labels are strings.
        n_trees: after how many trees training ends.
        max_depth: how many layers a tree has.
        learning_rate: what share of itself a leaf counts.
        l1_regularization, l2_regularization: what large leaves cost.
        tree_complexity: what a leaf costs.
        min_node_weight: the least hessian of a node that is split.
        center_bias: whether the first leaf predicts the labels' mean.
        pruning_mode: "none", "pre" (splits that gain nothing are not made) or "post" (they are
            undone when a tree is whole); the latter need a positive tree_complexity.
        quantile_sketch_epsilon: how far buckets of numbers may be off; there are one by it.
        train_in_memory: whether each batch has all examples; n_batches_per_layer is 1 then.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        n_batches_per_layer: Any,
        model_dir: str | None = None,
        n_classes: Any = _NOT_GIVEN,
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
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        if n_classes is _NOT_GIVEN:
            n_classes = 2
        elif n_classes > 2 and pruning_mode is not None:
            raise ValueError("For now pruning is not supported with multi class.")
        head, closed_form = classification_head(n_classes, weight_column, label_vocabulary)
        hparams = TreeHParams(
            *(n_trees, max_depth, learning_rate, l1_regularization, l2_regularization),
            *(tree_complexity, min_node_weight, center_bias, pruning_mode),
            quantile_sketch_epsilon,
        )

        def model_fn(features: Any, labels: object, mode: str, config: object) -> EstimatorSpec:
            return bt_model_fn(
                *(features, labels, mode, head, feature_columns, hparams, n_batches_per_layer),
                *(config, closed_form),
                weight_column=weight_column,
                train_in_memory=train_in_memory,
            )

        super().__init__(
            *(model_fn, model_dir, config, feature_columns, head, center_bias, True),
            quantile_sketch_epsilon,
        )


def classification_head(
    n_classes: int, weight_column: object, label_vocabulary: Sequence[str] | None
) -> tuple[Head, ClosedForm | None]:
    """The head of two classes, and its gradients and hessians where these are known."""
    if n_classes != 2:
        raise ValueError(
            f"For now only binary classification is supported.n_classes given as {n_classes}"
        )
    head = BinaryClassHead(
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
    )
    is_plain = weight_column is None and label_vocabulary is None
    return head, _closed_form(head) if is_plain else None


def regression_head(label_dimension: int, weight_column: object = None) -> Head:
    """The head of one number."""
    if label_dimension != 1:
        raise ValueError(
            "For now only 1 dimension regression is supported.label_dimension given as "
            f"{label_dimension}"
        )
    return RegressionHead(
        label_dimension, weight_column, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE
    )


@export("estimator.BoostedTreesRegressor")
class BoostedTreesRegressor(BoostedTreesBase):
    """Boosted trees, for numbers.

    Args:
        feature_columns: bucketized, indicator and numeric columns.
        n_batches_per_layer: of how many batches a layer is.
        model_dir, config: as of Estimator.
        label_dimension: 1.
        weight_column: the key or column of examples' weights.
        n_trees: after how many trees training ends.
        max_depth: how many layers a tree has.
        learning_rate: what share of itself a leaf counts.
        l1_regularization, l2_regularization: what large leaves cost.
        tree_complexity: what a leaf costs.
        min_node_weight: the least hessian of a node that is split.
        center_bias: whether the first leaf predicts the labels' mean.
        pruning_mode: "none", "pre" (splits that gain nothing are not made) or "post" (they are
            undone when a tree is whole); the latter need a positive tree_complexity.
        quantile_sketch_epsilon: how far buckets of numbers may be off; there are one by it.
        train_in_memory: whether each batch has all examples; n_batches_per_layer is 1 then.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        n_batches_per_layer: Any,
        model_dir: str | None = None,
        label_dimension: Any = _NOT_GIVEN,
        weight_column: object = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: object = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:
        if label_dimension is _NOT_GIVEN:
            label_dimension = 1
        elif label_dimension > 1 and pruning_mode is not None:
            raise ValueError("For now pruning is not supported with multi-dimensionregression.")
        head = regression_head(label_dimension, weight_column)
        hparams = TreeHParams(
            *(n_trees, max_depth, learning_rate, l1_regularization, l2_regularization),
            *(tree_complexity, min_node_weight, center_bias, pruning_mode),
            quantile_sketch_epsilon,
        )

        def model_fn(features: Any, labels: object, mode: str, config: object) -> EstimatorSpec:
            return bt_model_fn(
                *(features, labels, mode, head, feature_columns, hparams, n_batches_per_layer),
                config,
                weight_column=weight_column,
                train_in_memory=train_in_memory,
            )

        super().__init__(
            *(model_fn, model_dir, config, feature_columns, head, center_bias, False),
            quantile_sketch_epsilon,
        )


@export("estimator.BoostedTreesEstimator")
class BoostedTreesEstimator(BoostedTreesBase):
    """Boosted trees, with a head of one's own.

    Args:
        feature_columns: bucketized, indicator and numeric columns.
        n_batches_per_layer: of how many batches a layer is.
        head: what becomes of the logits.
        model_dir, config: as of Estimator.
        weight_column: not used, as in TensorFlow; the head has its own.
        n_trees: after how many trees training ends.
        max_depth: how many layers a tree has.
        learning_rate: what share of itself a leaf counts.
        l1_regularization, l2_regularization: what large leaves cost.
        tree_complexity: what a leaf costs.
        min_node_weight: the least hessian of a node that is split.
        center_bias: whether the first leaf predicts the labels' mean.
        pruning_mode: "none", "pre" (splits that gain nothing are not made) or "post" (they are
            undone when a tree is whole); the latter need a positive tree_complexity.
        quantile_sketch_epsilon: how far buckets of numbers may be off; there are one by it.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        n_batches_per_layer: Any,
        head: Head,
        model_dir: str | None = None,
        weight_column: object = None,
        n_trees: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.1,
        l1_regularization: float = 0.0,
        l2_regularization: float = 0.0,
        tree_complexity: float = 0.0,
        min_node_weight: float = 0.0,
        config: object = None,
        center_bias: bool = False,
        pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01,
    ) -> None:
        hparams = TreeHParams(
            *(n_trees, max_depth, learning_rate, l1_regularization, l2_regularization),
            *(tree_complexity, min_node_weight, center_bias, pruning_mode),
            quantile_sketch_epsilon,
        )

        def model_fn(features: Any, labels: object, mode: str, config: object) -> EstimatorSpec:
            return bt_model_fn(
                *(features, labels, mode, head, feature_columns, hparams, n_batches_per_layer),
                config,
            )

        is_classification = isinstance(head, (BinaryClassHead, MultiClassHead))
        super().__init__(
            *(model_fn, model_dir, config, feature_columns, head, center_bias),
            *(is_classification, quantile_sketch_epsilon),
        )
