# SPDX-License-Identifier: Apache-2.0
"""Several replicas in one process: names, devices, losses and values of TensorFlow 1.15."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

from . import mirrored_program

pytestmark = pytest.mark.cpu
RECORDED = json.loads(Path(__file__).with_name("mirrored_1_15.json").read_text())


def _compare(found: Any, recorded: Any, where: str) -> None:
    """Structures are the same, but for what rounding does to numbers."""
    if isinstance(recorded, dict):
        assert list(found) == list(recorded) or sorted(found) == sorted(recorded), where
        for key in recorded:
            _compare(found[key], recorded[key], f"{where}/{key}")
    elif isinstance(recorded, list):
        assert len(found) == len(recorded), where
        for i, (one, other) in enumerate(zip(found, recorded)):
            _compare(one, other, f"{where}/{i}")
    elif isinstance(recorded, float):
        np.testing.assert_allclose(found, recorded, rtol=2e-4, atol=2e-5, err_msg=where)
    else:
        assert found == recorded, where


@pytest.mark.parametrize("case", mirrored_program.CASES)
def test_replicas_do_what_tensorflows_do(case: str) -> None:
    found = json.loads(json.dumps(mirrored_program.result(tf, case)))
    _compare(found, RECORDED[case], case)


def _strategy() -> Any:
    return tf.distribute.MirroredStrategy(mirrored_program.DEVICES)


def test_variables_of_replicas_are_one_variable() -> None:
    with tf.Graph().as_default():
        strategy = _strategy()
        with strategy.scope():
            w = tf.get_variable("w", [], initializer=tf.ones_initializer())
            with pytest.raises(ValueError, match="`handle` is not available outside"):
                _ = w.handle
            assert isinstance(w, tf.Variable) and w.op.type == "VarHandleOp"
            inner: list[Any] = []

            def replica() -> None:
                inner.append((tf.get_variable("w", []), w.op.name, tf.Variable(1.0, name="v")))
                with pytest.raises(ValueError, match="specify an aggregation method"):
                    w.assign_add(1.0)

            with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):
                strategy.experimental_run_v2(replica)
        assert [one[0] is w for one in inner] == [True, True]
        assert [one[1] for one in inner] == ["w", "w/replica_1"]
        assert inner[0][2] is inner[1][2]
        with pytest.raises(ValueError, match="not supported with `Mirrored`"), strategy.scope():
            tf.get_variable("n", [], synchronization=tf.VariableSynchronization.NONE)
        with pytest.raises(ValueError, match="must only be passed a variable created in this"):
            strategy.extended.colocate_vars_with(tf.Variable(0.0))


def test_replicas_that_part_ways_are_refused() -> None:
    with tf.Graph().as_default():
        strategy = _strategy()

        def lonely() -> None:
            context = tf.distribute.get_replica_context()
            if context.devices == strategy.extended.worker_devices[:1]:
                context.merge_call(lambda strategy: None)

        def other_names() -> None:
            tf.Variable(1.0, name=f"v{tf.distribute.get_replica_context().devices[0][-1]}x")

        def failing() -> None:
            tf.distribute.get_replica_context().merge_call(lambda strategy: 1 // 0)

        with strategy.scope():
            with pytest.raises(RuntimeError, match="different number of"):
                strategy.experimental_run_v2(lonely)
            with pytest.raises(RuntimeError, match="mismatching name on device 1"):
                strategy.experimental_run_v2(other_names)
            with pytest.raises(ZeroDivisionError):
                strategy.experimental_run_v2(failing)
            with pytest.raises(ValueError, match="cannot be reduced with the given reduce op"):
                strategy.reduce("SUM", 3.0, axis=None)
            assert strategy.reduce("MEAN", 3.0, axis=None) == 3.0
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        with strategy.scope(), pytest.raises(RuntimeError, match="_distributed_apply"):
            v = tf.get_variable("v", [], initializer=tf.ones_initializer())
            optimizer.apply_gradients([(tf.constant(1.0), v)])


def test_values_over_an_axis_are_of_all_replicas() -> None:
    with tf.Graph().as_default(), _strategy().scope():
        strategy = tf.distribute.get_strategy()
        data = tf.data.Dataset.range(7).map(lambda i: tf.cast(i, tf.float32)).batch(4)
        iterator = strategy.make_dataset_iterator(data)
        element = iterator.get_next()
        reduced = [strategy.reduce(op, element, axis=0) for op in ("SUM", "MEAN")]
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(iterator.initialize())
            assert session.run(reduced) == [6.0, 1.5]
            assert session.run(reduced) == [15.0, 5.0]  # parts of two and of one


def test_moving_averages_are_of_the_mean_of_replicas() -> None:
    with tf.Graph().as_default(), _strategy().scope():
        strategy = tf.distribute.get_strategy()
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), trainable=False)

        def replica() -> Any:
            number = tf.distribute.get_replica_context().replica_id_in_sync_group
            value = tf.cast(number, tf.float32) * 4.0
            from numbaflow.train.variables.moving_averages import assign_moving_average

            return assign_moving_average(v, value, 0.5, zero_debias=False)

        moved = strategy.experimental_local_results(strategy.experimental_run_v2(replica))
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(tf.global_variables_initializer())
            session.run(moved)
            assert session.run(list(v.values)) == [1.0, 1.0]


def test_sums_over_replicas_have_the_gradient_of_a_sum() -> None:
    with tf.Graph().as_default(), _strategy().scope():
        strategy = tf.distribute.get_strategy()

        def replica() -> Any:
            context = tf.distribute.get_replica_context()
            x = tf.cast(context.replica_id_in_sync_group, tf.float32) + 1.0
            both = context.all_reduce("SUM", {"x": x, "square": x * x})
            return both, tf.gradients(both["square"] * x, [x])[0]

        both, slope = strategy.experimental_run_v2(replica)
        found = [strategy.experimental_local_results(v) for v in (both["x"], slope)]
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            values, slopes = session.run(found)
        assert values == (3.0, 3.0)
        # What replica r gets from all: (x0² + x1²) + 2 x_r (x0 + x1), where x is 1 and 2.
        assert slopes == (5.0 + 2 * 1 * 3, 5.0 + 2 * 2 * 3)


def test_devices_are_checked() -> None:
    with pytest.raises(ValueError, match="No duplicates"):
        tf.distribute.MirroredStrategy(["/cpu:0", "/device:CPU:0"])
    with pytest.raises(ValueError, match="In-graph multi-worker"):
        tf.distribute.MirroredStrategy(["/job:worker/task:0", "/job:worker/task:1"])
    with pytest.raises(ValueError, match="must have job specified"):
        tf.distribute.MirroredStrategy(["/job:worker/task:0", "/cpu:1"])
    assert tf.contrib.distribute.MirroredStrategy(num_gpus=2).num_replicas_in_sync == 2
    with tf.Graph().as_default(), _strategy().scope():
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="CPU:1"):
            session.run(v.initializer)
