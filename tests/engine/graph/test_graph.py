# SPDX-License-Identifier: Apache-2.0
"""Graphs: names, elements, scopes, devices, control dependencies, collections."""

from __future__ import annotations

import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure


def names(graph: tf.Graph) -> list[str]:
    return [op.name for op in graph.get_operations()]


def test_names_are_made_unique_as_in_tensorflow() -> None:
    graph = tf.get_default_graph()
    tf.constant(1, name="a")
    tf.constant(1, name="A")
    tf.constant(1, name="a_1")
    tf.constant(1, name="a")
    assert names(graph) == ["a", "A_1", "a_1_1", "a_2"]
    assert graph.unique_name("a", mark_as_used=False) == "a_3"


def test_constants_of_inputs_are_named_within_their_operation() -> None:
    x = tf.placeholder(tf.float32, name="x")
    with tf.name_scope("s"):
        total = tf.add(x, 1.0, name="sum")
    assert total.name == "s/sum:0" and total.op.inputs[1].name == "s/sum/y:0"


def test_name_scopes() -> None:
    graph = tf.get_default_graph()
    with tf.name_scope("a") as first:
        with tf.name_scope("b") as second:
            assert (first, second) == ("a/", "a/b/")
        with tf.name_scope(None) as top:
            assert top == "" and graph.get_name_scope() == ""
            assert tf.constant(1, name="c").op.name == "c"
    with tf.name_scope("a") as again, tf.name_scope(first):
        assert again == "a_1/" and graph.get_name_scope() == "a"
    with pytest.raises(ValueError, match="'_x' is not a valid scope name"), tf.name_scope("_x"):
        pass
    with pytest.raises(ValueError, match="At least one of name"), tf.name_scope(None, None, [1]):
        pass
    with pytest.raises(TypeError, match="`default_name` type"):
        tf.name_scope("n", [1])


def test_name_scope_enters_the_graph_of_its_values() -> None:
    other = tf.Graph()
    with other.as_default():
        x = tf.constant(1)
    with tf.name_scope("s", values=[x]):
        assert tf.get_default_graph() is other
    with pytest.raises(ValueError, match="must be from the same graph as"):
        tf.add(x, tf.constant(1))


def test_elements_by_name() -> None:
    graph = tf.get_default_graph()
    x = tf.constant(1, name="x")
    assert graph.get_tensor_by_name("x:0") is x and graph.get_operation_by_name("x") is x.op
    assert graph.as_graph_element(b"x:0") is x
    for name, error, text in (
        ("y:0", KeyError, "does not exist. The operation, 'y', does not exist"),
        ("x:1", KeyError, "exists but only has 1 outputs"),
        ("x:a", ValueError, "looks a like a Tensor name"),
        ("x", ValueError, "refers to an Operation, not a Tensor"),
        ("y", ValueError, r"looks like an \(invalid\) Operation name"),
    ):
        with pytest.raises(error, match=text):
            graph.get_tensor_by_name(name)
    with pytest.raises(KeyError, match="refers to an Operation not in the graph"):
        graph.get_operation_by_name("y")
    with pytest.raises(ValueError, match="appears to refer to a Tensor, not a Operation"):
        graph.get_operation_by_name("x:0")
    with pytest.raises(TypeError, match="Can not convert a list into a Tensor or Operation"):
        graph.as_graph_element([])
    with pytest.raises(ValueError, match="is not an element of this graph"):
        tf.Graph().as_graph_element(x)
    with pytest.raises(TypeError, match=r"Tensor names are strings \(or similar\), not int"):
        graph.get_tensor_by_name(3)


def test_finalized_graphs_do_not_change() -> None:
    graph = tf.get_default_graph()
    tf.constant(1)
    graph.finalize()
    with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
        tf.constant(2)
    with pytest.raises(RuntimeError, match="finalized"):
        tf.add_to_collection("c", 1)


def test_devices_merge_from_inside_out() -> None:
    with tf.device("/job:ps/cpu:0"):
        with tf.device("/task:1"):
            assert tf.constant(1).device == "/job:ps/task:1/device:CPU:0"
        with tf.device(lambda op: "/gpu:1" if op.type == "NoOp" else op.device):
            assert tf.constant(1).device == "/job:ps/device:CPU:0"
        with tf.device(None):
            assert tf.constant(1).device == ""


def test_colocation() -> None:
    with tf.device("/cpu:1"):
        x = tf.constant(1, name="x")
    with tf.device("/gpu:0"), tf.colocate_with(x):
        y = tf.constant(2, name="y")
    assert y.device == "/device:CPU:1" and y.op.colocation_groups() == [b"loc:@x"]
    assert y.op.get_attr("_class") == [b"loc:@x"]
    with pytest.raises(ValueError, match="Trying to reset colocation"), tf.colocate_with(None):
        pass


def test_control_dependencies_are_pruned() -> None:
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    with tf.control_dependencies([a, b]):
        c = tf.constant(3, name="c")
        d = tf.identity(c, name="d")
        e = tf.identity(a, name="e")
        with tf.control_dependencies([b]):
            assert tf.no_op().control_inputs == [a.op, b.op]
        with tf.control_dependencies(None):
            assert tf.no_op().control_inputs == []
    assert c.op.control_inputs == [a.op, b.op]
    assert d.op.control_inputs == []  # c waits for both already
    assert e.op.control_inputs == [b.op]
    assert set(a.op._control_outputs) >= {c.op}
    with pytest.raises(TypeError, match="Can not convert a int into a Tensor or Operation"):
        tf.control_dependencies([1])


def test_attribute_scopes() -> None:
    graph = tf.get_default_graph()
    with graph._attr_scope({"_mark": tf.AttrValue(i=3)}):
        x = tf.constant(1)
    assert x.op.get_attr("_mark") == 3
    with pytest.raises(ValueError, match="no attr named '_mark'"):
        tf.constant(1).op.get_attr("_mark")
    with graph.gradient_override_map({"Square": "MyOwn"}):
        assert tf.square(1.0).op.get_attr("_gradient_op_type") == b"MyOwn"
    with graph.container("box"):
        assert tf.Variable(1.0).op.get_attr("container") == b"box"


def test_collections() -> None:
    tf.add_to_collections(["a", "b"], 1)
    tf.add_to_collection("a", tf.constant(1, name="scope/x"))
    graph = tf.get_default_graph()
    assert tf.get_collection("b") == [1] and len(tf.get_collection("a")) == 2
    assert len(tf.get_collection("a", scope="scope")) == 1
    assert tf.get_collection("a") is not tf.get_collection_ref("a")
    tf.get_collection_ref("new").append(5)
    assert tf.get_collection("new") == [5] and set(graph.collections) == {"a", "b", "new"}
    graph.clear_collection("new")
    assert tf.get_collection("new") == []


def test_each_operation_knows_the_users_line() -> None:
    op = tf.reduce_sum(tf.constant([1.0])).op
    filename, line, function, text = op.traceback[0]
    assert filename == __file__ and function == "test_each_operation_knows_the_users_line"
    assert "reduce_sum" in text and line > 0


def test_default_graphs_nest() -> None:
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        with second.as_default():
            assert tf.get_default_graph() is second
            with pytest.raises(AssertionError, match="nested graphs"):
                tf.reset_default_graph()
        assert tf.get_default_graph() is first


def test_tensors_refuse_python_control_flow() -> None:
    x = tf.constant([1, 2])
    with pytest.raises(TypeError, match="using a `tf.Tensor` as a Python `bool` is not allowed"):
        bool(x)
    with pytest.raises(TypeError, match="iterating over `tf.Tensor` is not allowed"):
        list(x)
    with pytest.raises(TypeError, match="len is not well defined"):
        len(x)
    assert str(x) == 'Tensor("Const:0", shape=(2,), dtype=int32)'
    assert repr(x) == "<tf.Tensor 'Const:0' shape=(2,) dtype=int32>"


def test_set_shape() -> None:
    x = tf.placeholder(tf.float32)
    x.set_shape([None, 3])
    x.set_shape([2, None])
    assert x.shape.as_list() == [2, 3]
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 2 and"):
        x.set_shape([4, 3])
    with pytest.raises(ValueError, match="Shapes must be equal rank, but are 2 and 1"):
        x.set_shape([4])


@pytest.mark.programs
def test_consumers_and_changed_inputs() -> None:
    x, y = tf.constant(1.0), tf.constant(2.0)
    total = x + x
    assert x.consumers() == [total.op, total.op]
    before = tf.get_default_graph().mutation
    total.op._update_input(0, y)
    assert list(total.op.inputs) == [y, x] and tf.get_default_graph().mutation > before
    with tf.Session() as session:
        assert session.run(total) == 3.0


def test_seeds_follow_the_graph() -> None:
    from numbaflow.engine.graph.seed import DEFAULT_GRAPH_SEED, get_seed

    assert get_seed(None) == (None, None) and get_seed(3) == (DEFAULT_GRAPH_SEED, 3)
    tf.set_random_seed(7)
    tf.constant(0)
    assert get_seed(None) == (7, 1) and get_seed(2**31) == (7, 1)
    tf.set_random_seed(0)
    assert get_seed(0) == (0, 2**31 - 1)


def test_a_reference_to_an_object_is_named_as_in_tensorflow():
    tensor = tf.constant(1.0)
    first, second = tensor.experimental_ref(), tensor.experimental_ref()
    assert type(first).__name__ == "Reference"
    assert first == second
    assert first.deref() is tensor
