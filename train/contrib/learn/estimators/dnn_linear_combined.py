# SPDX-License-Identifier: Apache-2.0
"""A linear model and dense layers, added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .....engine.api import export
from .....ops.nn.activation import relu
from . import head as head_lib
from .canned import Classifying, Regressing
from .canned_models import combined_model_fn
from .estimator import Estimator


@export("contrib.learn.DNNLinearCombinedEstimator")
class DNNLinearCombinedEstimator(Estimator):
    """A linear model and dense layers, added up, with a head of one's own.

    Args:
        linear_feature_columns, dnn_feature_columns: columns of the two parts; one may be missing.
        linear_optimizer, dnn_optimizer: Optimizers, functions that make one, or names.
        dnn_hidden_units: the sizes of the hidden layers.
        dnn_activation_fn, dnn_dropout: of the hidden layers.
        gradient_clip_norm: what gradients together are clipped to; None for nothing.
        embedding_lr_multipliers: what gradients are multiplied by, by embedding column.
        input_layer_min_slice_size, input_layer_partitioner: how variables are made in parts.
        fix_global_step_increment_bug: False counts each step twice.
        head: what becomes of the logits.
        model_dir, config, feature_engineering_fn: as of Estimator.
    """

    def __init__(
        self,
        head: head_lib.Head,
        model_dir: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: object = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: object = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: object = None,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: dict[Any, float] | None = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: Callable[..., Any] | None = None,
    ) -> None:
        if not linear_feature_columns and not dnn_feature_columns:
            raise ValueError(
                "Either linear_feature_columns or dnn_feature_columns must be defined."
            )
        params = {
            "head": head,
            "linear_feature_columns": tuple(linear_feature_columns or ()),
            "linear_optimizer": linear_optimizer,
            "joint_linear_weights": _joint_linear_weights,
            "dnn_feature_columns": tuple(dnn_feature_columns or ()),
            "dnn_optimizer": dnn_optimizer,
            "dnn_hidden_units": dnn_hidden_units,
            "dnn_activation_fn": dnn_activation_fn,
            "dnn_dropout": dnn_dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "fix_global_step_increment_bug": fix_global_step_increment_bug,
            "input_layer_partitioner": input_layer_partitioner,
        }
        super().__init__(combined_model_fn, model_dir, config, params, feature_engineering_fn)


@export("contrib.learn.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(Classifying):
    """A linear model and dense layers, added up, for classes.

    Args:
        linear_feature_columns, dnn_feature_columns: columns of the two parts; one may be missing.
        linear_optimizer, dnn_optimizer: Optimizers, functions that make one, or names.
        dnn_hidden_units: the sizes of the hidden layers.
        dnn_activation_fn, dnn_dropout: of the hidden layers.
        gradient_clip_norm: what gradients together are clipped to; None for nothing.
        embedding_lr_multipliers: what gradients are multiplied by, by embedding column.
        input_layer_min_slice_size, input_layer_partitioner: how variables are made in parts.
        fix_global_step_increment_bug: False counts each step twice.
        n_classes: how many classes there are.
        label_keys: the classes' names, if labels are strings.
        weight_column_name: the feature with examples' weights.
        enable_centered_bias: whether a bias is trained by itself.
        model_dir, config, feature_engineering_fn: as of Estimator.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: object = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: object = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: object = relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: dict[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        if not linear_feature_columns and not dnn_feature_columns:
            raise ValueError(
                "Either linear_feature_columns or dnn_feature_columns must be defined."
            )
        params = {
            "head": head_lib.multi_class_head(
                n_classes,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
                label_keys=label_keys,
            ),
            "linear_feature_columns": tuple(linear_feature_columns or ()),
            "linear_optimizer": linear_optimizer,
            "joint_linear_weights": _joint_linear_weights,
            "dnn_feature_columns": tuple(dnn_feature_columns or ()),
            "dnn_optimizer": dnn_optimizer,
            "dnn_hidden_units": dnn_hidden_units,
            "dnn_activation_fn": dnn_activation_fn,
            "dnn_dropout": dnn_dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "fix_global_step_increment_bug": fix_global_step_increment_bug,
        }
        super().__init__(combined_model_fn, model_dir, config, params, feature_engineering_fn)


@export("contrib.learn.DNNLinearCombinedRegressor")
class DNNLinearCombinedRegressor(Regressing):
    """A linear model and dense layers, added up, for numbers.

    Args:
        linear_feature_columns, dnn_feature_columns: columns of the two parts; one may be missing.
        linear_optimizer, dnn_optimizer: Optimizers, functions that make one, or names.
        dnn_hidden_units: the sizes of the hidden layers.
        dnn_activation_fn, dnn_dropout: of the hidden layers.
        gradient_clip_norm: what gradients together are clipped to; None for nothing.
        embedding_lr_multipliers: what gradients are multiplied by, by embedding column.
        input_layer_min_slice_size, input_layer_partitioner: how variables are made in parts.
        fix_global_step_increment_bug: False counts each step twice.
        label_dimension: how many numbers an example has.
        weight_column_name: the feature with examples' weights.
        enable_centered_bias: whether a bias is trained by itself.
        model_dir, config, feature_engineering_fn: as of Estimator.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer: object = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: object = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: object = relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: dict[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ) -> None:
        if not linear_feature_columns and not dnn_feature_columns:
            raise ValueError(
                "Either linear_feature_columns or dnn_feature_columns must be defined."
            )
        params = {
            "head": head_lib.regression_head(
                label_dimension=label_dimension,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
            ),
            "linear_feature_columns": tuple(linear_feature_columns or ()),
            "linear_optimizer": linear_optimizer,
            "joint_linear_weights": _joint_linear_weights,
            "dnn_feature_columns": tuple(dnn_feature_columns or ()),
            "dnn_optimizer": dnn_optimizer,
            "dnn_hidden_units": dnn_hidden_units,
            "dnn_activation_fn": dnn_activation_fn,
            "dnn_dropout": dnn_dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "fix_global_step_increment_bug": fix_global_step_increment_bug,
        }
        super().__init__(combined_model_fn, model_dir, config, params, feature_engineering_fn)
