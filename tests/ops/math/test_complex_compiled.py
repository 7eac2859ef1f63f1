# SPDX-License-Identifier: Apache-2.0
"""Complex numbers in kernels: functions at special values, moves, sums, products, updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

INF, NAN = np.inf, np.nan
PARTS = [0.0, -0.0, 1.0, -2.5, 0.5, 100.0, INF, -INF, NAN, 1e30, -1e-30, 1e-42, 3e38]
SPECIAL = np.array([complex(a, b) for a in PARTS for b in PARTS])
_random = np.random.default_rng(0)
USUAL = 3 * (_random.normal(size=200) + 1j * _random.normal(size=200))
RTOL = {"complex64": 2e-5, "complex128": 1e-12}
ANYWHERE = pytest.mark.parametrize("gpu", ["none", "emulated"])
BOTH = pytest.mark.parametrize("dtype", ["complex64", "complex128"])


def run(fetches: Any, feeds: Any, mode: str = "always") -> Any:
    """What a session gives; compiled, nothing may be left to the host."""
    with settings.override(jit=mode), tf.Session() as session:
        if mode == "always":
            assert not session.prepared_plan(fetches, feeds)[0].traced.hosted
        return session.run(fetches, feeds)


def agrees(got: np.ndarray, want: np.ndarray, rtol: float) -> np.ndarray:
    """Where two arrays are the same, NaN and infinities in each part included."""
    with np.errstate(all="ignore"):
        if got.dtype.kind == "c":
            near = np.abs(got - want) <= rtol * np.abs(want)
            return near | (agrees(got.real, want.real, rtol) & agrees(got.imag, want.imag, rtol))
        near = np.abs(got - want) <= rtol * np.abs(want)
        return (got == want) | (np.isnan(got) & np.isnan(want)) | near


FUNCTIONS = (
    "abs acos acosh angle asin asinh atan atanh conj cos cosh exp expm1 imag log log1p negative "
    "real reciprocal rsqrt sigmoid sign sin sinh sqrt tan tanh"
).split()


@BOTH
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_at_special_values(name: str, dtype: str) -> None:
    x = tf.placeholder(dtype, [None])
    y = getattr(tf, name, None) or getattr(tf.math, name)
    for values in (SPECIAL, USUAL):
        with np.errstate(all="ignore"):
            feeds = {x: values.astype(dtype)}
        found = y(x)
        want, got = run(found, feeds, "never"), run(found, feeds)
        wrong = ~agrees(got, want, RTOL[dtype])
        if (
            name == "sign"
        ):  # NumPy loses the direction of what is nearly as large as can be, or zero
            wrong &= (np.abs(values) < 3e38) & (np.abs(values) > 1e-38)
        if name == "expm1":  # (NumPy multiplies what overflows by a sine of zero.)
            wrong &= values.imag != 0
        assert not wrong.any(), (values[wrong], got[wrong], want[wrong])


@BOTH
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "div_no_nan", "equal"])
def test_functions_of_two_at_special_values(name: str, dtype: str) -> None:
    # (Where a product of parts overflows, NumPy's fused operations give another NaN.)
    parts = [part for part in PARTS if not 1e29 < part < INF]
    tame = np.array([complex(a, b) for a in parts for b in parts])
    x, y = tf.placeholder(dtype, [None]), tf.placeholder(dtype, [None])
    one, two = np.repeat(tame, len(tame)).astype(dtype), np.tile(tame, len(tame)).astype(dtype)
    found = (getattr(tf, name, None) or getattr(tf.math, name))(x, y)
    want, got = (run(found, {x: one, y: two}, mode) for mode in ("never", "always"))
    if want.dtype == bool:
        np.testing.assert_array_equal(got, want)
        return
    wrong = ~agrees(got, want, RTOL[dtype])
    assert not wrong.any(), (one[wrong], two[wrong], got[wrong], want[wrong])


@BOTH
def test_powers_are_those_of_logarithms(dtype: str) -> None:
    x, y = tf.placeholder(dtype, [None]), tf.placeholder(dtype, [None])
    one, two = USUAL.astype(dtype), USUAL[::-1].astype(dtype)
    want = np.exp(two * np.log(one.astype("complex128")))
    np.testing.assert_allclose(run(x**y, {x: one, y: two}), want, rtol=1e-4)
    corners = np.array([0, 0, 0, 1j, 1j]), np.array([0, 2, -1, complex(INF, INF), 0])
    got = run(x**y, {x: corners[0], y: corners[1]})
    np.testing.assert_array_equal(np.isnan(got), [True, False, True, False, False])
    np.testing.assert_array_equal(got[[1, 3, 4]], [0, 0, 1])


def numbers(dtype: str, *shape: int) -> np.ndarray:
    """Complex numbers, the same ones at every call."""
    random = np.random.default_rng(1)
    return (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(dtype)


MOVES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "transpose": (tf.transpose, np.transpose),
    "adjoint": (tf.linalg.adjoint, lambda z: z.conj().T),
    "slice": (lambda z: z[1::2, 3:9], lambda z: z[1::2, 3:9]),
    "reverse": (lambda z: tf.reverse(z, [1]), lambda z: z[:, ::-1]),
    "concat": (lambda z: tf.concat([z, -z], 1), lambda z: np.concatenate([z, -z], 1)),
    "pad": (lambda z: tf.pad(z, [[1, 2], [0, 3]]), lambda z: np.pad(z, [[1, 2], [0, 3]])),
    "gather": (lambda z: tf.gather(z, [3, 3, 1]), lambda z: z[[3, 3, 1]]),
    "tile": (lambda z: tf.tile(z, [2, 3]), lambda z: np.tile(z, [2, 3])),
    "roll": (lambda z: tf.roll(z, 2, 0), lambda z: np.roll(z, 2, 0)),
    "fill": (lambda z: z + tf.fill([2, 1, 1], 1 + 2j), lambda z: z + np.full([2, 1, 1], 1 + 2j)),
    "choice": (lambda z: tf.where(tf.real(z) > 0, z, -z), lambda z: np.where(z.real > 0, z, -z)),
    "sum": (lambda z: tf.reduce_sum(z, 1), lambda z: z.sum(1)),
    "sums": (lambda z: tf.reduce_sum(z * z, 0), lambda z: (z * z).sum(0)),
    "mean": (tf.reduce_mean, np.mean),
    "norm": (lambda z: tf.norm(z, axis=1), lambda z: np.linalg.norm(z, axis=1)),
    "running": (lambda z: tf.cumsum(z, 1), lambda z: z.cumsum(1)),
    "real sum": (lambda z: tf.cast(z, tf.float64), lambda z: z.real.astype("float64")),
    "segments": (
        lambda z: tf.math.unsorted_segment_sum(z, np.arange(11) % 2, 2),
        lambda z: np.stack([z[::2].sum(0), z[1::2].sum(0)]),
    ),
    "scatter": (
        lambda z: tf.scatter_nd([[1], [3]], z[:2], [5, 12]),
        lambda z: np.stack([0 * z[0], z[0], 0 * z[0], z[1], 0 * z[0]]),
    ),
}


@BOTH
@ANYWHERE
@pytest.mark.parametrize("name", MOVES)
def test_moves_and_sums(name: str, gpu: str, dtype: str) -> None:
    build, reference = MOVES[name]
    wanted = "complex128" if name == "fill" else dtype
    z = tf.placeholder(wanted, [None, None])
    array = numbers(wanted, 11, 12)
    want = reference(array)
    with settings.override(gpu=gpu):
        np.testing.assert_allclose(run(build(z), {z: array}), want, rtol=1e-4, atol=1e-5)


@BOTH
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("sizes", [(2, 2, 2), (17, 33, 9), (1, 40, 70), (64, 30, 1), (3, 0, 4)])
def test_products(sizes: tuple[int, int, int], turned: tuple[bool, bool], dtype: str) -> None:
    m, k, n = sizes
    one = numbers(dtype, *((k, m) if turned[0] else (m, k)))
    two = numbers(dtype, *((n, k) if turned[1] else (k, n)))
    x, y = tf.placeholder(dtype, [None, None]), tf.placeholder(dtype, [None, None])
    plain = tf.matmul(x, y, transpose_a=turned[0], transpose_b=turned[1])
    adjoint = tf.matmul(x[None], y[None], adjoint_a=turned[0], adjoint_b=turned[1])
    got = run([plain, adjoint], {x: one, y: two})
    left, right = (a.T if turns else a for a, turns in zip((one, two), turned))
    np.testing.assert_allclose(got[0], left @ right, rtol=1e-4, atol=1e-4)
    left, right = (a.conj() if turns else a for a, turns in zip((left, right), turned))
    np.testing.assert_allclose(got[1][0], left @ right, rtol=1e-4, atol=1e-4)


@BOTH
@ANYWHERE
def test_an_update_in_place_reads_both_parts_first(gpu: str, dtype: str) -> None:
    array = numbers(dtype, 50)
    variable = tf.Variable(array)
    swapped = variable.assign(tf.complex(tf.imag(variable), tf.real(variable)))
    with settings.override(jit="always", gpu=gpu), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(swapped.op)
        np.testing.assert_array_equal(session.run(variable), array.imag + 1j * array.real)


def test_gradients_through_parts_and_products() -> None:
    z = tf.placeholder("complex128", [None, None])
    y = tf.reduce_sum(tf.abs(tf.exp(z) * tf.conj(z) + tf.matmul(z, z, adjoint_b=True) @ z) ** 2)
    grad = tf.gradients(y, z)[0]
    array = numbers("complex128", 4, 5)
    want, got = (run(grad, {z: array}, mode) for mode in ("never", "always"))
    np.testing.assert_allclose(got, want, rtol=1e-10)


def test_a_loop_and_a_branch_carry_complex_numbers() -> None:
    z = tf.placeholder("complex64", [None])
    array = numbers("complex64", 9)
    looped = tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, v * v + z), [0, z])[1]
    chosen = tf.cond(tf.real(z[0]) > 0, lambda: z * 2, lambda: -z)
    got = run([looped, chosen], {z: array * 0.3})
    want = small = array * np.float32(0.3)
    for _ in range(5):
        want = want * want + small
    np.testing.assert_allclose(got[0], want, rtol=1e-4)
    np.testing.assert_allclose(got[1], small * 2 if small[0].real > 0 else -small, rtol=1e-6)


def test_gradients_through_a_loop_of_complex_numbers() -> None:
    z = tf.placeholder("complex128", [3])
    looped = tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, v * v + z), [0, z])[1]
    grad = tf.gradients(tf.reduce_sum(tf.abs(looped)), z)[0]
    feeds = {z: 0.3 * numbers("complex128", 3)}
    results = []
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            results.append(session.run(grad, feeds))
    np.testing.assert_allclose(*results, rtol=1e-10)


SHAPES = [(3, 4, 5), (0, 3, 2), (3, 0, 2), (1, 1, 1), (7, 2, 3)]


@BOTH
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_along_axes(shape: tuple[int, ...], dtype: str) -> None:
    array, z = numbers(dtype, *shape), tf.placeholder(dtype, [None] * len(shape))
    axes = [0, 1, 2, [0, 2], [1, 2], [0, 1, 2]]
    whole = [tf.reduce_prod(z, axis, keepdims=keep) for axis in axes for keep in (False, True)]
    flags = [(exclusive, reverse) for exclusive in (False, True) for reverse in (False, True)]
    running = [tf.cumprod(z, axis, *flag) for axis in range(3) for flag in flags]
    want, got = (run([whole, running], {z: array}, mode) for mode in ("never", "always"))
    for one, other in zip([*got[0], *got[1]], [*want[0], *want[1]], strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def _written(z: Any) -> Any:
    """An array that a loop writes, and whose elements another one reads."""
    array = tf.TensorArray(z.dtype, 4, clear_after_read=False)
    _, array, last = tf.while_loop(
        lambda i, *_: i < 4, lambda i, a, h: (i + 1, a.write(i, h), h * z[0, 0]), (0, array, z)
    )
    read = tf.while_loop(lambda i, _: i < 4, lambda i, h: (i + 1, h + array.read(i) * h), (0, z))
    return array.stack(), last, read[1]


def _grown(z: Any) -> Any:
    """A tensor, and an array, that have more rows after each turn."""
    free = tf.TensorShape([]), tf.TensorShape([None, 6])
    _, rows = tf.while_loop(
        lambda i, _: i < 3, lambda i, h: (i + 1, tf.concat([h, z * z], 0)), (0, z), free
    )
    array = tf.TensorArray(z.dtype, 0, dynamic_size=True, element_shape=[4, 6])
    count = tf.cast(tf.real(tf.reduce_sum(z - z)), tf.int32) + 3
    _, array = tf.while_loop(
        lambda i, _: i < count,
        lambda i, a: (i + 1, a.write(i, z * tf.cast(tf.cast(i, tf.float64), z.dtype))),
        (0, array),
    )
    return rows, array.stack()


LOOPS = {
    "written": _written,
    "grown": _grown,
    "mapped": lambda z: tf.map_fn(lambda row: row * 2 + tf.reduce_sum(row), z),
    "scanned": lambda z: tf.scan(lambda a, row: a * row, z),
}


@BOTH
@pytest.mark.parametrize("name", LOOPS)
def test_arrays_and_stacks_of_loops_hold_complex_numbers(name: str, dtype: str) -> None:
    """Their gradients pop what a stack holds, and add up elements of arrays."""
    array = 0.5 * numbers(dtype, 4, 6)
    found = []
    for mode in ("never", "always"):
        with tf.Graph().as_default():
            z = tf.placeholder(dtype, [4, 6])
            made = LOOPS[name](z)
            made = list(made) if isinstance(made, tuple) else [made]
            losses = [tf.reduce_sum(tf.real(y * tf.conj(y))) for y in made]
            grads = tf.gradients(losses, z)
            if mode == "always":
                assert "piece by piece" not in _explained([made, grads], {z: array})
            found.append(run([*made, *grads], {z: array}, mode))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def _explained(fetches: Any, feeds: Any) -> str:
    with settings.override(jit="always"), tf.Session() as session:
        return str(session.explain(fetches, feeds))
