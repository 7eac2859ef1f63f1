# SPDX-License-Identifier: Apache-2.0
"""The MNIST tutorial's graph and batches; a Python with TensorFlow 1.15 prints what they are there.

python tests/train/mnist_program.py > tests/train/mnist_1_15.json

The wheel lacks the model: PYTHONPATH has to name TensorFlow's examples/tutorials/mnist.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def graph(tf: Any, mnist: Any) -> list[str]:
    """The nodes of the model with its training and evaluation, a line each."""
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, [5, mnist.IMAGE_PIXELS])
        labels = tf.placeholder(tf.int32, [5])
        logits = mnist.inference(images, 16, 8)
        loss = mnist.loss(logits, labels)
        mnist.training(loss, 0.1)
        mnist.evaluation(logits, labels)
        nodes = graph.as_graph_def().node
    return [f"{node.name} {node.op} {list(node.input)} {sorted(node.attr)}" for node in nodes]


def batches(tf: Any, module: Any) -> dict[str, list[list[int]]]:
    """Labels in the order in which batches come, by how they were asked for."""
    found = {}
    for name, graph_seed, seed, shuffle in (
        *(("seed", None, 7, True), ("graph", 3, None, True)),
        *(("both", 3, 7, True), ("in order", None, 7, False)),
    ):
        with tf.Graph().as_default():
            tf.set_random_seed(graph_seed)
            images = np.zeros([12, 4, 3, 1], np.uint8)
            data = module.DataSet(images, np.arange(12), seed=seed)
            found[name] = [data.next_batch(5, shuffle=shuffle)[1].tolist() for _ in range(6)]
    return found


if __name__ == "__main__":
    import mnist as model
    import tensorflow
    from tensorflow.contrib.learn.python.learn.datasets import mnist as reader

    recorded = {"graph": graph(tensorflow, model), "batches": batches(tensorflow, reader)}
    print(json.dumps(recorded, indent=1))
