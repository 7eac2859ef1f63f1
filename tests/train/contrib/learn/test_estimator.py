# SPDX-License-Identifier: Apache-2.0
"""tf.contrib.learn: estimators with model functions, monitors, experiments, exports."""

from __future__ import annotations

import glob
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

learn = tf.contrib.learn
X = np.linspace(-1, 1, 8, dtype=np.float32).reshape(8, 1)
Y = 3 * X


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    x = features["x"] if isinstance(features, dict) else features
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    predictions = w * x
    if mode == learn.ModeKeys.INFER:
        return learn.ModelFnOps(mode, {"y": predictions})
    loss = tf.reduce_mean((predictions - tf.reshape(labels, [-1, 1])) ** 2)
    rate = (params or {}).get("rate", 0.5)
    step = tf.train.GradientDescentOptimizer(rate).minimize(loss, tf.train.get_global_step())
    return learn.ModelFnOps(mode, {"y": predictions}, loss, step)


def input_fn() -> Any:
    return {"x": tf.constant(X)}, tf.constant(Y)


def test_arrays_train_evaluate_and_predict(tmp_path: Path) -> None:
    estimator = learn.Estimator(model_fn, str(tmp_path), params={"rate": 0.5})
    estimator.fit(X, Y, steps=20, batch_size=4)
    assert estimator.get_variable_value("w") == pytest.approx(3, abs=0.05)
    error = learn.MetricSpec(tf.metrics.mean_absolute_error, prediction_key="y")
    found = estimator.evaluate(X, Y, batch_size=3, metrics={"error": error})
    assert found["global_step"] == 20
    assert found["error"] < 0.1
    assert [round(float(p["y"][0])) for p in estimator.predict(X[-1:])] == [3]
    wrapped = learn.SKCompat(estimator)
    assert wrapped.predict(X, batch_size=3)["y"].shape == (8, 1)
    estimator.partial_fit(X, Y)
    estimator.fit(X, Y, max_steps=21)
    assert estimator.get_variable_value("global_step") == 21
    with pytest.raises(ValueError, match="incompatible with given"):
        estimator.evaluate(input_fn=input_fn)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    estimator = learn.Estimator(model_fn, str(tmp_path))
    with pytest.raises(learn.NotFittedError, match="find trained model"):
        estimator.evaluate(input_fn=input_fn)
    with pytest.raises(ValueError, match="both input_fn and x or y"):
        estimator.fit(x=X, input_fn=input_fn)
    with pytest.raises(ValueError, match="does not have a params argument"):
        learn.Estimator(lambda features, labels: None, params={})
    with pytest.raises(ValueError, match="Missing train_op"):
        learn.ModelFnOps("train")


def test_monitors_stop_and_watch(tmp_path: Path) -> None:
    config = learn.RunConfig(save_checkpoints_steps=2)
    estimator = learn.Estimator(model_fn, str(tmp_path), config=config)
    captured = learn.monitors.CaptureVariable("w:0", every_n=2)
    watch = learn.monitors.ValidationMonitor(
        input_fn=input_fn,
        eval_steps=1,
        every_n_steps=2,
        early_stopping_rounds=4,
        early_stopping_metric_minimize=False,
        check_interval_secs=None,
    )
    estimator.fit(input_fn=input_fn, steps=50, monitors=[captured, watch])
    assert watch.early_stopped and watch.best_step == 2
    assert 0 < estimator.get_variable_value("global_step") < 50
    assert list(captured.values)[:2] == [1, 3]
    assert 0 < captured.values[1] < captured.values[3] < 3
    with pytest.raises(learn.NanLossDuringTrainingError):
        learn.monitors.NanLoss("l").every_n_step_end(1, {"l": np.nan})


def test_experiments_run_by_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def serving() -> Any:
        return learn.build_parsing_serving_input_fn({"x": tf.FixedLenFeature([1], tf.float32)})()

    def experiment_fn(run_config: Any, hparams: Any) -> Any:
        return learn.Experiment(
            learn.Estimator(model_fn, config=run_config),
            input_fn,
            input_fn,
            train_steps=6,
            eval_steps=1,
            export_strategies=learn.make_export_strategy(serving, exports_to_keep=1),
        )

    config = learn.RunConfig(model_dir=str(tmp_path))
    metrics, exported = learn.learn_runner.run(experiment_fn, run_config=config)
    assert metrics["global_step"] == 6
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], exported[0].decode())
        signature = loaded.signature_def["serving_default"]
        example = tf.train.Example()
        example.features.feature["x"].float_list.value.append(2.0)
        feeds = {signature.inputs["examples"].name: [example.SerializeToString()]}
        assert session.run(signature.outputs["y"].name, feeds).shape == (1, 1)
    assert len(glob.glob(str(tmp_path / "export" / "Servo" / "*"))) == 1
    with pytest.raises(ValueError, match="non-existent task fly"):
        learn.learn_runner.run(experiment_fn, run_config=config, schedule="fly")
    cluster = {"worker": ["a:1", "b:2"], "ps": ["c:3"]}
    task = {"type": "worker", "index": 1}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    config = learn.RunConfig()
    assert (config.master, config.is_chief, config.num_worker_replicas) == ("grpc://b:2", False, 2)


def test_core_estimators_take_these_settings(tmp_path: Path) -> None:
    config = learn.RunConfig(model_dir=str(tmp_path), save_checkpoints_steps=3)

    def core_model_fn(features: Any, labels: Any, mode: str) -> Any:
        ops = model_fn(features, labels, mode, None)
        return ops.estimator_spec()

    estimator = tf.estimator.Estimator(core_model_fn, config=config)
    experiment = learn.Experiment(estimator, input_fn, input_fn, train_steps=4, eval_steps=1)
    metrics, _ = experiment.train_and_evaluate()
    assert metrics["global_step"] == 4


def test_heads_of_several_kinds_are_one() -> None:
    heads = [
        learn.regression_head("a", head_name="a"),
        learn.multi_label_head(3, "b", head_name="b", metric_class_ids=[1]),
        learn.binary_svm_head("c", head_name="c"),
    ]
    head = learn.multi_head(heads, loss_weights=[1.0, 2.0, 0.0])
    with tf.Graph().as_default(), tf.Session() as session:
        labels = {
            "a": tf.constant([[1.0], [2.0]]),
            "b": tf.constant([[0, 1, 1], [1, 0, 0]]),
            "c": tf.constant([[0], [1]]),
        }
        logits = tf.zeros([2, 5])
        ops = head.create_model_fn_ops({}, learn.ModeKeys.EVAL, labels, logits=logits)
        expected = 2.5 + 2 * np.log(2)
        assert session.run(ops.loss) == pytest.approx(expected)
        assert {"loss/a", "auc/class1/b", "accuracy/c"} <= set(ops.eval_metric_ops)
        assert ("b", "probabilities") in ops.predictions


def test_modules_have_the_names_that_they_had() -> None:
    from numbaflow.alias import finder

    for path, name in (
        ("contrib.learn.python.learn.estimators.head", "_multi_class_head"),
        ("contrib.learn.python.learn.run_config", "RunConfig"),
        ("contrib.learn.python.learn.preprocessing.text", "tokenizer"),
        ("python.estimator.canned.dnn", "DNNClassifier"),
        ("python.estimator.export.export_output", "PredictOutput"),
        ("contrib.tpu.python.tpu.tpu_estimator", "TPUEstimator"),
        ("python.distribute.distribute_lib", "Strategy"),
    ):
        assert callable(getattr(finder.resolve(f"tensorflow.{path}"), name)), path


def test_graphs_run_in_sessions_of_their_own(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder_with_default(1.0, [])
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        y = v * x
        with tf.Session() as session:
            session.run(v.assign(5.0))
            path = tf.train.Saver().save(session, str(tmp_path / "model"))
        assert learn.run_n({"y": y}, n=2) == [{"y": 1}, {"y": 1}]
        assert learn.run_feeds({"y": y}, [{x: 2.0}, {x: 3.0}], path) == [{"y": 10}, {"y": 15}]
        assert learn.infer(path, {"y": y}) == {"y": 5}
        queued = tf.train.input_producer(tf.constant([3, 4]), shuffle=False).dequeue()
        assert learn.run_n({"q": queued}, n=3) == [{"q": 3}, {"q": 4}, {"q": 3}]
        with pytest.raises(ValueError, match="output_dict is invalid"):
            learn.run_n({})
