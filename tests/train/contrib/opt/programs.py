# SPDX-License-Identifier: Apache-2.0
"""Optimizers of tf.contrib.opt at work, here and in TensorFlow 1.15.

`python programs.py recorded.json` in an environment with TensorFlow 1.15 writes what it made.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

STEPS = 4


def _decayed(tf: Any) -> Any:
    kind = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
    return kind(0.02, learning_rate=0.1)


def _sign_decay(tf: Any) -> Any:
    if tf.__name__ == "numbaflow":
        from numbaflow.train.contrib.opt import sign_decay
    else:
        from tensorflow.contrib.opt.python.training import sign_decay
    return sign_decay


def _shampoo(tf: Any, **options: Any) -> Any:
    step = tf.train.get_or_create_global_step()
    return tf.contrib.opt.ShampooOptimizer(step, learning_rate=0.1, **options)


def _clipped(tf: Any) -> Any:
    rows = tf.trainable_variables()[0]
    sgd = tf.train.GradientDescentOptimizer(0.1)
    return tf.contrib.opt.VariableClippingOptimizer(sgd, {rows: [1]}, 1.0)


def _averaged(tf: Any) -> Any:
    sgd = tf.train.GradientDescentOptimizer(0.1)
    return tf.contrib.opt.MovingAverageOptimizer(sgd, average_decay=0.5)


def _multitask(tf: Any) -> Any:
    return tf.contrib.opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.1, 0.9))


def _fresh(tf: Any) -> Any:
    sgd = tf.train.GradientDescentOptimizer(0.1)
    return tf.contrib.opt.DropStaleGradientOptimizer(sgd, 0)


def _global(tf: Any, name: str) -> Any:
    return getattr(tf.contrib.opt, name)(tf.train.get_or_create_global_step(), 0.1)


OPTIMIZERS = {
    "lazy_adam": lambda tf: tf.contrib.opt.LazyAdamOptimizer(0.1),
    "adam_gs": lambda tf: _global(tf, "AdamGSOptimizer"),
    "lazy_adam_gs": lambda tf: _global(tf, "LazyAdamGSOptimizer"),
    "nadam": lambda tf: tf.contrib.opt.NadamOptimizer(0.1),
    "adamax": lambda tf: tf.contrib.opt.AdaMaxOptimizer(0.1),
    "adamw": lambda tf: tf.contrib.opt.AdamWOptimizer(0.02, 0.1),
    "momentumw": lambda tf: tf.contrib.opt.MomentumWOptimizer(0.02, 0.1, 0.9),
    "decayed": _decayed,
    "lars": lambda tf: tf.contrib.opt.LARSOptimizer(0.5, eeta=0.1),
    "reg_adagrad": lambda tf: tf.contrib.opt.RegAdagradOptimizer(0.3),
    "add_sign": lambda tf: tf.contrib.opt.AddSignOptimizer(0.1),
    "add_sign_linear": lambda tf: tf.contrib.opt.AddSignOptimizer(
        0.1, sign_decay_fn=_sign_decay(tf).get_linear_decay_fn(6)
    ),
    "power_sign": lambda tf: tf.contrib.opt.PowerSignOptimizer(0.1),
    "power_sign_cosine": lambda tf: tf.contrib.opt.PowerSignOptimizer(
        0.1, sign_decay_fn=_sign_decay(tf).get_cosine_decay_fn(6, num_periods=2, zero_after=1)
    ),
    "shampoo": _shampoo,
    "shampoo_averaged": lambda tf: _shampoo(tf, gbar_decay=0.9, gbar_weight=0.1, svd_interval=2),
    "shampoo_long": lambda tf: _shampoo(tf, max_matrix_size=3),
    "ggt": lambda tf: tf.contrib.opt.GGTOptimizer(0.1, window=3),
    "clipped": _clipped,
    "averaged": _averaged,
    "multitask": _multitask,
    "fresh": _fresh,
}
DECAYING = ("adamw", "momentumw", "decayed")
# TensorFlow has no update of rows of resource variables by signs.
CASES = [
    f"{name} {loss} {kind}"
    for name in OPTIMIZERS
    for loss in ("dense", "sparse")
    for kind in ("reference", "resource")
    if (loss, kind) != ("sparse", "resource") or "sign" not in name
    if not (kind == "resource" and name.startswith("shampoo"))
    if name != "ggt" or loss == "dense"
]


def _loss(tf: Any, kind: str, resource: bool) -> Any:
    table = [[0.5, 1.0], [-1.0, 2.0], [3.0, -0.5], [0.25, 0.75]]
    rows = tf.Variable(table, name="table", use_resource=resource)
    if kind == "sparse":
        # TensorFlow would find the shapes of what follows from a constant.
        indices = tf.placeholder_with_default([2, 0, 2], [3], name="indices")
        return tf.reduce_sum(tf.square(tf.gather(rows, indices, name="picked")), name="loss")
    bias = tf.Variable([0.25, -0.75], name="b", use_resource=resource)
    return tf.reduce_mean(tf.square(tf.matmul(tf.ones([3, 4]), rows) + bias), name="loss")


def run(tf: Any, case: str) -> dict[str, Any]:
    """A digest of the nodes, the variables, and their values after each step."""
    name, loss, kind = case.split()
    with tf.Graph().as_default() as graph:
        value = _loss(tf, loss, kind == "resource")
        step = tf.train.get_or_create_global_step()
        train = OPTIMIZERS[name](tf).minimize(value, global_step=step)
        nodes = "\n".join(
            f"{op.name} {op.type} {[x.name for x in op.inputs]}" for op in graph.get_operations()
        )
        held = tf.global_variables()
        reads = [v.value() for v in held]
        values = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(STEPS):
                session.run(train)
                values.append([x.astype(float).round(7).tolist() for x in session.run(reads)])
    digest = hashlib.sha1(nodes.encode()).hexdigest()
    return {"nodes": digest, "variables": [v.name for v in held], "values": values}


def main() -> None:
    """Writes what the installed TensorFlow makes."""
    import tensorflow as tf

    lines = [f"{json.dumps(case)}: {json.dumps(run(tf, case))}" for case in CASES]
    with open(sys.argv[1], "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
