# SPDX-License-Identifier: Apache-2.0
"""Kernel IR: one loop nest over named axes, scalar expressions, reductions and stores.

Immutable and interned: structurally equal nodes are the same object, so `is` compares and a node's
hash is its identity.  Sizes and strides are arguments of the kernel, never part of it, so that one
compiled kernel serves all sizes; the few that are static (a stride of one or zero, a short axis)
are plain ints.  Imports nothing from the package.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, Literal, Union

from ...engine.record_class import record

# Never emptied: it grows with the different expressions of a process, and equal layers, steps and
# plans share theirs.
_INTERNED: dict[tuple[Any, ...], Any] = {}
_LOCK = threading.Lock()


class _Interned(type):
    """Returns the one existing instance for equal field values."""

    __match_args__: tuple[str, ...]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        # With defaults filled in, a node made by names is the one made by position.
        if kwargs or len(args) < len(cls.__match_args__):
            node = super().__call__(*args, **kwargs)
            args = tuple(getattr(node, name) for name in cls.__match_args__)
        key = (cls, cls._key(args))
        # Found without the lock: an entry stays as it is.  Of two threads that make the same node
        # at once the first wins.
        node = _INTERNED.get(key)
        if node is None:
            node = super().__call__(*args)
            with _LOCK:
                node = _INTERNED.setdefault(key, node)
        return node

    def _key(cls, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """What tells field values apart: names, whole numbers and nodes do so themselves."""
        return args


class _InternedLiteral(_Interned):
    """The same for literals: 0.0 == -0.0 and True == 1, and NaN is not equal to itself."""

    def _key(cls, args: tuple[Any, ...]) -> Any:
        value, dtype = args
        return type(value), repr(value), dtype


@record(frozen=True, slots=True, eq=False)
class Const(metaclass=_InternedLiteral):
    """A literal; dtype is a NumPy dtype name such as "float32"."""

    value: bool | int | float
    dtype: str


@record(frozen=True, slots=True, eq=False)
class AxisIndex(metaclass=_Interned):
    """The current position on an axis, an int64."""

    axis: int
    dtype: str = "int64"


@record(frozen=True, slots=True, eq=False)
class Param(metaclass=_Interned):
    """The int64 argument in `slot` of the kernel's parameters (a stride, a size, an offset)."""

    slot: int
    dtype: str = "int64"


@record(frozen=True, slots=True, eq=False)
class Index(metaclass=_Interned):
    """An element offset: the sum of axis position times stride, plus `offset`.

    strides has one entry per kernel axis: 0 where the axis does not move the address.
    offset is None or any int64 expression (a Param, or a loaded index for a gather).
    """

    strides: tuple[int | Param, ...]
    offset: Expr | None = None


@record(frozen=True, slots=True, eq=False)
class Load(metaclass=_Interned):
    """The element of a buffer at an index; always in bounds."""

    buffer: int
    index: Index
    dtype: str


@record(frozen=True, slots=True, eq=False)
class Apply(metaclass=_Interned):
    """A scalar primitive (jit/kernel/scalar.py) applied to expressions; dtype is the result's."""

    fn: str
    args: tuple[Expr, ...]
    dtype: str


@record(frozen=True, slots=True, eq=False)
class Reduced(metaclass=_Interned):
    """The finished value of the kernel's reduction number `reduction`."""

    reduction: int
    dtype: str


Expr = Union[Const, AxisIndex, Param, Load, Apply, Reduced]


@record(frozen=True, slots=True, eq=False)
class Buffer(metaclass=_Interned):
    """A pointer argument: element dtype, and whether the kernel reads, writes or does both."""

    dtype: str
    access: Literal["r", "w", "rw"]


@record(frozen=True, slots=True, eq=False)
class Axis(metaclass=_Interned):
    """A loop.

    map     every position is independent
    reduce  positions are combined by the kernel's reductions
    chunk   an independent loop over pieces of the reduce axis number `of`: at position p that axis
            runs over [p * length, min((p + 1) * length, its size)), length being Param `length`
    size    None when it is an argument, else a static int
    """

    kind: Literal["map", "reduce", "chunk"]
    size: int | None = None
    of: int | None = None
    length: Param | None = None


@record(frozen=True, slots=True, eq=False)
class Reduction(metaclass=_Interned):
    """Combines `value` over all reduce axes with fn: sum, prod, max, min, any, all, argmax, argmin.

    argmax and argmin combine `value` and yield the int64 position on the single reduce axis, the
    lowest one among equals.  NaN propagates through max and min.  `dtype` is that of the
    accumulator and the result.
    """

    fn: str
    value: Expr
    dtype: str


@record(frozen=True, slots=True, eq=False)
class Store(metaclass=_Interned):
    """Writes `value` to a buffer.

    Runs once per position of the map and chunk axes when neither `index` nor `value` depends on a
    reduce axis (except through Reduced), else once per position of all axes.
    """

    buffer: int
    index: Index
    value: Expr


@record(frozen=True, slots=True, eq=False)
class Kernel(metaclass=_Interned):
    """One loop nest.  Axes are in loop order, outermost first.

    form map     all axes are map axes.  Tile rows run over the product of axes[:-1], tile columns
                 over axes[-1].
    form row     map (and chunk) axes, then reduce axes.  Tile rows run over the product of the map
                 and chunk axes; columns are not used.  Reductions may depend on earlier ones
                 (softmax): the reduce axes are then passed over several times.
    form column  outer map (and chunk) axes, then reduce axes, then exactly one inner map axis.
                 Tile rows run over the product of the outer map and chunk axes, tile columns over
                 the inner axis.  Reductions do not depend on each other.

    The argument block is an int64 array: buffer addresses, then the size of every axis, then the
    parameters.  A compiled kernel is kernel(args, r0, r1, c0, c1, worker): it does rows [r0, r1)
    and columns [c0, c1); `worker` numbers the calling thread, for scratch memory.

    Positions are independent of each other: a buffer that is stored to (access "w" or "rw") does
    not overlap another, and is loaded only where the same position stores.  A "w" buffer may hold
    intermediate values while the kernel runs.  (Only jit/library/sparse_update.py has rows that
    depend on earlier ones: its tiles have all of them.)
    """

    form: Literal["map", "row", "column"]
    buffers: tuple[Buffer, ...]
    axes: tuple[Axis, ...]
    reductions: tuple[Reduction, ...]
    stores: tuple[Store, ...]
    params: int

    @property
    def name(self) -> str:
        """What to call it."""
        return self.form


def declaration(dtypes: Iterable[str]) -> str:
    """The line of a kernel's source that says what its buffers hold."""
    return f"BUFFERS = {tuple(dtypes)!r}"


def nodes(kernel: Kernel) -> list[Expr]:
    """All expressions of a kernel, those of addresses among them; some may come several times."""
    roots: list[Expr] = [reduction.value for reduction in kernel.reductions]
    for store in kernel.stores:
        roots.append(store.value)
        if store.index.offset is not None:
            roots.append(store.index.offset)
    return [node for root in roots for node in postorder(root)]


def postorder(root: Expr, is_leaf: Callable[[Expr], bool] = lambda _: False) -> list[Expr]:
    """The expressions below `root` and it, each once, arguments first; none below a leaf."""
    order: list[Expr] = []
    seen: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
            continue
        if node in seen:
            continue
        seen.add(node)
        stack.append((node, True))
        if is_leaf(node):
            continue
        if isinstance(node, Apply):
            stack.extend((arg, False) for arg in reversed(node.args))
        elif isinstance(node, Load) and node.index.offset is not None:
            stack.append((node.index.offset, False))
    return order
