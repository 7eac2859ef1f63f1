# SPDX-License-Identifier: Apache-2.0
"""Nested structures of lists, tuples, named tuples, dictionaries and attrs classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MappingView, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..api import export

if TYPE_CHECKING:
    from ..graph.annotations import TensorLike


def is_namedtuple(value: object) -> bool:
    """Whether a value is a named tuple."""
    return isinstance(value, tuple) and isinstance(getattr(value, "_fields", None), tuple)


def as_list(x: object) -> list[Any]:
    """The items of a list or tuple; any other thing as a list of one."""
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _is_attrs(value: object) -> bool:
    return getattr(type(value), "__attrs_attrs__", None) is not None


@export("nest.is_nested", "contrib.framework.nest.is_sequence")
def is_sequence(seq: object) -> bool:
    """Whether a value is a structure rather than a leaf.

    Strings and arrays are leaves; `d.values()` of a dictionary is a structure in its own order.
    """
    if isinstance(seq, (Mapping, MappingView, list, tuple)) or _is_attrs(seq):
        return True
    return isinstance(seq, Sequence) and not isinstance(seq, (str, bytes, bytearray))


is_nested = is_sequence


class Composite(NamedTuple):
    """What a class of values that consist of tensors tells of one of them."""

    components: Callable[[Any], Any]  # a structure of its tensors
    rebuild: Callable[[Any, Any], Any]  # a value like one, of other components
    spec: Callable[[Any], Any]  # its type


# The classes of such values, and of the specifications of their types.
COMPOSITES: dict[type, Composite] = {}
SPECS: set[type] = set()


def is_composite(value: object) -> bool:
    """Whether a value is made of several tensors."""
    return type(value) in COMPOSITES


def is_sequence_or_composite(value: TensorLike) -> bool:
    """Whether a value is a structure, made of several tensors, or the type of what is."""
    return is_sequence(value) or type(value) in COMPOSITES or type(value) in SPECS


def structure_test(expand_composites: bool) -> Callable[[Any], bool]:
    """What tells structures from leaves."""
    return is_sequence_or_composite if expand_composites else is_sequence


def spec_of(value: Any) -> Any:
    """The type of a composite value; a type is its own."""
    return COMPOSITES[type(value)].spec(value) if is_composite(value) else value


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def items(structure: Any) -> list[tuple[Any, Any]]:
    """The children of a structure with their keys, dictionaries in order of their keys."""
    if isinstance(structure, Mapping):
        return [(key, structure[key]) for key in _sorted_keys(structure)]
    if is_namedtuple(structure):
        return list(zip(structure._fields, structure))
    if _is_attrs(structure):
        names = [attribute.name for attribute in structure.__attrs_attrs__]
        return [(name, getattr(structure, name)) for name in names]
    if is_composite(structure):
        return [(type(structure).__name__, COMPOSITES[type(structure)].components(structure))]
    if type(structure) in SPECS:
        return [(structure.value_type.__name__, structure._component_specs)]
    return list(enumerate(structure))


def children(structure: object) -> list[Any]:
    return [value for _, value in items(structure)]


def rebuild(like: Any, values: list[Any]) -> Any:
    """A structure of the type of `like` with other children."""
    kind = type(like)
    if isinstance(like, Mapping):
        by_key = dict(zip(_sorted_keys(like), values))
        if hasattr(like, "default_factory"):
            result = kind(like.default_factory)  # type: ignore[call-arg]
            result.update((key, by_key[key]) for key in like)  # type: ignore[attr-defined]
            return result
        return kind((key, by_key[key]) for key in like)  # type: ignore[call-arg]
    if is_namedtuple(like) or _is_attrs(like):
        return kind(*values)
    if is_composite(like):
        return COMPOSITES[kind].rebuild(like, values[0])
    if kind in SPECS:
        return like._from_components(values[0])
    return values if isinstance(like, MappingView) else kind(values)


@export("nest.flatten", "contrib.framework.nest.flatten")
def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves, in order; a leaf gives a list of itself."""
    is_structure = structure_test(expand_composites)
    if not is_structure(structure):
        return [structure]
    result: list[Any] = []
    for child in children(structure):
        if is_structure(child):
            result.extend(flatten(child, expand_composites))
        else:
            result.append(child)
    return result


class _Dot:
    """A leaf, where only the structure is of interest."""

    def __repr__(self) -> str:
        return "."


_DOT = _Dot()


@export("nest.assert_same_structure", "contrib.framework.nest.assert_same_structure")
def assert_same_structure(
    nest1: object, nest2: object, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises ValueError (or TypeError) unless both have the same structure."""
    try:
        _assert_same(nest1, nest2, check_types, expand_composites)
    except (ValueError, TypeError) as error:
        first, second = (str(map_structure(lambda _: _DOT, x)) for x in (nest1, nest2))
        raise type(error)(
            f"{error}\nEntire first structure:\n{first}\nEntire second structure:\n{second}"
        ) from None


def _told(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _assert_same(x: Any, y: Any, check_types: bool, expand: bool = False) -> None:
    try:
        _compare(x, y, check_types, expand)
    except (ValueError, TypeError) as error:
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_told(x)}\n\nSecond structure: {_told(y)}\n\n"
            f"More specifically: {error}"
        ) from None


def _compare(x: Any, y: Any, check_types: bool, expand: bool) -> None:
    is_structure = structure_test(expand)
    if is_structure(x) != is_structure(y):
        nested, leaf = (x, y) if is_structure(x) else (y, x)
        raise ValueError(
            f'Substructure "{_told(nested)}" is a sequence, while substructure "{_told(leaf)}" is '
            "not"
        )
    if not is_structure(x):
        return
    if check_types:
        _compare_types(x, y)
    if is_composite(x) or is_composite(y):
        _compare_specs(x, y)
    if len(children(x)) != len(children(y)):
        raise ValueError(
            "The two structures don't have the same number of elements. First structure: "
            f"{_told(x)}. Second structure: {_told(y)}"
        )
    for a, b in zip(children(x), children(y)):
        _compare(a, b, check_types, expand)


def _compare_specs(x: Any, y: Any) -> None:
    """Raises unless some type has both values, so that their shapes may differ."""
    one, other = spec_of(x), spec_of(y)
    try:
        one.most_specific_compatible_type(other)
    except (AttributeError, TypeError, ValueError):
        raise ValueError(
            f"Incompatible CompositeTensor TypeSpecs: {_told(one)} vs. {_told(other)}"
        ) from None


def is_value_and_type(x: Any, y: Any) -> bool:
    """Whether one is a composite value, and the other the type of such."""
    return (is_composite(x) and type(y) in SPECS) or (is_composite(y) and type(x) in SPECS)


def _compare_types(x: Any, y: Any) -> None:
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        if set(x) != set(y):
            raise ValueError(
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{_told(list(x))}, while second structure has keys {_told(list(y))}"
            )
        return
    if is_namedtuple(x) and is_namedtuple(y):
        if type(x).__name__ == type(y).__name__ and x._fields == y._fields:
            return
    elif type(x) is type(y) or (isinstance(x, list) and isinstance(y, list)):
        return
    elif is_value_and_type(x, y):
        return
    raise TypeError(
        "The two namedtuples don't have the same sequence type. First structure "
        f"{_told(x)} has type {type(x).__name__}, while second structure {_told(y)} has type "
        f"{type(y).__name__}"
    )


@export("nest.pack_sequence_as", "contrib.framework.nest.pack_sequence_as")
def pack_sequence_as(
    structure: object, flat_sequence: Sequence[Any], expand_composites: bool = False
) -> Any:
    """The leaves of `flat_sequence` arranged like `structure`."""
    if not is_sequence(flat_sequence):
        raise TypeError("flat_sequence must be a sequence")
    is_structure = structure_test(expand_composites)
    if not is_structure(structure):
        if len(flat_sequence) != 1:
            raise ValueError(
                f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1"
            )
        return flat_sequence[0]
    leaves = flatten(structure, expand_composites)
    if len(leaves) != len(flat_sequence):
        raise ValueError(
            "Could not pack sequence. Structure had "
            f"{len(leaves)} elements, but flat_sequence had {len(flat_sequence)} elements.  "
            f"Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(structure, iter(flat_sequence), is_structure)


def _pack(structure: object, leaves: Iterator[Any], is_structure: Callable[[Any], bool]) -> Any:
    if not is_structure(structure):
        return next(leaves)
    parts = [_pack(child, leaves, is_structure) for child in children(structure)]
    return rebuild(structure, parts)


@export("nest.map_structure", "contrib.framework.nest.map_structure")
def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies a function to the leaves of structures of one shape."""
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(kwargs)}`"
        )
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand)
    flat = [flatten(item, expand) for item in structure]
    return pack_sequence_as(structure[0], [func(*leaves) for leaves in zip(*flat)], expand)


def flatten_dict_items(dictionary: object) -> dict[Any, Any]:
    """A dictionary whose structured keys are replaced by their leaves, values alike."""
    if not isinstance(dictionary, Mapping):
        raise TypeError("input must be a dictionary")
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        if not is_sequence(key):
            _put(flat, key, value)
            continue
        keys, values = flatten(key), flatten(value)
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had "
                f"{len(values)} elements. Key: {keys}, value: {values}."
            )
        for leaf, item in zip(keys, values):
            _put(flat, leaf, item)
    return flat


def _put(flat: dict[Any, Any], key: object, value: object) -> None:
    if key in flat:
        raise ValueError(f"Could not flatten dictionary: key {key} is not unique.")
    flat[key] = value


# The functions on paths and partial structures, under the names that programs import them by.
from .nest_paths import (  # noqa: E402,F401
    _IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ,
    _INPUT_TREE_SMALLER_THAN_SHALLOW_TREE,
    _SHALLOW_TREE_HAS_INVALID_KEYS,
    _STRUCTURES_HAVE_MISMATCHING_LENGTHS,
    _STRUCTURES_HAVE_MISMATCHING_TYPES,
    assert_shallow_structure,
    flatten_up_to,
    flatten_with_joined_string_paths,
    flatten_with_tuple_paths,
    flatten_with_tuple_paths_up_to,
    get_traverse_shallow_structure,
    map_structure_up_to,
    map_structure_with_paths,
    map_structure_with_tuple_paths,
    map_structure_with_tuple_paths_up_to,
    yield_flat_paths,
)
