# SPDX-License-Identifier: Apache-2.0
"""Rows of a batch drawn again, each as often as its rate says on average."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.types import dtypes
from ....ops.public import tf
from ...variables.moving_averages import assign_moving_average

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor


def _repeat_range(counts: TensorLike, name: str | None = None) -> Tensor:
    """Each position as often as its count says: [1, 0, 2] gives [0, 2, 2]."""
    with name_scope(name, "repeat_range", [counts]) as scope:
        counts = convert_to_tensor(counts, name="counts")
        size = tf.shape(counts)[0]
        rows = tf.TensorArray(dtype=dtypes.int32, size=size, infer_shape=False)
        rows, written = tf.while_loop(
            lambda rows, i: i < size,
            lambda rows, i: (rows.write(i, tf.fill(counts[i : i + 1], i)), i + 1),
            loop_vars=[rows, 0],
        )
        return tf.cond(
            written > 0, rows.concat, lambda: tf.zeros(shape=[0], dtype=dtypes.int32), name=scope
        )


@export("contrib.training.resample_at_rate")
def resample_at_rate(
    inputs: Sequence[TensorLike],
    rates: TensorLike,
    scope: str | None = None,
    seed: int | None = None,
    back_prop: bool = False,
) -> list[Tensor]:
    """Rows at random: each appears as often as a Poisson distribution of its rate says.

    Args:
        inputs: tensors [batch_size, ...]; the same rows of all are taken.
        rates: [batch_size], how often each row appears on average.
        scope: the scope of the operations.
        seed: an integer, for the numbers.
        back_prop: whether gradients go back through the choice.

    Returns:
        The rows of each tensor, so many as were drawn.

    Example:
        >>> (rows,) = tf.contrib.training.resample_at_rate([[7, 8, 9]], [0.0, 0.0, 0.0])
        >>> tf.Session().run(rows)
        array([], dtype=int32)
    """
    with name_scope(scope, "resample_at_rate", [*inputs, rates]):
        rates = convert_to_tensor(rates, name="rates")
        counts = tf.random_poisson(rates, (), rates.dtype, seed=seed)
        positions = _repeat_range(tf.cast(counts, dtypes.int32))
        if not back_prop:
            positions = tf.stop_gradient(positions)
        return [tf.gather(x, positions) for x in inputs]


@export("contrib.training.weighted_resample")
def weighted_resample(
    inputs: list[Any],
    weights: Tensor,
    overall_rate: TensorLike,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[Tensor], Tensor]:
    """Rows at random, in proportion to their weights.

    Args:
        inputs: tensors [batch_size, ...].
        weights: [batch_size], of each row.
        overall_rate: how many rows are taken of one that comes in, on average over many batches.
        scope: the scope of the operations and of the variable that follows the mean weight.
        mean_decay: how slowly it does.
        seed: an integer, for the numbers.

    Returns:
        The rows of each tensor; the rate at which each of them was taken.
    """
    with name_scope(scope, "weighted_resample", inputs) as place:
        with tf.variable_scope(scope, "estimate_mean", inputs):
            average = tf.get_local_variable(
                "estimated_mean", initializer=tf.cast(0, weights.dtype), dtype=weights.dtype
            )
            mean = assign_moving_average(average, tf.reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        taken = resample_at_rate([rates, *inputs], rates, scope=place, seed=seed)
        return taken[1:], taken[0]
