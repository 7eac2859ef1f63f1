# SPDX-License-Identifier: Apache-2.0
"""Optimizers of workers that meet at a centre, in one process: the losses of TensorFlow 1.15.5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

opt = tf.contrib.opt
PERIOD = 3
# Losses of twelve steps, and the centre's weights then, recorded from TensorFlow 1.15.5.
RECORDED: dict[str, tuple[list[float], list[float]]] = {
    "agn": (
        [
            7.545622,
            11.532605,
            2.068375,
            3.133976,
            1.741839,
            0.104673,
            2.97013,
            0.509909,
            0.356678,
            1.287977,
            0.149566,
            0.078161,
        ],
        [0.304604, -0.382366, 0.691041],
    ),
    "ea": (
        [
            7.545622,
            11.532605,
            2.504584,
            1.830768,
            2.965642,
            3.52019,
            3.413245,
            2.689245,
            5.216707,
            2.187598,
            1.386146,
            0.954918,
        ],
        [0.403239, -0.615627, 1.122195],
    ),
    "ma": (
        [
            7.545622,
            11.532605,
            2.068375,
            0.292143,
            0.525978,
            1.812852,
            1.402097,
            2.347033,
            6.572564,
            2.968053,
            3.069675,
            1.812679,
        ],
        [-0.422693, -0.516182, -0.069491],
    ),
}
MADE: dict[str, Any] = {
    "agn": (
        opt.AGNCustomGetter,
        lambda base, getter: opt.AGNOptimizer(
            base, num_worker=1, custom_getter=getter, communication_period=PERIOD
        ),
        (True, 0),
    ),
    "ea": (
        opt.ElasticAverageCustomGetter,
        lambda base, getter: opt.ElasticAverageOptimizer(
            *(base, 1), ea_custom_getter=getter, communication_period=PERIOD, moving_rate=0.4
        ),
        (True, 0),
    ),
    "ma": (
        opt.ModelAverageCustomGetter,
        lambda base, getter: opt.ModelAverageOptimizer(
            base, num_worker=1, is_chief=True, ma_custom_getter=getter, interval_steps=PERIOD
        ),
        (),
    ),
}


def batch(number: int) -> np.ndarray:
    return np.random.RandomState(number).randn(8, 3).astype(np.float32)


@pytest.mark.cpu
@pytest.mark.parametrize("kind", MADE)
def test_losses_are_those_of_tensorflow(kind: str) -> None:
    make_getter, make, hook_arguments = MADE[kind]
    with tf.Graph().as_default():
        x, getter = tf.placeholder(tf.float32, [8, 3]), make_getter("/cpu:0")
        with tf.variable_scope("", custom_getter=getter):
            w = tf.get_variable("w", initializer=np.float32([[0.5], [-1.0], [2.0]]))
            b = tf.get_variable("b", initializer=np.float32([0.1]))
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - 1.0))
        optimizer = make(tf.train.MomentumOptimizer(0.05, 0.9), getter)
        train = optimizer.minimize(loss, global_step=step)
        hook = optimizer.make_session_run_hook(*hook_arguments)
        (center,) = (v for v in tf.global_variables() if v.op.name == "global_center_variable/w")
        with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
            losses = [session.run([loss, train], {x: batch(i)})[0] for i in range(12)]
            found, steps = session.run([center, step], {x: batch(0)})
    wanted, at_center = RECORDED[kind]
    np.testing.assert_allclose(losses, wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found[:, 0], at_center, rtol=1e-4, atol=1e-5)
    assert steps == 12 // PERIOD
