# SPDX-License-Identifier: Apache-2.0
"""Composite tensors that programs define go through branches and loops as their parts."""

from __future__ import annotations

from typing import Any

import pytest

import numbaflow as tf
from numbaflow.alias.internals.framework import CompositeTensor
from numbaflow.engine import settings
from numbaflow.engine.interface.specs import TypeSpec, type_spec_from_value
from numbaflow.engine.types import nest

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


def test_paths_lead_into_the_parts() -> None:
    tree = {"a": [Pair(1, 2)], "b": 3}
    assert list(nest.yield_flat_paths(tree, expand_composites=True)) == [
        ("a", 0, "Pair", "high"),
        ("a", 0, "Pair", "low"),
        ("b",),
    ]
    assert [path for path, _ in nest.flatten_with_tuple_paths(tree)] == [("a", 0), ("b",)]
    made = nest.map_structure_with_paths(
        lambda path, x: f"{path}:{x}", [Pair(1, 2)], expand_composites=True
    )
    assert (made[0].low, made[0].high) == ("0/Pair/low:1", "0/Pair/high:2")


def test_a_value_has_the_structure_of_its_type() -> None:
    values = {
        "pair": Pair(1.0, 2.0),
        "slices": tf.IndexedSlices(tf.constant([1, 2]), tf.constant([2, 8]), tf.constant([10])),
        "sparse": tf.SparseTensor([[3], [7]], ["a", "b"], [10]),
        "ragged": tf.ragged.constant([[1, 2], [3]]),
    }
    types = {key: type_spec_from_value(value) for key, value in values.items()}
    for one, other in ((values, types), (types, values)):
        nest.assert_same_structure(one, other, expand_composites=True)
        nest.assert_shallow_structure(one, other, expand_composites=True)


def test_values_without_a_common_type_have_other_structures() -> None:
    one, other = (tf.SparseTensor([[0]], [x], [1]) for x in (1, 2.0))
    nest.assert_same_structure(one, other)
    nest.assert_same_structure(one, tf.SparseTensor([[0, 0]], [1], [1, 1]), expand_composites=True)
    with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs"):
        nest.assert_same_structure(one, other, expand_composites=True)
    with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs"):
        nest.assert_shallow_structure(one, other, expand_composites=True)
    with pytest.raises(TypeError, match="same sequence type"):
        nest.assert_shallow_structure(one, [1, 2, 3], expand_composites=True)
    with pytest.raises(ValueError, match="is a sequence, while"):
        nest.assert_same_structure(one, 1, expand_composites=True)


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
