# SPDX-License-Identifier: Apache-2.0
"""A level that moves by a slope at each step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....engine.graph.convert import convert_to_tensor
from .....engine.types import dtypes
from .....ops.public import tf
from ...structures import Structure
from .configuration import StateSpaceModelConfiguration
from .state_space_model import StateSpaceModel

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor


class AdderStateSpaceModel(StateSpaceModel):
    """A level, which is observed, and a slope, which is added to it at each step.

    Args:
        use_level_noise: whether the level has noise of its own.
        configuration: a StateSpaceModelConfiguration.
    """

    def __init__(
        self,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = StateSpaceModelConfiguration(),
    ) -> None:
        self.use_level_noise = use_level_noise
        super().__init__(configuration=configuration)

    def get_prior_mean(self) -> Any:
        """The mean of the first state: the level that the series begins with, if that is known."""
        with tf.variable_scope(self._variable_scope):
            if self._input_statistics is None:
                return super().get_prior_mean()
            start = self._scale_data(self._input_statistics.series_start_moments.mean)
            level = tf.stack([tf.reduce_mean(start), 0.0])
            return level + tf.get_variable(
                name="prior_state_mean",
                shape=level.get_shape(),
                initializer=tf.zeros_initializer(),
                dtype=self.dtype,
                trainable=self._configuration.trainable_start_state,
            )

    def transition_to_powers(self, powers: Structure) -> Any:
        """[[1, power], [0, 1]] for powers [...]."""
        none = tf.zeros([tf.rank(powers), 2], dtype=dtypes.int32)
        corner = tf.pad(powers[..., None, None], tf.concat([none, [(0, 1), (1, 0)]], axis=0))
        ones = tf.eye(num_rows=2, batch_shape=tf.shape(powers), dtype=self.dtype)
        return ones + tf.cast(corner, self.dtype)

    def transition_power_noise_accumulator(self, num_steps: Structure) -> Tensor:
        """The noise of numbers of steps [...], by the formulas of sums of numbers and squares."""
        steps: Any = tf.cast(num_steps, self.dtype)
        last = steps - 1
        transform = convert_to_tensor(self.get_noise_transform(), self.dtype)
        noise = tf.matmul(transform, self.state_transition_noise_covariance)
        noise = tf.matmul(noise, transform, adjoint_b=True)
        a, b, c, d = tf.unstack(tf.reshape(noise, [-1, 4]), axis=1)
        numbers = last * (last + 1) / 2
        squares = numbers * (2 * last + 1) / 3
        cells = [
            steps * a + numbers * (b + c) + squares * d,
            steps * b + numbers * d,
            steps * c + numbers * d,
            steps * d,
        ]
        shape = tf.concat([tf.shape(steps), [2, 2]], axis=0)
        return tf.reshape(tf.stack(cells, axis=1), shape)

    def get_state_transition(self) -> list[Any]:
        """The slope is added to the level."""
        return [[1.0, 1.0], [0.0, 1.0]]

    def get_noise_transform(self) -> list[Any]:
        """The slope has noise, and the level if it is to."""
        return [[1.0, 0.0], [0.0, 1.0]] if self.use_level_noise else [[0.0], [1.0]]

    def get_observation_model(self, times: Structure) -> Tensor:
        """The level is observed."""
        del times
        return tf.constant([1.0, 0.0], dtype=self.dtype)
