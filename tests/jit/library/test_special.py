# SPDX-License-Identifier: Apache-2.0
"""Compiled functions of several arguments against SciPy's, and at the limits reference kernels'."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

# Functions by op: the names of its inputs, and SciPy's.
Function = Callable[..., Any]
FUNCTIONS: dict[str, tuple[str, Function]] = {
    "Igamma": ("ax", scipy.special.gammainc),
    "Igammac": ("ax", scipy.special.gammaincc),
    "Zeta": ("xq", scipy.special.zeta),
    "Polygamma": ("ax", lambda n, x: np.vectorize(_polygamma)(n, x)),
    "Betainc": ("abx", scipy.special.betainc),
}
LIMITS = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 2, 3, 0.5, -0.5, -2.5, 50, 1e5)


def _polygamma(n: float, x: float) -> Any:
    return scipy.special.polygamma(int(n), x)


def run(op: str, given: list[np.ndarray], mode: str) -> np.ndarray:
    """What an op gives for vectors."""
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        fed = [tf.placeholder(array.dtype, [None]) for array in given]
        made = getattr(tf.raw_ops, op)(**dict(zip(FUNCTIONS[op][0], fed, strict=True)))
        feeds = dict(zip(fed, given, strict=True))
        if mode == "always":
            session.run(made, feeds)
            assert not session.prepared_plan(made, feeds)[0].traced.hosted
        return session.run(made, feeds)


def arguments(op: str) -> list[np.ndarray]:
    """Numbers of many sizes in the range of an op, negative ones where they have a meaning."""
    rng = np.random.default_rng(0)
    given = [np.exp(rng.uniform(-2, 5, 1500)) for _ in FUNCTIONS[op][0]]
    if op == "Betainc":
        given[2] = rng.uniform(0, 1, 1500)
    if op == "Zeta":
        given[0] += 1
    if op == "Polygamma":
        given[0] = np.round(rng.uniform(0, 8, 1500))
    return given


@pytest.mark.parametrize("op", FUNCTIONS)
def test_functions_are_scipys(op: str) -> None:
    given = arguments(op)
    expected = FUNCTIONS[op][1](*given)
    np.testing.assert_allclose(run(op, given, "always"), expected, rtol=1e-11, atol=1e-300)
    single = [array.astype(np.float32) for array in given]
    with np.errstate(all="ignore"):
        wide = FUNCTIONS[op][1](*(array.astype(np.float64) for array in single))
        is_normal = (np.abs(wide) < 3e38) & (np.abs(wide) > 1e-37) & (single[0] < 30)
    got = run(op, single, "always")[is_normal]
    np.testing.assert_allclose(got, wide[is_normal], rtol=1e-6)


@pytest.mark.parametrize("op", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_limits_are_those_of_the_reference_kernels(op: str, dtype: str) -> None:
    grid = np.meshgrid(*[np.array(LIMITS, dtype)] * len(FUNCTIONS[op][0]))
    given = [np.ascontiguousarray(part.ravel()) for part in grid]
    with np.errstate(all="ignore"):
        expected, got = (run(op, given, mode) for mode in ("never", "always"))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-7)


def test_slopes_of_the_incomplete_gamma_function() -> None:
    # By central differences of SciPy's P and, where P is next to 1, of its Q.
    rng = np.random.default_rng(1)
    a, x = np.exp(rng.uniform(-1, 4, 400)), np.exp(rng.uniform(-1, 4.5, 400))
    step = 1e-4 * a

    def slope(function: Function) -> np.ndarray:
        def difference(h: np.ndarray) -> np.ndarray:
            return (function(a + h, x) - function(a - h, x)) / (2 * h)

        return (4 * difference(step / 2) - difference(step)) / 3

    lower, upper = slope(scipy.special.gammainc), -slope(scipy.special.gammaincc)
    expected = np.where(x < a, lower, upper)
    fed = tf.placeholder(tf.float64, [None]), tf.placeholder(tf.float64, [None])
    (found,) = tf.gradients(tf.igamma(*fed), fed[0])
    with settings.override(jit="always"), tf.Session() as session:
        for _ in range(2):
            got = session.run(found, dict(zip(fed, (a, x), strict=True)))
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-100)


def test_slopes_of_large_gamma_distributions() -> None:
    """Differences of the series in 50 digits (mpmath), on both sides of where the way changes."""
    a = np.array([9e5, 9e5, 1.1e6, 1.1e6, 1e7, 1e7])
    x = a + [0, 5, 0.5, -4, 0, 2] * np.sqrt(a)
    expected = [-4.20522125940593531e-4, -1.6329211922891844e-9, -3.35614482169384795e-4]
    expected += [-1.25264572175284454e-7, -1.26156627152313228e-4, -1.70824383275247855e-5]
    fed = tf.placeholder(tf.float64, [None]), tf.placeholder(tf.float64, [None])
    (found,) = tf.gradients(tf.igamma(*fed), fed[0])
    with settings.override(jit="always"), tf.Session() as session:
        got = [session.run(found, dict(zip(fed, (a, x)))) for _ in range(2)][1]
        np.testing.assert_allclose(got, expected, rtol=2e-9)
        # So large that series and fractions would have more terms than anybody waits for.
        far = session.run(found, {fed[0]: [1e38, 1e300, 1e20], fed[1]: [1e38, 1e300, 1.0]})
    np.testing.assert_allclose(far, -0.3989422804 * np.array([1e-19, 1e-150, 0.0]), rtol=1e-6)


@pytest.mark.parametrize("dtype", (tf.float32, tf.float64))
def test_no_value_takes_as_many_turns_as_it_is_large(dtype: tf.DType) -> None:
    """What steps up to where a series holds would step for ever from -1e38 on."""
    values = np.array([0.0, 1e-300, 0.5, 2.0, 1e7, 1e38, np.inf, -0.5, -1e10, -1e38, -np.inf])
    x, a = (part.reshape(-1) for part in np.meshgrid(values, np.append(values, np.nan)))
    fed = tf.placeholder(dtype, [None]), tf.placeholder(dtype, [None])
    (by_a,) = tf.gradients(tf.igamma(*fed), fed[0])
    found = [by_a, tf.igamma(*fed), tf.igammac(*fed), tf.raw_ops.RandomGammaGrad(*fed)]
    found += [tf.polygamma(*fed), tf.betainc(*fed, tf.fill(tf.shape(fed[0]), fed[1][2]))]
    with settings.override(jit="always"), tf.Session() as session:
        for _ in range(2):
            got = session.run(found, dict(zip(fed, (a, x), strict=True)))
    assert np.isnan(got[0][~((a > 0) & (x >= 0))]).all()
    assert np.isfinite(got[0][(a > 1e-30) & (a < 1e30) & (x > 1e-30) & (x < 1e30)]).all()


def test_shapes_broadcast_and_those_of_betainc_do_not() -> None:
    a, x = tf.placeholder(tf.float64, [None, 1]), tf.placeholder(tf.float64, [None])
    rows, columns = np.array([[0.5], [2.0]]), np.array([0.1, 1.0, 9.0])
    with settings.override(jit="always"), tf.Session() as session:
        got = [session.run(tf.igamma(a, x), {a: rows, x: columns}) for _ in range(2)]
        np.testing.assert_allclose(got[1], scipy.special.gammainc(rows, columns))
        with pytest.raises(tf.errors.InvalidArgumentError, match="inconsistent"):
            session.run(tf.betainc(x, x + 1.0, x[:1]), {x: [0.1, 0.2]})
