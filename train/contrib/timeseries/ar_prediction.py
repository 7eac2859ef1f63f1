# SPDX-License-Identifier: Apache-2.0
"""How an ARModel predicts further than one window: from its own predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes
from ....ops.public import tf
from ..structures import Structure

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor
    from .ar_model import ARModel


def predict_windows(
    ar: ARModel, times: Tensor, exogenous: Tensor, state: Structure
) -> tuple[Any, Any]:
    """Scaled means and variances at times; None for variances of models that have none.

    Args:
        ar: the model.
        times: int32 [batch, n].
        exogenous: [batch, n, m].
        state: times, values and other knowledge of what was before.
    """
    size, step = ar.input_window_size, ar.output_window_size
    batch_size, wanted = tf.shape(times)[0], tf.shape(times)[1]
    count = (wanted + step - 1) // step
    padding = count * step - wanted
    times = tf.pad(times, [[0, 0], [0, padding]])
    exogenous = tf.pad(exogenous, [[0, 0], [0, padding], [0, 0]])
    first_times, first_exogenous, first_values = _first(ar, times, exogenous, state)

    def body(
        i: Any, times_in: Any, values: Structure, known: Structure, means: Any, variances: Any
    ) -> tuple[Any, Tensor, Any, Tensor, Any, Any]:
        found = ar.prediction_ops(times_in, values, known)
        mean = found["mean"]
        # The last window has none after it: its own is taken, of which nothing is made.
        offset = step * tf.minimum(i + 1, count - 1)
        here = slice(offset, offset + step)
        if size <= 0:
            after = (times[:, here], values, exogenous[:, here, :])
        elif step < size:
            after = (
                tf.concat([times_in[:, -size:], times[:, here]], 1),
                tf.concat([values[:, step:, :], mean], 1),
                tf.concat([known[:, -size:, :], exogenous[:, here, :]], axis=1),
            )
        else:
            both = slice(offset - size, offset + step)
            after = (times[:, both], mean[:, -size:, :], exogenous[:, both, :])
        after[0].set_shape(first_times.shape)
        after[2].set_shape(first_exogenous.shape)
        if ar.loss != ar.SQUARED_LOSS:
            variances = variances.write(i, found["covariance"])
        return (i + 1, *after, means.write(i, mean), variances)

    arrays = [tf.TensorArray(dtype=ar.dtype, size=count) for _ in range(2)]
    _, _, _, _, means, variances = tf.while_loop(
        lambda i, *unused: tf.less(i, count),
        body,
        [0, first_times, first_values, first_exogenous, arrays[0], arrays[1]],
    )

    def stacked(array: Any) -> Tensor:
        rows = tf.transpose(array.stack(), [1, 0, 2, 3])
        return tf.reshape(rows, tf.stack([batch_size, count * step, -1]))[:, :wanted, :]

    return stacked(means), None if ar.loss == ar.SQUARED_LOSS else stacked(variances)


def _first(ar: ARModel, times: Tensor, exogenous: Tensor, state: Structure) -> tuple[Any, Any, Any]:
    """Times, other knowledge and values of the first window."""
    size, step = ar.input_window_size, ar.output_window_size
    state_times, state_values, state_exogenous = state
    before = tf.cast(convert_to_tensor(state_times), dtypes.int32)
    values = convert_to_tensor(state_values, dtype=ar.dtype)
    known = convert_to_tensor(state_exogenous, dtype=ar.dtype)
    first_times, first_known = times[:, :step], exogenous[:, :step, :]
    if size <= 0:
        return first_times, first_known, tf.constant(0)
    first_times = tf.concat([before[:, -size:], first_times], 1)
    checks = [
        tf.assert_greater_equal(tf.shape(values)[1], size),
        tf.assert_equal(tf.shape(values)[1], tf.shape(before)[1]),
    ]
    with tf.control_dependencies(checks):
        first_values = values[:, -size:, :]
        first_known = tf.concat([known[:, -size:, :], first_known], axis=1)
    return first_times, first_known, first_values
