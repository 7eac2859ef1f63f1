# SPDX-License-Identifier: Apache-2.0
"""A net of many layers, held against what TensorFlow 1.15.5 made of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf

from . import programs

pytestmark = pytest.mark.cpu
RECORDED = json.loads((Path(__file__).parent / "tensorflow_1_15.json").read_text())


@pytest.mark.parametrize("is_delayed", [True, False])
def test_nodes_collections_and_losses_are_as_recorded(is_delayed: bool) -> None:
    with tf.Graph().as_default():
        found = programs.facts(tf, is_delayed)
    recorded = RECORDED[0 if is_delayed else 1]
    assert found["collections"] == recorded["collections"]
    assert found["aliases"] == recorded["aliases"]
    nodes = hashlib.sha256("\n".join(found["nodes"]).encode()).hexdigest()
    assert nodes == recorded["nodes"]
    assert np.allclose(found["losses"], recorded["losses"], rtol=1e-3)


def test_a_net_whose_training_is_fed_has_no_host_step() -> None:
    with tf.Graph().as_default():
        x, training = tf.placeholder(tf.float32, [None, 8, 8, 3]), tf.placeholder(tf.bool, [])
        y = tf.contrib.layers.conv2d(
            x,
            4,
            [3, 3],
            normalizer_fn=tf.contrib.layers.batch_norm,
            normalizer_params={"is_training": training},
        )
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            report = session.explain(y, {x: np.ones((2, 8, 8, 3)), training: True})
    assert not [kernel for kernel in report.kernels if kernel.kind == "host"]
