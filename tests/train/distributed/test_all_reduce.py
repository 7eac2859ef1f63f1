# SPDX-License-Identifier: Apache-2.0
"""All ways to reduce tensors of several devices give each of these the reduction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.contrib import all_reduce as contrib_all_reduce
from numbaflow.train.distributed import all_reduce, nccl_ops

pytestmark = pytest.mark.cpu
PLACES = [f"/job:localhost/replica:0/task:0/device:CPU:{place}" for place in range(4)]
SERVERS = PLACES[:2]


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _inputs(shape: tuple[int, ...], places: list[str] = PLACES) -> tuple[np.ndarray, list[Any]]:
    values = np.random.RandomState(0).rand(4, *shape).astype(np.float32)
    tensors = []
    for place, value in zip(places, values):
        with tf.device(place):
            tensors.append(tf.constant(value))
    return values, tensors


def _session() -> Any:
    return tf.Session(config=tf.ConfigProto(device_count={"CPU": 4}))


WAYS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "ring": lambda x: all_reduce.build_ring_all_reduce(x, 2, 1, [0, 1], tf.add, tf.negative),
    "ring in parts": lambda x: all_reduce.build_ring_all_reduce(
        x, 2, 2, [1, 0], tf.add, tf.negative
    ),
    "halves": lambda x: all_reduce.build_recursive_hd_all_reduce(x, tf.add, tf.negative),
    "others": lambda x: all_reduce.build_shuffle_all_reduce(x, SERVERS, tf.add_n, tf.negative),
    "library": lambda x: all_reduce.build_nccl_all_reduce(x, tf.add, tf.negative),
    "library, ring": lambda x: all_reduce.build_nccl_then_ring(x, 1, tf.add, tf.negative),
    "library, halves": lambda x: all_reduce.build_nccl_then_recursive_hd(x, tf.add, tf.negative),
    "library, others": lambda x: all_reduce.build_nccl_then_shuffle(
        x, SERVERS, tf.add, tf.add_n, tf.negative
    ),
    "others, ring": lambda x: all_reduce.build_shuffle_then_ring(
        x, SERVERS[:1], 1, tf.add_n, tf.add, tf.negative
    ),
    "others, others": lambda x: all_reduce.build_shuffle_then_shuffle(
        x, SERVERS[:1], SERVERS, tf.add_n, tf.negative
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_device_has_the_sum(way: str) -> None:
    values, tensors = _inputs((4, 8))
    results = WAYS[way](tensors)
    assert len(results) == 4
    with _session() as session:
        for result in session.run(results):
            np.testing.assert_allclose(result, -values.sum(0), rtol=1e-5)


def test_tasks_reduce_within_and_then_among_themselves() -> None:
    places = [f"/job:worker/replica:0/task:{i // 2}/device:CPU:{i % 2}" for i in range(4)]
    _, tensors = _inputs((2, 4), places)
    servers = [places[0], places[2]]
    for results in (
        all_reduce.build_nccl_then_ring(tensors, 1, tf.add),
        all_reduce.build_shuffle_then_ring(tensors, servers, 1, tf.add_n, tf.add),
        all_reduce.build_shuffle_then_shuffle(tensors, servers, servers, tf.add_n),
    ):
        assert [result.device for result in results] == places
        assert {tuple(result.shape.as_list()) for result in results} == {(2, 4)}


@pytest.mark.parametrize("length", [1, 5, 7, 9, 16, 23])
def test_rings_pad_what_cannot_be_shared_out(length: int) -> None:
    values, tensors = _inputs((length,))
    results = all_reduce.build_ring_all_reduce(tensors, 1, 2, [0, 1, 2, 3], tf.add)
    with _session() as session:
        for result in session.run(results):
            np.testing.assert_allclose(result, values.sum(0), rtol=1e-5)


def test_reductions_lie_where_the_tensors_lie_and_have_gradients() -> None:
    values, tensors = _inputs((3,))
    sums = nccl_ops.all_sum(tensors)
    # Devices are named in full.
    assert [tensor.device for tensor in sums] == [tensor.device for tensor in tensors]
    greatest, least, product = (
        function(tensors)[0] for function in (nccl_ops.all_max, nccl_ops.all_min, nccl_ops.all_prod)
    )
    (slope,) = tf.gradients(sums[0] * sums[1], [tensors[2]])
    one = nccl_ops.broadcast(tensors[0])
    with _session() as session:
        found = session.run([greatest, least, product, slope, one, nccl_ops.reduce_sum(tensors)])
    total = values.sum(0)
    expected = [values.max(0), values.min(0), values.prod(0), 2 * total, values[0], total]
    for mine, theirs in zip(found, expected):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)


def test_what_is_refused() -> None:
    _, tensors = _inputs((3,))
    with pytest.raises(ValueError, match="length 2 or longer"):
        all_reduce.build_ring_all_reduce(tensors[:1], 1, 1, [0], tf.add)
    with pytest.raises(ValueError, match="must be a power of 2"):
        all_reduce.build_recursive_hd_all_reduce(tensors[:3], tf.add)
    with pytest.raises(ValueError, match="num_subchunks 3 must be <= num_gpus 2"):
        all_reduce.build_ring_all_reduce(tensors, 2, 3, [0, 1], tf.add)
    with pytest.raises(ValueError, match="one device per worker"):
        all_reduce.build_shuffle_then_ring(tensors, SERVERS, 1, tf.add_n, tf.add)
    with pytest.raises(ValueError, match="statically known shape"):
        all_reduce.build_shuffle_all_reduce([tf.placeholder(tf.float32, [None])], SERVERS, tf.add_n)
    with pytest.raises(ValueError, match="not supported by NCCL"):
        all_reduce.build_nccl_all_reduce(tensors, tf.multiply)
    with pytest.raises(ValueError, match="Device assignment required"):
        nccl_ops.all_sum([tf.constant(1.0)])
    with pytest.raises(ValueError, match=">0 tensors"):
        nccl_ops.reduce_sum([])


def test_the_old_place_has_the_same_functions() -> None:
    for name in contrib_all_reduce.__all__:
        assert getattr(contrib_all_reduce, name) is getattr(all_reduce, name)
