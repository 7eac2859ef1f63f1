# SPDX-License-Identifier: Apache-2.0
"""tf.contrib.quantize changes graphs into those that TensorFlow 1.15 makes of them.

recorded_1_15.json was made by ../recording.py of programs.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.train.contrib.quantize import graph_matcher as gm

from ..recording import results
from .programs import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("recorded_1_15.json").read_text())


@pytest.mark.cpu
@pytest.mark.parametrize("name", PROGRAMS)
def test_changed_graphs_are_those_of_tensorflow(name):
    with settings.override(jit="never"):
        found = results(tf, PROGRAMS[name])
    wanted = RECORDED[name]
    assert sorted(found["nodes"]) == sorted(wanted["nodes"])
    for ours, theirs in zip(found["values"], wanted["values"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=1e-2)


@pytest.mark.pure
def test_graphs_with_optimizers_are_refused():
    with tf.Graph().as_default():
        loss = tf.square(tf.Variable(1.0))
        tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with pytest.raises(ValueError, match="Training op found in graph"):
            tf.contrib.quantize.create_training_graph()


@pytest.mark.pure
def test_patterns_find_inputs_in_any_order():
    with tf.Graph().as_default() as graph:
        x, y = tf.constant(1.0), tf.constant(2.0)
        total = tf.add(tf.negative(x), tf.square(y))
    first, second = gm.OpTypePattern("Square", name="root"), gm.OpTypePattern("Neg")
    either = gm.OpTypePattern("Add|AddV2", inputs=[first, second], ordered_inputs=False)
    (result,) = gm.GraphMatcher(either).match_graph(graph)
    assert result.get_op(either) is total.op
    assert result.get_tensor("root") is total.op.inputs[1]
    ordered = gm.OpTypePattern("Add|AddV2", inputs=[first, second])
    assert not list(gm.GraphMatcher(ordered).match_graph(graph))
