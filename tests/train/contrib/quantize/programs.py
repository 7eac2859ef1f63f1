# SPDX-License-Identifier: Apache-2.0
"""Nets that tf.contrib.quantize changes; see ../recording.py."""

from __future__ import annotations

from typing import Any

import numpy as np

_IMAGES = np.random.RandomState(0).uniform(0, 1, [2, 6, 6, 3]).astype(np.float32)


def _net(tf: Any, is_training: bool, fused: bool, bypass: bool = False) -> Any:
    layers = tf.contrib.layers
    norm = {"is_training": is_training, "decay": 0.9, "fused": fused, "scale": True}
    kernel = tf.constant_initializer(0.1)
    options = {"normalizer_params": norm, "weights_initializer": kernel, "activation_fn": None}
    norms = {"normalizer_fn": layers.batch_norm, **options}
    x = tf.constant(_IMAGES)
    net = tf.nn.relu6(layers.conv2d(x, 4, [3, 3], scope="conv", **norms), name="conv/Relu6")
    if bypass:
        more = layers.conv2d(net, 4, [1, 1], scope="more", **norms)
        net = tf.nn.relu(net + more, name="sum/Relu")
    if fused:
        net = layers.separable_conv2d(net, None, [3, 3], 1, scope="deep", **norms)
        net = tf.nn.relu6(net, name="deep/Relu6")
    net = layers.flatten(net)
    return layers.fully_connected(
        net, 3, activation_fn=None, weights_initializer=kernel, scope="logits"
    )


def _changed(
    change: str, is_training: bool, fused: bool = True, bypass: bool = False, **options: Any
) -> Any:
    def program(tf: Any) -> list[Any]:
        logits = _net(tf, is_training, fused, bypass)
        getattr(tf.contrib.quantize, change)(**options)
        loss = tf.reduce_sum(tf.square(logits))
        return [logits, *tf.gradients(loss, tf.trainable_variables()[:1])]

    return program


PROGRAMS = {
    "delayed": _changed("create_training_graph", True, quant_delay=5),
    "evaluated": _changed("create_eval_graph", False),
    "frozen": _changed("experimental_create_training_graph", True, freeze_bn_delay=3),
    "symmetric": _changed(
        "experimental_create_training_graph", True, bypass=True, symmetric=True, weight_bits=4
    ),
    "trained": _changed("create_training_graph", True),
    "unfused": _changed("create_training_graph", True, fused=False),
}
