# SPDX-License-Identifier: Apache-2.0
"""Weighted alternating least squares: the factors that 1.15.5 finds, and the equations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.public import raw

pytestmark = pytest.mark.cpu

_ROW_START = np.float32([[1, 0], [0.5, -1], [0, 2]])
_COL_START = np.float32([[0.5, 1], [-1, 0.25]])
_MATRIX = np.float32([[1, 0], [0, -2], [3, 0.5]])
# Arguments -> the loss and the factors of rows after ten sweeps, by TensorFlow 1.15.5.
_FOUND: tuple[tuple[dict[str, Any], float, list[list[float]]], ...] = (
    ({}, 0.0, [[0.22222, 0.88889], [1.77778, -0.88889], [0.22222, 2.88889]]),
    (
        {"row_weights": None, "col_weights": None, "regularization_coeff": 0.01},
        0.023155,
        [[0.22597, 0.66644], [1.43063, -0.57332], [0.32024, 2.14265]],
    ),
    (
        {"num_row_shards": 2, "row_init": [_ROW_START[:2], _ROW_START[2:]]},
        0.0,
        [[0.22222, 0.88889], [1.77778, -0.88889], [0.22222, 2.88889]],
    ),
)


def _elements() -> tuple[tf.SparseTensor, tf.SparseTensor]:
    rows, cols = np.nonzero(_MATRIX)
    values = _MATRIX[rows, cols]
    order = np.lexsort((rows, cols))
    first = tf.SparseTensor(np.stack([rows, cols], 1), values, _MATRIX.shape)
    second = np.stack([cols, rows], 1)[order]
    return first, tf.SparseTensor(second, values[order], _MATRIX.shape[::-1])


def _input() -> tuple[dict[str, Any], None]:
    wals = tf.contrib.factorization.WALSMatrixFactorization
    rows, cols = _elements()
    features = {wals.INPUT_ROWS: rows, wals.INPUT_COLS: cols, wals.PROJECT_ROW: tf.constant(True)}
    return features, None


@pytest.mark.parametrize(("given", "loss", "factors"), _FOUND)
def test_factors_are_those_of_tensorflow(
    given: dict[str, Any], loss: float, factors: list[list[float]], tmp_path: Path
) -> None:
    model = tf.contrib.factorization.WALSMatrixFactorization(
        *(3, 2, 2),
        **{"row_init": _ROW_START, "col_init": _COL_START, **given},
        max_sweeps=10,
        model_dir=str(tmp_path),
    )
    model.fit(input_fn=_input, steps=20)
    found = np.concatenate(model.get_row_factors())
    np.testing.assert_allclose(found, factors, rtol=1e-3, atol=1e-4)
    assert abs(model.evaluate(input_fn=_input, steps=1)["loss"] - loss) < 1e-3
    if not loss:  # Then there is nothing left to gain.
        projected = list(model.get_projections(_input))
        np.testing.assert_allclose(projected, found, rtol=1e-3, atol=1e-4)
    saved = {name for name, _ in tf.train.list_variables(str(tmp_path))}
    assert {"completed_sweeps", "WALS_loss", "WALS_RWSE", "col_gramian", "processed_rows"} <= saved


def test_known_elements_make_the_normal_equations() -> None:
    factors, weights = np.float32([[1, 2], [3, -1]]), np.float32([0.5, 2, 1])
    places = np.array([[0, 1], [2, 0], [2, 1]])
    values = np.float32([4, -1, 2])
    left, right = np.zeros((3, 2, 2)), np.zeros((3, 2))
    for (row, col), value, weight in zip(places, values, weights, strict=True):
        left[row] += weight * np.outer(factors[col], factors[col])
        right[row] += value * (0.25 + weight) * factors[col]
    with tf.Graph().as_default(), tf.Session() as session:
        for transposed in (False, True):
            turned = places[:, ::-1] if transposed else places
            found = session.run(
                raw.WALSComputePartialLhsAndRhs(
                    *(factors, [], 0.25, [], turned, values, weights, 3, transposed)
                )
            )
            np.testing.assert_allclose(found[0], left, rtol=1e-6)
            np.testing.assert_allclose(found[1], right, rtol=1e-6)
        none = np.zeros((0, 2), np.int64)
        found = session.run(
            raw.WALSComputePartialLhsAndRhs(factors, [], 0.25, [], none, [], [], 1, False)
        )
        assert not found[0].any() and found[1].shape == (1, 2)


def test_wrong_weights_and_places_are_refused() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        both = raw.WALSComputePartialLhsAndRhs(
            *([[1.0]], [1.0], 0.1, [1.0], [[0, 0]], [1.0], [1.0], 1, False)
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match="but not both"):
            session.run(both)
        outside = raw.MaskedMatmul([[1.0]], [[2.0]], [[0, 1]], False, False)
        with pytest.raises(tf.errors.InvalidArgumentError, match="column index 1 is not in"):
            session.run(outside)
        with pytest.raises(ValueError, match="Invalid weight initialization argument"):
            tf.contrib.factorization.WALSModel(2, 2, 1, row_weights=-1, col_weights=1)
