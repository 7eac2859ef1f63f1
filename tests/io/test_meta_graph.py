# SPDX-License-Identifier: Apache-2.0
"""Meta graphs: variables and collections come back, whole or from under a scope."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.io.meta_graph import (
    create_meta_graph_def,
    export_scoped_meta_graph,
    stripped_op_list_for_graph,
)
from numbaflow.io.meta_graph_import import (
    copy_scoped_meta_graph,
    import_scoped_meta_graph,
    read_meta_graph_file,
)

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def graph() -> Any:
    new = tf.Graph()
    with new.as_default():
        yield new


def layer(name: str, use_resource: bool) -> Any:
    with tf.variable_scope(name, use_resource=use_resource):
        w = tf.get_variable("w", initializer=[[2.0, 1.0], [0.0, 3.0]])
        b = tf.get_variable("b", initializer=[1.0, 0.0], trainable=False)
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        return tf.add(tf.matmul(x, w), b, name="y")


@pytest.mark.cpu
@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("as_text", [False, True])
def test_a_file_gives_the_same_model(tmp_path: Path, use_resource: bool, as_text: bool) -> None:
    layer("net", use_resource)
    tf.add_to_collection("sizes", 3)
    tf.add_to_collection("names", "one")
    path = str(tmp_path / "net.meta")
    export_scoped_meta_graph(path, as_text=as_text)
    with tf.Graph().as_default(), tf.Session() as session:
        variables = import_scoped_meta_graph(path)
        assert sorted(variables) == ["net/b:0", "net/w:0"]
        assert [v.name for v in tf.trainable_variables()] == ["net/w:0"]
        assert tf.trainable_variables()[0] is variables["net/w:0"]
        assert tf.get_collection("sizes") == [3]
        assert tf.get_collection("names") == [b"one"]
        session.run(tf.global_variables_initializer())
        result = session.run("net/y:0", {"net/x:0": [[1.0, 1.0]]})
    np.testing.assert_array_equal(result, [[3.0, 4.0]])


def test_a_scope_moves_to_another_name(graph: Any) -> None:
    layer("old", False)
    message, variables = export_scoped_meta_graph(export_scope="old")
    assert sorted(variables) == ["b:0", "w:0"]
    assert "x" in [node.name for node in message.graph_def.node]
    copied = copy_scoped_meta_graph("old", "new")
    assert sorted(v.name for v in copied.values()) == ["new/b:0", "new/w:0"]
    assert graph.get_operation_by_name("new/y").inputs[0].op.name == "new/MatMul"
    with pytest.raises(ValueError, match="need to be different"):
        copy_scoped_meta_graph("old", "old")


@pytest.mark.programs
def test_inputs_from_outside_of_the_scope_must_be_mapped() -> None:
    x = tf.constant([1.0], name="x")
    with tf.name_scope("part"):
        tf.negative(x, name="y")
    message, _ = export_scoped_meta_graph(export_scope="part")
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match=r"unbound inputs: \$unbound_inputs_x. Must"):
            import_scoped_meta_graph(message)
        import_scoped_meta_graph(message, input_map={"$unbound_inputs_x": tf.constant([5.0])})
        np.testing.assert_array_equal(session.run("y:0"), [-5.0])


def test_devices_can_be_cleared() -> None:
    with tf.device("/job:ps/task:0"):
        tf.constant(1.0)
    message, _ = export_scoped_meta_graph(clear_devices=True)
    assert message.graph_def.node[0].device == ""


def test_default_attributes_can_be_stripped_and_come_back() -> None:
    tf.matmul(tf.zeros([1, 1]), tf.zeros([1, 1]))
    message, _ = export_scoped_meta_graph(strip_default_attrs=True)
    assert message.meta_info_def.stripped_default_attrs
    assert list(message.graph_def.node[-1].attr) != []
    assert "transpose_a" not in message.graph_def.node[-1].attr
    with tf.Graph().as_default() as graph:
        import_scoped_meta_graph(message)
        assert graph.get_operation_by_name("MatMul").get_attr("transpose_a") is False


def test_a_collection_that_no_message_holds_is_left_out(caplog: Any) -> None:
    tf.add_to_collection("odd", object())
    tf.add_to_collection("good", 1.5)
    message = create_meta_graph_def()
    assert list(message.collection_def) == ["good"]


def test_ops_that_nobody_knows_are_refused() -> None:
    message = protos.GraphDef(node=[protos.NodeDef(name="a", op="Mystery")])
    with pytest.raises(ValueError, match="Op Mystery is used by the graph, but is not registered"):
        stripped_op_list_for_graph(message)


def test_files_that_are_no_meta_graphs(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="does not exist"):
        read_meta_graph_file(str(tmp_path / "none"))
    (tmp_path / "bad").write_bytes(b"\xff\xfe no meta graph")
    with pytest.raises(OSError, match="Cannot parse file"):
        read_meta_graph_file(str(tmp_path / "bad"))


def test_the_lines_that_made_the_nodes(tmp_path: Path, graph: Any) -> None:
    with tf.name_scope("part"):
        tf.constant(1.0, name="c")
    path = str(tmp_path / "part.meta")
    export_scoped_meta_graph(path, export_scope="part", save_debug_info=True)
    info = protos.GraphDebugInfo.FromString((tmp_path / "part.debug").read_bytes())
    assert list(info.files) == [__file__]
    (place,) = info.traces["part/c"].file_line_cols
    assert place.line == graph.get_operation_by_name("part/c").traceback[0][1]
