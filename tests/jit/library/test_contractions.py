# SPDX-License-Identifier: Apache-2.0
"""Products and convolutions against plain NumPy, over shapes that leave remainders everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.library import (
    batch_matmul,
    conv2d,
    conv2d_filter_gradient,
    conv2d_input_gradient,
    matmul,
)

from ...drawing import examples
from .eager import EagerBuilder

pytestmark = pytest.mark.cpu

TOLERANCE = {"float32": 2e-5, "float64": 1e-13}
FEW = examples(8)  # nearly every example compiles its own kernels


def draw(shape: Any, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    """Reproducible contents."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def close(got: np.ndarray, want: np.ndarray, terms: int) -> None:
    """Equal within rounding of a sum of so many terms."""
    assert got.shape == want.shape
    scale = TOLERANCE[got.dtype.name] * max(terms, 1) ** 0.5
    np.testing.assert_allclose(got, want, rtol=scale, atol=scale * 4)


def padded_input(x: np.ndarray, kernel: Any, strides: Any, padding: Any, dilations: Any) -> Any:
    """The input with zeros around it, and the size of the output."""
    pads, out = [(0, 0)], []
    for i in (0, 1):
        size, reach = x.shape[1 + i], (kernel[i] - 1) * dilations[i] + 1
        if padding == "SAME":
            count = -(-size // strides[i])
            total = max((count - 1) * strides[i] + reach - size, 0)
            pads.append((total // 2, total - total // 2))
        else:
            pads.append((0, 0) if padding == "VALID" else tuple(padding[i]))
        out.append((size + sum(pads[-1]) - reach) // strides[i] + 1)
    return np.pad(x.astype(np.float64), [*pads, (0, 0)]), pads, out


def windows(x: np.ndarray, kernel: Any, strides: Any, padding: Any, dilations: Any) -> Any:
    """Yields (i, j, slices of the padded input) for every tap."""
    padded, pads, (oh, ow) = padded_input(x, kernel, strides, padding, dilations)
    taps = []
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            y, z = i * dilations[0], j * dilations[1]
            rows = slice(y, y + (oh - 1) * strides[0] + 1, strides[0])
            cols = slice(z, z + (ow - 1) * strides[1] + 1, strides[1])
            taps.append((i, j, rows, cols))
    return padded, pads, taps


def reference(x: np.ndarray, w: np.ndarray, dy: np.ndarray | None, *how: Any) -> Any:
    """Output, and with dy both gradients, tap by tap in float64."""
    padded, pads, taps = windows(x, w.shape[:2], *how)
    out = sum(padded[:, rows, cols] @ w[i, j].astype(np.float64) for i, j, rows, cols in taps)
    if dy is None:
        return out
    dx, dw = np.zeros_like(padded), np.zeros(w.shape)
    for i, j, rows, cols in taps:
        dx[:, rows, cols] += dy.astype(np.float64) @ w[i, j].T
        dw[i, j] = np.einsum("nhwc,nhwf->cf", padded[:, rows, cols], dy)
    (top, _), (left, _) = pads[1], pads[2]
    return out, dx[:, top : top + x.shape[1], left : left + x.shape[2]], dw


@FEW
@given(
    m=st.integers(0, 40),
    n=st.integers(1, 70),
    k=st.integers(0, 40),
    flips=st.tuples(st.booleans(), st.booleans()),
    dtype=st.sampled_from(["float32", "float64", "int32"]),
)
def test_matmul_small(m: int, n: int, k: int, flips: Any, dtype: str) -> None:
    x, y = draw((m, k), "float64") * 4, draw((k, n), "float64", 1) * 4
    x, y = x.astype(dtype), y.astype(dtype)
    b = EagerBuilder()
    left, right = b.value(x.T if flips[0] else x), b.value(y.T if flips[1] else y)
    got = matmul(b, left, right, *flips).data
    if dtype == "int32":
        np.testing.assert_array_equal(got, x @ y)
    else:
        close(got, x.astype(np.float64) @ y, 16 * k)


@pytest.mark.parametrize("flips", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("shape", [(300, 530, 270), (129, 10, 257), (5, 300, 600)])
def test_matmul_large(shape: Any, flips: Any) -> None:
    m, n, k = shape
    x, y = draw((m, k)), draw((k, n), seed=1)
    results = []
    for threads in (1, 2):
        b = EagerBuilder(threads)
        left, right = b.value(x.T if flips[0] else x), b.value(y.T if flips[1] else y)
        results.append(matmul(b, left, right, *flips).data)
    close(results[0], x.astype(np.float64) @ y, k)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("flips", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("shape", [(40, 1, 300), (1, 40, 300), (1, 1, 70), (70, 1, 0), (1, 5, 0)])
@pytest.mark.parametrize("stack", [(), (3,)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_vectors(stack: Any, shape: Any, flips: Any, dtype: str) -> None:
    m, n, k = shape
    x, y = draw((*stack, m, k), dtype), draw((*stack, k, n), dtype, 1)
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        left, right = (np.swapaxes(v, -1, -2) if f else v for v, f in zip((x, y), flips))
        feeds = {tf.placeholder(v.dtype, v.shape): v for v in (left, right)}
        fetch = tf.matmul(*feeds, *flips)
        got = session.run(fetch, feeds)
        report = str(session.explain(fetch, feeds))
    close(got, x.astype(np.float64) @ y, k)
    assert "host" not in report
    if n == 1:
        assert "matmul" not in report


@pytest.mark.parametrize("n, k", [(192, 300), (70, 40), (16, 33)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_few_rows_have_the_bits_that_many_have(dtype: str, n: int, k: int) -> None:
    # One tile takes all of them, and reads the right factor where it is.
    x, y = draw((65, k), dtype), draw((k, n), dtype, 1)
    for turned in (False, True):
        b = EagerBuilder()
        found = []
        for m in (65, *range(1, 33)):
            left = b.value(x[:m].T if turned else x[:m])
            found.append(matmul(b, left, b.value(y), turned).data)
        close(found[0], x.astype(np.float64) @ y, k)
        for few in found[1:]:
            np.testing.assert_array_equal(few, found[0][: len(few)])


@pytest.mark.parametrize("first", [1, 5, 9, 24])
def test_a_product_met_with_few_rows_takes_any_number_later(first: int) -> None:
    x, y = draw((70, 40)), draw((40, 128), seed=1)
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        rows = tf.placeholder(tf.float32, [None, 40])
        result = tf.matmul(rows, tf.constant(y))
        found = [session.run(result, {rows: x[:m]}) for m in (first, 70, 1, 13, 32)]
    close(found[1], x.astype(np.float64) @ y, 40)
    for some in found:
        np.testing.assert_array_equal(some, found[1][: len(some)])


@pytest.mark.parametrize("flips", [(False, False), (True, True)])
def test_batch_matmul(flips: Any) -> None:
    x, y = draw((3, 2, 37, 21)), draw((3, 2, 21, 45), seed=1)
    b = EagerBuilder(2)
    left = b.value(x.swapaxes(2, 3) if flips[0] else x)
    right = b.value(y.swapaxes(2, 3) if flips[1] else y)
    close(batch_matmul(b, left, right, *flips).data, x.astype(np.float64) @ y, 21)


def test_matmul_of_numbers_without_a_kernel_is_left_to_others() -> None:
    numbers = EagerBuilder().value(np.ones((2, 2), np.bool_))
    assert matmul(EagerBuilder(), numbers, numbers) is NotImplemented


PADDINGS = st.sampled_from(["SAME", "VALID", [(1, 2), (0, 3)]])


@FEW
@given(
    n=st.integers(0, 3),
    size=st.tuples(st.integers(5, 12), st.integers(5, 20)),
    c=st.sampled_from([1, 3, 8, 9, 20]),
    f=st.sampled_from([1, 3, 16, 20, 33]),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    stride=st.integers(1, 3),
    dilation=st.sampled_from([(1, 1), (2, 2), (1, 2)]),
    padding=PADDINGS,
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_conv2d(
    n: int,
    size: Any,
    c: int,
    f: int,
    kernel: Any,
    stride: int,
    dilation: Any,
    padding: Any,
    dtype: str,
) -> None:
    x, w = draw((n, *size, c), dtype), draw((*kernel, c, f), dtype, 1)
    how = ((stride, stride), padding, dilation)
    out = reference(x, w, None, *how)
    dy = draw(out.shape, dtype, 2)
    out, dx, dw = reference(x, w, dy, *how)
    b = EagerBuilder()
    close(conv2d(b, b.value(x), b.value(w), *how).data, out, 9 * c)
    back = conv2d_input_gradient(b, x.shape, b.value(w), b.value(dy), *how)
    if back is NotImplemented:
        assert stride > 1 and dilation != (1, 1)
    else:
        close(back.data, dx, 9 * f)
    close(conv2d_filter_gradient(b, b.value(x), w.shape, b.value(dy), *how).data, dw, dy.size)


@pytest.mark.parametrize("padding", ["SAME", "VALID", [(0, 4), (0, 2)], [(1, 0), (0, 0)]])
@pytest.mark.parametrize("strides", [(1, 2), (2, 2), (3, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_conv2d_of_pixels_apart(dtype: str, strides: tuple[int, int], padding: Any) -> None:
    x, w, how = draw((3, 7, 10, 5), dtype), draw((1, 1, 5, 9), dtype, 1), (strides, padding, (1, 1))
    dy = draw(reference(x, w, None, *how).shape, dtype, 2)
    want = reference(x, w, dy, *how)
    b = EagerBuilder()
    vw, vdy = b.value(w), b.value(dy)
    close(conv2d(b, b.value(x), vw, *how).data, want[0], 5)
    close(conv2d_input_gradient(b, x.shape, vw, vdy, *how).data, want[1], 9)
    close(conv2d_filter_gradient(b, b.value(x), w.shape, vdy, *how).data, want[2], dy.size)


@pytest.mark.parametrize(
    "shape", [(9, 28, 28, 1, 5, 32), (5, 14, 14, 32, 5, 64), (2, 30, 41, 24, 3, 48)]
)
def test_conv2d_is_the_same_for_any_number_of_threads(shape: Any) -> None:
    n, h, width, c, k, f = shape
    x, w = draw((n, h, width, c)), draw((k, k, c, f), seed=1)
    dy = draw((n, h, width, f), seed=2)
    how = ((1, 1), "SAME")
    want = reference(x, w, dy, *how, (1, 1))
    runs = []
    for threads in (1, 2):
        b = EagerBuilder(threads)
        vx, vw, vdy = b.value(x), b.value(w), b.value(dy)
        runs.append(
            [
                conv2d(b, vx, vw, *how).data,
                conv2d_input_gradient(b, x.shape, vw, vdy, *how).data,
                conv2d_filter_gradient(b, vx, w.shape, vdy, *how).data,
            ]
        )
    for one, two, expected, terms in zip(*runs, want, (k * k * c, k * k * f, n * h * width)):
        np.testing.assert_array_equal(one, two)
        close(one, expected, terms)


def test_conv2d_channels_first() -> None:
    x, w = draw((2, 7, 9, 4)), draw((3, 3, 4, 6), seed=1)
    out, dx, dw = reference(x, w, draw((2, 4, 5, 6), seed=2), (2, 2), "SAME", (1, 1))
    b = EagerBuilder()
    first = lambda a: b.value(a.transpose(0, 3, 1, 2))  # noqa: E731
    dy = first(draw((2, 4, 5, 6), seed=2))
    how = ((1, 1, 2, 2), "SAME", (1, 1, 1, 1), "NCHW")
    close(conv2d(b, first(x), b.value(w), *how).data, out.transpose(0, 3, 1, 2), 36)
    got = conv2d_input_gradient(b, (2, 4, 7, 9), b.value(w), dy, *how).data
    close(got, dx.transpose(0, 3, 1, 2), 54)
    close(conv2d_filter_gradient(b, first(x), w.shape, dy, *how).data, dw, 40)


def test_conv2d_with_bias_and_relu() -> None:
    x, w, bias = draw((2, 9, 9, 3)), draw((3, 3, 3, 20), seed=1), draw(20, seed=2)
    b = EagerBuilder()
    got = conv2d(b, b.value(x), b.value(w), (1, 1), "SAME", bias=b.value(bias), relu=True).data
    close(got, np.maximum(reference(x, w, None, (1, 1), "SAME", (1, 1)) + bias, 0), 27)


def test_filter_gradients_of_many_pixels_keep_their_digits() -> None:
    """Sums of short sums: the error does not grow with the number of pixels."""
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (1, 160, 160, 3)).astype(np.float32)
    dy = random.uniform(-1, 1, (1, 160, 160, 20)).astype(np.float32)
    how, results = ((3, 3, 3, 20), (1, 1), "SAME"), []
    for dtype in ("float32", "float64"):
        b = EagerBuilder()
        values = b.value(x.astype(dtype)), b.value(dy.astype(dtype))
        results.append(conv2d_filter_gradient(b, values[0], how[0], values[1], *how[1:]).data)
    got, want = results
    assert np.abs(got - want).max() < 1e-6 * np.abs(want).max()
