# SPDX-License-Identifier: Apache-2.0
"""Boosted trees over columns of all kinds, on data drawn by number.

Runs with this package and with TensorFlow 1.15, whose numbers `trees_1_15.json` keeps:
`python programs.py trees_1_15.json` in an environment with it writes them again.
"""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

import numpy as np

COUNT = 128
_RANDOM = np.random.RandomState(0)
X = _RANDOM.randn(COUNT, 3).astype(np.float32)
KIND = _RANDOM.choice(["a", "b", "c"], COUNT)
Y = 2 * X[:, 0] + np.sin(3 * X[:, 1]) + 1.5 * (KIND == "a")
Y = (Y + 0.1 * _RANDOM.randn(COUNT)).astype(np.float32)
IS_HIGH = (Y > 0.3).astype(np.int64)
# Name of a run -> the class, its arguments, the labels, how many steps.
RUNS: dict[str, Any] = {
    "two classes": ("Classifier", dict(n_trees=4, max_depth=3), IS_HIGH, 50),
    "in memory": ("Classifier", dict(n_trees=6, max_depth=3, train_in_memory=True), IS_HIGH, 50),
    "centered": (
        "Regressor",
        dict(n_trees=4, max_depth=3, center_bias=True, l2_regularization=0.01, learning_rate=0.3),
        *(Y, 50),
    ),
    "pruned": (
        "Regressor",
        dict(
            n_trees=5,
            max_depth=4,
            tree_complexity=0.02,
            pruning_mode="post",
            learning_rate=0.5,
        ),
        *(Y, 50),
    ),
    "not split": (
        "Regressor",
        dict(
            n_trees=5,
            max_depth=4,
            tree_complexity=0.01,
            pruning_mode="pre",
            l1_regularization=0.001,
            min_node_weight=0.05,
        ),
        *(Y, 30),
    ),
}


def columns(tf: Any) -> list[Any]:
    """A bucketized column, two of numbers, and one of words."""
    fc = tf.feature_column
    words = fc.categorical_column_with_vocabulary_list("kind", ["a", "b", "c"])
    return [
        fc.bucketized_column(fc.numeric_column("x0"), [-1, -0.3, 0.0, 0.4, 1.0]),
        *(fc.numeric_column("x1"), fc.numeric_column("x2"), fc.indicator_column(words)),
    ]


def features(tf: Any) -> dict[str, Any]:
    """All examples, as constants."""
    given = {f"x{i}": X[:, i] for i in range(3)}
    return {key: tf.constant(value) for key, value in {**given, "kind": KIND}.items()}


def _hook(tf: Any) -> Any:
    class Losses(tf.train.SessionRunHook):
        """Keeps what each step added to the predictions."""

        def __init__(self) -> None:
            self.kept: list[float] = []

        def before_run(self, run_context: Any) -> Any:
            graph = tf.get_default_graph()
            kind = "BoostedTreesTrainingPredict"
            (op,) = [op for op in graph.get_operations() if op.type == kind]
            return tf.train.SessionRunArgs(op.outputs[0])

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.kept.append(float(np.abs(run_values.results).sum()))

    return Losses()


def make(tf: Any, name: str, folder: str | None = None) -> Any:
    """The estimator of a run."""
    kind, arguments, _, _ = RUNS[name]
    estimator = getattr(tf.estimator, f"BoostedTrees{kind}")
    return estimator(columns(tf), 1, model_dir=folder or tempfile.mkdtemp(), **arguments)


def results(tf: Any, name: str, folder: str | None = None) -> dict[str, Any]:
    """What training added step by step, metrics, predictions and what columns gained."""
    _, _, labels, steps = RUNS[name]
    estimator, hook = make(tf, name, folder), _hook(tf)

    def input_fn() -> Any:
        return features(tf), tf.constant(labels)

    estimator.train(input_fn, steps=steps, hooks=[hook])
    metrics = estimator.evaluate(input_fn, steps=1)
    predicted = []
    for found in estimator.predict(input_fn, predict_keys=None):
        value = found["logits"] if "logits" in found else found["predictions"]
        predicted.append(float(np.ravel(value)[0]))
        if len(predicted) == 16:
            break
    gained = estimator.experimental_feature_importances()
    return {
        "added": hook.kept,
        "metrics": {key: float(value) for key, value in sorted(metrics.items())},
        "predicted": predicted,
        "variables": sorted(estimator.get_variable_names()),
        "gained": {key: float(value) for key, value in gained.items()},
    }


def explanations(tf: Any, folder: str) -> list[Any]:
    """The bias and the contributions of the first examples of the run that centers it."""
    found = make(tf, "centered", folder).experimental_predict_with_explanations(
        lambda: (features(tf), None)
    )
    return [
        [float(one["bias"]), {key: float(value) for key, value in one["dfc"].items()}]
        for _, one in zip(range(4), found)
    ]


if __name__ == "__main__":
    import tensorflow

    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    FOLDER = tempfile.mkdtemp()
    kept: dict[str, Any] = {
        name: results(tensorflow, name, FOLDER if name == "centered" else None) for name in RUNS
    }
    kept["explained"] = explanations(tensorflow, FOLDER)
    with open(sys.argv[1], "w") as file:
        file.write("{\n")
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in kept.items()]
        file.write(",\n".join(lines) + "\n}\n")
