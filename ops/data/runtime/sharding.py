# SPDX-License-Identifier: Apache-2.0
"""A pipeline cut among workers, as TensorFlow's grappler does it: by files, or else by elements."""

from __future__ import annotations

from ....engine import errors
from .adjusting import RebatchDataset
from .batching import BatchDataset, PaddedBatchDataset, WindowDataset
from .caching import CacheDataset
from .concatenating import ConcatenateDataset
from .context import library_of
from .dataset import Dataset
from .examples import ParseExampleDataset
from .functions import Captured
from .limits import FewCallsDataset, NarrowCallsDataset
from .mapping import FilterDataset, MapDataset
from .nesting import FlatMapDataset
from .ordering import (
    PassingDataset,
    RepeatDataset,
    ShardDataset,
    SkipDataset,
    TakeDataset,
    ZipDataset,
)
from .shuffling import ShuffleDataset
from .threads import PrefetchDataset

# What reads files, among the operations of a function.
_READERS = {
    *("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset"),
    "FixedLengthRecordDatasetV2",
}
# What passes on elements, or something made of each: fewer of those are fewer of these.
_PASSING = (
    *(BatchDataset, PaddedBatchDataset, WindowDataset, CacheDataset),
    *(FilterDataset, MapDataset, ParseExampleDataset, PassingDataset, PrefetchDataset),
    *(RebatchDataset, RepeatDataset, ShardDataset, ShuffleDataset, SkipDataset, TakeDataset),
    *(FewCallsDataset, NarrowCallsDataset),
)


def sharded(dataset: Dataset, workers: int, index: int) -> Dataset:
    """The part of a dataset that one of several workers has.

    Each worker has some of the files if it can be seen where they are read, else some of the
    elements.  Names of files are shuffled after they were cut, so that no two workers share one.
    """
    if workers < 1:
        raise errors.invalid("`num_workers` must be greater than zero.")
    if not 0 <= index < workers:
        raise errors.invalid(f"`index` must be between 0 and {workers - 1}")
    found = _by_files(dataset, workers, index)
    return ShardDataset(dataset, workers, index, requires=True) if found is None else found


def _by_files(dataset: Dataset, workers: int, index: int) -> Dataset | None:
    """The same with its files cut; None where none are to be seen.

    They are seen where a function reads those that a dataset names, as tf.data's readers do.
    """
    if isinstance(dataset, FlatMapDataset):
        if not _reads_files(dataset.function):
            return None
        return dataset.reading([_cut(dataset.source, workers, index)])
    if isinstance(dataset, (ConcatenateDataset, ZipDataset)):
        parts = [_by_files(source, workers, index) for source in dataset.inputs]
        known = [part for part in parts if part is not None]
        return dataset.reading(known) if len(known) == len(parts) else None
    # (By its name: who sees the class would take it that files are opened here.)
    if isinstance(dataset, _PASSING) or dataset.kind == "FileCache":
        source = _by_files(dataset.inputs[0], workers, index)
        return None if source is None else dataset.reading([source])
    return None


def _reads_files(function: Captured, known: frozenset[str] = frozenset()) -> bool:
    """Does a function make a dataset of what is in files, or call one that does?"""
    if function.name in known:
        return False
    known |= {function.name}
    for op in function.body().operations:
        if op.type in _READERS:
            return True
        named = op._attrs.get("f")
        if getattr(named, "name", "") and _reads_files(Captured(named, library_of(op), []), known):
            return True
    return False


def _cut(names: Dataset, workers: int, index: int) -> Dataset:
    """Some of the names; what shuffled all of them shuffles these."""
    shuffles = []
    while isinstance(names, ShuffleDataset):
        shuffles.append(names)
        names = names.source
    part: Dataset = ShardDataset(names, workers, index)
    for shuffle in reversed(shuffles):
        part = shuffle.reading([part])
    return part
