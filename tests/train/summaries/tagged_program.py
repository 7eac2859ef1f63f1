# SPDX-License-Identifier: Apache-2.0
"""A graph of tf.compat.v2.summary; run by a Python with TensorFlow 1.15 it prints the nodes.

python tests/train/summaries/tagged_program.py > tests/train/summaries/tagged_1_15.txt
"""

from __future__ import annotations

from typing import Any


def build(tf: Any) -> None:
    """Adds the graph's nodes."""
    summary = tf.compat.v2.summary
    numbers = tf.placeholder(tf.float32, [None, 3], name="numbers")
    with summary.create_file_writer("/tmp/own", name="own").as_default():
        with tf.name_scope("scope"):
            summary.scalar("a b", 2, step=3, description="What *it* says")
        summary.experimental.set_step(tf.constant(4, tf.int64, name="step"))
        with summary.record_if(tf.placeholder(tf.bool, name="condition")):
            summary.scalar("b", tf.reduce_mean(numbers))
            summary.histogram("histogram", numbers)
            summary.histogram("four", [1, 2], buckets=4)
        summary.text("text", ["x", "y"])
        summary.image("image", tf.placeholder(tf.float32, [None, 2, None, 3], name="pictures"))
        summary.audio("audio", tf.placeholder(tf.float32, [2, None, 1], name="sounds"), 8000)
        summary.experimental.set_step(None)
    summary.scalar("nowhere", 1.0)


if __name__ == "__main__":
    import recording_program
    import tensorflow

    build(tensorflow)
    print("\n".join(recording_program.lines(tensorflow)))
