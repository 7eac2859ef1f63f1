# SPDX-License-Identifier: Apache-2.0
"""Streams of quantiles: ranks within their bound, and TensorFlow's summaries."""

from __future__ import annotations

import numpy as np
import pytest

from numbaflow.ops.trees.quantiles import (
    Stream,
    boundaries,
    compressed,
    error_of,
    merged,
    quantiles,
    summarize,
)

pytestmark = pytest.mark.pure


def test_summaries_merge_by_rank() -> None:
    a = summarize(np.float32([4, 1, 1]), np.float32([2, 1, 2]))
    b = summarize(np.float32([3, 4, 9]), np.float32([1, 1, 0]))
    assert a.tolist() == [[1, 3, 0, 3], [4, 2, 3, 5]]
    assert b.tolist() == [[3, 1, 0, 1], [4, 1, 1, 2]]
    # The example of TensorFlow's comments.
    assert merged(a, b).tolist() == [[1, 3, 0, 3], [3, 1, 3, 4], [4, 3, 4, 7]]


@pytest.mark.parametrize("error", [0.01, 0.1])
def test_ranks_keep_their_bound(error: float) -> None:
    random = np.random.RandomState(0)
    values, weights = random.randn(5000).astype(np.float32), random.rand(5000).astype(np.float32)
    stream = Stream(error, 5001)
    stream.push_values(values, weights)
    summary = stream.finish()
    assert error_of(summary) <= error and len(summary) < 5000
    order = np.argsort(values)
    ranks = np.cumsum(weights[order])
    found = ranks[np.searchsorted(values[order], summary[:, 0])]
    slack = error * ranks[-1]
    assert (summary[:, 2] <= found + slack).all() and (found - slack <= summary[:, 3]).all()
    tenths = quantiles(summary, 11)
    assert len(tenths) == 11
    shares = np.interp(tenths, values[order], ranks / ranks[-1])
    np.testing.assert_allclose(shares, np.linspace(0, 1, 11), atol=2 * error)


def test_boundaries_keep_the_ends_and_differ() -> None:
    summary = summarize(np.float32([5, 5, 1, 2, 3, 4, 2]), np.ones(7, np.float32))
    assert boundaries(summary, 2).tolist() == [1, 4, 5]
    assert boundaries(summary, 100).tolist() == [1, 2, 3, 4, 5]
    whole = summarize(np.arange(100, dtype=np.float32), np.ones(100, np.float32))
    few = compressed(whole, 10, 0.0)
    assert few[0, 0] == 0 and few[-1, 0] == 99 and 10 <= len(few) <= 21


def test_a_stream_ends_once() -> None:
    stream = Stream(0.1, 10)
    assert stream.finish().shape == (0, 4)
    with pytest.raises(Exception, match="may only be called once"):
        stream.finish()
