# SPDX-License-Identifier: Apache-2.0
"""Strategies whose variables are on parameter servers, or on a device of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import numbaflow as tf

pytestmark = pytest.mark.programs

CLUSTER = {"ps": ["a:1", "b:1"], "chief": ["c:1"], "worker": ["d:1", "e:1"], "evaluator": ["f:1"]}
ESTIMATE = """
import json, sys
import numpy as np
import tensorflow.compat.v1 as tf


def input_fn(input_context=None):
    x = np.arange(8, dtype=np.float32) / 8
    data = tf.data.Dataset.from_tensor_slices((x, 2 * x + 1))
    if input_context is not None:
        assert input_context.num_input_pipelines == 2
        data = data.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return data.repeat().batch(4)


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [], initializer=tf.zeros_initializer())
    assert [v.device for v in (w, b)] == ["/job:ps/task:%d" % i for i in places(mode)]
    loss = tf.losses.mean_squared_error(labels, features * w + b)
    train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


strategy = tf.distribute.experimental.ParameterServerStrategy()
config = tf.estimator.RunConfig(
    model_dir=sys.argv[1], train_distribute=strategy, save_checkpoints_steps=200,
    experimental_max_worker_delay_secs=0)
# (The global step is the first variable of a training, on the first server.)
places = lambda mode: (1, 0) if mode == "train" else ()
estimator = tf.estimator.Estimator(model_fn, config=config)
tf.estimator.train_and_evaluate(
    estimator, tf.estimator.TrainSpec(input_fn, max_steps=400), tf.estimator.EvalSpec(input_fn))
values = [float(estimator.get_variable_value(name)) for name in ("w", "b")]
print("result", json.dumps([config.is_chief, values]))
"""


def strategy_of(task_type: str, task_id: int | None, cluster: dict = CLUSTER):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(cluster), task_type=task_type, task_id=task_id
    )
    return tf.distribute.experimental.ParameterServerStrategy(resolver)


def test_variables_are_on_the_servers_in_turn_and_what_belongs_to_them_is_beside():
    strategy = strategy_of("worker", 1)
    with tf.Graph().as_default() as graph, strategy.scope():
        v = tf.get_variable("v", initializer=1.0)
        w = tf.get_variable("w", initializer=2.0)

        def replica():
            loss = tf.square(v * w)
            assert loss.device == "/job:worker/replica:0/task:1/device:CPU:0"
            assert tf.distribute.get_replica_context().num_replicas_in_sync == 1
            return tf.train.AdamOptimizer(0.1).minimize(loss)

        strategy.experimental_run_v2(replica)
        strategy.extended.update(v, lambda x: x.assign_add(1.0, name="more"))
    places = {v.op.name: v.device for v in graph.get_collection("variables")}
    for name, place in places.items():
        task = 1 if name.startswith("w") else 0
        if not name.startswith("beta"):
            assert place == f"/job:ps/task:{task}", (name, place)
    assert {"v/Adam", "w/Adam_1"} <= set(places)
    assert places["beta1_power"] == places["beta2_power"] == "/job:ps/task:0"
    for op in graph.get_operations():
        if op.type == "ResourceApplyAdam":
            task = 1 if op.name.split("/")[1] == "update_w" else 0
            assert op.device == f"/job:ps/task:{task}", op.name
    assert all(isinstance(v, tf.Variable) and "Resource" in type(v).__name__ for v in (v, w))
    assert strategy.extended.parameter_devices == ("/job:ps/task:0", "/job:ps/task:1")


def test_tasks_know_what_is_theirs():
    found = {}
    for kind, index in (("chief", 0), ("worker", 1), ("evaluator", 0)):
        strategy = strategy_of(kind, index)
        extended = strategy.extended
        config = strategy.update_config_proto(tf.ConfigProto(device_filters=["/job:x"]))
        context = extended.input_context()
        found[kind] = (
            extended.should_checkpoint,
            extended.experimental_should_init,
            list(config.device_filters),
            (context.num_input_pipelines, context.input_pipeline_id),
        )
        assert strategy.num_replicas_in_sync == 1 and extended.experimental_between_graph
    assert found == {
        "chief": (True, True, ["/job:chief/task:0", "/job:ps"], (3, 0)),
        "worker": (False, False, ["/job:worker/task:1", "/job:ps"], (3, 2)),
        "evaluator": (True, True, ["/job:evaluator/task:0"], (1, 0)),
    }
    first = strategy_of("worker", 0, {"ps": ["a:1"], "worker": ["b:1", "c:1"]})
    assert first.extended.should_checkpoint
    given = first.experimental_distribute_datasets_from_function(
        lambda context: (context.input_pipeline_id, context.get_per_replica_batch_size(12))
    )
    assert given == (0, 12)


def test_what_is_no_task_of_such_a_cluster_is_refused():
    with pytest.raises(ValueError, match="needs to have `ps` jobs"):
        strategy_of("worker", 0, {"worker": ["a:1"]})
    with pytest.raises(ValueError, match="must also specify `task_type` and `task_id`"):
        strategy_of("worker", None)
    with pytest.raises(NotImplementedError, match="2 GPUs per worker"):
        tf.contrib.distribute.ParameterServerStrategy(2)
    with pytest.raises(NotImplementedError, match="a strategy of 2 devices"):
        tf.distribute.experimental.CentralStorageStrategy(["/gpu:0", "/gpu:1"])


def test_configure_makes_it_a_task():
    strategy = tf.contrib.distribute.ParameterServerStrategy()
    config = tf.ConfigProto()
    strategy.configure(config)
    assert config.isolate_session_state and not config.device_filters
    strategy.configure(config, CLUSTER, "worker", 0)
    assert not config.isolate_session_state
    assert list(config.device_filters) == ["/job:worker/task:0", "/job:ps"]
    with tf.Graph().as_default(), strategy.scope():
        assert tf.Variable(1.0).device == "/job:ps/task:0"


def test_variables_of_central_storage_are_on_their_device():
    strategy = tf.distribute.experimental.CentralStorageStrategy(["/cpu:0"], "/device:CPU:0")
    with tf.Graph().as_default(), strategy.scope(), tf.Session() as session:
        v = tf.Variable(3.0)
        assert v.device == "/device:CPU:0"
        train = strategy.experimental_run_v2(
            lambda: tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(v))
        )
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(v) == pytest.approx(2.4)


@pytest.mark.cpu
@pytest.mark.skipif(os.name != "posix", reason="tasks are ended by signals")
def test_estimators_train_on_parameter_servers(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(ESTIMATE)
    options = ["--local", "--ps", "2", "--workers", "2", "--chief", "--no-flags"]
    program = [str(tmp_path / "program.py"), "--", str(tmp_path / "model")]
    done = subprocess.run(
        [sys.executable, "-m", "numbaflow", "cluster", "run", *options, *program],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = [json.loads(text) for text in re.findall(r"result (.*)", done.stdout)]
    [values] = [values for is_chief, values in found if is_chief]
    assert values == pytest.approx([2.0, 1.0], rel=0.05)
