# SPDX-License-Identifier: Apache-2.0
"""Reductions over axes with kept ones between them are two; the results are those of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.kernel.size_scope import Scope
from numbaflow.jit.passes import reduction_rewrites, verify_program
from numbaflow.jit.passes.rewriting import apply_rules
from numbaflow.jit.program.editing import Program
from numbaflow.jit.program.tensor_ir import Feed, Reduce
from numbaflow.jit.trace.builder import Builder

pytestmark = pytest.mark.cpu

SHAPES = [
    ((40, 6, 50), (0, 2)),  # a long row at a time
    ((3, 40, 20, 4, 8), (1, 2, 4)),  # groups of channels
    ((5, 30, 4, 40), (1, 3)),
    ((5, 1, 30, 4, 1, 40), (1, 2, 4, 5)),
]


def reductions(
    shape: tuple[Any, ...], axes: tuple[int, ...], fn: str = "sum", dtype: str = "float32",
    perm: tuple[int, ...] | None = None,
) -> list[list[int]]:  # fmt: skip
    """The axes of the reductions that one becomes."""
    program, scope = Program(), Scope()
    b = Builder(program, scope)
    sizes = [scope.symbol(9) if size is None else size for size in shape]
    (value,) = program.add(Feed(0), (dtype, tuple(sizes)))
    value = value if perm is None else b.transpose(value, perm)
    program.fetches = [b.reduce(fn, value, axes)]
    apply_rules(reduction_rewrites.RULES, program, scope)
    verify_program.after("split_reductions", program)
    return [sorted(node.axes) for node in program if isinstance(node, Reduce)]


def test_the_longer_row_of_neighbours_is_reduced_first() -> None:
    assert reductions((40, 6, 50), (0, 2)) == [[2], [0]]
    assert reductions((None, 64, 7, 7), (0, 2, 3)) == [[2, 3], [0]]


def test_few_neighbours_are_reduced_last() -> None:
    assert reductions((None, 30, 30, 4, 8), (1, 2, 4)) == [[1, 2], [4]]


def test_the_order_is_that_of_memory() -> None:
    assert reductions((40, 6, 50), (0, 1), perm=(0, 2, 1)) == [[1], [0]]
    assert reductions((40, 50, 6), (0, 2), perm=(0, 2, 1)) == [[0, 2]]


@pytest.mark.parametrize(
    "one",
    [
        reductions((40, 60, 50), (1, 2)),
        reductions((40, 60, 50), (0, 1)),
        reductions((40, 60, 50), (0, 1, 2)),
        reductions((4, 6, 5), (0, 2)),  # little
        reductions((40, 6, 900), (0, 2)),  # read as fast as it is
        reductions((40, 6, None), (0, 2)),
        reductions((40, 6, 50), (0, 2), dtype="float16"),  # rounded in between
        reductions((40, 1, 90), (0, 2)),
    ],
)
def test_others_stay_as_they_are(one: list[list[int]]) -> None:
    assert len(one) == 1


def test_extremes_of_halves_are_not_rounded() -> None:
    assert reductions((40, 6, 50), (0, 2), "max", "float16") == [[2], [0]]


@pytest.mark.parametrize(("shape", "axes"), SHAPES)
@pytest.mark.parametrize("fn", ["sum", "prod", "max", "min", "any", "all"])
def test_results_are_the_same(shape: tuple[int, ...], axes: tuple[int, ...], fn: str) -> None:
    given = np.random.default_rng(1).uniform(0.97, 1.03, shape).astype(np.float32)
    given = given > 1.02 if fn in ("any", "all") else given
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(given.dtype, [None, *shape[1:]])
        found = [getattr(tf, f"reduce_{fn}")(x, axes), tf.shape(x)]
        with settings.override(jit="always"):
            got = session.run(found, {x: given})[0]
    want = getattr(np, fn)(given.astype(np.float64) if fn in ("sum", "prod") else given, axes)
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_normalised_groups_have_gradients() -> None:
    results = []
    given = np.random.default_rng(2).standard_normal((3, 12, 12, 4, 8)).astype(np.float32)
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None, 12, 12, 4, 8])
            mean, variance = tf.nn.moments(x, [1, 2, 4], keep_dims=True)
            y = (x - mean) * tf.rsqrt(variance + 1e-5)
            results.append(session.run([y, *tf.gradients(y**3, x)], {x: given}))
    for want, got in zip(*results, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
