# SPDX-License-Identifier: Apache-2.0
"""The global step, moving averages and decays beyond what the recordings hold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as g:
        yield g


def test_global_step() -> None:
    assert tf.train.get_global_step() is None
    step = tf.train.create_global_step()
    assert step.op.name == "global_step" and step.dtype.base_dtype == tf.int64
    assert tf.train.get_global_step() is step
    assert tf.train.get_or_create_global_step() is step
    assert step not in tf.trainable_variables()
    with pytest.raises(ValueError, match="already exists"):
        tf.train.create_global_step()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.assign_add(step, 5))
        assert tf.train.global_step(session, step) == 5


def test_global_step_found_by_name(graph: tf.Graph) -> None:
    tf.Variable(0, name="global_step", trainable=False)
    assert tf.train.get_global_step(graph).name == "global_step:0"


@pytest.mark.parametrize(
    ("value", "message"),
    [(1.0, "integer type"), ([1, 2], "not scalar")],
)
def test_a_step_must_be_an_integer_scalar(value: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        tf.train.assert_global_step(tf.constant(value))
    with pytest.raises(TypeError, match="Variable or Tensor"):
        tf.train.assert_global_step(3)


def test_average_names_and_restoring() -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    other = tf.Variable(3.0, name="other", trainable=False)
    ema = tf.train.ExponentialMovingAverage(0.5, name="Mean")
    assert ema.average(w) is None and ema.average_name(w) == "w/Mean"
    ema.apply([w])
    assert ema.average(w).op.name == "w/Mean" == ema.average_name(w)
    assert ema.variables_to_restore() == {"w/Mean": w, "other": other}
    assert tf.moving_average_variables() == [w]
    with pytest.raises(TypeError, match="must be half, float, or double"):
        ema.apply([tf.Variable(1)])


def test_averages_follow_by_the_formula() -> None:
    w = tf.Variable(8.0)
    ema = tf.train.ExponentialMovingAverage(0.75)
    update = ema.apply([w])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.assign(w, 0.0))
        expected = 8.0
        for _ in range(4):
            session.run(update)
            expected *= 0.75
            assert session.run(ema.average(w)) == pytest.approx(expected)


def rate_at(rate: Any, step: Any, value: int) -> float:
    with tf.Session() as session:
        return float(session.run(rate, {step: value}))


def test_decays_by_their_formulas() -> None:
    step = tf.placeholder(tf.int64, [])
    rate = tf.train.exponential_decay(0.5, step, 10, 0.25, staircase=True)
    assert [rate_at(rate, step, n) for n in (0, 9, 10, 25)] == [0.5, 0.5, 0.125, 0.03125]
    rate = tf.train.inverse_time_decay(1.0, step, 2, 0.5)
    assert rate_at(rate, step, 4) == pytest.approx(0.5)
    rate = tf.train.cosine_decay(2.0, step, 8, alpha=0.5)
    assert rate_at(rate, step, 4) == pytest.approx(1.5)
    assert rate_at(rate, step, 100) == pytest.approx(1.0)
    rate = tf.train.natural_exp_decay(1.0, step, 2, 0.5)
    assert rate_at(rate, step, 3) == pytest.approx(math.exp(-0.75))
    rate = tf.train.polynomial_decay(1.0, step, 10, 0.0, power=2.0)
    assert rate_at(rate, step, 5) == pytest.approx(0.25)
    assert rate_at(rate, step, 50) == 0.0


def test_decays_need_a_step() -> None:
    for decay in (tf.train.exponential_decay, tf.train.inverse_time_decay):
        with pytest.raises(ValueError, match="None values not supported"):
            decay(0.1, None, 10, 0.5)
