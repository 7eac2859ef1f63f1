# SPDX-License-Identifier: Apache-2.0
"""Graphs with ops that only TensorFlow runs: kept whole, run where they are not needed."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

import numbaflow as tf
from numbaflow.engine.graph import registry
from numbaflow.io import protos, signatures
from numbaflow.io.attributes import op_def

pytestmark = pytest.mark.pure

# A model between ops that only other processors and eager programs have.
GRAPH = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 2 } } } } }
node { name: "low" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {}
                                              tensor_content: "\\000\\000\\200?" } } } }
node { name: "double" op: "AddV2" input: "x" input: "x" attr { key: "T" value { type: DT_FLOAT } }
       experimental_debug_info { original_node_names: "twice" } }
node { name: "fake" op: "KthOrderStatistic" input: "double"
       attr { key: "k" value { i: 4 } }
       attr { key: "_output_shapes" value { list { shape { dim { size: 2 } } } } } }
node { name: "after" op: "Neg" input: "fake" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "effect" op: "WriteAudioSummary"
       input: "w" input: "step" input: "tag" input: "after" input: "low" }
node { name: "w" op: "SummaryWriter" }
node { name: "step" op: "Const" attr { key: "dtype" value { type: DT_INT64 } }
       attr { key: "value" value { tensor { dtype: DT_INT64 tensor_shape {} int64_val: 3 } } } }
node { name: "tag" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
       attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape {} string_val: "t" } } } }
versions { producer: 134 min_consumer: 12 }
"""


@pytest.fixture
def graph_def() -> protos.GraphDef:
    return text_format.Parse(GRAPH, protos.GraphDef())


@pytest.fixture
def graph(graph_def: protos.GraphDef) -> tf.Graph:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    return graph


def test_a_graph_is_kept_whole(graph: tf.Graph, graph_def: protos.GraphDef) -> None:
    theirs = {node.name: node for node in graph_def.node}
    theirs["fake"].attr.pop("_output_shapes")
    theirs["effect"].attr["max_outputs"].i = 3
    theirs["w"].attr["container"].s = theirs["w"].attr["shared_name"].s = b""
    assert {node.name: node for node in graph.as_graph_def().node} == theirs
    assert graph.get_tensor_by_name("fake:0").shape.as_list() == [2]
    assert graph.get_operation_by_name("fake").get_attr("k") == 4
    assert graph.get_operation_by_name("fake").op_def.attr[0].name == "k"


@pytest.mark.cpu
def test_what_does_not_need_them_runs(graph: tf.Graph) -> None:
    with tf.Session(graph=graph) as session:
        feed = {"x:0": [1.0, 2.0]}
        assert session.run("double:0", feed).tolist() == [2.0, 4.0]
        assert session.run("after:0", {"fake:0": [1.0, 2.0]}).tolist() == [-1.0, -2.0]
        fetches = {"after:0": "KthOrderStatistic", "effect": ""}
        for fetch, name in fetches.items():
            for _ in range(2):
                with pytest.raises(tf.errors.UnimplementedError, match=f"'{name}.*has no kernel"):
                    session.run(fetch, feed)


def test_they_have_no_gradient(graph: tf.Graph) -> None:
    with graph.as_default(), pytest.raises(LookupError, match="KthOrderStatistic"):
        tf.gradients(graph.get_tensor_by_name("after:0"), graph.get_tensor_by_name("x:0"))


def test_nodes_are_checked_against_signatures(graph_def: protos.GraphDef) -> None:
    graph_def.node[3].attr["k"].s = b"four"
    with tf.Graph().as_default(), pytest.raises(ValueError, match="attr.*k"):
        tf.import_graph_def(graph_def)


def test_functions_may_hold_them(graph: tf.Graph) -> None:
    message = tf.train.export_meta_graph(graph=graph)
    names = {op.name for op in message.meta_info_def.stripped_op_list.op}
    assert {"KthOrderStatistic", "WriteAudioSummary"} <= names
    with tf.Graph().as_default() as again:
        tf.train.import_meta_graph(message)
    assert len(again.get_operations()) == len(graph.get_operations())


def test_every_signature_can_be_read() -> None:
    table = signatures.tensorflow_ops()
    assert len(table) > 1900
    for name, message in table.items():
        definition = signatures._foreign(name)
        assert [arg.name for arg in definition.inputs] == [arg.name for arg in message.input_arg]
        assert len(definition.attrs) == len(message.attr)
        again = op_def(definition)
        assert [(arg.name, arg.type) for arg in again.output_arg] == [
            (arg.name, arg.type) for arg in message.output_arg
        ]
    assert signatures.find("NoSuchOp") is None
    assert signatures.find("MatMul") is registry.find("MatMul")
    assert signatures.find("_Arg").attr("index").minimum == 0
