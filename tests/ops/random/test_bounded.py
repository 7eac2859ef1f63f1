# SPDX-License-Identifier: Apache-2.0
"""Truncated normal numbers: the same ones however many candidates are drawn at once."""

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.public import raw
from numbaflow.ops.random import bounded

pytestmark = pytest.mark.programs


def draw(shape, parameters):
    with tf.Graph().as_default(), settings.override(jit="never"), tf.Session() as session:
        mean, deviation, low, high = (np.asarray(p, np.float32) for p in parameters)
        sizes = np.array(shape, np.int32)
        y = raw.ParameterizedTruncatedNormal(sizes, mean, deviation, low, high, seed=3, seed2=4)
        return [session.run(y) for _ in range(2)]


# Each bound asks for another of the three methods; the last accepts few candidates.
@pytest.mark.parametrize(
    "parameters", [(0, 1, -2, 2), (0, 1, 1, 1.2), (0, 1, 3, np.inf), (0, 1, -3, -2.9)]
)
def test_batches_do_not_depend_on_what_is_drawn_at_once(parameters, monkeypatch):
    first, second = draw([1050], parameters)
    assert (first >= parameters[2]).all() and (first <= parameters[3]).all()
    assert not np.array_equal(first, second)
    # Chunks of which some are short of a batch, which is then drawn alone.
    monkeypatch.setattr(bounded, "_CHUNK", 40)
    for expected, found in zip((first, second), draw([1050], parameters), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_rows_without_elements_are_nothing():
    first, _ = draw([2, 0], ([0, 1], 1, -1, 1))
    assert first.shape == (2, 0)
