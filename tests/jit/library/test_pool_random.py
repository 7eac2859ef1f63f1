# SPDX-License-Identifier: Apache-2.0
"""Pooling against plain NumPy, random numbers against the reference kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbaflow.jit import library
from numbaflow.jit.library.random import PhiloxReservation
from numbaflow.ops.random import philox

from ...drawing import examples
from .eager import EagerBuilder

pytestmark = pytest.mark.cpu


def cells(size: int, out: int, window: int, stride: int, before: int) -> list[range]:
    """The positions of every window that lie inside of the input."""
    starts = [i * stride - before for i in range(out)]
    return [range(max(s, 0), min(s + window, size)) for s in starts]


def grid(size: int, window: int, stride: int, padding: str) -> list[range]:
    """All windows along one axis."""
    if padding == "VALID":
        return cells(size, -(-(size - window + 1) // stride), window, stride, 0)
    out = -(-size // stride)
    before = max((out - 1) * stride + window - size, 0) // 2
    return cells(size, out, window, stride, before)


def pooled(x: np.ndarray, dy: np.ndarray | None, how: Any, kind: str) -> Any:
    """Output and input gradient, window by window."""
    (kh, kw), (sh, sw), padding = how
    rows, cols = grid(x.shape[1], kh, sh, padding), grid(x.shape[2], kw, sw, padding)
    out = np.zeros((x.shape[0], len(rows), len(cols), x.shape[3]), x.dtype)
    dx = np.zeros_like(x)
    for i, ys in enumerate(rows):
        for j, xs in enumerate(cols):
            part = x[:, ys][:, :, xs].reshape(x.shape[0], len(ys) * len(xs), x.shape[3])
            out[:, i, j] = part.max(1) if kind == "max" else part.mean(1)
            if dy is not None:
                weight = np.full(part.shape, 1 / part.shape[1], x.dtype)
                if kind == "max":
                    weight = (
                        np.arange(part.shape[1])[None, :, None] == part.argmax(1)[:, None]
                    ) * 1.0
                given_back = (weight * dy[:, i, j][:, None]).astype(x.dtype)
                dx[:, ys.start : ys.stop, xs.start : xs.stop] += given_back.reshape(
                    x.shape[0], len(ys), len(xs), x.shape[3]
                )
    return out, dx


@examples(20)
@given(
    n=st.integers(0, 3),
    size=st.tuples(st.integers(3, 9), st.integers(3, 9)),
    c=st.integers(1, 20),
    window=st.sampled_from([(2, 2), (3, 2), (3, 3)]),
    stride=st.sampled_from([(1, 1), (2, 2), (3, 1)]),
    padding=st.sampled_from(["SAME", "VALID"]),
    kind=st.sampled_from(["max", "avg"]),
)
def test_pool(n: int, size: Any, c: int, window: Any, stride: Any, padding: str, kind: str) -> None:
    # Few distinct values, so that maxima tie.
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 3, (n, *size, c)).astype(np.float32)
    how = (window, stride, padding)
    out, _ = pooled(x, None, how, kind)
    dy = rng.standard_normal(out.shape).astype(np.float32)
    out, dx = pooled(x, dy, how, kind)
    b = EagerBuilder()
    if kind == "max":
        y = library.max_pool(b, b.value(x), *how)
        got = library.max_pool_gradient(b, b.value(x), y, b.value(dy), *how)
    else:
        y = library.avg_pool(b, b.value(x), *how)
        got = library.avg_pool_gradient(b, x.shape, b.value(dy), *how)
    np.testing.assert_allclose(y.data, out, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(got.data, dx, rtol=1e-5, atol=1e-5)


def test_pool_channels_first_and_threads() -> None:
    x = np.random.default_rng(0).standard_normal((7, 12, 9, 600)).astype(np.float32)
    how = ((2, 2), (2, 2), "SAME")
    dy = np.ones((7, 6, 5, 600), np.float32)
    out, dx = pooled(x, dy, how, "max")
    first = (0, 3, 1, 2)
    for threads in (1, 2):
        b = EagerBuilder(threads)
        value = b.value(x.transpose(first))
        how_first = ((1, 1, 2, 2), (1, 1, 2, 2), "SAME", "NCHW")
        y = library.max_pool(b, value, *how_first)
        np.testing.assert_array_equal(y.data, out.transpose(first))
        got = library.max_pool_gradient(b, value, y, b.value(dy.transpose(first)), *how_first)
        np.testing.assert_array_equal(got.data, dx.transpose(first))


def test_pool_over_channels_is_left_to_others() -> None:
    b = EagerBuilder()
    x = b.value(np.ones((1, 4, 4, 4), np.float32))
    assert library.max_pool(b, x, (1, 1, 1, 2), (1, 1, 1, 2), "SAME") is NotImplemented


class Drawing(EagerBuilder):
    """Runs the reservation as a plan does; is the run, too."""

    def context(self, op: Any) -> Any:
        return op

    def call(
        self, kernel: Any, inputs: Any, outputs: Any, params: Any = (), *rest: Any, **more: Any
    ) -> Any:
        reserve: PhiloxReservation = more.pop("reserve")
        words = reserve.take(self.context(reserve.op), reserve.size)
        assert len(words) == len(reserve.initial)
        return super().call(kernel, inputs, outputs, params, *rest, reserve=lambda: words, **more)


CASES = [
    (library.philox_uniform, philox.uniform),
    (library.philox_normal, philox.normal),
    (library.philox_truncated_normal, philox.truncated_normal),
]


@pytest.mark.parametrize("compiled, reference", CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [0, 1, 6, 40_003])
def test_random(compiled: Any, reference: Any, dtype: str, size: int) -> None:
    seeds = (1 << 63) + 12345, (1 << 64) - 3  # the counter's low half is about to overflow
    streams = [philox.Stream(*seeds) for _ in range(3)]
    want = [reference(streams[0].reserve_outputs(size), (size,), np.dtype(dtype)) for _ in range(2)]
    for threads in (1, 2):
        stream = streams[threads]
        for expected in want:
            got = compiled(Drawing(threads), None, (size,), lambda _, s=stream: s, dtype).data
            exact = compiled is library.philox_uniform
            np.testing.assert_array_max_ulp(got, expected, 0 if exact else 2)


@pytest.mark.parametrize(
    "dtype, low, high", [("int32", -(2**31), 2**31 - 1), ("int64", -7, 1 << 40)]
)
def test_random_integers(dtype: str, low: int, high: int) -> None:
    want = philox.integers(
        philox.Stream(3, 4).reserve_outputs(1001), (1001,), np.dtype(dtype), low, high
    )
    stream = philox.Stream(3, 4)
    got = library.philox_integers(Drawing(), None, (1001,), lambda _: stream, dtype, low, high).data
    np.testing.assert_array_equal(got, want)
