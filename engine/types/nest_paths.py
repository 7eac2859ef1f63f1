# SPDX-License-Identifier: Apache-2.0
"""Nested structures further: paths of leaves, and structures cut off where a shallower one ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..api import export
from . import nest

Path = tuple[Any, ...]

# Texts of errors that programs compare with.
_SHALLOW_TREE_HAS_INVALID_KEYS = (
    "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the "
    "following keys that are not in the input_tree: {}."
)
_STRUCTURES_HAVE_MISMATCHING_TYPES = (
    "The two structures don't have the same sequence type. Input structure has type {input_type}, "
    "while shallow structure has type {shallow_type}."
)
_STRUCTURES_HAVE_MISMATCHING_LENGTHS = (
    "The two structures don't have the same sequence length. Input structure has length "
    "{input_length}, while shallow structure has length {shallow_length}."
)
_INPUT_TREE_SMALLER_THAN_SHALLOW_TREE = (
    "The input_tree has fewer elements than the shallow_tree. Input structure has length "
    "{input_size}, while shallow structure has length {shallow_size}."
)
_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ = (
    "If shallow structure is a sequence, input must also be a sequence. Input has type: {}."
)


def yield_flat_paths(nest: object, expand_composites: bool = False) -> Iterator[Path]:
    """The path of each leaf, as a tuple of keys."""
    for path, _ in _up_to(nest, nest, expand_composites):
        yield path


def flatten_with_tuple_paths(structure: object, expand_composites: bool = False) -> list[Any]:
    """Pairs of path and leaf."""
    return list(_up_to(structure, structure, expand_composites))


def flatten_with_joined_string_paths(
    structure: dict[Any, Any], separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """Pairs of path text and leaf."""
    pairs = _up_to(structure, structure, expand_composites)
    return [(_joined(path, separator), leaf) for path, leaf in pairs]


def _joined(path: Path, separator: str = "/") -> str:
    return separator.join(str(key) for key in path)


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`map_structure` whose function gets the leaf's path as text first."""

    def with_text(path: Path, *leaves: Any, **options: Any) -> Any:
        return func(_joined(path), *leaves, **options)

    return map_structure_with_tuple_paths(with_text, *structure, **kwargs)


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`map_structure` whose function gets the leaf's path first."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def _up_to(
    shallow: Any, tree: Any, expand_composites: bool, path: Path = ()
) -> Iterator[tuple[Path, Any]]:
    """Paths and parts of `tree` where `shallow` has leaves."""
    if not nest.structure_test(expand_composites)(shallow):
        yield path, tree
        return
    if isinstance(shallow, Mapping):
        # Keys tell which parts belong together; the tree may have others besides.
        pairs = [(key, branch, tree[key]) for key, branch in nest.items(shallow)]
    else:
        pairs = [
            (key, branch, part)
            for (key, branch), part in zip(nest.items(shallow), nest.children(tree))
        ]
    for key, branch, part in pairs:
        yield from _up_to(branch, part, expand_composites, (*path, key))


@export("contrib.framework.nest.assert_shallow_structure")
def assert_shallow_structure(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> None:
    """Raises unless `input_tree` has the structure of `shallow_tree` at its top."""
    is_structure = nest.structure_test(expand_composites)
    if not is_structure(shallow_tree):
        return
    if not is_structure(input_tree):
        raise TypeError(_IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ.format(type(input_tree)))
    if check_types:
        _assert_types(shallow_tree, input_tree)
    if nest.is_composite(shallow_tree) or nest.is_composite(input_tree):
        _assert_specs(shallow_tree, input_tree)
    elif type(shallow_tree) not in nest.SPECS:
        _assert_lengths(len(shallow_tree), len(input_tree), check_subtrees_length)
    elif type(input_tree) not in nest.SPECS:
        raise TypeError(
            "If shallow structure is a TypeSpec, input must also be a TypeSpec.  Input has type: "
            f"{type(input_tree)}."
        )
    if isinstance(shallow_tree, Mapping):
        absent = set(shallow_tree) - set(input_tree)
        if absent:
            raise ValueError(_SHALLOW_TREE_HAS_INVALID_KEYS.format(sorted(absent)))
    parts = nest.children(input_tree)
    if isinstance(shallow_tree, Mapping):
        parts = [input_tree[key] for key, _ in nest.items(shallow_tree)]
    for branch, part in zip(nest.children(shallow_tree), parts):
        assert_shallow_structure(
            branch, part, check_types, expand_composites, check_subtrees_length
        )


def _assert_types(shallow: Any, tree: Any) -> None:
    if isinstance(tree, type(shallow)) or nest.is_value_and_type(shallow, tree):
        return
    if nest.is_namedtuple(shallow) and nest.is_namedtuple(tree):
        same = type(shallow).__name__ == type(tree).__name__ and shallow._fields == tree._fields
    else:
        same = isinstance(shallow, Mapping) and isinstance(tree, Mapping)
    if not same:
        raise _other_type(shallow, tree)


def _other_type(shallow: object, tree: object) -> TypeError:
    return TypeError(
        _STRUCTURES_HAVE_MISMATCHING_TYPES.format(input_type=type(tree), shallow_type=type(shallow))
    )


def _assert_specs(shallow: Any, tree: Any) -> None:
    """Raises unless both are composite values, or types of such, of compatible types."""
    if not all(nest.is_composite(x) or type(x) in nest.SPECS for x in (shallow, tree)):
        raise _other_type(shallow, tree)
    one, other = nest.spec_of(shallow), nest.spec_of(tree)
    try:
        one.most_specific_compatible_type(other)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Incompatible CompositeTensor TypeSpecs: {one} vs. {other} -- {error}"
        ) from None


def _assert_lengths(shallow: int, tree: int, exactly: bool) -> None:
    if exactly and tree != shallow:
        raise ValueError(
            _STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(input_length=tree, shallow_length=shallow)
        )
    if tree < shallow:
        raise ValueError(
            _INPUT_TREE_SMALLER_THAN_SHALLOW_TREE.format(input_size=tree, shallow_size=shallow)
        )


def flatten_with_tuple_paths_up_to(
    shallow_tree: Sequence[Any],
    input_tree: Sequence[Any],
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[Any]:
    """Pairs of path and part of `input_tree` where `shallow_tree` has leaves."""
    assert_shallow_structure(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return list(_up_to(shallow_tree, input_tree, expand_composites))


@export("contrib.framework.nest.flatten_up_to")
def flatten_up_to(
    shallow_tree: Sequence[Any],
    input_tree: Sequence[Any],
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[Any]:
    """The parts of `input_tree` where `shallow_tree` has leaves."""
    pairs = flatten_with_tuple_paths_up_to(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return [part for _, part in pairs]


def map_structure_with_tuple_paths_up_to(
    shallow_tree: object, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """Applies a function to path and parts of `inputs` where `shallow_tree` has leaves."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    exactly = kwargs.pop("check_subtrees_length", True)
    for tree in inputs:
        assert_shallow_structure(shallow_tree, tree, check_types, expand, exactly)
    flat = [[part for _, part in _up_to(shallow_tree, tree, expand)] for tree in inputs]
    paths = [path for path, _ in _up_to(shallow_tree, inputs[0], expand)]
    results = [func(*leaves, **kwargs) for leaves in zip(paths, *flat)]
    return nest.pack_sequence_as(shallow_tree, results, expand)


@export("contrib.framework.nest.map_structure_up_to")
def map_structure_up_to(
    shallow_tree: object, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """Applies a function to the parts of `inputs` where `shallow_tree` has leaves."""

    def without_path(path: Path, *parts: Any, **options: Any) -> Any:
        del path
        return func(*parts, **options)

    return map_structure_with_tuple_paths_up_to(shallow_tree, without_path, *inputs, **kwargs)


@export("contrib.framework.nest.get_traverse_shallow_structure")
def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: object, expand_composites: bool = False
) -> Any:
    """A structure of bools, as deep as `traverse_fn` says to go."""
    is_structure = nest.structure_test(expand_composites)
    decision = traverse_fn(structure)
    if not is_structure(structure):
        if not isinstance(decision, bool):
            raise TypeError(
                f"traverse_fn returned structure: {decision} for non-structure: {structure}"
            )
        return decision
    if decision is False:
        return False
    children = nest.children(structure)
    if decision is True:
        wanted = [True] * len(children)
    elif not is_structure(decision):
        raise TypeError(
            f"traverse_fn returned a non-bool scalar: {decision} for input: {structure}"
        )
    else:
        assert_shallow_structure(decision, structure, expand_composites=expand_composites)
        wanted = nest.children(decision)
    if not all(isinstance(want, bool) for want in wanted):
        raise TypeError(
            f"traverse_fn didn't return a depth=1 structure of bools.  saw: {decision}  for "
            f"structure: {structure}"
        )
    parts = [
        get_traverse_shallow_structure(traverse_fn, child, expand_composites) if want else False
        for want, child in zip(wanted, children)
    ]
    return nest.rebuild(structure, parts)
