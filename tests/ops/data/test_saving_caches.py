# SPDX-License-Identifier: Apache-2.0
"""Iterators over cached datasets, saved and restored at any element of any epoch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

_EXPECTED = [0, 1, 2, 3, 4] * 3


class Run:
    """A session over the dataset, begun anew or where another one was saved."""

    def __init__(self, cache: str, saved: Path | None = None) -> None:
        with tf.Graph().as_default() as graph:
            dataset = tf.data.Dataset.range(5).cache(cache).repeat(3)
            iterator = tf.data.make_initializable_iterator(dataset)
            saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
            self.saver = tf.train.Saver([saveable])
            self.element = iterator.get_next()
        self.session = tf.Session(graph=graph)
        self.session.run(iterator.initializer)
        if saved is not None:
            self.saver.restore(self.session, str(saved))

    def take(self, count: int) -> list[int]:
        return [self.session.run(self.element) for _ in range(count)]

    def rest(self) -> list[int]:
        found = []
        while len(found) <= len(_EXPECTED):
            try:
                found.append(self.session.run(self.element))
            except tf.errors.OutOfRangeError:
                break
        self.session.close()
        return found

    def save(self, path: Path) -> None:
        self.saver.save(self.session, str(path))


@pytest.mark.parametrize("kind", ["memory", "files"])
@pytest.mark.parametrize("first", [0, 3, 5, 7, 12, 15])
@pytest.mark.parametrize("lost", [0, 1, 9])
def test_a_restored_iterator_goes_on(tmp_path: Path, kind: str, first: int, lost: int) -> None:
    cache = "" if kind == "memory" else str(tmp_path / "cache")
    run = Run(cache)
    assert run.take(first) == _EXPECTED[:first]
    run.save(tmp_path / "state")
    # What was read since does not count; files that came of it are there.
    lost = min(lost, len(_EXPECTED) - first)
    assert run.take(lost) == _EXPECTED[first : first + lost]
    run.session.close()
    assert Run(cache, tmp_path / "state").rest() == _EXPECTED[first:]
    # Once written, the cache is there for who begins anew.
    assert Run(cache).rest() == _EXPECTED


def test_parts_of_a_cache_become_one(tmp_path: Path) -> None:
    cache, found, saved = str(tmp_path / "data" / "cache"), [], None
    for _ in range(4):
        run = Run(cache, saved)
        found += run.take(1)
        saved = tmp_path / "state"
        run.save(saved)
        run.session.close()
    assert Run(cache, saved).rest() == _EXPECTED[4:]
    assert found == _EXPECTED[:4]
    names = sorted(path.name for path in (tmp_path / "data").iterdir())
    assert names == [*(f"cache.data-{i:05}-of-00005" for i in range(5)), "cache.index"]


def test_what_was_saved_again_but_lost_is_written_again(tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    run = Run(cache)
    run.take(2)
    run.save(tmp_path / "kept")
    run.take(1)
    run.save(tmp_path / "lost")
    del run  # as if the process had been killed: nothing is closed
    assert Run(cache, tmp_path / "kept").rest() == _EXPECTED[2:]


def refused(action: Any) -> str:
    with pytest.raises(tf.errors.OpError) as caught:
        action()
    return type(caught.value).__name__


def test_who_begins_anew_beside_a_saved_iterator_is_refused(tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    run = Run(cache)
    run.take(2)
    run.save(tmp_path / "state")
    run.session.close()
    assert refused(Run(cache).rest) == "AlreadyExistsError"


def test_a_cache_that_is_gone_is_missed(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run = Run(str(cache))
    run.take(7)
    run.save(tmp_path / "state")
    run.session.close()
    for path in tmp_path.glob("cache*"):
        path.unlink()
    assert refused(lambda: Run(str(cache), tmp_path / "state")) == "NotFoundError"
