# SPDX-License-Identifier: Apache-2.0
"""Effects in the order of their statements, for programs that import TensorFlow's own context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.alias.internals.ordering import (
    AutomaticControlDependencies,
    automatic_control_dependencies,
)

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    """A graph of the test's own."""
    with tf.Graph().as_default() as own:
        yield own


def test_what_is_marked_waits_for_all_effects_in_order() -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    p = tf.placeholder(tf.bool, [])
    with AutomaticControlDependencies() as control:
        v.assign(v + 1.0)
        tf.cond(p, lambda: (v.assign(2.0 * v), 0)[1], lambda: (v.assign(-v), 1)[1])
        early = control.mark_as_return({"value": v.read_value()})
        v.assign_add(10.0)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(early, {p: True}) == {"value": 4}
        assert session.run(v) == 14
        assert session.run(early, {p: False}) == {"value": -15}
        assert session.run(v) == -5


def test_functions_are_decorated() -> None:
    v = tf.get_variable("w", initializer=2.0, use_resource=True)

    @automatic_control_dependencies
    def squared(x: Any) -> Any:
        v.assign(v * v)
        return x, v.read_value()

    pair = squared(tf.constant(1.0))
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(pair[0])
        assert session.run(v) == 4
        assert session.run(pair) == (1, 16)
