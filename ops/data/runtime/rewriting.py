# SPDX-License-Identifier: Apache-2.0
"""Rewrites of pipelines that TensorFlow makes and that change the order of elements."""

from __future__ import annotations

import copy
from collections.abc import Callable

from .dataset import Dataset
from .ordering import RepeatDataset, SkipDataset, TakeDataset
from .parallel_maps import ParallelMapDataset
from .shuffling import ShuffleDataset
from .threads import PrefetchDataset

Rule = Callable[[Dataset], Dataset]


def rewritten(dataset: Dataset, rule: Rule) -> Dataset:
    """The dataset with a rule applied to it and to all that it reads."""
    inputs = [rewritten(source, rule) for source in dataset.inputs]
    if any(new is not old for new, old in zip(inputs, dataset.inputs)):
        dataset = dataset.reading(inputs)
    return rule(dataset)


def shuffle_and_repeat(dataset: Dataset) -> Dataset:
    """A repeat of a shuffle as one that shuffles across repetitions."""
    if not (isinstance(dataset, RepeatDataset) and isinstance(dataset.source, ShuffleDataset)):
        return dataset
    shuffle = dataset.source
    if not (shuffle.reshuffles and shuffle.count == 1 and dataset.count) or shuffle.generator:
        return dataset
    count = max(dataset.count, -1)
    return ShuffleDataset(shuffle.source, shuffle.size, shuffle.seeds, False, count)


def without_effect(dataset: Dataset) -> Dataset:
    """What a dataset reads, where it gives all of that once and nothing else."""
    match dataset:
        case RepeatDataset(count=1) | SkipDataset(count=0) | PrefetchDataset(size=0):
            return dataset.source
        case TakeDataset(count=count) if count < 0:
            return dataset.source
    return dataset


def sloppy(dataset: Dataset) -> Dataset:
    """A parallel map that gives results in the order in which they are done."""
    if not isinstance(dataset, ParallelMapDataset):
        return dataset
    made = copy.copy(dataset)
    made.is_sloppy = True
    return made
