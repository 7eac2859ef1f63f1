# SPDX-License-Identifier: Apache-2.0
"""Running sums of exponentials: compiled, and by reference kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


def run(x: np.ndarray, mode: str, **attrs: Any) -> Any:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        fed = tf.placeholder(x.dtype, [None] * x.ndim)
        found = tf.math.cumulative_logsumexp(fed, **attrs)
        if mode == "always" and x.dtype != np.float16:
            assert " host " not in str(session.explain(found, {fed: x}))
        return session.run(found, {fed: x})


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(5, 40, 3), (70, 9), (11,), (0, 3), (3, 0), (1, 1)], ids=str)
def test_running_logarithms(
    shape: tuple[int, ...], dtype: str, reverse: bool, exclusive: bool
) -> None:
    x = (np.random.default_rng(7).normal(size=shape) * 20).astype(dtype)
    ends = np.array([np.inf, -np.inf, -np.inf, np.nan, np.inf, np.inf], dtype)
    if x.size > len(ends):
        np.put(x, [3, 17, 18, 30, 40, 41], ends, mode="clip")
    attrs = {"reverse": reverse, "exclusive": exclusive}
    tolerance = {"float16": 2e-2, "float32": 1e-5, "float64": 1e-12}[dtype]
    for axis in range(x.ndim):
        got, want = (run(x, mode, axis=axis, **attrs) for mode in ("always", "never"))
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
