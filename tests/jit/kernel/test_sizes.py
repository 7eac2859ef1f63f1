# SPDX-License-Identifier: Apache-2.0
"""Symbolic sizes: exact arithmetic, canonical forms, guards."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbaflow.jit.kernel import size_scope, sizes

pytestmark = pytest.mark.pure

OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "min": sizes.minimum,
    "max": sizes.maximum,
}


@st.composite
def expressions(draw, symbols):
    """A size built from symbols and small ints by random operations."""
    leaf = st.sampled_from([*symbols, 1, 2, 3, 7])
    value = draw(leaf)
    for _ in range(draw(st.integers(0, 4))):
        name = draw(st.sampled_from(sorted(OPERATIONS)))
        other = draw(leaf)
        value = OPERATIONS[name](value, other)
    return value


@given(st.data(), st.integers(2, 50), st.integers(2, 50), st.integers(2, 50), st.integers(2, 50))
def test_the_text_computes_what_the_hint_says(data, a, b, c, d):
    scope = size_scope.Scope()
    x, y = scope.symbol(a), scope.symbol(b)
    value = data.draw(expressions([x, y]))
    compute = sizes.compile_function(scope.examples, sizes.expression(value))
    assert compute(a, b) == sizes.hint(value)
    # The same form holds for other values: rebuild it at (c, d) by evaluating the text.
    assert isinstance(compute(c, d), int)


@given(st.data(), *[st.integers(2, 50)] * 2, *[st.integers(0, 50)] * 2)
def test_what_a_size_is_at_least_holds_for_all(data, a, b, c, d):
    """Of symbols of two or more, and of measured ones, which may be zero."""
    scope = size_scope.Scope()
    x, y = scope.symbol(a), scope.measure(b)
    try:
        value = data.draw(expressions([x, y]))
    except (sizes.Unanswered, ZeroDivisionError):
        return
    if not isinstance(value, sizes.Size):
        return
    compute = sizes.compile_function(scope.examples, sizes.expression(value))
    for sign in (1, -1):
        least = sizes._least(value, sign)
        for one in (2, 3, max(c, 2)):
            for other in (0, 1, d):
                assert least is None or sign * compute(one, other) >= least


@given(st.integers(2, 99), st.integers(2, 99))
def test_products_divide_exactly(a, b):
    scope = size_scope.Scope()
    x, y = scope.symbol(a), scope.symbol(b)
    assert (x * 12) // 4 is not None and sizes.same((x * 12) // 4, x * 3)
    assert sizes.same((x * y * 6) // (y * 2), x * 3)
    assert (x * 784) % 784 == 0
    assert sizes.same((x + y) - y, x)
    assert not scope.guards


@given(st.data(), *[st.integers(2, 50)] * 3)
def test_sums_divide_exactly(data, a, b, c):
    """Rows of several parts, laid out anew: 12·(s0 + s1) elements are s0 + s1 rows of 12."""
    scope = size_scope.Scope()
    x, y, z = scope.symbol(a), scope.symbol(b), scope.measure(c)
    parts = [x, y, z, x * y, z * z, 3, 7 * y, y * x * z]
    some = st.lists(st.integers(0, len(parts) - 1), min_size=1, max_size=4)
    divisor, factor = (sum(parts[i] for i in data.draw(some)) for _ in "ab")
    product = divisor * factor
    if isinstance(product, sizes.Size) and sizes.is_positive(divisor):
        assert sizes.same(product // divisor, factor)
        assert product % divisor == 0
        # What is left over stays a quotient, rounded down.
        assert sizes.hint((product + 1) // divisor) == sizes.hint(product + 1) // sizes.hint(
            divisor
        )


def test_a_question_that_needs_the_example_becomes_a_guard():
    scope = size_scope.Scope()
    x = scope.symbol(10)
    assert x == 10
    fits = scope.checker()
    assert fits(10) and not fits(11)


def test_signs_are_known_without_guards():
    scope = size_scope.Scope()
    x = scope.symbol(5)
    assert x > 1 and x != 0 and x * 2 > x and not x < 0
    assert not scope.guards


def test_int_specialises():
    scope = size_scope.Scope()
    x = scope.symbol(5)
    assert list(range(x)) == [0, 1, 2, 3, 4]
    assert scope.checker()(5) and not scope.checker()(6)


def test_object_arrays_compute():
    scope = size_scope.Scope()
    x = scope.symbol(4)
    shape = np.array([x, 3], dtype=object)
    assert sizes.same(np.multiply.reduce(shape), x * 3)
    assert (shape[1:] == np.array([3])).all()


def test_equal_dimensions_share_a_symbol():
    scope = size_scope.Scope()
    shapes, values = size_scope.unify(scope, [(8, 1, 8), (8, 5)], [None, (None, 5)])
    assert values == (8,)
    assert str(shapes) == "[(s0, 1, s0), (s0, 5)]"


def test_a_symbol_that_a_guard_ties_to_a_number_is_that_number():
    scope = size_scope.Scope()
    x, y = scope.symbol(128), scope.symbol(128)
    assert not sizes.same(x, 128)
    assert x == 128
    assert sizes.same(x, 128) and sizes.same(128, x)
    assert sizes.same(x * y * 3, y * 384) and not sizes.same(y, 128)


def test_what_a_strict_stretch_tied_is_forgotten_with_its_guards():
    scope = size_scope.Scope()
    x = scope.symbol(7)
    with pytest.raises(sizes.NeedsNumber), scope.symbolic():
        assert x == 7
        int(x)
    assert not scope.guards and not sizes.same(x, 7)


@pytest.mark.parametrize("divisor", ["x * 2", "x * y", "x + y", "x // 3", "x // 3 * y", "-x"])
def test_the_text_of_a_quotient_means_the_quotient(divisor):
    scope = size_scope.Scope()
    x, y, z = scope.symbol(7), scope.symbol(5), scope.symbol(101)
    numbers = dict(x=7, y=5, z=101)
    for operation in ("//", "%"):
        size = eval(f"z {operation} ({divisor})", dict(x=x, y=y, z=z))
        want = eval(f"z {operation} ({divisor})", numbers)
        assert sizes.number(size, dict(s0=7, s1=5, s2=101)) == want == sizes.hint(size)


@given(st.data(), st.integers(2, 50), st.integers(2, 50), st.integers(-3, 3))
def test_numbers_are_added_and_multiplied_as_sizes_are(data, a, b, number):
    """What has a symbol less the symbol is a number, which takes the long way to the same text."""
    scope = size_scope.Scope()
    x, y = scope.symbol(a), scope.symbol(b)
    value = data.draw(expressions([x, y]))
    for name in "+-*":
        for one, other in ((value, number), (number, value)):
            found = OPERATIONS[name](one, other)
            wanted = OPERATIONS[name](one + x - x, other + x - x)
            assert sizes.expression(found) == sizes.expression(wanted)
            assert sizes.hint(found) == OPERATIONS[name](sizes.hint(one), sizes.hint(other))
    assert isinstance(value * 0, int)


def test_an_extreme_that_is_asked_for_again_is_the_same():
    scope = size_scope.Scope()
    x, y = scope.symbol(5), scope.symbol(7)
    assert sizes.maximum(x, y) is sizes.maximum(x, y)
    assert sizes.hint(sizes.maximum(x, y)) == 7
    assert sizes.hint(sizes.minimum(x, y)) == 5
    other = size_scope.Scope()
    assert sizes.hint(sizes.maximum(other.symbol(9), other.symbol(8))) == 9


def test_within_a_strict_stretch_questions_without_numbers_become_guards():
    scope = size_scope.Scope()
    x, y = scope.symbol(5), scope.symbol(7)
    with scope.symbolic():
        assert x < y
        with pytest.raises(sizes.NeedsNumber):
            int(x)
    assert list(scope.guards.values()) == [True]
    with pytest.raises(sizes.NeedsNumber), scope.symbolic():
        assert x != y
        int(y)
    # What was asked before the number was is forgotten with it.
    assert len(scope.guards) == 1
    assert int(x) == 5


def test_what_is_taken_for_granted_makes_no_two_sizes_of_each_other():
    scope = size_scope.Scope()
    x, y, z = (scope.measure(example) for example in (4, 4, 2))
    with scope.assuming(True):
        assert scope.takes_for_equal(x, y)
        assert scope.takes_for_equal(x, 2 * y - 2 * z)
    assert sizes.same(y, 2 * z) and sizes.same(x * y + 1, 2 * z * y + 1)
    assert not sizes.same(y, z)


def test_examples_of_many_measured_sizes_make_no_large_memory() -> None:
    """A run begins with memory for them: twelve axes of eight elements each were 275 GB."""
    scope = size_scope.Scope()
    axes = [scope.measure(8) for _ in range(12)]
    assert math.prod(scope.examples.values()) < 2**30
    assert [str(axis) for axis in axes] == list(scope.examples)
