# SPDX-License-Identifier: Apache-2.0
"""From a cluster to loop nests: positions, expressions and stores in kernel IR.

Adjacent axes that every access walks as one are merged.  Long reductions with few results are cut
into chunks whose partial results a second kernel combines, in a fixed order.
Imports kernel IR, tensor IR, sizes and fuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from ...engine.record_class import record
from ..kernel import ir, scalar, sizes
from ..kernel.affine import ZERO, Affine, along, flatten
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
    base,
    root,
)
from .elements import element, only_moves

# Strides and offsets that stand in the kernel's text; others are arguments.
# LLVM must see a 1 to load vectors, a 0 to load once, and a 2 or 3 to load pixels; with any size in
# the text, each would have a kernel of its own.
_LITERAL_STRIDES = (0, 1, -1, 2, 3)
# Axes of at most this static size are written into the kernel, so that LLVM may unroll them.
_SHORT_AXIS = 16


@record(frozen=True, slots=True)
class Pieces:
    """Which reductions are cut into chunks, and into how many, where a plan runs.

    results: at most so many rows are cut, of which threads would have nothing to share; rows: the
    same where columns are shared, too; long: the positions that a chunk has at least; most: chunks.
    """

    results: int
    rows: int
    long: int
    most: int


# A chunk takes some microseconds, well over what a second kernel costs, and 64 are enough for as
# many threads.
PROCESSOR = Pieces(results=64, rows=8, long=16384, most=64)


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
        self._slots: dict[str, int] = {}

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

    def param(self, size: AnySize) -> ir.Param:
        """The slot that holds a size."""
        text = sizes.expression(size)
        if text not in self._slots:
            self._slots[text] = len(self.params)
            self.params.append(size)
        return ir.Param(self._slots[text])


def memory(value: Value) -> object:
    """What stands for the memory of a value: its variable, or itself."""
    if isinstance(value.node, Read):
        return value.node.cell
    return value.cell if value.cell is not None else value


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

    def index(self, place: Affine, lead: tuple[AnySize, ...] | None = None) -> ir.Index:
        """A position in memory as kernel IR; strides of merged loops are those of the innermost."""
        self.accesses.append(place)
        strides: list[int | ir.Param] = [self._stride(size) for size in lead or (0,) * self.lead]
        for group in self.groups:
            strides.append(self._stride(place.coefficients.get(group[-1], 0)))
        offset: ir.Expr | None = None
        if not same(place.offset, 0):
            offset = self._offset(place.offset, strides)
        for expr, factor in place.loaded:
            term = expr if same(factor, 1) else scalar.mul(expr, self._number(factor))
            offset = term if offset is None else scalar.add(offset, term)
        return ir.Index(tuple(strides), offset)

    def _offset(self, size: AnySize, strides: Sequence[int | ir.Param]) -> ir.Expr:
        # Of pixels LLVM must see which channels lie beside each other, to load them together.
        if not isinstance(size, Size) and any(s in (2, 3) and 0 < size < s for s in strides):
            return ir.Const(int(size), "int64")
        return self.arguments.param(size)

    def _stride(self, size: AnySize) -> int | ir.Param:
        if not isinstance(size, Size) and size in _LITERAL_STRIDES:
            return int(size)
        return self.arguments.param(size)

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
        buffer, dtype = self.arguments.buffer(storage, "r"), element(storage, self.is_move)
        loads = [ir.Load(buffer, index, dtype) for index in self.indices(storage, place)]
        return loads[0] if len(loads) == 1 else scalar.complex(*loads)

    def indices(self, storage: Value, place: Affine) -> tuple[ir.Index, ...]:
        """Where an element is; of a complex one, where its two parts are, beside each other."""
        if element(storage, self.is_move) != scalar.PARTS.get(storage.dtype):
            return (self.index(place),)
        first = self.index(place.scaled(2))
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
        index = self.index(flat, (sizes.product(partial.shape[1:]),))
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
        for index, value in zip(self.indices(target, flat), values):
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


def nests(cluster: Cluster, stored: set[Value], pieces: Pieces = PROCESSOR) -> list[Nest]:
    """The loop nests of a cluster: one, or two when its reduction is chunked."""
    if cluster.reduced is not None and not cluster.reduced:
        # What is reduced turned out to be of size 1 and has no axis: a loop of one turn stands in.
        cluster.reduced = frozenset({len(cluster.domain)})
        cluster.domain = (*cluster.domain, 1)
    form, groups = loops(cluster, stored)
    if _is_chunked(cluster, form, groups, pieces):
        return _chunked(cluster, stored, form, groups, pieces)
    # Every nest has a map loop, if only of one turn.
    lone = [] if cluster.kept else [(ir.Axis("map", 1), 1)]
    builder = NestBuilder(cluster, stored, groups, lead=len(lone))
    for node in cluster.nodes:
        builder.write(node)
    return [_finish(builder, form, lone)]


Form = Literal["map", "row", "column"]
Groups = list[tuple[int, ...]]


def loops(cluster: Cluster, stored: set[Value]) -> tuple[Form, Groups]:
    """The kernel's form and its loops, outermost first, merged where all accesses allow."""
    kept, reduced = list(cluster.kept), sorted(cluster.reduced or ())
    if cluster.reduced is None:
        return "map", _merged(cluster, stored, kept)
    last = reduced[-1]
    if last == len(cluster.domain) - 1 or not kept:
        # The reduced axis lies along memory: a row is read from end to end, into a few
        # accumulators.
        return "row", _merged(cluster, stored, kept + reduced)
    outer, inner = [a for a in kept if a < last], [a for a in kept if a > last]
    # The kept axis innermost: neighbours in memory are neighbours in the loop and fill a vector,
    # each with an accumulator of its own.
    groups = _merged(cluster, stored, outer + reduced + inner)
    # The form has one inner loop; the other kept axes go outside of the reduction.
    if groups[-1] != tuple(inner):
        groups = _merged(cluster, stored, outer + inner[:-1] + reduced + inner[-1:])
    return "column", groups


def _merged(cluster: Cluster, stored: set[Value], order: Sequence[int]) -> Groups:
    if len(order) < 2:
        return [(axis,) for axis in order]
    # Written once with a loop for each axis, to see all accesses.
    trial = NestBuilder(cluster, stored, [(axis,) for axis in order])
    for node in cluster.nodes:
        trial.write(node)
    groups: Groups = []
    for axis in order:
        if groups and _mergeable(groups[-1][-1], axis, cluster, trial):
            groups[-1] = (*groups[-1], axis)
        else:
            groups.append((axis,))
    return groups


def _mergeable(outer: int, inner: int, cluster: Cluster, trial: NestBuilder) -> bool:
    reduced = cluster.reduced or frozenset()
    if (outer in reduced) != (inner in reduced) or {outer, inner} & trial.pinned:
        return False
    # One loop does for two if a step of the outer one is a whole turn of the inner one, in every
    # access.
    size = cluster.domain[inner]
    return all(
        same(place.coefficients.get(outer, 0), place.coefficients.get(inner, 0) * size)
        for place in trial.accesses
    )


def _is_chunked(cluster: Cluster, form: Form, groups: Groups, pieces: Pieces) -> bool:
    """Few results over many positions, with one pass over them?"""
    reduced = cluster.reduced
    if not reduced:
        return False
    outer = groups if form == "row" else groups[:-1]
    count = sizes.product(cluster.domain[a] for group in outer for a in group if a not in reduced)
    extent = sizes.product(cluster.domain[axis] for axis in reduced)
    # In the column form threads may share columns, too.
    if isinstance(count, Size) or count > (pieces.results if form == "row" else pieces.rows):
        return False
    # (What is symbolic may be long; if it is not, it makes one piece.)
    if not isinstance(extent, Size) and extent < pieces.long:
        return False
    # What combines pieces sees values, not where in its piece each was.
    if any(isinstance(n, Reduce) and n.fn.startswith("arg") for n in cluster.nodes):
        return False
    return not any(_uses_row(node, cluster) for node in cluster.nodes)


def _uses_row(node: Node, cluster: Cluster) -> bool:
    """Does a node that runs over the reduced axes use a result of the reduction?"""
    return _runs_over_reduced(node, cluster) and any(
        base(value).node in cluster.align and cluster.level(base(value)) == "row"
        for value in node.inputs
    )


def _runs_over_reduced(node: Node, cluster: Cluster) -> bool:
    return bool(set(cluster.align[node]) & (cluster.reduced or frozenset()))


def _chunked(
    cluster: Cluster, stored: set[Value], form: Form, groups: Groups, pieces: Pieces
) -> list[Nest]:
    """Two nests: reductions over chunks, then over the chunks' results, which finishes the rows."""
    reduced = cluster.reduced or frozenset()
    first = next(i for i, group in enumerate(groups) if group[0] in reduced)
    extent = sizes.product(cluster.domain[axis] for axis in groups[first])
    other = sizes.product(
        cluster.domain[axis] for group in groups for axis in group if group != groups[first]
    )
    # Chunks follow from the sizes alone, never from the number of threads: so do the sums' last
    # bits.
    least = sizes.maximum(sizes.ceil_div(pieces.long, sizes.maximum(other, 1)), 1)
    length = sizes.maximum(sizes.ceil_div(extent, pieces.most), least)
    chunks = sizes.maximum(sizes.ceil_div(extent, length), 1)
    kept_shape = tuple(cluster.domain[axis] for axis in cluster.kept)

    builder = NestBuilder(cluster, stored, groups, lead=1)
    partials: dict[Node, Value] = {}
    for node in cluster.nodes:
        if isinstance(node, Reduce):
            partial = Value(node.outputs[0].dtype, (chunks, *kept_shape), Partial())
            partials[node] = partial
            builder.write_partial(node, partial)
        elif _runs_over_reduced(node, cluster):
            builder.write(node)
    axis = ir.Axis("chunk", None, of=first + 1, length=builder.arguments.param(length))
    return [_finish(builder, form, [(axis, chunks)]), _combined(cluster, stored, partials, chunks)]


def _combined(
    cluster: Cluster, stored: set[Value], partials: dict[Node, Value], chunks: AnySize
) -> Nest:
    """The nest that combines chunks and does what the cluster does once per row."""
    reduced = cluster.reduced or frozenset()
    number = {axis: 1 + place for place, axis in enumerate(cluster.kept)}
    number |= dict.fromkeys(reduced, 0)
    domain = (chunks, *(cluster.domain[axis] for axis in cluster.kept))
    rows = Cluster(domain, reduced=frozenset({0}))
    for node in cluster.nodes:
        if isinstance(node, Reduce) or not _runs_over_reduced(node, cluster):
            rows.nodes.append(node)
            rows.align[node] = tuple(
                None if axis is None else number[axis] for axis in cluster.align[node]
            )
    kept = tuple(range(1, len(domain)))
    groups: Groups = [(0,)] if not kept else [(0,), kept]
    if kept and not _walks_as_one(rows, stored, partials, kept):
        groups = [(axis,) for axis in (*kept[:-1], 0, kept[-1])]
    lone = [] if kept else [(ir.Axis("map", 1), 1)]
    builder = NestBuilder(rows, stored, groups, lead=len(lone))
    builder.partials = partials
    for node in rows.nodes:
        builder.write(node)
    return _finish(builder, "column" if kept else "row", lone)


def _walks_as_one(
    rows: Cluster, stored: set[Value], partials: dict[Node, Value], kept: tuple[int, ...]
) -> bool:
    trial = NestBuilder(rows, stored, [(axis,) for axis in (0, *kept)])
    trial.partials = partials
    for node in rows.nodes:
        trial.write(node)
    return all(_mergeable(a, b, rows, trial) for a, b in zip(kept, kept[1:]))


def _without_counted(form: Form, axes: list[ir.Axis]) -> tuple[ir.Axis, ...]:
    """Axes without the sizes of those that tiles count: no text has these, so no kernel needs one
    for each."""
    outer = [n for n, axis in enumerate(axes) if axis.kind != "reduce"]
    counted = {*outer[:1], *((len(axes) - 1,) if form != "row" else ())}
    return tuple(replace(a, size=None) if n in counted else a for n, a in enumerate(axes))


def _finish(builder: NestBuilder, form: Form, lead: Sequence[tuple[ir.Axis, AnySize]]) -> Nest:
    """Puts a kernel together; `lead` are the loops in front of the domain's own."""
    cluster, arguments = builder.cluster, builder.arguments
    reduced = cluster.reduced or frozenset()
    axes, extents = [axis for axis, _ in lead], [size for _, size in lead]
    for group in builder.groups:
        extent = sizes.product(cluster.domain[axis] for axis in group)
        short = None if isinstance(extent, Size) or extent > _SHORT_AXIS else extent
        chunked = any(axis.of == len(axes) for axis in axes)
        # (Of an axis in pieces the last one may be shorter: no loop over it has a fixed length.)
        axes.append(ir.Axis("reduce" if group[0] in reduced else "map", None if chunked else short))
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
