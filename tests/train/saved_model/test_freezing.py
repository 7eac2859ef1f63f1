# SPDX-License-Identifier: Apache-2.0
"""Graphs frozen from checkpoints, meta graphs and SavedModels, by function and from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.train.saved_model.freezing import (
    freeze_graph,
    get_meta_graph_def,
    get_saved_model_tag_sets,
)

pytestmark = pytest.mark.programs


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A model in all forms."""
    paths = {
        "checkpoint": str(tmp_path / "checkpoint" / "model"),
        "model": str(tmp_path / "model"),
        "graph": str(tmp_path / "graph.pb"),
        "saver": str(tmp_path / "saver.pb"),
        "output": str(tmp_path / "frozen.pb"),
    }
    with tf.Graph().as_default() as graph, tf.Session() as session:
        v = tf.get_variable("v", initializer=3.0)
        with tf.variable_scope("r", use_resource=True), tf.device("/cpu:0"):
            w = tf.get_variable("w", initializer=4.0)
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.add(x * v, w, name="y")
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        saver.save(session, paths["checkpoint"])
        tf.saved_model.simple_save(session, paths["model"], {"x": x}, {"y": y})
        tf.train.write_graph(graph, str(tmp_path), "graph.pb", as_text=False)
        Path(paths["saver"]).write_bytes(saver.as_saver_def().SerializeToString())
    return paths


def frozen(files: dict[str, str], **arguments: Any) -> Any:
    options: dict[str, Any] = {
        "input_graph": "",
        "input_saver": "",
        "input_binary": True,
        "input_checkpoint": files["checkpoint"],
        "output_node_names": "y",
        "restore_op_name": None,
        "filename_tensor_name": None,
        "output_graph": files["output"],
        "clear_devices": False,
        "initializer_nodes": "",
    }
    with tf.Graph().as_default():
        return freeze_graph(**{**options, **arguments})


SOURCES = {
    "graph and checkpoint": lambda files: {"input_graph": files["graph"]},
    "graph, saver and checkpoint": lambda files: {
        "input_graph": files["graph"],
        "input_saver": files["saver"],
    },
    "meta graph and checkpoint": lambda files: {"input_meta_graph": files["checkpoint"] + ".meta"},
    "saved model": lambda files: {"input_saved_model_dir": files["model"], "input_checkpoint": ""},
}


@pytest.mark.parametrize("source", SOURCES)
def test_variables_become_constants(files: dict[str, str], source: str) -> None:
    message = frozen(files, clear_devices=True, **SOURCES[source](files))
    assert {node.op for node in message.node} <= {"Const", "Identity", "Placeholder", "Mul", "Add"}
    assert not any(node.device for node in message.node)
    written = tf.GraphDef.FromString(Path(files["output"]).read_bytes())
    assert written == message
    with tf.Graph().as_default(), tf.Session() as session:
        (y,) = tf.import_graph_def(written, {"x": tf.constant(2.0)}, ["y:0"])
        assert session.run(y) == 10.0


def test_only_some_variables(files: dict[str, str]) -> None:
    message = frozen(files, input_graph=files["graph"], variable_names_blacklist="v")
    assert "VariableV2" in [node.op for node in message.node]
    message = frozen(files, input_graph=files["graph"], variable_names_whitelist="v, r/w")
    assert "VariableV2" not in [node.op for node in message.node]


@pytest.mark.parametrize(
    ("arguments", "kind", "expected"),
    [
        ({"input_checkpoint": "none"}, ValueError, "Input checkpoint 'none' doesn't exist!"),
        ({"output_node_names": ""}, ValueError, "supply the name of a node"),
        ({"input_graph": "none"}, OSError, "'none' does not exist"),
        ({"input_saved_model_dir": "none"}, OSError, "SavedModel file does not exist"),
    ],
)
def test_what_cannot_be_frozen(
    files: dict[str, str], arguments: Any, kind: type[Exception], expected: str
) -> None:
    with pytest.raises(kind, match=expected):
        frozen(files, **arguments)


def test_a_graph_is_frozen_once(files: dict[str, str]) -> None:
    frozen(files, input_graph=files["graph"])
    with pytest.raises(ValueError, match="You cannot freeze a graph twice"):
        frozen(files, input_graph=files["output"])


def test_graphs_of_a_model_by_their_tags(files: dict[str, str]) -> None:
    assert get_saved_model_tag_sets(files["model"]) == [["serve"]]
    assert get_meta_graph_def(files["model"], "serve").graph_def.node
    with pytest.raises(RuntimeError, match="tag-set a,b could not be found"):
        get_meta_graph_def(files["model"], "a,b")
