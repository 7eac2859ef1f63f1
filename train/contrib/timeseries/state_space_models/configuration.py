# SPDX-License-Identifier: Apache-2.0
"""`StateSpaceModelConfiguration`: what state space models are told."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from .....engine.types import dtypes
from .. import math_utils


class StateSpaceModelConfiguration(
    namedtuple(
        "StateSpaceModelConfiguration",
        [
            "num_features",
            "use_observation_noise",
            "dtype",
            "covariance_prior_fn",
            "bayesian_prior_weighting",
            "filtering_postprocessor",
            "trainable_start_state",
            "exogenous_noise_increases",
            "exogenous_noise_decreases",
            "exogenous_feature_columns",
            "exogenous_update_condition",
            "filtering_maximum_posterior_variance_ratio",
            "filtering_minimum_posterior_variance",
            "transition_covariance_initial_log_scale_bias",
            "static_unrolling_window_size_threshold",
        ],
    )
):
    """The options of state space models.

    Args:
        num_features: how many values there are at a time.
        use_observation_noise: whether values are observed with noise; of the whole, not of members.
        dtype: the type of the computations.
        covariance_prior_fn: a function from a covariance to its log probability, which training
            adds; that of Jeffreys' prior.
        bayesian_prior_weighting: whether that counts once for the whole series, else for each
            window.
        filtering_postprocessor: a FilteringStepPostprocessor; None for none.
        trainable_start_state: whether the first state is learned.
        exogenous_noise_increases, exogenous_noise_decreases: whether what is known of times is
            added to the state, and whether it is observed as a state is.
        exogenous_feature_columns: columns of what is known.
        exogenous_update_condition: a function of times and features, which says for each series
            whether what is known counts; it always does if None.
        filtering_maximum_posterior_variance_ratio: how much larger the largest variance of a state
            may be than the smallest.
        filtering_minimum_posterior_variance: the smallest variance of a state.
        transition_covariance_initial_log_scale_bias: what logs of variances of steps are before
            training, more than those of observations are less.
        static_unrolling_window_size_threshold: up to which window loops are unrolled; None for
            never.
    """

    __slots__ = ()

    def __new__(
        cls,
        num_features: int = 1,
        use_observation_noise: bool = True,
        dtype: Any = dtypes.float32,
        covariance_prior_fn: Callable[..., Any] = math_utils.log_noninformative_covariance_prior,
        bayesian_prior_weighting: bool = True,
        filtering_postprocessor: Any = None,
        trainable_start_state: bool = False,
        exogenous_noise_increases: bool = True,
        exogenous_noise_decreases: bool = False,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        filtering_maximum_posterior_variance_ratio: float = 1e6,
        filtering_minimum_posterior_variance: float = 0.0,
        transition_covariance_initial_log_scale_bias: float = -5.0,
        static_unrolling_window_size_threshold: int | None = None,
    ) -> StateSpaceModelConfiguration:
        given = locals()
        columns = [] if exogenous_feature_columns is None else exogenous_feature_columns
        values = {
            **{name: given[name] for name in cls._fields},
            "exogenous_feature_columns": columns,
        }
        return super().__new__(cls, **values)
