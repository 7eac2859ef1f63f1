# SPDX-License-Identifier: Apache-2.0
"""Memory for values: what was given back is used again, and not too much is kept."""

from __future__ import annotations

import numpy as np
import pytest

from numbaflow.engine import memory

pytestmark = pytest.mark.pure


def test_memory_that_was_given_back_is_used_again_by_what_fits_in_it() -> None:
    kind = np.dtype(np.float32)
    first = memory.recycled_empty((300, 300), kind)
    assert first.ctypes.data % memory.ALIGNMENT == 0 and first.shape == (300, 300)
    part, place = first[5], first.ctypes.data
    del first
    other = memory.recycled_empty((300, 300), kind)
    assert other.ctypes.data != place  # a part of the first is still there
    del part
    again = memory.recycled_empty((299, 300), kind)
    assert again.ctypes.data == place
    assert memory.recycled_empty((10, 300), kind).ctypes.data != place


def test_no_more_memory_is_kept_than_is_said() -> None:
    kind = np.dtype(np.uint8)
    large = [memory.recycled_empty((memory._MOST_KEPT // 3,), kind) for _ in range(5)]
    small = [memory.recycled_empty((memory._LEAST_KEPT,), kind) for _ in range(80)]
    del large, small
    kept = [piece for pieces in memory._KEPT.values() for piece in pieces]
    assert sum(piece.nbytes for piece in kept) <= memory._MOST_KEPT
    assert memory.recycled_empty((memory._MOST_KEPT,), kind).nbytes == memory._MOST_KEPT


def test_pieces_of_few_sizes_are_kept() -> None:
    kind = np.dtype(np.uint8)
    for i in range(4 * memory._MOST_SIZES):
        memory.recycled_empty((memory._LEAST_KEPT + i * memory._LEAST_KEPT // 2,), kind)
        assert len(memory._KEPT) <= memory._MOST_SIZES
        assert sum(map(len, memory._KEPT.values())) > 0


def test_an_address_is_that_of_the_interface() -> None:
    arrays = [
        np.arange(5),
        np.zeros((3, 4), np.uint8)[1:, 2:],
        np.array(b"text", object),
        np.frombuffer(b"only to read", np.uint8),
        np.zeros(3, np.complex64)[::-1],
    ]
    for array in arrays:
        assert memory.address_of(array) == array.__array_interface__["data"][0]
    assert memory._PLACE is not None
