# SPDX-License-Identifier: Apache-2.0
"""Scopes and functions for XLA, which change attributes and no results."""

from __future__ import annotations

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

xla, jit = tf.contrib.compiler.xla, tf.contrib.compiler.jit


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_scopes_mark_operations():
    with jit.experimental_jit_scope():
        first = tf.constant(1.0)
        with jit.experimental_jit_scope(lambda node: node.op == "Neg", True):
            second, third = tf.negative(first), tf.square(first)
    with jit.experimental_jit_scope(False):
        fourth = tf.negative(first)
    marks = [t.op.get_attr("_XlaCompile") for t in (first, second, third, fourth)]
    scopes = [t.op.get_attr("_XlaScope") for t in (first, second, fourth)]
    assert marks == [True, True, False, False]
    assert scopes == [b"jit_scope_0", b"jit_scope_0", b"jit_scope_1"]
    assert second.op.get_attr("_XlaSeparateCompiledGradients")
    with pytest.raises(ValueError):
        tf.negative(first).op.get_attr("_XlaScope")
    with tf.Session() as session:
        assert session.run([second, fourth]) == [-1, -1]


def test_compiled_functions_are_called():
    def step(x, pair):
        w = tf.get_variable("w", initializer=2.0)
        return w * x + pair[0], tf.assign_add(w, pair[1]).op

    (y,) = xla.compile(step, [tf.constant(3.0), (1.0, 10.0)])
    named = xla.compile(lambda: {"a": tf.constant(1), "b": (tf.constant(2),)})
    nothing = xla.compile(lambda: None)
    assert y.op.name == "output_0" and isinstance(nothing, tf.Operation)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y) in (7.0, 37.0)
        assert session.run(tf.get_collection("variables")[0]) == 12.0
        assert session.run(named) == {"a": 1, "b": (2,)}
    with pytest.raises(TypeError, match="inputs must be a list"):
        xla.compile(step, 3)
    with pytest.raises(ValueError, match="followed by zero or more Operations"):
        xla.compile(lambda: (tf.no_op(), tf.constant(1)))


def test_arguments_are_counted():
    check = xla.check_function_argument_count
    assert check(lambda a, b: 0, 2, None) is None
    assert check(lambda a, b: 0, 1, None) == "exactly 2 arguments"
    assert check(lambda a, b=1: 0, 3, None) == "at most 2 arguments"
    assert check(lambda a, b=1, *c: 0, 0, None) == "at least 1 argument"
    assert check(lambda *c: 0, 9, None) is None
