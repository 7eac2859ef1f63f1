# SPDX-License-Identifier: Apache-2.0
"""Dense layers over columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .....engine.api import export
from .....ops.nn.activation import relu
from . import head as head_lib
from .canned import Classifying, Regressing
from .canned_models import dnn_model_fn
from .estimator import Estimator


@export("contrib.learn.DNNClassifier")
class DNNClassifier(Classifying):
    """Dense layers over columns, for classes.

    Args:
        hidden_units: the sizes of the hidden layers.
        feature_columns: columns of tf.contrib.layers, or of tf.feature_column.
        optimizer: an Optimizer, a function that makes one, or a name; Adagrad if None.
        activation_fn: of the hidden layers.
        dropout: the share of a hidden layer's outputs that training drops; None for none.
        gradient_clip_norm: what gradients together are clipped to; None for nothing.
        embedding_lr_multipliers: what gradients are multiplied by, by embedding column.
        input_layer_min_slice_size: of the parts that variables are made in.
        n_classes: how many classes there are.
        label_keys: the classes' names, if labels are strings.
        weight_column_name: the feature with examples' weights.
        enable_centered_bias: whether a bias is trained by itself.
        model_dir, config, feature_engineering_fn: as of Estimator.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: object = None,
        activation_fn: object = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: dict[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        params = {
            "head": head_lib.multi_class_head(
                n_classes,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
                label_keys=label_keys,
            ),
            "hidden_units": hidden_units,
            "feature_columns": tuple(feature_columns or ()),
            "optimizer": optimizer,
            "activation_fn": activation_fn,
            "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_min_slice_size": input_layer_min_slice_size,
        }
        super().__init__(dnn_model_fn, model_dir, config, params, feature_engineering_fn)


@export("contrib.learn.DNNRegressor")
class DNNRegressor(Regressing):
    """Dense layers over columns, for numbers.

    Args:
        hidden_units: the sizes of the hidden layers.
        feature_columns: columns of tf.contrib.layers, or of tf.feature_column.
        optimizer: an Optimizer, a function that makes one, or a name; Adagrad if None.
        activation_fn: of the hidden layers.
        dropout: the share of a hidden layer's outputs that training drops; None for none.
        gradient_clip_norm: what gradients together are clipped to; None for nothing.
        embedding_lr_multipliers: what gradients are multiplied by, by embedding column.
        input_layer_min_slice_size: of the parts that variables are made in.
        label_dimension: how many numbers an example has.
        weight_column_name: the feature with examples' weights.
        enable_centered_bias: whether a bias is trained by itself.
        model_dir, config, feature_engineering_fn: as of Estimator.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: object = None,
        activation_fn: object = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: dict[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        params = {
            "head": head_lib.regression_head(
                label_dimension=label_dimension,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
            ),
            "hidden_units": hidden_units,
            "feature_columns": tuple(feature_columns or ()),
            "optimizer": optimizer,
            "activation_fn": activation_fn,
            "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_min_slice_size": input_layer_min_slice_size,
        }
        super().__init__(dnn_model_fn, model_dir, config, params, feature_engineering_fn)


@export("contrib.learn.DNNEstimator")
class DNNEstimator(Estimator):
    """Dense layers over columns, with a head of one's own.

    Args:
        hidden_units: the sizes of the hidden layers.
        feature_columns: columns of tf.contrib.layers, or of tf.feature_column.
        optimizer: an Optimizer, a function that makes one, or a name; Adagrad if None.
        activation_fn: of the hidden layers.
        dropout: the share of a hidden layer's outputs that training drops; None for none.
        gradient_clip_norm: what gradients together are clipped to; None for nothing.
        embedding_lr_multipliers: what gradients are multiplied by, by embedding column.
        input_layer_min_slice_size: of the parts that variables are made in.
        head: what becomes of the logits.
        model_dir, config, feature_engineering_fn: as of Estimator.
    """

    def __init__(
        self,
        head: head_lib.Head,
        hidden_units: Sequence[int],
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        optimizer: object = None,
        activation_fn: object = relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: dict[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ) -> None:
        params = {
            "head": head,
            "hidden_units": hidden_units,
            "feature_columns": tuple(feature_columns or ()),
            "optimizer": optimizer,
            "activation_fn": activation_fn,
            "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_min_slice_size": input_layer_min_slice_size,
        }
        super().__init__(dnn_model_fn, model_dir, config, params, feature_engineering_fn)
