# SPDX-License-Identifier: Apache-2.0
"""What surrounds matrix products becomes part of them, and nobody can tell from the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.library import matmul
from numbaflow.jit.passes import verify_program
from numbaflow.jit.passes.pipeline import PASSES
from numbaflow.jit.program.tensor_ir import Call, Map, View

from ...drawing import examples
from ..programs import Sample

pytestmark = pytest.mark.cpu


def calls(sample: Sample, fetch: Any) -> list[Any]:
    """The library calls of a program after the pass."""
    sample.program.fetches = [fetch]
    for one in PASSES[2:5]:
        one.run(sample.program, sample.scope)
        verify_program.after(one.name, sample.program)
    return [node for node in sample.program if isinstance(node, Call)]


def run(build: Callable[[], Any], feeds: Any = None, mode: str = "always") -> Any:
    with tf.Graph().as_default(), settings.override(jit=mode):
        fetches, names = build()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return session.run(fetches, feeds and dict(zip(names, feeds)))


def agree(build: Callable[[], Any], *feeds: Any) -> Any:
    want, got = run(build, feeds, "never"), run(build, feeds)
    for a, b in zip(want, got, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-5)
    return got


def numbers(*shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    x = np.random.default_rng(seed).standard_normal(shape)
    return (x * 9 if dtype == "int32" else x).astype(dtype)


@st.composite
def factors(draw: Any, rows: int, columns: int) -> tuple[Any, Any]:
    """A matrix, and how (on NumPy and tensors alike) rows x columns of it are read."""
    before = [draw(st.integers(0, 3)) for _ in range(2)]
    after = [draw(st.integers(0, 3)) for _ in range(2)]
    step, turned = draw(st.sampled_from((1, 1, 2))), draw(st.booleans())
    height, width = before[0] + rows * step + after[0], before[1] + columns + after[1]

    def read(x: Any) -> Any:
        end = (before[0] + rows * step, before[1] + columns)
        if turned:
            x = tf.transpose(x) if isinstance(x, tf.Tensor) else x.T
            x = x[before[1] : end[1], before[0] : end[0] : step]
            return tf.transpose(x) if isinstance(x, tf.Tensor) else x.T
        return x[before[0] : end[0]][::step, before[1] : end[1]]

    return (height, width), read


@given(st.data(), st.sampled_from(("float32", "float64", "int32")))
@examples(25)
def test_parts_and_transposes_of_factors_and_results(data: Any, dtype: str) -> None:
    m, k, n = (data.draw(st.sampled_from((1, 2, 5, 17, 40))) for _ in range(3))
    turn_x, turn_y = data.draw(st.booleans()), data.draw(st.booleans())
    (x_shape, read_x), (y_shape, read_y) = (
        data.draw(factors(*(size[::-1] if turn else size)))
        for size, turn in (((m, k), turn_x), ((k, n), turn_y))
    )
    low, high = sorted((data.draw(st.integers(0, n)), data.draw(st.integers(0, n))))
    top = data.draw(st.integers(0, m - 1))
    a, b = numbers(*x_shape, dtype=dtype), numbers(*y_shape, dtype=dtype, seed=1)

    def build() -> Any:
        x, y = tf.placeholder(dtype, [None, None]), tf.placeholder(dtype, [None, None])
        z = tf.matmul(read_x(x), read_y(y), transpose_a=turn_x, transpose_b=turn_y)
        return [tf.exp(-tf.abs(tf.cast(z, tf.float32)))[top:, low:high] + 1], (x, y)

    (got,) = agree(build, a, b)
    left, right = read_x(a), read_y(b)
    want = (left.T if turn_x else left) @ (right.T if turn_y else right)
    want = np.exp(-np.abs(want.astype(np.float32)))[top:, low:high] + 1
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


def test_transposes_are_read_in_place() -> None:
    sample = Sample([np.ones((6, 5)), np.ones((6, 7))])
    b, (x, y) = sample.builder, (pair.value for pair in sample.pairs)
    (call,) = calls(sample, matmul(b, b.transpose(x, (1, 0)), y))
    assert call.inputs == (x, y) and call.role.x.turned


def test_what_is_computed_where_it_is_read_stays_so() -> None:
    sample = Sample([np.ones((60, 50)), np.ones((5, 7))])
    b, (x, y) = sample.builder, (pair.value for pair in sample.pairs)
    double = b.map(lambda v: v + v if not hasattr(v, "dtype") else _twice(v), x)
    (call,) = calls(sample, matmul(b, b.slice(double, (3, 0), (4, 5)), y))
    assert isinstance(call.inputs[0].node, View), "a slice of a map is no reason to compute it all"


def _twice(v: Any) -> Any:
    from numbaflow.jit.kernel import scalar

    return scalar.add(v, v)


def test_of_a_result_only_what_is_read_is_computed() -> None:
    sample = Sample([np.ones((6, 5)), np.ones((5, 40))])
    b, (x, y) = sample.builder, (pair.value for pair in sample.pairs)
    z = matmul(b, x, y)
    part = b.slice(z, (0, 8), (6, 16))
    (call,) = calls(sample, b.map(_twice, part))
    assert call.outputs[0].shape[1] == 16 and call.launch.columns == 16


def test_sums_of_products_are_added_up_by_them() -> None:
    shapes = [(6, 5), (5, 7), (6, 4), (4, 7), (6, 3), (3, 7)]
    sample = Sample([np.ones(shape) for shape in shapes])
    b, values = sample.builder, [pair.value for pair in sample.pairs]
    total = matmul(b, values[0], values[1])
    for n in (2, 4):
        total = b.map(_plus, total, matmul(b, values[n], values[n + 1]))
    first, second, third = calls(sample, total)
    assert not any(isinstance(node, Map) for node in sample.program)
    assert second.inputs[2] is first.outputs[0] and third.inputs[2] is second.outputs[0]


def _plus(x: Any, y: Any) -> Any:
    from numbaflow.jit.kernel import scalar

    return scalar.add(x, y)


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("batch", (3, 130))
def test_sums_have_the_bits_of_separate_additions(dtype: str, batch: int) -> None:
    a, c = numbers(batch, 50, dtype=dtype), numbers(batch, 20, dtype=dtype, seed=1)

    def build(apart: bool) -> Any:
        x, h = tf.placeholder(dtype, [None, 50]), tf.placeholder(dtype, [None, 20])
        w, u = (tf.constant(numbers(n, 33, dtype=dtype, seed=n)) for n in (50, 20))
        bias = tf.constant(numbers(33, dtype=dtype))
        one, two = tf.matmul(x, w), tf.matmul(h, u)
        y = tf.nn.relu(one + two + bias)
        z = tf.add_n([one * 1, x[:, :33], two]) if apart else tf.add_n([one, x[:, :33], two])
        return [y, z, *([one, two] if apart else [])], (x, h)

    apart, together = run(lambda: build(True), (a, c)), run(lambda: build(False), (a, c))
    np.testing.assert_array_equal(together[0], apart[0])
    np.testing.assert_array_equal(together[1], apart[1])
    agree(lambda: build(False), a, c)


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("left", (False, True))
@pytest.mark.parametrize("right", (False, True))
def test_outer_products_are_products_bit_for_bit(dtype: str, left: bool, right: bool) -> None:
    """Each is a row of a product of more rows, of which the others are zero."""
    x, y = numbers(37, dtype=dtype), numbers(50, dtype=dtype, seed=1)
    base = numbers(37, 43, dtype=dtype, seed=2)

    def build(count: int) -> Any:
        x, y = tf.placeholder(dtype, [count, 37]), tf.placeholder(dtype, [count, 50])
        columns = tf.transpose(y[:, 5:48]) if right else y[:, 5:48]
        rows = x if left else tf.transpose(x)
        outer = tf.matmul(rows, columns, transpose_a=left, transpose_b=right)
        return [outer, base + outer, tf.exp(outer)], (x, y)

    one = agree(lambda: build(1), x[None], y[None])
    empty = np.zeros([2, 87], dtype)
    three = [np.concatenate([empty[:, : len(a)], a[None]]) for a in (x, y)]
    for got, want in zip(one, run(lambda: build(3), three), strict=True):
        np.testing.assert_array_equal(got, want)


def outer_calls(terms: int) -> list[Any]:
    """The library calls of a value plus so many outer products."""
    sample = Sample([np.ones([6, 7]), *[np.ones(shape) for shape in [(6, 1), (1, 7)] * terms]])
    total, *values = [pair.value for pair in sample.pairs]
    for x, y in zip(values[::2], values[1::2], strict=True):
        total = sample.builder.map(_plus, total, matmul(sample.builder, x, y))
    found = calls(sample, total)
    (outer,) = (one for one in PASSES if one.name == "map_outer_products")
    outer.run(sample.program, sample.scope)
    verify_program.after(outer.name, sample.program)
    return [call for call in found if sample.program.holds(call)]


def test_an_outer_product_is_a_map_unless_others_are_added_to_it() -> None:
    assert not outer_calls(1)
    assert len(outer_calls(3)) == 3


def test_weights_of_one_example_are_updated_by_one_kernel() -> None:
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        x, w = tf.placeholder(tf.float32, [None, 40]), tf.Variable(numbers(40, 30))
        loss = tf.reduce_sum(tf.square(tf.matmul(x, w)))
        step = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
        session.run(tf.global_variables_initializer())
        few, one = (session.explain(step, {x: numbers(n, 40)}) for n in (3, 1))
        before = session.run(w).astype(np.float64)
        session.run(step, {x: numbers(1, 40)})
        after = session.run(w)
    assert len(one.kernels) == len(few.kernels) - 1
    fed = numbers(1, 40).astype(np.float64)
    want = before - 0.01 * fed.T @ (2 * fed @ before)
    np.testing.assert_allclose(after, want, rtol=1e-4, atol=1e-5)


def test_unrolled_steps_share_one_packing() -> None:
    def build() -> Any:
        x = tf.placeholder(tf.float32, [None, 40])
        w, h = tf.Variable(numbers(48, 64) / 8), tf.zeros([9, 32])
        for t in range(5):
            i, j = tf.split(tf.matmul(tf.concat([x[:, 8 * t : 8 * t + 8], h], 1), w[:40]), 2, 1)
            h = tf.tanh(i) * tf.sigmoid(j)
        return [h, tf.gradients(tf.reduce_sum(h * h), w)[0]], (x,)

    agree(build, numbers(9, 40))
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        fetches, (x,) = build()
        session.run(tf.global_variables_initializer())
        names = [kernel.name for kernel in session.explain(fetches, {x: numbers(9, 40)}).kernels]
    assert names.count("matmul_pack") == 2, "the weights as they are, and transposed"


def test_a_variable_that_changes_is_packed_anew() -> None:
    def build() -> Any:
        x, w = tf.placeholder(tf.float32, [None, 6]), tf.Variable(numbers(6, 20))
        before = [tf.matmul(x, w), tf.matmul(x + 1, w)]
        with tf.control_dependencies(before):
            change = tf.assign(w, w * 2)
        with tf.control_dependencies([change]):
            fresh = w.read_value() if hasattr(w, "read_value") else tf.identity(w)
            after = [tf.matmul(x, fresh), tf.matmul(x + 1, fresh)]
        return [*before, *after], (x,)

    got = agree(build, numbers(4, 6))
    np.testing.assert_allclose(got[2], 2 * got[0], rtol=1e-5)


@pytest.mark.parametrize("turned", (False, True))
@pytest.mark.parametrize("n", (10, 33, 256))
def test_packing_beforehand_changes_no_bit(turned: bool, n: int) -> None:
    """Many rows have the right factor packed before the product, few do not."""
    k = 700
    w = numbers(n, k) if turned else numbers(k, n)

    def build(rows: int) -> Any:
        x = tf.placeholder(tf.float32, [rows, k])
        return [tf.matmul(x, tf.constant(w), transpose_b=turned)], (x,)

    a = numbers(2500, k)
    (whole,) = run(lambda: build(2500), (a,))
    (part,) = run(lambda: build(70), (a[:70],))
    np.testing.assert_array_equal(whole[:70], part)
    np.testing.assert_allclose(part, a[:70] @ (w.T if turned else w), rtol=1e-4, atol=1e-4)


def test_a_bias_of_more_dimensions_than_the_product_is_not_taken_into_it():
    rng = np.random.default_rng(1)
    values = [rng.standard_normal(shape).astype(np.float32) for shape in ((5, 7), (7, 3), (3,))]
    results = []
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            x, w, b = (tf.placeholder(tf.float32, value.shape) for value in values)
            y = tf.nn.relu(tf.matmul(x, w) + tf.reshape(b, [1, 1, 3]))
            results.append(session.run([y, tf.reduce_sum(y, 1)], dict(zip((x, w, b), values))))
    for want, got in zip(*results, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
        assert got.shape == want.shape
