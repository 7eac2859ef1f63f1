# SPDX-License-Identifier: Apache-2.0
"""Layers of cudnn's nets: TensorFlow 1.15's graphs, and checkpoints that cells restore."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

from .nets import CASES, built

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())
cudnn_rnn = tf.contrib.cudnn_rnn

pytestmark = pytest.mark.pure


@pytest.mark.parametrize("case", CASES)
def test_graphs_are_those_of_tensorflow(case: str) -> None:
    assert built(tf, case) == RECORDED[case]


CELLS = {
    "LSTM": lambda: cudnn_rnn.CudnnCompatibleLSTMCell(4),
    "GRU": lambda: cudnn_rnn.CudnnCompatibleGRUCell(4),
    "RNNTanh": lambda: tf.nn.rnn_cell.BasicRNNCell(4),
}


def _unrolled(kind: str, both: bool, x: Any) -> Any:
    cells = [CELLS[kind]() for _ in range(2)]
    if not both:
        return tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), x, dtype=tf.float32)[0]
    back = [CELLS[kind]() for _ in range(2)]
    return tf.contrib.rnn.stack_bidirectional_dynamic_rnn(cells, back, x, dtype=tf.float32)[0]


@pytest.mark.programs
@pytest.mark.parametrize(
    ("kind", "both"), [("LSTM", False), ("LSTM", True), ("GRU", True), ("RNNTanh", False)]
)
def test_cells_restore_what_layers_save(kind: str, both: bool, tmp_path: Path) -> None:
    data = np.random.RandomState(1).randn(3, 2, 5).astype(np.float32)
    path = str(tmp_path / "net")
    with settings.override(jit="never"):
        with tf.Graph().as_default(), tf.Session() as session, tf.variable_scope("net"):
            direction = "bidirectional" if both else "unidirectional"
            layer = getattr(cudnn_rnn, "Cudnn" + kind)(
                2, 4, direction=direction, name="", bias_initializer=tf.random_normal_initializer()
            )
            outputs, _ = layer(tf.constant(data), training=False)
            session.run(tf.global_variables_initializer())
            wanted = session.run(outputs)
            saver = tf.train.Saver()
            saver.save(session, path, write_meta_graph=False)
            session.run(tf.assign(layer.kernel, tf.zeros_like(layer.kernel), validate_shape=False))
            assert not np.allclose(session.run(outputs), wanted)
            tf.train.Saver(tf.get_collection("saveable_objects")).restore(session, path)
            np.testing.assert_allclose(session.run(outputs), wanted, rtol=1e-5, atol=1e-6)
        names = {name for name, _ in tf.train.list_variables(path)}
        with tf.Graph().as_default(), tf.Session() as session:
            scope = next(n for n in names if n.endswith("opaque_kernel"))[: -len("opaque_kernel")]
            with tf.variable_scope(scope.rstrip("/")):
                outputs = _unrolled(kind, both, tf.transpose(tf.constant(data), [1, 0, 2]))
            assert {v.op.name for v in tf.global_variables()} <= names
            tf.train.Saver().restore(session, path)
            found = session.run(outputs).transpose(1, 0, 2)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.cpu
def test_a_step_of_training_is_compiled() -> None:
    with settings.override(jit="always"), tf.Graph().as_default(), tf.Session() as session:
        layer = cudnn_rnn.CudnnLSTM(1, 4, seed=1)
        outputs, _ = layer(tf.ones([3, 2, 5]))
        loss = tf.reduce_sum(tf.square(outputs - 0.5))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        kernels = session.explain(train).kernels
        assert kernels and all(kernel.kind != "host" for kernel in kernels)
        before = session.run(loss)
        for _ in range(5):
            session.run(train)
        assert session.run(loss) < before


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match="Invalid direction: up"):
        cudnn_rnn.CudnnLSTM(1, 4, direction="up")
    with pytest.raises(ValueError, match="Only support float16"):
        cudnn_rnn.CudnnGRU(1, 4, dtype=tf.int32)
    layer = cudnn_rnn.CudnnLSTM(1, 4)
    with pytest.raises(ValueError, match="'input_size' is unknown"):
        print(layer.input_size)
    with pytest.raises(TypeError, match="expecting tuple"):
        layer(tf.zeros([2, 3, 4]), initial_state=tf.zeros([1, 3, 4]))
