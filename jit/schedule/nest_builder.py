# SPDX-License-Identifier: Apache-2.0
"""One loop nest of a cluster: positions, expressions and stores in kernel IR.

Imports kernel IR, tensor IR, sizes and fuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ...engine.record_class import record
from ..kernel import ir, scalar, sizes
from ..kernel.affine import ZERO, Affine, along, flatten
from ..kernel.grain import SHORT
from ..kernel.ir import postorder
from ..kernel.scalar_rules import simplify
from ..kernel.sizes import AnySize, Size, same
from ..passes.fuse import Cluster, iteration_shape
from ..program.tensor_ir import (
    Gather,
    Iota,
    Map,
    Node,
    Partial,
    Read,
    Reduce,
    Sizes,
    StoreRegion,
    Value,
    View,
    Write,
    root,
)
from .elements import element, only_moves

# Strides and offsets that stand in the kernel's text; others are arguments.
# LLVM must see a 1 to load vectors, a 0 to load once, and a 2 or 3 to load pixels; with any size in
# the text, each would have a kernel of its own.
_LITERAL_STRIDES = (0, 1, -1, 2, 3)
# What lies so far apart, in elements, is in another line of memory; and so few of them are near
# anyway.
_LINE = 16
_FEW = 4096
# Axes of at most this static size are written into the kernel, so that LLVM may unroll them: what a
# row is reduced over, and what may be channels or a window.  With any other size in the text, maps
# over pictures of each size would have kernels of their own.
_SHORT_ROW, _SHORT_AXIS = 16, SHORT


Form = Literal["map", "row", "column"]
Groups = list[tuple[int, ...]]


@record(slots=True)
class Nest:
    """A kernel with what its arguments are: buffers, axis sizes and parameters, all symbolic."""

    kernel: ir.Kernel
    buffers: list[Value]
    sizes: list[AnySize]
    params: list[AnySize]
    cluster: Cluster

    @property
    def rows(self) -> AnySize:
        """The number of independent rows (see ir.Kernel)."""
        last = len(self.kernel.axes) - 1
        inner = {last} if self.kernel.form != "row" else set()
        return sizes.product(
            size
            for i, (axis, size) in enumerate(zip(self.kernel.axes, self.sizes))
            if axis.kind != "reduce" and i not in inner
        )

    @property
    def columns(self) -> AnySize:
        """The extent of the columns that tiles may cut."""
        return 1 if self.kernel.form == "row" or not self.sizes else self.sizes[-1]

    @property
    def positions(self) -> AnySize:
        """The number of innermost positions, chunked axes counted once."""
        chunked = {axis.of for axis in self.kernel.axes if axis.kind == "chunk"}
        return sizes.product(
            size
            for i, (axis, size) in enumerate(zip(self.kernel.axes, self.sizes))
            if not (axis.kind == "chunk" and axis.of in chunked)
        )


class _Arguments:
    """Numbers the buffers and parameters of a kernel as they come up."""

    def __init__(self) -> None:
        self.buffers: list[Value] = []
        self.access: list[str] = []
        self.params: list[AnySize] = []
        self._slots: dict[tuple[str, object], int] = {}

    def buffer(self, value: Value, access: str) -> int:
        """The number of a value's memory, noting how it is used."""
        key = memory(value)
        # All accesses to one memory are to one buffer: a kernel's buffers must not overlap.
        for number, other in enumerate(self.buffers):
            if memory(other) is key:
                if access not in self.access[number]:
                    self.access[number] = "rw"
                return number
        self.buffers.append(value)
        self.access.append(access)
        return len(self.buffers) - 1

    def param(self, size: AnySize, role: object = None) -> ir.Param:
        """The slot that holds a size in its role.

        Numbers that are equal by chance (a stride of one buffer and an offset in another) have
        slots of their own: else each such chance would make another kernel.
        """
        key = (sizes.expression(size), role)
        if key not in self._slots:
            self._slots[key] = len(self.params)
            self.params.append(size)
        return ir.Param(self._slots[key])


def memory(value: Value) -> object:
    """What stands for the memory of a value: its variable, or itself."""
    if isinstance(value.node, Read):
        return value.node.cell
    return value.cell if value.cell is not None else value


@record(slots=True)
class Turned:
    """A value that is read at a position across the grain, and what it is put into to be read along
    it: the loops that its reader has it in."""

    value: Value
    storage: Value
    place: Affine
    domain: tuple[AnySize, ...]
    groups: Groups

    @property
    def position(self) -> Affine:
        """Where an element goes."""
        return flatten([along(group[-1]) for group in self.groups], self.value.shape)


class NestBuilder:
    """Writes one kernel for a cluster."""

    def __init__(
        self,
        cluster: Cluster,
        stored: set[Value],
        groups: Sequence[tuple[int, ...]],
        lead: int = 0,
    ) -> None:
        """groups: the loops, each over domain axes merged into one; lead: loops before them."""
        self.cluster, self.stored = cluster, stored
        self.groups, self.lead = list(groups), lead
        # For reductions cut into chunks: where the partial results of each are.
        self.partials: dict[Node, Value] = {}
        # What is read across the grain may be turned by another kernel before; what is.
        self.may_turn = False
        self.turned: dict[tuple[object, ...], Turned] = {}
        self.arguments = _Arguments()
        self.reductions: list[ir.Reduction] = []
        self.stores: list[ir.Store] = []
        self.is_move = only_moves(cluster)
        self.accesses: list[Affine] = []
        self.pinned: set[int] = set()
        self._values: dict[Value, ir.Expr] = {}
        self._loads: dict[tuple[Value | Affine, ...], ir.Expr] = {}

    # Positions.

    def position(self, node: Node, dims: int) -> tuple[Affine, ...]:
        """Where a node of this cluster stands, per dimension of its iteration shape."""
        return tuple(along(axis) for axis in self.cluster.align[node][:dims])

    def output_position(self, value: Value) -> tuple[Affine, ...]:
        """Where a result of this cluster stands in its own memory."""
        reduced = self.cluster.reduced or frozenset()
        hide = reduced if isinstance(value.node, Reduce) else frozenset()
        return tuple(along(None if a in hide else a) for a in self.cluster.align[value.node])

    def index(
        self, buffer: int, place: Affine, lead: tuple[AnySize, ...] | None = None
    ) -> ir.Index:
        """A position in a buffer as kernel IR; strides of merged loops are the innermost's."""
        self.accesses.append(place)
        steps = [*(lead or (0,) * self.lead)]
        steps += [place.coefficients.get(group[-1], 0) for group in self.groups]
        strides = [self._stride(step, (buffer, loop)) for loop, step in enumerate(steps)]
        offset: ir.Expr | None = None
        if not same(place.offset, 0):
            offset = self._offset(place.offset, strides, buffer)
        for expr, factor in place.loaded:
            term = expr if same(factor, 1) else scalar.mul(expr, self._number(factor))
            offset = term if offset is None else scalar.add(offset, term)
        return ir.Index(tuple(strides), offset)

    def _offset(self, size: AnySize, strides: Sequence[int | ir.Param], buffer: int) -> ir.Expr:
        # Of pixels LLVM must see which channels lie beside each other, to load them together.
        if not isinstance(size, Size) and any(s in (2, 3) and 0 < size < s for s in strides):
            return ir.Const(int(size), "int64")
        return self.arguments.param(size, buffer)

    def _stride(self, size: AnySize, role: tuple[int, int]) -> int | ir.Param:
        if not isinstance(size, Size) and size in _LITERAL_STRIDES:
            return int(size)
        return self.arguments.param(size, role)

    def _number(self, size: AnySize) -> ir.Expr:
        return self.arguments.param(size)

    # Expressions.

    def value(self, value: Value, position: Sequence[Affine]) -> ir.Expr:
        """The scalar of `value` at a position."""
        node = value.node
        if isinstance(node, View):
            inner = tuple(
                (ZERO if axis.axis is None else position[axis.axis].scaled(axis.stride)).shifted(
                    axis.offset
                )
                for axis in node.axes
            )
            return self.value(node.inputs[0], inner)
        if isinstance(node, Iota):
            return self._number_of(position[node.axis])
        # A number that follows from sizes is an argument as they are, and no memory is read.
        if isinstance(node, Sizes) and value.ndim == 0:
            return scalar.cast(self.arguments.param(node.items.item()), value.dtype)
        if node in self.cluster.align:
            return self._own(value)
        # (What stands at an axis is one object, so that what is read again at the same position
        # is found.)
        key: tuple[Value | Affine, ...] = (value, *position)
        if key not in self._loads:
            self._loads[key] = self._load(root(value), flatten(position, value.shape))
        return self._loads[key]

    def _load(self, storage: Value, place: Affine) -> ir.Expr:
        if self.may_turn and self._goes_across(place):
            turned = self._turned(storage, place)
            storage, place = turned.value, turned.position
        buffer, dtype = self.arguments.buffer(storage, "r"), element(storage, self.is_move)
        loads = [ir.Load(buffer, i, dtype) for i in self.indices(buffer, storage, place)]
        return loads[0] if len(loads) == 1 else scalar.complex(*loads)

    def _goes_across(self, place: Affine) -> bool:
        """Do neighbours on the inner loop read what lies far apart, and those on another do not?"""
        steps = place.coefficients
        step = steps.get(self.groups[-1][-1], 0)
        if place.loaded or (not isinstance(step, Size) and step < _LINE):
            return False
        if not any(same(each, 1) for each in steps.values()):
            return False
        count = sizes.product(self.cluster.domain[axis] for axis in steps)
        return isinstance(count, Size) or count > _FEW

    def _turned(self, storage: Value, place: Affine) -> Turned:
        steps = [(axis, sizes.expression(step)) for axis, step in place.coefficients.items()]
        key = (memory(storage), *sorted(steps), sizes.expression(place.offset))
        if key not in self.turned:
            domain = self.cluster.domain
            groups = [group for group in self.groups if group[-1] in place.coefficients]
            shape = tuple(sizes.product(domain[axis] for axis in group) for group in groups)
            value = Value(storage.dtype, shape, Partial())
            self.turned[key] = Turned(value, storage, place, domain, groups)
        return self.turned[key]

    def move(self, turned: Turned) -> None:
        """Stores what is turned."""
        expr = self._load(turned.storage, turned.place)
        self._append(turned.value, turned.position, expr)

    def indices(self, buffer: int, storage: Value, place: Affine) -> tuple[ir.Index, ...]:
        """Where an element is; of a complex one, where its two parts are, beside each other."""
        if element(storage, self.is_move) != scalar.PARTS.get(storage.dtype):
            return (self.index(buffer, place),)
        first = self.index(buffer, place.scaled(2))
        # (Told from the first one by a literal, so that LLVM sees them to be neighbours.)
        one: ir.Expr = ir.Const(1, "int64")
        offset = one if first.offset is None else scalar.add(first.offset, one)
        return first, ir.Index(first.strides, offset)

    def _number_of(self, place: Affine) -> ir.Expr:
        """A position as an int64 scalar."""
        total: ir.Expr | None = None
        for axis, factor in place.coefficients.items():
            # Its number is not known where its loop has been merged with another.
            self.pinned.add(axis)
            number: ir.Expr = ir.AxisIndex(self._loop(axis))
            number = number if same(factor, 1) else scalar.mul(number, self._number(factor))
            total = number if total is None else scalar.add(total, number)
        for expr, factor in place.loaded:
            term = expr if same(factor, 1) else scalar.mul(expr, self._number(factor))
            total = term if total is None else scalar.add(total, term)
        if not same(place.offset, 0) or total is None:
            constant = self._number(place.offset)
            total = constant if total is None else scalar.add(total, constant)
        return total

    def _loop(self, axis: int) -> int:
        for number, group in enumerate(self.groups):
            if axis in group:
                return number + self.lead
        raise AssertionError(f"axis {axis} has no loop")

    def _own(self, value: Value) -> ir.Expr:
        """A value of this cluster, at the cluster's position."""
        if value not in self._values:
            self._define(value.node)
        return self._values[value]

    def _define(self, node: Node) -> None:
        position = self.position(node, len(iteration_shape(node)))
        if isinstance(node, Reduce):
            self._define_reduction(node, position)
        elif isinstance(node, Gather):
            self._define_gather(node, position)
        elif isinstance(node, Map):
            inputs = [self._input(value, position) for value in node.inputs]
            for output, expr in zip(node.outputs, substituted(node.exprs, tuple(inputs))):
                self._values[output] = expr
        else:
            raise AssertionError(f"{type(node).__name__} has no expression")

    def _input(self, value: Value, position: Sequence[Affine]) -> ir.Expr:
        lead = len(position) - value.ndim
        own = tuple(
            ZERO if same(size, 1) else position[lead + dim] for dim, size in enumerate(value.shape)
        )
        return self.value(value, own)

    def _define_reduction(self, node: Reduce, position: Sequence[Affine]) -> None:
        (output,) = node.outputs
        if node in self.partials:
            partial = self.partials[node]
            expr = self.value(partial, tuple(along(axis) for axis in range(partial.ndim)))
        else:
            expr = self._input(node.inputs[0], position)
        if not node.fn.startswith("arg"):
            expr = scalar.cast(expr, output.dtype)
        else:
            self.pinned |= set(self.cluster.reduced or ())
        self.reductions.append(ir.Reduction(node.fn, expr, output.dtype))
        self._values[output] = ir.Reduced(len(self.reductions) - 1, output.dtype)

    def _define_gather(self, node: Gather, position: Sequence[Affine]) -> None:
        params, indices = node.inputs
        axis, count = node.axis, indices.ndim
        chosen = self._input(indices, position[axis : axis + count])
        zero, last = ir.Const(0, "int64"), self._number(params.shape[axis] - 1)
        # Whether indices are in range is checked, but the error comes when the walk is over: until
        # then nothing may be read outside.
        row = scalar.minimum(scalar.maximum(chosen, zero), last)
        place = Affine(loaded=((row, 1),))
        inner = (*position[:axis], place, *position[axis + count :])
        self._values[node.outputs[0]] = self.value(params, inner)

    # The kernel.

    def write(self, node: Node) -> None:
        """Expressions and stores for what of a node must leave the cluster."""
        if isinstance(node, StoreRegion):
            self._write_place(node)
        elif isinstance(node, Write):
            position = self.position(node, node.inputs[0].ndim)
            expr = self._input(node.inputs[0], position)
            self._append(node.outputs[0], flatten(position, node.outputs[0].shape), expr)
        else:
            for output in node.outputs:
                expr = self._own(output)
                if output in self.stored:
                    flat = flatten(self.output_position(output), output.shape)
                    self._append(output, flat, expr)

    def write_partial(self, node: Reduce, partial: Value) -> None:
        """Stores a reduction over one chunk; the chunk loop is the one in front."""
        expr = self._own(node.outputs[0])
        kept = [along(axis) for axis in self.cluster.kept]
        flat = flatten(kept, partial.shape[1:])
        buffer = self.arguments.buffer(partial, "w")
        index = self.index(buffer, flat, (sizes.product(partial.shape[1:]),))
        self.stores.append(ir.Store(buffer, index, expr))

    def _write_place(self, node: StoreRegion) -> None:
        position = self.position(node, node.inputs[0].ndim)
        target = tuple(
            along_dim.scaled(stride).shifted(offset)
            for along_dim, stride, offset in zip(position, node.part.strides, node.part.offsets)
        )
        expr = self._input(node.inputs[0], position)
        self._append(node.target, flatten(target, node.target.shape), expr)

    def _append(self, target: Value, flat: Affine, expr: ir.Expr) -> None:
        buffer = self.arguments.buffer(target, "w")
        values = [expr]
        if scalar.is_complex(expr.dtype):
            values = [scalar.real(expr), scalar.imag(expr)]
        for index, value in zip(self.indices(buffer, target, flat), values):
            self.stores.append(ir.Store(buffer, index, value))


# Equal layers are equal maps of the same loads, since equal expressions are one object.
_SUBSTITUTED: dict[tuple[tuple[ir.Expr, ...], ...], tuple[ir.Expr, ...]] = {}


def substituted(exprs: tuple[ir.Expr, ...], inputs: tuple[ir.Expr, ...]) -> tuple[ir.Expr, ...]:
    """A Map's expressions with others in the place of its arguments."""
    known = _SUBSTITUTED.get((exprs, inputs))
    if known is None:
        known = tuple(substitute(expr, inputs) for expr in exprs)
        _SUBSTITUTED[exprs, inputs] = known
    return known


def substitute(root: ir.Expr, inputs: Sequence[ir.Expr]) -> ir.Expr:
    """Puts expressions in the place of a Map's arguments."""
    done: dict[ir.Expr, ir.Expr] = {}
    for expr in postorder(root):
        if isinstance(expr, ir.Load):
            done[expr] = inputs[expr.buffer]
        elif isinstance(expr, ir.Apply):
            args = tuple(done[arg] for arg in expr.args)
            done[expr] = simplify(ir.Apply(expr.fn, args, expr.dtype))
        else:
            done[expr] = expr
    return done[root]


def _without_counted(form: Form, axes: list[ir.Axis]) -> tuple[ir.Axis, ...]:
    """Axes without the sizes of those that tiles count: no text has these, so no kernel needs one
    for each.  (But of a few columns, which a row has one by one.)"""
    outer = [n for n, axis in enumerate(axes) if axis.kind != "reduce"]
    is_few = form == "map" and len(axes) > 1 and (axes[-1].size or SHORT + 1) <= SHORT
    counted = {*outer[:1], *((len(axes) - 1,) if form != "row" and not is_few else ())}
    return tuple(
        ir.Axis(a.kind, None, a.of, a.length) if n in counted else a for n, a in enumerate(axes)
    )


def finish(builder: NestBuilder, form: Form, lead: Sequence[tuple[ir.Axis, AnySize]]) -> Nest:
    """Puts a kernel together; `lead` are the loops in front of the domain's own."""
    cluster, arguments = builder.cluster, builder.arguments
    reduced = cluster.reduced or frozenset()
    axes, extents = [axis for axis, _ in lead], [size for _, size in lead]
    for group in builder.groups:
        extent = sizes.product(cluster.domain[axis] for axis in group)
        kind: Literal["reduce", "map"] = "reduce" if group[0] in reduced else "map"
        most = _SHORT_ROW if kind == "reduce" and form == "row" else _SHORT_AXIS
        short = None if isinstance(extent, Size) or extent > most else extent
        chunked = any(axis.of == len(axes) for axis in axes)
        # (Of an axis in pieces the last one may be shorter: no loop over it has a fixed length.)
        axes.append(ir.Axis(kind, None if chunked else short))
        extents.append(extent)
    buffers = tuple(
        ir.Buffer(element(value, builder.is_move), access)  # type: ignore[arg-type]
        for value, access in zip(arguments.buffers, arguments.access)
    )
    kernel = ir.Kernel(
        form,
        buffers,
        _without_counted(form, axes),
        tuple(builder.reductions),
        tuple(builder.stores),
        len(arguments.params),
    )
    return Nest(kernel, arguments.buffers, extents, arguments.params, cluster)
