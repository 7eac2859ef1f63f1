# SPDX-License-Identifier: Apache-2.0
"""Estimators: training, evaluation, prediction, export, and the files that they write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.estimator.early_stopping import read_eval_metrics

pytestmark = pytest.mark.cpu

X = np.random.RandomState(0).rand(64, 2).astype(np.float32)
Y = X @ np.float32([[1], [2]])
TRAIN = tf.estimator.inputs.numpy_input_fn({"x": X}, Y, 16, num_epochs=None, shuffle=True)
EVALUATE = tf.estimator.inputs.numpy_input_fn({"x": X}, Y, 16, shuffle=False)


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    y = tf.matmul(features["x"], tf.get_variable("w", [2, 1]))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"y": y})
    loss = tf.losses.mean_squared_error(labels, y)
    optimizer = tf.train.GradientDescentOptimizer(params["rate"])
    step = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {"mae": tf.metrics.mean_absolute_error(labels, y)}
    return tf.estimator.EstimatorSpec(mode, {"y": y}, loss, step, eval_metric_ops=metrics)


def made(folder: Path, **settings: Any) -> Any:
    config = tf.estimator.RunConfig(tf_random_seed=1, **settings)
    return tf.estimator.Estimator(model_fn, str(folder), config, params={"rate": 0.5})


def serving() -> Any:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def test_train_and_evaluate_writes_what_tensorflow_writes(tmp_path: Path) -> None:
    estimator = made(tmp_path, save_checkpoints_steps=20)
    exporters = [
        tf.estimator.FinalExporter("final", serving),
        tf.estimator.BestExporter(serving_input_receiver_fn=serving),
    ]
    metrics, exported = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(TRAIN, max_steps=40),
        tf.estimator.EvalSpec(EVALUATE, None, exporters=exporters, throttle_secs=0),
    )
    assert set(metrics) == {"loss", "mae", "global_step"} and metrics["global_step"] == 40
    assert metrics["loss"] < 0.1
    names = {path.name for path in tmp_path.iterdir()}
    assert {"checkpoint", "graph.pbtxt", "eval", "export", "model.ckpt-40.meta"} <= names
    assert list(read_eval_metrics(estimator.eval_dir())) == [20, 40]
    assert estimator.get_variable_names() == ["global_step", "w"]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], exported[0].decode())
        served = session.run("MatMul:0", {"x:0": X[:3]})
    predicted = estimator.predict(lambda: tf.data.Dataset.from_tensors({"x": X[:3]}))
    np.testing.assert_allclose([p["y"] for p in predicted], served, rtol=1e-6)
    np.testing.assert_allclose(served, X[:3] @ estimator.get_variable_value("w"), rtol=1e-6)


def test_steps_go_on_from_the_checkpoint(tmp_path: Path) -> None:
    estimator = made(tmp_path)
    estimator.train(TRAIN, steps=3)
    estimator.train(TRAIN, steps=4)
    assert estimator.get_variable_value("global_step") == 7
    estimator.train(TRAIN, max_steps=7)  # There is nothing left to do.
    assert estimator.latest_checkpoint().endswith("model.ckpt-7")
    warm = tf.estimator.Estimator(
        model_fn, str(tmp_path / "b"), params={"rate": 1e-9}, warm_start_from=str(tmp_path)
    )
    warm.train(TRAIN, steps=1)
    w = estimator.get_variable_value("w")
    np.testing.assert_allclose(warm.get_variable_value("w"), w, rtol=1e-5)


def test_early_stopping_and_evaluation_in_memory(tmp_path: Path) -> None:
    estimator = made(tmp_path)
    experimental = tf.estimator.experimental
    stop = experimental.stop_if_lower_hook(
        estimator, "loss", 0.05, run_every_secs=None, run_every_steps=1
    )
    evaluate = experimental.InMemoryEvaluatorHook(estimator, EVALUATE, every_n_iter=2)
    estimator.train(TRAIN, steps=1000, hooks=[stop, evaluate])
    assert estimator.get_variable_value("global_step") < 1000
    more = tf.estimator.add_metrics(
        estimator, lambda predictions: {"mean": tf.metrics.mean(predictions["y"])}
    )
    assert set(more.evaluate(EVALUATE)) == {"loss", "mae", "mean", "global_step"}


def test_hooks_of_metrics_wait_for_the_first_evaluation(tmp_path: Path) -> None:
    estimator = made(tmp_path)
    assert read_eval_metrics(estimator.eval_dir()) == {}
    hook = tf.estimator.experimental.stop_if_no_decrease_hook(
        estimator, "loss", 2, run_every_secs=None, run_every_steps=1
    )
    estimator.train(TRAIN, steps=5, hooks=[hook])
    assert estimator.get_variable_value("global_step") == 5


def test_inputs_of_arrays_come_in_order() -> None:
    x = np.arange(10)
    input_fn = tf.estimator.inputs.numpy_input_fn(
        {"a": x}, x + 100, batch_size=4, num_epochs=2, shuffle=False
    )
    with tf.Graph().as_default():
        features, labels = input_fn()
        batches = []
        with tf.train.MonitoredSession() as session:
            while not session.should_stop():
                batches.append(session.run([features["a"], labels]))
    assert np.concatenate([a for a, _ in batches]).tolist() == [*range(10), *range(10)]
    assert all((labels == a + 100).all() for a, labels in batches)
    assert [len(a) for a, _ in batches] == [4, 4, 4, 4, 4]


@pytest.mark.pure
def test_run_config_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"chief": ["h0:1"], "worker": ["h1:1", "h2:1"], "ps": ["h3:1"]}
    task = {"type": "worker", "index": 1}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    config = tf.estimator.RunConfig()
    assert (config.task_type, config.task_id, config.master) == ("worker", 1, "grpc://h2:1")
    assert (config.num_worker_replicas, config.num_ps_replicas) == (3, 1)
    assert config.global_id_in_cluster == 2 and not config.is_chief
    assert list(config.session_config.device_filters) == ["/job:ps", "/job:worker/task:1"]
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "x"}}))
    with pytest.raises(ValueError, match="task index must be set"):
        tf.estimator.RunConfig()


@pytest.mark.pure
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.estimator.RunConfig(model_dir=""), "model_dir should be non-empty"),
        (
            lambda: tf.estimator.RunConfig(save_checkpoints_secs=1, save_checkpoints_steps=1),
            "cannot be both set",
        ),
        (lambda: tf.estimator.Estimator(None, "/tmp/none"), "model_fn must be provided"),
        (lambda: tf.estimator.Estimator(lambda labels: None, "/tmp/none"), "include features"),
        (lambda: tf.estimator.EstimatorSpec("train"), "Missing train_op"),
        (lambda: tf.estimator.EstimatorSpec("eval"), "Missing loss"),
        (lambda: tf.estimator.EstimatorSpec("infer"), "Missing predictions"),
        (lambda: tf.estimator.EvalSpec(EVALUATE, steps=0), "steps > 0"),
        (lambda: tf.estimator.inputs.numpy_input_fn(X), "shuffle must be provided"),
        (lambda: tf.estimator.WarmStartSettings(""), "MUST be set"),
        (
            lambda: tf.estimator.Estimator(
                lambda features: None,
                config=tf.estimator.RunConfig(train_distribute=object()),
            ),
            "no strategy of tf.distribute",
        ),
    ],
)
def test_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_programs_may_let_methods_be_overridden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other(tf.estimator.Estimator):
        def train(self, *given: Any, **named: Any) -> Any:
            return given, named

    with pytest.raises(ValueError, match="train"):
        Other(lambda features: None, str(tmp_path))
    # A static method that is called with the estimator, as libraries put it there.
    monkeypatch.setattr(
        tf.estimator.Estimator, "_assert_members_are_not_overridden", staticmethod(lambda _: None)
    )
    assert Other(lambda features: None, str(tmp_path)).train(3) == ((3,), {})
