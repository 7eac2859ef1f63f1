# SPDX-License-Identifier: Apache-2.0
"""Lowerings accept symbolic sizes without asking for their values: one kernel serves all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from numbaflow.jit import library
from numbaflow.jit.kernel.size_scope import Scope

from .eager import EagerBuilder
from .test_contractions import close, draw, reference
from .test_pool_random import pooled

pytestmark = pytest.mark.cpu


def symbols(scope: Scope, *sizes: int) -> list[Any]:
    """A symbol for every size."""
    return [scope.symbol(size) for size in sizes]


def test_matmul_of_symbolic_sizes() -> None:
    texts = set()
    for m, n, k in ((40, 50, 7), (150, 33, 300), (64, 64, 64)):
        scope = Scope()
        sm, sn, sk = symbols(scope, m, n, k)
        x, y = draw((m, k)), draw((k, n), seed=1)
        b = EagerBuilder()
        got = library.matmul(b, b.value(x, (sm, sk)), b.value(y, (sk, sn)))
        close(got.data, x.astype(np.float64) @ y, k)
        assert not scope.guards
        texts.update(b.kernels)
    assert len(texts) == 1


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_conv2d_of_symbolic_sizes(stride: int, padding: str) -> None:
    for n, h, width in ((2, 9, 17), (3, 12, 30)):
        scope = Scope()
        sn, sh, sw = symbols(scope, n, h, width)
        x, w = draw((n, h, width, 5)), draw((3, 3, 5, 20), seed=1)
        how = ((stride, stride), padding, (1, 1))
        dy = draw(reference(x, w, None, *how).shape, seed=2)
        out, dx, dw = reference(x, w, dy, *how)
        b = EagerBuilder()
        vx, vw = b.value(x, (sn, sh, sw, 5)), b.value(w)
        made = library.conv2d(b, vx, vw, *how)
        close(made.data, out, 45)
        vdy = b.value(dy, made.shape)
        close(library.conv2d_input_gradient(b, vx.shape, vw, vdy, *how).data, dx, 180)
        close(library.conv2d_filter_gradient(b, vx, w.shape, vdy, *how).data, dw, 1000)
        assert not scope.guards


def test_pointwise_conv2d_of_symbolic_sizes_is_a_product() -> None:
    scope = Scope()
    shape = (*symbols(scope, 2, 9, 17), 5)
    x, w = draw((2, 9, 17, 5)), draw((1, 1, 5, 20), seed=1)
    b = EagerBuilder()
    got = library.conv2d(b, b.value(x, shape), b.value(w), (1, 1), "SAME")
    close(got.data, x.astype(np.float64) @ w[0, 0], 5)
    assert [name for name, *_ in b.calls] == ["matmul"]
    assert not scope.guards


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_pool_of_symbolic_sizes(kind: str) -> None:
    scope = Scope()
    shape = (*symbols(scope, 3, 9, 11), 4)
    x, dy = draw((3, 9, 11, 4)), draw((3, 5, 6, 4), seed=1)
    how = ((3, 2), (2, 2), "SAME")
    out, dx = pooled(x, dy, how, kind)
    b = EagerBuilder()
    value = b.value(x, shape)
    if kind == "max":
        y = library.max_pool(b, value, *how)
        back = library.max_pool_gradient(b, value, y, b.value(dy, y.shape), *how)
    else:
        y = library.avg_pool(b, value, *how)
        back = library.avg_pool_gradient(b, shape, b.value(dy, y.shape), *how)
    np.testing.assert_allclose(y.data, out, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(back.data, dx, rtol=1e-5, atol=1e-6)
    assert not scope.guards
