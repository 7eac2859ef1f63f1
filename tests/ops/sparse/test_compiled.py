# SPDX-License-Identifier: Apache-2.0
"""Ops on sparse tensors, compiled: against their reference kernels, with shapes that are fed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime import runner

pytestmark = pytest.mark.cpu
Fed = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def drawn(*shape: int, seed: int = 0, share: float = 0.4, dtype: str = "float32") -> Fed:
    """A sparse tensor with about this share of its places, in order."""
    draws = np.random.default_rng(seed)
    places = np.argwhere(draws.uniform(0, 1, shape) < share)
    values = draws.integers(-3, 4, len(places)).astype(dtype)
    return places, values, np.array(shape, np.int64)


def compare(
    make: Callable[..., Any], *tensors: Fed, turns: int = 1, hosted: bool = False
) -> list[Any]:
    """What compiled runs give, which is what reference kernels give; nothing runs on the host."""
    fed = [tf.sparse_placeholder(values.dtype) for _, values, _ in tensors]
    made = make(*fed)
    fetches = [part for result in made for part in _parts(result)]
    feeds = {}
    for placeholder, given in zip(fed, tensors, strict=True):
        feeds.update(zip(_parts(placeholder), given, strict=True))
    with settings.override(jit="never"), tf.Session() as session:
        want = session.run(fetches, feeds)
    with settings.override(jit="always"), tf.Session() as session:
        run = runner.make_runner(session, session.graph, fetches, [], list(feeds))
        assert isinstance(run, runner.Runner)
        for _ in range(2):
            got = run(list(feeds.values()))
            for actual, expected in zip(got, want, strict=True):
                np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-7)
                assert np.asarray(actual).dtype == np.asarray(expected).dtype
        report = run.explain(list(feeds.values()))
        plans = [report, *report.plans]
        names = [kernel.ops for plan in plans for kernel in plan.kernels if kernel.kind == "host"]
        assert hosted or not names, names
    return got


def _parts(result: Any) -> list[tf.Tensor]:
    if isinstance(result, tf.SparseTensor):
        return [result.indices, result.values, result.dense_shape]
    return [result]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("threshold", [0, 1.5])
def test_sums_of_two(dtype: str, threshold: float) -> None:
    a, c = drawn(4, 6, dtype=dtype), drawn(4, 6, seed=1, dtype=dtype)
    compare(lambda x, y: [tf.sparse_add(x, y, threshold=int(threshold))], a, c)


def test_sums_of_what_is_not_in_order_are_those_of_a_walk() -> None:
    places = np.array([[1, 2], [1, 0], [0, 1]])
    mixed = places, np.array([1.5, -2, 0.25], np.float32), np.array([2, 3])
    other = np.array([[0, 0], [1, 0]]), np.array([4, 2], np.float32), np.array([2, 3])
    indices, values, _ = compare(lambda x, y: [tf.sparse_add(x, y)], mixed, other)
    assert indices.tolist() == [[0, 0], [1, 0], [1, 2], [1, 0], [0, 1]]
    assert values.tolist() == [4, 2, 1.5, -2, 0.25]


@pytest.mark.parametrize("function", [tf.sparse_maximum, tf.sparse_minimum])
def test_extremes_of_two(function: Callable[..., Any]) -> None:
    compare(lambda x, y: [function(x, y)], drawn(3, 5), drawn(3, 5, seed=1))


def test_gradients_of_sums() -> None:
    def make(x: tf.SparseTensor, y: tf.SparseTensor) -> Any:
        total = tf.sparse_add(x, y, threshold=0.5)
        return tf.gradients(tf.reduce_sum(tf.square(total.values)), [x.values, y.values])

    compare(make, drawn(5, 4), drawn(5, 4, seed=1))


def test_softmax_and_its_gradient() -> None:
    def make(x: tf.SparseTensor) -> Any:
        made = tf.sparse_softmax(x)
        return [made, *tf.gradients(tf.reduce_sum(tf.square(made.values)), x.values)]

    compare(make, drawn(5, 7))
    compare(make, drawn(2, 3, 4, seed=2))


def test_softmax_of_what_is_not_in_order_is_in_order() -> None:
    """As TensorFlow gives it, whose kernel sorts a copy of the entries."""
    places = np.array([[1, 0], [0, 1], [1, 2], [0, 0]])
    mixed = places, np.array([1, 2, 3, 4], np.float32), np.array([2, 3])
    made = compare(lambda x: [tf.sparse_softmax(x).values], mixed)
    np.testing.assert_allclose(made[0], [0.8807971, 0.1192029, 0.1192029, 0.8807971], rtol=1e-6)


@pytest.mark.parametrize("shape", [(4, 6), (4, 1), (6,), (1, 6), ()])
@pytest.mark.parametrize("kind", ["mul", "div"])
def test_products_with_what_is_dense(shape: tuple[int, ...], kind: str) -> None:
    dense = tf.constant(np.random.default_rng(5).uniform(1, 2, shape), tf.float32)

    def make(x: tf.SparseTensor) -> Any:
        made = x * dense if kind == "mul" else x / dense
        loss = tf.reduce_sum(tf.square(made.values))
        # (A scalar's own gradient is an op that TensorFlow has for vectors and more.)
        return [made, *tf.gradients(loss, [x.values, dense] if shape else x.values)]

    compare(make, drawn(4, 6))


def test_products_refuse_what_does_not_fit() -> None:
    x, dense = tf.sparse_placeholder(tf.float32), tf.placeholder(tf.float32, [None, None])
    made = (x * dense).values
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            fed = drawn(4, 6)
            with pytest.raises(tf.errors.InvalidArgumentError, match="broadcasts dense to sparse"):
                session.run(made, {x: tf.SparseTensorValue(*fed), dense: np.ones((3, 6))})
            fed[0][-1] = [3, 6]
            with pytest.raises(tf.errors.InvalidArgumentError, match="out-of-bounds"):
                session.run(made, {x: tf.SparseTensorValue(*fed), dense: np.ones((4, 1))})


@pytest.mark.parametrize("axis", [None, 0, 1, -1, [0, 2], [0, 1, 2]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_along_axes(axis: Any, keepdims: bool) -> None:
    # (Without axes it is the graph that computes them from the rank, which is fed.)
    compare(
        lambda x: [tf.sparse_reduce_sum(x, axis, keepdims)], drawn(3, 4, 5), hosted=axis is None
    )


def test_other_orders_and_shapes() -> None:
    places, values, shape = drawn(4, 6)
    turned = places[::-1].copy(), values, shape

    def make(x: tf.SparseTensor) -> Any:
        ordered, weights = tf.sparse_reorder(x), tf.range(3.0, 3.0 + len(values))
        return [
            ordered,
            tf.sparse_transpose(x, [1, 0]),
            tf.sparse_reshape(x, [3, 8]),
            tf.sparse_reshape(x, [2, -1, 4]),
            tf.sparse_reshape(x, [4, 6]),
            *tf.gradients(tf.reduce_sum(ordered.values * weights), x.values),
        ]

    compare(make, turned)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_one_after_the_other(axis: int) -> None:
    compare(lambda x, y: [tf.sparse_concat(axis, [x, y, x])], drawn(4, 4), drawn(4, 4, seed=1))


def test_blocks_and_strips() -> None:
    def make(x: tf.SparseTensor) -> Any:
        block = tf.sparse_slice(x, [1, 2], [2, 9])
        gradient = tf.gradients(tf.reduce_sum(tf.square(block.values)), x.values)
        return [block, *gradient, *tf.sparse_split(sp_input=x, num_split=4, axis=1)]

    places, values, shape = drawn(4, 6)
    sparse = tf.SparseTensor(places, values, shape)
    with tf.Session() as session:
        split = session.run(tf.sparse_split(sp_input=sparse, num_split=4, axis=1))
    assert [part.dense_shape.tolist() for part in split] == [[4, 2], [4, 2], [4, 1], [4, 1]]
    compare(lambda x: make(tf.SparseTensor(x.indices, x.values, shape)), drawn(4, 6))
    compare(lambda x: tf.sparse_split(sp_input=x, num_split=3, axis=0), drawn(5, 6))


@pytest.mark.parametrize("share", [0.0, 0.15, 0.9])
def test_rows_that_are_empty(share: float) -> None:
    def make(x: tf.SparseTensor) -> Any:
        default = tf.constant(7.0)
        filled, empty = tf.sparse_fill_empty_rows(x, default)
        loss = tf.reduce_sum(tf.square(filled.values))
        return [filled, empty, *tf.gradients(loss, [x.values, default])]

    compare(make, drawn(9, 4, share=share), hosted=not share)


def test_rows_outside_are_refused() -> None:
    x = tf.sparse_placeholder(tf.float32)
    filled, _ = tf.sparse_fill_empty_rows(x, 0.0)
    places, values, shape = drawn(3, 3)
    places[-1] = [3, 0]
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            with pytest.raises(tf.errors.InvalidArgumentError, match="is invalid: 3 >= 3"):
                session.run(filled.values, {x: tf.SparseTensorValue(places, values, shape)})
