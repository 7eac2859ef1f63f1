# SPDX-License-Identifier: Apache-2.0
"""Estimators for TPUs where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

tpu = tf.contrib.tpu
X = np.linspace(-1, 1, 8, dtype=np.float32)


def model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> Any:
    assert params["use_tpu"] is False
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    predictions = w * features["x"]
    if mode == tf.estimator.ModeKeys.PREDICT:
        sizes = tf.fill(tf.shape(features["x"]), params["batch_size"])
        return tpu.TPUEstimatorSpec(mode, predictions={"y": predictions, "batch_size": sizes})
    errors = tf.abs(predictions - labels)
    optimizer = tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.5))
    step = optimizer.minimize(tf.reduce_mean(errors**2), tf.train.get_global_step())

    def metrics(errors: Any, batch: Any) -> dict[str, Any]:
        return {"error": tf.metrics.mean(errors), "batch": tf.metrics.mean(batch)}

    batch = tf.fill([1], float(params["batch_size"]))
    return tpu.TPUEstimatorSpec(
        mode,
        loss=tf.reduce_mean(errors**2),
        train_op=step,
        eval_metrics=(metrics, [errors, batch]),
        scaffold_fn=tf.train.Scaffold,
    )


def input_fn(params: dict[str, Any]) -> Any:
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, 3 * X))
    return data.batch(params["batch_size"])


def estimator(folder: Path, **given: Any) -> Any:
    config = tpu.RunConfig(model_dir=str(folder), tpu_config=tpu.TPUConfig(iterations_per_loop=50))
    sizes: dict[str, Any] = dict(train_batch_size=4, eval_batch_size=2, predict_batch_size=8)
    return tpu.TPUEstimator(model_fn, config=config, **{"use_tpu": False, **sizes, **given})


def test_functions_are_told_the_size_of_batches(tmp_path: Path) -> None:
    made = estimator(tmp_path)
    for _ in range(20):
        made.train(input_fn)
    assert made.get_variable_value("w") == pytest.approx(3, abs=1e-2)
    found = made.evaluate(input_fn, steps=2)
    assert found["batch"] == 2
    assert found["error"] < 0.01
    predicted = list(made.predict(input_fn))
    assert len(predicted) == 8
    assert predicted[0]["batch_size"] == 8
    assert tf.train.load_variable(str(tmp_path), "global_step").dtype == np.int64


def test_what_needs_a_tpu_says_so(tmp_path: Path) -> None:
    made = estimator(tmp_path, use_tpu=True)
    with pytest.raises(RuntimeError, match="use_tpu=False"):
        made.train(input_fn, steps=1)
    with pytest.raises(NotImplementedError, match=r"tf\.contrib\.tpu\.rewrite needs a TPU"):
        tpu.rewrite(lambda: None)


def test_models_are_exported_for_this_machine(tmp_path: Path) -> None:
    made = estimator(tmp_path / "model")
    made.train(input_fn, steps=1)

    def receiver() -> Any:
        x = tf.placeholder(tf.float32, [None], name="x")
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    def served(features: Any, mode: str, params: dict[str, Any]) -> Any:
        del params
        w = tf.get_variable("w", [])
        return tpu.TPUEstimatorSpec(mode, predictions=w * features["x"])

    config = tpu.RunConfig(model_dir=str(tmp_path / "model"))
    server = tpu.TPUEstimator(served, config=config, use_tpu=False)
    folder = server.export_savedmodel(str(tmp_path / "out"), receiver)
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], folder.decode())
        name = next(iter(loaded.signature_def["serving_default"].outputs.values())).name
        found = session.run(name, {"x:0": [2.0]})
    assert found == pytest.approx([2 * made.get_variable_value("w")])


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (dict(eval_metrics=3), ValueError, "eval_metrics should be tuple or list"),
        (dict(eval_metrics=(max,)), ValueError, "two elements"),
        (dict(host_call=(3, [])), TypeError, "should be callable"),
        (dict(host_call=(lambda a: a, [1, 2])), RuntimeError, "which takes 1"),
        (dict(training_hooks=[3]), TypeError, "must be SessionRunHook"),
    ],
)
def test_specs_are_checked(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tpu.TPUEstimatorSpec("train", **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(iterations_per_loop=0), "iterations_per_loop"),
        (dict(num_cores_per_replica=3), "got 3"),
        (dict(eval_training_input_configuration=4), "PER_HOST_V1 or SLICED"),
        (dict(input_partition_dims=[[1]]), "PER_HOST_V2"),
    ],
)
def test_settings_are_checked(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tpu.TPUConfig(**given)


def test_times_of_loops_have_units() -> None:
    from numbaflow.train.contrib.tpu.util import parse_iterations_per_loop

    assert [parse_iterations_per_loop(x) for x in (7, "2m", "1h")] == [
        (7, "count"),
        (120, "seconds"),
        (3600, "seconds"),
    ]


def test_variables_are_read_as_bfloat16() -> None:
    with tf.Graph().as_default():
        with tpu.bfloat16_scope():
            read = tf.get_variable("v", [2], tf.bfloat16)
        assert read.dtype == tf.bfloat16
        assert tf.global_variables()[0].dtype.base_dtype == tf.float32


def test_loops_are_loops_of_the_graph() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tpu.repeat(5, lambda x: x * 2, [1])) == [32]
        assert session.run(tpu.while_loop(lambda x: x < 9, lambda x: x + 4, [0])) == 12
        with pytest.raises(TypeError, match="Mismatch"):
            tpu.repeat(5, lambda x: 0.5, [1])


def test_clusters_are_joined() -> None:
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("grpc://10.0.0.1:8470")
    config = tpu.RunConfig(cluster=resolver)
    assert config.master == config.evaluation_master == "grpc://10.0.0.1:8470"
    assert config.cluster_spec.as_dict() == {"worker": ["10.0.0.1:8470"]}
    assert config.replace(save_checkpoints_steps=7).tpu_config.iterations_per_loop == 2
    with pytest.raises(ImportError, match="my-tpu"):
        tf.contrib.cluster_resolver.TPUClusterResolver("my-tpu")


def test_what_needs_a_converter_of_graphs_says_so() -> None:
    refused = r"tf\.lite\.TFLiteConverter needs TensorFlow Lite's converter, which is not"
    with pytest.raises(NotImplementedError, match=refused):
        tf.lite.TFLiteConverter.from_saved_model("model")
    with pytest.raises(NotImplementedError, match=r"tf\.lite\.Interpreter needs"):
        tf.lite.Interpreter(model_path="model.tflite")
    assert not hasattr(tf.lite.TFLiteConverter, "_private")
