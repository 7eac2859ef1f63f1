# SPDX-License-Identifier: Apache-2.0
"""The builder that ops' lowerings speak to: it checks shapes and appends tensor IR.

An op's `lower(b, op, *values)` states what the op computes in this vocabulary; how it becomes loops
is decided later (jit/passes/fuse.py).  Imports the engine's errors and the rest of jit; never ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.session.interpreter import located
from ...engine.types.indices import not_inside
from ..kernel import scalar, size_scope, sizes
from ..kernel.sizes import AnySize, Size, same
from ..library import complex_parts
from ..program.editing import Program
from ..program.tensor_ir import (
    Axis,
    Call,
    Compose,
    Constant,
    Effects,
    Gather,
    GrowableStack,
    Iota,
    Launch,
    Map,
    Measure,
    Node,
    Part,
    Read,
    Reduce,
    Reshape,
    Shape,
    Sizes,
    Value,
    View,
    Write,
)
from .attributes import arguments_of, loading
from .forms import (
    as_size,
    broadcast_of,
    holds_sizes,
    new_shape,
    numpy_dtype,
    shape_key,
    shape_shown,
    unit_moves,
    without,
)

# Terms that one map combines; more would make kernels that take ever longer to compile.
_MOST_TERMS = 64
_LARGE = 1 << 16  # bytes of a constant that is known by identity
# What an order of work takes a size for that only a run tells.
_MEASURED_HINT = 8


# error(indices, size): what to raise for indices that are not in [0, size).
IndexProblem = Callable[[np.ndarray, int], BaseException]


class NotLowered(Exception):
    """An op's lowering gives up; the op runs on the host.  The text is the reason."""


class Unsettled(Exception):
    """A variable is asked for whose shape is known only once the program so far has run."""


class Misjudged(Exception):
    """What a program took for granted (its argument, of sizes) is not so; another one can run."""


class Builder:
    """Appends to one Program.  Values of different builders do not mix."""

    def __init__(self, program: Program, scope: size_scope.Scope) -> None:
        self.program = program
        self.scope = scope
        self._constants: dict[tuple[np.dtype[Any], tuple[int, ...], int | bytes], Value] = {}
        self._equal: dict[tuple[Any, ...], tuple[Value, ...]] = {}
        # What was joined, and along which axis.
        self.joined: dict[Value, tuple[int, tuple[Value, ...]]] = {}
        # Of a loop's test or body, what builds around it.
        self.outer: Builder | None = None
        # May sizes be known in the middle of a run?  And what a run looks at be taken for granted?
        self.may_measure = self.may_assume = True
        # Are products and windows loop nests, but for what a library computes?  In halves?
        self.is_plain, self.offered, self.is_mixed = False, frozenset[str](), False
        self._assumed, self._reads = set[Value](), dict[Any, Value]()
        # Variables that a host op gives their first contents or another shape.
        self.unsettled: set[Any] = set()
        # Operations that change a copy of a list, as the list is read later (library/lists.py).
        self.copied: set[Any] = set()
        # Are branches or loops traced, out of which no handle comes?
        self.is_closed = False
        # Numbers in memory that are measured, by their places.
        self.measured: dict[tuple[Value, tuple[int, ...]], Size] = {}
        # What a turn of another loop was laid out by, in sizes of this (jit/library/turns.py).
        self.turn_sizes: dict[str, Size] = {}

    # What the trace knows.

    def known(self, value: Value) -> np.ndarray | None:
        """The contents of a value where the trace knows them (object dtype if partly symbolic)."""
        return value.known

    def host(self, reason: str) -> NotLowered:
        """Gives up lowering: `raise b.host("why")`."""
        raise NotLowered(reason)

    def constant(self, array: object, dtype: str | None = None) -> Value:
        """A value with contents known now."""
        if holds_sizes(array):
            return self.known_as(np.array(array, dtype=object), dtype or "int64")
        array = np.asarray(array, None if dtype is None else numpy_dtype(dtype), order="C")
        key = (array.dtype, array.shape, id(array) if array.nbytes > _LARGE else array.tobytes())
        if key not in self._constants:
            node = Constant(array)
            (value,) = self.program.add(node, (array.dtype.name, array.shape))
            value.known = array
            self._constants[key] = value
        return self._constants[key]

    def known_as(self, array: np.ndarray, dtype: str) -> Value:
        """A value for contents found while tracing; symbolic sizes become arguments of kernels."""
        if array.dtype != object:
            return self.constant(array, dtype)
        if any(isinstance(item, Size) for item in array.flat):
            return self._sizes(array, dtype)
        return self.constant(array.astype(numpy_dtype(dtype)), dtype)

    def _sizes(self, array: np.ndarray, dtype: str) -> Value:
        key = "sizes", dtype, array.shape, shape_key(array.flat)
        (value,) = self._once(key, lambda: self.program.add(Sizes(array), (dtype, array.shape)))
        value.known = array if dtype.startswith(("int", "uint")) else None
        return value

    def size_scalar(self, value: Value, axes: Sequence[int] | None, dtype: str) -> Value:
        """How many elements lie along `axes` (all, when None), as a 0-d value."""
        axes = range(value.ndim) if axes is None else axes
        count = sizes.product(value.shape[axis] for axis in axes)
        if isinstance(count, Size) or count > 1:
            # (An argument of kernels even where it is known, as it is where it is not.)
            return self._sizes(np.array(count, dtype=object), dtype)
        return self.constant(np.array(count, dtype=numpy_dtype(dtype)))

    def rollback(self, last: Node | None) -> None:
        """Takes back all nodes behind one that was the last, and what was remembered of them."""
        gone = self.program.rollback(last)
        if not gone:
            return
        self._constants = {k: v for k, v in self._constants.items() if v.node not in gone}
        self._reads = {k: v for k, v in self._reads.items() if v.node not in gone}
        names = {node.symbol for node in gone if isinstance(node, Measure)}
        self.measured = without(self.measured, names)
        self.turn_sizes = without(self.turn_sizes, names)
        self._equal = {k: v for k, v in self._equal.items() if v[0].node not in gone}

    # Elementwise and reductions.

    def map(
        self,
        body: Callable[..., Any],
        *values: Value,
        dtype: str | None = None,
        literals: bool = True,
    ) -> Any:
        """Applies a scalar body at every position, with NumPy broadcasting.

        Returns a Value, or a tuple of them when the body returns a tuple.
        literals: may small numbers stand in the kernel's text?  (Else they are loaded.)
        """
        shape = self.broadcast_shape(*(value.shape for value in values))
        arguments, inputs = arguments_of(values, literals)
        for value in inputs:
            self._need_compiled(value.dtype)
        try:
            result = body(*arguments)
        except TypeError as reason:
            raise NotLowered(str(reason)) from None
        exprs = result if isinstance(result, tuple) else (result,)
        if dtype is not None:
            exprs = tuple(scalar.cast(e, dtype) for e in exprs)
        exprs, inputs = loading(exprs, inputs, self.constant)
        made = self._once(
            ("map", exprs, tuple(inputs), shape_key(shape)),
            lambda: self.program.add(Map(tuple(inputs), exprs), *((e.dtype, shape) for e in exprs)),
        )
        return made if isinstance(result, tuple) else made[0]

    def fold(self, body: Callable[[Any, Any], Any], values: Sequence[Value]) -> Value:
        """Combines values of one shape from left to right: body(body(first, second), third) …"""
        total = values[0]
        for start in range(1, len(values), _MOST_TERMS):
            rest = values[start : start + _MOST_TERMS]
            total = self.map(lambda *terms: reduce(body, terms), total, *rest)
        return total

    def cast(self, value: Value, dtype: str) -> Value:
        """Converts to another dtype, as TensorFlow's Cast does."""
        if value.dtype == dtype:
            return value
        return self.map(lambda x: scalar.cast(x, dtype), value)

    def reduce(
        self,
        fn: str,
        value: Value,
        axes: Sequence[int] | None,
        keepdims: bool = False,
        dtype: str | None = None,
    ) -> Value:
        """Combines over axes (all, when None): sum prod max min any all argmax argmin."""
        chosen = range(value.ndim) if axes is None else axes
        reduced = frozenset(self.axis(a, value.ndim) for a in chosen)
        out = dtype or ("int64" if fn.startswith("arg") else value.dtype)
        self._need_compiled(value.dtype)
        if scalar.is_complex(value.dtype):
            return complex_parts.reduced(self, fn, value, axes, keepdims)
        if fn.startswith("arg") and len(reduced) != 1:
            raise NotLowered("argmax and argmin work along one axis")
        kept = tuple(1 if i in reduced else size for i, size in enumerate(value.shape))
        if all(same(value.shape[axis], 1) for axis in reduced):
            result = self.cast(value, out) if not fn.startswith("arg") else self.full(kept, 0, out)
        else:
            made = self._once(
                ("reduce", fn, value, reduced, out),
                lambda: self.program.add(Reduce((value,), fn, reduced), (out, kept)),
            )
            result = made[0]
        if keepdims:
            return result
        return self.reshape(result, tuple(s for i, s in enumerate(value.shape) if i not in reduced))

    # Movement.

    def identity(self, value: Value) -> Value:
        """The same value."""
        return value

    def reshape(self, value: Value, shape: Sequence[AnySize]) -> Value:
        """The same elements under another shape (no -1; sizes may be symbolic)."""
        target = new_shape(shape)
        if sizes.same_shape(target, value.shape):
            return value
        self._need_compiled(value.dtype)
        if not self.equal(sizes.product(target), sizes.product(value.shape)):
            raise errors.invalid(
                f"Input to reshape is a tensor with {sizes.hint(sizes.product(value.shape))} "
                f"values, but the requested shape has {sizes.hint(sizes.product(target))}"
            )
        axes = unit_moves(value.shape, target)
        if axes is not None:
            return self.view(value, axes, target)
        made = self._once(
            ("reshape", value, shape_key(target)),
            lambda: self.program.add(Reshape((value,)), (value.dtype, target)),
        )
        return made[0]

    def view(self, value: Value, axes: tuple[Axis, ...], shape: Shape) -> Value:
        """Reads a value at moved positions (see tensor_ir.View)."""
        identity = sizes.same_shape(shape, value.shape) and all(
            (a.axis == i and same(a.stride, 1) and same(a.offset, 0)) or same(value.shape[i], 1)
            for i, a in enumerate(axes)
        )
        if identity:
            return value
        self._need_compiled(value.dtype)
        key = (
            "view",
            value,
            tuple((a.axis, str(a.stride), str(a.offset)) for a in axes),
            shape_key(shape),
        )
        return self._once(
            key, lambda: self.program.add(View((value,), axes), (value.dtype, shape))
        )[0]

    def transpose(self, value: Value, perm: Sequence[int]) -> Value:
        """Permutes the dimensions: output dimension i is input dimension perm[i]."""
        order = [int(p) for p in perm]
        axes = tuple(Axis(order.index(i)) for i in range(value.ndim))
        return self.view(value, axes, tuple(value.shape[p] for p in order))

    def broadcast(self, value: Value, shape: Sequence[AnySize]) -> Value:
        """Repeats dimensions of one, and adds leading ones, to reach `shape`."""
        target = new_shape(shape)
        lead = len(target) - value.ndim
        self.require(lead >= 0)
        axes = tuple(
            Axis(None) if same(size, 1) and not same(target[lead + i], 1) else Axis(lead + i)
            for i, size in enumerate(value.shape)
        )
        for i, size in enumerate(value.shape):
            if axes[i].axis is not None and not self.equal(size, target[lead + i]):
                raise errors.invalid(
                    f"Incompatible shapes: {shape_shown(value.shape)} vs. {shape_shown(target)}"
                )
        return self.view(value, axes, target)

    def slice(
        self,
        value: Value,
        begin: Sequence[AnySize],
        size: Sequence[AnySize],
        stride: Sequence[AnySize] | None = None,
    ) -> Value:
        """`size` elements from `begin` in steps of `stride` (may be negative), per dimension."""
        steps = stride or [1] * value.ndim
        axes = tuple(Axis(i, as_size(s), as_size(b)) for i, (b, s) in enumerate(zip(begin, steps)))
        return self.view(value, axes, new_shape(size))

    def pad(
        self, value: Value, paddings: Sequence[tuple[AnySize, AnySize]], fill: float = 0
    ) -> Value:
        """Surrounds a value with `fill`; paddings are (before, after) per dimension."""
        shape = tuple(size + lo + hi for size, (lo, hi) in zip(value.shape, paddings))
        if sizes.same_shape(shape, value.shape):
            return value
        return self.assemble(shape, value.dtype, [(value, [lo for lo, _ in paddings], None)], fill)

    def concat(self, values: Sequence[Value], axis: int) -> Value:
        """Joins values along an axis."""
        first = values[0]
        axis = self.axis(axis, first.ndim)
        self.require(all(value.ndim == first.ndim for value in values))
        offset: AnySize = 0
        parts: list[Any] = []
        for value in values:
            for i, size in enumerate(value.shape):
                if i != axis and not self.equal(size, first.shape[i]):
                    shapes = shape_shown(first.shape), shape_shown(value.shape)
                    raise errors.invalid(
                        "ConcatOp : Dimensions of inputs should match: "
                        f"shape[0] = {shapes[0]} vs. shape[{len(parts)}] = {shapes[1]}"
                    )
            parts.append((value, [offset if i == axis else 0 for i in range(first.ndim)], None))
            offset = offset + value.shape[axis]
        if len(values) == 1:
            return first
        parts = [part for part in parts if not same(part[0].shape[axis], 0)] or parts[:1]
        shape = tuple(offset if i == axis else size for i, size in enumerate(first.shape))
        result = self.assemble(shape, first.dtype, parts, None)
        self.joined[result] = axis, tuple(values)
        return result

    def assemble(
        self, shape: Sequence[AnySize], dtype: str, parts: Sequence[Any], fill: Any
    ) -> Value:
        """A tensor from (value, offsets, strides or None) regions; `fill` covers the rest."""
        self._need_compiled(dtype)
        node = Compose(
            tuple(value for value, _, _ in parts),
            tuple(Part(tuple(o), tuple(s or [1] * len(o))) for _, o, s in parts),
            fill,
        )
        return self.program.add(node, (dtype, new_shape(shape)))[0]

    def gather(
        self, value: Value, indices: Value, axis: int = 0, error: IndexProblem = not_inside
    ) -> Value:
        """Slices along `axis` by integer `indices`; error(indices, size) if any is out of range."""
        axis = self.axis(axis, value.ndim)
        self._need_compiled(value.dtype)
        wide = self.cast(indices, "int64")
        self.require_inside(wide, self.size_scalar(value, [axis], "int64"), error)
        return self.pick(value, wide, axis)

    def pick(self, value: Value, indices: Value, axis: int = 0) -> Value:
        """As `gather`, of int64 indices that are known or required to be inside."""
        shape = value.shape[:axis] + indices.shape + value.shape[axis + 1 :]
        if self.scope.is_measured(str(value.shape[axis])):
            # Perhaps there is nothing to read, which a run would see too late.
            ends = [(0, 1 if i == axis else 0) for i in range(value.ndim)]
            value = self.pad(value, ends)
        elif self.equal(value.shape[axis], 0):  # no index is in range
            return self.full(shape, 0, value.dtype)
        self._need_compiled(value.dtype)
        return self.program.add(Gather((value, indices), axis), (value.dtype, shape))[0]

    def iota(self, shape: Sequence[AnySize], axis: int, dtype: str) -> Value:
        """The position along one axis, at every position of `shape`."""
        target = new_shape(shape)
        made = self._once(
            ("iota", shape_key(target), axis),
            lambda: self.program.add(Iota(axis), ("int64", target)),
        )
        return self.cast(made[0], dtype)

    def full(self, shape: Sequence[AnySize], fill: object, dtype: str) -> Value:
        """One scalar (a number or a 0-d value) everywhere."""
        scalar_value = fill if isinstance(fill, Value) else self.constant(fill, dtype)
        return self.broadcast(self.cast(scalar_value, dtype), shape)

    def require_inside(
        self, indices: Value, count: Value, error: IndexProblem, low: int | None = 0
    ) -> None:
        """Raises error(indices, count) unless all indices are in [low, count)."""

        def is_outside(i: object, high: object) -> Any:
            above = scalar.ge(i, high)
            return above if low is None else scalar.logical_or(scalar.lt(i, low), above)

        outside = self.map(is_outside, indices, count)
        found = self.reduce("any", outside, None)
        self.require_not(found, lambda where, n: error(where, int(n)), indices, count)

    # Library kernels, variables, conditions.

    def call(
        self,
        kernel: Any,
        inputs: Sequence[Value],
        outputs: Sequence[tuple[Sequence[AnySize], str]],
        params: Sequence[Any] = (),
        rows: AnySize = 1,
        row_tile: AnySize = 1,
        columns: AnySize = 1,
        col_tile: AnySize | None = None,
        scratch: AnySize = 0,
        reserve: object = None,
        operations: AnySize = 0,
        role: object = None,
        updates: Sequence[Value] = (),
        touches: AnySize = 0,
        writes: Sequence[Any] = (),
        stack: GrowableStack | None = None,
        grows: bool = False,
    ) -> tuple[Value, ...]:
        """A library kernel.  Inputs arrive contiguous; outputs are (shape, dtype).

        `updates` are variables that it changes in place.  They come behind the outputs, and so
        among the results, as they are afterwards.  touches, writes, stack, grows: see Effects.

        The argument block holds input addresses, output addresses, params, the ints that
        `reserve` (jit/library/random.py) takes at every run, then scratch base and bytes per worker
        when scratch is not 0.
        """
        launch = Launch(
            kernel,
            tuple(params),
            as_size(rows),
            as_size(row_tile),
            as_size(columns),
            None if col_tile is None else as_size(col_tile),
            scratch,
            operations,
        )
        cells = tuple(value.cell for value in updates)
        effects = Effects(cells, touches, tuple(writes), stack, grows)
        return self.launch(launch, inputs, outputs, role, reserve, effects)

    def launch(
        self,
        launch: Launch,
        inputs: Sequence[Value],
        outputs: Sequence[tuple[Sequence[AnySize], str]],
        role: object = None,
        reserve: object = None,
        effects: Effects = Effects(),
    ) -> tuple[Value, ...]:
        """A library kernel whose launch is worked out already; see `call`."""
        cells = effects.updates
        present = [(v.dtype, v.shape) for v in map(self._contents, cells)]
        complex_parts.refuse(self, launch.kernel, [*(v.dtype for v in inputs), *dict(present)])
        made = self.program.add(
            Call(tuple(inputs), launch, effects, reserve, role),
            *((d, new_shape(shape)) for shape, d in outputs),
            *present,
        )
        for value, cell in zip(made[len(outputs) :], cells, strict=True):
            value.cell = cell
        self.forget(cells)
        return made

    def read(self, cell_value: Value) -> Value:
        """The contents of a variable, now."""
        return self._contents(cell_value.cell)

    def _contents(self, cell: Any) -> Value:
        if cell in self.unsettled:
            raise Unsettled(cell.name)
        if cell not in self._reads:
            array = cell.read()
            (value,) = self.program.add(Read(cell), (array.dtype.name, tuple(array.shape)))
            self._reads[cell] = value
        return self._reads[cell]

    def write(self, cell_value: Value, value: Value) -> Value:
        """Puts new contents into a variable; returns the variable as it is afterwards."""
        cell = cell_value.cell
        if cell in self.unsettled:
            raise Unsettled(cell.name)
        self._need_compiled(value.dtype)
        present = cell.value
        if present is None or not sizes.same_shape(present.shape, value.shape):
            raise NotLowered("the variable does not have this shape yet")
        if present.dtype.name != value.dtype:
            raise NotLowered(f"the variable holds {present.dtype.name}")
        self._reads.pop(cell, None)
        (after,) = self.program.add(Write((value,), cell), (value.dtype, value.shape))
        after.cell = cell
        return after

    @property
    def place(self) -> frozenset[Any]:
        """The conditions that hold for what is added now, and the turns of loops that it is in."""
        around = frozenset() if self.outer is None else self.outer.place | {self.program}
        return around.union(self.program.guard)

    def knows(self, size: AnySize) -> bool:
        """Is a size one that is known here, and not in a branch or turn alone?"""
        return self.scope.is_known(size, self.place)

    def measure(self, number: Value) -> Size:
        """A size that is what a 0-d integer will be when a run comes here; zero or more."""
        if not self.may_measure:
            raise NotLowered("a size that only a run tells")
        size = self.scope.measure(_MEASURED_HINT, self.place)
        ((name,),) = size.terms
        if self.outer is not None:
            self.scope.turns[name] = self.program
        self.program.add(Measure((number,), name))
        return size

    def forget(self, cells: Sequence[Any]) -> None:
        """Somebody else may have written these variables: they are read afresh from here on."""
        for cell in cells:
            self._reads.pop(cell, None)

    def require_not(
        self, flag: Value, error: Callable[..., BaseException], *evidence: Value
    ) -> None:
        """Raises error(*contents of the evidence) when the 0-d bool `flag` comes out true."""
        origin = self.program.origin

        def raised(*contents: np.ndarray) -> BaseException:
            return located(error(*contents), origin)

        self.program.check(flag, raised, evidence)

    def assume(self, wrong: Value) -> None:
        """Takes for granted that a 0-d bool is false; where it is not, another program runs."""
        if not self.may_assume:  # there must not be another, as this one has effects
            raise NotLowered("its sizes depend on the data")
        if wrong not in self._assumed:
            self._assumed.add(wrong)
            self.program.check(wrong, Misjudged)

    # Shapes.

    def require(self, fits: object) -> None:
        """Refuses inputs that do not fit: reference kernels say what is wrong with them."""
        if not fits:
            raise errors.invalid("The inputs do not fit each other")

    def require_shape(self, value: Value, shape: Sequence[AnySize]) -> None:
        """Refuses a value of another shape, which a library kernel would read as this one."""
        self.require(value.ndim == len(shape) and all(map(sizes.agree, value.shape, shape)))

    def axis(self, axis: Any, rank: int) -> int:
        """A dimension counted from the front; it must be in [-rank, rank)."""
        place = int(axis)
        self.require(-rank <= place < rank)
        return place % rank

    def equal(self, a: AnySize, b: AnySize) -> bool:
        """Are two sizes equal?  Notes a guard if only the example says so."""
        return same(a, b) or bool(a == b)

    def same_shape(self, x: Value, y: Value) -> bool:
        """Have two values the same shape?  Notes guards if only the example says so."""
        return x.ndim == y.ndim and all(map(self.equal, x.shape, y.shape))

    def broadcast_shape(self, *shapes: Shape) -> Shape:
        """NumPy's broadcast of several shapes; InvalidArgumentError as TensorFlow words it."""
        return broadcast_of(shapes, self.equal)

    def _need_compiled(self, dtype: str) -> None:
        if not scalar.holds(dtype):
            raise NotLowered(f"{dtype} has no compiled form")

    def _once(
        self, key: tuple[Any, ...], make: Callable[[], tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        """Equal subexpressions of one program are one node, if they run under one condition."""
        key = (*key, *self.program.guard)
        if key not in self._equal:
            self._equal[key] = make()
        return self._equal[key]
