# SPDX-License-Identifier: Apache-2.0
"""Integers that might be sizes wrap around where those of their types do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

SCALAR: list[Callable[[Any], Any]] = [
    lambda k: tf.cast(tf.cast(k, tf.uint8) - tf.cast(k + 3, tf.uint8), tf.int64),
    lambda k: tf.cast(tf.cast(k, tf.int8) * tf.cast(k + 50, tf.int8), tf.int32),
    lambda k: tf.cast(k * 2**30 * 4, tf.int64),
    lambda k: (k * 1103515245 + 12345) % 2147483647,
    lambda k: tf.cond(k * 1000000007 > 0, lambda: k, lambda: -k),
    lambda k: tf.shape(tf.zeros([k, 3])) * 1000000007,
    lambda k: tf.zeros([tf.cast(tf.cast(k, tf.int8), tf.int32)]),
    lambda k: tf.range(0, k, tf.cast(tf.cast(k + 255, tf.uint8), tf.int32)),
    lambda k: tf.while_loop(
        lambda i, x: i < 5, lambda i, x: (i + 1, x * 1103515245 + i * k * 99999), [0, k]
    )[1],
]
WIDE: list[Callable[[Any], Any]] = [
    lambda k: (k * 6364136223846793005 + 1442695040888963407) % 1000003,
    lambda k: tf.cast(k, tf.int32) * 2,
    lambda k: tf.cast(k * 2**40, tf.int32),
    lambda k: tf.cast(tf.cast(k, tf.int32), tf.int64) * 2,
    lambda k: k * k * k,
]


def agree(function: Callable[[Any], Any], dtype: tf.DType, numbers: list[int]) -> None:
    """Whether a function of a number gives the same compiled, number after number in a session."""
    found: dict[str, list[np.ndarray]] = {}
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            k = tf.placeholder(dtype, [])
            result = function(k)
            found[mode] = [session.run(result, {k: number}) for number in numbers]
    for want, got in zip(*found.values(), strict=True):
        np.testing.assert_array_equal(want, got, strict=True)


@pytest.mark.parametrize("function", SCALAR)
def test_numbers_that_are_computed_with_wrap_around(function: Callable[[Any], Any]) -> None:
    agree(function, tf.int32, [2, 3, 20, 77, 260])


@pytest.mark.parametrize("function", WIDE)
def test_large_numbers_are_no_sizes(function: Callable[[Any], Any]) -> None:
    agree(function, tf.int64, [3, 2**33 + 5, 7, 2**60 + 1])


def test_a_plan_serves_the_sizes_whose_products_fit() -> None:
    """Those that do not get another: in it the product is computed as what it is."""
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        product = tf.shape(x)[0] * 2**29
        assert session.run(product, {x: [1, 2, 3]}) == 3 * 2**29
        assert session.run(product, {x: [1, 2, 3, 4, 5]}) == 5 * 2**29 - 2**32
        assert session.run(product, {x: [1, 2]}) == 2**30
