# SPDX-License-Identifier: Apache-2.0
"""Layers of tf.contrib.cudnn_rnn, whose graphs TensorFlow 1.15 builds without a GPU, too.

`python nets.py recorded.json` in an environment with TensorFlow 1.15 writes what it built.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

CASES = [
    f"{kind} {direction}"
    for kind in ("LSTM", "GRU", "RNNTanh", "RNNRelu")
    for direction in ("unidirectional", "bidirectional")
]


def built(tf: Any, case: str) -> dict[str, Any]:
    """The variables, the names in checkpoints, and a digest of all nodes."""
    kind, direction = case.split()
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(5)
        layer = getattr(tf.contrib.cudnn_rnn, "Cudnn" + kind)(
            2, 4, direction=direction, dropout=0.1
        )
        outputs, _ = layer(tf.placeholder(tf.float32, [None, 3, 5]), training=True)
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(outputs))
        tf.train.Saver()
        nodes = "\n".join(
            f"{op.name} {op.type} {[x.name for x in op.inputs]}" for op in graph.get_operations()
        )
        return {
            "variables": [v.name for v in tf.global_variables()],
            "names": [spec.name for spec in layer.saveable.specs],
            "nodes": hashlib.sha1(nodes.encode()).hexdigest(),
        }


def main() -> None:
    """Writes what the installed TensorFlow builds."""
    import tensorflow as tf

    with open(sys.argv[1], "w") as file:
        json.dump({case: built(tf, case) for case in CASES}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
