# SPDX-License-Identifier: Apache-2.0
"""Functions whose `if`, `while` and `for` may be on tensors: as Python's for all values."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.ops.flow.autograph.api import Feature, options_of
from numbaflow.ops.flow.autograph.conversion import converted

pytestmark = pytest.mark.cpu
FACTOR = 3


def _early(x: Any, flag: Any, extra: Any = 4) -> Any:
    if flag:
        return x + extra
    if x > 3:
        x = x - 1
        return x * 2
    if not x == 2:  # noqa: SIM201 - what `not` does is tried, too
        x += 10
    return x


def _counting(x: Any, n: Any) -> Any:
    total = x * 0 + 1
    seen = 0
    for i in tf.range(n) if isinstance(n, tf.Tensor) else range(n):
        if i % 2 == 0 and total < 100:
            total = total + FACTOR * x
        else:
            total += 1
        seen += 1
    while total < 50:
        total = total * 2
    return total, seen


def _chosen(a: Any, b: Any) -> Any:
    kept = None
    larger = a if a > b else b
    either = a > 5 or b > 5
    if larger > 2:
        parts = {"sum": a + b, "pair": (a, b)}
    else:
        parts = {"sum": a - b, "pair": (b, a)}
    return larger, either, parts, kept


def _values(found: Any) -> Any:
    with tf.Session() as session:
        return session.run(found)


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("x", [1, 2, 5])
def test_functions_that_return_early(x: int, flag: bool) -> None:
    function = converted(_early, options_of(Feature.EQUALITY_OPERATORS))
    assert function is not _early and function(x, flag) == _early(x, flag)
    assert _values(function(tf.constant(x), flag)) == _early(x, flag)
    assert _values(function(tf.constant(x), tf.constant(flag), extra=7)) == _early(x, flag, 7)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_loops(n: int) -> None:
    function = converted(_counting, options_of(Feature.EQUALITY_OPERATORS))
    expected = _counting(2, n)
    assert function(2, n) == expected
    assert tuple(_values(list(function(tf.constant(2), tf.constant(n))))) == expected
    total, seen = function(tf.constant(2), n)
    assert seen == n and _values(total) == expected[0]


@pytest.mark.parametrize(("a", "b"), [(1, 2), (7, 3), (1, 6)])
def test_expressions_and_structures(a: int, b: int) -> None:
    larger, either, parts, kept = converted(_chosen)(tf.constant(a), tf.constant(b))
    expected = _chosen(a, b)
    assert kept is None
    assert tuple(_values([larger, either])) == expected[:2]
    assert _values(parts) == expected[2]


def test_a_variable_of_one_branch_only() -> None:
    def half(x: Any) -> Any:
        if x > 0:
            y = x
        return y

    with pytest.raises(ValueError, match=r"must also be initialized in the else branch: \('y',\)"):
        converted(half)(tf.constant(1))


def test_branches_of_other_kinds() -> None:
    def one_is_text(x: Any) -> Any:
        y = "a"
        if x > 0:
            y = x
        return y

    with pytest.raises(TypeError, match='"y" does not have the same nested structure'):
        converted(one_is_text)(tf.constant(1))


def test_what_cannot_be_on_tensors_is_left_alone() -> None:
    def adds(x: Any, y: Any = None) -> Any:
        return x + y

    def draws(x: Any) -> Any:
        while x > 0:
            yield x
            x -= 1

    assert converted(adds) is adds and converted(draws) is draws
    assert converted(tf.reduce_sum) is tf.reduce_sum


def test_methods_closures_and_super() -> None:
    class Base:
        def scaled(self, x: Any) -> Any:
            return x * 2

    class Derived(Base):
        def scaled(self, x: Any) -> Any:
            if x > 1:
                return super().scaled(x)
            return self.more(x)

        def more(self, x: Any) -> Any:
            return offset if x < 0 else x

    offset = tf.constant(-7)
    found = [converted(Derived().scaled)(tf.constant(x)) for x in (-1, 1, 3)]
    assert _values(found) == [-7, 1, 6]


def _counted(function: Any) -> Any:
    """A decorator whose wrapper says that it is the function."""

    @functools.wraps(function)
    def wrapper(x: Any) -> Any:
        return function(x) + 100.0

    return wrapper


@_counted
def _added(x: Any) -> Any:
    return x + 1.0


@_counted
def _tenfold(x: Any) -> Any:
    if x > 0.0:
        y = x * 10.0
    else:
        y = -x
    return y


def test_decorated_functions_are_called_by_way_of_their_decorators() -> None:
    converted = tf.autograph.to_graph(lambda x: (_added(x), _tenfold(x), _tenfold(-x)))
    with tf.Session() as session:
        assert session.run(converted(tf.constant(3.0))) == (104.0, 130.0, 103.0)


def test_tf_function_rewrites_what_it_is_told() -> None:
    def amount(x: Any) -> Any:
        if x < 0:
            x = -x
        return x

    assert _values(tf.function(amount)(tf.constant(-3))) == 3
    assert _values(tf.autograph.to_graph(amount)(tf.constant(-3))) == 3
    assert "if_stmt" in tf.autograph.to_code(amount)
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(amount, autograph=False)(tf.constant(-3))


def test_a_function_may_be_left_out() -> None:
    @tf.autograph.experimental.do_not_convert
    def left(x: Any) -> Any:
        if x < 0:
            x = -x
        return x

    assert converted(left) is left


def _halved(x: Any, times: int) -> Any:
    if times == 0:
        return x
    return _halved(x // 2 if x > 4 else x, times - 1)


class _Signed:
    """Methods, of which one has the name of the function that it calls."""

    def __init__(self, factor: Any) -> None:
        self.factor = factor

    def _halved(self, x: Any) -> Any:
        if x > 0:
            return _halved(x, 2) * self.factor
        return -x


class _Counting(_Signed):
    def count(self, x: Any) -> Any:
        turns = 0
        while x > 1:
            x = self._halved(x) - 1
            turns += 1
        return turns


def test_functions_call_others_of_their_own_name() -> None:
    signed = converted(_Signed(tf.constant(3))._halved)
    assert _values([tf.function(_halved)(tf.constant(20), 3), signed(tf.constant(9))]) == [2, 12]


def test_classes_are_converted_with_the_methods_of_their_bases() -> None:
    made = tf.autograph.to_graph(_Counting)
    assert made.__name__ == "_Counting" and issubclass(made, _Counting)
    counting = made(tf.constant(1))
    found = [counting.count(tf.constant(20)), counting._halved(tf.constant(-7))]
    assert _values(found) == [4, 7]
    with pytest.raises(ValueError, match="no member methods"):
        tf.autograph.to_graph(type("Empty", (), {}))
