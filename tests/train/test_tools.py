# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's tools as command lines: on files made here, beside TensorFlow's own tools."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.io.strip_unused import read_message
from numbaflow.train import tools

TENSORFLOW = os.environ.get("NUMBAFLOW_TF_PYTHON", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model with batch normalization: its graph as text, a checkpoint and a SavedModel."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 5, 5, 2], "x")
        w = tf.get_variable(
            "w", initializer=np.linspace(-1, 1, 54, dtype=np.float32).reshape(3, 3, 2, 3)
        )
        scale, offset = tf.get_variable("scale", [3]), tf.get_variable("offset", [3])
        mean, variance = tf.constant([0.1, 0.2, 0.3]), tf.constant([1.0, 2.0, 3.0])
        c = tf.nn.conv2d(x, w, 1, "SAME")
        n = tf.nn.fused_batch_norm(c, scale, offset, mean, variance, is_training=False)[0]
        y = tf.nn.relu(tf.identity(n), name="y")
        tf.reduce_sum(y, name="unused")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model"), global_step=7)
        tf.train.write_graph(graph, str(tmp_path), "graph.pbtxt")
        tf.saved_model.simple_save(session, str(tmp_path / "served"), {"x": x}, {"y": y})
        value = session.run(y, {x: np.ones([1, 5, 5, 2])})
    np.save(tmp_path / "y.npy", value)
    return tmp_path


FREEZE = (
    "--input_graph=graph.pbtxt --input_checkpoint=model-7 --output_node_names=y "
    "--output_graph=frozen.pb"
)
OPTIMIZE = "--input=frozen.pb --output=small.pb --input_names=x --output_names=y"


def call(tool: str, arguments: str, folder: Path, python: str = "") -> str:
    """Runs a tool as a process: ours through the launcher, or the one of a TensorFlow."""
    start = [python] if python else [sys.executable, "-m", "numbaflow", "run"]
    done = subprocess.run(
        [*start, "-m", f"tensorflow.python.tools.{tool}", *arguments.split()],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def nodes(file: Path) -> dict[str, str]:
    """The nodes of a binary GraphDef as text, without attributes that TensorFlow 2 adds."""
    found = {}
    for node in read_message(str(file), protos.GraphDef(), True).node:
        for added in ("_output_shapes", "exponential_avg_factor"):
            node.attr.pop(added, None)
        found[node.name] = str(node)
    return found


def value_of(file: Path) -> np.ndarray:
    with tf.Graph().as_default(), tf.Session() as session:
        graph_def = read_message(str(file), protos.GraphDef(), True)
        (y,) = tf.import_graph_def(graph_def, return_elements=["y:0"])
        return session.run(y, {"import/x:0": np.ones([1, 5, 5, 2])})


@pytest.mark.cpu
def test_a_graph_is_frozen_and_made_small(folder: Path) -> None:
    call("freeze_graph", FREEZE, folder)
    call("optimize_for_inference", OPTIMIZE, folder)
    expected = np.load(folder / "y.npy")
    assert np.array_equal(value_of(folder / "frozen.pb"), expected)
    assert np.allclose(value_of(folder / "small.pb"), expected, atol=1e-6)
    frozen, small = nodes(folder / "frozen.pb"), nodes(folder / "small.pb")
    assert 'op: "FusedBatchNorm' in "".join(frozen.values())
    assert 'op: "FusedBatchNorm' not in "".join(small.values())
    assert "Identity" in frozen and "Identity" not in small and "unused" not in frozen


@pytest.mark.cpu
def test_tools_read_saved_models_and_write_text(folder: Path, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    line = "--input_saved_model_dir=served --output_node_names=y --output_graph=a.pb"
    assert tools.main("freeze_graph", line.split()) == 0
    assert np.array_equal(value_of(folder / "a.pb"), np.load(folder / "y.npy"))
    line = "--input_graph=a.pb --input_binary --output_graph=b.pbtxt --output_binary=false"
    assert (
        tools.main(
            "strip_unused", [*line.split(), "--input_node_names=Conv2D", "--output_node_names=y"]
        )
        == 0
    )
    text = read_message(str(folder / "b.pbtxt"), protos.GraphDef(), False)
    assert {node.op for node in text.node if node.name == "Conv2D"} == {"Placeholder"}
    line = "--input=b.pbtxt --output=c.pbtxt --frozen_graph=false --input_names=Conv2D"
    assert tools.main("optimize_for_inference", [*line.split(), "--output_names=y"]) == 0
    assert "Identity" not in (folder / "c.pbtxt").read_text()


@pytest.mark.pure
def test_what_cannot_be_done_is_said(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    missing = ["--input_graph=no.pb", "--output_node_names=y", "--input_checkpoint=no"]
    assert tools.main("freeze_graph", missing) == 1
    assert capsys.readouterr().err == "freeze_graph: Input file 'no.pb' does not exist!\n"
    assert tools.main("inspect_checkpoint", []) == 1
    assert "--file_name" in capsys.readouterr().err
    assert tools.main("inspect_checkpoint", ["--file_name=x", "--printoptions", "no=1"]) == 1
    assert "'no' is not a valid printoption" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        tools.main("strip_unused", ["--no_such_flag"])


@pytest.mark.tf
@pytest.mark.skipif(not TENSORFLOW, reason="NUMBAFLOW_TF_PYTHON names no Python with TensorFlow")
def test_tensorflows_tools_give_the_same(folder: Path) -> None:
    ours, theirs = {}, {}
    for found, python in ((ours, ""), (theirs, TENSORFLOW)):
        call("freeze_graph", FREEZE, folder, python)
        found["frozen"] = nodes(folder / "frozen.pb")
        found["text"] = call("inspect_checkpoint", "--file_name=model-7", folder, python)
        call("optimize_for_inference", OPTIMIZE, folder, python)
        found["small"] = nodes(folder / "small.pb")
    assert ours["text"] == theirs["text"] and ours["frozen"] == theirs["frozen"]
    # TensorFlow 2 gives scaled weights a name of their own.
    assert set(ours["small"]) - {"w"} == set(theirs["small"]) - {"Conv2D_weights"}
