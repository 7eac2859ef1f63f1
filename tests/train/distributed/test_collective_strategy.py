# SPDX-License-Identifier: Apache-2.0
"""MultiWorkerMirroredStrategy: alone, and with a process for each worker."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf

pytestmark = [
    pytest.mark.process,
    pytest.mark.cpu,
    pytest.mark.skipif(os.name != "posix", reason="tasks are ended by signals"),
]

TRAIN = """
import json, os
import numpy as np
import tensorflow.compat.v1 as tf

index = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
assert strategy.num_replicas_in_sync == 2
with strategy.scope():
    w = tf.get_variable("w", initializer=np.float32([1, 2, 3]) + index)
    step = tf.train.get_or_create_global_step()
    batches = tf.data.Dataset.from_tensors(np.arange(12, dtype=np.float32).reshape(4, 3)).repeat()
    batches = strategy.experimental_distribute_dataset(batches)
    x = tf.data.make_one_shot_iterator(batches).get_next()

    def replica():
        mine = tf.distribute.get_replica_context()
        loss = tf.reduce_sum(tf.square(tf.linalg.matvec(x, w) - 1.0))
        optimizer = tf.train.AdamOptimizer(0.1)
        rows = mine.all_reduce("SUM", tf.shape(x)[0])
        return loss, optimizer.minimize(loss, step), mine.replica_id_in_sync_group, rows

    loss, train, number, rows = strategy.experimental_run_v2(replica)
    assert number == index
    total = strategy.reduce("SUM", loss)
    hooks = [tf.train.StopAtStepHook(last_step=3)]
    with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
        while not session.should_stop():
            found = session.run([total, w, rows, train])
print("result", json.dumps([float(found[0]), found[1].tolist(), int(found[2])]))
"""

ESTIMATE = """
import json, os, sys
import numpy as np
import tensorflow.compat.v1 as tf


def input_fn(input_context=None):
    x = np.arange(8, dtype=np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, 2 * x + 1))
    if input_context is not None:
        assert input_context.num_input_pipelines == 2
        data = data.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return data.repeat().batch(4)


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [], initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(labels, features * w + b)
    train = tf.train.GradientDescentOptimizer(0.02).minimize(
        loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
config = tf.estimator.RunConfig(
    model_dir=sys.argv[1], train_distribute=strategy, save_checkpoints_steps=10)
estimator = tf.estimator.Estimator(model_fn, config=config)
tf.estimator.train_and_evaluate(
    estimator, tf.estimator.TrainSpec(input_fn, max_steps=20), tf.estimator.EvalSpec(input_fn))
values = [float(estimator.get_variable_value(name)) for name in ("w", "b")]
print("result", json.dumps([config.is_chief, values]))
"""


def run(folder: Path, text: str, *arguments: str, ps: int = 0) -> list[list]:
    """What two workers print of their results."""
    (folder / "program.py").write_text(text)
    given = ["--", *arguments] if arguments else []
    command = ["cluster", "run", "--local", "--ps", str(ps), "--workers", "2", "--no-flags"]
    done = subprocess.run(
        [sys.executable, "-m", "numbaflow", *command, str(folder / "program.py"), *given],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"\[worker \d\] result (.*)", done.stdout)
    assert found, done.stdout
    return [json.loads(text) for text in found]


def test_workers_train_as_one_would_on_all_of_the_batch(tmp_path: Path) -> None:
    found = run(tmp_path, TRAIN)
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.get_variable("w", initializer=np.float32([1, 2, 3]))
        x = np.arange(12, dtype=np.float32).reshape(4, 3)
        loss = tf.reduce_sum(tf.square(tf.linalg.matvec(x, w) - 1.0))
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(train)
        wanted = session.run([loss, w])
    for total, values, rows in found:
        assert rows == 4
        assert total == pytest.approx(wanted[0], rel=1e-4)
        assert values == pytest.approx(wanted[1], rel=1e-4)


def test_workers_wait_for_no_task_that_they_do_not_need(tmp_path: Path) -> None:
    # The parameter server of the cluster does nothing, and is soon gone.
    leaves = """
import json, os, sys
if json.loads(os.environ["TF_CONFIG"])["task"]["type"] == "ps":
    sys.exit()
"""
    assert len(run(tmp_path, leaves + TRAIN, ps=1)) == 2


def test_estimators_train_together(tmp_path: Path) -> None:
    found = run(tmp_path, ESTIMATE, str(tmp_path / "model"))
    # (The other worker may have looked before the last checkpoint was there.)
    [values] = [values for is_chief, values in found if is_chief]
    with tf.Graph().as_default(), tf.Session() as session:
        w, b = tf.get_variable("w", initializer=0.0), tf.get_variable("b", initializer=0.0)
        x = np.arange(8, dtype=np.float32)
        loss = tf.losses.mean_squared_error(2 * x + 1, x * w + b)
        train = tf.train.GradientDescentOptimizer(0.02).minimize(loss)
        session.run(tf.global_variables_initializer())
        for _ in range(20):
            session.run(train)
        wanted = session.run([w, b])
    assert values == pytest.approx(wanted, rel=1e-3)
    assert tf.train.latest_checkpoint(str(tmp_path / "model")).endswith("-20")


def test_alone_it_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    with tf.Graph().as_default(), strategy.scope(), tf.Session() as session:
        x = tf.Variable(3.0)
        loss = strategy.experimental_run_v2(lambda: tf.square(x))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(x) == pytest.approx(2.4)
        total = strategy.reduce(tf.distribute.ReduceOp.MEAN, loss)
        assert session.run(total) == pytest.approx(5.76)
    assert strategy.update_config_proto(tf.ConfigProto()) == tf.ConfigProto()
    with pytest.raises(ValueError, match="CollectiveCommunication"):
        tf.distribute.experimental.MultiWorkerMirroredStrategy("ring")


def test_tasks_are_numbered_as_the_cluster_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"], "evaluator": ["e:1"]}
    found = []
    for kind, index in (("chief", 0), ("worker", 1), ("evaluator", 0)):
        config = {"cluster": cluster, "task": {"type": kind, "index": index}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))
        strategy = tf.contrib.distribute.CollectiveAllReduceStrategy()
        extended = strategy.extended
        found.append((extended.count, extended.index, extended.should_checkpoint))
    assert found == [(3, 0, True), (3, 2, False), (1, 0, True)]
    config["task"] = {"type": "worker", "index": 0}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
    filters = strategy.update_config_proto(tf.ConfigProto()).device_filters
    assert list(filters) == ["/job:worker/task:0"]
    given = strategy.experimental_distribute_datasets_from_function(
        lambda context: (context.input_pipeline_id, context.get_per_replica_batch_size(12))
    )
    assert given == (1, 4)


@pytest.mark.parametrize("task", [0, 1])
@pytest.mark.parametrize("communication", ["AUTO", "RING"])
def test_variables_begin_once_and_gradients_have_numbers(
    monkeypatch: pytest.MonkeyPatch, communication: str, task: int
) -> None:
    cluster = {"worker": ["localhost:1", "localhost:2"]}
    told = {"cluster": cluster, "task": {"type": "worker", "index": task}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(told))
    communications = tf.distribute.experimental.CollectiveCommunication
    strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy(communications[communication])

    def step() -> tf.Operation:
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        rows = tf.get_variable("rows", initializer=np.ones([3, 2], np.float32))
        b = tf.get_variable("b", initializer=0.5)
        loss = tf.reduce_sum(w * b) + tf.reduce_sum(tf.gather(rows, [1, 2]))
        return tf.train.GradientDescentOptimizer(1.0).minimize(loss)

    def work() -> list[list[tuple[str, int]]]:
        with tf.Graph().as_default() as graph, strategy.scope():
            strategy.experimental_run_v2(step)
            found = [
                (op.type.removeprefix("Collective"), op.get_attr("instance_key"))
                for op in graph.get_operations()
                if op.type.startswith("Collective")
            ]
        return [[one for one in found if one[0].startswith("Bcast") is k] for k in (True, False)]

    # (Numbers are a thread's own.)
    with ThreadPoolExecutor(1) as pool:
        broadcasts, others = pool.submit(work).result()
    kind = "BcastRecv" if task else "BcastSend"
    assert [name for name, _ in broadcasts] == [kind] * 3
    if communication == "AUTO":
        assert [name for name, _ in others] == ["Reduce"]
    else:
        assert [number for _, number in broadcasts] == [1_000_000, 1_000_001, 1_000_002]
        names = ["Reduce", "Reduce", "Gather", "Gather"]
        assert others == list(zip(names, range(100, 104), strict=True))
