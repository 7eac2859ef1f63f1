# SPDX-License-Identifier: Apache-2.0
"""What integers are by form (jit/trace/linear.py)."""

from __future__ import annotations

import pytest

from numbaflow.jit.kernel import scalar as k
from numbaflow.jit.kernel.size_scope import Scope
from numbaflow.jit.program.editing import Program
from numbaflow.jit.program.tensor_ir import Feed, Value
from numbaflow.jit.trace.builder import Builder
from numbaflow.jit.trace.linear import element

pytestmark = pytest.mark.pure


def made() -> tuple[Builder, Value]:
    program = Program()
    (fed,) = program.add(Feed(0), ("int32", ()))
    return Builder(program, Scope()), fed


def packed(b: Builder, *items: Value) -> Value:
    return b.concat([b.reshape(item, (1,)) for item in items], 0)


def test_bounds_of_batches_are_a_number_apart() -> None:
    b, i = made()
    begin = packed(b, b.map(lambda x: k.mul(x, 4), i), b.constant(0, "int32"))
    after = b.map(lambda x: k.mul(k.add(x, 1), 4), i)
    end = packed(b, after, b.constant(7, "int32"))
    assert (element(end, (0,)) - element(begin, (0,))).number == 4
    assert element(begin, (0,)).number is None
    assert element(end, (1,)).number == 7


def test_what_lies_before_and_behind_a_box_is_the_rest() -> None:
    b, i = made()
    begin = packed(b, i, b.constant(0, "int32"))
    size = b.constant([2, 3], "int32")
    rest = b.map(lambda n, s, at: k.sub(k.sub(n, s), at), b.constant([6, 3], "int32"), size, begin)
    columns = b.concat([b.reshape(begin, (2, 1)), b.reshape(rest, (2, 1))], 1)
    totals = [(element(columns, (row, 0)) + element(columns, (row, 1))).number for row in (0, 1)]
    assert totals == [4, 0]


def test_products_of_what_nobody_knows_are_not_followed() -> None:
    b, i = made()
    square = b.map(lambda x: k.mul(x, x), i)
    assert element(square).terms == {(square, ()): 1}
