# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.eager`'s functions of functions: their gradients, as nodes of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.alias.internals import eager

tfe = tf.contrib.eager

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_gradients_by_the_variables_that_are_read(session: Any) -> None:
    v, w = (tf.Variable(x, use_resource=True) for x in (3.0, 5.0))
    tf.Variable(7.0, use_resource=True)
    f = lambda x: {"a": v * x, "b": v * w}  # noqa: E731
    value, pairs = tfe.implicit_value_and_gradients(f)(2.0)
    assert [pair[1] for pair in pairs] == [v, w] and sorted(value) == ["a", "b"]
    session.run(tf.global_variables_initializer())
    assert session.run([grad for grad, _ in pairs]) == [7.0, 3.0]
    step = tf.train.GradientDescentOptimizer(0.1).apply_gradients(tfe.implicit_gradients(f)(2.0))
    session.run(step)
    np.testing.assert_allclose(session.run([v, w]), [2.3, 4.7], rtol=1e-6)


def test_gradients_by_arguments(session: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return x * x * y

    one = tf.constant(2.0)
    # (The same tensor twice is two arguments.)
    assert session.run(tfe.gradients_function(f)(one, one)) == [8.0, 4.0]
    value, (by_y,) = tfe.value_and_gradients_function(f, params=["y"])(one, 3.0, dy=10.0)
    assert session.run([value, by_y]) == [12.0, 40.0]
    second = tfe.gradients_function(lambda x: tfe.gradients_function(f, params=[0])(x, 3.0)[0])
    assert session.run(second(one)) == [6.0]
    value, vjp = eager.make_vjp(f)(one, 3.0)
    assert session.run([*vjp(1.0), *vjp(2.0)]) == [12.0, 4.0, 24.0, 8.0]


def test_wrong_uses() -> None:
    with pytest.raises(ValueError, match="No trainable variables were accessed"):
        tfe.implicit_gradients(lambda x: x)(tf.constant(1.0))
    with pytest.raises(ValueError, match="did you forget to return a value from nothing"):

        def nothing(x: Any) -> None:
            del x

        tfe.gradients_function(nothing)(1.0)
    with pytest.raises(ValueError, match="cannot receive keyword arguments"):
        tfe.gradients_function(lambda x: x)(x=1.0)
    with pytest.raises(ValueError, match="params must be all strings or all integers"):
        tfe.gradients_function(lambda x: x, params=[0, "x"])(1.0)
