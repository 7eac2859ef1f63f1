# SPDX-License-Identifier: Apache-2.0
"""The largest of rows with ties, NaN and infinities: compiled as by the reference kernels."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


def rows(dtype, length):
    random = np.random.default_rng(length)
    low, high = (0, 255) if dtype == np.uint8 else (-5, 5)
    x = random.integers(low, high, (60, length)).astype(dtype)
    if x.dtype.kind == "f":
        x[random.random(x.shape) < 0.05] = np.nan
        x[random.random(x.shape) < 0.02] = np.inf
        x[3] = np.nan
    return x


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8, np.int64])
def test_largest_elements_of_rows(dtype):
    for length, count in ((9, 3), (50, 49), (5, 1), (40, 2), (5, 5)):
        x = rows(dtype, length)
        given = tf.placeholder(tf.as_dtype(dtype), [None, length])
        top = tf.nn.top_k(given, count)
        found = []
        for mode in ("never", "always"):
            with settings.override(jit=mode), tf.Session() as session:
                found.append(session.run(top, {given: x}))
        np.testing.assert_array_equal(found[1].indices, found[0].indices)
        np.testing.assert_array_equal(found[1].values, found[0].values)


def test_one_plan_serves_all_counts():
    x, count = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.int32, [])
    top = tf.nn.top_k(tf.exp(x), count)
    with settings.override(jit="always"), tf.Session() as session:
        for length, kept in ((20, 3), (30, 7), (9, 8), (9, 1), (9, 9), (9, 0)):
            values = rows(np.float32, length)
            values = np.where(np.isfinite(values), values, 0)
            found = session.run(top, {x: values, count: kept})
            want = -np.sort(-values, axis=-1)[:, :kept]
            np.testing.assert_allclose(found.values, np.exp(want), rtol=1e-6)


def test_targets_among_the_largest():
    random = np.random.default_rng(5)
    scores = random.integers(-3, 3, (50, 8)).astype(np.float32)
    scores[2, 3], scores[4, 1] = np.nan, np.inf
    targets = random.integers(-1, 9, 50).astype(np.int32)
    given = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.int32, [None])
    for count in (0, 1, 3, 8):
        inside = tf.nn.in_top_k(*given, count)
        found = []
        for mode in ("never", "always"):
            with settings.override(jit=mode), tf.Session() as session:
                found.append(session.run(inside, dict(zip(given, (scores, targets)))))
        np.testing.assert_array_equal(found[1], found[0])
