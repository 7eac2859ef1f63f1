# SPDX-License-Identifier: Apache-2.0
"""Composite tensors that programs define go through branches and loops as their parts."""

from __future__ import annotations

from typing import Any

import pytest

import numbaflow as tf
from numbaflow.alias.internals.framework import CompositeTensor
from numbaflow.engine import settings
from numbaflow.engine.interface.specs import TypeSpec, type_spec_from_value

pytestmark = pytest.mark.programs


class PairSpec(TypeSpec):
    value_type = property(lambda self: Pair)

    def __init__(self, specs: Any) -> None:
        self.specs = specs

    @property
    def _component_specs(self) -> Any:
        return self.specs

    def _serialize(self) -> Any:
        return (self.specs,)

    def _to_components(self, value: Any) -> Any:
        return {"low": value.low, "high": value.high}

    def _from_components(self, components: Any) -> Any:
        return Pair(components["low"], components["high"])


class Pair(CompositeTensor):
    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high

    @property
    def _type_spec(self) -> Any:
        return PairSpec({"low": tf.TensorSpec([]), "high": tf.TensorSpec([])})


def test_structures_have_the_parts() -> None:
    pair = Pair(1, 2)
    assert tf.nest.flatten([pair, 3]) == [pair, 3]
    assert tf.nest.flatten([pair, 3], expand_composites=True) == [2, 1, 3]
    made = tf.nest.map_structure(lambda x: x * 10, [pair], expand_composites=True)
    assert (made[0].low, made[0].high) == (10, 20)
    assert isinstance(type_spec_from_value(pair), PairSpec)


@pytest.mark.parametrize("is_node", [False, True])
def test_they_go_through_branches_and_loops(is_node: bool) -> None:
    if is_node:
        tf.enable_control_flow_v2()
    try:
        x = tf.placeholder(tf.float32, [])
        chosen = tf.cond(x > 0, lambda: Pair(x, x * 2.0), lambda: Pair(-x, x))

        def body(i: Any, pair: Any) -> Any:
            return i + 1, Pair(pair.high, pair.low + x)

        _, looped = tf.while_loop(lambda i, _: i < 3, body, [0, chosen])
    finally:
        tf.disable_control_flow_v2()
    with settings.override(jit="never"), tf.Session() as session:
        assert session.run([looped.low, looped.high], {x: 1.0}) == [3.0, 3.0]
