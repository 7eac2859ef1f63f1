# SPDX-License-Identifier: Apache-2.0
"""Functions of halves that take the sign of their argument, between float64 on both sides."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

NUMBERS = np.array([-0.75, -0.0, 0.0, 0.5, 0.75, np.nan, np.inf])


@pytest.mark.parametrize("name", ["asin", "atan", "sinh", "tanh", "asinh", "atanh", "erf", "tan"])
def test_signs_of_halves_come_from_float64(name: str) -> None:
    found = {}
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            x = tf.placeholder(tf.float64, [None])
            y = tf.cast(getattr(tf, name)(tf.cast(x, tf.float16)), tf.float64)
            found[mode] = session.run([y, y * x, tf.gradients(y, x)[0]], {x: NUMBERS})
    for want, got in zip(*found.values(), strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-3, atol=1e-3)
        np.testing.assert_array_equal(np.signbit(got[1:4]), np.signbit(want[1:4]))
