# SPDX-License-Identifier: Apache-2.0
"""Kalman's filter: what is known of a state, from observations of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....engine.graph.convert import convert_to_tensor
from .....engine.types import dtypes
from .....ops.public import tf
from ...structures import Structure
from .. import math_utils

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor

_UNSTABLE = (
    "This may occur due to numerically unstable filtering when there is a large difference in "
    "posterior variances, or when inferences are near-deterministic. Considering tuning the "
    "'filtering_maximum_posterior_variance_ratio' or 'filtering_minimum_posterior_variance' "
    "parameters in your StateSpaceModelConfiguration, or tuning the transition matrix."
)


class KalmanFilter:
    """Inference of states that move linearly, with normal noise.

    A state is `transition @ state + noise`, and what is observed `model @ state + noise`; what is
    known of either is a mean and a covariance.

    Args:
        dtype: the type of the computations.
        simplified_posterior_covariance_computation: whether covariances are computed by the
            shorter formula, which loses more to rounding.
    """

    def __init__(
        self,
        dtype: Any = dtypes.float32,
        simplified_posterior_covariance_computation: bool = False,
    ) -> None:
        self._is_simplified = simplified_posterior_covariance_computation
        self.dtype = dtype

    def do_filter(
        self,
        estimated_state: Structure,
        estimated_state_covariance: Structure,
        predicted_observation: Structure,
        predicted_observation_covariance: Structure,
        observation: Structure,
        observation_model: Structure,
        observation_noise: Structure,
    ) -> tuple[Any, Any, Any]:
        """A state with an observation taken in.

        Args:
            estimated_state, estimated_state_covariance: before, [batch, states] and
                [batch, states, states].
            predicted_observation, predicted_observation_covariance: as `observed_from_state` gives.
            observation: [batch, features].
            observation_model: [batch, features, states].
            observation_noise: a covariance [features, features], or one for each of the batch.

        Returns:
            The mean and the covariance of the state, and the log probability [batch] of the
            observation.
        """
        given = predicted_observation_covariance
        covariance = tf.verify_tensor_all_finite(
            0.5 * (given + tf.matrix_transpose(given)),
            f"Predicted observation covariance was not finite. {_UNSTABLE}",
        )
        smallest = tf.reduce_min(tf.matrix_diag_part(covariance))
        message = f"The predicted observation covariance has a negative diagonal entry. {_UNSTABLE}"
        with tf.control_dependencies([tf.Assert(smallest >= 0.0, [message, smallest])]):
            factor = tf.cholesky(covariance)
        log_probability = math_utils.mvn_tril_log_prob(
            loc=predicted_observation, scale_tril=factor, x=observation
        )
        mean, variance = self.posterior_from_prior_state(
            prior_state=estimated_state,
            prior_state_var=estimated_state_covariance,
            observation=observation,
            observation_model=observation_model,
            predicted_observations=(predicted_observation, given),
            observation_noise=observation_noise,
        )
        return mean, variance, log_probability

    def predict_state_mean(self, prior_state: Structure, transition_matrices: Structure) -> Tensor:
        """The mean [batch, states] of states that move by [batch, states, states]."""
        return tf.squeeze(tf.matmul(transition_matrices, prior_state[..., None]), axis=[-1])

    def predict_state_var(
        self,
        prior_state_var: Structure,
        transition_matrices: Structure,
        transition_noise_sums: Structure,
    ) -> Any:
        """The covariance of such states; the noise of the steps is added, all [batch, n, n]."""
        moved = tf.matmul(transition_matrices, prior_state_var)
        return tf.matmul(moved, transition_matrices, adjoint_b=True) + transition_noise_sums

    def posterior_from_prior_state(
        self,
        prior_state: Structure,
        prior_state_var: Structure,
        observation: Structure,
        observation_model: Structure,
        predicted_observations: tuple[Any, Any],
        observation_noise: Structure,
    ) -> tuple[Any, Any]:
        """The mean and covariance of a state behind an observation; arguments as `do_filter`."""
        observed_mean, observed_var = predicted_observations
        residual = observation - observed_mean
        # The adjoint is the same matrix but for rounding, which filters of several features do not
        # survive otherwise.
        gain = tf.matrix_solve(
            matrix=observed_var,
            rhs=tf.matmul(observation_model, prior_state_var, adjoint_b=True),
            adjoint=True,
        )
        step = tf.matmul(gain, tf.expand_dims(residual, -1), adjoint_a=True)
        mean = prior_state + tf.squeeze(step, axis=[-1])
        seen = tf.matmul(gain, observation_model, adjoint_a=True)
        unseen = tf.eye(tf.shape(seen)[1], dtype=seen.dtype)[None] - seen
        left = tf.matmul(unseen, prior_state_var)
        if self._is_simplified:
            return mean, left
        # Joseph's form, which is right for any gain, so that errors of the gain matter less.
        whole = tf.matmul(unseen, left, adjoint_b=True)
        return mean, whole + self._gained_noise(gain, convert_to_tensor(observation_noise))

    @staticmethod
    def _gained_noise(gain: Any, noise: Any) -> Any:
        """What the noise of an observation adds to a covariance."""

        def of_each() -> Any:
            return tf.matmul(tf.matmul(gain, noise, adjoint_a=True), gain)

        def of_one() -> Any:
            return tf.matmul(math_utils.batch_times_matrix(gain, noise, adj_x=True), gain)

        if noise.shape.ndims is None:
            return tf.cond(tf.equal(tf.rank(noise), 2), of_one, of_each)
        return of_one() if noise.shape.ndims == 2 else of_each()

    def observed_from_state(
        self,
        state_mean: Structure,
        state_var: Structure,
        observation_model: Structure,
        observation_noise: Structure,
    ) -> tuple[Tensor, Any]:
        """The mean and covariance of what is observed of a state.

        Args:
            state_mean, state_var: [batch, states] and [batch, states, states].
            observation_model: [batch, features, states].
            observation_noise: what is added to the covariance; 0 for nothing.
        """
        row = tf.matmul(tf.expand_dims(state_mean, 1), observation_model, adjoint_b=True)
        covariance = tf.matmul(observation_model, state_var)
        covariance = tf.matmul(covariance, observation_model, adjoint_b=True)
        return tf.squeeze(row, axis=[1]), covariance + observation_noise
