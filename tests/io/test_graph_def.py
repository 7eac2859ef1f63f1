# SPDX-License-Identifier: Apache-2.0
"""Graphs as GraphDefs: equal to TensorFlow 1.15's node by node, and unchanged by a round trip."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import registry
from numbaflow.io import protos
from numbaflow.io.attributes import op_def
from numbaflow.io.meta_graph import export_scoped_meta_graph
from numbaflow.io.meta_graph_import import read_meta_graph_file


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


graphs = _load(Path(__file__).with_name("graphs.py"))
TENSORFLOW = os.environ.get("NUMBAFLOW_TF115_PYTHON")
BUILDERS = pytest.mark.parametrize("build", graphs.GRAPHS, ids=lambda build: build.__name__)


def graph_def(build: Any) -> Any:
    graph = tf.Graph()
    with graph.as_default():
        build(tf)
    return graph.as_graph_def(add_shapes=True)


def differences(ours: Any, theirs: Any) -> list[str]:
    """What differs between two GraphDefs, one line for each attribute."""
    lines = []
    if [(n.name, n.op) for n in ours.node] != [(n.name, n.op) for n in theirs.node]:
        pairs = zip([(n.name, n.op) for n in ours.node], [(n.name, n.op) for n in theirs.node])
        first = next(((i, a, b) for i, (a, b) in enumerate(pairs) if a != b), "lengths")
        lines.append(f"nodes: {first}")
    for a, b in zip(ours.node, theirs.node):
        if list(a.input) != list(b.input) or a.device != b.device:
            lines.append(f"{a.name}: {list(a.input)} {a.device!r} {list(b.input)} {b.device!r}")
        for key in sorted({*a.attr, *b.attr}):
            if key not in a.attr or key not in b.attr or a.attr[key] != b.attr[key]:
                lines.append(f"{a.name} {key}: {a.attr[key]} {b.attr[key]}")
    if ours.versions != theirs.versions:
        lines.append(f"versions {ours.versions} {theirs.versions}")
    return lines


@pytest.fixture(scope="module")
def references(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not TENSORFLOW:
        pytest.skip("NUMBAFLOW_TF115_PYTHON names no Python that has TensorFlow 1.15")
    folder = tmp_path_factory.mktemp("graphs")
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    environment.pop("PYTHONPATH", None)
    command = [TENSORFLOW, graphs.__file__, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.tf
@BUILDERS
def test_graphs_are_those_of_tensorflow(build: Any, references: Path) -> None:
    theirs = read_meta_graph_file(str(references / f"{build.__name__}.meta"))
    with tf.Graph().as_default():
        build(tf)
        ours, _ = export_scoped_meta_graph()
    assert not differences(ours.graph_def, theirs.graph_def)
    assert dict(ours.collection_def) == dict(theirs.collection_def)
    used = [op.name for op in theirs.meta_info_def.stripped_op_list.op]
    assert [op.name for op in ours.meta_info_def.stripped_op_list.op] == used


@pytest.mark.tf
def test_op_signatures_are_those_of_tensorflow(references: Path) -> None:
    table = protos.OpList.FromString((references / "ops.pb").read_bytes())
    theirs = {op.name: op for op in table.op}
    wrong = [
        definition.name
        for definition in registry.definitions()
        if definition.name in theirs
        and signature(op_def(definition)) != signature(theirs[definition.name])
    ]
    assert not wrong


def signature(message: Any) -> Any:
    """What matters of an OpDef: not the texts, nor the order in which types are allowed."""
    copy = protos.OpDef()
    copy.CopyFrom(message)
    for field in (
        "summary description deprecation is_aggregate allows_uninitialized_input"
    ).split():
        copy.ClearField(field)
    for part in (*copy.input_arg, *copy.output_arg, *copy.attr):
        part.description = ""
    for attr in copy.attr:
        for values in (attr.allowed_values.list.type, attr.allowed_values.list.s):
            values[:] = sorted(set(values))
    return copy


@pytest.mark.pure
@BUILDERS
def test_an_imported_graph_is_the_same_graph(build: Any) -> None:
    message = graph_def(build)
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(message, name="")
    assert not differences(graph.as_graph_def(add_shapes=True), message)


@pytest.mark.pure
def test_as_graph_def_survives_bytes() -> None:
    message = graph_def(graphs.perceptron)
    assert tf.GraphDef.FromString(message.SerializeToString()) == message


@pytest.mark.pure
def test_attributes_as_tensorflow_gives_them() -> None:
    with tf.Graph().as_default():
        value = tf.constant([1.0, 2.0])
        variable = tf.Variable(value)
        pool = tf.nn.max_pool(tf.zeros([1, 4, 4, 1]), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    assert value.op.get_attr("dtype") is tf.float32
    assert isinstance(value.op.get_attr("value"), protos.TensorProto)
    assert [dim.size for dim in variable.op.get_attr("shape").dim] == [2]
    assert pool.op.get_attr("ksize") == [1, 2, 2, 1]
    assert pool.op.get_attr("padding") == b"SAME"
    with pytest.raises(ValueError, match=r"Operation 'Const' has no attr named 'nope'."):
        value.op.get_attr("nope")


@pytest.mark.pure
def test_op_def_states_the_signature() -> None:
    with tf.Graph().as_default():
        op = tf.matmul(tf.zeros([1, 2]), tf.zeros([2, 1])).op
    definition = op.op_def
    assert [arg.name for arg in definition.input_arg] == ["a", "b"]
    assert [attr.name for attr in definition.attr] == ["transpose_a", "transpose_b", "T"]
    assert not definition.attr[0].default_value.b
    assert protos.DT_FLOAT in definition.attr[2].allowed_values.list.type


@pytest.mark.pure
@pytest.mark.parametrize("as_text", [True, False])
def test_write_graph(tmp_path: Path, as_text: bool) -> None:
    from google.protobuf import text_format

    message = graph_def(graphs.shapes)
    path = tf.io.write_graph(message, str(tmp_path / "new"), "graph", as_text)
    content = Path(path).read_bytes()
    back = text_format.Parse(content, tf.GraphDef()) if as_text else tf.GraphDef.FromString(content)
    assert back == message
    assert os.listdir(tmp_path / "new") == ["graph"]


@pytest.mark.pure
def test_an_imported_graph_runs() -> None:
    first = tf.Graph()
    with first.as_default():
        x = tf.placeholder(tf.float32, [None], name="x")
        tf.add(x * 2.0, 1.0, name="y")
    with tf.Graph().as_default(), tf.Session() as session:
        (y,) = tf.import_graph_def(
            first.as_graph_def(), {"x:0": tf.constant([1.0, 2.0])}, return_elements=["y:0"]
        )
        np.testing.assert_array_equal(session.run(y), [3.0, 5.0])
