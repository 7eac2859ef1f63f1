# SPDX-License-Identifier: Apache-2.0
"""Arrays of tensors, which loops write and read by index, and stacks, which they keep values on.

An array is one block of the plan's memory, a row for each element, with a mark for each: 0 new,
1 written, 2 read and gone.  A stack grows as a run needs it; `GrowableStack` stands for it, and
what is known while tracing comes back from it as it was.  Imports the rest of jit's IR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..kernel import ir, scalar, sizes
from ..kernel.reference import numpy_dtype
from ..kernel.sizes import AnySize, Size
from ..program.tensor_ir import GrowableStack, Handle, Iota, Map, Read, Register, Value, Write
from . import arrays_kernels
from .library_kernel import LibraryKernel
from .template import specialise

_TILE = 1 << 16  # bytes that make a worthwhile tile
_ADDED = ("float32", "float64", "int32", "int64")
Problem = Callable[..., BaseException]


_READ = partial(specialise, "array_read", arrays_kernels.read)
_CLEAR = partial(specialise, "stack_clear", arrays_kernels.clear)
_PUSH = partial(specialise, "stack_push", arrays_kernels.push)
_POP = partial(specialise, "stack_pop", arrays_kernels.pop)
_ITEMS = partial(specialise, "stack_items", arrays_kernels.items)
_FORGET = partial(specialise, "array_forget", arrays_kernels.forget)
_REACH = partial(specialise, "array_reach", arrays_kernels.reach)
_APPEND = partial(specialise, "array_append", arrays_kernels.append)
_COUNT = partial(specialise, "array_count", arrays_kernels.count)
_SETTLE = partial(specialise, "array_settle", arrays_kernels.settle)
_PUT = {"write": arrays_kernels.write, "scatter": arrays_kernels.scatter}


def _put_kernel(how: str, adds: bool) -> LibraryKernel:
    return specialise(f"array_{how}", _PUT[how], ADDS=adds)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """Every kernel of this module: of these dtypes, and of counters and conditions."""
    yield from (_CLEAR().over(()), _FORGET().over(()), _COUNT().over(["int32"]))
    yield _REACH().over(["int32"])
    for dtype in (*dtypes, "int32", "bool"):
        yield _READ().over(["int32", dtype, "uint8", dtype, "bool"])
        for how in _PUT:
            for adds in (False, True) if dtype in _ADDED else (False,):
                yield _put_kernel(how, adds).over(["int32", dtype, dtype, "uint8", "bool"])
        yield _PUSH().over([dtype])
        yield _POP().over([dtype])
        yield _ITEMS().over([dtype])
        yield _APPEND().over(["int32", dtype, "bool"])
        yield _SETTLE().over([dtype, "uint8"])


class Array:
    """An array of tensors while it is traced: where it was made, and its memory once that is."""

    def __init__(
        self,
        b: Any,
        name: str,
        dtype: str,
        size: AnySize,
        shape: tuple[AnySize, ...] | None,
        clears: bool,
        is_alike: bool = True,
        adds: bool = False,
    ) -> None:
        """shape: of an element, if the graph states it; adds: a second write adds to the first.

        is_alike: all elements have one shape, so that those that were never written are zeros.
        """
        self.is_alike = is_alike
        self.b, self.guard = b, b.program.guard
        self.name, self.dtype, self.size = name, dtype, size
        self.stated = shape
        self.clears, self.adds = clears, adds
        self.shape: tuple[AnySize, ...] | None = None
        self.memory: Register | None = None
        self.marks: Register | None = None
        self.gradients: dict[str, Array] = {}
        # Of an array that grows: where its elements are until it is asked for as a whole.
        self.growing: GrowableStack | None = None
        self.has_grown = False

    def settle(self, b: Any, shape: tuple[AnySize, ...] | None = None) -> None:
        """Sees that there is memory, for elements of a shape."""
        shape = self.stated if shape is None else shape
        if self.shape is None:
            if shape is None:
                raise b.host("the shape of an array's elements is not known yet")
            if self.stated is not None and not _equal(b, self.stated, shape):
                raise b.host("an array's element has another shape than stated")
            self.shape = shape
            if self.growing is not None:
                # A mark of 8 bytes, and the next begins on a multiple of 8 again.
                self.growing.bytes = 8 + (self.bytes + 7) // 8 * 8
                return
            self.memory = self._zeros(self.dtype, (self.size, *shape))
            self.marks = self._zeros("uint8", (self.size,))
        elif shape is not None and not _equal(b, self.shape, shape):
            raise b.host("an array's elements have different shapes")

    def _zeros(self, dtype: str, shape: tuple[AnySize, ...]) -> Register:
        """New memory, made where the array was: perhaps outside of the loop that is traced now."""
        program = self.b.program
        register = Register(self.name, dtype, shape, program)
        before, program.guard = program.guard, self.guard
        node = Write((self.b.full(shape, 0, dtype),), register)
        program.add(node, (dtype, shape))[0].cell = register
        program.guard = before
        return register

    def stop_growing(self, b: Any) -> None:
        """Gives an array that grew memory of the size that it has by now."""
        stack = self.growing
        if stack is None:
            return
        if b.program is not self.b.program or b.program.guard != self.guard:
            raise b.host("an array that grows is looked at within a branch or loop")
        if self.shape is None:
            self.settle(b)
        (number,) = b.call(
            _COUNT(),
            [],
            [((), "int32")],
            writes=(stack,),
            stack=stack,
        )
        self.size, self.growing, self.has_grown = b.measure(number), None, True
        assert self.shape is not None
        self.memory = self._zeros(self.dtype, (self.size, *self.shape))
        self.marks = self._zeros("uint8", (self.size,))
        b.call(
            _SETTLE(),
            [_now(b, self.memory), _now(b, self.marks)],
            [],
            [self.bytes],
            writes=(stack, self.memory, self.marks),
            stack=stack,
        )

    @property
    def bytes(self) -> AnySize:
        """Of an element."""
        assert self.shape is not None
        return sizes.product(self.shape) * numpy_dtype(self.dtype).itemsize

    def gradient(self, source: str) -> Array:
        """The array of its gradients for one call of tf.gradients."""
        found = self.gradients.get(source)
        if found is None:
            found = Array(
                self.b, f"{self.name}@{source}", self.dtype, self.size, None, True, adds=True
            )
            found.guard, found.stated = self.guard, self.shape or self.stated
            self.gradients[source] = found
        return found


def _equal(b: Any, one: Sequence[AnySize], other: Sequence[AnySize]) -> bool:
    return len(one) == len(other) and all(map(b.equal, one, other))


def _now(b: Any, register: Register | None) -> Value:
    """The contents of a register, or its address."""
    assert register is not None
    home = register.home
    return b.program.add(Read(register), (home.dtype, home.shape))[0]  # type: ignore[no-any-return]


def _handle(b: Any, thing: Any) -> Value:
    (value,) = b.program.add(Handle(thing), ("object", ()))
    value.cell = thing
    return value  # type: ignore[no-any-return]


def _flow(b: Any) -> Value:
    return b.constant(np.array(0, np.float32))  # type: ignore[no-any-return]


def make(
    b: Any,
    name: str,
    size: Value,
    dtype: str,
    shape: Sequence[int] | None,
    clears: bool,
    is_alike: bool,
    grows: bool = False,
) -> tuple[Value, Value]:
    """A new array, and the flow of it."""
    known = b.known(size)
    if known is None or size.ndim or not scalar.compiles(dtype):
        raise b.host("an array's size or type is known only when it is made")
    count = known.item()
    if not isinstance(count, Size) and count < 0:
        raise b.host("an array of negative size")
    array = Array(b, name, dtype, count, None if shape is None else tuple(shape), clears, is_alike)
    if grows:
        if not b.can_measure or count != 0:
            raise b.host("an array that grows within a branch or loop, or is not empty at first")
        stack = array.growing = GrowableStack(name, b.program)
        b.call(_FORGET(), [], [], writes=(stack,), stack=stack)
    return _handle(b, array), _flow(b)


def _array(b: Any, handle: Value) -> Array:
    """The array that a handle stands for."""
    if not isinstance(handle.cell, Array):
        raise b.host("the array is not one of this plan's")
    return handle.cell


def gradient(b: Any, handle: Value, source: str) -> tuple[Value, Value]:
    """The array of an array's gradients."""
    _array(b, handle).stop_growing(b)
    return _handle(b, _array(b, handle).gradient(source)), _flow(b)


def size(b: Any, handle: Value) -> Value:
    """How many elements there are."""
    _array(b, handle).stop_growing(b)
    return b.known_as(np.array(_array(b, handle).size, object), "int32")  # type: ignore[no-any-return]


def _tiles(array: Array) -> dict[str, Any]:
    if array.adds:
        count = sizes.product(array.shape or ())
        return {"columns": sizes.maximum(count, 1), "col_tile": _TILE // 4}
    return {"columns": sizes.maximum(array.bytes, 1), "col_tile": _TILE}


def read(b: Any, handle: Value, index: Value, dtype: str, problem: Problem) -> Value:
    """One element."""
    array = _of_type(b, handle, dtype)
    array.stop_growing(b)
    array.settle(b)
    if index.ndim:
        raise b.host("an index that is no scalar")
    value, bad = b.call(
        _READ(),
        [index, _now(b, array.memory), _now(b, array.marks)],
        [(array.shape, array.dtype), ((), "bool")],
        [array.bytes, array.size, int(array.clears)],
        columns=sizes.maximum(array.bytes, 1),
        col_tile=_TILE,
        writes=(array.marks,),
    )
    b.require_not(bad, problem, index)
    return value  # type: ignore[no-any-return]


def write(b: Any, handle: Value, index: Value, value: Value, problem: Problem) -> Value:
    """Writes one element, or adds to it; returns the flow."""
    array = _array(b, handle)
    array.settle(b, value.shape)
    if index.ndim:
        raise b.host("an index that is no scalar")
    if array.growing is not None:
        _append(b, array, index, value, problem)
    elif array.has_grown:
        raise b.host("an array grows again that was looked at")
    else:
        _put(b, array, "write", index, value, [], problem)
    return _flow(b)


def _append(b: Any, array: Array, index: Value, value: Value, problem: Problem) -> None:
    """Writes one element of an array that grows."""
    stack = array.growing
    if value.dtype != array.dtype:
        raise b.host(f"an array of {array.dtype} is given {value.dtype}")
    b.call(_REACH(), [index], [], writes=(stack,), stack=stack)
    (bad,) = b.call(
        _APPEND(),
        [index, value],
        [((), "bool")],
        [array.bytes],
        writes=(stack,),
        stack=stack,
        grows=True,
    )
    b.require_not(bad, problem, index)


def _put(
    b: Any,
    array: Array,
    how: str,
    index: Value,
    value: Value,
    params: list[Any],
    problem: Problem,
) -> None:
    if value.dtype != array.dtype or (array.adds and array.dtype not in _ADDED):
        raise b.host(f"an array of {array.dtype} is given {value.dtype}")
    kernel = _put_kernel(how, array.adds)
    size = sizes.product(array.shape or ()) if array.adds else array.bytes
    (bad,) = b.call(
        kernel,
        [index, value, _now(b, array.memory), _now(b, array.marks)],
        [((), "bool")],
        [size, array.size, *params],
        writes=(array.memory, array.marks),
        **_tiles(array),
    )
    b.require_not(bad, problem, index)


def _of_type(b: Any, handle: Value, dtype: str) -> Array:
    array = _array(b, handle)
    if array.dtype != dtype:
        raise b.host(f"an array of {array.dtype} is asked for {dtype}")
    return array


def gather(b: Any, handle: Value, indices: Value, dtype: str, problem: Problem) -> Value:
    """Several elements as one tensor."""
    array = _of_type(b, handle, dtype)
    array.stop_growing(b)
    array.settle(b)
    if indices.ndim != 1:
        raise b.host("indices that are no vector")
    if not array.is_alike:
        marks = b.gather(_now(b, array.marks), indices)
        missing = b.map(lambda mark: scalar.ne(mark, 1), marks)
        b.require_not(b.reduce("any", missing, None), problem, indices)
    if _are_all(indices, array.size):
        return _now(b, array.memory)
    return b.gather(_now(b, array.memory), indices)  # type: ignore[no-any-return]


def _are_all(indices: Value, count: AnySize) -> bool:
    """Are indices the whole numbers from zero to a count, one after the other?"""
    node = indices.node
    if not sizes.same(indices.shape[0], count):
        return False
    if isinstance(node, Map) and len(node.inputs) == 1:
        (expr,), node = node.exprs, node.inputs[0].node
        if not isinstance(expr, ir.Apply) or expr.fn != "cast":
            return False
        if not isinstance(expr.args[0], ir.Load):
            return False
    return isinstance(node, Iota)


def scatter(b: Any, handle: Value, indices: Value, value: Value, problem: Problem) -> Value:
    """Writes rows of a tensor to several elements; returns the flow."""
    array = _array(b, handle)
    if indices.ndim != 1 or not value.ndim or not b.equal(indices.shape[0], value.shape[0]):
        raise b.host("rows and indices that do not belong together")
    if array.growing is not None or array.has_grown:
        raise b.host("an array that grows takes several elements at once")
    array.settle(b, value.shape[1:])
    _put(b, array, "scatter", indices, value, [value.shape[0]], problem)
    return _flow(b)


# Stacks


def make_stack(b: Any, name: str) -> Value:
    """A new stack, empty in every run."""
    stack = GrowableStack(name, b.program)
    b.call(_CLEAR(), [], [], writes=(stack,), stack=stack)
    return _handle(b, stack)


def _stack(b: Any, handle: Value) -> GrowableStack:
    """The stack that a handle stands for."""
    if not isinstance(handle.cell, GrowableStack):
        raise b.host("the stack is not one of this plan's")
    return handle.cell


def push(b: Any, handle: Value, value: Value) -> Value:
    """Puts a value on a stack; also gives it."""
    stack = _stack(b, handle)
    if not scalar.compiles(value.dtype):
        raise b.host(f"a stack of {value.dtype}")
    if stack.item is not None:
        raise b.host("a stack that several operations push to")
    stack.item = value
    if value.known is None:
        stack.bytes = sizes.product(value.shape) * numpy_dtype(value.dtype).itemsize
        b.call(_PUSH(), [value], [], [stack.bytes], writes=(stack,), stack=stack, grows=True)
    return value


def keep(b: Any, stack: GrowableStack, value: Value) -> None:
    """Puts a value on a stack whose items will be looked at all together, and never popped."""
    stack.item = value
    stack.bytes = sizes.product(value.shape) * numpy_dtype(value.dtype).itemsize
    b.call(_PUSH(), [value], [], [stack.bytes], writes=(stack,), stack=stack, grows=True)


def kept(b: Any, handle: Value) -> Value:
    """All items of a stack, in one tensor."""
    stack = _stack(b, handle)
    item = stack.item
    assert item is not None
    (number,) = b.call(
        _COUNT(),
        [],
        [((), "int32")],
        writes=(stack,),
        stack=stack,
    )
    count = b.measure(number)
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
    if item.known is not None:
        return b.known_as(item.known, item.dtype)  # type: ignore[no-any-return]
    (value,) = b.call(
        _POP(),
        [],
        [(item.shape, item.dtype)],
        [stack.bytes],
        writes=(stack,),
        stack=stack,
    )
    return value  # type: ignore[no-any-return]
