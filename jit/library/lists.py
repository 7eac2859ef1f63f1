# SPDX-License-Identifier: Apache-2.0
"""Lists of tensors: they are values, while arrays of tensors are memory that is written by index.

A list whose older states nobody reads changes in place.  Who reads one after all is found out while
tracing: then all is traced again, and the operation that changed the list works on a copy
(`Reused`).  What is set in a list that was just made waits until somebody looks: gradients add up
lists of one element each, which are added to the sum in place.  Imports the rest of jit's IR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..kernel import scalar
from ..kernel.sizes import AnySize
from ..program.tensor_ir import Guard, Register, Value, Write
from . import arrays
from .arrays import Array, Problem
from .of_run import OfRun
from .stacks import handle_of

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ..trace.builder import Builder

# The shape that elements are stated to have: None for a size that is open, or for all of it.
Stated = tuple[AnySize | None, ...] | None
# error(contents of the evidence): what to raise for a list of which no element was ever set.
Unset = Callable[..., BaseException]


class Reused(Exception):
    """A list is read after it changed in place: all is traced again (Builder.copied)."""


class Elements(NamedTuple):
    """What a list holds: the name for its memory, dtype, number, and the shape that is stated."""

    name: str
    dtype: str
    size: AnySize
    stated: Stated

    @property
    def shape(self) -> tuple[AnySize, ...] | None:
        """The shape, if all of it is stated."""
        if self.stated is None:
            return None
        known = tuple(size for size in self.stated if size is not None)
        return known if len(known) == len(self.stated) else None


class _Set(NamedTuple):
    """An element that is put into a list that was just made."""

    place: Value
    item: Value
    problem: Problem
    origin: Operation


class List(OfRun):
    """A list at one point of a program: its elements, and the array that has them.

    array: None for a list that was just made, of which only `sets` are set.  is_whole: all elements
    are set, and stay so.
    """

    def __init__(
        self,
        b: Builder,
        elements: Elements,
        array: Array | None = None,
        sets: tuple[_Set, ...] = (),
        is_whole: bool = False,
    ) -> None:
        self.b, self.elements, self.sets, self.is_whole = b, elements, sets, is_whole
        self.guard: Guard = b.program.guard
        self._array = array
        # Where the array was changed for a later state, and by which operation.
        self._spent: list[tuple[frozenset[Any], Any]] = []

    @property
    def is_new(self) -> bool:
        """Has it no memory yet?"""
        return self._array is None

    @property
    def array(self) -> Array:
        """What has the elements; a new list gets it where the list was made."""
        if self._array is None:
            b, program, made = self.b, self.b.program, self.elements
            before = program.guard, program.origin
            program.guard = self.guard
            self._array = Array(b, made.name, made.dtype, made.size, made.shape, clears=False)
            for each in self.sets:
                program.origin = each.origin
                _set(b, self._array, each.place, each.item, each.problem)
            program.guard, program.origin = before
        return self._array

    def is_of(self, b: Builder) -> bool:
        """Was it made where things are added now?"""
        return self.b.program is b.program and self.guard == b.program.guard

    def spend(self, b: Builder, origin: Operation) -> None:
        """Says that an operation changes the array."""
        self._spent.append((b.place, origin))

    def require_unspent(self, b: Builder) -> None:
        """Raises Reused if the array was changed since, and what is added now may run then."""
        for place, origin in self._spent:
            if any((flag, not side) in b.place for flag, side in _conditions(place)):
                continue
            if origin in b.copied:
                raise b.host("a list is read that was changed since")
            b.copied.add(origin)
            raise Reused(f"'{origin.name}' changes a list that is read later")

    def joined(self, b: Builder, sides: Sequence[tuple[Guard, Value]]) -> Value:
        """The list of the branch that runs, in one memory for both."""
        both: list[List] = []
        common = b.program.guard
        for guard, value in sides:
            b.program.guard = guard
            both.append(given(b, value))
        b.program.guard = common
        first, last = both
        array, is_whole = first.array, first.is_whole and last.is_whole
        if array is not last.array:
            array = _either(b, [(guard, each.array) for (guard, _), each in zip(sides, both)])
        return _state(b, first, array, is_whole)

    def zeroed(self, b: Builder) -> Value:
        """A list like this one, of zeros."""
        self.require_unspent(b)
        if self.is_new and not self.sets:
            return handle_of(b, List(b, self.elements))
        array = self.array
        if array.shape is None or array.growing is not None:
            raise b.host("the shape of a list's elements is not known yet")
        made = Array(b, array.name, array.dtype, array.size, array.stated, clears=False)
        zeros = b.full((array.size, *array.shape), 0, array.dtype)
        made.hold(b, zeros, arrays.marks_of(b, array))
        return _state(b, self, made)

    def total(self, b: Builder, handles: Sequence[Value]) -> Value:
        """A list of the sums of the elements of several."""
        return _total(b, [given(b, handle) for handle in handles])


def _conditions(place: frozenset[Any]) -> list[tuple[Value, bool]]:
    return [each for each in place if isinstance(each, tuple)]


# What a handle stands for.


def given(b: Builder, handle: Value, dtype: str | None = None) -> List:
    """The list that a handle stands for.

    Raises:
        NotLowered: the handle comes from elsewhere, or its elements are of another type.
        Reused: the list was changed in place.
    """
    found = handle.cell
    if not isinstance(found, List):
        raise b.host("the list is not one of this plan's")
    if dtype is not None and dtype != found.elements.dtype:
        raise b.host(f"a list of {found.elements.dtype} is taken for one of {dtype}")
    found.require_unspent(b)
    return found


def _state(b: Builder, of: List, array: Array | None = None, is_whole: bool | None = None) -> Value:
    """A handle of what a list is now."""
    array = of.array if array is None else array
    elements = of.elements._replace(size=array.size)
    is_whole = of.is_whole if is_whole is None else is_whole
    return handle_of(b, List(b, elements, array, is_whole=is_whole))


def taken(b: Builder, found: List, origin: Operation | None = None) -> Array:
    """The array of a list, to be changed by an operation: its own, or a copy."""
    origin = b.program.origin if origin is None else origin
    array = found.array
    if found.b.program is not b.program or origin in b.copied:
        return _copied(b, array)
    found.spend(b, origin)
    return array


def _copied(b: Builder, array: Array) -> Array:
    if array.growing is not None or array.has_grown:
        raise b.host("a list that grows is changed and read later")
    made = Array(b, array.name, array.dtype, array.size, array.stated, clears=False)
    if array.shape is not None:
        made.hold(b, arrays.contents(b, array), arrays.marks_of(b, array))
    return made


# Loops and branches.


def entering(b: Builder, value: Value, origin: Operation) -> List:
    """A list that goes round a loop, which changes it from there on."""
    found = given(b, value)
    array = taken(b, found, origin)
    return List(b, found.elements, array, is_whole=found.is_whole)


def arriving(b: Builder, entered: List) -> Value:
    """What comes round, or out of the loop, of a list that went in."""
    array = entered.array
    is_whole = entered.is_whole and array.growing is None and not array.has_grown
    return _state(b, entered, array, is_whole)


def leaving(b: Builder, entered: List, value: Value, origin: Operation) -> None:
    """Has a turn hand a list on to the next: the one that came in, or one made in that turn."""
    found = given(b, value)
    array, home = found.array, entered.array
    if array is not home:
        if array.b is not b or found.elements.dtype != entered.elements.dtype:
            raise b.host("lists change places in a loop")
        b.require(b.equal(array.size, home.size))
        if array.shape is not None:
            home.settle(b, array.shape)
            _write(b, home.memory, arrays.contents(b, array))
            _write(b, home.marks, arrays.marks_of(b, array))
        elif home.shape is not None or b.outer is not None:
            raise b.host("a turn gives a list whose elements have no shape yet")
        entered.is_whole = False
    found.spend(b, origin)


def _either(b: Builder, sides: Sequence[tuple[Guard, Array]]) -> Array:
    """An array that has the elements of the branch's that runs."""
    (_, one), (_, other) = sides
    grow = [array.growing is not None or array.has_grown for _, array in sides]
    if any(grow) or one.shape is None or other.shape is None or one.dtype != other.dtype:
        raise b.host("branches give different lists")
    b.require(len(one.shape) == len(other.shape) and b.equal(one.size, other.size))
    b.require(all(map(b.equal, one.shape, other.shape)))
    made = Array(b, one.name, one.dtype, one.size, one.stated, clears=False)
    zeros = b.full((one.size, *one.shape), 0, one.dtype)
    made.hold(b, zeros, b.full((one.size,), 0, "uint8"))
    before = b.program.guard
    for guard, array in sides:
        b.program.guard = guard
        _write(b, made.memory, arrays.contents(b, array))
        _write(b, made.marks, arrays.marks_of(b, array))
    b.program.guard = before
    return made


# Making lists.


def new(b: Builder, elements: Elements) -> Value:
    """A list of elements that were not set yet."""
    if not scalar.holds(elements.dtype):
        raise b.host(f"a list of {elements.dtype}")
    return handle_of(b, List(b, elements))


def of_rows(b: Builder, name: str, stated: Stated, rows: Value) -> Value:
    """The rows of a tensor as a list."""
    if not rows.ndim or not scalar.holds(rows.dtype):
        raise b.host("what a list is made of are no rows")
    elements = Elements(name, rows.dtype, rows.shape[0], stated)
    _fit(b, elements, rows.shape[1:])
    array = Array(b, name, rows.dtype, rows.shape[0], None, clears=False)
    array.hold(b, rows)
    return handle_of(b, List(b, elements, array, is_whole=True))


def scattered(
    b: Builder, elements: Elements, indices: Value, rows: Value, problem: Problem
) -> Value:
    """A list with the rows of a tensor at these places."""
    if not scalar.holds(elements.dtype):
        raise b.host(f"a list of {elements.dtype}")
    found = List(b, elements)
    _scatter(b, found, found.array, indices, rows, problem)
    return handle_of(b, found)


# Changing lists.


def put(b: Builder, handle: Value, index: Value, item: Value, problem: Problem) -> Value:
    """The list with another element at a place."""
    found = given(b, handle, item.dtype)
    if index.ndim:
        raise b.host("an index that is no scalar")
    _fit(b, found.elements, item.shape)
    if found.is_new and found.is_of(b):
        sets = (*found.sets, _Set(index, item, problem, b.program.origin))
        return handle_of(b, List(b, found.elements, sets=sets))
    array = taken(b, found)
    _set(b, array, index, item, problem)
    return _state(b, found, array)


def _set(b: Builder, array: Array, index: Value, item: Value, problem: Problem) -> None:
    array.settle(b, item.shape)
    if array.growing is not None:
        _require_inside(b, index, array.growing.count(b), problem)
        array.growing.append(b, b.reshape(index, [1]), item, array.bytes, 1)
    else:
        _require_inside(b, index, arrays.size_of(b, array), problem)
        arrays.store(b, array, "write", index, item)


def _is_outside(index: Any, count: Any) -> Any:
    return scalar.logical_or(scalar.lt(index, 0), scalar.ge(index, count))


def _require_inside(b: Builder, index: Value, count: Value, problem: Problem) -> None:
    """Raises problem(index, count) for an index of no element."""
    outside = b.map(_is_outside, index, count)
    if outside.ndim:
        outside = b.reduce("any", outside, None)
    b.require_not(outside, problem, index, count)


def _fit(b: Builder, elements: Elements, shape: Sequence[AnySize]) -> None:
    """Sees that an element has the shape that is stated."""
    if elements.stated is not None:
        pairs = list(zip(elements.stated, shape))
        b.require(len(elements.stated) == len(shape))
        b.require(all(size is None or b.equal(size, n) for size, n in pairs))


def pushed(b: Builder, handle: Value, item: Value) -> Value:
    """The list with one more element at its end."""
    found = given(b, handle, item.dtype)
    _fit(b, found.elements, item.shape)
    array = _growing(b, found)
    array.settle(b, item.shape)
    assert array.growing is not None
    last = b.reshape(array.growing.count(b), [1])
    array.growing.append(b, last, item, array.bytes, 1)
    return _state(b, found, array)


def _growing(b: Builder, found: List) -> Array:
    """The array of a list, in memory that grows with it."""
    array = taken(b, found)
    if array.growing is None:
        array.begin_growing(b)
    return array


def resized(b: Builder, handle: Value, count: Value) -> Value:
    """The list cut, or lengthened by elements that were not set."""
    found = given(b, handle)
    known, array = b.known(count), None if found.is_new else found.array
    if known is None or (array is not None and (array.growing or array.has_grown)):
        if count.ndim:
            raise b.host("a size that is no scalar")
        array = _growing(b, found)
        assert array.growing is not None
        b.assume(b.map(scalar.lt, count, array.growing.count(b)))
        array.growing.extend(b, count)
        return _state(b, found, array, is_whole=False)
    size = known.item()
    b.require(not size < 0)
    if found.is_new and not found.sets:
        return handle_of(b, List(b, found.elements._replace(size=size)))
    return _cut(b, found, size)


def _cut(b: Builder, found: List, size: AnySize) -> Value:
    array = found.array
    if b.equal(size, array.size):
        return _state(b, found)
    if array.shape is None:
        raise b.host("the shape of a list's elements is not known yet")
    made = Array(b, array.name, array.dtype, size, array.stated, clears=False)
    parts = [arrays.contents(b, array), arrays.marks_of(b, array)]
    for number, part in enumerate(parts):
        if size < array.size:
            parts[number] = b.slice(part, [0] * part.ndim, (size, *part.shape[1:]))
        else:
            ends = [(0, size - array.size), *[(0, 0)] * (part.ndim - 1)]
            parts[number] = b.pad(part, ends)
    made.hold(b, *parts)
    return _state(b, found, made, is_whole=found.is_whole and bool(size < array.size))


def scattered_into(b: Builder, handle: Value, indices: Value, rows: Value) -> Value:
    """The list with the rows of a tensor at these places, all of which it has."""
    found = given(b, handle, rows.dtype)
    array = taken(b, found)
    _scatter(b, found, array, indices, rows, None)
    return _state(b, found, array)


def _scatter(
    b: Builder, found: List, array: Array, indices: Value, rows: Value, problem: Problem | None
) -> None:
    if indices.ndim != 1 or not rows.ndim or not b.equal(indices.shape[0], rows.shape[0]):
        raise b.host("rows and indices that do not belong together")
    _fit(b, found.elements, rows.shape[1:])
    array.settle(b, rows.shape[1:])
    if array.growing is not None or array.has_grown:
        raise b.host("a list that grows is scattered to")
    count = arrays.size_of(b, array)
    if problem is None:
        # (It may grow by this, which only a run tells.)
        b.assume(b.reduce("any", b.map(_is_outside, indices, count), None))
    else:
        _require_inside(b, indices, count, problem)
    arrays.store(b, array, "scatter", indices, rows)


def _total(b: Builder, given_lists: list[List]) -> Value:
    # (Whichever of the first two is added to the other: the sum is the same.)
    first = next((i for i, each in enumerate(given_lists[:2]) if not _is_one(b, each)), 0)
    found = given_lists.pop(first)
    array = taken(b, found)
    if array.growing is not None or array.has_grown:
        raise b.host("lists that grow are added up")
    is_whole = found.is_whole
    for other in given_lists:
        b.require(other.elements.dtype == array.dtype and b.equal(other.elements.size, array.size))
        if _is_one(b, other) and arrays.adds_up(array.dtype):
            (each,) = other.sets
            array.settle(b, each.item.shape)
            _require_inside(b, each.place, arrays.size_of(b, array), each.problem)
            arrays.store(b, array, "write", each.place, each.item, adds=True)
        else:
            _add(b, array, other.array)
        is_whole |= other.is_whole
    return _state(b, found, array, is_whole)


def _is_one(b: Builder, found: List) -> bool:
    """Is it a list that was just made, of which one element is set?"""
    return found.is_new and len(found.sets) == 1 and found.is_of(b)


def _add(b: Builder, array: Array, other: Array) -> None:
    if other.shape is None:
        if other.growing is not None or b.outer is not None:
            raise b.host("the shape of a list's elements is not known yet")
        return  # nothing is set
    array.settle(b, other.shape)
    both = arrays.contents(b, array), arrays.contents(b, other)
    _write(b, array.memory, b.map(scalar.add, *both))
    both = arrays.marks_of(b, array), arrays.marks_of(b, other)
    _write(b, array.marks, b.map(scalar.maximum, *both))


def _write(b: Builder, register: Register | None, value: Value) -> None:
    assert register is not None
    (after,) = b.program.add(Write((value,), register), (value.dtype, value.shape))
    after.cell = register


# Reading lists.


def length(b: Builder, handle: Value) -> Value:
    """How many elements there are."""
    found = given(b, handle)
    if not found.is_new:
        array = found.array
        if array.growing is not None and (b.outer is not None or b.program.guard):
            return array.growing.count(b)  # type: ignore[no-any-return]
        array.stop_growing(b)
        return arrays.size_of(b, array)
    return b.known_as(np.array(found.elements.size, object), "int32")  # type: ignore[no-any-return]


def read(
    b: Builder,
    handle: Value,
    index: Value,
    dtype: str,
    stated: Stated,
    problem: Problem,
    unset: Unset,
) -> Value:
    """One element."""
    found = given(b, handle, dtype)
    array, shape = found.array, _settled(b, found, stated)
    value, bad = arrays.look(b, array, index)
    b.require_not(bad, problem, index, _count(b, array))
    if shape is None:
        _require_set(b, found, unset)
    return value


def _count(b: Builder, array: Array) -> Value:
    return arrays.size_of(b, array) if array.growing is None else array.growing.count(b)


def _settled(b: Builder, found: List, stated: Stated) -> tuple[AnySize, ...] | None:
    """Sees that there is memory; the shape that elements have even if none of them is set."""
    own = found.elements
    if stated is not None and own.stated is not None:
        b.require(len(stated) == len(own.stated))
        merged = [m if n is None else n for n, m in zip(stated, own.stated)]
        shape = own._replace(stated=tuple(merged)).shape
    else:
        shape = own._replace(stated=own.stated if stated is None else stated).shape
    found.array.settle(b, shape)
    return shape


def _require_set(b: Builder, found: List, unset: Unset) -> None:
    """Raises unset(count) if no element was ever set, so that nobody knows their shape."""
    array = found.array
    if found.is_whole:
        b.require(not b.equal(array.size, 0))
        return
    if array.growing is not None:
        raise b.host("whether an element of a list that grows was set")
    marks = arrays.marks_of(b, array)
    is_set = b.reduce("any", b.map(lambda mark: scalar.ne(mark, 0), marks), None)
    b.require_not(b.map(scalar.logical_not, is_set), unset, arrays.size_of(b, array))


def stacked(b: Builder, handle: Value, dtype: str, stated: Stated, unset: Unset) -> Value:
    """All elements in one tensor."""
    found = given(b, handle, dtype)
    array = found.array
    array.stop_growing(b)
    if _settled(b, found, stated) is None:
        _require_set(b, found, unset)
    return arrays.contents(b, array)


def gathered(
    b: Builder,
    handle: Value,
    indices: Value,
    dtype: str,
    stated: Stated,
    problem: Problem,
    unset: Unset,
) -> Value:
    """Some elements in one tensor."""
    rows = stacked(b, handle, dtype, stated, unset)
    if indices.ndim != 1:
        raise b.host("indices that are no vector")
    _require_inside(b, indices, b.size_scalar(rows, [0], "int32"), problem)
    return b.pick(rows, b.cast(indices, "int64"))  # type: ignore[no-any-return]
