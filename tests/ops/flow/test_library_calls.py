# SPDX-License-Identifier: Apache-2.0
"""Branches and loops of graph functions: results, gradients, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.ops.flow import library_calls as calls
from numbaflow.ops.flow.function_library import Defun

pytestmark = pytest.mark.cpu
F, N = tf.float32, tf.int32


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as new:
        yield new


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


@pytest.mark.parametrize("x, expected", [(4.0, 8.0), (-3.0, -9.0)])
def test_one_of_two(x: float, expected: float) -> None:
    twice, thrice = Defun(F)(lambda v: v * 2.0), Defun(F)(lambda v: v * 3.0)
    given = tf.constant(x)
    assert run(calls.If(given > 0.0, [given], twice, thrice)) == [expected]


def test_a_loop_takes_values_from_outside_along() -> None:
    v = tf.Variable(1.0, use_resource=False)
    goes_on = Defun(F, F)(lambda n, x: n < 10.0)
    found = calls.While([1.0, 0.0], goes_on, Defun(F, F)(lambda n, x: (n + 1.0, x + n + v)))
    assert len(found) == 2 and run(found) == [10.0, 54.0]


@pytest.mark.parametrize("as_while", [False, True])
def test_a_range_of_numbers(graph: Any, as_while: bool) -> None:
    v = tf.Variable(0.5, use_resource=False)
    body = Defun(N, F, func_name="Added")(lambda i, x: x + tf.cast(i, F) + v)
    up, down = (
        calls.For(*span, [0.0], body, rewrite_with_while=as_while)[0]
        for span in ((1, 21, 1), (100, 0, -1))
    )
    assert run([up, down]) == [220.0, 5100.0]
    names = {function.signature.name for function in graph.as_graph_def().library.function}
    assert {"Added", "Added_Cond", "Added_Body"} <= names or not as_while


def test_the_gradient_of_a_function() -> None:
    square = Defun(F)(lambda x: x * x)
    assert run(calls.Gradient([3.0, 2.0], square)) == [12.0]


def test_a_call_knows_its_types() -> None:
    both = Defun(F, F)(lambda x, y: (x + y, x - y))
    found = calls.partitioned_call([3.0, 1.0], both)
    assert [one.op.type for one in found] == ["PartitionedCall"] * 2
    assert run(found) == [4.0, 2.0]


def test_what_is_refused() -> None:
    v = tf.Variable(1.0, use_resource=False)
    body = Defun(F)(lambda n: n + 1.0)
    with pytest.raises(ValueError, match="without implicitly captured inputs"):
        calls.While([1.0], Defun(F)(lambda n: n < v), body)
    with pytest.raises(ValueError, match="signatures do not match"):
        calls.While([1.0], Defun(N)(lambda n: n < 3), body)
    below = Defun(F)(lambda n: n < 3.0)
    for make, text in (
        (
            lambda: calls.While([1.0], Defun(F)(lambda n: (n < 3.0, n)), body),
            "Expected a single scalar return value from WhileOp cond, got 2 tensors",
        ),
        (
            lambda: calls.While([1.0], below, Defun(F)(lambda n: (n, n))),
            "While loop body returned 2 arguments. Expected: 1",
        ),
        (
            lambda: calls.For(0, 3, 1, [1.0], Defun(N, F)(lambda i, x: (x, x))),
            "For loop body returned 2 arguments. Expected: 1",
        ),
        (
            lambda: calls.For([0], 3, 1, [1.0], Defun(N, F)(lambda i, x: x)),
            r"start must be a scalar, but \[1\]",
        ),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            run(make())
