# SPDX-License-Identifier: Apache-2.0
"""Nested structures as `tf.data` has them: tuples and dictionaries; lists are tensors-to-be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...engine.graph.tensor import SparseTensorValue
from ...engine.types import nest


def is_sequence(seq: object) -> bool:
    """Whether a value is a structure rather than a leaf: lists are leaves."""
    return nest.is_sequence(seq) and not isinstance(seq, (list, SparseTensorValue))


def flatten(structure: object) -> list[Any]:
    """The leaves, in order; a leaf gives a list of itself."""
    return list(_leaves(structure))


def _leaves(structure: object) -> Iterator[Any]:
    if not is_sequence(structure):
        yield structure
        return
    for child in nest.children(structure):
        yield from _leaves(child)


def pack_sequence_as(structure: object, flat_sequence: Any) -> Any:
    """The leaves of `flat_sequence` arranged like `structure`.

    Raises:
      TypeError: `flat_sequence` is no sequence.
      ValueError: There are more or fewer leaves than in `structure`.
    """
    if not (is_sequence(flat_sequence) or isinstance(flat_sequence, list)):
        raise TypeError("flat_sequence must be a sequence")
    if not is_sequence(structure):
        if len(flat_sequence) != 1:
            raise ValueError(
                f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1"
            )
        return flat_sequence[0]
    count = len(flatten(structure))
    if count != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had "
            f"{len(flat_sequence)} elements.  Structure: {structure}, flat_sequence: "
            f"{flat_sequence}."
        )
    return _packed(structure, iter(flat_sequence))


def _packed(structure: object, leaves: Iterator[Any]) -> Any:
    if not is_sequence(structure):
        return next(leaves)
    children = [_packed(child, leaves) for child in nest.children(structure)]
    return nest.rebuild(structure, children)


def _outline(structure: object) -> Any:
    """A structure with numbers as leaves, so that no leaf looks like a structure."""
    return pack_sequence_as(structure, [0] * len(flatten(structure)))


def assert_same_structure(nest1: object, nest2: object, check_types: bool = True) -> None:
    """Raises unless both structures are alike.

    Raises:
      ValueError: They have other leaves.
      TypeError: Their sequences are of other types, and `check_types` is set.
    """
    nest.assert_same_structure(_outline(nest1), _outline(nest2), check_types)


def map_structure(func: Callable[..., Any], *structure: Any, **check_types_dict: Any) -> Any:
    """Applies a function to the leaves of structures of one shape."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = check_types_dict.pop("check_types", True)
    if check_types_dict:
        raise ValueError("Only valid keyword argument is check_types")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    leaves = zip(*map(flatten, structure))
    return pack_sequence_as(structure[0], [func(*each) for each in leaves])


def assert_shallow_structure(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> None:
    """Raises unless `input_tree` has at least the structure of `shallow_tree`."""
    if not is_sequence(shallow_tree):
        return
    if not is_sequence(input_tree):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(input_tree)}."
        )
    if check_types and not isinstance(input_tree, type(shallow_tree)):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    if len(input_tree) != len(shallow_tree):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(input_tree)}, while shallow structure has length {len(shallow_tree)}."
        )
    if check_types and isinstance(shallow_tree, dict) and set(input_tree) != set(shallow_tree):
        raise ValueError(
            "The two structures don't have the same keys. Input structure has keys "
            f"{list(input_tree)}, while shallow structure has keys {list(shallow_tree)}."
        )
    for shallow, deep in zip(nest.children(shallow_tree), nest.children(input_tree)):
        assert_shallow_structure(shallow, deep, check_types)


def flatten_up_to(shallow_tree: object, input_tree: object) -> list[Any]:
    """The parts of `input_tree` where `shallow_tree` has leaves."""
    assert_shallow_structure(shallow_tree, input_tree)
    return list(_up_to(shallow_tree, input_tree))


def _up_to(shallow: object, deep: object) -> Iterator[Any]:
    if not is_sequence(shallow):
        yield deep
        return
    for one, other in zip(nest.children(shallow), nest.children(deep)):
        yield from _up_to(one, other)


def map_structure_up_to(shallow_tree: object, func: Callable[..., Any], *inputs: Any) -> Any:
    """Applies a function to the parts of `inputs` where `shallow_tree` has leaves."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    parts = [flatten_up_to(shallow_tree, tree) for tree in inputs]
    return pack_sequence_as(shallow_tree, [func(*each) for each in zip(*parts)])
