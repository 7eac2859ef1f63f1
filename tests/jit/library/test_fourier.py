# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms by kernels of the library: against NumPy's, and run as Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.library import fourier

from .eager import EagerBuilder
from .plain import PlainBuilder

pytestmark = pytest.mark.cpu
# In parts of the largest number.
TOLERANCE = {"complex64": 2e-6, "complex128": 2e-14, "float32": 2e-6}
SMALL = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 30, 32, 49, 64, 91, 121, 128, 210, 512]
# A large prime in them, or too many numbers for one region of scratch memory.
HARD = [17, 38, 257, 1009, 8209, 10000, 16384, 22050]


def drawn(*shape: int, dtype: str = "complex64") -> np.ndarray:
    random = np.random.default_rng(sum(shape))
    parts = random.normal(size=(2, *shape))
    return (parts[0] if dtype == "float32" else parts[0] + 1j * parts[1]).astype(dtype)


def near(found: np.ndarray, wanted: np.ndarray) -> None:
    assert found.shape == wanted.shape
    allowed = TOLERANCE[str(found.dtype)] * np.abs(wanted).max(initial=1)
    assert np.abs(found - wanted).max(initial=0) <= allowed


def run(build: Any, x: np.ndarray, sizes: Any = None, **config: Any) -> Any:
    """The results for an array whose sizes no graph knows; nothing of it runs on the host."""
    with tf.Graph().as_default(), settings.override(jit="always"):
        fed = tf.placeholder(x.dtype, sizes or [None] * x.ndim)
        fetches = build(fed)
        with tf.Session(config=tf.ConfigProto(**config)) as session:
            assert " host " not in str(session.explain(fetches, {fed: x}))
            return session.run(fetches, {fed: x})


@pytest.mark.parametrize("length", SMALL + HARD)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_transforms_of_all_lengths_are_numpys(length: int, dtype: str) -> None:
    # (Of groups of lines, and of what is left of them.)
    x = drawn(19, length, dtype=dtype)
    there, back = run(lambda a: (tf.fft(a), tf.ifft(a)), x)
    near(there, np.fft.fft(x.astype("complex128")))
    near(back, np.fft.ifft(x.astype("complex128")))


@pytest.mark.parametrize("length", [n for n in SMALL + HARD if n < 20000])
def test_transforms_of_real_numbers_are_numpys(length: int) -> None:
    x = drawn(2, 9, length, dtype="float32")
    near(run(lambda a: tf.signal.rfft(a), x), np.fft.rfft(x.astype("float64")))
    # What is no transform of real numbers, too: imaginary parts of both ends do not count.
    half = drawn(18, length // 2 + 1)
    found = run(lambda a: tf.signal.irfft(a, [length]), half)
    near(found, np.fft.irfft(half.astype("complex128"), length))


@pytest.mark.parametrize(
    "shape", [(3, 4, 6), (2, 20, 17), (1, 33, 32), (2, 5, 7, 10), (0, 3, 4, 6)]
)
def test_transforms_of_several_dimensions_are_numpys(shape: tuple[int, ...]) -> None:
    x, real = drawn(*shape), drawn(*shape, dtype="float32")
    for rank in (2, 3):
        axes = tuple(range(-rank, 0))
        there, back = (getattr(tf, f"{name}{rank}d") for name in ("fft", "ifft"))
        near(run(there, x), np.fft.fftn(x, axes=axes))
        near(run(back, x), np.fft.ifftn(x, axes=axes))
        half = np.fft.rfftn(real, axes=axes).astype("complex64")
        near(run(getattr(tf.signal, f"rfft{rank}d"), real), half)
        lengths = list(shape[-rank:])
        found = run(lambda a, r=rank, n=lengths: getattr(tf.signal, f"irfft{r}d")(a, n), half)
        near(found, real)


@pytest.mark.parametrize("halves, length", [(0, 60), (0, 91), (1, 16), (1, 22), (-1, 20), (-1, 6)])
def test_kernels_are_the_same_as_python(halves: int, length: int) -> None:
    def call(b: EagerBuilder) -> np.ndarray:
        if halves == 1:
            return fourier.real_forward(b, b.value(drawn(3, length, dtype="float32")), length).data
        x = drawn(3, length // 2 + 1 if halves else length)
        if halves == -1:
            return fourier.real_inverse(b, b.value(x), length).data
        return fourier.transform(b, b.value(x), 1, True).data

    near(call(EagerBuilder()), call(PlainBuilder()))


@pytest.mark.parametrize("inner", [3, 37])
def test_columns_are_the_same_as_python(inner: int) -> None:
    x = drawn(2, 12, inner)
    one, other = (
        fourier.transform(b, b.value(x), 1, False).data for b in (EagerBuilder(), PlainBuilder())
    )
    near(one, other)
    near(one, np.fft.fft(x, axis=1))


def test_neither_threads_nor_neighbours_change_a_bit() -> None:
    x = drawn(900, 240)
    one, many = (run(tf.fft, x, intra_op_parallelism_threads=count) for count in (1, 2))
    assert one.tobytes() == many.tobytes()
    assert run(tf.fft, x[5:6]).tobytes() == one[5:6].tobytes()
    x[3, 7] = np.nan
    found = run(tf.fft, x)
    assert np.isnan(found[3]).all()
    assert np.delete(found, 3, 0).tobytes() == np.delete(one, 3, 0).tobytes()


def test_lengths_that_a_run_finds_are_followed() -> None:
    x = drawn(11, 6)

    def build(a: Any) -> Any:
        return tf.fft(tf.transpose(tf.boolean_mask(a, tf.real(a[:, 0]) > 0)))

    for given in (x, x[:7], x):
        near(run(build, given), np.fft.fft(given[given[:, 0].real > 0].T))


def test_lengths_that_are_fed_are_followed() -> None:
    length = tf.placeholder(tf.int32, [1])
    x = drawn(3, 20, dtype="float32")
    with tf.Session() as session:
        half = tf.raw_ops.RFFT(input=x, fft_length=length)
        back = tf.raw_ops.IRFFT(input=half, fft_length=length)
        for count in (20, 16, 11, 20):
            values = session.run([half, back], {length: [count]})
            near(values[0], np.fft.rfft(x, count))
            near(values[1], x[:, :count])


def test_loops_transform_without_the_host() -> None:
    x = drawn(4, 30)

    def build(a: Any) -> Any:
        body = lambda i, h: (i + 1, tf.ifft(tf.fft(h) * 0.5))  # noqa: E731
        return tf.while_loop(lambda i, h: i < 3, body, (0, a))[1]

    near(run(build, x), x / 8)
