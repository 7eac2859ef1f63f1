# SPDX-License-Identifier: Apache-2.0
"""`tf.graph_util`: cutting, freezing and cleaning GraphDefs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure


@pytest.fixture(autouse=True)
def graph() -> Any:
    new = tf.Graph()
    with new.as_default():
        yield new


def ops(graph_def: Any) -> dict[str, str]:
    return {node.name: node.op for node in graph_def.node}


def test_extract_sub_graph_keeps_what_is_needed(graph: Any) -> None:
    a = tf.constant(1.0, name="a")
    b = tf.constant(2.0, name="b")
    tf.negative(b, name="unused")
    with tf.control_dependencies([b]):
        tf.identity(a, name="y")
    cut = tf.graph_util.extract_sub_graph(graph.as_graph_def(), ["y"])
    assert list(ops(cut)) == ["a", "b", "y"]
    assert cut.versions == graph.as_graph_def().versions


def test_extract_sub_graph_refuses(graph: Any) -> None:
    with pytest.raises(TypeError, match="graph_def must be a graph_pb2"):
        tf.graph_util.extract_sub_graph("", ["y"])
    with pytest.raises(TypeError, match="dest_nodes must be a list"):
        tf.graph_util.extract_sub_graph(graph.as_graph_def(), "y")
    with pytest.raises(AssertionError, match="y is not in graph"):
        tf.graph_util.extract_sub_graph(graph.as_graph_def(), ["y"])


@pytest.mark.cpu
@pytest.mark.parametrize("use_resource", [False, True])
def test_frozen_variables_give_the_same_results(graph: Any, use_resource: bool) -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]], use_resource=use_resource)
    y = tf.matmul(x, w, name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
        wanted = session.run(y, {x: [[3.0, 4.0]]})
    assert not any("Var" in kind or "Assign" in kind for kind in ops(frozen).values())
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.import_graph_def(frozen, return_elements=["x:0", "y:0"])
        np.testing.assert_array_equal(session.run(y, {x: [[3.0, 4.0]]}), wanted)


@pytest.mark.programs
def test_variables_named_in_the_blacklist_stay(graph: Any) -> None:
    w = tf.get_variable("w", initializer=1.0, use_resource=False)
    v = tf.get_variable("v", initializer=1.0, use_resource=False)
    tf.add(w, v, name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(
            session, graph.as_graph_def(), ["y"], variable_names_blacklist=["v"]
        )
    assert ops(frozen)["w"] == "Const"
    assert ops(frozen)["v"] == "VariableV2"


def test_remove_training_nodes(graph: Any) -> None:
    a = tf.constant(1.0, name="a")
    passed = tf.identity(a, name="passed")
    waited = tf.identity(a, name="waited")
    with tf.control_dependencies([waited]):
        tf.negative(passed, name="y")
    kept = tf.identity(a, name="kept")
    tf.identity(kept, name="end")
    clean = tf.graph_util.remove_training_nodes(graph.as_graph_def(), ["kept", "end"])
    assert list(ops(clean)) == ["a", "waited", "y", "kept", "end"]
    assert list(clean.node[2].input) == ["a", "^waited"]


def test_must_run_on_cpu() -> None:
    assert tf.graph_util.must_run_on_cpu(tf.constant("text").op)
    assert tf.graph_util.must_run_on_cpu(tf.constant(1).op)
    assert not tf.graph_util.must_run_on_cpu(tf.constant(1.0).op)
    variable = tf.get_variable("w", initializer=1.0, use_resource=False)
    assert tf.graph_util.must_run_on_cpu(variable.op, pin_variables_on_cpu=True)


def test_shape_by_input_name(graph: Any) -> None:
    tf.zeros([2, 3], name="z")
    shape = tf.graph_util.tensor_shape_from_node_def_name(graph, "z")
    assert shape.as_list() == [2, 3]
