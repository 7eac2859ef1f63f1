# SPDX-License-Identifier: Apache-2.0
"""Dense layers over columns under the names of estimators that note their layers.

TensorFlow 1.15 notes the parts of `input_layer` that older columns make; for the columns of
`tf.feature_column` it notes nothing, and these estimators are the usual ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....engine.api import export
from ....ops.nn.activation import relu
from ....ops.nn.losses_reduction import Reduction
from ...estimator.dnn import DNNClassifier, DNNRegressor
from ...estimator.estimator import Estimator


def _of_model(original: Estimator, warm_start_from: object) -> Estimator:
    """A plain Estimator of another's model function."""

    def model_fn(features: object, labels: object, mode: str, config: object) -> Any:
        return original.model_fn(features, labels, mode, config)

    return Estimator(model_fn, original.model_dir, original.config, None, warm_start_from)


@export("contrib.estimator.DNNClassifierWithLayerAnnotations")
def DNNClassifierWithLayerAnnotations(
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
) -> Estimator:
    """An Estimator of `tf.estimator.DNNClassifier`'s model, whose checkpoints it reads.

    Args:
        hidden_units: the sizes of the hidden layers.
        feature_columns: dense columns of `tf.feature_column`.
        model_dir, config: as of Estimator.
        n_classes: how many classes there are.
        weight_column: the key or column of examples' weights.
        label_vocabulary: the classes' names, if labels are strings.
        optimizer: an Optimizer, a function that makes one, or a name.
        activation_fn: of the hidden layers.
        dropout: the share of a hidden layer's outputs that training drops; None for none.
        input_layer_partitioner: how the columns' variables are made in parts.
        warm_start_from: as of Estimator.
        loss_reduction: how losses become one, of tf.losses.Reduction.

    Returns:
        An Estimator.

    Raises:
        ValueError: an argument is out of range.
    """
    original = DNNClassifier(
        *(hidden_units, feature_columns, model_dir, n_classes, weight_column, label_vocabulary),
        *(optimizer, activation_fn, dropout, input_layer_partitioner, config, warm_start_from),
        loss_reduction,
    )
    return _of_model(original, warm_start_from)


@export("contrib.estimator.DNNRegressorWithLayerAnnotations")
def DNNRegressorWithLayerAnnotations(
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
) -> Estimator:
    """An Estimator of `tf.estimator.DNNRegressor`'s model, whose checkpoints it reads.

    Args:
        hidden_units: the sizes of the hidden layers.
        feature_columns: dense columns of `tf.feature_column`.
        model_dir, config: as of Estimator.
        label_dimension: how many numbers an example has.
        weight_column: the key or column of examples' weights.
        optimizer: an Optimizer, a function that makes one, or a name.
        activation_fn: of the hidden layers.
        dropout: the share of a hidden layer's outputs that training drops; None for none.
        input_layer_partitioner: how the columns' variables are made in parts.
        warm_start_from: as of Estimator.
        loss_reduction: how losses become one, of tf.losses.Reduction.

    Returns:
        An Estimator.

    Raises:
        ValueError: an argument is out of range.
    """
    original = DNNRegressor(
        *(hidden_units, feature_columns, model_dir, label_dimension, weight_column, optimizer),
        *(activation_fn, dropout, input_layer_partitioner, config, warm_start_from),
        loss_reduction,
    )
    return _of_model(original, warm_start_from)
