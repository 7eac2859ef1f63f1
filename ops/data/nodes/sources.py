# SPDX-License-Identifier: Apache-2.0
"""The ops of datasets that read no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ..runtime import sources
from ..runtime.dataset import Dataset
from .common import TYPES, captured, define_dataset, element_types, scalar, scalars

if TYPE_CHECKING:
    from ....engine.graph.kernel_context import KernelContext

_COMPONENTS = "Toutput_types: list(type) >= 1; output_shapes: list(shape) >= 1"


def _components(values: list[Any]) -> tuple[np.ndarray, ...]:
    return tuple(map(sources.component_of, values))


def _tensor(c: KernelContext, components: list[Any]) -> Dataset:
    return sources.TensorDataset(*element_types(c), _components(components))


def _slices(c: KernelContext, components: list[Any]) -> Dataset:
    return sources.SliceDataset(*element_types(c), _components(components))


def _range(c: KernelContext, start: Any, stop: Any, step: Any) -> Dataset:
    numbers = scalar(start, "start"), scalar(stop, "stop"), scalar(step, "step")
    return sources.RangeDataset(*element_types(c), numbers)


def _sparse_slices(
    c: KernelContext, indices: np.ndarray, values: np.ndarray, dense_shape: np.ndarray
) -> Dataset:
    rank = len(dense_shape) - 1 if dense_shape.ndim == 1 else None
    shapes = [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]
    types = [dtypes.int64, c.op._attrs["Tvalues"], dtypes.int64]
    return sources.SparseSliceDataset(types, shapes, (indices, values, dense_shape))


def _generator(c: KernelContext, init: list[Any], following: list[Any], last: list[Any]) -> Dataset:
    functions = (
        captured(c, "init_func", init),
        captured(c, "next_func", following),
        captured(c, "finalize_func", last),
    )
    return sources.GeneratorDataset(*element_types(c), functions)


define_dataset(
    "TensorDataset",
    "components: Toutput_types",
    _COMPONENTS,
    _tensor,
    "A dataset of one element.",
    stateful=True,
)
define_dataset(
    "TensorSliceDataset",
    "components: Toutput_types",
    _COMPONENTS,
    _slices,
    "A dataset of the slices of tensors along their first axis.",
    stateful=True,
)
define_dataset(
    "SparseTensorSliceDataset",
    "indices: int64, values: Tvalues, dense_shape: int64",
    "Tvalues: type",
    _sparse_slices,
    "A dataset of the slices of a sparse tensor along its first axis.",
    stateful=True,
)
define_dataset(
    "RangeDataset",
    "start: int64, stop: int64, step: int64",
    TYPES,
    _range,
    "A dataset of numbers, step by step.",
    shape=scalars(0, 0, 0),
    stateful=True,
)
define_dataset(
    "GeneratorDataset",
    "init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, "
    "finalize_func_other_args: Tfinalize_func_args",
    "init_func: func; next_func: func; finalize_func: func; Tinit_func_args: list(type) >= 0; "
    f"Tnext_func_args: list(type) >= 0; Tfinalize_func_args: list(type) >= 0; {TYPES}",
    _generator,
    "A dataset of what a function gives until it is out of range.",
    stateful=True,
)
