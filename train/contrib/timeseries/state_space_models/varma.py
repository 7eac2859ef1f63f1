# SPDX-License-Identifier: Apache-2.0
"""Vectors that depend on those before, and on the noise before: VARMA.

The state holds blocks y[1], ..., y[n] of `num_features` values, n being the larger of ar_order and
ma_order + 1.  At each step

    y[1] = sum of ar_coefs[i] @ y[i], for i from 1 to ar_order
    y[i] = y[i - 1] + ma_coefs[i - 1] @ e, for i from 2 to n - 1
    y[n] = y[n - 1] + e

with normal noise e, of which the covariance is learned.  What is observed is y[1], and y[n] beside
if ma_order is not below ar_order.  All coefficients of values before stand where the observed block
moves, so that they are learned from short windows, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....ops.public import tf
from ...structures import Structure
from .configuration import StateSpaceModelConfiguration
from .state_space_model import StateSpaceModel

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor


class VARMA(StateSpaceModel):
    """A state space model of vectors that depend on those before.

    Args:
        autoregressive_order: on how many values before.
        moving_average_order: on the noise of how many steps before.
        configuration: a StateSpaceModelConfiguration.
    """

    ar_coefs: Any
    ma_coefs: Any

    def __init__(
        self,
        autoregressive_order: int,
        moving_average_order: int,
        configuration: StateSpaceModelConfiguration = StateSpaceModelConfiguration(),
    ) -> None:
        self.ar_order = autoregressive_order
        self.ma_order = moving_average_order
        self.state_num_blocks = max(autoregressive_order, moving_average_order + 1)
        super().__init__(configuration=configuration)
        self.state_dimension = self.state_num_blocks * self.num_features

    def _ones(self, blocks: int = 1) -> Tensor:
        return tf.eye(blocks * self.num_features, dtype=self.dtype)

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        with tf.variable_scope(self._variable_scope):
            self.ar_coefs = tf.get_variable(
                name="ar_coefs",
                shape=[self.num_features, self.num_features, self.ar_order],
                dtype=self.dtype,
                initializer=tf.zeros_initializer(),
            )
            self.ma_coefs = tf.get_variable(
                name="ma_coefs",
                initializer=tf.tile(self._ones()[None, :, :], [self.ma_order, 1, 1]),
                dtype=self.dtype,
            )
        super()._define_parameters(
            observation_transition_tradeoff_log=observation_transition_tradeoff_log
        )

    def get_state_transition(self) -> Tensor:
        """[states, states]: the coefficients above, and below each block moves to the next."""
        unused = self.state_num_blocks - self.ar_order
        padded = tf.pad(self.ar_coefs, [[0, 0], [0, 0], [0, unused]])
        first = tf.reshape(padded, [self.num_features, self.state_dimension])
        moved = tf.pad(self._ones(self.state_num_blocks - 1), [[0, 0], [0, self.num_features]])
        return tf.concat([first, moved], axis=0)

    def get_noise_transform(self) -> Tensor:
        """[states, features]: noise by its coefficients, and as it is in the last block."""
        above, size = self.state_num_blocks - 1, self.num_features
        padded = tf.pad(self.ma_coefs, [[above - self.ma_order, 0], [0, 0], [0, 0]])
        coefficients = tf.reshape(padded, [above * size, size], name="noise_transform")
        return tf.concat([coefficients, self._ones()], axis=0)

    def get_observation_model(self, times: Structure) -> Tensor:
        """[features, states]: the first block, and where noise ends there the last one."""
        del times
        size, blocks = self.num_features, self.state_num_blocks
        if self.ar_order > self.ma_order or blocks < 2:
            paddings = [[0, 0], [0, size * (blocks - 1)]]
            return tf.pad(self._ones(), paddings, name="observation_model")
        first = tf.pad(self._ones(), [[0, 0], [0, size * (blocks - 2)]])
        return tf.concat([first, self._ones()], axis=1, name="observation_model")

    def get_state_transition_noise_covariance(self, minimum_initial_variance: float = 1e-5) -> Any:
        """The covariance of the noise of a step: at first that of the series, which it models."""
        scale: Any = 0.0
        if self._input_statistics is not None:
            variance = self._scale_variance(self._input_statistics.series_start_moments.variance)
            scale = tf.log(tf.maximum(tf.reduce_mean(variance), minimum_initial_variance))
        return self._transition_noise(scale)
