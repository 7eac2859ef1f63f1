# SPDX-License-Identifier: Apache-2.0
"""TensorArrays whose elements have other numbers of rows each, in one plan, and their gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

RNG = np.random.default_rng(8)


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def rows(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def both(fetches: Any, feeds: list[dict[Any, Any]], is_whole: bool = True) -> None:
    """Runs give what reference kernels give, and as one plan."""
    found = []
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found.append([session.run(fetches, feed) for feed in feeds])
            if mode == "always" and is_whole:
                text = str(session.explain(fetches, feeds[0]))
                assert "piece by piece" not in text and "Not compiled" not in text
    for want, got in zip(*found, strict=True):
        for one, other in zip(want, got, strict=True):
            assert np.shape(one) == np.shape(other)
            np.testing.assert_allclose(other, one, rtol=2e-5, atol=1e-5)


def array(size: Any, **options: Any) -> Any:
    return tf.TensorArray(tf.float32, size, infer_shape=False, **options)


def written(x: Any, w: Any, held: Any) -> Any:
    """An array that has of each matrix the rows that begin with a positive number."""

    def body(i: Any, held: Any) -> Any:
        return i + 1, held.write(i, tf.matmul(tf.boolean_mask(x[i], x[i, :, 0] > 0), w))

    return tf.while_loop(lambda i, _: i < tf.shape(x)[0], body, (0, held))[1]


def of_rows(piece: Any) -> Any:
    return tf.reshape(piece, [-1, 3])


@pytest.mark.parametrize("grows", [False, True])
def test_pieces_are_put_behind_one_another(grows: bool) -> None:
    x, w = tf.placeholder(tf.float32, [None, 7, 2]), tf.Variable(rows(2, 3))
    held = array(0, dynamic_size=True) if grows else array(tf.shape(x)[0])
    together = of_rows(written(x, w, held).concat())
    loss = tf.reduce_sum(tf.square(together) * tf.cumsum(tf.ones_like(together)))
    # Of none, of some, and of other numbers of matrices; and none has a row.
    feeds = [{x: rows(n, 7, 2)} for n in (5, 5, 8, 3)] + [{x: -np.abs(rows(4, 7, 2))}]
    both([together, loss, *tf.gradients(loss, [w, x])], feeds)


@pytest.mark.parametrize("clears", [False, True])
def test_pieces_are_read_one_by_one(clears: bool) -> None:
    x, w = tf.placeholder(tf.float32, [None, 7, 2]), tf.Variable(rows(2, 3))
    count = tf.shape(x)[0]
    held = written(x, w, array(count, clear_after_read=clears))

    def body(i: Any, total: Any) -> Any:
        return i + 1, total * 0.5 + tf.reduce_sum(tf.tanh(of_rows(held.read(count - 1 - i))), 0)

    total = tf.while_loop(lambda i, _: i < count, body, (0, tf.zeros([3])))[1]
    # (What may be read twice has gradients that may have to be added up.)
    feeds = [{x: rows(n, 7, 2)} for n in (5, 5, 8)]
    both([total, *tf.gradients(total, [w, x])], feeds, is_whole=clears)


def test_parts_are_of_several_sizes() -> None:
    x, lengths = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [None])
    w, count = tf.Variable(rows(2, 3)), tf.shape(lengths)[0]
    held = array(count).split(x, lengths)

    def body(i: Any, out: Any) -> Any:
        piece = tf.reshape(held.read(i), [-1, 2])
        return i + 1, out.write(i, tf.reduce_sum(tf.tanh(tf.matmul(piece, w)), 0))

    loop = tf.while_loop(lambda i, _: i < count, body, (0, tf.TensorArray(tf.float32, count)))
    found = loop[1].stack()
    feeds = [{x: rows(9, 2), lengths: n} for n in ([2, 3, 4], [0, 9], [1, 8, 0, 0])]
    both([found, *tf.gradients(found * found, [w, x])], feeds)


def test_parts_that_are_not_all_rows_are_refused() -> None:
    x, lengths = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [None])
    total = array(tf.shape(lengths)[0]).split(x, lengths).concat()
    with settings.override(jit="always"), tf.Session() as session:
        assert session.run(total, {x: rows(4, 2), lengths: [1, 3]}).shape == (4, 2)
        for wrong in ([1, 2], [3, 2], [5, -1], [2**31 - 1, 2**31 - 1]):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(total, {x: rows(4, 2), lengths: wrong})
        assert session.run(total, {x: rows(5, 2), lengths: [0, 5]}).shape == (5, 2)


def test_what_was_not_written_is_not_put_together() -> None:
    x, n = tf.placeholder(tf.float32, [None, 7, 2]), tf.placeholder(tf.int32, [])
    held = written(x, tf.Variable(rows(2, 3)), array(n))
    fetches = of_rows(held.concat()), held.size()
    with settings.override(jit="always"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(fetches, {x: rows(3, 7, 2), n: 3})[1] == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="oncat"):
            session.run(fetches, {x: rows(3, 7, 2), n: 4})
        with pytest.raises(tf.errors.InvalidArgumentError, match="index 3"):
            session.run(fetches, {x: rows(4, 7, 2), n: 3})


def test_what_was_not_written_is_not_read() -> None:
    x, i = tf.placeholder(tf.float32, [None, 7, 2]), tf.placeholder(tf.int32, [])
    held = written(x, tf.Variable(rows(2, 3)), array(tf.shape(x)[0] + 1))
    with settings.override(jit="always"), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        piece = of_rows(held.read(i))
        assert session.run(piece, {x: rows(3, 7, 2), i: 2}).shape[1] == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="index 3"):
            session.run(piece, {x: rows(3, 7, 2), i: 3})


def test_sizes_learnt_behind_a_loop_lie_where_they_lay() -> None:
    x, w = tf.placeholder(tf.float32, [None, 7, 2]), tf.Variable(rows(2, 3))
    together = of_rows(written(x, w, array(tf.shape(x)[0])).concat())
    chosen = tf.boolean_mask(together, together[:, 0] > 0)

    def body(i: Any, total: Any) -> Any:
        row = tf.reduce_sum(tf.boolean_mask(x[i], x[i, :, 1] > 0))
        return i + 1, total + row * tf.reduce_sum(chosen)

    total = tf.while_loop(lambda i, _: i < tf.shape(x)[0], body, (0, 0.0))[1]
    feeds = [{x: rows(n, 7, 2)} for n in (4, 4, 4, 9, 2, 4)]
    both([together, chosen, total, *tf.gradients(total, w)], feeds)
