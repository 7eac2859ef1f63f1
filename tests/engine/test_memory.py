# SPDX-License-Identifier: Apache-2.0
"""Memory for values: what was given back is used again, and not too much is kept."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import memory
from numbaflow.engine.memory import copy_of, keeps_lock, put, put_rows

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


# Copies of small arrays, which keep the interpreter's lock: the same as NumPy's.

KINDS = [np.uint8, np.bool_, np.float32, np.complex128, tf.bfloat16.as_numpy_dtype]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (3,), (501,), (30, 40), (200, 100)])
def test_a_copy_is_of_its_own_memory(kind: type, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(kind)
    for value in (array, array.T):
        found = copy_of(value)
        assert found.dtype == value.dtype and found.shape == value.shape
        assert not np.shares_memory(found, value) and found.flags.writeable
        assert found.tobytes() == value.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_are_written_over_others(kind: type) -> None:
    array = np.arange(1200).reshape(30, 40).astype(kind)
    other = np.asarray(array.T.copy().T)  # not contiguous
    for value in (array, other, array[:3, :4], array[0, 0]):
        target = np.zeros(value.shape, kind)
        put(target, value)
        assert target.tobytes() == value.tobytes()
        assert not np.shares_memory(target, value)
    widened = np.zeros((30, 40), np.complex128)
    put(widened, array)
    assert widened[2, 3] == complex(array[2, 3])


def test_numpy_keeps_the_lock_for_a_few_elements() -> None:
    assert keeps_lock(np.zeros(500)) and not keeps_lock(np.zeros(501, np.uint8))


def test_what_is_no_array_becomes_one() -> None:
    assert copy_of(np.float32(2.5)).shape == ()
    texts = np.array([b"a", b"bc"] * 300, object)
    assert copy_of(texts).tolist() == texts.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_a_middling_size_are_put_in_place(kind: type) -> None:
    rows = [np.arange(600).reshape(20, 30).astype(kind) + np.array(i, kind) for i in range(4)]
    result = np.zeros((4, 20, 30), kind)
    assert put_rows(result, rows)
    assert result.tobytes() == np.stack(rows).tobytes()


def test_other_rows_are_left_to_numpy() -> None:
    whole = np.zeros((2, 600), np.float32)
    small, other = np.zeros(4, np.float32), np.zeros(600)
    odd = np.zeros(1200, np.float32)[::2]
    assert not put_rows(whole, [])
    assert not put_rows(whole[:, :4], [small, small])
    assert not put_rows(whole, [other, other])
    assert not put_rows(whole, [whole[0], odd])
    assert not put_rows(np.zeros((600, 2), np.float32).T, [whole[0], whole[1]])
    assert not put_rows(whole, [whole[0]])
    assert not whole.any()
