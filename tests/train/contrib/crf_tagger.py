# SPDX-License-Identifier: Apache-2.0
"""A tagger with a conditional random field, trained on sequences drawn by number.

Runs with this package and with TensorFlow 1.15, whose losses and tags `crf_1_15.json` keeps:
`python crf_tagger.py crf_1_15.json` in an environment with it writes them again.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

WORDS, TAGS, UNITS, BATCH, TIME = 20, 5, 8, 6, 7


def batch(number: int) -> tuple[np.ndarray, ...]:
    """Words, the tags that follow from them and the words before, and lengths."""
    random = np.random.RandomState(number)
    words = random.randint(0, WORDS, [BATCH, TIME]).astype(np.int32)
    tags = np.zeros_like(words)
    for t in range(TIME):
        tags[:, t] = (words[:, t] + (tags[:, t - 1] if t else 0)) % TAGS
    return words, tags, random.randint(2, TIME + 1, BATCH).astype(np.int32)


def results(tf: Any, steps: int) -> dict[str, Any]:
    """Losses step by step, and the tags that are found then."""
    with tf.Graph().as_default(), tf.Session() as session:
        words, tags = (tf.placeholder(tf.int32, [BATCH, None]) for _ in range(2))
        lengths = tf.placeholder(tf.int32, [BATCH])
        table = tf.get_variable("table", [WORDS, UNITS])
        cells = [tf.contrib.rnn.LSTMBlockCell(UNITS) for _ in range(2)]
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(
            *cells, tf.nn.embedding_lookup(table, words), lengths, dtype=tf.float32
        )
        scores = tf.layers.dense(tf.concat(outputs, 2), TAGS)
        likelihood, transitions = tf.contrib.crf.crf_log_likelihood(scores, tags, lengths)
        loss = tf.reduce_mean(-likelihood)
        train = tf.train.AdamOptimizer(0.02).minimize(loss)
        found, best = tf.contrib.crf.crf_decode(scores, transitions, lengths)
        session.run(tf.global_variables_initializer())
        for number, variable in enumerate(tf.trainable_variables()):
            drawn = np.random.RandomState(number).uniform(-0.3, 0.3, variable.shape.as_list())
            variable.load(np.asarray(drawn, np.float32), session)
        losses = []
        for step in range(steps):
            feed = dict(zip((words, tags, lengths), batch(step % 4)))
            losses.append(float(session.run([loss, train], feed)[0]))
        tags_found, score = session.run([found, best], feed)
        return {"losses": losses, "tags": tags_found.tolist(), "scores": score.tolist()}


if __name__ == "__main__":
    import tensorflow

    with open(sys.argv[1], "w") as file:
        json.dump(results(tensorflow, 50), file)
        file.write("\n")
