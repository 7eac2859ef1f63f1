# SPDX-License-Identifier: Apache-2.0
"""Gradients through max pooling that are never spread out, against the plain way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine import settings as jit_settings
from numbaflow.jit.library import (
    conv2d_filter_gradient,
    conv2d_input_gradient,
    conv_filter,
    conv_grad_pooled,
    max_pool,
    max_pool_argmax,
    max_pool_gradient,
)
from numbaflow.jit.library.geometry import axes

from ...drawing import examples
from ..library.eager import EagerBuilder

pytestmark = pytest.mark.cpu


def draw(shape: Any, dtype: str, seed: int = 0) -> np.ndarray:
    """Few distinct numbers, so that maxima tie and sums are exact."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


@examples(8)
@given(
    n=st.integers(1, 5),
    size=st.tuples(st.integers(4, 13), st.integers(4, 13)),
    channels=st.tuples(st.sampled_from([1, 16, 48]), st.sampled_from([3, 16, 21])),
    kernel=st.sampled_from([(1, 1), (3, 3), (5, 5), (2, 3), (9, 7)]),
    strides=st.sampled_from([(1, 1), (2, 1)]),
    pool=st.sampled_from([((2, 2), (2, 2)), ((3, 3), (2, 2)), ((2, 3), (3, 1))]),
    paddings=st.tuples(*[st.sampled_from(["SAME", "VALID"])] * 2),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_gradients_from_maxima(
    n: int,
    size: Any,
    channels: Any,
    kernel: Any,
    strides: Any,
    pool: Any,
    paddings: Any,
    dtype: str,
) -> None:
    c, f = channels
    conv = axes(size, kernel, strides, paddings[0])
    if min(a.out for a in conv) < max(pool[0]):
        return
    windows = axes([a.out for a in conv], *pool, paddings[1])
    x, w = draw((n, *size, c), dtype), draw((*kernel, c, f), dtype, 1)
    y = draw((n, *(a.out for a in conv), f), dtype, 2)
    dy = draw((n, *(a.out for a in windows), f), dtype, 3)
    b = EagerBuilder(threads=2)
    top, places = max_pool_argmax.max_pool_places(b, b.value(y), windows)
    np.testing.assert_array_equal(top.data, max_pool(b, b.value(y), *pool, paddings[1]).data)
    want = max_pool_gradient(b, b.value(y), top, b.value(dy), *pool, paddings[1])
    got = max_pool_argmax.spread(b, y.shape, b.value(dy), places, windows)
    np.testing.assert_array_equal(got.data, want.data)
    rest = (b.value(dy), places, conv, windows)
    filters = conv_filter.from_maxima(b, b.value(x), w.shape, *rest)
    plain = conv2d_filter_gradient(b, b.value(x), w.shape, want, strides, paddings[0])
    np.testing.assert_array_equal(filters.data.sum(0), plain.data)
    inputs = conv_grad_pooled.input_gradient(b, x.shape, b.value(w), *rest)
    if inputs is NotImplemented:
        return
    plain = conv2d_input_gradient(b, x.shape, b.value(w), want, strides, paddings[0])
    np.testing.assert_array_equal(inputs.data, plain.data)


def test_few_channels_are_left_to_others() -> None:
    b, conv = EagerBuilder(), axes((8, 8), (3, 3), (1, 1), "SAME")
    windows = axes((8, 8), (2, 2), (2, 2), "SAME")
    x, dy = b.value(draw((1, 8, 8, 3), "float32")), b.value(draw((1, 4, 4, 16), "float32"))
    assert (
        conv_grad_pooled.filter_gradient(b, x, (3, 3, 3, 16), dy, dy, conv, windows)
        is NotImplemented
    )


def network(x: Any, pool: Any = tf.nn.max_pool, relu: Any = tf.nn.relu) -> list[Any]:
    """Two layers of convolution and pooling; variables' and the input's gradients."""
    random = np.random.default_rng(5)
    h, variables = x, []
    for c, f in ((1, 16), (16, 32)):
        w = tf.Variable(random.standard_normal((3, 3, c, f)).astype(np.float32))
        bias = tf.Variable(random.standard_normal(f).astype(np.float32))
        variables += [w, bias]
        h = relu(tf.nn.conv2d(h, w, [1, 1, 1, 1], "SAME") + bias)
        h = pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    return [*tf.gradients(tf.reduce_sum(h * h), [*variables, x]), h]


def results(mode: str, build: Any, image: np.ndarray, threads: int = 0) -> tuple[Any, list[str]]:
    """What a program gives in a mode, and the names of its kernels."""
    graph = tf.Graph()
    with graph.as_default(), jit_settings.override(jit=mode, threads=threads):
        x = tf.placeholder(tf.float32, [None, *image.shape[1:]])
        fetches = build(x)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            got = session.run(fetches, {x: image})
            names = []
            if mode == "always":
                names = [k.name for k in session.explain(fetches, {x: image}).kernels]
    return got, names


def agree(build: Any, image: np.ndarray) -> list[str]:
    want, _ = results("never", build, image)
    got, names = results("always", build, image)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-4, atol=2e-4 * np.abs(a).max())
    return names


def image(n: int = 3, size: int = 14) -> np.ndarray:
    return np.random.default_rng(9).standard_normal((n, size, size, 1)).astype(np.float32)


def test_a_network_never_looks_for_maxima_twice() -> None:
    names = agree(network, image())
    assert names.count("max_pool_places") == 2
    assert "pooled_filter_gradient" in names
    assert "pooled_input_gradient" in names
    assert "max_pool_gradient" not in names


def test_masks_that_pooling_can_have_first() -> None:
    names = agree(lambda x: network(x, relu=tf.nn.relu6), image())
    assert "pooled_input_gradient" in names


def test_other_activations_need_the_whole_gradient() -> None:
    names = agree(lambda x: network(x, relu=tf.nn.tanh), image(2, 9))
    assert names.count("unpool") == 2
    assert "pooled_filter_gradient" not in names


def test_average_pooling_is_as_before() -> None:
    assert "unpool" not in agree(lambda x: network(x, pool=tf.nn.avg_pool), image(2, 9))


def test_a_gradient_that_is_fetched_is_spread() -> None:
    def build(x: Any) -> list[Any]:
        w = tf.ones([3, 3, 1, 16])
        y = tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"))
        top = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        return [*tf.gradients(top * top, [y, w, x]), y]

    names = agree(build, image(2, 9))
    assert names.count("max_pool_places") == 1
    assert "unpool" in names


def test_two_gradients_of_one_pooling() -> None:
    def build(x: Any) -> list[Any]:
        y = tf.nn.relu(tf.nn.conv2d(x, tf.ones([3, 3, 1, 16]), [1, 1, 1, 1], "SAME"))
        top = tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        return [tf.gradients(top * top, y)[0], tf.gradients(tf.sin(top), y)[0]]

    names = agree(build, image())
    assert names.count("max_pool_places") == 1
    assert names.count("unpool") == 2


def test_the_same_bits_for_any_number_of_threads() -> None:
    one, _ = results("always", network, image(37), threads=1)
    for threads in (2, 3):
        other, _ = results("always", network, image(37), threads=threads)
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_not_a_number_goes_where_it_comes_first() -> None:
    def build(x: Any) -> list[Any]:
        y = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        return [tf.gradients(y, x)[0], y]

    some = image(2, 6)
    some[0, ::4, ::2] = np.nan
    want, _ = results("never", build, some)
    got, _ = results("always", build, some)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_array_equal(a, b)
