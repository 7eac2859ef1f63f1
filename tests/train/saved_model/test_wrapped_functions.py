# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow 1 code builds, as functions: `tf.wrap_function`, and parts of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.ops.flow.lifting import UnliftableError, lift_to_graph
from numbaflow.train.saved_model.wrapped_functions import (
    VariableHolder,
    WrappedGraph,
    function_from_graph_def,
)

pytestmark = pytest.mark.cpu
FLOAT, INT = tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def changed(x: Any, adds: bool) -> Any:
    v = tf.Variable(5.0)
    op = v.assign_add(x) if adds else v.assign_sub(x)
    with tf.control_dependencies([op]):
        return v.read_value()


def test_each_function_has_variables_of_its_own(session: Any) -> None:
    add, subtract = (tf.compat.v1.wrap_function(changed, [FLOAT, adds]) for adds in (True, False))
    more, less = add(1.0), subtract(1.0)
    session.run(tf.global_variables_initializer())
    assert [session.run(more), session.run(more), session.run(less)] == [6.0, 7.0, 4.0]
    assert len(add.graph.variables) == len(subtract.graph.variables) == 1
    with pytest.raises(NotImplementedError, match="Keyword arguments"):
        add(x=1.0)
    with pytest.raises(ValueError, match="takes 1 tensors"):
        add(1.0, True)


def test_parts_run_what_they_fetch_and_have_gradients(session: Any) -> None:
    outside = tf.Variable(2.0, use_resource=True)
    inside = []

    def f(z: Any) -> Any:
        inside.append(tf.Variable(3.0))
        outside.assign_add(1.0, name="increment")
        tf.add_to_collection("losses", inside[0])
        return {"y": tf.identity(outside * inside[0] * z, "fetch"), "none": None}

    wrapped = tf.compat.v1.wrap_function(f, [FLOAT])
    x = tf.constant(1.0)
    pruned = wrapped.prune(wrapped.inputs, "fetch:0")
    results = [wrapped(x)["y"], pruned(x)]
    slopes = [tf.gradients(y, [x, outside, inside[0]]) for y in results]
    session.run(tf.global_variables_initializer())
    assert session.run([results, slopes]) == [[6.0, 6.0], [[6.0, 3.0, 2.0]] * 2]
    assert wrapped.graph.get_collection("losses") == inside and not tf.get_collection("losses")
    assert session.run(outside) == 2.0
    with pytest.raises(TypeError, match="Missing"):
        pruned()


def test_operations_are_run_and_give_none(session: Any) -> None:
    v = tf.Variable(0, use_resource=True)

    def f() -> Any:
        by = tf.placeholder(tf.int32, [], name="step")
        v.assign_add(by, name="increment", read_value=False)
        return tf.constant(1, name="other")

    wrapped = tf.compat.v1.wrap_function(f, [])
    graph = wrapped.graph
    both = wrapped.prune(graph.get_tensor_by_name("step:0"), ("increment", "other:0"))
    first, second = both(tf.constant(2))
    alone = wrapped.prune([], "other:0")()
    only = wrapped.prune("step:0", "increment")(tf.constant(5))
    session.run(v.initializer)
    assert first is None and session.run([second, alone]) == [1, 1] and session.run(v) == 2
    session.run(only)
    assert session.run(v) == 7
    with pytest.raises(UnliftableError, match="depends transitively on placeholder"):
        wrapped.prune([], "increment")
    with pytest.raises(ValueError, match="Feeds must be tensors"):
        wrapped.prune("increment", "other:0")
    with pytest.raises(ValueError, match="from this graph"):
        wrapped.prune([], v.read_value())


def test_functions_of_one_graph_share_variables(session: Any) -> None:
    def made(number: int, use: Any, name: str = "reuse") -> Any:
        def f(x: Any) -> Any:
            with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
                start = tf.constant_initializer(number)
                v = tf.get_variable("v", [], tf.int32, start)
            return use(v, x)

        return f

    graph = WrappedGraph()
    add = graph.wrap_function(made(3, lambda v, x: v + x), [INT], "add")
    subtract = graph.wrap_function(made(4, lambda v, x: v - x), [INT], "subtract")
    multiply = graph.wrap_function(made(5, lambda v, x: v * x, "other"), [INT], "multiply")
    update = graph.wrap_function(made(6, lambda v, x: v.assign_add(x).op), [INT], "update")
    results = [f(tf.constant(7)) for f in (add, subtract, multiply)]
    step = update(tf.constant(7))
    session.run(tf.global_variables_initializer())
    assert session.run(results) == [10, -4, 35]
    session.run(step)
    assert session.run(results) == [17, 3, 35]
    assert set(graph.variables) == {"reuse/v", "other/v"} and set(graph.functions) >= {"add"}
    holder = VariableHolder(share_variables=True)
    one, two = (
        WrappedGraph(holder).wrap_function(lambda x, n=n: tf.Variable(n, name="v") + x, [INT], "f")
        for n in (3, 4)
    )
    both = [one(tf.constant(0)), two(tf.constant(0))]
    session.run(tf.global_variables_initializer())
    assert session.run(both) == [3, 3]


def test_imported_graphs_are_wrapped_with_their_variables(session: Any, tmp_path: Any) -> None:
    prefix = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as other:
        v = tf.Variable(1.0, use_resource=True)
        tf.identity(v + 1.0, name="output")
        other.run(v.initializer)
        tf.train.Saver([v]).save(other, prefix)

    def imported() -> Any:
        tf.train.import_meta_graph(prefix + ".meta")
        return tf.get_default_graph().as_graph_element("output:0")

    wrapped = tf.compat.v1.wrap_function(imported, [])
    (lifted,) = wrapped.graph.variables
    y = wrapped()
    session.run(lifted.initializer)
    assert session.run(y) == 2.0 and lifted in tf.global_variables()
    session.run(lifted.assign(5.0))
    assert session.run(wrapped.prune([], "output:0")()) == 6.0


def test_graph_defs_are_functions(session: Any) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None], name="x")
        _, total = tf.while_loop(
            lambda i, _: i < 3, lambda i, t: (i + 1, t + x), [0, tf.zeros_like(x)]
        )
        tf.identity(total, name="y")
    f = function_from_graph_def(graph.as_graph_def(), ["x:0"], {"y": "y:0"})
    assert session.run(f(tf.constant([1.0, 2.0])))["y"].tolist() == [3.0, 6.0]
    copies = lift_to_graph([graph.get_tensor_by_name("y:0")], tf.get_default_graph(), [x])
    found = session.run(copies[graph.get_tensor_by_name("y:0")], {copies[x]: [1.0]})
    assert found.tolist() == [3.0]
