# SPDX-License-Identifier: Apache-2.0
"""Recurrent estimators, regressions and decoders of tf.contrib.learn, and runs of a graph.

TensorFlow 1.15.5 wrote rnn_1_15.json: `python rnn_program.py rnn_1_15.json` where it is.
"""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

import numpy as np

RNG = np.random.RandomState(0)
STEPS = RNG.rand(6, 5, 1).astype(np.float32)
LENGTHS = np.array([5, 3, 4, 5, 2, 1], np.int32)
CONTEXT = RNG.rand(6, 2).astype(np.float32)


def results(tf: Any, module: Any) -> dict[str, Any]:
    """Variables' sums, metrics and values, by what was run; `module` finds modules by name."""
    found = {}
    for name, estimator, input_fn in estimators(tf, module):
        estimator.fit(input_fn=input_fn, steps=4)
        metrics = estimator.evaluate(input_fn=input_fn, steps=1)
        names = estimator.get_variable_names()
        found[name] = {n: float(np.sum(estimator.get_variable_value(n))) for n in names}
        found[name].update((f"metric {key}", float(value)) for key, value in metrics.items())
    found["models"] = models(tf)
    found["runs"] = runs(tf, module)
    return found


def estimators(tf: Any, module: Any) -> Any:
    """(name, estimator, input function), one by one."""
    learn, layers = tf.contrib.learn, tf.contrib.layers
    estimators = "tensorflow.contrib.learn.python.learn.estimators"
    saving = module(f"{estimators}.state_saving_rnn_estimator").StateSavingRnnEstimator

    def batch() -> Any:
        features = {
            "x": tf.constant(STEPS),
            "c": tf.constant(CONTEXT),
            "sequence_length": tf.constant(LENGTHS),
        }
        return features, tf.constant((STEPS[:, 0, 0] > 0.5).astype(np.int64))

    def one_sequence() -> Any:
        return {"x": tf.constant(STEPS[0])}, tf.constant(STEPS[0, :, 0] * 2)

    def numbers() -> Any:
        features, _ = batch()
        return features, tf.constant(STEPS[:, :, 0] * 2)

    def config() -> Any:
        return learn.RunConfig(tf_random_seed=1)

    x, c = layers.real_valued_column("x"), layers.real_valued_column("c", dimension=2)
    yield (
        "classes of sequences",
        learn.DynamicRnnEstimator(
            *(1, 1, [x], [c]),
            num_classes=3,
            num_units=4,
            cell_type="lstm",
            optimizer="Momentum",
            momentum=0.9,
            predict_probabilities=True,
            config=config(),
        ),
        batch,
    )
    yield (
        "numbers at steps",
        learn.DynamicRnnEstimator(2, 2, [x], num_units=[3, 2], cell_type="gru", config=config()),
        numbers,
    )
    yield (
        "segments",
        saving(2, 3, 1, [x], num_units=2, config=config(), num_threads=1, seed=3),
        one_sequence,
    )


def models(tf: Any) -> list[Any]:
    """Regressions, a recurrent net, and decoders."""
    learn = tf.contrib.learn
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        x = tf.constant(CONTEXT)
        classes = tf.one_hot([0, 1, 1, 0, 1, 0], 2)
        tensors = [
            *learn.models.linear_regression(x, tf.constant(CONTEXT[:, 0])),
            *learn.models.logistic_regression(x, classes, init_mean=0.0, init_stddev=0.5),
            learn.ops.categorical_variable(tf.constant([[1, 2], [0, 3]]), 4, 2, "kinds"),
        ]
        net = learn.models.get_rnn_model(
            *(3, "gru", 2, lambda given: tf.unstack(given, axis=1), True),
            *(learn.models.linear_regression_zero_init, None, None),
            *(None, None, None),
        )
        with tf.variable_scope("net"):
            tensors += net(tf.constant(STEPS), tf.constant(CONTEXT[:, 0]))
        cell = tf.nn.rnn_cell.BasicRNNCell(2)
        steps_x, steps_in, steps_out = learn.ops.seq2seq_inputs(
            tf.constant(np.repeat(STEPS, 2, 2)), tf.constant(np.repeat(STEPS, 2, 2)), 5, 5
        )
        decoded, _, sampled, _ = learn.ops.rnn_seq2seq(steps_x, steps_in, cell)
        tensors += learn.ops.sequence_classifier(decoded, steps_out, sampled)
        session.run(tf.global_variables_initializer())
        return [np.asarray(value).tolist() for value in session.run(tensors)]


def runs(tf: Any, module: Any) -> list[Any]:
    """A graph that is trained, and evaluated from its checkpoint."""
    learn = tf.contrib.learn
    folder = tempfile.mkdtemp()
    del module
    with tf.Graph().as_default() as graph:
        step = tf.train.create_global_step()
        w = tf.Variable(3.0, name="w")
        loss = tf.square(w - 1.0)
        train_op = tf.train.GradientDescentOptimizer(0.25).minimize(loss, step)
        last = learn.train(graph, folder, train_op, loss, steps=3)
    with tf.Graph().as_default() as graph:
        tf.train.create_global_step()
        w = tf.Variable(3.0, name="w")
        values, at = learn.evaluate(graph, folder, folder, {"w": w + 1.0}, max_steps=2)
    return [float(last), float(values["w"]), int(at)]


if __name__ == "__main__":
    import importlib

    import tensorflow

    with open(sys.argv[1], "w") as file:
        recorded = results(tensorflow, importlib.import_module)
        json.dump(recorded, file, indent=1, sort_keys=True)
