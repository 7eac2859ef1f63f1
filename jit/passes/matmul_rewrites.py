# SPDX-License-Identifier: Apache-2.0
"""What surrounds matrix products becomes part of them.

Transposes and slices of factors are ways of reading them; of a result that is read in part, only
that part is computed; a sum of products (or of one and another stored value) is added up by the
products themselves; a product of one column and one row is a map, which moves into what reads it; a
factor that several products read is packed once.
Imports tensor IR, kernel IR, sizes, rewriting, and the role that the library gives its products.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TypeGuard

from ..kernel import ir, scalar, sizes
from ..kernel.size_scope import Scope
from ..kernel.sizes import AnySize, same, same_shape
from ..library.matmul import Factor, Product
from ..program.editing import Program
from ..program.tensor_ir import (
    Axis,
    Call,
    Compose,
    Host,
    Iota,
    Map,
    Node,
    Reshape,
    Sizes,
    Source,
    Value,
    View,
    argument,
)
from .rewriting import Rule, building


def is_plain_product(node: Node) -> TypeGuard[Call]:
    """Is a node a call of one matrix product?"""
    return isinstance(node, Call) and isinstance(node.role, Product) and node.role.is_plain


def retarget(call: Call, product: Product) -> None:
    """A call becomes that of another product."""
    # A launch made anew has no bias: those are fused behind all of this (jit/passes/pipeline.py).
    call.launch, call.role = product.launch(), product


# Factors.


def _factor_through_views(program: Program, call: Call, side: int) -> tuple[Value, Factor] | None:
    """A factor that is a transpose or slice of a matrix: the matrix, with offset and stride."""
    if not is_plain_product(call):
        return None
    value, factor = call.inputs[side], (call.role.x, call.role.y)[side]
    if not same(factor.offset, 0):
        return None  # what is read of it has been chosen already
    found = _through(value, factor)
    return None if found == (value, factor) else found


def _read_through_views(
    program: Program, scope: Scope, call: Call, found: tuple[Value, Factor], side: int
) -> None:
    value, factor = found
    inputs = list(call.inputs)
    inputs[side] = value
    program.set_inputs(call, inputs)
    retarget(call, replace(call.role, **{"xy"[side]: factor}))


FACTORS = tuple(
    Rule(
        f"{name} factor",
        formula,
        Call,
        partial(_factor_through_views, side=side),
        partial(_read_through_views, side=side),
    )
    for side, (name, formula) in enumerate(
        (
            ("left", "matmul (view %x) %y → matmul %x, read through the view, %y"),
            ("right", "matmul %x (view %y) → matmul %x %y, read through the view"),
        )
    )
)


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
    # A factor is rows at one distance, each without gaps: what the packing loops read.  Of a
    # symbolic stride nobody knows the sign.
    is_row_major = same(columns.stride, 1) and isinstance(rows.stride, int) and rows.stride > 0
    if inner is value or rows.axis == columns.axis or not is_row_major:
        return value, factor
    # What is computed where it is read is computed in part, too; read through the view, all of it
    # would have to be stored.
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
    is_source = isinstance(node, Source) and not isinstance(node, Sizes)
    return is_source or isinstance(node, (Call, Host, Compose))


def _is_whole(value: Value, inner: Value) -> bool:
    return sizes.same(sizes.product(value.shape), sizes.product(inner.shape)) and not isinstance(
        inner.node, (View, Iota)
    )


# Results.


def _part_that_is_read(
    program: Program, call: Call, axis: int
) -> tuple[list[View], AnySize, AnySize] | None:
    """Where all readers take the same slice along an axis: these views, its start and size."""
    if not is_plain_product(call):
        return None
    out = call.outputs[0]
    # (Idle ones are what the rules for factors have read through.)
    busy = [node for node in program.users(out) if not _is_idle(program, node)]
    views = [node for node in busy if isinstance(node, View)]
    if not views or len(views) < len(busy) or out in program.kept:
        return None
    start, size = views[0].axes[axis].offset, _extent(views[0], axis)
    if size is None or (same(start, 0) and same(size, out.shape[axis])):
        return None
    return (views, start, size) if all(_takes(v, axis, start, size) for v in views) else None


def _compute_in_part(
    program: Program,
    scope: Scope,
    call: Call,
    found: tuple[list[View], AnySize, AnySize],
    axis: int,
) -> None:
    views, start, size = found
    out = call.outputs[0]
    retarget(call, call.role.part(axis, start, size))
    # Its only readers are these views, which see the same numbers as before.
    out.shape = tuple(size if i == axis else old for i, old in enumerate(out.shape))
    for view in views:
        moved = replace(view.axes[axis], offset=0)
        view.axes = tuple(moved if i == axis else old for i, old in enumerate(view.axes))


def _is_idle(program: Program, node: Node) -> bool:
    """Is a node a view that nobody reads?"""
    if not isinstance(node, View) or node.outputs[0] in program.kept:
        return False
    return not program.users(node.outputs[0])


RESULTS = tuple(
    Rule(
        f"part of the {name}",
        formula,
        Call,
        partial(_part_that_is_read, axis=axis),
        partial(_compute_in_part, axis=axis),
    )
    for axis, (name, formula) in enumerate(
        (
            ("rows", "view (matmul %x %y) [a:b, :] → matmul %x[a:b] %y"),
            ("columns", "view (matmul %x %y) [:, a:b] → matmul %x %y[:, a:b]"),
        )
    )
)


def _extent(view: View, axis: int) -> AnySize | None:
    """How many positions along a dimension of its input a view reads, in steps of one."""
    move = view.axes[axis]
    if move.axis is None or not same(move.stride, 1):
        return None
    return view.outputs[0].shape[move.axis]


def _takes(view: View, axis: int, start: AnySize, size: AnySize) -> bool:
    found = _extent(view, axis)
    return found is not None and same(found, size) and same(view.axes[axis].offset, start)


# Of each product first its factors, since a part of the result is a part of these.
VIEWS = (*FACTORS, *RESULTS)


# Sums.


def _addends(program: Program, node: Map) -> list[Value] | None:
    """What a map adds up, the value that the first product is to add in front."""
    terms = _terms(node)
    if terms is None:
        return None
    # A sum of two is the same in both orders, to the last bit; a sum of three is not, so that all
    # others keep their places.
    if not _adds(program, terms[1]):
        terms[:2] = terms[1::-1]
    total, first, *_ = terms
    return terms if _adds(program, first) and _is_memory(total.node) else None


def _adds(program: Program, value: Value) -> bool:
    """Is a value a product, read once, that can add another value to itself?"""
    role = value.node.role if isinstance(value.node, Call) else None
    is_free = isinstance(role, Product) and role.can_add and not role.onto
    return is_free and len(program.users(value)) == 1 and value not in program.kept


def _add_up(program: Program, scope: Scope, node: Map, terms: list[Value]) -> None:
    """Each product adds the sum of those before."""
    total, *rest = terms
    while rest and _adds(program, rest[0]):
        _add_onto(program, rest[0].node, total)  # type: ignore[arg-type]
        total = rest.pop(0)
    assert isinstance(total.node, Call)
    total.node.fused.append(node.origin)
    _sum_of(program, node, [total, *rest])


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
    # (A product cannot be added to itself: its memory is what it adds to.)
    return values if is_plain and len({id(value) for value in values}) == len(values) else None


def _add_onto(program: Program, call: Call, other: Value) -> None:
    """A product adds a value, behind whose maker it comes."""
    program.set_inputs(call, (*call.inputs, other))
    retarget(call, replace(call.role, onto=True))
    # Its one reader, the sum, is behind both.  Should the product come behind a write to a variable
    # that it reads now, snapshot_reads, which runs later, has that copied.
    if other.node.position > call.position:
        program.move_behind(call, other.node)


def _sum_of(program: Program, node: Map, terms: list[Value]) -> None:
    """The map adds these terms only; if there is but one, that takes its place."""
    if len(terms) == 1:
        program.replace(node.outputs[0], terms[0])
        program.remove(node)
        return
    expr: ir.Expr = argument(0, terms[0].dtype)
    for number, value in enumerate(terms[1:], 1):
        expr = scalar.add(expr, argument(number, value.dtype))
    program.set_inputs(node, terms)
    node.exprs = (expr,)


SUMS = (
    Rule(
        "sum of products",
        "map %z + (matmul %x %y) → matmul %x %y onto %z",
        Map,
        _addends,
        _add_up,
    ),
)


# Outer products.


def _is_outer(program: Program, call: Call) -> tuple[Value, ...] | None:
    """The factors of a product with nothing to sum over, and the value that it adds.

    None where it is one of a sum of products, which they add up as they are made.
    """
    if not is_plain_product(call) or not call.role.can_add or not same(call.role.k, 1):
        return None
    product, out = call.role, call.outputs[0]
    strides = [f.stride for f, beside in _sides(product) if not beside]
    is_added_to = any(_adds_onto(node, out) for node in program.users(out))
    is_sum = product.onto and _adds_onto(call.inputs[2].node)
    is_known = all(isinstance(stride, int) for stride in strides)
    return None if is_added_to or is_sum or not is_known else tuple(call.inputs)


def _sides(product: Product) -> tuple[tuple[Factor, bool], tuple[Factor, bool]]:
    """The factors, and whether the elements of each lie side by side, if there is one a row."""
    return (product.x, product.x.turned), (product.y, not product.y.turned)


def _adds_onto(node: Node, value: Value | None = None) -> bool:
    """Is a node a product that adds to a value, or to any?"""
    if not isinstance(node, Call) or not isinstance(node.role, Product) or not node.role.onto:
        return False
    return value is None or node.inputs[2] is value


def _map_outer(program: Program, scope: Scope, call: Call, found: tuple[Value, ...]) -> None:
    factors, old, product = found[:2], call.outputs[0], call.role
    with building(program, scope, call) as b:
        column, row = (
            b.view(
                b.reshape(value, (sizes.product(value.shape),)),
                (Axis(axis, 1 if beside else factor.stride, factor.offset),),
                old.shape,
            )
            for axis, (value, (factor, beside)) in enumerate(
                zip(factors, _sides(product), strict=True)
            )
        )
        made = b.map(scalar.mul, column, row)
        if product.onto:
            made = b.map(scalar.add, made, found[2])
    program.replace(old, made)
    program.remove(call)


OUTER = (
    Rule(
        "outer product",
        "matmul %x %y, of one column and one row → map %x * %y",
        Call,
        _is_outer,
        _map_outer,
    ),
)


# Packing.


def share_packing(program: Program, scope: Scope) -> None:
    """Right factors that are read over and over are packed before the first product with them."""
    groups: dict[tuple[object, ...], list[Call]] = {}
    for node in program:
        if is_plain_product(node) and node.role.can_pack:
            groups.setdefault(_right_key(node), []).append(node)
    for calls in groups.values():
        first = calls[0]
        # Otherwise each tile packs what it needs, into memory of its thread, which is near.
        if len(calls) < 2 and not first.role.should_pack:
            continue
        with building(program, scope, first) as b:
            panels = first.role.panels(b, first.inputs[1])
        for call in calls:
            program.set_inputs(call, (call.inputs[0], panels, *call.inputs[2:]))
            retarget(call, call.role.with_panels())


def _right_key(call: Call) -> tuple[object, ...]:
    product: Product = call.role
    # As text: to hash a symbolic size is to fix its number.
    sizes_of = (product.n, product.k, product.y.stride, product.y.offset)
    return call.inputs[1], product.dtype, product.y.turned, *map(str, sizes_of)
