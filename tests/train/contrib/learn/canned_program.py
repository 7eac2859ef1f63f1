# SPDX-License-Identifier: Apache-2.0
"""Ready-made estimators of tf.contrib.learn, trained for some steps.

TensorFlow 1.15.5 wrote canned_1_15.json: `python canned_program.py canned_1_15.json` where it is.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

RNG = np.random.RandomState(0)
X = RNG.rand(40, 3).astype(np.float32)
TWO = (X.sum(1) > 1.5).astype(np.int64)
THREE = (3 * X[:, 0]).astype(np.int64)
KINDS = np.array(["u", "v", "w", "u"] * 10)


def results(tf: Any) -> dict[str, Any]:
    """The sums of variables, and the metrics, by estimator."""
    learn, layers = tf.contrib.learn, tf.contrib.layers

    def input_fn() -> Any:
        places = np.stack([np.arange(40), np.zeros(40)], 1).astype(np.int64)
        kinds = tf.SparseTensor(places, KINDS, [40, 1])
        features = {"a": tf.constant(X[:, :1]), "k": kinds, "w": tf.constant(X[:, 1])}
        return features, tf.constant(TWO[:, None])

    def config() -> Any:
        return learn.RunConfig(tf_random_seed=1)

    every = [layers.real_valued_column("", dimension=3)]
    number = layers.real_valued_column("a")
    kind = layers.sparse_column_with_keys("k", ["u", "v", "w"])
    near = layers.embedding_column(kind, 2, initializer=tf.constant_initializer(0.1))
    made: dict[str, tuple[Any, dict[str, Any]]] = {
        "dense layers": (
            learn.DNNClassifier([4], every, n_classes=3, gradient_clip_norm=1.0, config=config()),
            {"x": X, "y": THREE},
        ),
        "linear, with a centered bias": (
            learn.LinearRegressor(every, config=config(), enable_centered_bias=True),
            {"x": X, "y": X[:, 0]},
        ),
        "linear, with weights": (
            learn.LinearClassifier([number, kind], config=config(), weight_column_name="w"),
            {"input_fn": input_fn},
        ),
        "wide and deep": (
            learn.DNNLinearCombinedClassifier(
                linear_feature_columns=[kind],
                dnn_feature_columns=[number, near],
                dnn_hidden_units=[3],
                config=config(),
                fix_global_step_increment_bug=True,
            ),
            {"input_fn": input_fn},
        ),
        "core columns": (
            learn.DNNClassifier([2], [tf.feature_column.numeric_column("a")], config=config()),
            {"input_fn": input_fn},
        ),
    }
    found = {}
    for name, (estimator, given) in made.items():
        estimator.fit(steps=5, **given)
        metrics = estimator.evaluate(steps=1, **given)
        names = estimator.get_variable_names()
        found[name] = {
            "variables": {n: float(np.sum(estimator.get_variable_value(n))) for n in names},
            "metrics": {key: float(value) for key, value in metrics.items()},
        }
    return found


if __name__ == "__main__":
    import tensorflow

    with open(sys.argv[1], "w") as file:
        json.dump(results(tensorflow), file, indent=1, sort_keys=True)
