# SPDX-License-Identifier: Apache-2.0
"""A process that gets as far as the first compiled step of the digits network.

`python start.py STARTED` prints the seconds since STARTED (a time.time() from before the process)
and how many kernels were compiled; NUMBAFLOW_CACHE names the cache to use.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parent.parent / "examples" / "digits_cnn.py"


def kernels_compiled() -> int:
    """How many kernels this process has compiled rather than loaded."""
    from numbaflow.jit.compile import STATS

    return STATS.compiles


def digits_network() -> Any:
    """The example's module, which builds its graph with `import tensorflow`."""
    from numbaflow.alias import install

    install()
    spec = importlib.util.spec_from_file_location("digits_cnn", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Builds the graph, takes two steps (the second is compiled) and reports."""
    import numpy as np

    import numbaflow as tf

    example = digits_network()
    images = tf.placeholder(tf.float32, [None, 8, 8])
    labels = tf.placeholder(tf.int64, [None])
    logits = example.network(images, 0.6)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feed = {images: np.ones((64, 8, 8), np.float32), labels: np.zeros(64, np.int64)}
        for _ in range(2):
            session.run([train, loss], feed)
    seconds = time.time() - float(sys.argv[1])
    print(json.dumps({"seconds": seconds, "compiled": kernels_compiled()}))


if __name__ == "__main__":
    main()
