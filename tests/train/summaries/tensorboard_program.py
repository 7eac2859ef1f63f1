# SPDX-License-Identifier: Apache-2.0
"""A program as for TensorFlow 1.x that writes what TensorBoard's plugins show.

python -m numbaflow run tests/train/summaries/tensorboard_program.py FOLDER
"""

from __future__ import annotations

import os
import sys

import numpy as np
import tensorflow as tf  # type: ignore[import-not-found]
from tensorboard import summary as board  # type: ignore[import-not-found]
from tensorboard.plugins.custom_scalar import layout_pb2  # type: ignore[import-not-found]
from tensorboard.plugins.hparams import summary_v2 as hp  # type: ignore[import-not-found]
from tensorboard.plugins.mesh import summary as mesh  # type: ignore[import-not-found]

STEPS = 3


def add_plugin_summaries(labels: tf.Tensor, predictions: tf.Tensor) -> None:
    """Calls functions of TensorBoard's own, which make nodes of this graph."""
    chart = layout_pb2.Chart(
        title="both", multiline=layout_pb2.MultilineChartContent(tag=["loss", "own/scalar_summary"])
    )
    layout = layout_pb2.Layout(category=[layout_pb2.Category(title="curves", chart=[chart])])
    corners = tf.constant([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    board.v1.scalar("own", tf.reduce_mean(predictions), description="their mean")
    board.v1.histogram("own_histogram", predictions, bucket_count=4)
    board.v1.text("own_text", tf.constant("*text*"))
    board.v1.pr_curve("curve", labels, predictions, num_thresholds=5)
    board.v1.custom_scalar(layout)
    mesh.op("triangle", corners, faces=tf.constant([[[0, 1, 2]]]))


def main(folder: str) -> None:
    """Writes a run called "train"."""
    step = tf.placeholder(tf.float32, [], name="step")
    with tf.name_scope("layer"):
        weights = tf.Variable(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), name="weights")
        with tf.name_scope("inner"):
            product = tf.matmul(weights, weights, name="product")
    tf.summary.scalar("loss", 1.0 / (1.0 + step))
    tf.summary.histogram("weights", product * step)
    picture = tf.constant(np.arange(48, dtype=np.uint8).reshape(1, 4, 4, 3))
    tf.summary.image("picture", picture, max_outputs=1)
    tf.summary.audio("sound", np.array([[0.0, 0.5, -0.5, 0.0]], np.float32), 8000, max_outputs=1)
    tf.summary.text("note", tf.constant(["a", "b"]))
    add_plugin_summaries(tf.constant([True, False, True]), tf.constant([0.9, 0.1, 0.4]))
    merged = tf.summary.merge_all()

    run = os.path.join(folder, "train")
    with tf.Session() as sess, tf.summary.FileWriter(run, sess.graph) as writer:
        sess.run(tf.global_variables_initializer())
        metadata, options = tf.RunMetadata(), tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        for number in range(STEPS):
            text = sess.run(
                merged,
                {step: number},
                options=options if not number else None,
                run_metadata=metadata if not number else None,
            )
            writer.add_summary(text, number)
        writer.add_run_metadata(metadata, "first step", 0)
        rate = hp.HParam("rate", hp.RealInterval(0.1, 1.0))
        writer.add_summary(hp.hparams_config_pb([rate], [hp.Metric("loss")]))
        writer.add_summary(hp.hparams_pb({rate: 0.5}, trial_id="a"))
        projector = tf.contrib.tensorboard.plugins.projector
        config = projector.ProjectorConfig()
        config.embeddings.add(
            tensor_name="words", tensor_path="words.tsv", metadata_path="labels.tsv"
        )
        projector.visualize_embeddings(writer, config)
    with open(os.path.join(run, "words.tsv"), "w") as file:
        file.write("1\t2\n3\t4\n")
    with open(os.path.join(run, "labels.tsv"), "w") as file:
        file.write("one\ntwo\n")


if __name__ == "__main__":
    main(sys.argv[1])
