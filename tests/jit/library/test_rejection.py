# SPDX-License-Identifier: Apache-2.0
"""Compiled draws of gamma and Poisson distributions are the reference kernels', draw by draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu
PARAMETERS = np.concatenate([np.exp(np.random.default_rng(0).uniform(-3, 4, 40)), [1, 1, 0.5]])


def drawn(build: Callable[[], Any], mode: str) -> list[np.ndarray]:
    """Three runs of an op, whose stream goes on from run to run."""
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        tf.set_random_seed(3)
        made = build()
        runs = [session.run(made) for _ in range(3)]
        if mode == "always":
            assert not session.prepared_plan(made, {})[0].traced.hosted
        return runs


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gamma(dtype: str) -> None:
    alphas = PARAMETERS.astype(dtype)
    plain, compiled = (
        drawn(lambda: tf.random_gamma([7, 11], alphas, dtype=dtype, seed=4), mode)
        for mode in ("never", "always")
    )
    np.testing.assert_allclose(compiled, plain, rtol=1e-6 if dtype == "float32" else 1e-12)
    assert not np.array_equal(compiled[0], compiled[1])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_poisson(dtype: str) -> None:
    rates = (3 * PARAMETERS).reshape(-1, 1)
    plain, compiled = (
        drawn(lambda: tf.random_poisson(rates, [9, 7], dtype=dtype, seed=4), mode)
        for mode in ("never", "always")
    )
    np.testing.assert_array_equal(compiled, plain)


def test_parameters_that_are_no_numbers_end() -> None:
    with settings.override(jit="always"), tf.Session() as session:
        draws = tf.random_poisson([np.nan, -1.0, 1.0], [5], seed=1)
        found = [session.run(draws) for _ in range(2)][1]
    assert (found[:, :2] == 0).all() and (found[:, 2] >= 0).all()


@pytest.mark.parametrize("mode", ["never", "always"])
def test_alphas_and_rates_beyond_all_numbers_end(mode: str) -> None:
    large = [1e38, 1e300, np.inf]
    with settings.override(jit=mode), tf.Session() as session:
        raw = tf.raw_ops.RandomGamma(
            shape=[3], alpha=tf.constant([np.nan, -1.0, 1e300], tf.float64), seed=1
        )
        rates = tf.constant(large, tf.float64)
        counts = tf.random_poisson(rates, [4], dtype=tf.float64, seed=1)
        gammas, counted = [session.run([raw, counts]) for _ in range(2)][1]
    assert np.isnan(gammas[:, :2]).all() and (gammas[:, 2] > 0.9e300).all()
    np.testing.assert_allclose(counted[:, :2], np.broadcast_to(large[:2], (4, 2)))
