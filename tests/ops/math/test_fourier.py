# SPDX-License-Identifier: Apache-2.0
"""Fourier transforms against NumPy's, and their gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches, feed=None):
    with tf.Session() as session:
        return session.run(fetches, feed)


def numbers(*shape):
    random = np.random.default_rng(3)
    return random.standard_normal(shape) + 1j * random.standard_normal(shape)


COMPLEX = {
    "fft": (np.fft.fftn, 1),
    "ifft": (np.fft.ifftn, 1),
    "fft2d": (np.fft.fftn, 2),
    "ifft2d": (np.fft.ifftn, 2),
    "fft3d": (np.fft.fftn, 3),
    "ifft3d": (np.fft.ifftn, 3),
}


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_transforms(name, dtype):
    transform, rank = COMPLEX[name]
    x = numbers(2, 3, 4, 5).astype(dtype)
    found = getattr(tf, name)(tf.constant(x))
    assert found.shape.as_list() == [2, 3, 4, 5]
    tolerance = 1e-5 if dtype == np.complex64 else 1e-12
    expected = transform(x.astype(np.complex128), axes=tuple(range(-rank, 0)))
    np.testing.assert_allclose(run(found), expected, rtol=tolerance, atol=tolerance)
    assert getattr(tf.signal, name) is getattr(tf.spectral, name) is getattr(tf, name)


def slope(y, x, value, step):
    """The gradient of y along a direction, and its central difference."""
    direction = np.random.default_rng(4).standard_normal(value.shape)
    grad = tf.gradients(y, x)[0]
    with tf.Session() as session:
        found = session.run(grad, {x: value})
        ends = [session.run(y, {x: value + sign * step * direction}) for sign in (1, -1)]
    return np.sum(found * direction), (ends[0] - ends[1]) / (2 * step)


@pytest.mark.parametrize("name", COMPLEX)
def test_gradients_of_complex_transforms(name):
    x = tf.placeholder(tf.float64, [None, None, None])
    found = getattr(tf, name)(tf.complex(x, 0.5 * x))
    y = tf.reduce_sum((tf.real(found) + 2.0 * tf.imag(found)) * numbers(2, 3, 4).imag)
    np.testing.assert_allclose(*slope(y, x, numbers(2, 3, 4).real, 1e-3), rtol=1e-6)


@pytest.mark.parametrize("length", [None, 4, 5, 6, 9])
def test_real_transforms(length):
    x = numbers(3, 6).real.astype(np.float32)
    argument = None if length is None else [length]
    half = tf.signal.rfft(x, argument)
    back = tf.signal.irfft(half, [length or 6])
    values = run([half, back])
    np.testing.assert_allclose(values[0], np.fft.rfft(x, length), rtol=1e-5, atol=1e-5)
    known = np.zeros((3, length or 6), np.float32)
    known[:, : min(6, length or 6)] = x[:, : length or 6]
    np.testing.assert_allclose(values[1], known, rtol=1e-5, atol=1e-5)
    assert half.shape.as_list() == [3, (length or 6) // 2 + 1]


@pytest.mark.parametrize("length", [5, 6])
def test_gradients_of_real_transforms(length):
    x = tf.placeholder(tf.float32, [2, length])
    half = tf.signal.rfft(x)
    weights = numbers(2, length // 2 + 1)
    loss = tf.reduce_sum(tf.real(half) * weights.real + tf.imag(half) * weights.imag)
    again = tf.reduce_sum(tf.signal.irfft(half * weights.astype(np.complex64), [length]) ** 2)
    for y in (loss, again):
        np.testing.assert_allclose(*slope(y, x, numbers(2, length).real, 0.1), rtol=1e-3)


def test_what_cannot_be_transformed():
    fed = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="rank of at least 2"):
        run(tf.fft2d(tf.complex(fed, fed)), {fed: [1.0]})
    with pytest.raises(ValueError, match="at least rank 1"):
        tf.fft(tf.constant(1j))
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 5 but got: 3"):
        run(tf.raw_ops.RFFT(input=tf.zeros([3]), fft_length=[5]))


@pytest.mark.parametrize("threads", [1, 2])
def test_reference_kernels_share_many_transforms_among_the_session_s_threads(threads, monkeypatch):
    import scipy.fft

    asked = []
    plain = scipy.fft.fftn

    def watched(x, **options):
        asked.append((x.dtype.name, options["workers"]))
        return plain(x, **options)

    monkeypatch.setattr(scipy.fft, "fftn", watched)
    x = tf.placeholder(tf.complex64, [None, None])
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    with settings.override(jit="never"), tf.Session(config=config) as session:
        for rows in (2, 300):
            array = numbers(rows, 256).astype(np.complex64)
            got = session.run(tf.fft(x), {x: array})
            np.testing.assert_allclose(got, np.fft.fft(array), rtol=1e-3, atol=1e-3)
    assert asked == [("complex64", 1), ("complex64", threads)]
