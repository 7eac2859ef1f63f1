# SPDX-License-Identifier: Apache-2.0
"""Values that come back: cycles of as many values as steps, and of fewer.

A cycle of n values holds n - 1 of them, as their sum is 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .....engine.graph.convert import convert_to_tensor
from .....engine.types import dtypes
from .....ops.public import tf
from ...structures import Structure
from .configuration import StateSpaceModelConfiguration
from .state_space_model import StateSpaceModel

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor


def _as_last(values: Any, like: Any) -> Tensor:
    """A vector with as many axes of size 1 before it as a tensor has."""
    ones = tf.ones([tf.rank(like)], dtype=dtypes.int32)
    return tf.reshape(values, tf.concat([ones, tf.shape(values)], axis=0))


class CycleStateSpaceModel(StateSpaceModel):
    """A cycle of values, of which one is observed at each step, and one gets noise.

    Args:
        periodicity: how many values there are.
        configuration: a StateSpaceModelConfiguration.
    """

    def __init__(
        self,
        periodicity: int,
        configuration: StateSpaceModelConfiguration = StateSpaceModelConfiguration(),
    ) -> None:
        self._periodicity = periodicity
        super().__init__(configuration=configuration)

    def get_state_transition(self) -> Any:
        """[values - 1, values - 1]: every value moves to the next place."""
        return self.transition_to_powers(tf.ones([], dtype=dtypes.int32))

    def get_noise_transform(self) -> Tensor:
        """The first value gets noise; transition_power_noise_accumulator relies on it."""
        first = tf.ones([1], dtype=self.dtype)
        return tf.pad(first, paddings=[(0, self._periodicity - 2)])[..., None]

    def transition_to_powers(self, powers: Structure) -> Any:
        """[..., values - 1, values - 1] for integers [...].

        Row i has -1 in all columns if i + 1 is the power by modulus, and else 1 in column j if
        i - j is it.
        """
        size = self._periodicity
        powers = powers % size
        rows = _as_last(tf.range(size - 1, dtype=powers.dtype), powers)
        is_negative = tf.equal(rows + 1, powers[..., None])
        distance = rows[..., None] - rows[..., None, :]
        is_one = tf.equal(distance % size, powers[..., None, None])
        negative = -tf.cast(is_negative, self.dtype)
        return tf.cast(is_one, self.dtype) + negative[..., None]

    def transition_power_noise_accumulator(
        self, num_steps: Structure, noise_addition_coefficient: Structure = 1
    ) -> Tensor:
        """The noise of numbers of steps [...], [..., values - 1, values - 1].

        Value k gets the noise c[k] whenever it is its turn; the sum is c[i] + c[i - 1] on the
        diagonal, and -c[i] beside it.

        Args:
            num_steps: integers [...].
            noise_addition_coefficient: what the noise is multiplied with.
        """
        size = self._periodicity
        noise = tf.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        steps = num_steps[..., None]
        turns = _as_last(tf.range(size, dtype=num_steps.dtype), num_steps)
        rounded = steps + (turns - (steps - 1)) % size
        coefficient: Any = convert_to_tensor(noise_addition_coefficient, self.dtype)
        counts = tf.cast(rounded // size, dtype=self.dtype)
        added = coefficient[..., None] * noise * counts
        square = tf.matrix_diag(added)
        above = [tf.zeros_like(square[..., :-1, 0:1]), -square[..., :-1, 0:-2]]
        below = [tf.zeros_like(square[..., 0:1, :-1]), -square[..., 0:-2, :-1]]
        before = tf.concat([added[..., -1:], added[..., :-2]], axis=-1)
        diagonal = tf.matrix_diag(added[..., :-1] + before)
        return diagonal + tf.concat(below, axis=-2) + tf.concat(above, axis=-1)

    def get_observation_model(self, times: Structure) -> Tensor:
        """The first value is observed."""
        del times
        first = tf.ones([1], dtype=self.dtype)
        return tf.concat([first, tf.zeros([self._periodicity - 2], dtype=self.dtype)], axis=0)


class ResolutionCycleModel(CycleStateSpaceModel):
    """A cycle of fewer or more values than steps: its matrix to the power of values per step.

    The eigenvalues of a cycle's matrix are roots of 1, in pairs for an odd number of values, so
    that any power of it is real.

    Args:
        num_latent_values: how many values there are, an odd number.
        periodicity: how many steps a cycle takes, any number or a tensor.
        near_integer_threshold: how near to an integer a power counts as one, for which the
            formulas are 0 / 0.
        configuration: a StateSpaceModelConfiguration.

    Raises:
        ValueError: the number of values is even.
    """

    def __init__(
        self,
        num_latent_values: int,
        periodicity: Any,
        near_integer_threshold: float = 1e-8,
        configuration: StateSpaceModelConfiguration = StateSpaceModelConfiguration(),
    ) -> None:
        if num_latent_values % 2 != 1:
            raise ValueError("Only odd numbers of latent values are supported.")
        self._num_latent_values = num_latent_values
        self._true_periodicity = periodicity
        self._near_integer_threshold = near_integer_threshold
        super().__init__(periodicity=num_latent_values, configuration=configuration)

    def _close_to_integer(self, value: Structure) -> Tensor:
        value = tf.cast(value, self.dtype)
        return tf.less(tf.abs(value - tf.round(value)), self._near_integer_threshold)

    def _of_matrix(self, steps: Structure) -> Any:
        """The power of a cycle's matrix that numbers of steps are."""
        count: Any = tf.cast(self._num_latent_values, self.dtype)
        per_step = count / tf.cast(self._true_periodicity, dtype=self.dtype)
        return tf.cast(steps, self.dtype) * per_step

    def _cosecant(self, values: Any) -> Tensor:
        """1 / sin(pi / n * values)."""
        count: Any = tf.cast(self._num_latent_values, self.dtype)
        return 1.0 / tf.sin(math.pi / count * values)

    def transition_to_powers(self, powers: Structure) -> Tensor:
        """[..., values - 1, values - 1] for numbers [...].

        With n values and the power p of their cycle's matrix, cell i, j is
        (-1)^i sin(pi p) / n * ((-1)^j / sin(pi / n (p - i + j)) + 1 / sin(pi / n (p - i - 1))).
        """
        count: Any = tf.cast(self._num_latent_values, self.dtype)
        powers = self._of_matrix(powers)
        index = _as_last(tf.range(self._num_latent_values - 1), powers)
        numbers = tf.cast(index, self.dtype)
        signs = tf.cast(1 - 2 * (index % 2), self.dtype)
        rows = self._cosecant(powers[..., None] - numbers - 1)
        distance = numbers[..., None, :] - numbers[..., None]
        cells = signs[..., None, :] * self._cosecant(powers[..., None, None] + distance)
        height = (tf.sin(powers * math.pi) / count)[..., None, None]
        found = height * signs[..., None] * (rows[..., None] + cells)
        whole = super().transition_to_powers(tf.cast(tf.round(powers), dtypes.int64))
        return tf.where(self._close_to_integer(powers), whole, found)

    def transition_power_noise_accumulator(self, num_steps: Structure) -> Any:  # type: ignore[override]
        """The noise of numbers of steps [...], [..., values - 1, values - 1].

        Cycles that are whole are counted, where a cycle takes whole steps, and no fewer than there
        are values; the steps that are left are added up.
        """
        size = self._num_latent_values

        def folded() -> tuple[Any, Any]:
            length: Any = tf.cast(self._true_periodicity, self.dtype)
            cycle = super(ResolutionCycleModel, self).transition_power_noise_accumulator(
                noise_addition_coefficient=length / tf.cast(size, self.dtype),
                num_steps=convert_to_tensor(size, dtype=num_steps.dtype),
            )
            steps = tf.cast(self._true_periodicity, num_steps.dtype)
            cycles = tf.cast(num_steps // steps, self.dtype)
            shape = tf.concat([tf.ones([tf.rank(cycles)], dtypes.int32), tf.shape(cycle)], axis=0)
            return num_steps % steps, cycles[..., None, None] * tf.reshape(cycle, shape)

        def unfolded() -> tuple[Any, Tensor]:
            shape = tf.concat([tf.shape(num_steps), [size - 1, size - 1]], axis=0)
            return num_steps, tf.zeros(shape, dtype=self.dtype)

        left, sums = tf.cond(self._whole_period_folding(), folded, unfolded)
        noise = tf.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        added = self._power_sum_array(tf.reduce_max(left))
        return sums + noise * tf.gather(added, indices=left)

    def _whole_period_folding(self) -> Tensor:
        is_long = tf.greater_equal(self._true_periodicity, self._num_latent_values)
        return tf.logical_and(self._close_to_integer(self._true_periodicity), is_long)

    def _power_sum_array(self, max_remaining_steps: Structure) -> Tensor:
        """What 0, 1, ..., max_remaining_steps steps of noise 1 sum up to, a matrix each.

        With n values, step number s, of power p, adds in cell i, j (-1)^(i + j) f(p, i) f(p, j),
        where f(p, k) = sin(pi p) / n * (1 / sin(pi / n (p - k)) + 1 / sin(pi / n (p - k - 1))).
        """
        count: Any = tf.cast(self._num_latent_values, self.dtype)
        powers = self._of_matrix(tf.range(max_remaining_steps))
        index: Any = tf.range(self._num_latent_values - 1)[None, ...]
        distance = powers[..., None] - tf.cast(index, self.dtype)
        one = self._cosecant(distance) + self._cosecant(distance - 1.0)
        both = one[..., None, :] * one[..., None]
        both = tf.where(self._close_to_integer(powers), tf.zeros_like(both), both)
        height = (tf.sin(math.pi * powers) / count)[..., None, None]
        # Where f is 0 / 0 it is the cosine, 1 or -1.
        at, at_sign = self._limit(distance)
        behind, behind_sign = self._limit(distance - 1)
        is_limit, limit = tf.logical_or(at, behind), tf.where(at, at_sign, behind_sign)
        products = tf.where(
            tf.logical_and(is_limit[..., None], is_limit[..., None, :]),
            limit[..., None] * limit[..., None, :],
            both * height**2,
        )
        signs = tf.cast(1 - 2 * ((index[..., None, :] + index[..., None]) % 2), self.dtype)
        return tf.pad(tf.cumsum(signs * products), [(1, 0), (0, 0), (0, 0)])

    def _limit(self, distance: Structure) -> tuple[Any, Tensor]:
        """Whether sin(pi / n * distance) is 0, and the cosine there."""
        share = distance / tf.cast(self._num_latent_values, self.dtype)
        return self._close_to_integer(share), tf.cos(share * math.pi)
