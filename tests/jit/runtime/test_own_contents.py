# SPDX-License-Identifier: Apache-2.0
"""Variables, and what loops carry, become their own elements in another order: none is read after
another one has been written over it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

START = np.arange(9.0).reshape(3, 3) + np.eye(3)
MOVES: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], np.ndarray]]] = {
    "slice": (lambda x: x[::-1], lambda x: x[::-1]),
    "reverse": (lambda x: tf.reverse(x, [1]), lambda x: x[:, ::-1]),
    "transpose": (tf.transpose, np.transpose),
    "first": (lambda x: tf.broadcast_to(x[1:2], [3, 3]), lambda x: np.tile(x[1:2], [3, 1])),
    "gather": (lambda x: tf.gather(x, [2, 0, 1]), lambda x: x[[2, 0, 1]]),
    "columns": (lambda x: tf.gather(x, [1, 2, 0], axis=1), lambda x: x[:, [1, 2, 0]]),
    "gather_nd": (lambda x: tf.gather_nd(x, [[2], [0], [1]]), lambda x: x[[2, 0, 1]]),
    "computed": (lambda x: tf.gather(x, [2, 0, 1]) * 2.0, lambda x: x[[2, 0, 1]] * 2.0),
    "part": (lambda x: x * x[:1] - x[:, 1:2], lambda x: x * x[:1] - x[:, 1:2]),
    "parts": (lambda x: tf.concat([x[1:], x[:1]], 0), lambda x: np.roll(x, -1, 0)),
}


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()


@pytest.mark.parametrize("mode", ["always", "never"])
@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("name", MOVES)
def test_variables(name: str, use_resource: bool, mode: str) -> None:
    move, meant = MOVES[name]
    v = tf.Variable(START, use_resource=use_resource)
    w = tf.Variable(START, use_resource=use_resource)
    assign, add = v.assign(move(v)).op, w.assign_add(move(w)).op
    with settings.override(jit=mode), tf.Session() as session:
        session.run([v.initializer, w.initializer])
        session.run([assign, add])
        found = session.run([v, w])
    np.testing.assert_array_equal(found[0], meant(START))
    np.testing.assert_array_equal(found[1], START + meant(START))


@pytest.mark.parametrize("mode", ["always", "never"])
@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("name", MOVES)
def test_variables_that_turns_of_a_loop_assign(name: str, use_resource: bool, mode: str) -> None:
    move, meant = MOVES[name]
    v = tf.Variable(START, use_resource=use_resource)

    def turn(i: Any, first: Any) -> Any:
        with tf.control_dependencies([v.assign(move(v))]):
            return i + 1, first + v[0]

    loop = tf.while_loop(lambda i, _: i < 2, turn, [0, np.zeros(3)], parallel_iterations=1)
    with settings.override(jit=mode), tf.Session() as session:
        session.run(v.initializer)
        found = session.run(loop[1])
        np.testing.assert_array_equal(session.run(v), meant(meant(START)))
    np.testing.assert_array_equal(found, meant(START)[0] + meant(meant(START))[0])


@pytest.mark.parametrize("mode", ["always", "never"])
@pytest.mark.parametrize("use_resource", [False, True])
def test_what_was_read_before_a_loop_stays(use_resource: bool, mode: str) -> None:
    v = tf.Variable(START, use_resource=use_resource)
    before = v.read_value() if use_resource else v * 1.0

    def turn(i: Any, total: Any) -> Any:
        with tf.control_dependencies([v.assign_add(before)]):
            return i + 1, total + before[::-1]

    loop = tf.while_loop(lambda i, _: i < 3, turn, [0, START], parallel_iterations=1)
    with settings.override(jit=mode), tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(loop[1]), START + 3 * START[::-1])
        np.testing.assert_array_equal(session.run(v), 4 * START)


@pytest.mark.parametrize("rows", [3, None])
@pytest.mark.parametrize("name", MOVES)
def test_what_loops_carry(name: str, rows: int | None) -> None:
    move, meant = MOVES[name]
    x = tf.placeholder_with_default(START, [rows, rows])
    shapes = [tf.TensorShape([]), tf.TensorShape([rows, rows])]
    _, y = tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, move(y)), [0, x], shapes)
    with settings.override(jit="always"), tf.Session() as session:
        np.testing.assert_array_equal(session.run(y), meant(meant(START)))


@pytest.mark.parametrize("mode", ["always", "never"])
@pytest.mark.parametrize("shape", [(4,), (4, 1), (4, 3)])
def test_rows_of_a_variable_become_other_rows_of_it(shape: tuple[int, ...], mode: str) -> None:
    start = np.arange(np.prod(shape), dtype=np.int32).reshape(shape) % 4
    rows = [2, 0, 3, 1]
    v, w, n = (tf.Variable(start, use_resource=True) for _ in range(3))
    updates = [
        tf.scatter_update(v, rows, v.read_value()),
        tf.scatter_add(w, rows, tf.reshape(w, shape)),
        tf.scatter_update(n, tf.reshape(n, [-1])[:4] % 4, n),
    ]
    with settings.override(jit=mode), tf.Session() as session:
        session.run([v.initializer, w.initializer, n.initializer])
        session.run(updates)
        found = session.run([v, w, n])
    moved, renamed = np.empty_like(start), start.copy()
    moved[rows] = start
    for row, value in zip(start.ravel()[:4], start):
        renamed[row] = value
    for got, meant in zip(found, [moved, start + moved, renamed], strict=True):
        np.testing.assert_array_equal(got, meant)


SWAPS: dict[str, Callable[[Any, Any, Any], tuple[Any, Any]]] = {
    "sums": lambda a, b, y: (y * y + b, y * y + a),
    "differences": lambda a, b, y: (tf.minimum(y, 2.0) - b, tf.minimum(y, 2.0) + a),
    "turned": lambda a, b, y: (y * a - b, y * b + a),
    "beside": lambda a, b, y: (b, tf.minimum(a * b, 5.0)),
}


@pytest.mark.parametrize("name", SWAPS)
def test_what_loops_carry_becomes_what_another_was(name: str) -> None:
    """Both are computed from what was there, and their gradients likewise."""
    found = []
    y = tf.placeholder(tf.float64, [None])
    shapes = [tf.TensorShape([]), tf.TensorShape([None]), tf.TensorShape([None])]
    turn = lambda i, a, b: (i + 1, *SWAPS[name](a, b, y))  # noqa: E731
    loop = tf.while_loop(lambda i, *_: i < 3, turn, [0, y, y * 3.0], shapes)
    fetches = [*loop[1:], tf.gradients([loop[1], loop[2] * 2.0], [y])[0]]
    for mode in "never", "always":
        with settings.override(jit=mode), tf.Session() as session:
            found.append(session.run(fetches, {y: [1.0, 2.0, -3.0, 0.5]}))
    for want, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, want)


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_become_what_others_were(use_resource: bool) -> None:
    v, w = (tf.Variable(START * k, use_resource=use_resource) for k in (1, 2))
    x = tf.placeholder(tf.float64, [3, 3])
    shared = tf.square(x)
    one, other = shared + w, shared - v
    with tf.control_dependencies([one, other]):
        swap = tf.group(v.assign(one), w.assign(other))
    with settings.override(jit="always"), tf.Session() as session:
        session.run([v.initializer, w.initializer])
        session.run(swap, {x: START})
        found = session.run([v, w])
    np.testing.assert_array_equal(found, [START**2 + 2 * START, START**2 - START])
