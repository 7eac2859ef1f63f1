# SPDX-License-Identifier: Apache-2.0
"""Functions with loops and branches in SavedModels: nodes that call functions, with gradients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.saved_model.reading import parse_saved_model

from ...workers import answer, loaded, peers

WORKER = Path(__file__).with_name("loop_models.py")


models = loaded(WORKER)


@pytest.fixture(autouse=True)
def _session() -> Iterator[None]:
    with tf.Graph().as_default(), tf.Session():
        yield


def run_peer(peer: str, action: str, folder: Path) -> str:
    """What the worker prints under TensorFlow."""
    return answer(peer, WORKER, action, "tensorflow", folder)


@pytest.mark.cpu
def test_loops_come_back_with_their_gradients(tmp_path: Path) -> None:
    models.write(tf, str(tmp_path))
    graph = parse_saved_model(str(tmp_path / "loops")).meta_graphs[0].graph_def
    types = {node.op for f in graph.library.function for node in f.node_def}
    assert {"While", "If"} <= types
    assert not types & {"Switch", "Merge", "Enter", "Exit", "NextIteration", "TensorArrayV3"}
    with tf.Graph().as_default(), tf.Session():
        assert not models.read(tf, str(tmp_path))


@pytest.mark.cpu
def test_loops_with_breaks_have_gradients_as_built_and_as_loaded(tmp_path: Path) -> None:
    loops = models.module_of(tf)
    session = tf.get_default_session()
    session.run(tf.global_variables_initializer())
    tf.saved_model.save(loops, str(tmp_path / "loops"))
    loaded = tf.saved_model.load_v2(str(tmp_path / "loops"))
    x = tf.constant(models.X)
    slopes = [tf.gradients(each.searched(x), [x, each.w]) for each in (loops, loaded)]
    session.run(loaded.w.initializer)
    built, restored = session.run(slopes)
    # Five turns, of which each adds the variable's sum as many times as its number says.
    expected = np.tile(models.X.sum(0)[:, None] + 15.0, 3)
    assert np.allclose(built[1], expected, rtol=1e-6)
    for one, other in zip(built, restored, strict=True):
        assert np.allclose(one, other, rtol=1e-6)


@pytest.mark.cpu
def test_recurrent_models_are_trained_after_loading(tmp_path: Path) -> None:
    x = np.linspace(-1.0, 1.0, 24).reshape(2, 4, 3).astype(np.float32)
    layers = [tf.keras.layers.GRU(2, input_shape=(4, 3)), tf.keras.layers.Dense(1)]
    model = tf.keras.Sequential(layers)
    model.compile("sgd", "mse")
    expected = model.predict(x)
    model.save(str(tmp_path / "model"), save_format="tf")
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load_v2(str(tmp_path / "model"))
        y = loaded(tf.constant(x), training=True)
        loss = tf.reduce_sum(y * y)
        variables = loaded.trainable_variables
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=variables)
        session.run(tf.global_variables_initializer())
        assert np.allclose(session.run(y), expected, atol=1e-5)
        before = session.run(loss)
        for _ in range(5):
            session.run(step)
        assert session.run(loss) < before


@pytest.mark.tf
@peers
def test_tensorflow_reads_what_is_written_here(peer: str, tmp_path: Path) -> None:
    models.write(tf, str(tmp_path))
    assert not run_peer(peer, "read", tmp_path).strip()


@pytest.mark.tf
@peers
def test_what_tensorflow_writes_is_read_here(peer: str, tmp_path: Path) -> None:
    run_peer(peer, "write", tmp_path)
    assert not models.read(tf, str(tmp_path))
