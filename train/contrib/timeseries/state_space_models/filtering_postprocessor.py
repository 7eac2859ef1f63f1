# SPDX-License-Identifier: Apache-2.0
"""What is done behind each step of a filter: anomalies do not move the state."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

from .....engine.graph.convert import convert_to_tensor
from .....engine.types import dtypes, nest
from .....ops.public import tf
from ...structures import Structure
from .. import math_utils


class FilteringStepPostprocessor(abc.ABC):
    """What changes a step of a filter."""

    @abc.abstractmethod
    def process_filtering_step(
        self,
        current_times: Structure,
        current_values: Structure,
        predicted_state: Structure,
        filtered_state: Structure,
        outputs: dict[str, Any],
    ) -> Any:
        """(state, outputs) of a step.

        Args:
            current_times: integers [batch].
            current_values: [batch, features].
            predicted_state: the state before these values.
            filtered_state: the state behind them.
            outputs: what the step gives, by name.
        """

    @property
    @abc.abstractmethod
    def output_names(self) -> list[str]:
        """The names of what it adds to the outputs."""


def cauchy_alternative_to_gaussian(
    current_times: Structure, current_values: Structure, outputs: dict[str, Any]
) -> Any:
    """The log likelihood [batch] of values by Cauchy's distribution, as wide as the predicted one.

    Args:
        current_times: unused.
        current_values: [batch, features].
        outputs: with "mean" [batch, features] and "covariance" [batch, features, features].
    """
    del current_times
    scale = math_utils.entropy_matched_cauchy_scale(outputs["covariance"])
    each = math_utils.cauchy_log_prob(loc=outputs["mean"], scale=scale, x=current_values)
    return tf.reduce_sum(each, axis=1)


def _interpolate_state_linear(
    first_state: Structure, second_state: Structure, first_responsibility: Structure
) -> Any:
    """A state between two: as much of the first as [batch] says."""

    def between(first: Any, second: Any) -> Any:
        if first.dtype != second.dtype:
            raise AssertionError(f"expected states of one type, got {first.dtype}, {second.dtype}")
        if not first.dtype.is_floating:  # Times, which are the same in both.
            with tf.control_dependencies([tf.assert_equal(first, second)]):
                return tf.identity(first)
        ones = tf.ones([tf.rank(first) - 1], dtype=dtypes.int32)
        share = tf.concat([tf.shape(first_responsibility), ones], 0)
        part = tf.reshape(first_responsibility, share)
        found = part * first + (1.0 - part) * second
        found.set_shape(first.get_shape())
        return found

    return nest.map_structure(between, first_state, second_state)


class StateInterpolatingAnomalyDetector(FilteringStepPostprocessor):
    """Keeps the state from what is likely an anomaly.

    The state is between the predicted one and the filtered one, by the odds that the values are an
    anomaly: by Bayes' rule, from how likely they are by the model and by another distribution.

    Args:
        anomaly_log_likelihood: a function of times, values and outputs to log likelihoods [batch]
            of anomalies.
        anomaly_prior_probability: how likely an anomaly is before values are seen.
        responsibility_scaling: how sharply it is decided.
    """

    output_names = ["anomaly_score"]  # type: ignore[assignment]

    def __init__(
        self,
        anomaly_log_likelihood: Callable[..., Any] = cauchy_alternative_to_gaussian,
        anomaly_prior_probability: float = 0.01,
        responsibility_scaling: float = 1.0,
    ) -> None:
        self._anomaly_log_likelihood = anomaly_log_likelihood
        self._responsibility_scaling = responsibility_scaling
        self._anomaly_prior_probability = anomaly_prior_probability

    def process_filtering_step(
        self,
        current_times: Structure,
        current_values: Structure,
        predicted_state: Structure,
        filtered_state: Structure,
        outputs: dict[str, Any],
    ) -> Any:
        """(state, outputs) of a step; outputs get "loss" and "anomaly_score", the log odds."""
        likelihood = self._anomaly_log_likelihood(
            current_times=current_times, current_values=current_values, outputs=outputs
        )
        prior = convert_to_tensor(self._anomaly_prior_probability, dtype=current_values.dtype)
        if_anomaly = likelihood + tf.log(prior)
        if_not = outputs["log_likelihood"] + tf.log(1.0 - prior)
        log_odds = if_anomaly - if_not
        share = tf.sigmoid(-self._responsibility_scaling * log_odds)
        state = _interpolate_state_linear(
            first_state=filtered_state, second_state=predicted_state, first_responsibility=share
        )
        outputs["loss"] = -(share * if_not + (1.0 - share) * if_anomaly)
        outputs["anomaly_score"] = log_odds
        return state, outputs
