# SPDX-License-Identifier: Apache-2.0
"""Stacks, which loops keep values on.

A stack grows as a run needs it; `GrowableStack` stands for it, and what is known while tracing
comes back from it as it was.  On devices items are copied by many threads, and what that does to
how many there are is told apart from it (`CONTROLS`): the host knows it without asking.
Imports the rest of jit's IR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..kernel import scalar, sizes
from ..kernel.reference import numpy_dtype
from ..kernel.sizes import AnySize, same
from ..program.tensor_ir import GrowableStack, Handle, Value
from . import stacks_kernels, turns
from .growing import COUNT
from .library_kernel import LibraryKernel
from .template import of_pairs

_CLEAR = partial(of_pairs, "stack_clear", stacks_kernels.clear)
_BEGIN = partial(of_pairs, "stack_begin", stacks_kernels.begin)
_PUSH = partial(of_pairs, "stack_push", stacks_kernels.push)
_ROOM = partial(of_pairs, "stack_room", stacks_kernels.room)
_PUSH_ROWS = partial(of_pairs, "stack_push_rows", stacks_kernels.push_rows)
_POP = partial(of_pairs, "stack_pop", stacks_kernels.pop)
_PUSH_SIZED = partial(of_pairs, "stack_push_sized", stacks_kernels.push_sized)
_TOP = partial(of_pairs, "stack_top", stacks_kernels.top)
_POP_SIZED = partial(of_pairs, "stack_pop_sized", stacks_kernels.pop_sized)
_ITEMS = partial(of_pairs, "stack_items", stacks_kernels.items)
_PUT = partial(of_pairs, "stack_put", stacks_kernels.put)
_LOOK = partial(of_pairs, "stack_look", stacks_kernels.look)
_ADDED = partial(of_pairs, "stack_added", stacks_kernels.added)
_TAKEN = partial(of_pairs, "stack_taken", stacks_kernels.taken)
# Several of those for devices in one launch, by tables.
MOVES = partial(of_pairs, "stack_moves", stacks_kernels.moves)
CHANGES = partial(of_pairs, "stack_changes", stacks_kernels.changes)
WORD = stacks_kernels.WORD
_TILE = 1 << 16  # bytes that one thread copies

# What kernels do to the items that a stack has and has to have room for; the second number is the
# kernel's first parameter.
CONTROLS: dict[str, Callable[[int, int], tuple[int, int]] | None] = {
    "stack_clear": lambda held, count: (0, 1),
    "stack_begin": lambda held, count: (0, count),
    "stack_room": lambda held, count: (held, held + count),
    "stack_added": lambda held, count: (held + count, held + count + 1),
    "stack_taken": lambda held, count: (max(held - count, 0), max(held - count, 0) + 1),
    "stack_put": None,
    "stack_look": None,
    "array_count": None,
}


@runtime_checkable
class OfTurns(Protocol):
    """What a loop makes anew in each turn, and its gradient asks for by a handle from a stack."""

    def sizes_of_turn(self) -> Sequence[AnySize]:
        """The sizes that it was made with."""

    def of_other_turn(self, b: Any) -> Any:
        """What stands for it in the gradient's loop."""


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Every kernel of this module: of these dtypes, and of counters and conditions."""
    yield from (_CLEAR().over(()), _ROOM().over(()), _BEGIN().over(()), _TOP().over(["int64"]))
    for dtype in (*dtypes, "int32", "bool"):
        for made in (_PUSH, _POP):
            yield made().over([dtype])
    for dtype in (*dtypes, "int32", "int64", "bool"):
        for made in (_PUSH_ROWS, _ITEMS):
            yield made().over([dtype])
    for dtype in (*dtypes, "int32", "int64", "bool"):
        yield _POP_SIZED().over([dtype])
        yield _PUSH_SIZED().over([dtype, "int64"])


def handle_of(b: Any, thing: Any) -> Value:
    """A value that stands for something of a plan."""
    (value,) = b.program.add(Handle(thing), ("object", ()))
    value.cell = thing
    return value  # type: ignore[no-any-return]


def clear(b: Any, stack: GrowableStack) -> None:
    """Empties a stack, in every run."""
    b.call(_CLEAR(), [], [], writes=(stack,), stack=stack)


def reserve(b: Any, stack: GrowableStack, count: AnySize) -> None:
    """Sees that there is room for so many items more."""
    b.call(_ROOM(), [], [], [count], writes=(stack,), stack=stack)


def make_stack(b: Any, name: str) -> Value:
    """A new stack, empty in every run."""
    stack = GrowableStack(name, b.program, b.place)
    clear(b, stack)
    return handle_of(b, stack)


def _stack(b: Any, handle: Value) -> GrowableStack:
    """The stack that a handle stands for."""
    if not isinstance(handle.cell, GrowableStack):
        raise b.host("the stack is not one of this plan's")
    return handle.cell


def push(b: Any, handle: Value, value: Value) -> Value:
    """Puts a value on a stack; also gives it."""
    stack = _stack(b, handle)
    is_array = isinstance(value.cell, OfTurns)
    if not scalar.holds(value.dtype) and not is_array:
        raise b.host(f"a stack of {value.dtype}")
    if stack.item is not None:
        raise b.host("a stack that several operations push to")
    stack.item = value
    held = value.cell.sizes_of_turn() if is_array else turns.sizes_of(value)
    stack.turn = turns.of_turn(b, held, stack.place)
    if stack.turn:
        _push_sized(b, stack, value)
    elif value.known is None and not is_array:
        stack.bytes = _bytes(value)
        _push(b, stack, value)
    return value


def _push(b: Any, stack: GrowableStack, value: Value) -> None:
    """Puts an item on a stack."""
    if b.is_plain:
        _put(b, stack, [value], stack.bytes, 1)
        return
    b.call(_PUSH(), [value], [], [stack.bytes], writes=(stack,), stack=stack, grows=True)


def _put(
    b: Any, stack: GrowableStack, values: Sequence[Value], unit: AnySize, count: AnySize
) -> None:
    """Copies values, one behind the other, to so many new items of so many bytes."""
    about: dict[str, Any] = {"writes": (stack,), "stack": stack}
    place: AnySize = 0
    for value in values:
        size = _bytes(value)
        tiles = {"columns": sizes.maximum(size, 1), "col_tile": _TILE}
        b.call(_PUT(), [value], [], [unit, size, place], **about, **tiles, grows=same(place, 0))
        place = place + size
    b.call(_ADDED(), [], [], [count], **about)


def _look(
    b: Any,
    stack: GrowableStack,
    shape: Sequence[AnySize],
    dtype: str,
    unit: AnySize,
    place: AnySize,
) -> Value:
    """What lies so many bytes from the end of the items, if `unit` is their size; 0: of all."""
    size = sizes.product(shape) * numpy_dtype(dtype).itemsize
    tiles = {"columns": sizes.maximum(size, 1), "col_tile": _TILE}
    about: dict[str, Any] = {"writes": (stack,), "stack": stack}
    (value,) = b.call(_LOOK(), [], [(tuple(shape), dtype)], [unit, size, place], **about, **tiles)
    return value  # type: ignore[no-any-return]


def _bytes(value: Value) -> AnySize:
    return sizes.product(value.shape) * numpy_dtype(value.dtype).itemsize


def _push_sized(b: Any, stack: GrowableStack, value: Value) -> None:
    """Puts a value on a stack, and behind it what it was laid out by in this turn."""
    stack.bytes = 1
    numbers = turns.vector(b, stack.turn)
    if value.known is not None or value.cell is not None:  # of which there are but the sizes
        value = b.known_as(np.array(0, np.int64), "int64")
    count = [_bytes(value), _bytes(numbers)]
    reserve(b, stack, sum(count))
    given = [value, numbers]
    if b.is_plain:
        _put(b, stack, given, 1, sum(count))
        return
    b.call(_PUSH_SIZED(), given, [], count, writes=(stack,), stack=stack, grows=True)


def _pop_sized(b: Any, stack: GrowableStack, item: Value) -> Value:
    """Takes the last value from a stack, of a size that is behind it."""
    about: dict[str, Any] = {"writes": (stack,), "stack": stack}
    names = stack.turn
    behind = 8 * len(names)
    if not all(turns.is_learnt(b, name) for name in names):
        if b.is_plain:
            numbers = _look(b, stack, (len(names),), "int64", 1, -behind)
        else:
            (numbers,) = b.call(_TOP(), [], [((len(names),), "int64")], [behind], **about)
        turns.learn(b, names, numbers)
    if item.known is not None or item.cell is not None:
        if b.is_plain:
            b.call(_TAKEN(), [], [], [8 + behind], **about)
        else:
            b.call(_POP_SIZED(), [], [((), "int64")], [8, behind], **about)
        if item.cell is not None:
            return _of_other_turn(b, item)
        return b.known_as(turns.known_of(b, item), item.dtype)  # type: ignore[no-any-return]
    shape = turns.shape_of(b, item)
    count = sizes.product(shape) * numpy_dtype(item.dtype).itemsize
    if b.is_plain:
        b.call(_TAKEN(), [], [], [count + behind], **about)
        return _look(b, stack, shape, item.dtype, 1, 0)
    (value,) = b.call(_POP_SIZED(), [], [(shape, item.dtype)], [count, behind], **about)
    return value  # type: ignore[no-any-return]


def _of_other_turn(b: Any, item: Value) -> Value:
    """The handle of what was made in a turn of another loop."""
    assert isinstance(item.cell, OfTurns)
    return handle_of(b, item.cell.of_other_turn(b))


def keep(b: Any, stack: GrowableStack, value: Value) -> None:
    """Puts a value on a stack whose items will be looked at all together, and never popped."""
    if turns.of_turn(b, value.shape, stack.place):
        raise b.host("what a loop collects is of another size in each turn")
    stack.item = value
    stack.bytes = _bytes(value)
    _push(b, stack, value)


def keep_rows(b: Any, stack: GrowableStack, value: Value) -> None:
    """Puts the rows of a value on a stack whose items will be looked at all together."""
    if turns.of_turn(b, value.shape[1:], stack.place):
        raise b.host("rows that a loop collects are of another size in each turn")
    size = sizes.product(value.shape[1:]) * numpy_dtype(value.dtype).itemsize
    if stack.item is not None and not all(map(b.equal, stack.item.shape, value.shape[1:])):
        raise b.host("rows of several sizes are collected")
    if stack.item is None:
        stack.bytes = size
        stack.item = b.full(value.shape[1:], 0, value.dtype)
    reserve(b, stack, value.shape[0])
    if b.is_plain:
        _put(b, stack, [value], size, value.shape[0])
        return
    given = [size, value.shape[0]]
    b.call(_PUSH_ROWS(), [value], [], given, writes=(stack,), stack=stack, grows=True)


def refill(b: Any, stack: GrowableStack, value: Value) -> None:
    """Has a stack of bytes hold the contents of one value, and nothing else."""
    count = _bytes(value)
    b.call(_BEGIN(), [], [], [count], writes=(stack,), stack=stack)
    if b.is_plain:
        _put(b, stack, [value], 1, count)
        return
    b.call(_PUSH_ROWS(), [value], [], [1, count], writes=(stack,), stack=stack, grows=True)


def contents(b: Any, stack: GrowableStack, shape: Sequence[AnySize], dtype: str) -> Value:
    """The value that a stack of bytes was filled with, which has this shape."""
    if b.is_plain:
        return _look(b, stack, shape, dtype, 0, 0)
    made = [(shape, dtype)]
    return b.call(_ITEMS(), [], made, [1], writes=(stack,), stack=stack)[0]  # type: ignore[no-any-return]


def kept(b: Any, handle: Value) -> Value:
    """All items of a stack, in one tensor."""
    stack = _stack(b, handle)
    item = stack.item
    assert item is not None
    (number,) = b.call(COUNT(), [], [((), "int32")], writes=(stack,), stack=stack)
    count = b.measure(number)
    if b.is_plain:
        return _look(b, stack, (count, *item.shape), item.dtype, 0, 0)
    (value,) = b.call(
        _ITEMS(),
        [],
        [((count, *item.shape), item.dtype)],
        [stack.bytes],
        writes=(stack,),
        stack=stack,
    )
    return value  # type: ignore[no-any-return]


def pop(b: Any, handle: Value) -> Value:
    """Takes the last value from a stack."""
    stack = _stack(b, handle)
    item = stack.item
    if item is None:
        raise b.host("what a stack holds is not known yet")
    if stack.turn:
        return _pop_sized(b, stack, item)
    if item.cell is not None:
        return _of_other_turn(b, item)
    if item.known is not None:
        return b.known_as(item.known, item.dtype)  # type: ignore[no-any-return]
    if b.is_plain:
        b.call(_TAKEN(), [], [], [1], writes=(stack,), stack=stack)
        return _look(b, stack, item.shape, item.dtype, stack.bytes, 0)
    (value,) = b.call(
        _POP(),
        [],
        [(item.shape, item.dtype)],
        [stack.bytes],
        writes=(stack,),
        stack=stack,
    )
    return value  # type: ignore[no-any-return]
