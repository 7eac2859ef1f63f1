# SPDX-License-Identifier: Apache-2.0
"""Optimizers of tf.contrib.optimizer_v2 at work, here and in TensorFlow 1.15.

`python programs.py recorded.json` in an environment with TensorFlow 1.15 writes what it made.
"""

from __future__ import annotations

import json
import sys
from typing import Any

OPTIMIZERS = {
    "sgd": lambda v2: v2.GradientDescentOptimizer(0.1),
    "momentum": lambda v2: v2.MomentumOptimizer(lambda: 0.05, 0.9, use_nesterov=True),
    "adam": lambda v2: v2.AdamOptimizer(0.1),
    "adadelta": lambda v2: v2.AdadeltaOptimizer(1.0, rho=0.9, epsilon=1e-4),
    "adagrad": lambda v2: v2.AdagradOptimizer(0.3),
    "rmsprop": lambda v2: v2.RMSPropOptimizer(0.05, momentum=0.5, epsilon=1.0),
    "rmsprop_centered": lambda v2: v2.RMSPropOptimizer(0.05, epsilon=1.0, centered=True),
}
CASES = [
    f"{name} {loss} {kind}"
    for name in OPTIMIZERS
    for loss in ("dense", "sparse")
    for kind in ("reference", "resource")
    # TensorFlow asks the optimizer, not the state, for this slot, and finds none.
    if (name, loss, kind) != ("rmsprop_centered", "sparse", "resource")
]


def run(tf: Any, case: str) -> dict[str, Any]:
    """The variables, how many nodes there are, and the variables' values after each step."""
    name, loss, kind = case.split()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        table = [[0.5, 1.0], [-1.0, 2.0], [3.0, -0.5]]
        rows = tf.Variable(table, name="table", use_resource=kind == "resource")
        indices = tf.placeholder_with_default([2, 0, 2], [3])
        seen = tf.gather(rows, indices) if loss == "sparse" else rows
        step = tf.train.get_or_create_global_step()
        optimizer = OPTIMIZERS[name](tf.contrib.optimizer_v2)
        train = optimizer.minimize(tf.reduce_sum(tf.square(seen)), global_step=step)
        nodes = [f"{op.name} {op.type}" for op in graph.get_operations()]
        session.run(tf.global_variables_initializer())
        reads, values = [v.value() for v in tf.global_variables()], []
        for _ in range(3):
            session.run(train)
            values.append([x.astype(float).round(6).tolist() for x in session.run(reads)])
        held = [v.name for v in tf.global_variables()]
        own = [v.name for v in optimizer.variables()]
    updates = [node for node in nodes if "Apply" in node or "Scatter" in node]
    return {"variables": held, "own": own, "updates": updates, "values": values}


def main() -> None:
    """Writes what the installed TensorFlow makes."""
    import tensorflow as tf

    lines = [f"{json.dumps(case)}: {json.dumps(run(tf, case))}" for case in CASES]
    with open(sys.argv[1], "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
