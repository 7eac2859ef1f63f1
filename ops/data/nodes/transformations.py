# SPDX-License-Identifier: Apache-2.0
"""The ops of datasets that give, order and put together the elements of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine import errors
from ....engine.graph.registry import writes
from ..runtime import (
    batching,
    caching,
    concatenating,
    limits,
    ordering,
    rewriting,
    shuffling,
    threads,
)
from ..runtime.dataset import Dataset, dataset_in
from ..runtime.random import SeedGenerator, seeds_or_chance
from .common import TYPES, define_dataset, element_types, scalar, scalars

if TYPE_CHECKING:
    import numpy as np

    from ....engine.graph.kernel_context import KernelContext


def _zip(c: KernelContext, parts: list[Any]) -> Dataset:
    return ordering.ZipDataset(*element_types(c), [dataset_in(part) for part in parts])


def _concatenate(c: KernelContext, first: Any, second: Any) -> Dataset:
    parts = dataset_in(first), dataset_in(second)
    if parts[0].types != parts[1].types:
        names = [[kind.name for kind in part.types] for part in parts]
        raise errors.invalid(
            "input dataset and dataset to concatenate have different output_types "
            f"{names[0]} and {names[1]}"
        )
    return concatenating.ConcatenateDataset(*element_types(c), *parts)


def _repeat(c: KernelContext, source: Any, count: Any) -> Dataset:
    return ordering.RepeatDataset(dataset_in(source), scalar(count, "count"))


def _take(c: KernelContext, source: Any, count: Any) -> Dataset:
    return ordering.TakeDataset(dataset_in(source), scalar(count, "count"))


def _skip(c: KernelContext, source: Any, count: Any) -> Dataset:
    return ordering.SkipDataset(dataset_in(source), scalar(count, "count"))


def _shard(c: KernelContext, source: Any, shards: Any, index: Any) -> Dataset:
    shards, index = scalar(shards, "num_shards"), scalar(index, "index")
    if shards <= 0:
        raise errors.invalid(
            f"Number of shards must be greater than zero (currently num_shards = {shards})."
        )
    if not 0 <= index < shards:
        raise errors.invalid(
            f"Index must be between 0 and {shards - 1} (currently index = {index})."
        )
    return ordering.ShardDataset(dataset_in(source), shards, index, c.attr("require_non_empty"))


def _prefetch(c: KernelContext, source: Any, size: Any) -> Dataset:
    size = scalar(size, "buffer_size")
    if size < -1:
        raise errors.invalid("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
    return threads.PrefetchDataset(dataset_in(source), size)


def _buffer_size(size: Any) -> int:
    size = scalar(size, "buffer_size")
    if size <= 0:
        raise errors.invalid("buffer_size must be greater than zero.")
    return int(size)


def _shuffle(c: KernelContext, source: Any, size: Any, seed: Any, seed2: Any) -> Dataset:
    seeds = seeds_or_chance(scalar(seed, "seed"), scalar(seed2, "seed2"))
    reshuffles = c.attr("reshuffle_each_iteration")
    return shuffling.ShuffleDataset(dataset_in(source), _buffer_size(size), seeds, reshuffles)


def _shuffle_v2(c: KernelContext, source: Any, size: Any, generator: SeedGenerator) -> Dataset:
    return shuffling.ShuffleDataset(
        dataset_in(source), _buffer_size(size), generator.seeds, True, generator=generator
    )


def _shuffle_and_repeat(
    c: KernelContext, source: Any, size: Any, seed: Any, seed2: Any, count: Any
) -> Dataset:
    count = scalar(count, "count")
    if count <= 0 and count != -1:
        raise errors.invalid("count must be greater than zero or equal to -1.")
    seeds = seeds_or_chance(scalar(seed, "seed"), scalar(seed2, "seed2"))
    return shuffling.ShuffleDataset(dataset_in(source), _buffer_size(size), seeds, False, count)


def _narrow(c: KernelContext, source: Any, most: Any) -> Dataset:
    most = scalar(most, "max_intra_op_parallelism")
    if most < 0:
        raise errors.invalid("`max_intra_op_parallelism` must be >= 0")
    return limits.NarrowCallsDataset(dataset_in(source), int(most))


def _few_calls(c: KernelContext, source: Any, most: Any) -> Dataset:
    most = scalar(most, "num_threads")
    if most < 1:
        raise errors.invalid("`num_threads` must be >= 1")
    return limits.FewCallsDataset(dataset_in(source), int(most))


def _batch_size(size: Any) -> int:
    size = scalar(size, "batch_size")
    if size <= 0:
        raise errors.invalid("Batch size must be greater than zero.")
    return int(size)


def _batch(c: KernelContext, source: Any, size: Any, drops: Any = False) -> Dataset:
    drops = bool(scalar(drops, "drop_remainder"))
    return batching.BatchDataset(dataset_in(source), *element_types(c), _batch_size(size), drops)


def _padded_batch(
    c: KernelContext,
    source: Any,
    size: Any,
    padded_shapes: list[np.ndarray],
    padding_values: list[Any],
    drops: Any = False,
) -> Dataset:
    dataset = dataset_in(source)
    if len(padded_shapes) != len(dataset.types):
        raise errors.invalid(
            f"Number of padded shapes ({len(padded_shapes)}) must match the number of components "
            f"in the input dataset's elements ({len(dataset.types)})"
        )
    paddings = []
    for i, (sizes, value) in enumerate(zip(padded_shapes, padding_values)):
        if sizes.ndim != 1:
            raise errors.invalid("All padded shapes must be vectors")
        if sizes.size and sizes.min() < -1:
            raise errors.invalid(f"Dimension {sizes.min()} must be >= -1")
        if getattr(value, "ndim", 0):
            raise errors.invalid(
                f"All padding values must be scalars; but at component {i} saw shape {value.shape}"
            )
        paddings.append((sizes.tolist(), value[()]))
    drops = bool(scalar(drops, "drop_remainder"))
    return batching.PaddedBatchDataset(
        dataset, *element_types(c), _batch_size(size), drops, paddings
    )


def _unbatch(c: KernelContext, source: Any) -> Dataset:
    return batching.UnbatchDataset(dataset_in(source), *element_types(c))


def _window(
    c: KernelContext, source: Any, size: Any, shift: Any, stride: Any, drops: Any
) -> Dataset:
    numbers = []
    for value, name in ((size, "size"), (shift, "shift"), (stride, "stride")):
        number = scalar(value, name)
        if number <= 0:
            raise errors.invalid(f"Window {name} must be greater than zero.")
        numbers.append(number)
    drops = bool(scalar(drops, "drop_remainder"))
    numbers = (numbers[0], numbers[1], numbers[2])  # type: ignore[assignment]
    return batching.WindowDataset(dataset_in(source), *element_types(c), numbers, drops)  # type: ignore[arg-type]


def _cache(c: KernelContext, source: Any, filename: Any, *memory: Any) -> Dataset:
    return caching.cached(dataset_in(source), scalar(filename, "filename"))


def _optimized(c: KernelContext, source: Any, optimizations: np.ndarray) -> Dataset:
    dataset = dataset_in(source)
    wanted = optimizations.tolist()
    # (What has no effect stands between no shuffle and its repeat, and is none.)
    if b"noop_elimination" in wanted:
        dataset = rewriting.rewritten(dataset, rewriting.without_effect)
    if b"shuffle_and_repeat_fusion" in wanted:
        dataset = rewriting.rewritten(dataset, rewriting.shuffle_and_repeat)
    if b"make_sloppy" in wanted:
        dataset = rewriting.rewritten(dataset, rewriting.sloppy)
    return ordering.PassingDataset(dataset)


def _passing(c: KernelContext, source: Any, *others: Any) -> Dataset:
    return ordering.PassingDataset(dataset_in(source))


_INPUT = "input_dataset: variant"
define_dataset(
    "ZipDataset",
    "input_datasets: N * variant",
    f"{TYPES}; N: int >= 1",
    _zip,
    "A dataset of elements of several datasets side by side.",
)
define_dataset(
    "ConcatenateDataset",
    f"{_INPUT}, another_dataset: variant",
    TYPES,
    _concatenate,
    "A dataset of the elements of one dataset, then those of another.",
)
for _name, _kernel, _doc in (
    ("RepeatDataset", _repeat, "A dataset of the elements again and again, -1 means for ever."),
    ("TakeDataset", _take, "A dataset of the first elements, all of them if `count` is -1."),
    ("SkipDataset", _skip, "A dataset of all but the first elements."),
):
    define_dataset(_name, f"{_INPUT}, count: int64", TYPES, _kernel, _doc, shape=scalars(None, 0))
define_dataset(
    "ShardDataset",
    f"{_INPUT}, num_shards: int64, index: int64",
    f"require_non_empty: bool = false; {TYPES}",
    _shard,
    "A dataset of every n-th element.",
    shape=scalars(None, 0, 0),
)
define_dataset(
    "PrefetchDataset",
    f"{_INPUT}, buffer_size: int64",
    f"{TYPES}; slack_period: int = 0; legacy_autotune: bool = true",
    _prefetch,
    "A dataset of the same elements, some of them read ahead.",
    shape=scalars(None, 0),
)
define_dataset(
    "ShuffleDataset",
    f"{_INPUT}, buffer_size: int64, seed: int64, seed2: int64",
    f"reshuffle_each_iteration: bool = true; {TYPES}",
    _shuffle,
    "A dataset of the elements in random order.",
    shape=scalars(None, 0, 0, 0),
)
define_dataset(
    "ShuffleDatasetV2",
    f"{_INPUT}, buffer_size: int64, seed_generator: resource",
    TYPES,
    _shuffle_v2,
    "A dataset of the elements in random order, by seeds of a generator.",
    shape=scalars(None, 0),
)
define_dataset(
    "ShuffleAndRepeatDataset",
    f"{_INPUT}, buffer_size: int64, seed: int64, seed2: int64, count: int64",
    TYPES,
    _shuffle_and_repeat,
    "A dataset of the elements in random order, several times over.",
    shape=scalars(None, 0, 0, 0, 0),
)
define_dataset(
    "BatchDataset",
    f"{_INPUT}, batch_size: int64",
    TYPES,
    _batch,
    "A dataset of several elements as one.",
    shape=scalars(None, 0),
)
define_dataset(
    "BatchDatasetV2",
    f"{_INPUT}, batch_size: int64, drop_remainder: bool",
    f"parallel_copy: bool = false; {TYPES}",
    _batch,
    "A dataset of several elements as one.",
    shape=scalars(None, 0, 0),
)
_PADDED = f"{_INPUT}, batch_size: int64, padded_shapes: N * int64, padding_values: Toutput_types"
_PADDED_ATTRS = "Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1; N: int >= 1"
define_dataset(
    "PaddedBatchDataset",
    _PADDED,
    _PADDED_ATTRS,
    _padded_batch,
    "A dataset of several elements, padded, as one.",
    shape=scalars(None, 0),
)
define_dataset(
    "PaddedBatchDatasetV2",
    f"{_PADDED}, drop_remainder: bool",
    f"parallel_copy: bool = false; {_PADDED_ATTRS}",
    _padded_batch,
    "A dataset of several elements, padded, as one.",
    shape=scalars(None, 0),
)
for _name in ("UnbatchDataset", "ExperimentalUnbatchDataset"):
    define_dataset(_name, _INPUT, TYPES, _unbatch, "A dataset of the rows of elements.")
define_dataset(
    "WindowDataset",
    f"{_INPUT}, size: int64, shift: int64, stride: int64, drop_remainder: bool",
    TYPES,
    _window,
    "A dataset of datasets of neighbouring elements.",
    shape=scalars(None, 0, 0, 0, 0),
)
define_dataset(
    "CacheDataset",
    f"{_INPUT}, filename: string",
    TYPES,
    _cache,
    "A dataset that keeps the elements once they were read.",
    shape=scalars(None, 0),
    touches=writes("filename"),
)
define_dataset(
    "CacheDatasetV2",
    f"{_INPUT}, filename: string, cache: resource",
    TYPES,
    _cache,
    "A dataset that keeps the elements once they were read.",
    shape=scalars(None, 0, 0),
    touches=writes("filename"),
)
define_dataset(
    "ModelDataset",
    _INPUT,
    f"algorithm: int = 0; cpu_budget: int = 0; {TYPES}",
    _passing,
    "The same dataset: AUTOTUNE needs no model here.",
)
define_dataset(
    "OptimizeDataset",
    f"{_INPUT}, optimizations: string",
    f"{TYPES}; optimization_configs: list(string) = []",
    _optimized,
    "The same dataset, with the orders that TensorFlow's rewrites give.",
)
for _name in ("MaxIntraOpParallelismDataset", "ExperimentalMaxIntraOpParallelismDataset"):
    define_dataset(
        _name,
        f"{_INPUT}, max_intra_op_parallelism: int64",
        TYPES,
        _narrow,
        "The same dataset, each of whose functions' calls has so many threads at most; 0: as many "
        "as there are.",
    )
for _name in ("PrivateThreadPoolDataset", "ExperimentalPrivateThreadPoolDataset"):
    define_dataset(
        _name,
        f"{_INPUT}, num_threads: int64",
        TYPES,
        _few_calls,
        "The same dataset, for which each function computes so many elements at a time at most.",
    )
