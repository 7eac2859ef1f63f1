# SPDX-License-Identifier: Apache-2.0
"""A classifier of sequences with layers of each kind, from weights that are set by number.

Runs with this package and with TensorFlow 1.15, whose numbers `rnn_1_15.json` keeps:
`python rnn_program.py rnn_1_15.json` in an environment with it writes them again.
"""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

import numpy as np

COUNT, WORDS, LONGEST = 24, 5, 5
KINDS = ("basic_rnn", "lstm", "gru")
_RANDOM = np.random.RandomState(0)
SEQUENCES = [_RANDOM.randint(0, WORDS, _RANDOM.randint(1, LONGEST + 1)) for _ in range(COUNT)]
CONTEXT = _RANDOM.randn(COUNT).astype(np.float32)
LABELS = np.array([int(words.sum() > 6) for words in SEQUENCES])


def inputs(tf: Any) -> Any:
    """All sequences, with a number besides, and labels."""
    places = [[i, j] for i, words in enumerate(SEQUENCES) for j in range(len(words))]
    words = tf.SparseTensor(
        np.array(places, np.int64), np.concatenate(SEQUENCES).astype(np.int64), [COUNT, LONGEST]
    )
    return {"words": words, "context": tf.constant(CONTEXT)}, tf.constant(LABELS)


def _hook(tf: Any) -> Any:
    class Losses(tf.train.SessionRunHook):
        """Sets weights, and keeps losses."""

        def __init__(self) -> None:
            self.kept: list[float] = []

        def after_create_session(self, session: Any, coord: object) -> None:
            for number, variable in enumerate(tf.trainable_variables()):
                drawn = np.random.RandomState(number).uniform(-0.5, 0.5, variable.shape.as_list())
                variable.load(drawn.astype(np.float32), session)

        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs(tf.get_collection(tf.GraphKeys.LOSSES)[0])

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.kept.append(float(run_values.results))

    return Losses()


def results(tf: Any, kind: str) -> dict[str, Any]:
    """Losses of 50 steps, the names of variables and some metrics."""
    fc = tf.feature_column
    words = tf.contrib.feature_column.sequence_categorical_column_with_identity("words", WORDS)
    estimator = tf.contrib.estimator.RNNClassifier(
        [fc.embedding_column(words, 3)],
        [fc.numeric_column("context")],
        num_units=[6, 4],
        cell_type=kind,
        model_dir=tempfile.mkdtemp(),
    )
    hook = _hook(tf)
    estimator.train(lambda: inputs(tf), steps=50, hooks=[hook])
    metrics = estimator.evaluate(lambda: inputs(tf), steps=1)
    return {
        "losses": hook.kept,
        "variables": sorted(estimator.get_variable_names()),
        "metrics": {key: float(metrics[key]) for key in ("accuracy", "auc", "loss")},
    }


if __name__ == "__main__":
    import tensorflow

    kept = {kind: results(tensorflow, kind) for kind in KINDS}
    with open(sys.argv[1], "w") as file:
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in kept.items()]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
