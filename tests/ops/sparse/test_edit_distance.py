# SPDX-License-Identifier: Apache-2.0
"""Numbers of changes between the rows of sparse tensors, as TensorFlow 1.15.5 counts them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default(), settings.override(jit="never"):
        yield


def _run(fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


def _sparse(rows: np.ndarray) -> tf.SparseTensor:
    return tf.SparseTensor(np.argwhere(rows >= 0), rows.ravel(), rows.shape)


def test_texts_of_rows_that_one_side_may_not_have() -> None:
    found = tf.SparseTensor(
        [[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 2, 0]], ["a", "b", "c", "a"], [2, 3, 2]
    )
    wanted = tf.SparseTensor(
        [[0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 0, 2], [1, 1, 0]],
        ["a", "b", "x", "c", "a"],
        [2, 2, 3],
    )
    distance = tf.edit_distance(found, wanted)
    assert distance.shape.as_list() == [2, 3]
    shares, counts = _run([distance, tf.edit_distance(found, wanted, normalize=False)])
    np.testing.assert_allclose(shares, [[np.inf, 1, 0], [1 / 3, 1, np.inf]])
    assert counts.tolist() == [[1, 1, 0], [1, 1, 1]]


def test_long_rows() -> None:
    random = np.random.RandomState(1)
    one, other = random.randint(0, 3, (4, 7)), random.randint(0, 3, (4, 9))
    distance = tf.edit_distance(_sparse(one), _sparse(other), normalize=False)
    assert _run(distance).tolist() == [6, 3, 4, 5]


def test_what_is_refused() -> None:
    rows = _sparse(np.array([[1, 2]]))
    with pytest.raises(TypeError, match="Hypothesis must be a SparseTensor"):
        tf.edit_distance(tf.constant([1]), rows)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Truth must be a SparseTensor"):
        tf.edit_distance(rows, tf.constant([1]))  # type: ignore[arg-type]
    shape = tf.placeholder_with_default(np.array([1]), [1])
    line = tf.SparseTensor([[0]], tf.constant([1]), shape)
    distance = tf.edit_distance(line, line)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have rank at least 2"):
        _run(distance)
