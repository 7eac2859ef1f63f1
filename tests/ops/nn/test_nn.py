# SPDX-License-Identifier: Apache-2.0
"""Neural network ops: values by definition, shapes, and the errors of bad arguments."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.programs
RANDOM = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default(), settings.override(jit="never"):
        yield


def _run(*fetches):
    with tf.Session() as session:
        return session.run(fetches)


def _direct_convolution(x, w, stride):
    height = (x.shape[1] - w.shape[0]) // stride + 1
    width = (x.shape[2] - w.shape[1]) // stride + 1
    out = np.zeros((len(x), height, width, w.shape[3]))
    for i in range(height):
        for j in range(width):
            patch = x[:, i * stride : i * stride + w.shape[0], j * stride : j * stride + w.shape[1]]
            out[:, i, j] = np.einsum("nhwc,hwcf->nf", patch, w)
    return out


@pytest.mark.parametrize("stride", [1, 2])
def test_convolution_by_definition(stride):
    x, w = RANDOM.random((2, 6, 5, 3)), RANDOM.random((3, 2, 3, 4))
    (y,) = _run(tf.nn.conv2d(x, w, [1, stride, stride, 1], "VALID"))
    np.testing.assert_allclose(y, _direct_convolution(x, w, stride))


def test_data_formats_agree():
    x, w = RANDOM.random((2, 6, 5, 3)), RANDOM.random((3, 3, 3, 4))
    last = tf.nn.conv2d(x, w, [1, 2, 1, 1], "SAME")
    first = tf.nn.conv2d(x.transpose(0, 3, 1, 2), w, [1, 1, 2, 1], "SAME", data_format="NCHW")
    a, b = _run(last, first)
    np.testing.assert_allclose(a.transpose(0, 3, 1, 2), b)


def test_dilation_spreads_the_filter():
    x, w = RANDOM.random((1, 9, 9, 2)), RANDOM.random((2, 2, 2, 3))
    spread = np.zeros((3, 3, 2, 3))
    spread[::2, ::2] = w
    a, b, c = _run(
        tf.nn.conv2d(x, w, [1, 1, 1, 1], "VALID", dilations=[1, 2, 2, 1]),
        tf.nn.conv2d(x, spread, [1, 1, 1, 1], "VALID"),
        tf.nn.atrous_conv2d(x, w, 2, "VALID"),
    )
    np.testing.assert_allclose(a, b)
    np.testing.assert_allclose(c, b)


def test_pools_ignore_the_padding():
    x = -np.ones((1, 3, 3, 1), np.float32)
    largest, mean = _run(
        tf.nn.max_pool(x, 2, 2, "SAME"),
        tf.nn.avg_pool(x, 2, 2, "SAME"),
    )
    np.testing.assert_array_equal(largest, -np.ones((1, 2, 2, 1)))
    np.testing.assert_array_equal(mean, -np.ones((1, 2, 2, 1)))


def test_the_gradient_of_max_pool_goes_to_the_first_maximum():
    x = tf.constant(np.ones((1, 2, 2, 1), np.float32))
    (grad,) = _run(tf.gradients(tf.nn.max_pool(x, 2, 2, "VALID"), x)[0])
    np.testing.assert_array_equal(grad.ravel(), [1, 0, 0, 0])


def test_softmax_of_large_numbers():
    x = np.float32([[1000.0, 1000.0], [-1000.0, 0.0]])
    (y,) = _run(tf.nn.softmax(x))
    np.testing.assert_allclose(y, [[0.5, 0.5], [0.0, 1.0]])


def test_both_cross_entropies_agree():
    logits = RANDOM.random((4, 3)).astype(np.float32)
    labels = np.int64([0, 2, 1, 1])
    dense, sparse = _run(
        tf.nn.softmax_cross_entropy_with_logits(labels=np.eye(3, dtype="f")[labels], logits=logits),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits),
    )
    np.testing.assert_allclose(dense, sparse, rtol=1e-6)


def test_labels_outside_of_the_classes_are_refused():
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[3], logits=[[1.0, 2.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside the valid range"):
        _run(loss)


def test_batch_normalization_has_mean_zero_and_variance_one():
    x = RANDOM.random((8, 3, 3, 4)).astype(np.float32)
    y, mean, _ = tf.nn.fused_batch_norm(x, np.ones(4, "f"), np.zeros(4, "f"), epsilon=1e-4)
    y, mean = _run(y, mean)
    np.testing.assert_allclose(y.mean(axis=(0, 1, 2)), 0, atol=1e-5)
    np.testing.assert_allclose(y.var(axis=(0, 1, 2)), 1, rtol=1e-2)
    np.testing.assert_allclose(mean, x.mean(axis=(0, 1, 2)), rtol=1e-5)


def test_dropout_scales_what_it_keeps():
    tf.set_random_seed(1)
    (y,) = _run(tf.nn.dropout(tf.ones([1000]), rate=0.25))
    assert set(np.unique(y)) == {0, np.float32(1 / 0.75)}
    assert 0.7 < np.count_nonzero(y) / 1000 < 0.8


@pytest.mark.pure
@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_dropout_refuses_rates_outside_of_the_range(rate):
    with pytest.raises(ValueError, match="rate must be a scalar tensor or a float in the range"):
        tf.nn.dropout(tf.ones([2]), rate=rate)


def test_the_largest_elements_keep_the_order_of_equals():
    values, indices = _run(*tf.nn.top_k(np.float32([[1, 3, 3, 2]]), 3))
    np.testing.assert_array_equal(values, [[3, 3, 2]])
    np.testing.assert_array_equal(indices, [[1, 2, 3]])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_the_largest_integers_of_any_width(dtype):
    limits = np.iinfo(dtype)
    x = np.array([5, limits.min, 7, limits.max, limits.max - 1, 5], dtype)
    values, indices = _run(*tf.nn.top_k(x, 6))
    np.testing.assert_array_equal(values, np.sort(x)[::-1])
    np.testing.assert_array_equal(indices, [3, 4, 2, 0, 5, 1])


@pytest.mark.pure
@pytest.mark.parametrize(
    ("shape", "window", "message"),
    [
        ([1, 2, 2, 3], [3, 3, 3, 1], "Negative dimension size"),
        ([1, 4, 4, 3], [2, 2, 2, 1], "Depth"),
    ],
)
def test_impossible_convolutions_are_refused_when_built(shape, window, message):
    with pytest.raises(ValueError, match=message):
        tf.nn.conv2d(np.zeros(shape, "f"), np.zeros(window, "f"), [1, 1, 1, 1], "VALID")


@pytest.mark.parametrize("is_training", [True, False])
def test_second_derivatives_of_batch_norms_in_half_precision(is_training: bool) -> None:
    """Computed in single precision, as TensorFlow 1.15 does: near to those of single precision."""
    images = np.random.default_rng(3).normal(size=(2, 3, 3, 2))
    found = []
    for dtype in (tf.float16, tf.float32):
        x, scale = tf.constant(images.astype("f2"), dtype), tf.constant([1.0, 2.0])
        facts = () if is_training else (tf.constant([0.25, 0.5]), tf.constant([1.0, 2.0]))
        y = tf.nn.fused_batch_norm(x, scale, tf.zeros(2), *facts, is_training=is_training)[0]
        slope = tf.gradients(tf.reduce_sum(tf.cast(y, tf.float32) ** 3), x)[0]
        curves = tf.gradients(tf.reduce_sum(tf.cast(slope, tf.float32) ** 2), [x, scale])
        assert [curve.dtype for curve in curves] == [dtype, tf.float32]
        with tf.Session() as session:
            found.append(session.run(curves))
    for narrow, wide in zip(*found):
        np.testing.assert_allclose(narrow, wide, rtol=0.03, atol=0.03 * np.abs(wide).max())


def test_second_derivatives_of_batch_norms_whose_variance_depends_on_the_scale() -> None:
    """TensorFlow takes mean and variance for constants there, even so."""
    images = np.random.default_rng(3).normal(size=(2, 3, 3, 2)).astype("f")
    x, scale = tf.constant(images), tf.constant([1.0, 2.0])
    found = []
    for variance in (scale * scale, tf.constant([1.0, 4.0])):
        y = tf.nn.fused_batch_norm(x, scale, tf.zeros(2), tf.zeros(2), variance, is_training=False)[
            0
        ]
        slope = tf.gradients(tf.reduce_sum(y**3), x)[0]
        found.append(tf.gradients(tf.reduce_sum(slope**2), scale)[0])
    with tf.Session() as session:
        np.testing.assert_allclose(*session.run(found), rtol=1e-5)
