# SPDX-License-Identifier: Apache-2.0
"""Loops that call a function of the library for each of some numbers; values that stand in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.ops.flow.function_library import Defun

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def run(*fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches if len(fetches) > 1 else fetches[0])


def _numbered(i, total, product):
    return total + tf.cast(i, tf.float32), product * 2.0


@pytest.mark.parametrize(
    "numbers, expected",
    [((0, 5, 1), [11, 96]), ((5, 0, -2), [10, 24]), ((3, 3, 1), [1, 3]), ((3, 3, 0), [1, 3])],
)
def test_a_function_for_each_number(numbers: Any, expected: Any) -> None:
    body = Defun(tf.int32, tf.float32, tf.float32)(_numbered)
    start, limit, delta = (tf.constant(n) for n in numbers)
    out = tf.raw_ops.For(start=start, limit=limit, delta=delta, input=[1.0, 3.0], body=body)
    assert list(run(*out)) == expected


@pytest.mark.parametrize("numbers", [(5, 0, 1), (0, 4, -1), (1, 2, 0)])
def test_numbers_that_lead_nowhere_are_refused(numbers: Any) -> None:
    body = Defun(tf.int32, tf.float32, tf.float32)(_numbered)
    start, limit, delta = (tf.constant(n) for n in numbers)
    out = tf.raw_ops.For(start=start, limit=limit, delta=delta, input=[1.0, 3.0], body=body)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid start/limit/delta"):
        run(*out)


def test_a_value_that_stands_in() -> None:
    found = tf.raw_ops.FakeParam(dtype=tf.float32, shape=[None, 3])
    assert found.shape.as_list() == [None, 3]
    assert run(found).shape == (0, 3)
