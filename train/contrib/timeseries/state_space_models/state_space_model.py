# SPDX-License-Identifier: Apache-2.0
"""`StateSpaceModel`: a model whose state moves linearly and is observed with noise."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

import numpy as np

from .....engine.graph.convert import convert_to_tensor
from .....engine.types import dtypes
from .....engine.types.shape import dimension_value
from .....ops.public import tf
from ....estimator.mode_keys import ModeKeys
from ...layers.dense import fully_connected
from ...structures import Structure
from .. import math_utils, model_utils
from ..feature_keys import TrainEvalFeatures
from ..model import SequentialTimeSeriesModel
from .configuration import StateSpaceModelConfiguration
from .kalman_filter import KalmanFilter

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor

_ONE_FEATURE = "Generation for multivariate state space models is not currently implemented."


class StateSpaceModel(SequentialTimeSeriesModel):
    """A linear model of a state: a subclass says how it moves, and what is observed of it.

    The state is `transition @ state + transform @ noise`, what is observed `model @ state + noise`;
    the covariances of both are learned.  What is known of a state is its mean, its covariance and
    its time.

    Args:
        configuration: a StateSpaceModelConfiguration.
    """

    _window_power_sums: Any
    _window_transition_powers: Any
    _window_gap_sizes: Any
    _observation_transition_tradeoff_log_scale: Any

    def __init__(self, configuration: StateSpaceModelConfiguration) -> None:
        self._configuration = configuration
        behind = configuration.filtering_postprocessor
        super().__init__(
            train_output_names=[
                *("mean", "covariance", "log_likelihood"),
                *([] if behind is None else behind.output_names),
            ],
            predict_output_names=["mean", "covariance"],
            num_features=configuration.num_features,
            normalize_features=True,
            dtype=configuration.dtype,
            exogenous_feature_columns=configuration.exogenous_feature_columns,
            exogenous_update_condition=configuration.exogenous_update_condition,
            static_unrolling_window_size_threshold=(
                configuration.static_unrolling_window_size_threshold
            ),
        )
        self._kalman_filter: Any = None
        self.prior_state_mean: Any = None
        self.prior_state_var: Any = None
        self.state_transition_noise_covariance: Any = None
        self._observation_noise_covariance: Any = None
        # Where its variables are: members of an ensemble are made in scopes of their own.
        self._variable_scope = tf.get_variable_scope()

    # What subclasses state

    @abc.abstractmethod
    def get_state_transition(self) -> Any:
        """The matrix [states, states] by which a state moves at a step."""

    @abc.abstractmethod
    def get_noise_transform(self) -> Any:
        """The matrix [states, noises] from noise to what it adds to a state."""

    @abc.abstractmethod
    def get_observation_model(self, times: Structure) -> Any:
        """What is observed of a state at times [batch].

        It is [states] for any feature and time, [features, states] for any time, or
        [batch, features, states].
        """

    def transition_power_noise_accumulator(self, num_steps: Structure) -> Tensor:
        """The noise that numbers of steps [...] add to a covariance, [..., states, states].

        Subclasses that have a formula override it.
        """
        transform = convert_to_tensor(self.get_noise_transform(), self.dtype)
        noise = tf.matmul(transform, self.state_transition_noise_covariance)
        sums = math_utils.power_sums_tensor(
            tf.reduce_max(num_steps) + 1,
            convert_to_tensor(self.get_state_transition(), dtype=self.dtype),
            tf.matmul(noise, transform, transpose_b=True),
        )
        return tf.gather(sums, indices=num_steps)

    def transition_to_powers(self, powers: Structure) -> Any:
        """The matrix by which a state moves to powers [...], [..., states, states].

        Subclasses that have a formula override it.
        """
        transition = convert_to_tensor(self.get_state_transition(), dtype=self.dtype)
        return math_utils.matrix_to_powers(transition, powers)

    # Steps

    def _window_initializer(self, times: Structure, state: Structure) -> None:
        """Computes once what gaps of the window need: few are different."""
        _, _, before = state
        times, before = convert_to_tensor(times), convert_to_tensor(before)
        within = tf.reshape(times[:, 1:] - times[:, :-1], [-1])
        # (The time of the first state is not yet known while statistics are gathered.)
        starting = tf.maximum(times[:, 0] - before, 0)
        gaps, _ = tf.unique(tf.concat([within, starting], axis=0))
        self._window_power_sums = self.transition_power_noise_accumulator(gaps)
        self._window_transition_powers = self.transition_to_powers(gaps)
        self._window_gap_sizes = gaps

    def _cached_transition_powers_and_sums(self, num_steps: Structure) -> list[Any]:
        """Powers and sums of noise for numbers of steps [batch] that are gaps of the window."""
        gaps = self._window_gap_sizes
        _, places = tf.unique(tf.concat([gaps, tf.cast(num_steps, gaps.dtype)], axis=0))
        mine = places[-tf.shape(num_steps)[0] :]
        found = []
        for cache in (self._window_transition_powers, self._window_power_sums):
            rows = tf.gather(cache, mine)
            rows.set_shape(num_steps.get_shape().concatenate(rows.get_shape()[-2:]))
            found.append(rows)
        return found

    def _imputation_step(self, current_times: Structure, state: Structure) -> tuple[Any, Any, Any]:
        mean, covariance, before = state
        steps = tf.maximum(current_times - before, 0)
        powers, sums = self._cached_transition_powers_and_sums(steps)
        return (
            self._kalman_filter.predict_state_mean(mean, powers),
            self._kalman_filter.predict_state_var(covariance, powers, sums),
            before + steps,
        )

    def _filtering_step(
        self,
        current_times: Structure,
        current_values: Structure,
        state: Structure,
        predictions: Any,
    ) -> tuple[Any, dict[str, Any]]:
        mean, covariance, before = state
        observation_model = self.get_broadcasted_observation_model(current_times)
        is_there = tf.Assert(
            tf.reduce_all(tf.equal(current_times, before)),
            ["Attempted to perform filtering without imputation/prediction"],
        )
        with tf.control_dependencies([is_there]):
            covariance = math_utils.clip_covariance(
                covariance,
                self._configuration.filtering_maximum_posterior_variance_ratio,
                self._configuration.filtering_minimum_posterior_variance,
            )
            mean, covariance, likelihood = self._kalman_filter.do_filter(
                estimated_state=mean,
                estimated_state_covariance=covariance,
                predicted_observation=predictions["mean"],
                predicted_observation_covariance=predictions["covariance"],
                observation=current_values,
                observation_model=observation_model,
                observation_noise=self._observation_noise_covariance,
            )
        filtered = (mean, covariance, current_times)
        likelihood.set_shape(current_times.get_shape())
        predictions["loss"] = -likelihood
        predictions["log_likelihood"] = likelihood
        behind = self._configuration.filtering_postprocessor
        if behind is None:
            return filtered, predictions
        found: tuple[Any, dict[str, Any]] = behind.process_filtering_step(
            current_times=current_times,
            current_values=current_values,
            predicted_state=state,
            filtered_state=filtered,
            outputs=predictions,
        )
        return found

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        predictions["mean"] = self._scale_back_data(predictions["mean"])
        predictions["covariance"] = self._scale_back_variance(predictions["covariance"])
        return predictions

    def _prediction_step(
        self, current_times: Structure, state: Structure
    ) -> tuple[Any, dict[str, Any]]:
        mean, covariance, before = state
        is_there = tf.Assert(
            tf.reduce_all(tf.less_equal(current_times, before)),
            ["Attempted to predict without imputation"],
        )
        with tf.control_dependencies([is_there]):
            observed, variance = self._kalman_filter.observed_from_state(
                state_mean=mean,
                state_var=covariance,
                observation_model=self.get_broadcasted_observation_model(current_times),
                observation_noise=self._observation_noise_covariance,
            )
        batch, size = current_times.get_shape(), self.num_features
        observed.set_shape(batch.concatenate([size]))
        variance.set_shape(batch.concatenate([size, size]))
        # (They are scaled back behind the loss, which they are part of.)
        return (mean, covariance, current_times), {"mean": observed, "covariance": variance}

    def _exogenous_noise_decreasing(
        self, current_times: Structure, exogenous_values: Structure, state: Any
    ) -> tuple[Any, ...]:
        """The state as if what is known, made a state, were observed: it may set the state."""
        del current_times
        mean, covariance, before = state
        size = _size(self.get_state_transition(), self.dtype)
        batch = tf.shape(exogenous_values)[:-1]
        with tf.variable_scope("exogenous_noise_decreasing_covariance"):
            noise = math_utils.transform_to_covariance_matrices(exogenous_values, size)
        with tf.variable_scope("exogenous_noise_decreasing_observation"):
            observation = fully_connected(exogenous_values, size, activation_fn=None)
        posterior = self._kalman_filter.posterior_from_prior_state(
            prior_state=mean,
            prior_state_var=covariance,
            observation=observation,
            observation_model=tf.eye(size, batch_shape=batch, dtype=self.dtype),
            predicted_observations=(mean, noise + covariance),
            observation_noise=noise,
        )
        return (*posterior, before)

    def _exogenous_noise_increasing(
        self, current_times: Structure, exogenous_values: Structure, state: Any
    ) -> tuple[Any, Any, Any]:
        """The state with what is known added to it."""
        del current_times
        mean, covariance, before = state
        with tf.variable_scope("exogenous_noise_increasing_mean"):
            size = dimension_value(mean.shape[1])
            added = fully_connected(exogenous_values, size, activation_fn=None)
        with tf.variable_scope("exogenous_noise_increasing_covariance"):
            size = dimension_value(covariance.shape[1])
            noise = math_utils.transform_to_covariance_matrices(exogenous_values, size)
        return mean + added, covariance + noise, before

    def _exogenous_input_step(
        self, current_times: Structure, current_exogenous_regressors: Structure, state: Any
    ) -> Any:
        known = current_exogenous_regressors
        if self._configuration.exogenous_noise_decreases:
            state = self._exogenous_noise_decreasing(current_times, known, state)
        if self._configuration.exogenous_noise_increases:
            state = self._exogenous_noise_increasing(current_times, known, state)
        return state

    def _loss_additions(self, times: Structure, values: Structure, mode: str) -> Any:
        """In training, the priors of the covariances."""
        del values
        if mode != ModeKeys.TRAIN:
            return tf.zeros([], dtype=self.dtype)
        settings = self._configuration
        if self._input_statistics is not None and settings.bayesian_prior_weighting:
            count = self._input_statistics.total_observation_count
        else:
            count = tf.shape(times)[1]
        weight = 1.0 / tf.cast(count, self.dtype)
        prior = settings.covariance_prior_fn
        total: Any = convert_to_tensor(
            prior(self.state_transition_noise_covariance), dtype=self.dtype
        )
        if settings.use_observation_noise and self._observation_noise_covariance is not None:
            observed = prior(self._observation_noise_covariance)
            total = total + convert_to_tensor(observed, dtype=self.dtype)
        return -weight * total

    # Parameters

    def _variable_observation_transition_tradeoff_log(self) -> Any:
        start = -self._configuration.transition_covariance_initial_log_scale_bias
        return tf.get_variable(
            name="observation_transition_tradeoff_log_scale",
            initializer=tf.constant(start, dtype=self.dtype),
            dtype=self.dtype,
        )

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        """Makes the variables; the tradeoff is between noise of steps and of observations."""
        with tf.variable_scope(self._variable_scope):
            tradeoff = observation_transition_tradeoff_log
            if tradeoff is None:
                tradeoff = self._variable_observation_transition_tradeoff_log()
            self._observation_transition_tradeoff_log_scale = tradeoff
            self.state_transition_noise_covariance = self.get_state_transition_noise_covariance()

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super().initialize_graph(input_statistics=input_statistics)

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Makes the variables and the filter; arguments as of TimeSeriesModel."""
        self._set_input_statistics(input_statistics=input_statistics)
        self._define_parameters()
        with tf.variable_scope(self._variable_scope):
            self._observation_noise_covariance = convert_to_tensor(
                self.get_observation_noise_covariance(), dtype=self.dtype
            )
        self._kalman_filter = KalmanFilter(dtype=self.dtype)
        # (In this order the variables are made.)
        self.prior_state_var = self.get_prior_covariance()
        self.prior_state_mean = self.get_prior_mean()

    def get_prior_covariance(self) -> Tensor:
        """The covariance of the first state."""
        with tf.variable_scope(self._variable_scope):
            size = _size(self.get_state_transition())
            if not self._configuration.trainable_start_state:
                return tf.eye(size, dtype=self.dtype)
            base = math_utils.variable_covariance_matrix(size, "prior_state_var", dtype=self.dtype)
            if self._input_statistics is None:
                return base
            # As uncertain as the series is noisy, at the least.
            variance = self._scale_variance(self._input_statistics.series_start_moments.variance)
            return base * tf.maximum(tf.reduce_max(variance), 1.0)

    def get_prior_mean(self) -> Any:
        """The mean of the first state."""
        with tf.variable_scope(self._variable_scope):
            return tf.get_variable(
                name="prior_state_mean",
                shape=[_size(self.get_state_transition(), self.dtype)],
                dtype=self.dtype,
                trainable=self._configuration.trainable_start_state,
            )

    def get_start_state(self) -> tuple[Any, Any, Any]:
        """The first state: its mean, its covariance, and the time before the series."""
        if self._input_statistics is not None:
            start = self._input_statistics.start_time
        else:
            start = tf.zeros([], dtype=dtypes.int64)
        return self.prior_state_mean, self.prior_state_var, start - 1

    def get_features_for_timesteps(self, timesteps: Structure) -> Tensor:
        """What is known of times; nothing."""
        return tf.zeros([tf.shape(timesteps)[0], 0], dtype=self.dtype)

    def get_broadcasted_observation_model(self, times: Structure) -> Any:
        """What is observed of a state at times [batch]: [batch, features, states]."""
        found: Any = convert_to_tensor(self.get_observation_model(times), dtype=self.dtype)
        rank = found.get_shape().with_rank_at_least(1).with_rank_at_most(3).ndims
        if rank is None:
            is_whole = tf.Assert(tf.equal(tf.rank(found), 3), [tf.shape(found)])
            with tf.control_dependencies([is_whole]):
                return tf.identity(found)
        if rank == 3:
            return found
        batch = tf.shape(times)[0]
        if rank == 2:
            return tf.tile(tf.expand_dims(found, axis=0), [batch, 1, 1])
        return tf.tile(tf.reshape(found, [1, 1, -1]), [batch, self.num_features, 1])

    def _transition_noise(self, scale: Structure) -> Tensor:
        """The covariance that is learned of a step's noise; `scale` is the log before training."""
        size = _size(self.get_noise_transform(), self.dtype, axis=1)
        return math_utils.variable_covariance_matrix(
            size, "state_transition_noise", dtype=self.dtype, initial_overall_scale_log=scale
        )

    def get_state_transition_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> Any:
        """The covariance of the noise of a step, small before training."""
        scale: Any = 0.0
        if self._input_statistics is not None:
            variance = self._scale_variance(self._input_statistics.series_start_moments.variance)
            count = tf.cast(self._input_statistics.total_observation_count, self.dtype)
            each = tf.reduce_mean(variance) / count
            scale = tf.log(tf.maximum(each, minimum_initial_variance))
        return self._transition_noise(scale - self._observation_transition_tradeoff_log_scale)

    def get_observation_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> Tensor:
        """The covariance of what observations add; zeros without observation noise."""
        name, size = "observation_noise_covariance", self.num_features
        if not self._configuration.use_observation_noise:
            return tf.zeros([size, size], name=name, dtype=self.dtype)
        variance = None
        if self._input_statistics is not None:
            variance = self._scale_variance(self._input_statistics.series_start_moments.variance)
            variance = tf.maximum(variance, minimum_initial_variance)
        return math_utils.variable_covariance_matrix(
            size=size,
            dtype=self.dtype,
            name=name,
            initial_diagonal_values=variance,
            initial_overall_scale_log=self._observation_transition_tradeoff_log_scale,
        )

    # Series that a model draws

    def random_model_parameters(self, seed: int | None = None) -> dict[Any, Any]:
        """Parameters at random, to be fed, or given to `generate`.

        Raises:
            NotImplementedError: there are several features.
        """
        if self.num_features != 1:
            raise NotImplementedError(_ONE_FEATURE)
        if seed:
            np.random.seed(seed)
        shape: Any = convert_to_tensor(self.get_noise_transform()).get_shape().as_list()
        states, noises = shape
        variances = 1.0 / np.random.gamma(shape=10.0, scale=10.0, size=[noises])
        found: dict[Any, Any] = {}
        start = np.random.normal(size=[states])
        if self.prior_state_mean is not None:
            found[self.prior_state_mean] = start
        if self.state_transition_noise_covariance is not None:
            found[self.state_transition_noise_covariance] = np.diag(variances)
        if self.prior_state_var is not None:
            found[self.prior_state_var] = np.zeros([states, states])
        if self._configuration.use_observation_noise:
            noise = 1.0 / np.random.gamma(shape=4, scale=4)
            found[self._observation_noise_covariance] = [[noise]]
        return found

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Any = None,
        seed: int | None = None,
        add_observation_noise: bool | None = None,
    ) -> dict[Any, Any]:
        """Series that the model draws, in the default session.

        Args:
            number_of_series, series_length: how many, and how long.
            model_parameters: values by tensors, in the place of those that are learned.
            seed: of NumPy's random numbers.
            add_observation_noise: whether they are observed with noise; as configured if None.

        Returns:
            Times [series, length] and values [series, length, 1] by their keys.

        Raises:
            NotImplementedError: there are several features.
        """
        if seed is not None:
            np.random.seed(seed)
        if self.num_features != 1:
            raise NotImplementedError(_ONE_FEATURE)
        if add_observation_noise is None:
            add_observation_noise = self._configuration.use_observation_noise
        fed = {} if model_parameters is None else model_parameters
        value_of = model_utils.parameter_switch(fed)
        moves = convert_to_tensor(self.get_state_transition(), dtype=self.dtype).eval(feed_dict=fed)
        transform = convert_to_tensor(self.get_noise_transform()).eval(feed_dict=fed)
        deviations = np.sqrt(np.diag(value_of(self.state_transition_noise_covariance)))
        observed: Any = 0.0
        if add_observation_noise:
            observed = np.sqrt(value_of(self._observation_noise_covariance)[0][0])
        state = np.tile(value_of(self.prior_state_mean)[None], [number_of_series, 1])
        values = np.zeros([number_of_series, series_length])
        models = self.get_broadcasted_observation_model(times=tf.range(series_length))
        shape = [number_of_series, transform.shape[1]]
        for step, observation in enumerate(models.eval(feed_dict=fed)):
            scale = np.tile(deviations[None], [number_of_series, 1])
            noise = np.random.normal(loc=np.zeros(shape), scale=scale)
            state = np.dot(state, moves.T) + np.dot(noise, transform.T)
            mean = np.dot(state, observation[0].T)
            values[:, step] = np.random.normal(mean, observed) if add_observation_noise else mean
        times = np.tile(np.arange(series_length)[None], [number_of_series, 1])
        return {TrainEvalFeatures.TIMES: times, TrainEvalFeatures.VALUES: values[..., None]}


def _size(matrix: Any, dtype: Any = None, axis: int = 0) -> int:
    """A size of a matrix, which must be known."""
    size: int = convert_to_tensor(matrix, dtype=dtype).get_shape()[axis].value
    return size
