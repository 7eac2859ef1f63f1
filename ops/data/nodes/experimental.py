# SPDX-License-Identifier: Apache-2.0
"""The ops of `tf.data.experimental`, each also under its older name that begins so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ..runtime import (
    batching,
    choosing,
    grouping,
    ordering,
    parallel_maps,
    scanning,
    sparse_batches,
)
from ..runtime.dataset import Dataset, dataset_in
from ..runtime.mapped_batches import MapAndBatchDataset
from ..runtime.mapping import MapDataset
from .common import FUNCTION, TYPES, captured, define_dataset, element_types, scalar, scalars

if TYPE_CHECKING:
    from ....engine.graph.kernel_context import KernelContext

_INPUT = "input_dataset: variant"


def define_both(name: str, older_name: str, *definition: Any, **facts: Any) -> None:
    """Defines an op under its name and its older one."""
    for each in (name, older_name):
        define_dataset(each, *definition, **facts)


def _arguments(*names: str) -> tuple[str, str]:
    """The captured inputs and the attributes of functions with names."""
    inputs = [f"{n}_other_arguments: T{n}_other_arguments" for n in names]
    attrs = [f"{n}: func" for n in names]
    attrs += [f"T{n}_other_arguments: list(type) >= 0" for n in names]
    return f"{_INPUT}, {', '.join(inputs)}", f"{'; '.join(attrs)}; {TYPES}"


def _functions(c: KernelContext, kind: Any, names: tuple[str, ...], values: Any) -> Any:
    return kind(*(captured(c, name, given) for name, given in zip(names, values)))


_WINDOW = ("key_func", "reduce_func", "window_size_func")
_REDUCER = ("key_func", "init_func", "reduce_func", "finalize_func")


def _group_by_window(c: KernelContext, source: np.ndarray, *others: Any) -> Dataset:
    functions = _functions(c, grouping.WindowFunctions, _WINDOW, others)
    return grouping.GroupByWindowDataset(dataset_in(source), *element_types(c), functions)


def _group_by_reducer(c: KernelContext, source: np.ndarray, *others: Any) -> Dataset:
    functions = _functions(c, grouping.ReducerFunctions, _REDUCER, others)
    return grouping.GroupByReducerDataset(dataset_in(source), *element_types(c), functions)


def _map_and_batch(
    c: KernelContext,
    source: np.ndarray,
    others: Any,
    size: np.ndarray,
    parallel: np.ndarray,
    drops: np.ndarray,
) -> Dataset:
    count, calls = scalar(size, "batch_size"), scalar(parallel, "num_parallel_calls")
    if count <= 0:
        raise errors.invalid("batch_size must be greater than zero.")
    if calls <= 0 and calls != -1:
        raise errors.invalid("num_parallel_calls must be greater than zero.")
    types, shapes = element_types(c)
    rows = [shape[1:] if shape.ndims else shape for shape in shapes]
    function, keeps = captured(c, "f", others), c.attr("preserve_cardinality")
    read = dataset_in(source)
    mapped: Dataset = parallel_maps.ParallelMapDataset(read, types, rows, function, keeps, calls)
    if calls == 1:
        mapped = MapDataset(read, types, rows, function, keeps)
    drop = scalar(drops, "drop_remainder")
    return MapAndBatchDataset(mapped, types, shapes, count, drop)


def _dense_to_sparse(
    c: KernelContext, source: np.ndarray, size: np.ndarray, row: np.ndarray
) -> Dataset:
    read = dataset_in(source)
    count = scalar(size, "batch_size")
    if len(read.types) != 1:
        raise errors.invalid(
            "DenseToSparseBatchDataset only supports inputs with a single component."
        )
    if count <= 0:
        raise errors.invalid("Batch size must be greater than zero.")
    if row.ndim != 1:
        raise errors.invalid("row_shape must be a vector")
    types, shapes = element_types(c)
    return sparse_batches.DenseToSparseBatchDataset(read, types, shapes, count, row.tolist())


def _directed(c: KernelContext, selector: np.ndarray, sources: list[Any]) -> Dataset:
    choices, read = dataset_in(selector), [dataset_in(source) for source in sources]
    if len(choices.types) != 1 or choices.types[0].name != "int64":
        raise errors.invalid("The selector input must be a dataset of scalar int64 elements.")
    for i, one in enumerate(read[1:], 1):
        if one.types != read[0].types:
            raise errors.invalid(
                "All inputs must have the same output_dtypes. First input has types "
                f"{[t.name for t in read[0].types]}, and input {i} has types "
                f"{[t.name for t in one.types]}"
            )
    return choosing.DirectedInterleaveDataset(*element_types(c), choices, read)


def _parallel_interleave(
    c: KernelContext,
    source: np.ndarray,
    others: Any,
    cycle_length: np.ndarray,
    block_length: np.ndarray,
    sloppy: np.ndarray,
    buffered: np.ndarray,
    prefetched: np.ndarray,
) -> Dataset:
    """What is sloppy may be in any order: in the one of what is not, too."""
    cycle, block = scalar(cycle_length, "cycle_length"), scalar(block_length, "block_length")
    room = scalar(buffered, "buffer_output_elements")
    for value, name in (
        (cycle, "cycle_length"),
        (block, "block_length"),
        (room, "buffer_output_elements"),
    ):
        if value <= 0:
            raise errors.invalid(f"`{name}` must be > 0")
    if scalar(prefetched, "prefetch_input_elements") < 0:
        raise errors.invalid("`prefetch_input_elements` must be >= 0")
    function = captured(c, "f", others)
    return choosing.ParallelInterleaveDataset(
        dataset_in(source), *element_types(c), function, (cycle, block), room
    )


def _scan(c: KernelContext, source: np.ndarray, state: list[Any], others: list[Any]) -> Dataset:
    first = [np.array(value) for value in state], list(c.op._attrs["Tstate"])
    keeps = c.attr("preserve_cardinality")
    function = captured(c, "f", others)
    return scanning.ScanDataset(dataset_in(source), *element_types(c), function, first, keeps)


def _take_while(c: KernelContext, source: np.ndarray, others: list[Any]) -> Dataset:
    return scanning.TakeWhileDataset(dataset_in(source), captured(c, "predicate", others))


def _sliding_window(c: KernelContext, source: np.ndarray, *given: np.ndarray) -> Dataset:
    numbers = []
    for name, value in zip(("Window size", "Window shift", "window_stride"), given):
        number = int(scalar(value, name))
        if number <= 0:
            raise errors.invalid(f"{name} must be greater than zero.")
        numbers.append(number)
    size, shift, stride = numbers
    return batching.SlidingWindowDataset(
        dataset_in(source), *element_types(c), (size, shift, stride), drops=True
    )


def _unique(c: KernelContext, source: np.ndarray) -> Dataset:
    read = dataset_in(source)
    if len(read.types) != 1 or read.types[0].name not in ("int32", "int64", "string"):
        raise errors.invalid(
            "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or "
            "`tf.string` component."
        )
    return scanning.UniqueDataset(read)


def _random(c: KernelContext, seed: np.ndarray, seed2: np.ndarray) -> Dataset:
    return scanning.RandomDataset(scalar(seed, "seed"), scalar(seed2, "seed2"))


def _of_source(kind: Callable[[Dataset], Dataset]) -> Callable[..., Dataset]:
    def make(c: KernelContext, source: np.ndarray, *unused: Any) -> Dataset:
        return kind(dataset_in(source))

    return make


_GIVEN, _ATTRS = _arguments(*_WINDOW)
define_both(
    "GroupByWindowDataset",
    "ExperimentalGroupByWindowDataset",
    _GIVEN,
    _ATTRS,
    _group_by_window,
    "A dataset of what a function makes of groups of elements with one key.",
)
_GIVEN, _ATTRS = _arguments(*_REDUCER)
define_both(
    "GroupByReducerDataset",
    "ExperimentalGroupByReducerDataset",
    _GIVEN,
    _ATTRS,
    _group_by_reducer,
    "A dataset with what functions make of all elements with one key.",
    stateful=True,
)
define_both(
    "MapAndBatchDataset",
    "ExperimentalMapAndBatchDataset",
    f"{_INPUT}, other_arguments: Targuments, batch_size: int64, num_parallel_calls: int64, "
    "drop_remainder: bool",
    f"{FUNCTION}; {TYPES}; preserve_cardinality: bool = false",
    _map_and_batch,
    "A dataset of the results of a function, several as one.",
)
define_both(
    "DenseToSparseBatchDataset",
    "ExperimentalDenseToSparseBatchDataset",
    f"{_INPUT}, batch_size: int64, row_shape: int64",
    TYPES,
    _dense_to_sparse,
    "A dataset of several elements of different sizes as one sparse tensor.",
)
define_both(
    "DirectedInterleaveDataset",
    "ExperimentalDirectedInterleaveDataset",
    "selector_input_dataset: variant, data_input_datasets: N * variant",
    f"{TYPES}; N: int >= 1",
    _directed,
    "A dataset of elements of others, in the order that another one says.",
)
define_both(
    "ParallelInterleaveDataset",
    "ExperimentalParallelInterleaveDataset",
    f"{_INPUT}, other_arguments: Targuments, cycle_length: int64, block_length: int64, "
    "sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64",
    f"{FUNCTION}; {TYPES}",
    _parallel_interleave,
    "A dataset of the elements of datasets that a function makes, several read at a time.",
)
define_both(
    "ScanDataset",
    "ExperimentalScanDataset",
    f"{_INPUT}, initial_state: Tstate, other_arguments: Targuments",
    f"f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0; {TYPES}; "
    "preserve_cardinality: bool = false",
    _scan,
    "A dataset of the outputs of a function of a state and an element.",
)
define_both(
    "TakeWhileDataset",
    "ExperimentalTakeWhileDataset",
    f"{_INPUT}, other_arguments: Targuments",
    f"predicate: func; Targuments: list(type) >= 0; {TYPES}",
    _take_while,
    "A dataset of the elements in front of the first for which a function does not hold.",
)
define_both(
    "SlidingWindowDataset",
    "ExperimentalSlidingWindowDataset",
    f"{_INPUT}, window_size: int64, window_shift: int64, window_stride: int64",
    TYPES,
    _sliding_window,
    "A dataset of batches of neighbouring elements.",
    shape=scalars(None, 0, 0, 0),
)
define_both(
    "UniqueDataset",
    "ExperimentalUniqueDataset",
    _INPUT,
    TYPES,
    _unique,
    "A dataset without what came before.",
)
define_both(
    "IgnoreErrorsDataset",
    "ExperimentalIgnoreErrorsDataset",
    _INPUT,
    TYPES,
    _of_source(scanning.IgnoreErrorsDataset),
    "A dataset of the elements that can be computed.",
)
define_both(
    "RandomDataset",
    "ExperimentalRandomDataset",
    "seed: int64, seed2: int64",
    TYPES,
    _random,
    "A dataset of random numbers.",
    shape=scalars(0, 0),
    stateful=True,
)
for _name, _doc in (
    ("WrapDatasetVariant", "A dataset in a wrapper that devices other than the CPU can hold."),
    ("UnwrapDatasetVariant", "The dataset in a wrapper."),
):
    define_dataset(
        _name,
        "input_handle: variant",
        "",
        lambda c, source: dataset_in(source),
        _doc,
        output="output_handle",
    )
define_both(
    "NonSerializableDataset",
    "ExperimentalNonSerializableDataset",
    _INPUT,
    TYPES,
    _of_source(ordering.PassingDataset),
    "The same dataset.",
)
