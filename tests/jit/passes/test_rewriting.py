# SPDX-License-Identifier: Apache-2.0
"""Each rewriting rule alone: where it applies, what it leaves, and where it must not apply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from numbaflow.engine import settings
from numbaflow.jit.kernel import scalar
from numbaflow.jit.kernel.size_scope import Scope
from numbaflow.jit.library import conv2d, conv2d_filter_gradient, max_pool, max_pool_gradient
from numbaflow.jit.library.matmul import matmul
from numbaflow.jit.passes import (
    epilogue,
    legalize,
    matmul_rewrites,
    max_pool_rewrites,
    verify_program,
)
from numbaflow.jit.passes.rewriting import Rule, apply_rules
from numbaflow.jit.program.editing import Program
from numbaflow.jit.program.tensor_ir import Call, Feed, Map, Value
from numbaflow.jit.trace.builder import Builder

pytestmark = pytest.mark.pure

RULES = {
    rule.name: rule
    for rule in (
        *epilogue.RULES,
        *matmul_rewrites.RESULTS,
        *matmul_rewrites.FACTORS,
        *matmul_rewrites.SUMS,
        *matmul_rewrites.OUTER,
    )
}
Build = Callable[[Builder, list[Value]], Any]


@pytest.fixture(autouse=True)
def _target() -> Any:
    with settings.override(target="x86-64-v3"):
        yield


def feeds(*shapes: tuple[int, ...]) -> tuple[Builder, list[Value]]:
    """A program that is fed values of these shapes."""
    program = Program()
    values = [program.add(Feed(i), ("float32", shape))[0] for i, shape in enumerate(shapes)]
    return Builder(program, Scope()), values


def applied(rule: Rule, build: Build, *shapes: tuple[int, ...]) -> tuple[Program, int]:
    """A program of what `build` makes, after one rule, and how often that applied."""
    b, values = feeds(*shapes)
    b.program.fetches = [build(b, values)]
    count = apply_rules([rule], b.program, b.scope)[rule.name]
    verify_program.after("fuse_epilogues", b.program)
    return b.program, count


def call_of(program: Program) -> Call:
    (call,) = (node for node in program if isinstance(node, Call))
    return call


MATRICES = (6, 5), (5, 7)


def add(x: Any, y: Any) -> Any:
    return scalar.add(x, y)


def biased(b: Builder, v: list[Value]) -> Value:
    return b.map(add, matmul(b, v[0], v[1]), v[2])


def rectified(b: Builder, v: list[Value]) -> Value:
    return b.map(lambda x: scalar.maximum(x, 0.0), matmul(b, v[0], v[1]))


def first_rows(b: Builder, v: list[Value]) -> Value:
    return b.map(scalar.exp, b.slice(matmul(b, v[0], v[1]), (0, 0), (2, 7)))


def last_columns(b: Builder, v: list[Value]) -> Value:
    return b.map(scalar.exp, b.slice(matmul(b, v[0], v[1]), (0, 3), (6, 4)))


def two_slices(b: Builder, v: list[Value]) -> Value:
    whole = matmul(b, v[0], v[1])
    return b.map(add, b.slice(whole, (0, 0), (2, 7)), b.slice(whole, (3, 0), (2, 7)))


def turned_left(b: Builder, v: list[Value]) -> Value:
    return matmul(b, b.transpose(v[0], (1, 0)), v[1])


def sliced_right(b: Builder, v: list[Value]) -> Value:
    return matmul(b, v[0], b.slice(v[1], (1, 0), (5, 7)))


def backwards(b: Builder, v: list[Value]) -> Value:
    return matmul(b, b.slice(v[0], (5, 0), (6, 5), (-1, 1)), v[1])


def added(b: Builder, v: list[Value]) -> Value:
    return b.map(add, v[2], matmul(b, v[0], v[1]))


def added_twice(b: Builder, v: list[Value]) -> Value:
    whole = matmul(b, v[0], v[1])
    return b.map(add, b.map(add, v[2], whole), b.map(scalar.exp, whole))


def of_outer(b: Builder, v: list[Value]) -> Value:
    return matmul(b, matmul(b, v[0], v[1]), v[2])


def is_map(value: Value) -> bool:
    return isinstance(value.node, Map)


APPLIES: dict[str, tuple[Build, tuple[tuple[int, ...], ...], Callable[[Call], bool]]] = {
    "bias": (biased, (*MATRICES, (7,)), lambda call: call.launch.bias and len(call.inputs) == 3),
    "relu": (rectified, MATRICES, lambda call: call.launch.relu and not call.launch.bias),
    "part of the rows": (first_rows, MATRICES, lambda call: call.outputs[0].shape == (2, 7)),
    "part of the columns": (last_columns, MATRICES, lambda call: call.outputs[0].shape[1] == 4),
    "left factor": (turned_left, ((5, 6), (5, 7)), lambda call: call.role.x.turned),
    "right factor": (sliced_right, ((6, 5), (7, 7)), lambda call: call.role.y.offset == 7),
    "sum of products": (added, (*MATRICES, (6, 7)), lambda call: call.role.onto),
    "outer product": (of_outer, ((6, 1), (1, 5), (5, 7)), lambda call: is_map(call.inputs[0])),
}

STAYS: dict[str, list[tuple[Build, tuple[tuple[int, ...], ...]]]] = {
    "bias": [(biased, (*MATRICES, (6, 7))), (biased, (*MATRICES, (6, 1))), (rectified, MATRICES)],
    "relu": [(biased, (*MATRICES, (7,)))],
    "part of the rows": [(two_slices, MATRICES), (last_columns, MATRICES)],
    "part of the columns": [(two_slices, MATRICES), (first_rows, MATRICES)],
    "left factor": [(backwards, MATRICES), (sliced_right, ((6, 5), (7, 7)))],
    "right factor": [(turned_left, ((5, 6), (5, 7)))],
    "outer product": [(rectified, MATRICES), (of_outer, (*MATRICES, (7, 3)))],
    "sum of products": [(added_twice, (*MATRICES, (6, 7))), (biased, (*MATRICES, (7,)))],
}


def test_every_rule_is_tested() -> None:
    assert set(RULES) == set(APPLIES) == set(STAYS)
    assert all(rule.formula for rule in RULES.values())


@pytest.mark.parametrize("name", RULES)
def test_a_rule_applies_once_and_does_what_it_says(name: str) -> None:
    build, shapes, holds = APPLIES[name]
    program, count = applied(RULES[name], build, *shapes)
    assert count == 1 and holds(call_of(program))
    assert not apply_rules([RULES[name]], program, Scope())


@pytest.mark.parametrize(
    ("name", "build", "shapes"), [(name, *case) for name, cases in STAYS.items() for case in cases]
)
def test_a_rule_stays_away_where_it_must(name: str, build: Build, shapes: Any) -> None:
    _, count = applied(RULES[name], build, *shapes)
    assert count == 0


@pytest.mark.parametrize("name", ["bias", "relu", "part of the rows"])
def test_what_is_fetched_itself_stays(name: str) -> None:
    build, shapes, _ = APPLIES[name]
    b, values = feeds(*shapes)
    b.program.fetches = [build(b, values), call_of(b.program).outputs[0]]
    assert not apply_rules([RULES[name]], b.program, b.scope)


@pytest.mark.parametrize("shape", [(2, 3, 7), (6, 1, 7), (1, 6, 1, 7)])
@pytest.mark.parametrize("name", ["bias", "relu"])
def test_an_epilogue_is_taken_up_across_another_shape(name: str, shape: tuple[int, ...]) -> None:
    """As of convolutions along one axis and layers of more dimensions, which reshape a product."""
    b, (x, w, bias) = feeds(*MATRICES, (7,))
    y = b.reshape(matmul(b, x, w), shape)
    y = b.map(add, y, bias) if name == "bias" else b.map(lambda v: scalar.maximum(v, 0.0), y)
    b.program.fetches = [y]
    assert apply_rules([RULES[name]], b.program, b.scope) == {name: 1}
    verify_program.after("fuse_epilogues", b.program)
    launch = call_of(b.program).launch
    assert (launch.bias, launch.relu) == (name == "bias", name == "relu")
    assert b.program.fetches[0].shape == shape


def test_an_epilogue_along_another_dimension_stays() -> None:
    def turned(b: Builder, v: list[Value]) -> Value:
        return b.map(add, b.transpose(matmul(b, v[0], v[1]), (1, 0)), v[2])

    def other_rows(b: Builder, v: list[Value]) -> Value:
        return b.map(add, b.reshape(matmul(b, v[0], v[1]), (7, 6)), v[2])

    def repeated(b: Builder, v: list[Value]) -> Value:
        product = b.reshape(matmul(b, v[0], v[1]), (1, 6, 7))
        return b.map(add, b.broadcast(product, (2, 6, 7)), v[2])

    for build, size in ((turned, 6), (other_rows, 6), (repeated, 7)):
        assert applied(RULES["bias"], build, *MATRICES, (size,))[1] == 0


# Gradients of max pooling.


def pooled_gradient(reader: str) -> Builder:
    """A convolution, relu and pooling with the gradient of the pooling, read in one way."""
    b, (x, w, dy) = feeds((2, 8, 8, 16), (3, 3, 16, 16), (2, 4, 4, 16))
    y = b.map(lambda v: scalar.maximum(v, 0.0), conv2d(b, x, w, (1, 1), "SAME"))
    pooled = max_pool(b, y, (2, 2), (2, 2), "VALID")
    whole = max_pool_gradient(b, y, pooled, dy, (2, 2), (2, 2), "VALID")
    masked = b.map(lambda v, g: scalar.select(scalar.gt(v, 0.0), g, 0.0), y, whole)
    found = {
        "mask": lambda: b.reduce("sum", masked, (0, 1, 2)),
        "sum": lambda: b.reduce("sum", whole, (0, 1, 2)),
        "gradient": lambda: conv2d_filter_gradient(b, x, (3, 3, 16, 16), whole, (1, 1), "SAME"),
        "other": lambda: b.map(scalar.exp, whole),
    }[reader]()
    b.program.fetches = [pooled, found]
    return b


def routed(reader: str) -> list[str]:
    """The names of the kernels that are called for what is fetched, after the pass."""
    b = pooled_gradient(reader)
    max_pool_rewrites.route_pooled_gradients(b.program, b.scope)
    verify_program.after("route_pooled_gradients", b.program)
    legalize.drop_dead(b.program, b.scope)
    return [node.launch.kernel.name for node in b.program if isinstance(node, Call)]


@pytest.mark.parametrize("reader", [reader.name for reader in max_pool_rewrites.READERS])
def test_readers_of_a_pooled_gradient_take_it_as_it_is(reader: str) -> None:
    found = routed(reader)
    assert "max_pool_places" in found
    assert not {"unpool", "max_pool_gradient", "max_pool"} & set(found)


def test_other_readers_get_the_whole_gradient() -> None:
    found = routed("other")
    assert found.count("unpool") == 1 and "max_pool_gradient" not in found


def test_every_reader_has_a_formula() -> None:
    assert all(reader.formula for reader in max_pool_rewrites.READERS)
