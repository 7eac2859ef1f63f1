# SPDX-License-Identifier: Apache-2.0
"""Python functions as graph functions: what they take in, their gradients, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.flow.function_library import (
    Declare,
    Defun,
    from_library,
    get_extra_args,
    get_extra_inputs,
    get_extra_vars,
)

pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def graph() -> Any:
    new = tf.Graph()
    with new.as_default():
        yield new


def run(*fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        results = session.run(list(fetches), feeds)
    return results[0] if len(fetches) == 1 else results


def test_a_call_is_one_node(graph: Any) -> None:
    @Defun(tf.float32, tf.float32, func_name="Both")
    def both(x, y):
        """Sum and difference."""
        return x + y, x - y

    total, difference = both(3.0, 1.0, name="call")
    assert [op.type for op in graph.get_operations()] == ["Const", "Const", "Both"]
    assert total.op.name == "call"
    assert run(total, difference) == [4.0, 2.0]
    (definition,) = graph.as_graph_def().library.function
    assert definition.signature.description == "Sum and difference."
    assert [arg.name for arg in definition.signature.output_arg] == ["add", "sub"]
    # A graph that was written and read runs as well.
    with tf.Graph().as_default():
        (y,) = tf.import_graph_def(graph.as_graph_def(), return_elements=["call:1"])
        assert run(y) == 2.0


@pytest.mark.pure
def test_names_tell_functions_apart() -> None:
    def make(factor: float) -> Any:
        @Defun(tf.float32)
        def scaled(x):
            return x * factor

        return scaled

    assert make(2.0).name == make(2.0).name != make(3.0).name
    assert make(2.0).name.startswith("scaled_")


def test_each_combination_of_types_is_a_function(graph: Any) -> None:
    @Defun(func_name="Twice")
    def twice(x):
        return x + x

    assert run(twice(tf.constant(2)), twice(1.5)) == [4, 3.0]
    assert sorted(graph._functions) == ["Twice_f32", "Twice_i32"]
    with pytest.raises(ValueError, match="Unsupported dtypes"):
        twice.instantiate([tf.resource])


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_lies_outside_becomes_a_parameter(use_resource: bool) -> None:
    outside = tf.constant([1.0, 2.0])
    seen = []

    @Defun(tf.float32)
    def inner(x):
        w = tf.get_variable("w", initializer=[3.0, 4.0], use_resource=use_resource)
        y = x * outside + w
        seen.extend([get_extra_inputs(), get_extra_args(), get_extra_vars()])
        return y

    with tf.variable_scope("scope"):
        y = inner([1.0, 1.0])
    np.testing.assert_array_equal(run(y), [4.0, 6.0])
    assert [v.name for v in tf.trainable_variables()] == ["scope/w:0"]
    assert inner.captured_inputs[0] is outside and len(inner.captured_inputs) == 2
    assert [len(found) for found in seen] == [2, 2, 1]
    assert (get_extra_inputs(), get_extra_args(), get_extra_vars()) == ([], [], [])


def test_what_lies_outside_may_be_copied() -> None:
    base = tf.constant([1.0, 2.0]) * 2.0

    @Defun(tf.float32, capture_by_value=True)
    def inner(x):
        return x + base

    assert inner.captured_inputs == []
    np.testing.assert_array_equal(run(inner(1.0)), [3.0, 5.0])
    for make, expected in (
        (lambda: tf.random_uniform([2]), "Cannot capture a stateful node"),
        (lambda: tf.placeholder(tf.float32), "Cannot capture a placeholder"),
    ):
        wrong = Defun(tf.float32, capture_by_value=True)(_plus(make()))
        with pytest.raises(ValueError, match=expected):
            wrong(1.0)


@pytest.mark.cpu
def test_gradients_follow_from_the_body() -> None:
    @Defun(tf.float32)
    def inner(x):
        return tf.tanh(x)

    @Defun(tf.float32, tf.float32, tf.int32)
    def outer(x, y, n):
        return inner(x) * y, n + 1

    x, y = tf.constant([0.5, -1.0]), tf.constant([2.0, 3.0])
    product, _ = outer(x, y, 3)
    plain = tf.tanh(x) * y
    expected = tf.gradients(plain, [x, y])
    found = tf.gradients(product, [x, y])
    for a, b in zip(run(*expected), run(*found)):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_gradients_of_its_own() -> None:
    @Defun(tf.float32, tf.float32)
    def gradient(x, dy):
        return dy * 10.0 + 0.0 * x

    @Defun(tf.float32, grad_func=gradient)
    def one(x):
        return x * 2.0

    @Defun(tf.float32, python_grad_func=lambda op, dy: dy * 20.0)
    def two(x):
        return x * 2.0

    x = tf.constant(3.0)
    assert run(*[tf.gradients(f(x), x)[0] for f in (one, two)]) == [10.0, 20.0]
    wrong = Defun(tf.float32, grad_func=Defun(tf.float32, tf.float32)(lambda x, dy: (x, dy)))(
        lambda x: x * 3.0
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="SymGrad expects to return 1"):
        run(tf.gradients(wrong(x), x)[0])


@pytest.mark.cpu
def test_functions_in_branches_and_loops() -> None:
    """Constants within a body belong to the round in which it is called."""

    @Defun(tf.float32)
    def twice(x):
        return x * tf.cast(tf.constant(2), tf.float32)

    @Defun(tf.float32)
    def fails(x):
        with tf.control_dependencies([tf.Assert(False, [42])]):
            return tf.identity(x)

    flag = tf.placeholder(tf.bool)
    loop = tf.while_loop(lambda x: x < 1e5, lambda x: tf.reshape(twice(x), []), [1.0])
    choice = tf.cond(flag, lambda: twice(3.0), lambda: fails(3.0))
    assert run(loop, choice, feeds={flag: True}) == [131072.0, 6.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        run(choice, feeds={flag: False})


def test_effects_within_a_branch_of_a_body() -> None:
    """An assertion whose condition is computed lies in a branch: it may not run."""

    @Defun(tf.float32)
    def checked(x):
        with tf.control_dependencies([tf.Assert(x < 10.0, [x])]):
            return tf.identity(x)

    assert run(checked(1.0)) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        run(checked(100.0))


def test_declared_before_it_is_defined(graph: Any) -> None:
    square = Declare("Square", [("x", tf.float32)], [("y", tf.float32)])
    y = square(3.0)

    @Defun(tf.float32, func_name="Square", out_names=["y"])
    def defined(x):
        return x * x

    defined.add_to_graph(graph)
    assert run(y) == 9.0
    with pytest.raises(ValueError, match="Expected names to all be unique"):
        Declare("Odd", [("x", tf.float32), ("x", tf.float32)], [])


def test_a_library_comes_back(graph: Any) -> None:
    @Defun(tf.float32, tf.float32, func_name="Slope")
    def slope(x, dy):
        return dy * 7.0

    @Defun(tf.float32, func_name="Line", grad_func=slope)
    def line(x):
        return x * 7.0

    line(1.0)
    library = graph.as_graph_def().library
    found = {function.name: function for function in from_library(library)}
    assert sorted(found) == ["Line", "Slope"]
    with tf.Graph().as_default():
        x = tf.constant(2.0)
        y = found["Line"](x)
        assert run(y, tf.gradients(y, x)[0]) == [14.0, 7.0]
    library.gradient.add(function_name="Slope", gradient_func="Line")
    with pytest.raises(ValueError, match="cyclic gradient functions"):
        from_library(library)
    library.gradient[1].gradient_func = "None"
    with pytest.raises(ValueError, match="missing 'None' FunctionDef"):
        from_library(library)
    assert from_library(tf.GraphDef().library) == []


@pytest.mark.pure
def test_shapes_of_a_call() -> None:
    function = Defun(tf.float32, shape_func=lambda op: [[2, 3]])(lambda x: tf.reshape(x, [2, 3]))
    assert function(tf.zeros([6])).shape.as_list() == [2, 3]
    wrong = Defun(tf.float32, shape_func=lambda op: [])(lambda x: x * 1.0)
    with pytest.raises(ValueError, match="shape_func produced 0 shapes for 1 outputs"):
        wrong(1.0)


@pytest.mark.pure
@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: Defun()(lambda: None)(1), "arguments: 0, received: 1"),
        (lambda: Defun(tf.float32)(lambda x: (x, None))(1.0), "can not return None"),
        (lambda: Defun()(lambda x=1: x), "are not supported"),
        (lambda: Defun(tf.float32)(lambda x, y: x), "specified input types"),
        (lambda: Defun(tf.float32)(lambda x: x)(1.0, device="/gpu:0"), "Unknown keyword"),
        (lambda: Defun()(3), "must be callable"),
        (
            lambda: Defun(tf.float32, out_names=["a", "a"])(lambda x: (x, x))(1.0),
            "Must not have duplicates",
        ),
        (
            lambda: Defun(tf.float32, experimental_x=[])(lambda x: x)(1.0),
            "Unsupported attribute type",
        ),
    ],
)
def test_what_is_refused(make: Any, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        make()


@pytest.mark.pure
def test_two_functions_of_one_name(graph: Any) -> None:
    for factor in (2.0, 2.0):
        Defun(tf.float32, func_name="Same")(_scaled(factor))(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a different function"):
        Defun(tf.float32, func_name="Same")(_scaled(3.0))(1.0)


def _scaled(factor: float) -> Any:
    return lambda x: x * factor


def _plus(other: Any) -> Any:
    return lambda x: x + other
