# SPDX-License-Identifier: Apache-2.0
"""Rewritten functions with `break`, `continue` and `return`: as Python's for Python's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.ops.flow.autograph.conversion import converted

pytestmark = pytest.mark.cpu


def _values(found: Any) -> Any:
    with tf.Session() as session:
        return session.run(found)


def _pairs(n: Any) -> Any:
    total, seen = 0, 0
    for i in tf.range(n) if isinstance(n, tf.Tensor) else range(n):
        for j in tf.range(i) if isinstance(i, tf.Tensor) else range(i):
            if j > 3:
                break
            if j > 1 and i > 4:
                continue
            total += i * j
        else:
            seen += 1
        if total > 40:
            break
    return total, seen


def _halved(n: Any) -> Any:
    turns = 0
    while n > 1:
        turns += 1
        if n > 50:
            n = n // 3
            continue
        n = n // 2
        if turns > 5:
            break
    else:
        turns = turns + 100
    return n, turns


def _guarded(n: Any) -> Any:
    with tf.name_scope("inner"):
        if n > 5:
            return n * 2
        try:
            if n > 3:
                return n * 3
        finally:
            n = n + 1
    if n > 2:
        return n
    return n - 10


def _nested_returns(n: Any) -> Any:
    if n > 5:
        if n > 8:
            return n * 2
        n = n + 1
    else:
        n = n - 1
    if n > 3:
        return n
    return -n


def _python_loop(n: Any) -> Any:
    total = 0
    for i in range(6):
        if n > i:
            continue
        total += i
    return total


@pytest.mark.parametrize(
    "function", [_pairs, _halved, _nested_returns, _python_loop], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("n", [0, 1, 3, 6, 9, 200])
def test_jumps_as_pythons(function: Callable[[Any], Any], n: int) -> None:
    if function is _pairs and n == 200:
        n = 12
    rewritten = converted(function)
    assert rewritten is not function
    assert rewritten(n) == function(n)
    found = _values(rewritten(tf.constant(n)))
    assert found == function(n)


@pytest.mark.parametrize("n", [0, 2, 4, 7])
def test_returns_from_with_and_try(n: int) -> None:
    assert converted(_guarded)(n) == _guarded(n)


@pytest.mark.parametrize("values", [[3], [1, 5, 2], []])
def test_returns_from_loops_of_python(values: list[int]) -> None:
    def first_large(items: Any, limit: Any) -> Any:
        for item in items:
            for part in (item, item + 1):
                if part > limit:
                    return part
        return None

    assert converted(first_large)(values, 3) == first_large(values, 3)


def test_returns_from_loops_of_tensors_are_refused() -> None:
    def first(n: Any) -> Any:
        for i in tf.range(n):
            if i > 2:
                return i
        return n

    with pytest.raises(ValueError, match="return statements are not supported within"):
        converted(first)(tf.constant(3))


def test_a_result_in_one_branch_only() -> None:
    def some(n: Any) -> Any:
        for _ in range(3):
            if n > 2:
                return n
        return n

    with pytest.raises(ValueError, match="A value must also be returned from the else branch"):
        converted(some)(tf.constant(3))


def test_variables_of_a_loop() -> None:
    def ends_undefined(n: Any) -> Any:
        for i in tf.range(n):
            last = i
        return last

    with pytest.raises(ValueError, match=r"must be defined before the loop: \('last',\)"):
        converted(ends_undefined)(tf.constant(3))

    def grows(n: Any) -> Any:
        z = tf.zeros([1])
        for _ in tf.range(n):
            z = tf.concat([z, [1.0]], 0)
        return z

    with pytest.raises(ValueError, match=r'"z" has shape \(1,\).*but shape \(2,\)'):
        converted(grows)(tf.constant(3))

    def replaced(x: Any, n: Any) -> Any:
        total = 0.0
        for _ in tf.range(n):
            x = tf.ones([2, 2])  # (Nobody reads it before: it may have another shape.)
            total += tf.reduce_sum(x)
        return total

    assert _values(converted(replaced)(tf.zeros([3]), tf.constant(3))) == 12


def test_attributes_and_items_are_variables_too() -> None:
    class Holder:
        value: Any = None

    def changes(n: Any) -> Any:
        holder, kept = Holder(), {"a": 1}
        holder.value = n
        if n > 2:
            holder.value = holder.value * 2
            kept["a"] = n
        for i in tf.range(3):
            holder.value += i
            kept["a"] = kept["a"] * 2
        return holder.value, kept["a"]

    assert _values(converted(changes)(tf.constant(5))) == (13, 40)
    assert _values(converted(changes)(tf.constant(1))) == (4, 8)


def test_private_names_and_declared_ones() -> None:
    class Counter:
        def __init__(self) -> None:
            self.__count = 0

        def step(self, n: Any) -> Any:
            if n > 0:
                self.__count = n
            return self.__count

    assert _values(converted(Counter().step)(tf.constant(4))) == 4
    total = 1

    def adds(n: Any) -> Any:
        nonlocal total
        if n > 0:
            total = total + n
        return n

    converted(adds)(tf.constant(4))
    assert _values(total) == 5


def test_lambdas_and_functions_within() -> None:
    def mapped(n: Any) -> Any:
        def signed(x: Any) -> Any:
            if x > 2:
                return x
            return -x

        return tf.map_fn(signed, tf.range(n)), tf.map_fn(lambda x: x if x > 1 else 0, tf.range(n))

    first, second = _values(converted(mapped)(tf.constant(4)))
    assert first.tolist() == [0, -1, -2, 3] and second.tolist() == [0, 0, 2, 3]
    chosen = tf.function(lambda x: x if x > 2 else -x)
    assert _values([chosen(tf.constant(1)), chosen(tf.constant(3))]) == [-1, 3]


def test_errors_stand_at_the_lines_of_the_program() -> None:
    def fails(n: Any) -> Any:
        if n > 0:
            n = n + 1
            n = n + tf.constant("text")
        return n

    with pytest.raises(TypeError) as info:
        converted(fails)(tf.constant(1))
    lines = [e.lineno for e in info.traceback if str(e.path) == __file__]
    assert lines[-1] == fails.__code__.co_firstlineno + 2


def test_maximum_iterations() -> None:
    def endless(n: Any) -> Any:
        while n > 0:
            tf.autograph.experimental.set_loop_options(maximum_iterations=7)
            n = n + 1
        return n

    assert _values(converted(endless)(tf.constant(1))) == 8


def test_generators_are_refused() -> None:
    def draws(n: Any) -> Any:
        yield from tf.range(n)

    with pytest.raises(NotImplementedError, match="Generators are not supported"):
        tf.autograph.to_graph(draws)
