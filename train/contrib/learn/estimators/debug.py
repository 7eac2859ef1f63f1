# SPDX-License-Identifier: Apache-2.0
"""Estimators that learn a bias alone, to try data and what is around models with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .....ops.checks.asserts import assert_equal
from .....ops.public import tf
from ...layers.optimizers import optimize_loss
from .constants import PredictionKey
from .estimator import Estimator
from .head import multi_class_head, regression_head


def debug_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> Any:
    """Logits of zeros for features of one batch size; ValueError where there are none."""
    del config
    features = features if isinstance(features, dict) else {"": features}
    if not features:
        raise ValueError("Features cannot be empty.")
    head = params["head"]
    sizes = [tf.shape(feature)[0] for feature in features.values()]
    with tf.control_dependencies([assert_equal(sizes[0], size) for size in sizes[1:]]):
        logits = tf.zeros([sizes[0], head.logits_dimension])

    def train_op_fn(loss: Any) -> Any:
        return optimize_loss(loss, global_step=None, learning_rate=0.3, optimizer="Adagrad")

    return head.create_model_fn_ops(
        features=features, labels=labels, mode=mode, train_op_fn=train_op_fn, logits=logits
    )


class _Debug(Estimator):
    def _one(
        self, key: str, input_fn: Callable[[], Any] | None, batch_size: int | None
    ) -> Iterator[Any]:
        found = self.predict(input_fn=input_fn, batch_size=batch_size, outputs=[key])
        return (one[key] for one in found)


class DebugClassifier(_Debug):
    """Says of every example how frequent classes are.

    Args:
        n_classes: how many classes there are.
        weight_column_name: the feature with examples' weights.
        label_keys: the classes' names, if labels are strings.
        model_dir, config, feature_engineering_fn: as of Estimator.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        head = multi_class_head(
            n_classes=n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=True,
            label_keys=label_keys,
        )
        super().__init__(debug_model_fn, model_dir, config, {"head": head}, feature_engineering_fn)

    def predict_classes(
        self, input_fn: Callable[[], Any] | None = None, batch_size: int | None = None
    ) -> Iterator[Any]:
        """The most frequent class, for each example."""
        return self._one(PredictionKey.CLASSES, input_fn, batch_size)

    def predict_proba(
        self, input_fn: Callable[[], Any] | None = None, batch_size: int | None = None
    ) -> Iterator[Any]:
        """How frequent classes are, for each example."""
        return self._one(PredictionKey.PROBABILITIES, input_fn, batch_size)


class DebugRegressor(_Debug):
    """Says the mean label of every example.

    Args:
        label_dimension: how many numbers an example has.
        weight_column_name: the feature with examples' weights.
        model_dir, config, feature_engineering_fn: as of Estimator.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        label_dimension: int = 1,
        weight_column_name: str | None = None,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=True,
        )
        super().__init__(debug_model_fn, model_dir, config, {"head": head}, feature_engineering_fn)

    def predict_scores(
        self, input_fn: Callable[[], Any] | None = None, batch_size: int | None = None
    ) -> Iterator[Any]:
        """The mean label, for each example."""
        return self._one(PredictionKey.SCORES, input_fn, batch_size)
