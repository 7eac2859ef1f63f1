# SPDX-License-Identifier: Apache-2.0
"""Python functions as operations: what they get, give and raise; gradients of `py_function`."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.programs


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_functions_get_scalars_arrays_and_bytes(session):
    seen = []

    def look(*args):
        seen.extend(args)
        return np.float32(0)

    session.run(tf.py_func(look, [1.5, [1, 2], b"abc", ["a", "b"], True], tf.float32))
    assert [type(value).__name__ for value in seen] == [
        "float32",
        "ndarray",
        "bytes",
        "ndarray",
        "bool",
    ]
    assert seen[3].tolist() == [b"a", b"b"]


@pytest.mark.parametrize(
    ("result", "kinds", "text"),
    [
        (1.0, tf.float32, "0-th value returned by pyfunc_[0-9]+ is double, but expects float"),
        ((1, 2), [tf.int64], "returns 2 values, but expects to see 1 values"),
        (1, [], "returns 1 values, but expects to see 0 values"),
        (None, tf.int64, "returns 0 values, but expects to see 1 values"),
    ],
)
def test_wrong_results(session, result, kinds, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(tf.py_func(lambda: result, [], kinds))


@pytest.mark.parametrize("bad", [{"a": 1}, np.array(["a", 1], object), np.zeros(1, [("f", "f4")])])
def test_unsupported_results(session, bad):
    with pytest.raises(tf.errors.InternalError, match="Unsupported"):
        session.run(tf.py_func(lambda: bad, [], tf.string))


def test_texts_become_bytes(session):
    results = tf.py_func(lambda: ["é", np.array(["a", "bc"])], [], [tf.string, tf.string])
    text, array = session.run(results)
    assert text == "é".encode()
    assert array.tolist() == [b"a", b"bc"]


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ValueError, tf.errors.InvalidArgumentError),
        (StopIteration, tf.errors.OutOfRangeError),
        (NotImplementedError, tf.errors.UnimplementedError),
        (KeyError, tf.errors.UnknownError),
    ],
)
def test_errors_show_the_way(session, raised, expected):
    def fail():
        raise raised("blah")

    op = tf.py_func(fail, [], [], name="broken")
    with pytest.raises(expected, match=rf"(?s){raised.__name__}: '?blah.*in fail.*broken"):
        session.run(op)


@pytest.mark.pure
def test_the_graph_keeps_functions():
    def build():
        def same(x):
            return x

        with tf.Graph().as_default():
            tf.py_func(same, [1], tf.int32)
            kept = weakref.ref(same)
            del same
            gc.collect()
            assert kept() is not None
            return kept

    kept = build()
    gc.collect()
    assert kept() is None


@pytest.mark.cpu
def test_stateless_functions_without_inputs_run_once(session):
    numbers = iter(range(3))
    x = tf.py_func(lambda: next(numbers), [], tf.int64, stateful=False)
    assert [session.run(x) for _ in range(3)] == [0, 0, 0]


@pytest.mark.cpu
def test_py_function_sees_values_and_has_gradients(session):
    def log_huber(x, m):
        if tf.abs(x) <= m:
            return x**2
        return m**2 * (1 - 2 * tf.log(m) + tf.log(x**2))

    x, m = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    y = tf.py_function(log_huber, [x, m], tf.float32)
    grad = tf.gradients(y, x)[0]
    assert session.run([y, grad], {x: 1.0, m: 2.0}) == [1.0, 2.0]
    np.testing.assert_allclose(session.run(grad, {x: 4.0, m: 2.0}), 2.0)


def test_py_function_runs_operations_at_once(session):
    def count(x):
        assert x.numpy().tolist() == [1, 2]
        v = tf.Variable(5, use_resource=True)
        return [int(i) + v.assign_add(1) for i in x]

    assert session.run(tf.py_function(count, [[1, 2]], [tf.int32] * 2)) == [7, 9]


def test_py_function_refuses_variables(session):
    y = tf.py_function(lambda: tf.Variable(0.0), [], tf.float32)
    with pytest.raises(tf.errors.UnknownError, match="Attempting to return a variable"):
        session.run(y)
