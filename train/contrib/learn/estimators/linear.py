# SPDX-License-Identifier: Apache-2.0
"""Linear models of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .....engine.api import export
from .....engine.interface import log
from ...linear_optimizer.sdca_optimizer import SDCAOptimizer
from . import head as head_lib
from .canned import Classifying, Regressing
from .canned_models import linear_model_fn
from .estimator import Estimator
from .sdca_model_fn import SdcaUpdateWeightsHook, sdca_model_fn


def _to_solve(params: dict[str, Any], weight_column_name: str | None) -> Callable[..., Any]:
    """Makes parameters those of a model that is solved; its model function."""
    joint = params.pop("joint_weights")
    params.pop("gradient_clip_norm")
    if joint:
        raise AssertionError("_joint_weight is incompatible with the SDCAOptimizer")
    params["weight_column_name"] = weight_column_name
    params["update_weights_hook"] = SdcaUpdateWeightsHook()
    return sdca_model_fn


@export("contrib.learn.LinearClassifier")
class LinearClassifier(Classifying):
    """A linear model of columns, for classes.

    Args:
        feature_columns: columns of tf.contrib.layers, or of tf.feature_column.
        optimizer: an Optimizer, a function that makes one, or a name; Ftrl if None.
        gradient_clip_norm: what gradients together are clipped to; None for nothing.
        n_classes: how many classes there are.
        label_keys: the classes' names, if labels are strings.
        weight_column_name: the feature with examples' weights.
        enable_centered_bias: whether a bias is trained by itself.
        model_dir, config, feature_engineering_fn: as of Estimator.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: object = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        label_keys: Sequence[str] | None = None,
    ) -> None:
        if not feature_columns:
            raise AssertionError("feature_columns must not be empty")
        solved = isinstance(optimizer, SDCAOptimizer)
        if solved and enable_centered_bias:
            raise ValueError("enable_centered_bias is not supported with SDCA")
        params = {
            "head": head_lib.multi_class_head(
                n_classes,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
                label_keys=label_keys,
            ),
            "feature_columns": feature_columns,
            "optimizer": optimizer,
            "gradient_clip_norm": gradient_clip_norm,
            "joint_weights": _joint_weight,
        }
        function: Callable[..., Any] = linear_model_fn
        if solved:
            if n_classes != 2:
                raise AssertionError("SDCA only applies to binary classification.")
            function = _to_solve(params, weight_column_name)
        super().__init__(function, model_dir, config, params, feature_engineering_fn)


@export("contrib.learn.LinearRegressor")
class LinearRegressor(Regressing):
    """A linear model of columns, for numbers.

    Args:
        feature_columns: columns of tf.contrib.layers, or of tf.feature_column.
        optimizer: an Optimizer, a function that makes one, or a name; Ftrl if None.
        gradient_clip_norm: what gradients together are clipped to; None for nothing.
        label_dimension: how many numbers an example has.
        weight_column_name: the feature with examples' weights.
        enable_centered_bias: whether a bias is trained by itself.
        model_dir, config, feature_engineering_fn: as of Estimator.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: object = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        if not feature_columns:
            raise AssertionError("feature_columns must not be empty")
        solved = isinstance(optimizer, SDCAOptimizer)
        if solved and enable_centered_bias:
            enable_centered_bias = False
            log.warning("centered_bias is not supported with SDCA, please disable it explicitly.")
        params = {
            "head": head_lib.regression_head(
                label_dimension=label_dimension,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
            ),
            "feature_columns": feature_columns,
            "optimizer": optimizer,
            "gradient_clip_norm": gradient_clip_norm,
            "joint_weights": _joint_weights,
        }
        function: Callable[..., Any] = linear_model_fn
        if solved:
            if label_dimension != 1:
                raise AssertionError("SDCA only applies for label_dimension=1.")
            function = _to_solve(params, weight_column_name)
        super().__init__(function, model_dir, config, params, feature_engineering_fn)


@export("contrib.learn.LinearEstimator")
class LinearEstimator(Estimator):
    """A linear model of columns, with a head of one's own.

    Args:
        feature_columns: columns of tf.contrib.layers, or of tf.feature_column.
        optimizer: an Optimizer, a function that makes one, or a name; Ftrl if None.
        gradient_clip_norm: what gradients together are clipped to; None for nothing.
        head: what becomes of the logits.
        model_dir, config, feature_engineering_fn: as of Estimator.
    """

    def __init__(
        self,
        feature_columns: Sequence[Any],
        head: head_lib.Head,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: object = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: object = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ) -> None:
        if not feature_columns:
            raise AssertionError("feature_columns must not be empty")
        if isinstance(optimizer, SDCAOptimizer):
            raise ValueError("LinearEstimator does not support SDCA optimizer.")
        params = {
            "head": head,
            "feature_columns": feature_columns,
            "optimizer": optimizer,
            "gradient_clip_norm": gradient_clip_norm,
            "joint_weights": _joint_weights,
        }
        super().__init__(linear_model_fn, model_dir, config, params, feature_engineering_fn)
