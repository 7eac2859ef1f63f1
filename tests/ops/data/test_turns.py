# SPDX-License-Identifier: Apache-2.0
"""Datasets that take turns, read in blocks: in the order of single elements, and from any place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.data.runtime import choosing, interleaved_blocks

from .draining import all_of

pytestmark = pytest.mark.cpu

experimental = tf.data.experimental
# Of a choice among three, some ended before they are chosen again.
_CHOICES = [0, 1, 1, 2, 0, 2, 2, 2, 1, 0, 0, 1, 2, 2, 0, 1]


def _sources() -> list[Any]:
    return [
        tf.data.Dataset.range(4),
        tf.data.Dataset.range(100, 109).shuffle(4, seed=3),
        tf.data.Dataset.from_tensor_slices(np.arange(200, 203)).repeat(2),
    ]


def _chosen() -> Any:
    choices = tf.data.Dataset.from_tensor_slices(np.array(_CHOICES, np.int64))
    return experimental.choose_from_datasets(_sources(), choices)


def _sampled() -> Any:
    return experimental.sample_from_datasets(_sources(), [0.2, 0.5, 0.3], seed=7)


def _older() -> Any:
    starts = tf.data.Dataset.range(5)
    turns = experimental.parallel_interleave(
        lambda i: tf.data.Dataset.range(10 * i, 11 * i + 2), cycle_length=3, block_length=2
    )
    return starts.apply(turns)


_PIPELINES = [_chosen, _sampled, _older]


def _begun(dataset: Any) -> tuple[Any, Any]:
    iterator = tf.data.make_initializable_iterator(dataset)
    return iterator, iterator.get_next()


def _all(dataset: Any) -> list[Any]:
    iterator, element = _begun(dataset)
    with tf.Session() as session:
        session.run(iterator.initializer)
        return all_of(session, element)


def _one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has turns be read element by element."""
    monkeypatch.setattr(
        choosing,
        "InterleavedBlocks",
        lambda turns: choosing.Interleaved(turns),
    )


@pytest.mark.parametrize("pipeline", _PIPELINES)
@pytest.mark.parametrize("size", [1, 3, 50])
def test_blocks_have_the_order_of_single_elements(
    pipeline: Callable[[], Any], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    block = interleaved_blocks.InterleavedBlocks.read_block
    monkeypatch.setattr(
        interleaved_blocks.InterleavedBlocks,
        "read_block",
        lambda self, count: (read.append(count), block(self, count))[1],
    )
    with tf.Graph().as_default():
        in_blocks = [each for batch in _all(pipeline().batch(size)) for each in batch.tolist()]
    assert read
    _one_by_one(monkeypatch)
    with tf.Graph().as_default():
        singles = [each.item() for each in _all(pipeline())]
    assert in_blocks == singles and len(singles) > 8


def test_what_has_ended_is_passed_over() -> None:
    with tf.Graph().as_default():
        found = [each.item() for each in _all(_chosen())]
    left = [iter(range(4)), None, iter([200, 201, 202, 200, 201, 202])]
    second = iter([each for each in found if 100 <= each < 200])
    expected = [next(left[i] or second, None) for i in _CHOICES]
    assert found == [each for each in expected if each is not None]


@pytest.mark.parametrize("pipeline", _PIPELINES)
@pytest.mark.parametrize("before", [0, 1, 4, 9, 14])
def test_a_restored_iterator_goes_on(
    pipeline: Callable[[], Any], before: int, tmp_path: Path
) -> None:
    path = str(tmp_path / "input")
    with tf.Graph().as_default(), tf.Session() as session:
        iterator, element = _begun(pipeline())
        saver = tf.train.Saver([experimental.make_saveable_from_iterator(iterator)])
        session.run(iterator.initializer)
        for _ in range(before):
            session.run(element)
        saver.save(session, path)
        expected = all_of(session, element)
    with tf.Graph().as_default(), tf.Session() as session:
        iterator, element = _begun(pipeline())
        saver = tf.train.Saver([experimental.make_saveable_from_iterator(iterator)])
        session.run(iterator.initializer)
        saver.restore(session, path)
        assert all_of(session, element) == expected


def test_a_selector_out_of_range_is_an_error() -> None:
    choices = tf.data.Dataset.from_tensor_slices(np.array([0, 3], np.int64))
    iterator, element = _begun(experimental.choose_from_datasets(_sources(), choices))
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert session.run(element) == 0
        with pytest.raises(tf.errors.InvalidArgumentError, match="index out of range: 3 >= 3"):
            session.run(element)


def test_what_cannot_begin_fails_in_its_turn() -> None:
    counts = tf.data.Dataset.from_tensor_slices(["3", "none", "2"])
    turns = experimental.parallel_interleave(
        lambda text: tf.data.Dataset.range(tf.strings.to_number(text, tf.int64)), cycle_length=2
    )
    iterator, element = _begun(counts.apply(turns))
    found: list[Any] = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        while True:
            try:
                found.append(session.run(element).item())
            except tf.errors.InvalidArgumentError:
                found.append("none")
            except tf.errors.OutOfRangeError:
                break
    # As in TensorFlow 1.15.5.
    assert found == [0, "none", 1, 2, 0, 1]
