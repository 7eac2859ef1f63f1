# SPDX-License-Identifier: Apache-2.0
"""Estimators of state space models of time series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....engine.api import export
from ....engine.types import dtypes
from .estimators import TimeSeriesRegressor
from .head import TimeSeriesRegressionHead
from .state_management import ChainingStateManager, PassthroughStateManager
from .state_space_models.configuration import StateSpaceModelConfiguration
from .state_space_models.filtering_postprocessor import StateInterpolatingAnomalyDetector
from .state_space_models.state_space_model import StateSpaceModel
from .state_space_models.structural_ensemble import MultiResolutionStructuralEnsemble


class StateSpaceRegressor(TimeSeriesRegressor):
    """An estimator of a state space model.

    Args:
        model: a StateSpaceModel.
        state_manager: says from which state windows begin; a ChainingStateManager if None.
        optimizer, model_dir, config, head_type: as of TimeSeriesRegressor.

    Raises:
        ValueError: the model is something else.
    """

    def __init__(
        self,
        model: StateSpaceModel,
        state_manager: PassthroughStateManager | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: Callable[..., TimeSeriesRegressionHead] = TimeSeriesRegressionHead,
    ) -> None:
        if not isinstance(model, StateSpaceModel):
            raise ValueError(
                "StateSpaceRegressor only supports state space models (children of "
                f"StateSpaceModel) in its `model` argument, got {model}."
            )
        super().__init__(
            model=model,
            state_manager=ChainingStateManager() if state_manager is None else state_manager,
            optimizer=optimizer,
            model_dir=model_dir,
            config=config,
            head_type=head_type,
        )


@export("contrib.timeseries.StructuralEnsembleRegressor")
class StructuralEnsembleRegressor(StateSpaceRegressor):
    """An estimator of levels, trends, cycles and what passes
    (tf.contrib.timeseries.StructuralEnsembleRegressor).

    Args:
        periodicities: how many steps cycles take, a number or a list.
        num_features: how many values there are at a time.
        cycle_num_latent_values: how many values a cycle has, an odd number or a list.
        moving_average_order: after how many steps what passes has passed.
        autoregressive_order: on how many values before it depends.
        exogenous_feature_columns: columns of what is known at all times.
        exogenous_update_condition: a function of times and features, which says for each series
            whether what is known counts; it always does if None.
        dtype: the type of the computations.
        anomaly_prior_probability: how likely an anomaly is; there are none if None.
        optimizer: trains it; AdamOptimizer(0.02) if None.
        model_dir: the folder of checkpoints and events.
        config: a RunConfig.
        head_type: the class of the head.

    Raises:
        ValueError: a number of a cycle's values is even, or there is not one for each cycle.

    Example:
        >>> estimator = tf.contrib.timeseries.StructuralEnsembleRegressor(
        ...     periodicities=12, num_features=1, cycle_num_latent_values=5)
        >>> print(type(estimator).__name__)
        StructuralEnsembleRegressor
    """

    def __init__(
        self,
        periodicities: Any,
        num_features: int,
        cycle_num_latent_values: Any = 11,
        moving_average_order: int = 4,
        autoregressive_order: int = 0,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        dtype: Any = dtypes.float64,
        anomaly_prior_probability: float | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: Callable[..., TimeSeriesRegressionHead] = TimeSeriesRegressionHead,
    ) -> None:
        prior = anomaly_prior_probability
        detector = (
            None
            if prior is None
            else StateInterpolatingAnomalyDetector(anomaly_prior_probability=prior)
        )
        model = MultiResolutionStructuralEnsemble(
            cycle_num_latent_values=cycle_num_latent_values,
            moving_average_order=moving_average_order,
            autoregressive_order=autoregressive_order,
            periodicities=periodicities,
            configuration=StateSpaceModelConfiguration(
                num_features=num_features,
                dtype=dtype,
                filtering_postprocessor=detector,
                exogenous_feature_columns=exogenous_feature_columns,
                exogenous_update_condition=exogenous_update_condition,
            ),
        )
        super().__init__(
            model=model,
            optimizer=optimizer,
            model_dir=model_dir,
            config=config,
            head_type=head_type,
        )
