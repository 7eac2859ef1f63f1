# SPDX-License-Identifier: Apache-2.0
"""Shards, and datasets one behind another, are read in blocks: the same elements, saved or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.data.runtime import concatenating, ordering

from .draining import all_of, left_after

pytestmark = pytest.mark.cpu
D = tf.data.Dataset


def _lines(folder: Path, name: str, count: int) -> Any:
    path = folder / name
    path.write_text("".join(f"{name} {'x ' * (i % 3)}{i}\n" for i in range(count)))
    return tf.data.TextLineDataset(str(path))


def _words(dataset: Any) -> Any:
    return dataset.map(lambda line: tf.string_split([line]).values)


MAKERS: dict[str, Callable[[Path], Any]] = {
    "shards of numbers": lambda _: D.range(3000).filter(lambda i: i % 5 > 0).shard(7, 3),
    "shards of lines": lambda folder: _lines(folder, "a", 500).shard(3, 2),
    "shards of words": lambda folder: _words(_lines(folder, "a", 100)).shard(4, 0),
    "the last shard": lambda _: D.from_tensor_slices(np.arange(10)).shard(11, 10),
    "two files": lambda folder: _lines(folder, "a", 200).concatenate(_lines(folder, "b", 300)),
    "words of two": lambda folder: _words(_lines(folder, "a", 9)).concatenate(
        _words(_lines(folder, "b", 8).skip(2))
    ),
    "again": lambda _: D.range(5).concatenate(D.range(0)).concatenate(D.range(9)).repeat(3),
    "shuffled behind": lambda _: D.range(50).concatenate(D.range(50).shuffle(9, seed=3)).repeat(2),
    "shards of both": lambda folder: (
        _lines(folder, "a", 50).concatenate(_lines(folder, "b", 70)).shard(5, 1)
    ),
}


def _plain(element: Any) -> Any:
    return np.asarray(element).tolist()


def _elements(make: Callable[[Path], Any], folder: Path) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        element = tf.data.make_one_shot_iterator(make(folder)).get_next()
        return [_plain(each) for each in all_of(session, element)]


@pytest.mark.parametrize("name", MAKERS)
def test_elements_are_those_of_single_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    def make(folder: Path) -> Any:
        # (A map reads in blocks what gives them.)
        return MAKERS[name](folder).map(lambda x: (x, tf.identity(x))[0])

    found = _elements(make, tmp_path)
    monkeypatch.setattr(ordering, "_ShardedBlocks", ordering._Sharded)
    monkeypatch.setattr(concatenating, "_may_begin_early", lambda _: False)
    assert found == _elements(make, tmp_path)
    assert len(found) > 20 or name in ("the last shard", "words of two")


def test_both_give_blocks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []
    for kind in (ordering._ShardedBlocks, concatenating._ConcatenatedParts):
        for way in ("next_block", "next_packed_block"):
            read = getattr(kind, way)

            def noted(self: Any, count: int, read: Any = read) -> Any:
                asked.append(type(self))
                return read(self, count)

            monkeypatch.setattr(kind, way, noted)
    words = _elements(lambda folder: _words(MAKERS["shards of both"](folder)), tmp_path)
    assert len(words) == 24
    assert set(asked) == {ordering._ShardedBlocks, concatenating._ConcatenatedParts}
    assert len(asked) < 30


@pytest.mark.parametrize("name", ["shards of both", "again", "words of two"])
def test_saved_iterators_go_on(tmp_path: Path, name: str) -> None:
    left, restored = left_after(12, lambda: MAKERS[name](tmp_path), tmp_path)
    assert list(map(_plain, restored)) == list(map(_plain, left))
    assert left
