# SPDX-License-Identifier: Apache-2.0
"""The classes of datasets that read no other."""

from __future__ import annotations

from typing import Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.tensor import SparseTensor
from ...engine.interface.specs import TensorSpec
from ...engine.types import dtypes
from ...engine.types.shape import Dimension, dimension_value
from ..public import raw, tf
from . import nest, structure
from .dataset import DatasetV2
from .functions import StructuredFunctionWrapper


class DatasetSource(DatasetV2):
    """A dataset that reads no other."""

    _structure: Any

    def _inputs(self) -> list[Any]:
        return []

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._structure


class TensorDataset(DatasetSource):
    """A dataset of one element."""

    def __init__(self, element: Any) -> None:
        element = structure.normalize_element(element)
        self._structure = structure.type_spec_from_value(element)
        self._tensors = structure.to_tensor_list(self._structure, element)
        shapes = structure.get_flat_tensor_shapes(self._structure)
        super().__init__(raw.TensorDataset(self._tensors, output_shapes=shapes))


class TensorSliceDataset(DatasetSource):
    """A dataset of the slices of tensors along their first axis."""

    def __init__(self, element: Any) -> None:
        element = structure.normalize_element(element)
        batched = structure.type_spec_from_value(element)
        self._tensors = structure.to_batched_tensor_list(batched, element)
        self._structure = nest.map_structure(lambda spec: spec._unbatch(), batched)
        size = Dimension(dimension_value(self._tensors[0].shape[0]))
        for tensor in self._tensors[1:]:
            size.assert_is_compatible_with(Dimension(dimension_value(tensor.shape[0])))
        shapes = structure.get_flat_tensor_shapes(self._structure)
        super().__init__(raw.TensorSliceDataset(self._tensors, output_shapes=shapes))


class SparseTensorSliceDataset(DatasetSource):
    """A dataset of the slices of a SparseTensor: indices, values and shape of each."""

    def __init__(self, sparse_tensor: Any) -> None:
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(
                f"`sparse_tensor` must be a `tf.SparseTensor` object. Was {sparse_tensor}."
            )
        self._sparse_tensor = sparse_tensor
        indices: Any = sparse_tensor.indices.shape
        sizes: Any = sparse_tensor.dense_shape.shape
        rank = (indices.dims[1] - 1).merge_with(sizes.dims[0] - 1)
        self._structure = (
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], sparse_tensor.dtype),
            TensorSpec([rank], dtypes.int64),
        )
        super().__init__(
            raw.SparseTensorSliceDataset(
                sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape
            )
        )


class RangeDataset(DatasetSource):
    """A dataset of numbers, step by step."""

    def __init__(self, *args: Any) -> None:
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid arguments to RangeDataset: {args}")
        start, stop = (0, args[0]) if len(args) == 1 else args[:2]
        step = args[2] if len(args) == 3 else 1
        self._start = convert_to_tensor(start, dtype=dtypes.int64, name="start")
        self._stop = convert_to_tensor(stop, dtype=dtypes.int64, name="stop")
        self._step = convert_to_tensor(step, dtype=dtypes.int64, name="step")
        self._structure = TensorSpec([], dtypes.int64)
        super().__init__(
            raw.RangeDataset(
                start=self._start, stop=self._stop, step=self._step, **self._flat_structure
            )
        )


class _GeneratorDataset(DatasetSource):
    """A dataset of what a function gives until it is out of range."""

    def __init__(self, init_args: Any, init_func: Any, next_func: Any, finalize_func: Any) -> None:
        self._init_args = init_args
        self._init_structure = structure.type_spec_from_value(init_args)
        name = "Dataset.from_generator()"
        init = StructuredFunctionWrapper(init_func, name, input_structure=self._init_structure)
        state = init.output_structure
        following = StructuredFunctionWrapper(next_func, name, input_structure=state)
        last = StructuredFunctionWrapper(finalize_func, name, input_structure=state)
        self._init_func, self._next_func, self._finalize_func = init, following, last
        self._structure = following.output_structure
        arguments = structure.to_tensor_list(self._init_structure, init_args)
        super().__init__(
            raw.GeneratorDataset(
                arguments + init.captured,
                following.captured,
                last.captured,
                init_func=init.attribute,
                next_func=following.attribute,
                finalize_func=last.attribute,
                **self._flat_structure,
            )
        )


def list_files(file_pattern: Any, shuffle: Any, seed: Any) -> Any:
    """See `tf.data.Dataset.list_files`."""
    from .dataset_v1 import DatasetV1

    with name_scope("list_files"):
        pattern = convert_to_tensor(file_pattern, dtype=dtypes.string, name="file_pattern")
        files = raw.MatchingFiles(pattern)
        condition = tf.greater(tf.shape(files)[0], 0, name="match_not_empty")
        patterns = tf.reduce_join(pattern, separator=", ")
        message = tf.add("No files matched pattern: ", patterns, name="message")
        found = tf.Assert(condition, [message], summarize=1, name="assert_not_empty")
        with control_dependencies([found]):
            files = tf.identity(files)
        dataset = DatasetV1.from_tensor_slices(files)
        if shuffle is None or shuffle:
            size = tf.maximum(tf.shape(files, out_type=dtypes.int64)[0], 1)
            dataset = dataset.shuffle(size, seed=seed)
        return dataset
