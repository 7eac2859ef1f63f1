# SPDX-License-Identifier: Apache-2.0
"""Planted faults, and correct functions that are nasty to check, in the words of no library.

Each row is written in terms of a namespace `m` (see namespaces.py) and so runs in every library
that has a checker of gradients.  Nothing but NumPy is imported here: peers run this file, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Planted:
    """A function with a gradient of its own, which is wrong: vjp(m, g, *xs) -> one per input."""

    name: str
    kind: str
    f: Callable[..., Any]
    vjp: Callable[..., tuple[Any, ...]]
    arrays: tuple[np.ndarray, ...]
    order: int = 1


@dataclass(frozen=True)
class Nasty:
    """A correct function at a point where numeric derivatives are hard to take."""

    name: str
    why: str
    f: Callable[..., Any]
    arrays: tuple[np.ndarray, ...]


_R = np.random.default_rng(3)
X = _R.uniform(0.3, 1.7, (3, 4)) * np.where(_R.random((3, 4)) < 0.5, -1, 1)
P = np.abs(X)
V = X[0]
Q, S = _R.standard_normal((3, 3)), _R.standard_normal((3, 3))
C = X + 1j * _R.standard_normal((3, 4))
INDEX = (2, 0, 2, 2)
ONE = np.ones((3, 4))
HOLE = np.where(np.arange(12).reshape(3, 4) == 9, 0.0, 1.0)


def softmax(m: Any, x: Any) -> Any:
    e = m.exp(x - m.stop(m.max(x)))
    return e / m.sum(e)


def softplus(m: Any, x: Any) -> Any:
    return m.maximum(x, 0.0 * x) + m.log(1.0 + m.exp(-m.abs(x)))


def sigmoid(m: Any, x: Any) -> Any:
    return 1.0 / (1.0 + m.exp(-x))


def _powers(m: Any, x: Any) -> Any:
    return x**7 - 7 * x**6 + 21 * x**5 - 35 * x**4 + 35 * x**3 - 21 * x**2 + 7 * x - 1.0


PLANTED = [
    Planted("sin", "wrong sign", lambda m, x: m.sin(x), lambda m, g, x: (-g * m.cos(x),), (X,)),
    Planted("square", "missing factor", lambda m, x: x * x, lambda m, g, x: (g * x,), (X,)),
    Planted(
        *("sin of 3 x", "missing factor", lambda m, x: m.sin(3.0 * x)),
        *(lambda m, g, x: (g * m.cos(3.0 * x),), (X,)),
    ),
    Planted(
        *("mean", "missing factor", lambda m, x: m.mean(x)),
        *(lambda m, g, x: (g * m.const(ONE),), (X,)),
    ),
    Planted(
        *("add a row", "forgotten broadcast sum", lambda m, x, b: x + b),
        *(lambda m, g, x, b: (g, m.sum(m.const(np.eye(3)[:, :1]) * g, 0)), (X, V)),
    ),
    Planted(
        *("multiply by a row", "forgotten broadcast sum", lambda m, x, b: x * b),
        *(lambda m, g, x, b: (g * b, m.sum(g * x, 0) / 3.0), (X, V)),
    ),
    Planted(
        *("scale by a number", "forgotten broadcast sum", lambda m, x, b: x * b),
        *(lambda m, g, x, b: (g * b, m.sum(m.const(1.0 - HOLE) * g * x)), (X, np.array(0.7))),
    ),
    Planted("conj", "wrong conj", lambda m, x: m.conj(x), lambda m, g, x: (g,), (C,)),
    Planted(
        *("complex square", "wrong conj", lambda m, x: x * x),
        *(lambda m, g, x: (g * m.conj(m.co(2.0 * m.conj(x))),), (C,)),
    ),
    Planted(
        *("power of a signal", "wrong conj", lambda m, x: m.real(x * m.conj(x))),
        *(lambda m, g, x: (m.conj(m.co(2.0 * x)) * m.complex(g),), (C,)),
    ),
    Planted(
        *("sin, twice", "wrong second derivative", lambda m, x: m.sin(x)),
        *(lambda m, g, x: (g * m.stop(m.cos(x)),), (X,), 2),
    ),
    Planted(
        *("exp, twice", "wrong second derivative", lambda m, x: m.exp(x)),
        *(lambda m, g, x: (g * m.exp(m.stop(x)),), (X,), 2),
    ),
    Planted(
        *("cube, twice", "wrong second derivative", lambda m, x: x**3),
        *(lambda m, g, x: (g * 3.0 * x * m.stop(x),), (X,), 2),
    ),
    Planted(
        *("product, twice", "wrong second derivative", lambda m, x, y: x * y),
        *(lambda m, g, x, y: (g * m.stop(y), g * m.stop(x)), (X, P), 2),
    ),
    Planted(
        *("tanh by its gradient", "gradient of what it is given", lambda m, x: m.tanh(x)),
        *(lambda m, g, x: (m.stop(g) * (1.0 - m.tanh(x) ** 2),), (X,), 2),
    ),
    Planted(
        *("product of matrices", "not transposed", lambda m, x, y: m.matmul(x, y)),
        *(lambda m, g, x, y: (m.matmul(g, y), m.matmul(m.T(x), g)), (Q, S)),
    ),
    Planted(
        *("where", "branches swapped", lambda m, x: m.where(x > 0, 2.0 * x, 5.0 * x)),
        *(lambda m, g, x: (g * m.where(x > 0, 0 * x + 5.0, 0 * x + 2.0),), (X,)),
    ),
    Planted(
        *("leaky relu", "one side forgotten", lambda m, x: m.maximum(x, 0.1 * x)),
        *(lambda m, g, x: (g * m.where(x > 0, 0 * x + 1.0, 0 * x),), (X,)),
    ),
    Planted(
        *("tanh", "wrong formula", lambda m, x: m.tanh(x)),
        *(lambda m, g, x: (g * (1.0 - m.tanh(x)),), (X,)),
    ),
    Planted(
        *("divide", "wrong sign", lambda m, x, y: x / y),
        *(lambda m, g, x, y: (g / y, g * x / (y * y)), (X, P)),
    ),
    Planted(
        *("softmax", "forgotten term", softmax),
        *(lambda m, g, x: (g * softmax(m, x),), (V,)),
    ),
    Planted(
        *("unit vector", "forgotten term", lambda m, x: x / m.sqrt(m.sum(x * x))),
        *(lambda m, g, x: (g / m.sqrt(m.sum(x * x)),), (V,)),
    ),
    Planted(
        *("cumsum", "not reversed", lambda m, x: m.cumsum(x)),
        *(lambda m, g, x: (m.cumsum(g),), (V,)),
    ),
    Planted(
        *("gather", "duplicates not added", lambda m, x: m.take(x, INDEX)),
        *(lambda m, g, x: (m.sum(m.const(np.eye(4)[[0, 1, 2, 1]].T) * g, 1),), (V,)),
    ),
    Planted(
        *("concat", "parts swapped", lambda m, x, y: m.concat(x, y)),
        *(lambda m, g, x, y: (m.part(g, 4, 8), m.part(g, 0, 4)), (V, 2.0 * V)),
    ),
    Planted(
        *("one element", "one element wrong", lambda m, x: m.sin(x)),
        *(lambda m, g, x: (g * m.cos(x) * m.const(HOLE),), (X,)),
    ),
    Planted(
        *("a little", "wrong by a part in 10^5", lambda m, x: m.exp(x)),
        *(lambda m, g, x: (g * m.exp(x) * (1.0 + 1e-5),), (X,)),
    ),
    Planted(
        *("small values", "wrong sign where it is small", lambda m, x: x**3),
        *(lambda m, g, x: (-3.0 * g * x * x,), (1e-4 * X,)),
    ),
    Planted(
        *("single precision", "wrong by a hundredth", lambda m, x: m.exp(x)),
        *(lambda m, g, x: (g * m.exp(x) * 1.01,), (X.astype(np.float32),)),
    ),
    Planted(
        *("no gradient", "an input forgotten", lambda m, x, y: x * m.sin(y)),
        *(lambda m, g, x, y: (g * m.sin(y), 0.0 * g), (X, P)),
    ),
]

HILBERT = 1.0 / (np.arange(5)[:, None] + np.arange(5)[None, :] + 1.0)
F, H = np.float32, np.float16

NASTY = [
    Nasty("relu at 0", "kink", lambda m, x: m.maximum(x, 0.0 * x), (np.array([-1.0, 0.0, 2.0]),)),
    Nasty("abs at 0", "kink", lambda m, x: m.abs(x), (np.array([0.0, 1.0]),)),
    Nasty("max of ties", "kink", lambda m, x: m.max(x), (np.ones(3),)),
    Nasty(
        "clip at its limit", "kink", lambda m, x: m.clip(x, -1, 1), (np.array([-1.0, 0.3, 1.0]),)
    ),
    Nasty("relu next to 0", "kink", lambda m, x: m.maximum(x, 0.0 * x), (np.array([1e-7, -1e-7]),)),
    Nasty("abs next to 0", "kink", lambda m, x: m.abs(x), (np.array([3e-6, -1e-5, 1.0]),)),
    Nasty(
        *("huber at its corner", "second derivative jumps"),
        *(
            lambda m, x: m.where(m.abs(x) < 1.0, x * x / 2, m.abs(x) - 0.5),
            (np.array([1.0, -0.4]),),
        ),
    ),
    Nasty(
        *("elu at 0", "second derivative jumps"),
        *(lambda m, x: m.where(x > 0, x, m.exp(x) - 1.0), (np.array([0.0, 0.5]),)),
    ),
    Nasty("floor times x", "jump", lambda m, x: m.floor(x) * x, (np.array([1.3, 2.0, -0.5]),)),
    Nasty("sign times x", "jump", lambda m, x: m.sign(x) * x * x, (np.array([0.0, 1.3]),)),
    Nasty("sqrt at 0", "pole", lambda m, x: m.sqrt(x), (np.array([0.0, 2.0]),)),
    Nasty("sqrt next to 0", "pole", lambda m, x: m.sqrt(x), (np.array([1e-10, 2.0]),)),
    Nasty("norm next to 0", "kink", lambda m, x: m.sqrt(m.sum(x * x)), (np.array([1e-8, 2e-8]),)),
    Nasty("log next to 0", "pole", lambda m, x: m.log(x), (np.array([1e-12, 1.0]),)),
    Nasty("log of all sizes", "scales", lambda m, x: m.log(x), (np.array([1e-8, 1.0, 1e8]),)),
    Nasty("reciprocal of all sizes", "scales", lambda m, x: 1.0 / x, (np.array([1e-5, 1.0, 1e4]),)),
    Nasty("tiny values", "scales", lambda m, x: 1e-200 * m.sin(x), (X,)),
    Nasty("huge values", "scales", lambda m, x: 1e100 * m.exp(x), (X,)),
    Nasty("exp of large", "scales", lambda m, x: m.exp(x), (np.array([-30.0, 0.0, 40.0]),)),
    Nasty("sin of a million", "condition", lambda m, x: m.sin(x), (np.array([1e6, 1.0]),)),
    Nasty("fast wave", "condition", lambda m, x: m.sin(1e3 * x), (V,)),
    Nasty(
        *("1 - cos over x^2", "cancellation"),
        *(lambda m, x: (1.0 - m.cos(x)) / (x * x), (np.array([1e-4, 1.0]),)),
    ),
    Nasty(
        *("1 - cos over x^2, single", "cancellation"),
        *(lambda m, x: (1.0 - m.cos(x)) / (x * x), (np.array([3e-2, 1.0], F),)),
    ),
    Nasty("(x-1)^7, multiplied out", "cancellation", _powers, (np.array([1.01, 0.98, 1.3]),)),
    Nasty("softmax, saturated", "saturation", softmax, (np.array([50.0, 0.0, -50.0, 1.0]),)),
    Nasty("softplus of large", "saturation", softplus, (np.array([-40.0, 0.5, 40.0]),)),
    Nasty("inverse of a Hilbert matrix", "condition", lambda m, x: m.inv(x), (HILBERT,)),
    Nasty("exp in single precision", "precision", lambda m, x: m.exp(x), (X.astype(F),)),
    Nasty("softmax in half precision", "precision", softmax, (V.astype(H),)),
    Nasty("sigmoid in half precision", "precision", sigmoid, ((4 * V).astype(H),)),
]
