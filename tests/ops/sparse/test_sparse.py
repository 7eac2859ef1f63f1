# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors against what NumPy says of their dense forms; errors; gradients."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.public import raw

pytestmark = pytest.mark.cpu

DENSE = np.array([[0, 1.5, 0, 0], [0, 0, 0, 0], [-2, 0, 0.5, 4]], np.float32)
OTHER = np.array([[1, -1.5, 0, 0], [0, 2, 0, 0], [0, 0, 3, 0]], np.float32)


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def sparse(dense=DENSE):
    return tf.sparse.from_dense(dense)


def dense_of(result):
    return tf.sparse.to_dense(result) if isinstance(result, tf.SparseTensor) else result


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda a, b: a, DENSE),
        (lambda a, b: tf.sparse.add(a, b), DENSE + OTHER),
        (lambda a, b: tf.sparse.add(a, OTHER), DENSE + OTHER),
        (lambda a, b: tf.sparse.maximum(a, b), np.maximum(DENSE, OTHER)),
        (lambda a, b: tf.sparse.minimum(a, b), np.minimum(DENSE, OTHER)),
        (lambda a, b: tf.sparse.transpose(a), DENSE.T),
        (lambda a, b: tf.sparse.reshape(a, [2, -1]), DENSE.reshape(2, 6)),
        (lambda a, b: tf.sparse.expand_dims(a, 1), DENSE[:, None]),
        (lambda a, b: tf.sparse.concat(1, [a, b]), np.concatenate([DENSE, OTHER], 1)),
        (lambda a, b: tf.sparse.slice(a, [1, 1], [2, 9]), DENSE[1:, 1:]),
        (
            lambda a, b: tf.sparse.split(sp_input=a, num_split=3, axis=1)[0],
            np.split(DENSE, [2, 3], 1)[0],
        ),
        (lambda a, b: tf.sparse.reduce_sum(a, 1), DENSE.sum(1)),
        (lambda a, b: tf.sparse.reduce_sum(a, [0, -1], keepdims=True), DENSE.sum(keepdims=True)),
        (lambda a, b: tf.sparse.reduce_sum_sparse(a, 0), DENSE.sum(0)),
        (lambda a, b: tf.sparse.reduce_max(a, 0), [-2, 1.5, 0.5, 4]),
        (lambda a, b: tf.sparse.reset_shape(a, [4, 5]), np.pad(DENSE, [(0, 1), (0, 1)])),
        (lambda a, b: tf.sparse.retain(a, [False, True, True, True]), DENSE * (DENSE != 1.5)),
        (lambda a, b: tf.sparse.matmul(a, OTHER, adjoint_b=True), DENSE @ OTHER.T),
        (lambda a, b: tf.sparse.eye(2, 3), np.eye(2, 3)),
    ],
)
def test_agrees_with_the_dense_form(session, function, expected):
    result = session.run(dense_of(function(sparse(), sparse(OTHER))))
    np.testing.assert_allclose(result, expected)


def test_sum_drops_sums_of_two_that_are_below_the_threshold(session):
    """What stands alone stays, however small: as TensorFlow's kernel does."""
    total = session.run(tf.sparse.add(sparse(), sparse(OTHER), threshold=1.8))
    assert total.indices.tolist() == [[0, 0], [1, 1], [2, 0], [2, 2], [2, 3]]
    assert total.values.tolist() == [1, 2, -2, 3.5, 4]


def test_empty_rows_get_the_default(session):
    filled, empty = tf.sparse.fill_empty_rows(sparse(), 7.0)
    assert session.run(empty).tolist() == [False, True, False]
    expected = DENSE.copy()
    expected[1, 0] = 7
    np.testing.assert_array_equal(session.run(tf.sparse.to_dense(filled)), expected)


def test_softmax_is_over_present_entries(session):
    values = session.run(tf.sparse.softmax(sparse()).values)
    powers = np.exp([-2, 0.5, 4])
    np.testing.assert_allclose(values, [1, *(powers / powers.sum())], rtol=1e-6)


def test_indicator(session):
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 1], [2, 2])
    result = session.run(tf.sparse.to_indicator(ids, 3))
    assert result.tolist() == [[True, False, True], [False, True, False]]


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ([[0, 1], [0, 1]], r"indices\[1\] = \[0,1\] is repeated"),
        ([[1, 0], [0, 1]], r"indices\[1\] = \[0,1\] is out of order"),
        ([[0, 1], [2, 0]], r"indices\[1\] = \[2,0\] is out of bounds: need 0 <= index < \[2,2\]"),
    ],
)
def test_wrong_indices(session, indices, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(tf.sparse_to_dense(indices, [2, 2], [1.0, 2.0]))


@pytest.mark.cpu
@pytest.mark.parametrize("place", [[0, 9], [0, 10**12], [0, -(10**12)], [10**12, 0]])
@pytest.mark.parametrize("width", [1, 4])
def test_products_read_nothing_that_is_outside(place: list[int], width: int) -> None:
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        indices = tf.placeholder(tf.int64, [None, 2])
        dense = np.ones((3, width), np.float32)
        product = tf.sparse.matmul(tf.SparseTensor(indices, [2.0], [2, 3]), dense)
        assert session.run(product, {indices: [[1, 2]]}).tolist() == [[0.0] * width, [2.0] * width]
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
            session.run(product, {indices: [place]})


def test_wrong_products(session):
    a = tf.SparseTensor(tf.placeholder_with_default(np.array([[0, 9]]), [None, 2]), [1.0], [2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="k .9. from index"):
        session.run(tf.sparse.matmul(a, np.ones((3, 1), np.float32)))
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        tf.sparse.matmul(a, np.ones((2, 1), np.float32))


@pytest.mark.cpu
@pytest.mark.parametrize(
    "function",
    [
        lambda a: tf.sparse.add(a, sparse(OTHER)).values,
        lambda a: tf.sparse.matmul(a, OTHER.T),
        lambda a: tf.sparse.reduce_sum(a, 1),
        lambda a: tf.sparse.slice(a, [0, 1], [3, 3]).values,
        lambda a: tf.sparse.softmax(a).values,
        lambda a: tf.sparse.to_dense(a),
        lambda a: tf.sparse.reorder(a).values,
        lambda a: tf.sparse.fill_empty_rows(a, 1.0)[0].values,
    ],
)
def test_gradients(session, function):
    values = tf.constant([1.5, -2.0, 0.5, 4.0])
    indices = [[0, 1], [2, 0], [2, 2], [2, 3]]
    result = function(tf.SparseTensor(indices, values, [3, 4]))
    shape = session.run(tf.shape(result)).tolist()
    error = tf.test.compute_gradient_error(values, [4], result, shape, delta=1e-2)
    assert error < 1e-2


@pytest.mark.cpu
@pytest.mark.parametrize("kind", [tf.string, tf.variant])
def test_serialization_goes_there_and_back(session, kind):
    from numbaflow.ops.sparse.serialize import deserialize_sparse

    boxed = tf.serialize_sparse(sparse(), out_type=kind)
    again = deserialize_sparse(boxed, tf.float32, rank=2)
    np.testing.assert_array_equal(session.run(tf.sparse.to_dense(again)), DENSE)
    rows = tf.serialize_many_sparse(sparse(), out_type=kind)
    again = deserialize_sparse(rows, tf.float32, rank=2)
    np.testing.assert_array_equal(session.run(tf.sparse.to_dense(again)), DENSE)


@pytest.mark.cpu
def test_serialized_tensors_must_agree(session):
    rows = tf.serialize_many_sparse(sparse())
    with pytest.raises(tf.errors.InvalidArgumentError, match="Requested SparseTensor of type"):
        session.run(tf.deserialize_many_sparse(rows, tf.int32).values)
    with pytest.raises(tf.errors.InvalidArgumentError, match="3 as the last dimension"):
        session.run(tf.deserialize_many_sparse(rows[:, :2], tf.float32).values)


def test_the_quotient_of_large_integers_is_exact(session):
    large = 2**53 + 1
    values = np.array([[large, -7]], np.int64)
    given = sparse(values)
    entries = given.indices, given.values, given.dense_shape
    quotient = raw.SparseDenseCwiseDiv(*entries, np.array([[1, 2]], np.int64))
    assert session.run(quotient).tolist() == [large, -3]
