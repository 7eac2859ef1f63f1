# SPDX-License-Identifier: Apache-2.0
"""A library kernel takes up the bias and the relu behind it, where it says that it can.

What only the next map reads is then never stored without them.  A Launch says what it can with
`epilogue`, a function of (bias, relu) that gives the launch with these in it.  Between the two the
result may get another shape, as that of a convolution along one axis does: it gets it behind both.
Imports tensor IR, kernel IR, sizes and rewriting.
"""

from __future__ import annotations

from ...engine.record_class import record
from ..kernel import ir
from ..kernel.size_scope import Scope
from ..kernel.sizes import product, same
from ..program.editing import Program
from ..program.tensor_ir import Call, Map, Node, Reshape, Value, View, base
from .rewriting import Rule


@record(frozen=True, slots=True)
class _Behind:
    """The map behind a call, the value of the call's that it reads, and what reshapes that."""

    map: Map
    value: Value
    reshape: Node | None


def _sole_map(program: Program, call: Call) -> _Behind | None:
    """The one map of one result that reads what a call gives, if nobody else does."""
    value, reshape = call.outputs[0], None
    node = _sole_user(program, value)
    if node is not None and _keeps_features(node, value):
        value, reshape = node.outputs[0], node
        node = _sole_user(program, value)
    if not isinstance(node, Map) or len(node.exprs) != 1:
        return None
    return _Behind(node, value, reshape) if node.outputs[0].dtype == value.dtype else None


def _sole_user(program: Program, value: Value) -> Node | None:
    # Anybody else would want the value as it is without the epilogue.
    found = program.users(value)
    return found[0] if len(found) == 1 and value not in program.kept else None


def _keeps_features(node: Node, value: Value) -> bool:
    """Does it give the same elements another shape, of the same last dimension?"""
    if not isinstance(node, (Reshape, View)) or not node.outputs[0].ndim:
        return False
    shape = node.outputs[0].shape
    if not same(shape[-1], value.shape[-1]) or not same(product(shape), product(value.shape)):
        return False
    if isinstance(node, Reshape):
        return True
    wide = [axis for axis, size in zip(node.axes, value.shape, strict=True) if not same(size, 1)]
    places = [-1 if axis.axis is None else axis.axis for axis in wide]
    moved = any(not same(axis.stride, 1) or not same(axis.offset, 0) for axis in wide)
    return not moved and -1 not in places and places == sorted(places)


def _bias(program: Program, call: Call) -> tuple[_Behind, Value] | None:
    """The map behind a call that adds a vector along the last dimension, and the vector."""
    # The kernel adds before it cuts at zero: behind a relu no bias can follow.
    if call.launch.epilogue is None or call.launch.bias or call.launch.relu:
        return None
    found = _sole_map(program, call)
    vector = None if found is None else _added_vector(found.map, found.value)
    return None if found is None or vector is None else (found, vector)


def _added_vector(node: Map, value: Value) -> Value | None:
    (expr,) = node.exprs
    if not isinstance(expr, ir.Apply) or expr.fn != "add" or len(node.inputs) != 2:
        return None
    if not all(isinstance(arg, ir.Load) for arg in expr.args) or expr.args[0] is expr.args[1]:
        return None
    other = node.inputs[1] if node.inputs[0] is value else node.inputs[0]
    *ones, last = other.shape or (0,)
    vector = base(other)
    whole = vector is other or (isinstance(other.node, View) and other.node.inputs[0] is vector)
    if not whole or vector.ndim != 1 or not same(vector.shape[0], last):
        return None
    # A vector of more dimensions would give the sum more than the product has.
    fits = other.ndim <= value.ndim and same(last, value.shape[-1])
    fits = fits and all(same(size, 1) for size in ones)
    return vector if fits else None


def _take_bias(program: Program, scope: Scope, call: Call, found: tuple[_Behind, Value]) -> None:
    behind, vector = found
    program.set_inputs(call, (*call.inputs, vector))
    _take_over(program, call, behind, bias=True)


def _relu(program: Program, call: Call) -> _Behind | None:
    """The map behind a call that is a relu of it."""
    if call.launch.epilogue is None or call.launch.relu:
        return None
    found = _sole_map(program, call)
    if found is None:
        return None
    (expr,) = found.map.exprs
    if not isinstance(expr, ir.Apply) or expr.fn != "maximum" or len(found.map.inputs) != 1:
        return None
    # In this order only: of NaN, maximum(x, 0) is NaN as a relu is, and maximum(0, x) is 0.
    x, zero = expr.args
    is_relu = isinstance(x, ir.Load) and isinstance(zero, ir.Const) and zero.value == 0
    return found if is_relu else None


def _take_relu(program: Program, scope: Scope, call: Call, found: _Behind) -> None:
    _take_over(program, call, found, relu=True)


def _take_over(
    program: Program, call: Call, behind: _Behind, bias: bool = False, relu: bool = False
) -> None:
    """The call moves to the map's place, where the bias is there, and gives the map's result."""
    node = behind.map
    program.replace(node.outputs[0], behind.value)
    program.move_before(call, node)
    if behind.reshape is not None:
        program.move_before(behind.reshape, node)
    program.remove(node)
    call.fused.append(node.origin)
    launch = call.launch
    bias, relu = bias or launch.bias, relu or launch.relu
    assert launch.epilogue is not None
    call.launch = launch.epilogue(bias, relu)


RULES = (
    Rule("bias", "map %call + %vector → call(…, %vector)", Call, _bias, _take_bias),
    Rule("relu", "map maximum(%call, 0) → call with relu", Call, _relu, _take_relu),
)
