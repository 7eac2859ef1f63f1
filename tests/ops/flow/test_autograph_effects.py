# SPDX-License-Identifier: Apache-2.0
"""tf.function: datasets, builtin functions, features, and effects in branches and loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu
Feature = tf.autograph.experimental.Feature


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _values(found: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run(found), session.run(tf.global_variables())]


def test_effects_in_loops_and_branches_happen_in_order() -> None:
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    w = tf.get_variable("w", initializer=0.0, use_resource=True)

    @tf.function
    def changes(n: Any) -> Any:
        v.assign(1.0)
        for _ in tf.range(n):
            v.assign_add(1.0)
            w.assign(v * 2.0)
        if n > 2:
            v.assign_add(100.0)
        return v.read_value()

    assert _values(changes(tf.constant(4))) == [105.0, [105.0, 10.0]]
    assert _values(changes(tf.constant(2))) == [3.0, [3.0, 6.0]]


def test_training_over_a_dataset() -> None:
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    dataset = tf.data.Dataset.from_tensor_slices(([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]))

    @tf.function
    def train() -> Any:
        total = 0.0
        for x, y in dataset:
            with tf.GradientTape() as tape:
                loss = (v * x - y) ** 2
            optimizer.apply_gradients([(tape.gradient(loss, v), v)])
            total += loss
        return total

    expected, value = 0.0, 0.0
    for x, y in ((1.0, 2.0), (2.0, 4.0), (3.0, 6.0)):
        expected += (value * x - y) ** 2
        value -= 0.1 * 2 * (value * x - y) * x
    total, (found,) = _values(train())
    np.testing.assert_allclose([total, found], [expected, value], rtol=1e-5)


def test_datasets_and_iterators_are_left_early() -> None:
    @tf.function
    def some() -> Any:
        total = tf.constant(0, tf.int64)
        for x in tf.data.Dataset.range(10):
            if tf.equal(x, 3):
                continue
            if x > 6:
                break
            total += x
        return total

    @tf.function
    def of_iterator() -> Any:
        total = tf.constant(0, tf.int64)
        for x in iter(tf.data.Dataset.range(10)):
            total += x
            if x > 6:
                break
        return total

    assert _values(some())[0] == 18
    assert _values(of_iterator())[0] == 28


def test_builtin_functions(capfd: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def several(n: Any) -> Any:
        total = tf.constant(0, tf.int64)
        for a, b in zip(tf.data.Dataset.range(4), tf.data.Dataset.range(4)):
            total += a * b
        for i, x in enumerate(tf.data.Dataset.range(4)):
            total += i * x
        for i in range(n):
            total += tf.cast(i, tf.int64)
        return total, len(tf.zeros([7])), abs(tf.constant(-2)), int(tf.constant(2.5)), float(n)

    assert _values(several(tf.constant(3)))[0] == (31, 7, 2, 2, 3.0)

    @tf.function(experimental_autograph_options=Feature.BUILTIN_FUNCTIONS)
    def told(n: Any) -> Any:
        print("n is", n)
        return n

    assert _values(told(tf.constant(3)))[0] == 3
    assert "n is 3" in capfd.readouterr().out


def test_features() -> None:
    def is_two(x: Any) -> Any:
        assert x > 0, "too small"
        if x == 2:
            x = x * 10
        return x

    plain = tf.autograph.to_graph(is_two)
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        plain(tf.constant(2))
    all_of_them = tf.function(is_two, experimental_autograph_options=Feature.ALL)
    assert _values(all_of_them(tf.constant(2)))[0] == 20
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
        _values(all_of_them(tf.constant(-1)))


def test_lists_of_tensors() -> None:
    def squares(n: Any) -> Any:
        found = []
        for i in tf.range(n):
            found.append(i * i)
        return tf.contrib.autograph.stack(found, tf.int32)

    made = tf.autograph.to_graph(squares, experimental_optional_features=Feature.LISTS)
    assert _values(made(tf.constant(4)))[0].tolist() == [0, 1, 4, 9]


def test_assertions_and_conditionals_of_functions_need_no_dependencies() -> None:
    """Of tf.cond and tf.while_loop themselves, too; what is behind waits for them."""
    v = tf.get_variable("v", initializer=0.0, use_resource=True)

    @tf.function
    def checked(x: Any) -> Any:
        tf.debugging.assert_less(x, 5.0, message="too big")
        for _ in tf.range(2):
            tf.Assert(x > 0.0, ["not positive"])
        return x

    @tf.function
    def changed(x: Any) -> Any:
        tf.cond(x > 0.0, lambda: (v.assign_add(1.0), x)[1], lambda: x)
        tf.while_loop(lambda i: i < 2, lambda i: (v.assign(v * 3.0), i + 1)[1], [0])
        return x + v

    x = tf.placeholder(tf.float32, [])
    safe, told = checked(x), changed(x)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(safe, {x: 1.0}) == 1
        for bad, text in ((7.0, "too big"), (-1.0, "not positive")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(safe, {x: bad})
        assert session.run(told, {x: 2.0}) == 11
        assert session.run([told, v], {x: -2.0})[0] == 79


def test_variables_are_made_whatever_a_function_did_before() -> None:
    made: list[Any] = []
    x = tf.placeholder(tf.float32, [])
    v = tf.get_variable("before", initializer=x.dtype.as_numpy_dtype(1.0), use_resource=True)

    @tf.function
    def adding(a: Any) -> Any:
        for _ in tf.range(2):
            v.assign_add(a)
        if not made:
            made.append(tf.Variable(5.0))
        return made[0].assign_add(v)

    y = adding(x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(made[0]) == 5
        assert [float(session.run(y, {x: 1.0})) for _ in range(2)] == [8.0, 13.0]
