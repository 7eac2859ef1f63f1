# SPDX-License-Identifier: Apache-2.0
"""The ops of datasets that call functions, and those that reduce a dataset."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ....engine import errors
from ....engine.graph.build import define
from ..runtime import mapping, nesting, parallel_maps
from ..runtime.context import Context
from ..runtime.dataset import Dataset, dataset_in
from ..runtime.iterators import require_shapes, require_types
from .common import (
    FUNCTION,
    NONE,
    TYPES,
    captured,
    define_dataset,
    element_types,
    scalar,
    stated_shapes,
)

if TYPE_CHECKING:
    from ....engine.graph.kernel_context import KernelContext


def _map(c: KernelContext, source: Any, others: list[Any]) -> Dataset:
    function = captured(c, "f", others)
    return mapping.MapDataset(
        dataset_in(source), *element_types(c), function, c.attr("preserve_cardinality")
    )


def _parallel_map(c: KernelContext, source: Any, others: list[Any], parallel: Any) -> Dataset:
    count = scalar(parallel, "num_parallel_calls")
    if count <= 0 and count != -1:
        raise errors.invalid("num_parallel_calls must be greater than zero.")
    function = captured(c, "f", others)
    keeps = c.attr("preserve_cardinality")
    made = parallel_maps.ParallelMapDataset(
        dataset_in(source), *element_types(c), function, keeps, count
    )
    made.is_sloppy = c.attr("sloppy")
    return made


def _flat_map(c: KernelContext, source: Any, others: list[Any]) -> Dataset:
    function = captured(c, "f", others)
    return nesting.FlatMapDataset(dataset_in(source), *element_types(c), function)


def _interleave(
    c: KernelContext,
    source: Any,
    others: list[Any],
    cycle_length: Any,
    block_length: Any,
    parallel: Any = 0,
) -> Dataset:
    cycle, block = scalar(cycle_length, "cycle_length"), scalar(block_length, "block_length")
    count = scalar(parallel, "num_parallel_calls")
    if cycle == -1:
        # TensorFlow's choice: the order depends on the machine unless the length is given.
        cycle = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    if cycle <= 0:
        raise errors.invalid("cycle_length must be greater than zero.")
    if block <= 0:
        raise errors.invalid("block_length must be greater than zero.")
    if len(c.op.definition.inputs) > 4:
        if count <= 0 and count != -1:
            raise errors.invalid("num_parallel_calls must be greater than zero.")
        if count > cycle:
            raise errors.invalid("num_parallel_calls must less than or equal to cycle_length.")
        count = cycle if count == -1 else count
    function = captured(c, "f", others)
    return nesting.InterleaveDataset(
        dataset_in(source), *element_types(c), function, (cycle, block), count
    )


def _filter(c: KernelContext, source: Any, others: list[Any]) -> Dataset:
    return mapping.FilterDataset(dataset_in(source), captured(c, "predicate", others))


def _reduce(c: KernelContext, source: Any, state: list[Any], others: list[Any]) -> Any:
    assert c.session is not None
    context = Context(c.session)
    function = context.function(captured(c, "f", others))
    stream = dataset_in(source).stream(context, "ReduceIterator")
    try:
        found = mapping.reduced(stream, function, state)
    finally:
        stream.close()
    types, shapes = element_types(c)
    for i, (value, kind, shape) in enumerate(zip(found, types, shapes)):
        if value.dtype != kind.base_dtype.np_dtype:
            raise errors.invalid(
                f"The result does not match the expected type for component {i}. Expected: "
                f"{kind.name}. Actual: {value.dtype}."
            )
        if not shape.is_compatible_with(value.shape):
            raise errors.invalid(
                f"The result does not match the expected shape for component {i}. Expected: "
                f"{shape}. Actual: {value.shape}."
            )
    return tuple(found)


def _single(c: KernelContext, source: Any) -> Any:
    assert c.session is not None
    dataset = dataset_in(source)
    types, shapes = element_types(c)
    require_types(types, dataset.types)
    require_shapes(shapes, dataset.shapes)
    stream = dataset.stream(Context(c.session), "SingleElementIterator")
    try:
        found = stream.next()
        if found is None:
            raise errors.invalid("Dataset was empty.")
        if stream.next() is not None:
            raise errors.invalid("Dataset had more than one element.")
    finally:
        stream.close()
    return found


_INPUT = "input_dataset: variant, other_arguments: Targuments"
_MAPS = "use_inter_op_parallelism: bool = true; preserve_cardinality: bool = false"
for _name in ("MapDataset", "ExperimentalMapDataset"):
    define_dataset(
        _name,
        _INPUT,
        f"{FUNCTION}; {TYPES}; {_MAPS}",
        _map,
        "A dataset of the results of a function of each element.",
    )
define_dataset(
    "ParallelMapDataset",
    f"{_INPUT}, num_parallel_calls: int32",
    f"{FUNCTION}; {TYPES}; use_inter_op_parallelism: bool = true; sloppy: bool = false; "
    "preserve_cardinality: bool = false",
    _parallel_map,
    "A dataset of the results of a function, called for several elements at a time.",
)
define_dataset(
    "FlatMapDataset",
    _INPUT,
    f"{FUNCTION}; {TYPES}",
    _flat_map,
    "A dataset of the elements of the datasets that a function makes.",
)
define_dataset(
    "InterleaveDataset",
    f"{_INPUT}, cycle_length: int64, block_length: int64",
    f"{FUNCTION}; {TYPES}",
    _interleave,
    "A dataset of the elements of the datasets that a function makes, in turns.",
)
define_dataset(
    "ParallelInterleaveDatasetV2",
    f"{_INPUT}, cycle_length: int64, block_length: int64, num_parallel_calls: int64",
    f"{FUNCTION}; {TYPES}; sloppy: bool = false",
    _interleave,
    "InterleaveDataset that reads several datasets at a time.",
)
define_dataset(
    "FilterDataset",
    _INPUT,
    f"predicate: func; Targuments: list(type) >= 0; {TYPES}",
    _filter,
    "A dataset of the elements for which a function holds.",
)
define(
    "ReduceDataset",
    "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments -> "
    "components: output_types",
    f"f: func; Tstate: list(type) >= 1; Targuments: list(type) >= 0; {TYPES}; "
    "use_inter_op_parallelism: bool = true",
    shape=stated_shapes,
    kernel=_reduce,
    gradient=NONE.silently,
    stateful=True,
    touches=(),
    dynamic_shape=True,
    doc="What a function makes of a state and all elements, one after the other.",
    test={"needs": "a dataset"},
)
for _name in ("DatasetToSingleElement", "ExperimentalDatasetToSingleElement"):
    define(
        _name,
        "dataset: variant -> components: output_types",
        TYPES,
        shape=stated_shapes,
        kernel=_single,
        gradient=NONE,
        stateful=True,
        touches=(),
        dynamic_shape=True,
        doc="The only element of a dataset.",
        test={"needs": "a dataset"},
    )
