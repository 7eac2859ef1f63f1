# SPDX-License-Identifier: Apache-2.0
"""Subscriptions: what happens whenever a tensor is computed, whoever reads it."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.alias.internals.subscribe import subscribe

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def noting(seen: list[Any]) -> Callable[[Any], list[Any]]:
    """A side effect that notes values."""
    return lambda t: [tf.py_func(lambda x: seen.append(x.tolist()), [t], [])]


def test_readers_and_waiters_wait_for_what_is_noted() -> None:
    seen: list[Any] = []
    x = tf.placeholder(tf.float32, [])
    low, high = tf.split(tf.stack([x, x + 1.0]), 2)
    product = low * low
    with tf.control_dependencies([low, high]):
        after = tf.constant(5.0) * 1.0
    subscribe([low, high], noting(seen))
    with tf.Session() as session:
        assert session.run(product, {x: 3.0}).tolist() == [9.0]
        assert seen == [[3.0]]
        session.run(after, {x: 4.0})
        assert sorted(seen[1:]) == [[4.0], [5.0]]


def test_a_second_subscription_uses_the_same_copy() -> None:
    first: list[Any] = []
    second: list[Any] = []
    x = tf.constant(2.0) * 1.0
    copy = subscribe(x, noting(first))
    assert subscribe(x, noting(second)) is copy and subscribe(copy, noting(second)) is copy
    with tf.Session() as session:
        session.run(copy)
    assert first == [2.0] and second == [2.0, 2.0]


def test_structures_come_back() -> None:
    pair = collections.namedtuple("pair", "a b")
    v = tf.Variable(1.0)
    given = {"k": [tf.constant(1.0), (v,)], "p": pair(tf.constant(2.0), tf.constant(3.0))}
    seen: list[Any] = []
    found = subscribe(given, noting(seen))
    assert isinstance(found["p"], pair) and isinstance(found["k"][1], tuple)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run([found["p"].b, found["k"][1][0]])
    assert sorted(seen) == [1.0, 3.0]
    with pytest.raises(TypeError, match="invalid type"):
        subscribe("x", noting(seen))


def test_within_a_branch() -> None:
    seen: list[Any] = []
    inside: list[Any] = []
    x = tf.placeholder(tf.float32, [])

    def yes() -> Any:
        inside.append(x * 2.0)
        return inside[0] + 1.0

    y = tf.cond(x > 0.0, yes, lambda: x)
    subscribe(inside[0], noting(seen))
    with tf.Session() as session:
        assert [float(session.run(y, {x: value})) for value in (3.0, -3.0, 1.0)] == [7.0, -3.0, 3.0]
    assert seen == [6.0, 2.0]
