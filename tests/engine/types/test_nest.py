# SPDX-License-Identifier: Apache-2.0
"""Nested structures."""

from __future__ import annotations

import collections

import pytest

import numbaflow as tf
from numbaflow.engine.types import nest

pytestmark = pytest.mark.pure

Point = collections.namedtuple("Point", "x y")


def test_flatten_and_pack() -> None:
    structure = {"b": [1, (2,)], "a": Point(3, {"z": 4})}
    assert nest.flatten(structure) == [3, 4, 1, 2]
    assert nest.pack_sequence_as(structure, [30, 40, 10, 20]) == {
        "b": [10, (20,)],
        "a": Point(30, {"z": 40}),
    }
    assert nest.flatten("text") == ["text"] and nest.pack_sequence_as(1, [5]) == 5
    with pytest.raises(ValueError, match="Structure had 4 elements, but flat_sequence had 1"):
        nest.pack_sequence_as(structure, [1])


def test_map_structure() -> None:
    assert nest.map_structure(lambda x, y: x + y, [1, (2,)], [10, (20,)]) == [11, (22,)]
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        nest.map_structure(lambda x, y: x, [1, [2]], [1, 2])
    with pytest.raises(TypeError, match="don't have the same sequence type"):
        nest.assert_same_structure([1], (1,))
    nest.assert_same_structure([1], (1,), check_types=False)
    with pytest.raises(ValueError, match="at least one structure"):
        nest.map_structure(lambda: 1)


def test_paths() -> None:
    structure = {"a": [1, {"b": 2}]}
    assert nest.flatten_with_joined_string_paths(structure) == [("a/0", 1), ("a/1/b", 2)]
    assert nest.map_structure_with_paths(lambda p, v: f"{p}={v}", structure) == {
        "a": ["a/0=1", {"b": "a/1/b=2"}]
    }


def test_up_to() -> None:
    shallow, deep = [0, {"k": 0}], [[1, 2], {"k": (3, 4)}]
    assert nest.flatten_up_to(shallow, deep) == [[1, 2], (3, 4)]
    assert nest.map_structure_up_to(shallow, len, deep) == [2, {"k": 2}]
    with pytest.raises(TypeError, match="input must also be a sequence"):
        nest.assert_shallow_structure([1], 1)


def test_flatten_dict_items() -> None:
    assert nest.flatten_dict_items({("a", "b"): (1, 2), "c": 3}) == {"a": 1, "b": 2, "c": 3}
    with pytest.raises(ValueError, match="is not unique"):
        nest.flatten_dict_items({("a", "b"): (1, 2), "a": 3})


def test_views_of_dictionaries_are_structures_in_their_own_order() -> None:
    """As in TensorFlow 1.15; what is made of one is a list."""
    weights = {"b": 1, "a": [2, 3]}
    assert nest.is_sequence(weights.values())
    assert nest.flatten(weights.values()) == [1, 2, 3]
    assert nest.flatten(weights.items()) == ["b", 1, "a", 2, 3]
    assert nest.map_structure(lambda x: x + 1, weights.values()) == [2, [3, 4]]
    assert nest.pack_sequence_as(weights.values(), [4, 5, 6]) == [4, [5, 6]]


@pytest.mark.programs
def test_optimizers_and_groups_take_views_of_dictionaries() -> None:
    with tf.Graph().as_default():
        weights = {"w": tf.Variable(2.0), "b": tf.Variable(1.0)}
        loss = tf.square(weights["w"]) + weights["b"]
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss, var_list=weights.values())
        both = tf.group(weights.values())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run([train, both])
            assert session.run(list(weights.values())) == [0.0, 0.5]
