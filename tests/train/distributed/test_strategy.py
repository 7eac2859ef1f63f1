# SPDX-License-Identifier: Apache-2.0
"""Strategies of one replica, and descriptions of clusters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

STRATEGIES = [
    lambda: tf.distribute.OneDeviceStrategy("/gpu:0"),
    tf.distribute.MirroredStrategy,
    lambda: tf.contrib.distribute.MirroredStrategy(num_gpus=1),
]


@pytest.mark.parametrize("make", STRATEGIES)
def test_scopes_and_replicas_are_told_apart(make: Any) -> None:
    strategy = make()
    assert tf.distribute.get_replica_context() is not None
    assert not tf.distribute.has_strategy()
    seen = []

    def merge(given: Any, value: int) -> int:
        seen.append((given, tf.distribute.in_cross_replica_context()))
        return value + 1

    def replica(value: int) -> int:
        context = tf.distribute.get_replica_context()
        assert tf.get_static_value(context.replica_id_in_sync_group) == 0
        return context.merge_call(merge, (value,))  # type: ignore[no-any-return]

    with tf.Graph().as_default(), strategy.scope():
        assert tf.distribute.get_strategy() is strategy
        assert tf.distribute.get_replica_context() is None
        assert strategy.experimental_run_v2(replica, (3,)) == 4
        with strategy.scope():
            assert tf.distribute.has_strategy()
        with pytest.raises(RuntimeError, match="Mixing different"):
            make().scope().__enter__()
    assert seen == [(strategy, True)]
    assert not tf.distribute.has_strategy()


@pytest.mark.parametrize("make", STRATEGIES)
def test_steps_take_elements(make: Any) -> None:
    strategy = make()
    with tf.Graph().as_default(), strategy.scope():
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        assert "VarHandle" in v.op.type
        data = tf.data.Dataset.range(5).map(lambda i: tf.cast(i, tf.float32))
        iterator = strategy.make_dataset_iterator(data)
        step = strategy.experimental_run(lambda x: v.assign_add(x), iterator)
        mean = strategy.reduce("MEAN", tf.constant([1.0, 3.0]), axis=0)
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), iterator.initialize()])
            for _ in range(5):
                session.run(strategy.group(step))
            assert session.run([v, mean]) == [10, 2]


def test_loops_run_steps_and_keep_the_last_output() -> None:
    strategy = tf.distribute.MirroredStrategy()
    with tf.Graph().as_default(), strategy.scope():
        v = tf.get_variable("v", [], tf.int64, initializer=tf.zeros_initializer())

        def step(context: Any, x: Any) -> Any:
            context.set_last_step_output("x", x)
            return v.assign_add(x)

        iterator = strategy.make_input_fn_iterator(lambda context: tf.data.Dataset.range(9))
        found = strategy.extended.experimental_run_steps_on_iterator(
            step, iterator, 4, {"x": tf.constant(0, tf.int64)}
        )
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), iterator.initialize()])
            session.run(found.run_op)
            assert session.run(v) == 6
            assert session.run(found.last_step_outputs) == {"x": 7}


def test_strategies_can_be_set_for_good() -> None:
    with tf.Graph().as_default():
        strategy = tf.distribute.MirroredStrategy()
        tf.distribute.experimental_set_strategy(strategy)
        assert tf.distribute.get_strategy() is strategy
        tf.distribute.experimental_set_strategy(None)
        assert not tf.distribute.has_strategy()


def test_estimators_take_strategies(tmp_path: Path) -> None:
    seen = []

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        replica = tf.distribute.get_replica_context()
        seen.append((mode, tf.distribute.has_strategy(), replica is not None))
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean((w * features - labels) ** 2)
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, w * features, loss, step)

    def input_fn(input_context: Any) -> Any:
        assert input_context.num_replicas_in_sync == 1
        x = np.ones([2], np.float32)
        return tf.data.Dataset.from_tensors((x, 2 * x)).repeat(30)

    strategy = tf.contrib.distribute.MirroredStrategy()
    config = tf.estimator.RunConfig(str(tmp_path), train_distribute=strategy)
    estimator = tf.estimator.Estimator(model_fn, config=config)
    estimator.train(input_fn)
    assert estimator.get_variable_value("w") == pytest.approx(2, abs=0.01)
    assert estimator.evaluate(input_fn, steps=1)["loss"] < 1e-3
    assert seen == [("train", True, True), ("eval", False, True)]
    with pytest.raises(ValueError, match="no strategy"):
        tf.estimator.Estimator(model_fn, config=config.replace(train_distribute=3))


def test_monitors_run_steps_of_losses() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        strategy = tf.contrib.distribute.OneDeviceStrategy("/cpu:0")
        with strategy.scope():
            w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
            step = tf.contrib.distribute.StandardSingleLossStep(
                lambda: tf.data.Dataset.from_tensors(2.0).repeat(20),
                lambda context, x: (w - x) ** 2,
                tf.train.GradientDescentOptimizer(0.25),
                strategy,
                iterations_per_step=2,
            )
            monitor = tf.contrib.distribute.Monitor(step, session)
            monitor.run_steps()
        assert session.run(w) == pytest.approx(2, abs=1e-3)


def test_clusters_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"worker": ["a:1", "b:2"], "ps": ["c:3"]}
    task = {"type": "worker", "index": 1}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    found = tf.distribute.cluster_resolver.TFConfigClusterResolver(rpc_layer="grpc")
    assert found.master() == "grpc://b:2"
    assert (found.task_type, found.task_id) == ("worker", 1)
    simple = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": ["d:4"]}), "here"
    )
    both = tf.distribute.cluster_resolver.UnionResolver(found, simple)
    assert both.cluster_spec().as_dict() == {"worker": ["a:1", "b:2", "d:4"], "ps": ["c:3"]}
    assert both.master("worker", 2) == "d:4"
    with pytest.raises(TypeError, match="must be a ClusterSpec"):
        tf.distribute.cluster_resolver.SimpleClusterResolver({})


def test_losses_of_examples_are_no_scalar() -> None:
    message = "Expected a tensor with at least rank 1"
    with pytest.raises(ValueError, match=f"{message}, received"):
        tf.nn.compute_average_loss(tf.constant(2.0))
    losses = tf.placeholder(tf.float32)
    average = tf.nn.compute_average_loss(losses, global_batch_size=4)
    with tf.Session() as session:
        assert session.run(average, {losses: [1.0, 2.0]}) == 0.75
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(average, {losses: 2.0})
