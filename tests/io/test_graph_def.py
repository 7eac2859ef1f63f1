# SPDX-License-Identifier: Apache-2.0
"""Graphs as GraphDefs: equal to TensorFlow 1.15's node by node, and unchanged by a round trip."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.graph import registry
from numbaflow.engine.graph.collections import get_collection_proto_type
from numbaflow.io import protos
from numbaflow.io.attributes import op_def
from numbaflow.io.meta_graph import export_scoped_meta_graph
from numbaflow.io.meta_graph_import import read_meta_graph_file
from numbaflow.io.signatures import tensorflow_ops

from ..workers import loaded

graphs = loaded(Path(__file__).with_name("graphs.py"))
TENSORFLOW = os.environ.get("NUMBAFLOW_TF115_PYTHON")
BUILDERS = pytest.mark.parametrize("build", graphs.GRAPHS, ids=lambda build: build.__name__)


def graph_def(build: Any) -> Any:
    graph = tf.Graph()
    with graph.as_default():
        build(tf)
    return graph.as_graph_def(add_shapes=True)


# Random names within texts: of temporary files, tables and Python functions.
_RANDOM = re.compile(rb"pyfunc_\d+|[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# A text attribute, with its length, that is the number of a Python function.
_TOKEN = re.compile(rb"\x12.pyfunc_\d+", re.DOTALL)


def differences(ours: Any, theirs: Any, imported: bool = False) -> list[str]:
    """What differs between two GraphDefs, one line for each attribute.

    An import may bring nodes into another order, and gives colocated nodes one device.
    """
    a_nodes, b_nodes = list(ours.node), list(theirs.node)
    if imported:
        a_nodes.sort(key=lambda node: node.name)
        b_nodes.sort(key=lambda node: node.name)
    lines = []
    a_names, b_names = ([(n.name, n.op) for n in nodes] for nodes in (a_nodes, b_nodes))
    if a_names != b_names:
        first = next(((i, *ab) for i, ab in enumerate(zip(a_names, b_names)) if ab[0] != ab[1]), "")
        lines.append(f"nodes: {len(a_names)} {len(b_names)} {first}")
    for a, b in zip(a_nodes, b_nodes):
        if list(a.input) != list(b.input):
            lines.append(f"{a.name}: {list(a.input)} {list(b.input)}")
        if a.device != b.device and not (imported and "_class" in a.attr):
            lines.append(f"{a.name}: {a.device!r} {b.device!r}")
        for key in sorted({*a.attr, *b.attr}):
            if key not in a.attr or key not in b.attr or plain(a.attr[key]) != plain(b.attr[key]):
                lines.append(f"{a.name} {key}: {a.attr[key]} {b.attr[key]}")
    a_functions, b_functions = (
        {f.signature.name: f for f in message.library.function} for message in (ours, theirs)
    )
    for key in {*a_functions, *b_functions}:
        if key not in a_functions or key not in b_functions:
            lines.append(f"function {key}")
        elif a_functions[key] != b_functions[key]:
            lines.append(f"function {a_functions[key]} {b_functions[key]}")
    if ours.versions != theirs.versions:
        lines.append(f"versions {ours.versions} {theirs.versions}")
    return lines


def plain(attr: Any) -> bytes:
    text = _TOKEN.sub(b"\x12\x08pyfunc_0", attr.SerializeToString(deterministic=True))
    return _RANDOM.sub(b"", text)


def members(key: str, collection: Any) -> Any:
    """A collection such that sets and maps in its messages have no order."""
    kind = get_collection_proto_type(key)
    if kind is None or not collection.bytes_list.value:
        return collection
    return [_lists_sorted(kind().FromString(item)) for item in collection.bytes_list.value]


def _lists_sorted(message: Any) -> Any:
    for context in (
        message,
        getattr(message, "cond_ctxt", None),
        getattr(message, "while_ctxt", None),
    ):
        if hasattr(context, "values_def"):
            values = sorted(context.values_def.values)
            context.values_def.values[:] = values
    for inner in getattr(message, "nested_contexts", ()):
        for kind in ("cond_ctxt", "while_ctxt"):
            if inner.HasField(kind):
                _lists_sorted(getattr(inner, kind))
    return message


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
    assert sorted(ours.collection_def) == sorted(theirs.collection_def)
    for key, collection in ours.collection_def.items():
        assert members(key, collection) == members(key, theirs.collection_def[key]), key
    used = [op.name for op in theirs.meta_info_def.stripped_op_list.op]
    assert [op.name for op in ours.meta_info_def.stripped_op_list.op] == used


# Ops whose signatures are not those of 1.15, and why.
OTHER_SIGNATURES = {
    **dict.fromkeys(
        ["FractionalAvgPool", "FractionalMaxPool"], "stateful: equal nodes draw other numbers"
    ),
    **dict.fromkeys(
        ["FusedBatchNormGrad", "FusedBatchNormV3", "FusedBatchNormGradV3"],
        "TensorFlow 2's layouts of volumes too",
    ),
    **dict.fromkeys(
        ["MaxPool", "MaxPoolV2", "MaxPool3D", "MaxPool3DGrad"],
        "more types; no layout of quantized images for GPUs",
    ),
    "BatchFunction": "TensorFlow 2's priorities and ways to split large batches too",
    "ImageProjectiveTransformV2": "TensorFlow 2's ways to fill what lies outside too",
}


@pytest.mark.programs
def test_op_signatures_are_those_of_tensorflow() -> None:
    theirs = tensorflow_ops()
    wrong = [
        definition.name
        for definition in registry.definitions()
        if definition.name in theirs
        and definition.name not in OTHER_SIGNATURES
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


@pytest.mark.programs
@BUILDERS
def test_an_imported_graph_is_the_same_graph(build: Any) -> None:
    message = graph_def(build)
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(message, name="")
    assert not differences(graph.as_graph_def(add_shapes=True), message, imported=True)


@pytest.mark.programs
def test_as_graph_def_survives_bytes() -> None:
    message = graph_def(graphs.perceptron)
    assert tf.GraphDef.FromString(message.SerializeToString()) == message


@pytest.mark.programs
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


@pytest.mark.programs
def test_op_def_states_the_signature() -> None:
    with tf.Graph().as_default():
        op = tf.matmul(tf.zeros([1, 2]), tf.zeros([2, 1])).op
    definition = op.op_def
    assert [arg.name for arg in definition.input_arg] == ["a", "b"]
    assert [attr.name for attr in definition.attr] == ["transpose_a", "transpose_b", "T"]
    assert not definition.attr[0].default_value.b
    assert protos.DT_FLOAT in definition.attr[2].allowed_values.list.type


@pytest.mark.programs
@pytest.mark.parametrize("as_text", [True, False])
def test_write_graph(tmp_path: Path, as_text: bool) -> None:
    from google.protobuf import text_format

    message = graph_def(graphs.shapes)
    path = tf.io.write_graph(message, str(tmp_path / "new"), "graph", as_text)
    content = Path(path).read_bytes()
    back = text_format.Parse(content, tf.GraphDef()) if as_text else tf.GraphDef.FromString(content)
    assert back == message
    assert os.listdir(tmp_path / "new") == ["graph"]


@pytest.mark.programs
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


@pytest.mark.programs
def test_a_graph_that_no_message_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(np.arange(1000))
    monkeypatch.setattr("numbaflow.io.graph_bytes._LIMIT", 4000)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"would be larger than the limit \("):
        graph.as_graph_def()


@pytest.mark.programs
def test_attributes_that_only_look_equal() -> None:
    """What is remembered of one node's attributes is not taken for another's."""
    with tf.Graph().as_default() as graph:
        for value in (True, 1, 0.0, -0.0, b"1", 1.0, [True], [1], [1.0], [b"1"], [], None):
            node = tf.no_op()
            if value is not None:
                node._attrs["_own"] = value
        for value in (
            np.int32([1, 2]),
            np.int64([1, 2]),
            np.int32([[1, 2]]),
            np.float32(-0.0),
            0.0,
        ):
            tf.constant(value)
        tf.constant(1, shape=[2])
        tf.constant([1, 1])
        tf.constant(["a", "b"])
    with tf.Graph().as_default() as other:
        tf.import_graph_def(graph.as_graph_def(), name="")
    for a, b in zip(graph.as_graph_def().node, graph.get_operations()):
        assert a == b.node_def
    for a, b in zip(graph.get_operations(), other.get_operations()):
        assert a.node_def == b.node_def
