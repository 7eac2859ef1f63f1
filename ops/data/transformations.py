# SPDX-License-Identifier: Apache-2.0
"""The classes of datasets that read others, without functions."""

from __future__ import annotations

from typing import Any

from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import device
from ...engine.types import dtypes
from ...engine.types.shape import Dimension
from ..public import raw, tf
from . import nest, structure
from .arguments import get_seed
from .dataset import AutotuneAlgorithm, DatasetV2
from .dataset_spec import DatasetSpec
from .mapping import (  # noqa: F401  all classes are found here
    FilterDataset,
    FlatMapDataset,
    InterleaveDataset,
    MapDataset,
    ParallelInterleaveDataset,
    ParallelMapDataset,
)
from .options import Options
from .padding import PaddedBatchDataset  # noqa: F401
from .unary import UnaryDataset, UnaryUnchangedStructureDataset, int64


class ZipDataset(DatasetV2):
    """Elements of several datasets side by side."""

    def __init__(self, datasets: Any) -> None:
        flat = nest.flatten(datasets)
        for dataset in flat:
            if not isinstance(dataset, DatasetV2):
                text = "The argument to `Dataset.zip()` must be a nested structure of `Dataset` "
                text += "objects."
                if isinstance(dataset, list):
                    text += " Nested structures do not support Python lists; please use a tuple "
                    text += "instead."
                raise TypeError(text)
        self._datasets = datasets
        self._structure = nest.pack_sequence_as(datasets, [d.element_spec for d in flat])
        variants = [dataset._variant_tensor for dataset in flat]
        super().__init__(raw.ZipDataset(variants, **self._flat_structure))

    def _inputs(self) -> list[Any]:
        return nest.flatten(self._datasets)

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._structure


class ConcatenateDataset(DatasetV2):
    """The elements of one dataset, then those of another."""

    def __init__(self, input_dataset: Any, dataset_to_concatenate: Any) -> None:
        self._input_dataset = input_dataset
        self._dataset_to_concatenate = dataset_to_concatenate
        first, second = input_dataset.element_spec, dataset_to_concatenate.element_spec
        for what in ("types", "classes"):
            mine, theirs = structure.legacy(first, what), structure.legacy(second, what)
            if mine != theirs:
                raise TypeError(
                    f"Two datasets to concatenate have different {what} {mine} and {theirs}"
                )
        shapes = structure.legacy(first, "shapes")
        pairs = zip(nest.flatten(shapes), nest.flatten(structure.legacy(second, "shapes")))
        common = [a.most_specific_compatible_shape(b) for a, b in pairs]
        self._structure = structure.convert_legacy_structure(
            structure.legacy(first, "types"),
            nest.pack_sequence_as(shapes, common),
            structure.legacy(first, "classes"),
        )
        self._input_datasets = [input_dataset, dataset_to_concatenate]
        super().__init__(
            raw.ConcatenateDataset(
                input_dataset._variant_tensor,
                dataset_to_concatenate._variant_tensor,
                **self._flat_structure,
            )
        )

    def _inputs(self) -> list[Any]:
        return self._input_datasets

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._structure


class RepeatDataset(UnaryUnchangedStructureDataset):
    """The elements again and again."""

    def __init__(self, input_dataset: Any, count: Any) -> None:
        self._input_dataset = input_dataset
        if count is None:
            self._count = tf.constant(-1, dtype=dtypes.int64, name="count")
        else:
            self._count = int64(count, "count")
        self._unchanged(raw.RepeatDataset, count=self._count)


class TakeDataset(UnaryUnchangedStructureDataset):
    """The first elements."""

    def __init__(self, input_dataset: Any, count: Any) -> None:
        self._input_dataset = input_dataset
        self._count = int64(count, "count")
        self._unchanged(raw.TakeDataset, count=self._count)


class SkipDataset(UnaryUnchangedStructureDataset):
    """All but the first elements."""

    def __init__(self, input_dataset: Any, count: Any) -> None:
        self._input_dataset = input_dataset
        self._count = int64(count, "count")
        self._unchanged(raw.SkipDataset, count=self._count)


class ShardDataset(UnaryUnchangedStructureDataset):
    """Every n-th element."""

    def __init__(self, input_dataset: Any, num_shards: Any, index: Any) -> None:
        self._input_dataset = input_dataset
        self._num_shards = int64(num_shards, "num_shards")
        self._index = int64(index, "index")
        self._unchanged(raw.ShardDataset, num_shards=self._num_shards, index=self._index)


class CacheDataset(UnaryUnchangedStructureDataset):
    """The elements, kept once they were read."""

    def __init__(self, input_dataset: Any, filename: Any) -> None:
        self._input_dataset = input_dataset
        self._filename = convert_to_tensor(filename, dtype=dtypes.string, name="filename")
        self._unchanged(raw.CacheDataset, filename=self._filename)


class ShuffleDataset(UnaryUnchangedStructureDataset):
    """The elements in random order."""

    def __init__(
        self,
        input_dataset: Any,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: Any = None,
    ) -> None:
        self._input_dataset = input_dataset
        self._buffer_size = int64(buffer_size, "buffer_size")
        self._seed, self._seed2 = get_seed(seed)
        again = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        self._reshuffle_each_iteration = again
        self._unchanged(
            raw.ShuffleDataset,
            buffer_size=self._buffer_size,
            seed=self._seed,
            seed2=self._seed2,
            reshuffle_each_iteration=again,
        )


class BatchDataset(UnaryDataset):
    """Several elements as one."""

    def __init__(self, input_dataset: Any, batch_size: Any, drop_remainder: Any) -> None:
        self._batch_size = int64(batch_size, "batch_size")
        self._drop_remainder = convert_to_tensor(
            drop_remainder, dtype=dtypes.bool, name="drop_remainder"
        )
        drops = constant_value(self._drop_remainder)
        size = constant_value(self._batch_size) if drops else None
        size = None if size is None else int(size)
        self._structure = nest.map_structure(lambda s: s._batch(size), input_dataset.element_spec)
        variant = raw.BatchDatasetV2(
            input_dataset._variant_tensor,
            batch_size=self._batch_size,
            drop_remainder=self._drop_remainder,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)


class PrefetchDataset(UnaryUnchangedStructureDataset):
    """The elements, some of them read ahead."""

    def __init__(self, input_dataset: Any, buffer_size: Any, slack_period: Any = None) -> None:
        self._input_dataset = input_dataset
        self._buffer_size = int64(-1 if buffer_size is None else buffer_size, "buffer_size")
        with device(input_dataset._variant_tensor.device):
            self._unchanged(
                raw.PrefetchDataset,
                buffer_size=self._buffer_size,
                **({} if slack_period is None else {"slack_period": slack_period}),
            )


class WindowDataset(UnaryDataset):
    """Datasets of neighbouring elements."""

    def __init__(
        self, input_dataset: Any, size: Any, shift: Any, stride: Any, drop_remainder: Any
    ) -> None:
        self._size, self._shift = int64(size, "size"), int64(shift, "shift")
        self._stride = int64(stride, "stride")
        self._drop_remainder = convert_to_tensor(
            drop_remainder, dtype=dtypes.bool, name="drop_remainder"
        )
        self._structure = nest.map_structure(DatasetSpec, input_dataset.element_spec)
        variant = raw.WindowDataset(
            input_dataset._variant_tensor,
            self._size,
            self._shift,
            self._stride,
            self._drop_remainder,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)


class _OptionsDataset(UnaryUnchangedStructureDataset):
    """The same dataset with options."""

    def __init__(self, input_dataset: Any, options: Options) -> None:
        given = input_dataset.options()
        self._options = given.merge(options) if given else options
        super().__init__(input_dataset, input_dataset._variant_tensor)

    def options(self) -> Options:
        """The options."""
        return self._options


class _ModelDataset(UnaryUnchangedStructureDataset):
    """The same elements; where TensorFlow tunes parallelism."""

    def __init__(self, input_dataset: Any, algorithm: Any, cpu_budget: int) -> None:
        self._input_dataset = input_dataset
        chosen = {} if algorithm == AutotuneAlgorithm.HILL_CLIMB else {"algorithm": algorithm}
        self._unchanged(raw.ModelDataset, cpu_budget=cpu_budget, **chosen)


class _OptimizeDataset(UnaryUnchangedStructureDataset):
    """The same elements; where TensorFlow rewrites a pipeline."""

    def __init__(self, input_dataset: Any, optimizations: Any, configs: Any = None) -> None:
        self._input_dataset = input_dataset
        self._optimizations = convert_to_tensor(
            optimizations or [], dtype=dtypes.string, name="optimizations"
        )
        self._unchanged(
            raw.OptimizeDataset,
            optimizations=self._optimizations,
            optimization_configs=configs or [],
        )


class _MaxIntraOpParallelismDataset(UnaryUnchangedStructureDataset):
    """The same elements, computed by at most so many threads for each operation."""

    def __init__(self, input_dataset: Any, limit: Any) -> None:
        self._input_dataset = input_dataset
        self._max_intra_op_parallelism = int64(limit, "max_intra_op_parallelism")
        limit = self._max_intra_op_parallelism
        self._unchanged(raw.MaxIntraOpParallelismDataset, max_intra_op_parallelism=limit)


class _PrivateThreadPoolDataset(UnaryUnchangedStructureDataset):
    """The same elements, computed by threads of their own."""

    def __init__(self, input_dataset: Any, num_threads: Any) -> None:
        self._input_dataset = input_dataset
        self._num_threads = int64(num_threads, "num_threads")
        self._unchanged(raw.PrivateThreadPoolDataset, num_threads=self._num_threads)


class _RestructuredDataset(UnaryDataset):
    """The same elements in another structure."""

    def __init__(self, dataset: Any, structure: Any) -> None:
        self._structure = structure
        super().__init__(dataset, dataset._variant_tensor)


class _UnbatchDataset(UnaryDataset):
    """The rows of elements."""

    def __init__(self, input_dataset: Any) -> None:
        shapes = input_dataset._flat_shapes
        if any(shape.ndims == 0 for shape in shapes):
            raise ValueError("Cannot unbatch an input with scalar components.")
        size = Dimension(None)
        for shape in shapes:
            try:
                size = size.merge_with(shape[0])
            except ValueError:
                raise ValueError(
                    "Cannot unbatch an input whose components have different batch sizes."
                ) from None
        self._structure = nest.map_structure(lambda s: s._unbatch(), input_dataset.element_spec)
        variant = raw.UnbatchDataset(input_dataset._variant_tensor, **self._flat_structure)
        super().__init__(input_dataset, variant)


def unbatch(dataset: Any) -> Any:
    """See `tf.data.Dataset.unbatch`."""

    def normalize(*components: Any) -> Any:
        spec = dataset.element_spec
        value = components if len(components) > 1 else components[0]
        return tuple(structure.to_batched_tensor_list(spec, value))

    return _UnbatchDataset(_RestructuredDataset(dataset.map(normalize), dataset.element_spec))
