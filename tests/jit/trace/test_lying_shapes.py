# SPDX-License-Identifier: Apache-2.0
"""Inputs whose sizes only a run knows: kernels never read or write beyond them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.public import raw

pytestmark = pytest.mark.cpu
_POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
_CONV = {"strides": [1, 1, 1, 1], "padding": "SAME"}


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def places(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def filter_gradient(x: Any, dy: Any) -> Any:
    return raw.Conv2DBackpropFilter(x, [3, 3, 8, 2], dy, **_CONV)


def input_gradient(batch: int) -> Callable[..., Any]:
    return lambda w, dy: raw.Conv2DBackpropInput([batch, 4, 4, 8], w, dy, **_CONV)


def max_gradient(*arrays: Any) -> Any:
    return raw.MaxPoolGrad(*arrays, **_POOL)


def avg_gradient(batch: int) -> Callable[..., Any]:
    return lambda dy: raw.AvgPoolGrad([batch, 4, 4, 1], dy, **_POOL)


FAR = 10**6
# What would read or write elsewhere if sizes and places were believed.
CASES: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    "filter gradient of fewer pixels": (filter_gradient, [ones(1, 4, 4, 8), ones(1, 1, 1, 2)]),
    "filter gradient of more pixels": (filter_gradient, [ones(1, 4, 4, 8), ones(1, 9, 9, 2)]),
    "filter gradient of fewer channels": (filter_gradient, [ones(1, 4, 4, 8), ones(1, 4, 4, 1)]),
    "filter gradient of fewer images": (filter_gradient, [ones(5, 4, 4, 8), ones(1, 4, 4, 2)]),
    "filter of another depth": (filter_gradient, [ones(1, 4, 4, 1), ones(1, 4, 4, 2)]),
    "input gradient of fewer pixels": (input_gradient(1), [ones(3, 3, 8, 2), ones(1, 1, 1, 2)]),
    "input gradient of fewer channels": (input_gradient(1), [ones(3, 3, 8, 2), ones(1, 4, 4, 1)]),
    "input gradient of fewer images": (input_gradient(5), [ones(3, 3, 8, 2), ones(1, 4, 4, 2)]),
    "max gradient of fewer pixels": (
        max_gradient,
        [ones(1, 4, 4, 1), ones(1, 2, 2, 1), ones(1, 1, 1, 1)],
    ),
    "max gradient of other maxima": (
        max_gradient,
        [ones(1, 4, 4, 1), ones(1, 1, 1, 1), ones(1, 2, 2, 1)],
    ),
    "max gradient of fewer images": (
        max_gradient,
        [ones(9, 4, 4, 1), ones(9, 2, 2, 1), ones(1, 2, 2, 1)],
    ),
    "max gradient of more channels": (
        max_gradient,
        [ones(1, 4, 4, 1), ones(1, 2, 2, 1), ones(1, 2, 2, 3)],
    ),
    "mean gradient of fewer pixels": (avg_gradient(1), [ones(1, 1, 1, 1)]),
    "mean gradient of fewer images": (avg_gradient(9), [ones(1, 2, 2, 1)]),
    "mean gradient of more channels": (avg_gradient(1), [ones(1, 2, 2, 3)]),
    "max second gradient of fewer pixels": (
        lambda *arrays: raw.MaxPoolGradGrad(*arrays, **_POOL),
        [ones(1, 4, 4, 1), ones(1, 2, 2, 1), ones(1, 1, 1, 1)],
    ),
    "gather": (tf.gather, [ones(3, 2), places(0, FAR)]),
    "gather below": (tf.gather, [ones(3, 2), places(-FAR)]),
    "gather_nd": (tf.gather_nd, [ones(3, 2), places(0, FAR)]),
    "scatter_nd": (lambda i, x: tf.scatter_nd(i, x, [3]), [places(FAR)[:, None], ones(1)]),
    "tensor_scatter": (tf.tensor_scatter_update, [ones(3), places(-5)[:, None], ones(1)]),
    "segments below": (tf.segment_sum, [ones(3, 2), places(0, 1, -7)]),
    "more segments than rows": (tf.segment_sum, [ones(3, 2), places(0, 1, 1, 1, 1, 1)]),
    "unsorted segments": (
        lambda x, i: tf.unsorted_segment_sum(x, i, 2),
        [ones(3, 2), places(0, 1, FAR)],
    ),
    "sparse segments": (
        tf.sparse_segment_sum,
        [ones(3, 2), places(0, FAR), places(0, 1)],
    ),
    "partitions": (
        lambda x, i: tf.dynamic_partition(x, i, 2)[0],
        [ones(3), places(0, 1, FAR)],
    ),
    "stitching": (lambda i, x: tf.dynamic_stitch([i], [x]), [places(0, -4), ones(2, 2)]),
    "labels": (
        lambda x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=i, logits=x),
        [ones(2, 3), places(0, FAR)],
    ),
    "inner sizes": (tf.matmul, [ones(2, 3), ones(4, 5)]),
    "scales": (
        lambda x, s, o: tf.nn.fused_batch_norm(x, s, o)[0],
        [ones(1, 2, 2, 64), ones(3), ones(64)],
    ),
    "biases": (tf.nn.bias_add, [ones(2, 64), ones(3)]),
    "filters": (
        lambda x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"),
        [ones(1, 4, 4, 8), ones(3, 3, 3, 2)],
    ),
    "slices": (lambda x, at: tf.slice(x, at, [2]), [ones(4), places(FAR)]),
    "slice gradients": (
        lambda dy: raw.StridedSliceGrad([4], [0], [4], [1], dy),
        [ones(90)],
    ),
    "places of maxima": (
        lambda *arrays: raw.MaxPoolGradWithArgmax(*arrays, **_POOL),
        [ones(1, 4, 4, 1), ones(1, 2, 2, 1), np.full((1, 2, 2, 1), 10**9, np.int64)],
    ),
}


@pytest.mark.parametrize("mode", ["always", "auto", "never"])
@pytest.mark.parametrize("case", list(CASES))
def test_what_does_not_fit_is_refused(case: str, mode: str) -> None:
    build, arrays = CASES[case]
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as sess:
        feeds = [tf.placeholder(array.dtype, None) for array in arrays]
        out = build(*feeds)
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(out, dict(zip(feeds, arrays, strict=True)))


@pytest.mark.parametrize("mode", ["always", "never"])
@pytest.mark.parametrize(
    "update",
    [
        lambda v, i: tf.scatter_update(v, i, ones(1, 2)),
        lambda v, i: tf.scatter_add(v, i, ones(1, 2)),
        lambda v, i: raw.SparseApplyAdagrad(v, v, 0.1, ones(1, 2), i),
        lambda v, i: raw.SparseApplyMomentum(v, v, 0.1, ones(1, 2), i, 0.9),
        lambda v, i: raw.ApplyGradientDescent(
            v, 0.1, tf.placeholder_with_default(ones(90, 2), None)
        ),
    ],
    ids=["update", "add", "adagrad", "momentum", "descent"],
)
def test_variables_are_not_written_beyond(update: Callable[..., Any], mode: str) -> None:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as sess:
        variable = tf.Variable(ones(3, 2))
        sess.run(variable.initializer)
        index = tf.placeholder(tf.int32, None)
        out = update(variable, index)
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(out, {index: places(FAR)})
        assert sess.run(variable).tolist() == ones(3, 2).tolist()


@pytest.mark.parametrize("operation", [lambda a: a // a, lambda a: a % a, lambda a: 7 // a])
def test_a_size_that_may_be_zero_divides_under_a_guard(operation):
    """A plan that was made where it is not zero does not serve where it is."""
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            x = tf.placeholder(tf.float32, [None])
            y = tf.reduce_sum(x) + tf.cast(operation(tf.shape(x)[0] - 2), tf.float32)
            first = session.run(y, {x: np.ones(5)})
            with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
                session.run(y, {x: np.ones(2)})
            assert session.run(y, {x: np.ones(5)}) == first
