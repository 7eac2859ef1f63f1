# SPDX-License-Identifier: Apache-2.0
"""What surrounds matrix products becomes part of them.

Transposes and slices of factors are ways of reading them; of a result that is read in part, only
that part is computed; a sum of products (or of one and another stored value) is added up by the
products themselves; a factor that several products read is packed once.
Imports tensor IR, kernel IR, sizes, and the role that the library gives its products.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from . import ir, scalar, sizes
from .library.matmul import Factor, Product
from .lower import Builder
from .sizes import AnySize, Scope, same, same_shape
from .tensor import (
    Assemble,
    Axis,
    Call,
    Host,
    Iota,
    Map,
    Node,
    Program,
    Reshape,
    Source,
    Value,
    View,
    argument,
)


def extend_products(program: Program, scope: Scope) -> None:
    """Rewrites the products of a program and what is around them."""
    calls = [node for node in program.nodes if _is_plain(node)]
    if not calls:
        return
    readers = readers_of(program)
    for call in calls:
        _read_through_views(call)
        _compute_in_part(program, call, readers)
    for node in list(program.nodes):
        if isinstance(node, Map):
            _add_up(program, node, readers)
    _share_packing(program, scope)


def readers_of(program: Program) -> dict[int, list[Node]]:
    """For each value, by id, the nodes that take it, views included."""
    readers: dict[int, list[Node]] = {}
    for node in program.nodes:
        for value in node.inputs:
            readers.setdefault(id(value), []).append(node)
    return readers


def _is_plain(node: Node) -> TypeGuard[Call]:
    """Is a node a call of one matrix product?"""
    return isinstance(node, Call) and isinstance(node.role, Product) and node.role.is_plain


def _become(call: Call, product: Product) -> None:
    for name, setting in product.settings().items():
        setattr(call, name, setting)


def _kept(program: Program, value: Value) -> bool:
    """Is a value itself asked for, by whoever?"""
    return any(other is value for other in program.kept())


# Factors.


def _read_through_views(call: Call) -> None:
    """Factors that are transposes or slices of matrices: the matrices, with offset and stride."""
    product: Product = call.role
    x, y = call.inputs
    found = _through(x, product.x), _through(y, product.y)
    if found != ((x, product.x), (y, product.y)):
        (x, left), (y, right) = found
        call.inputs = (x, y)
        _become(call, replace(product, x=left, y=right))


def _through(value: Value, factor: Factor) -> tuple[Value, Factor]:
    """The matrix that a chain of views reads, and how it is read then."""
    moves = [Axis(0), Axis(1)]
    inner = value
    while isinstance(inner.node, View) and inner.node.inputs[0].ndim == inner.ndim == 2:
        if any(axis.axis is None for axis in inner.node.axes):
            return value, factor
        moves = [_composed(axis, moves[axis.axis or 0]) for axis in inner.node.axes]
        inner = inner.node.inputs[0]
    rows, columns = moves
    is_row_major = same(columns.stride, 1) and isinstance(rows.stride, int) and rows.stride > 0
    if inner is value or rows.axis == columns.axis or not is_row_major:
        return value, factor
    if not _is_memory(inner.node) and not _is_whole(value, inner):
        return value, factor
    width = inner.shape[1]
    turned = factor.turned != (rows.axis == 1)
    return inner, Factor(turned, width * rows.stride, rows.offset * width + columns.offset)


def _composed(outer: Axis, inner: Axis) -> Axis:
    """The move of a view seen through another one."""
    return Axis(inner.axis, outer.stride * inner.stride, outer.stride * inner.offset + outer.offset)


def _is_memory(node: Node) -> bool:
    """Are results of a node there anyway?  (What is computed where it is read stays that.)"""
    while isinstance(node, Reshape):
        node = node.inputs[0].node
    is_source = isinstance(node, Source) and node.kind != "sizes"
    return is_source or isinstance(node, (Call, Host, Assemble))


def _is_whole(value: Value, inner: Value) -> bool:
    return sizes.same(sizes.product(value.shape), sizes.product(inner.shape)) and not isinstance(
        inner.node, (View, Iota)
    )


# Results.


def _compute_in_part(program: Program, call: Call, readers: dict[int, list[Node]]) -> None:
    """Where all readers take the same slice of a result, the rest is not computed."""
    out = call.outputs[0]
    busy = [node for node in readers.get(id(out), []) if not _is_idle(program, node, readers)]
    views = [node for node in busy if isinstance(node, View)]
    if not views or len(views) < len(busy) or _kept(program, out):
        return
    for axis in (0, 1):
        start, size = views[0].axes[axis].offset, _extent(views[0], axis)
        if size is None or (same(start, 0) and same(size, out.shape[axis])):
            continue
        if not all(_takes(view, axis, start, size) for view in views):
            continue
        _become(call, call.role.part(axis, start, size))
        out.shape = tuple(size if i == axis else old for i, old in enumerate(out.shape))
        for view in views:
            moved = replace(view.axes[axis], offset=0)
            view.axes = tuple(moved if i == axis else old for i, old in enumerate(view.axes))


def _is_idle(program: Program, node: Node, readers: dict[int, list[Node]]) -> bool:
    """Is a node a view that nobody reads?"""
    if not isinstance(node, View):
        return False
    return id(node.outputs[0]) not in readers and not _kept(program, node.outputs[0])


def _extent(view: View, axis: int) -> AnySize | None:
    """How many positions along a dimension of its input a view reads, in steps of one."""
    move = view.axes[axis]
    if move.axis is None or not same(move.stride, 1):
        return None
    return view.outputs[0].shape[move.axis]


def _takes(view: View, axis: int, start: AnySize, size: AnySize) -> bool:
    found = _extent(view, axis)
    return found is not None and same(found, size) and same(view.axes[axis].offset, start)


# Sums.


def _add_up(program: Program, node: Map, readers: dict[int, list[Node]]) -> None:
    """A map that adds products (to another value in memory): each adds the sum of those before."""
    terms = _terms(node)
    if terms is None:
        return

    def adds(value: Value) -> bool:
        role = value.node.role if isinstance(value.node, Call) else None
        is_free = isinstance(role, Product) and role.can_add and not role.onto
        return is_free and len(readers[id(value)]) == 1 and not _kept(program, value)

    if not adds(terms[1]):
        terms[:2] = terms[1::-1]
    total, *rest = terms
    if not adds(rest[0]) or not _is_memory(total.node):
        return
    while rest and adds(rest[0]):
        _add_onto(program, rest[0].node, total)  # type: ignore[arg-type]
        total = rest.pop(0)
    total.node.absorbed.append(node.origin)  # type: ignore[attr-defined]
    _sum_of(program, node, [total, *rest], readers)


def _terms(node: Map) -> list[Value] | None:
    """The inputs of a map that adds them one after the other, if it does nothing else."""
    out, expr = node.outputs[0], node.exprs[0]
    found: list[ir.Load] = []
    while isinstance(expr, ir.Apply) and expr.fn == "add" and isinstance(expr.args[1], ir.Load):
        found.insert(0, expr.args[1])
        expr = expr.args[0]
    if not found or not isinstance(expr, ir.Load) or len(node.exprs) != 1:
        return None
    numbers = [load.buffer for load in (expr, *found)]
    values = [node.inputs[number] for number in numbers]
    is_plain = all(same_shape(v.shape, out.shape) and v.dtype == out.dtype for v in values)
    return values if is_plain and len({id(value) for value in values}) == len(values) else None


def _add_onto(program: Program, call: Call, other: Value) -> None:
    """A product adds a value, behind whose maker it comes."""
    call.inputs = (*call.inputs, other)
    _become(call, replace(call.role, onto=True))
    nodes = program.nodes
    if nodes.index(other.node) > nodes.index(call):
        nodes.remove(call)
        nodes.insert(nodes.index(other.node) + 1, call)


def _sum_of(
    program: Program, node: Map, terms: list[Value], readers: dict[int, list[Node]]
) -> None:
    """The map adds these terms only; if there is but one, that takes its place."""
    if len(terms) > 1:
        expr: ir.Expr = argument(0, terms[0].dtype)
        for number, value in enumerate(terms[1:], 1):
            expr = scalar.add(expr, argument(number, value.dtype))
        node.inputs, node.exprs = tuple(terms), (expr,)
        readers[id(terms[0])] = [node]
        return
    (old,), (new,) = node.outputs, terms
    for reader in readers.get(id(old), ()):
        reader.inputs = tuple(new if value is old else value for value in reader.inputs)
    readers[id(new)] = readers.get(id(old), [])
    program.keep_instead(lambda value: new if value is old else value)
    program.nodes.remove(node)


# Packing.


def _share_packing(program: Program, scope: Scope) -> None:
    """Right factors that are read over and over are packed before the first product with them."""
    groups: dict[tuple[object, ...], list[Call]] = {}
    for node in program.nodes:
        if _is_plain(node) and node.role.can_pack:
            groups.setdefault(_right_key(node), []).append(node)
    for calls in groups.values():
        first = calls[0]
        if len(calls) < 2 and not first.role.should_pack:
            continue
        program.origin = first.origin
        panels = first.role.panels(Builder(program, scope), first.inputs[1])
        program.nodes.insert(program.nodes.index(first), program.nodes.pop())
        for call in calls:
            call.inputs = (call.inputs[0], panels, *call.inputs[2:])
            _become(call, call.role.with_panels())


def _right_key(call: Call) -> tuple[object, ...]:
    product: Product = call.role
    sizes_of = (product.n, product.k, product.y.stride, product.y.offset)
    return id(call.inputs[1]), product.dtype, product.y.turned, *map(str, sizes_of)
