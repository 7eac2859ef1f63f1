# SPDX-License-Identifier: Apache-2.0
"""Products by tiles against NumPy's: by one thread, in plans, as PTX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cuda import ptx
from numbaflow.jit.cuda.cuda_kernel import BLOCK, kernel_text
from numbaflow.jit.cuda.device_plan import Launch
from numbaflow.jit.library.block_product import block_product

pytestmark = pytest.mark.cpu


def product(x: Any, y: Any, turned: tuple[bool, bool]) -> tuple[Any, list[str]]:
    """A product on a device, and the forms of the kernels that it takes."""
    with tf.Graph().as_default(), settings.override(gpu="emulated", jit="always"):
        left, right = (tf.placeholder(value.dtype, [None] * value.ndim) for value in (x, y))
        z = tf.matmul(left, right, transpose_a=turned[0], transpose_b=turned[1])
        with tf.Session() as session:
            found = session.run(z, {left: x, right: y})
            (arena,) = session.gpu.arenas(session)
            rows = [row for run in arena.runs.values() for row in run.plan.rows]
    return found, [row.text.form for row in rows if isinstance(row, Launch)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sizes", [(16, 16, 16), (65, 33, 70), (130, 17, 64), (20, 100, 300)])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_products_are_those_of_numpy(
    dtype: str, sizes: tuple[int, int, int], turned: tuple[bool, bool]
) -> None:
    m, k, n = sizes
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    given = [a.T.copy() if is_turned else a for a, is_turned in zip((x, y), turned)]
    found, forms = product(*given, turned)
    assert forms == [BLOCK]
    np.testing.assert_allclose(found, x @ y, rtol=1e-4, atol=1e-4)


def test_a_stack_of_products() -> None:
    x = np.random.default_rng(0).standard_normal((3, 70, 20)).astype(np.float32)
    found, forms = product(x, x, (False, True))
    assert forms == [BLOCK]
    np.testing.assert_allclose(found, x @ x.transpose(0, 2, 1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("sizes", [(3, 40, 40), (40, 3, 40), (40, 40, 1), (0, 20, 20), (20, 0, 20)])
def test_small_ones_are_loop_nests(sizes: tuple[int, int, int]) -> None:
    m, k, n = sizes
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
    found, forms = product(x, y, (False, False))
    assert BLOCK not in forms
    np.testing.assert_allclose(found, x @ y, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_terms_are_rounded_once(dtype: str) -> None:
    code = ptx.ptx(kernel_text(block_product(dtype).over([dtype] * 3)))
    assert f"fma.rn.f{dtype[-2:]}" in code and "bar.sync" in code and ".shared" in code
