# SPDX-License-Identifier: Apache-2.0
"""Optionals that branches give: gradients take from them what the branch has computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.public import raw

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _functions():
    tf.enable_control_flow_v2()
    with tf.Graph().as_default():
        yield
    tf.disable_control_flow_v2()


def both(fetches: Any, feeds: list[Any], is_whole: bool = True) -> list[Any]:
    """Results of runs one after the other, by reference kernels and compiled."""
    found = []
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            found.append([session.run(fetches, feed) for feed in feeds])
            if mode == "always":
                text = str(session.explain(fetches, feeds[0]))
                assert ("piece by piece" not in text and "host" not in text) == is_whole
    for one, other in zip(*found, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)
    return found[1]


def first(x: Any) -> Any:
    return tf.tanh(x) * tf.exp(-x * x)


def last(x: Any) -> Any:
    return tf.sigmoid(x) * x


@pytest.mark.parametrize("shape", [[None], [3]])
def test_gradients_of_a_branch_take_what_it_computed(shape: list[int | None]):
    x, flag = tf.placeholder(tf.float32, shape), tf.placeholder(tf.bool, [])
    y = tf.cond(flag, lambda: first(x), lambda: last(x))
    slopes = tf.gradients(y, x)[0]
    curves = tf.gradients(slopes, x)[0]
    rows = np.array([0.5, -1.0, 2.0], np.float32)
    found = both([y, slopes, curves], [{x: rows, flag: side} for side in (True, False, True)])
    assert not np.array_equal(found[0][1], found[1][1])


def test_branches_within_branches():
    x = tf.placeholder(tf.float32, [3])
    flags = [tf.placeholder(tf.bool, []) for _ in range(2)]

    def inner(function: Callable[[Any], Any]) -> Any:
        return tf.cond(flags[1], lambda: function(x) * x, lambda: first(function(x)))

    y = tf.cond(flags[0], lambda: inner(first), lambda: inner(last))
    rows = np.array([0.5, -1.0, 2.0], np.float32)
    sides = [(a, b) for a in (True, False) for b in (True, False)]
    feeds = [{x: rows, **dict(zip(flags, each))} for each in sides]
    both([y, tf.gradients(y, x)[0]], feeds)


def test_several_branches():
    x, number = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
    branches = [lambda: first(x), lambda: last(x), lambda: x * x * x]
    y = tf.switch_case(number, branches)
    rows = np.array([0.5, -1.0, 2.0], np.float32)
    both([y, tf.gradients(y, x)[0]], [{x: rows, number: n} for n in (0, 1, 2, 7)])


def test_what_is_not_there_is_asked_of_reference_kernels():
    x, flag = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.bool, [])
    given = tf.cond(flag, lambda: raw.OptionalFromValue([x]), lambda: raw.OptionalNone())
    (value,) = raw.OptionalGetValue(given, output_types=[tf.float32], output_shapes=[[3]])
    is_there = raw.OptionalHasValue(given)
    rows = np.ones(3, np.float32)
    feeds = [{x: rows, flag: side} for side in (True, False)]
    assert [bool(found[0]) for found in both([is_there], feeds, is_whole=False)] == [True, False]
    with settings.override(jit="always"), tf.Session() as session:
        np.testing.assert_array_equal(session.run(value, feeds[0]), rows)
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
            session.run(value, feeds[1])
