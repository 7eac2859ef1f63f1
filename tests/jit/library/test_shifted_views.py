# SPDX-License-Identifier: Apache-2.0
"""Convolutions of single channels, compiled, are those of the reference kernels."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

RNG = np.random.default_rng(5)
# sizes of a filter, strides, padding, dilations, format
CASES = [
    ((3, 3, 4, 1), 1, "SAME", 1, "NHWC"),
    ((3, 3, 2, 2), 2, "SAME", 1, "NHWC"),
    ((2, 3, 3, 1), 3, "VALID", 1, "NHWC"),
    ((1, 2, 2, 3), 1, "VALID", 2, "NHWC"),
    ((2, 2, 3, 2), 2, "SAME", 1, "NCHW"),
    # channels by vectors, the last of which is not whole
    ((3, 3, 21, 1), 1, "SAME", 1, "NHWC"),
    ((5, 3, 16, 1), 2, "SAME", 1, "NHWC"),
    ((2, 3, 35, 1), 3, "VALID", 1, "NHWC"),
    ((3, 3, 9, 2), 2, "SAME", 1, "NCHW"),
    ((2, 3, 70, 1), 1, "VALID", 3, "NHWC"),
    ((7, 3, 8, 1), 1, "SAME", 4, "NHWC"),  # whole lines of taps are in the padding
    # more taps, or filters a channel, than one expression holds
    ((9, 9, 3, 1), 1, "SAME", 1, "NHWC"),
    ((11, 7, 1, 1), 1, "VALID", 1, "NHWC"),
    ((9, 8, 5, 1), 2, "SAME", 1, "NHWC"),
    ((5, 7, 2, 3), 3, "SAME", 1, "NHWC"),
    ((3, 1, 2, 9), 2, "VALID", 1, "NHWC"),
    ((9, 9, 2, 1), 1, "SAME", 2, "NHWC"),
    ((9, 8, 2, 2), 2, "SAME", 1, "NCHW"),
]


def results(mode, build, feeds):
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        fetches = build()
        made = [session.run(fetches, feed) for feed in feeds]
        report = str(session.explain(fetches, feeds[0])) if mode == "always" else ""
    return made, report


@pytest.mark.parametrize(("filters", "stride", "padding", "dilation", "form"), CASES)
def test_depthwise_convolutions_and_their_gradients(filters, stride, padding, dilation, form):
    last = form == "NHWC"

    def build():
        depth = filters[2]
        shape = [None, None, None, depth] if last else [None, depth, None, None]
        x, w = tf.placeholder(tf.float32, shape, name="x"), tf.placeholder(tf.float32, name="w")
        w.set_shape(filters)
        square = [1, stride, stride, 1] if last else [1, 1, stride, stride]
        spread = [1, dilation, dilation, 1] if last else [1, 1, dilation, dilation]
        y = tf.nn.depthwise_conv2d_native(x, w, square, padding, form, spread)
        return [y, *tf.gradients(tf.reduce_sum(tf.sin(y)), [x, w])]

    feeds = []
    reach = [(size - 1) * dilation for size in filters[:2]]
    for n, high, wide in ((2, 9, 8), (3, 6, 11), (2, 9, 8)):
        if padding == "VALID":
            high, wide = high + reach[0], wide + reach[1]
        shape = (n, high, wide, filters[2]) if last else (n, filters[2], high, wide)
        feeds.append({"x:0": RNG.standard_normal(shape), "w:0": RNG.standard_normal(filters)})
    want, _ = results("never", build, feeds)
    got, report = results("always", build, feeds)
    for one, other in zip(want, got, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=2e-5)
    assert "host" not in report


def test_losses_of_similar_structure_are_trained_without_the_host():
    def build():
        x = tf.placeholder(tf.float32, [None, 16, 16, 3], name="x")
        y = tf.Variable(tf.zeros([2, 16, 16, 3]))
        loss = 1.0 - tf.reduce_mean(tf.image.ssim(x, tf.sigmoid(y), 1.0))
        return [loss, *tf.gradients(loss, [y])]

    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        fetches = build()
        session.run(tf.global_variables_initializer())
        feed = {"x:0": RNG.random((2, 16, 16, 3))}
        session.run(fetches, feed)
        assert "host" not in str(session.explain(fetches, feed))


def test_a_layer_of_separable_convolutions_is_trained_without_the_host():
    def build():
        x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
        y = tf.layers.separable_conv2d(x, 4, 3, activation=tf.nn.relu)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(y * y))
        return [y, train]

    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        fetches = build()
        session.run(tf.global_variables_initializer())
        feed = {"x:0": RNG.standard_normal((2, 8, 8, 3))}
        session.run(fetches, feed)
        assert "host" not in str(session.explain(fetches, feed))


@pytest.mark.parametrize("gpu", ["none", "emulated"])
@pytest.mark.parametrize(("dtype", "rtol"), [(tf.float16, 1e-3), (tf.bfloat16, 1e-2)])
@pytest.mark.parametrize("form", ["NHWC", "NCHW"])
def test_sums_of_half_precision_are_kept_in_single(gpu, dtype, rtol, form):
    last = form == "NHWC"
    shape = (2, 9, 8, 3) if last else (2, 3, 9, 8)

    def build():
        x, w = tf.placeholder(dtype, shape, name="x"), tf.placeholder(dtype, (3, 3, 3, 2), name="w")
        steps = [1, 2, 2, 1] if last else [1, 1, 2, 2]
        y = tf.nn.depthwise_conv2d_native(x, w, steps, "SAME", form)
        return [tf.cast(v, tf.float64) for v in (y, *tf.gradients(y, [x, w]))]

    feeds = [{"x:0": RNG.standard_normal(shape), "w:0": RNG.standard_normal((3, 3, 3, 2))}]
    # Sums that are finite in single precision alone, and what is no number.
    feeds.append({"x:0": np.full(shape, 3e4), "w:0": np.full((3, 3, 3, 2), 3.0)})
    feeds.append({"x:0": np.full(shape, np.nan), "w:0": np.full((3, 3, 3, 2), -6e4)})
    want, _ = results("never", build, feeds)
    with settings.override(gpu=gpu):
        got, report = results("always", build, feeds)
    for one, other in zip(want, got, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(b, a, rtol=rtol, atol=rtol)
    assert "host" not in report
