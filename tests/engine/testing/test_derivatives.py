# SPDX-License-Identifier: Apache-2.0
"""Numeric derivatives of functions whose derivatives are known."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from numbaflow.engine.testing.derivatives import by_complex_step, by_differences

pytestmark = pytest.mark.pure

# (name, the change of a function from 0, its derivative there)
SMOOTH = [
    ("line", lambda t: 3.0 * t, 3.0),
    ("constant", lambda t: 0.0, 0.0),
    ("sin", lambda t: math.sin(2.0 + t) - math.sin(2.0), math.cos(2.0)),
    ("steep", lambda t: math.exp(30 * t) - 1.0, 30.0),
    ("pole nearby", lambda t: 1 / (1e-3 + t) - 1e3, -1e6),
    ("kink nearby", lambda t: abs(t - 1e-4) - 1e-4, -1.0),
    ("fast wave", lambda t: math.sin(1e3 * t), 1e3),
    ("second derivative jumps", lambda t: t * abs(t), 0.0),
    ("huge", lambda t: 1e200 * math.sin(t), 1e200),
    ("tiny", lambda t: 1e-200 * math.sin(t), 1e-200),
]


@pytest.mark.parametrize(("f", "slope"), [row[1:] for row in SMOOTH], ids=[r[0] for r in SMOOTH])
def test_differences_know_their_error(f, slope):
    found = by_differences(f, 0.0)
    assert found.is_known
    assert abs(found.value - slope) <= 20 * found.error + 1e-12 * abs(slope)
    assert found.error <= 1e-5 * abs(slope) + 1e-6
    assert found.method == "central differences" and 0 < found.step < 1


def test_differences_of_noise_admit_a_larger_error():
    def noisy(t: float) -> float:
        return math.sin(t) + (1e-8 * math.sin(1e13 * t) if t else 0.0)

    found = by_differences(noisy, 1e-16)
    assert found.is_known
    assert 1e-13 < abs(found.value - 1.0) <= 20 * found.error < 1e-3


@pytest.mark.parametrize(
    ("f", "left", "right"),
    [
        (abs, -1.0, 1.0),
        (lambda t: max(t, 0.0), 0.0, 1.0),
        (lambda t: abs(math.sin(t)) + t * t, -1.0, 1.0),
    ],
)
def test_a_kink_has_two_derivatives(f, left, right):
    found = by_differences(f, 0.0)
    assert found.is_kink and not found.is_known
    assert (found.left, found.right) == (pytest.approx(left), pytest.approx(right))


@pytest.mark.parametrize(
    "f",
    [
        lambda t: 1.0 if t > 0 else 0.0,
        lambda t: math.copysign(math.sqrt(abs(t)), t),
        lambda t: math.sqrt(t) if t >= 0 else math.nan,
        lambda t: math.nan if t else 0.0,
    ],
)
def test_jumps_poles_and_edges_have_none(f):
    assert not by_differences(f, 0.0).is_known


def test_a_complex_step_loses_nothing():
    found = by_complex_step(lambda t: cmath.exp(1.0 + t) / (1.0 + t))
    assert found.value == pytest.approx(0.0, abs=1e-15)
    found = by_complex_step(lambda t: np.sin(0.3 + t) ** 3)
    assert found.value == pytest.approx(3 * math.sin(0.3) ** 2 * math.cos(0.3), rel=1e-15)
    assert found.error < 1e-14 and found.method == "complex step"
