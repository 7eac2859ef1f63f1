# SPDX-License-Identifier: Apache-2.0
"""The ops of datasets that adjust others, each also under its older name, and MapDefun."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.graph.build import define
from ....engine.record_class import record
from ....engine.types.shape import TensorShape, as_shape, shape_text
from ...state.shared_state import kept
from ..runtime import adjusting, choosing, limits
from ..runtime.context import Context, arrays_of, library_of
from ..runtime.dataset import Dataset, dataset_in
from ..runtime.functions import Captured
from ..runtime.random import seeds_or_chance
from .common import NONE, TYPES, captured, define_dataset, element_types, scalar, scalars
from .experimental import define_both

if TYPE_CHECKING:
    from ....engine.graph.inference import ShapeContext
    from ....engine.graph.kernel_context import KernelContext

_INPUT = "input_dataset: variant"
_TEST = {"needs": "a dataset"}


def _rebatch(c: KernelContext, source: Any, replicas: Any) -> Dataset:
    count = scalar(replicas, "num_replicas")
    if count <= 0:
        raise errors.invalid("num_replicas must be greater than zero.")
    return adjusting.RebatchDataset(dataset_in(source), *element_types(c), int(count))


def _sample(c: KernelContext, source: Any, rate: Any, seed: Any, seed2: Any) -> Dataset:
    seeds = seeds_or_chance(scalar(seed, "seed"), scalar(seed2, "seed2"))
    return adjusting.SamplingDataset(dataset_in(source), scalar(rate, "rate"), seeds)


def _sleep(c: KernelContext, source: Any, microseconds: Any) -> Dataset:
    time = scalar(microseconds, "sleep_microseconds")
    if time < 0:
        raise errors.invalid("`sleep_microseconds` must be >= 0")
    return adjusting.SleepDataset(dataset_in(source), int(time))


def _assert_next(c: KernelContext, source: Any, kinds: np.ndarray) -> Dataset:
    names = [kind.decode(errors="replace") for kind in kinds.reshape(-1).tolist()]
    return adjusting.AssertNextDataset(dataset_in(source), names)


def _fastest(c: KernelContext, sources: list[Any]) -> Dataset:
    return adjusting.FastestDataset([dataset_in(each) for each in sources], *element_types(c))


def _fastest_branch(
    c: KernelContext, source: Any, numerator: Any, denominator: Any, others: list[Any]
) -> Dataset:
    ratio = scalar(numerator, "ratio_numerator"), scalar(denominator, "ratio_denominator")
    for name, number in zip(("ratio_numerator", "ratio_denominator"), ratio):
        if number <= 0:
            raise errors.invalid(f"`{name}` must be greater than zero.")
    each = c.attr("num_elements_per_branch")
    if each % ratio[1]:
        raise errors.invalid("`num_elements_per_branch` must be divisible by `ratio_denominator`.")
    lengths, functions = c.attr("other_arguments_lengths"), c.op._attrs["branches"]
    if len(lengths) != len(functions):
        raise errors.invalid("branches and other_arguments_lengths must have the same length.")
    branch = Captured(functions[0], library_of(c.op), arrays_of(others[: lengths[0]]))
    return choosing.BranchDataset(dataset_in(source), *element_types(c), branch, ratio)


define_both(
    "RebatchDataset",
    "ExperimentalRebatchDataset",
    f"{_INPUT}, num_replicas: int64",
    f"{TYPES}; use_fallback: bool = true",
    _rebatch,
    "A dataset of the batches of another one, each cut into parts for replicas.",
)
define_dataset(
    "SamplingDataset",
    f"{_INPUT}, rate: float32, seed: int64, seed2: int64",
    TYPES,
    _sample,
    "A dataset of elements of another one, each taken with a probability.",
    shape=scalars(None, 0, 0, 0),
)
define_both(
    "SleepDataset",
    "ExperimentalSleepDataset",
    f"{_INPUT}, sleep_microseconds: int64",
    TYPES,
    _sleep,
    "The same dataset, which waits before each element.",
    shape=scalars(None, 0),
)
define_both(
    "AssertNextDataset",
    "ExperimentalAssertNextDataset",
    f"{_INPUT}, transformations: string",
    TYPES,
    _assert_next,
    "The same dataset; an error unless those that read it are of given kinds.",
    shape=scalars(None, 1),
)
define_both(
    "ChooseFastestDataset",
    "ExperimentalChooseFastestDataset",
    "input_datasets: N * variant",
    f"N: int >= 2; num_experiments: int; {TYPES}",
    _fastest,
    "One of several datasets of the same elements.",
)
define_dataset(
    "ChooseFastestBranchDataset",
    f"{_INPUT}, ratio_numerator: int64, ratio_denominator: int64, other_arguments: Targuments",
    "Targuments: list(type) >= 0; num_elements_per_branch: int >= 1; branches: list(func) >= 1; "
    f"other_arguments_lengths: list(int) >= 1; {TYPES}",
    _fastest_branch,
    "What one of several functions, all of the same elements, makes of a dataset.",
)


# Pools of threads.


@record(frozen=True)
class Pool:
    """How many calls of functions go on at a time, and how many threads each has."""

    threads: int
    threads_per_call: int


def _pool(c: KernelContext) -> Any:
    if c.attr("num_threads") <= 0:
        raise errors.invalid("`num_threads` must be greater than zero.")
    pool = Pool(c.attr("num_threads"), max(c.attr("max_intra_op_parallelism"), 0))
    return kept(c, "thread pool", lambda name: pool)


def _in_pool(c: KernelContext, source: Any, pool: Any) -> Dataset:
    found: Any = pool[()] if isinstance(pool, np.ndarray) else pool
    narrow = limits.NarrowCallsDataset(dataset_in(source), found.threads_per_call)
    return limits.FewCallsDataset(narrow, found.threads)


for _name in ("ThreadPoolHandle", "ExperimentalThreadPoolHandle"):
    define(
        _name,
        "-> handle: resource",
        "num_threads: int; max_intra_op_parallelism: int = 1; display_name: string; "
        "container: string = ''; shared_name: string = ''",
        shape=scalars(),
        kernel=_pool,
        gradient=NONE,
        stateful=True,
        touches=(),
        doc="How many threads compute elements of the datasets that are told so.",
        test=lambda: _TEST,
    )
define_both(
    "ThreadPoolDataset",
    "ExperimentalThreadPoolDataset",
    f"{_INPUT}, thread_pool: resource",
    TYPES,
    _in_pool,
    "The same dataset, computed by the threads of a pool.",
    stateful=True,
)


# Functions of rows.


def _rows_of(c: ShapeContext) -> list[TensorShape]:
    count = None
    for i, shape in enumerate(c.inputs[: len(c.attr("Targuments"))]):
        if shape.ndims == 0:
            raise ValueError(f"Arguments must have rank at least 1. Input {i} has rank of 0.")
        size = shape[0] if shape.ndims else None
        if None not in (count, size) and count != size:
            raise ValueError("Arguments must have the same dimension 0.")
        count = size if count is None else count
    outer = TensorShape([count])
    return [outer.concatenate(as_shape(shape)) for shape in c.attr("output_shapes")]


def _same_counts(arguments: list[np.ndarray]) -> int:
    for i, column in enumerate(arguments):
        if not column.ndim:
            raise errors.invalid(
                f"All inputs must have rank at least 1. Input {i} has a rank of 0."
            )
        if len(column) != len(arguments[0]):
            raise errors.invalid(
                f"All inputs must have the same dimension 0. Input {i} has leading dimension "
                f"{len(column)}, while all previous inputs have leading dimension "
                f"{len(arguments[0])}"
            )
    return len(arguments[0])


def _stacked(i: int, parts: list[np.ndarray], shape: TensorShape, dtype: Any) -> np.ndarray:
    """The results of all calls for one output."""
    if not parts:
        if not shape.is_fully_defined():
            raise errors.invalid(f"Output {i} of no calls has no shape.")
        sizes: list[Any] = shape.as_list()
        return np.empty((0, *sizes), dtype)
    for part in parts:
        if part.dtype != dtype:
            raise errors.invalid(
                f"Expects ret[{i}] to be {np.dtype(dtype).name}, but {part.dtype.name} is provided."
            )
        if not shape.is_compatible_with(part.shape):
            raise errors.invalid(
                f"Mismatch in function retval shape, {shape_text(part.shape)}, and expected output "
                f"shape, {shape}."
            )
        shape = TensorShape(part.shape)
    return np.stack(parts)


def _map_rows(c: KernelContext, arguments: list[np.ndarray], others: list[Any]) -> Any:
    assert c.session is not None
    count = _same_counts(arguments)
    context = Context(c.session)
    context.most_threads = max(c.attr("max_intra_op_parallelism"), 0) or None
    function = context.function(captured(c, "f", others))
    rows = ([np.asarray(column[i]) for column in arguments] for i in range(count))
    found = [function(row) for row in rows]
    types, shapes = element_types(c)
    columns = zip(*found) if found else [()] * len(types)
    return tuple(
        _stacked(i, list(parts), shape, kind.base_dtype.np_dtype)
        for i, (parts, shape, kind) in enumerate(zip(columns, shapes, types))
    )


define(
    "MapDefun",
    "arguments: Targuments, captured_inputs: Tcaptured -> output: output_types",
    "Targuments: list(type) >= 1; Tcaptured: list(type) >= 0 = []; "
    f"{TYPES}; f: func; max_intra_op_parallelism: int = 1",
    shape=_rows_of,
    kernel=_map_rows,
    gradient=NONE,
    touches=(),
    dynamic_shape=True,
    doc="What a function makes of the rows of tensors, as rows.",
    test=lambda: _TEST,
)
