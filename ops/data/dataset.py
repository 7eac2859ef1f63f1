# SPDX-License-Identifier: Apache-2.0
"""`tf.data.Dataset`: what all datasets can do, as TensorFlow 1 and 2 have it."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ...engine import api
from ...engine.graph.graph import get_default_graph
from ..flow.effects import are_ordered
from ..public import raw
from . import nest, structure
from .dataset_spec import DatasetSpec
from .options import Options

AUTOTUNE = -1
api.constant("data.experimental.AUTOTUNE", AUTOTUNE)


class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow tunes parallelism."""

    HILL_CLIMB = 0
    GRADIENT_DESCENT = 1


class DatasetV2:
    """A dataset: elements, each a structure of tensors, and what makes other datasets of it.

    Args:
      variant_tensor: The tensor whose value the dataset is.
    """

    def __init__(self, variant_tensor: Any) -> None:
        self._variant_tensor_attr = variant_tensor
        self._graph_attr = get_default_graph()

    @property
    def _variant_tensor(self) -> Any:
        return self._variant_tensor_attr

    @_variant_tensor.setter
    def _variant_tensor(self, value: object) -> None:
        raise ValueError("The _variant_tensor property is read-only")

    @property
    def _graph(self) -> Any:
        return self._graph_attr

    @_graph.setter
    def _graph(self, value: object) -> None:
        raise ValueError("The _graph property is read-only")

    def _as_serialized_graph(self, stateful_whitelist: Sequence[str] | None = None) -> Any:
        """A scalar of the serialized GraphDef that makes this dataset.

        Args:
          stateful_whitelist: Types of operations with state that functions may have all the same.
        """
        return raw.DatasetToGraph(self._variant_tensor, list(stateful_whitelist or ()))

    def _inputs(self) -> list[Any]:
        """The datasets that this one reads."""
        raise NotImplementedError("Dataset._inputs")

    def _functions(self) -> list[Any]:
        """The functions that this dataset calls."""
        return []

    def _has_captured_ref(self) -> bool:
        """Whether a function of the pipeline takes a variable's reference."""

        def refers(tensor: Any) -> bool:
            return bool(tensor.dtype._is_ref_dtype) or any(map(refers, tensor.op.inputs))

        mine = (t for f in self._functions() for t in f.function.captured_inputs)
        return any(map(refers, mine)) or any(d._has_captured_ref() for d in self._inputs())

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        raise NotImplementedError("Dataset.element_spec")

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    @property
    def _flat_shapes(self) -> list[Any]:
        return structure.get_flat_tensor_shapes(self.element_spec)

    @property
    def _flat_types(self) -> list[Any]:
        return structure.get_flat_tensor_types(self.element_spec)

    @property
    def _flat_structure(self) -> dict[str, Any]:
        return {"output_shapes": self._flat_shapes, "output_types": self._flat_types}

    def __iter__(self) -> Any:
        if get_default_graph().building_function or are_ordered():
            from .iterators import IteratorV2

            return IteratorV2(self)
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager execution is enabled."
        )

    def __repr__(self) -> str:
        shapes = str(nest.map_structure(str, structure.legacy(self.element_spec, "shapes")))
        types = str(nest.map_structure(repr, structure.legacy(self.element_spec, "types")))
        shapes, types = shapes.replace("'", ""), types.replace("'", "")
        return f"<{type(self).__name__} shapes: {shapes}, types: {types}>"

    def options(self) -> Options:
        """The options of this dataset and of those that it reads."""
        options = Options()
        for source in self._inputs():
            given = source.options()
            if given is not None:
                options = options.merge(given)
        return options

    def with_options(self, options: Options) -> Any:
        """A dataset of the same elements, with options.

        Args:
          options: A tf.data.Options.

        Raises:
          ValueError: An option was set to something else before.
        """
        from .transformations import _OptionsDataset

        return _OptionsDataset(self, options)

    def _apply_options(self) -> Any:
        """The dataset as an iterator reads it."""
        from . import transformations as t

        dataset, options = self, self.options()
        threading = options.experimental_threading
        if threading is not None:
            if threading.max_intra_op_parallelism is not None:
                limit = threading.max_intra_op_parallelism
                dataset = t._MaxIntraOpParallelismDataset(dataset, limit)
            if threading.private_threadpool_size is not None:
                dataset = t._PrivateThreadPoolDataset(dataset, threading.private_threadpool_size)
        optimizations = options._static_optimizations()
        if optimizations:
            if self._has_captured_ref():
                warnings.warn(
                    "tf.data static optimizations are not compatible with tf.Variable. The "
                    "following optimizations will be disabled: "
                    f"{', '.join(optimizations)}. To enable optimizations, use resource variables "
                    "instead by calling `tf.enable_resource_variables()` at the start of the "
                    "program.",
                    stacklevel=2,
                )
            else:
                configs = options._static_optimization_configs()
                dataset = t._OptimizeDataset(dataset, optimizations, configs)
        tuning = options.experimental_optimization
        if tuning is None:
            dataset = t._ModelDataset(dataset, AutotuneAlgorithm.HILL_CLIMB, 0)
        elif tuning.autotune is not False:
            algorithm = tuning.autotune_algorithm
            algorithm = AutotuneAlgorithm.HILL_CLIMB if algorithm is None else algorithm
            dataset = t._ModelDataset(dataset, algorithm, tuning.autotune_cpu_budget or 0)
        statistics = options.experimental_stats
        if statistics is not None and statistics.aggregator:
            from .experimental.elements import set_stats_aggregator

            told = statistics.aggregator, statistics.prefix, statistics.counter_prefix
            dataset = set_stats_aggregator(*told)(dataset)
        return dataset

    # Sources

    @staticmethod
    def from_tensors(tensors: Any) -> Any:
        """A dataset of one element.

        Args:
          tensors: The element: a structure of what can be tensors.

        Example:
            >>> dataset = tf.data.Dataset.from_tensors([1, 2])
            >>> tf.Session().run(tf.data.make_one_shot_iterator(dataset).get_next())
            array([1, 2], dtype=int32)
        """
        from .sources import TensorDataset

        return TensorDataset(tensors)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Any:
        """A dataset of the slices of tensors along their first axis.

        Args:
          tensors: A structure of what can be tensors, all of one length.

        Raises:
          ValueError: The lengths differ.

        Example:
            >>> dataset = tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]])
            >>> element = tf.data.make_one_shot_iterator(dataset).get_next()
            >>> sess = tf.Session()
            >>> sess.run(element), sess.run(element)
            (array([1, 2], dtype=int32), array([3, 4], dtype=int32))
        """
        from .sources import TensorSliceDataset

        return TensorSliceDataset(tensors)

    @staticmethod
    def from_generator(
        generator: Any, output_types: Any, output_shapes: Any = None, args: Any = None
    ) -> Any:
        """A dataset of what a Python generator yields.

        Args:
          generator: A function that returns something to iterate over, each time it is called.
          output_types: The dtypes of an element's components, in its structure.
          output_shapes: Their shapes; unknown if None.
          args: Tensors whose values `generator` is called with.

        Raises:
          TypeError: `generator` cannot be called.
        """
        from .generators import from_generator

        return from_generator(generator, output_types, output_shapes, args)

    @staticmethod
    def range(*args: Any) -> Any:
        """A dataset of numbers, step by step.

        Args:
          *args: As of Python's `range`: stop; start and stop; or start, stop and step.

        Raises:
          ValueError: There are none, or more than three.
        """
        from .sources import RangeDataset

        return RangeDataset(*args)

    @staticmethod
    def zip(datasets: Any) -> Any:
        """A dataset of elements of several datasets side by side, as long as all have one.

        Args:
          datasets: A structure of datasets.

        Raises:
          TypeError: Something in it is no dataset.
        """
        from .transformations import ZipDataset

        return ZipDataset(datasets)

    @staticmethod
    def list_files(file_pattern: Any, shuffle: Any = None, seed: Any = None) -> Any:
        """A dataset of the names of files that match a pattern.

        Args:
          file_pattern: A pattern, or several.
          shuffle: Whether their order is random, as it is unless this is False.
          seed: Of the order.

        Raises:
          InvalidArgumentError: In a run no file matches.
        """
        from .sources import list_files

        return list_files(file_pattern, shuffle, seed)

    # Transformations

    def concatenate(self, dataset: Any) -> Any:
        """A dataset of these elements, then those of another dataset of the same types.

        Raises:
          TypeError: The types differ.
        """
        return _transformation("ConcatenateDataset")(self, dataset)

    def prefetch(self, buffer_size: Any) -> Any:
        """A dataset of the same elements, of which some are read ahead in a thread.

        Args:
          buffer_size: At most so many.
        """
        return _transformation("PrefetchDataset")(self, buffer_size)

    def repeat(self, count: Any = None) -> Any:
        """A dataset of the elements `count` times over; for ever if it is None or -1."""
        return _transformation("RepeatDataset")(self, count)

    def enumerate(self, start: Any = 0) -> Any:
        """A dataset of pairs: a number, from `start` on, and an element."""
        from .dataset_v1 import DatasetV1

        return DatasetV1.zip((DatasetV1.range(start, _LARGEST), self))

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: Any = None
    ) -> Any:
        """A dataset of the elements in random order: each is drawn from a buffer.

        Args:
          buffer_size: How many elements the buffer holds.
          seed: Of the order; the same seeds give TensorFlow's order.
          reshuffle_each_iteration: Whether each repetition has an order of its own; None: yes.

        Example:
            >>> dataset = tf.data.Dataset.range(4).shuffle(4, seed=1).batch(4)
            >>> sorted(tf.Session().run(tf.data.make_one_shot_iterator(dataset).get_next()))
            [np.int64(0), np.int64(1), np.int64(2), np.int64(3)]
        """
        made = _transformation("ShuffleDataset")
        return made(self, buffer_size, seed, reshuffle_each_iteration)

    def cache(self, filename: Any = "") -> Any:
        """A dataset that keeps the elements once they were read: in memory, or in files.

        Args:
          filename: What the names of the files begin with; "" for memory.
        """
        return _transformation("CacheDataset")(self, filename)

    def take(self, count: Any) -> Any:
        """A dataset of the first `count` elements; of all if it is -1."""
        return _transformation("TakeDataset")(self, count)

    def skip(self, count: Any) -> Any:
        """A dataset of all but the first `count` elements; of none if it is -1."""
        return _transformation("SkipDataset")(self, count)

    def shard(self, num_shards: Any, index: Any) -> Any:
        """A dataset of every `num_shards`-th element, from number `index` on."""
        return _transformation("ShardDataset")(self, num_shards, index)

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Any:
        """A dataset of several elements, all of one shape, as one.

        Args:
          batch_size: How many.
          drop_remainder: Whether a last, smaller batch is left out.
        """
        return _transformation("BatchDataset")(self, batch_size, drop_remainder)

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any,
        padding_values: Any = None,
        drop_remainder: Any = False,
    ) -> Any:
        """A dataset of several elements, padded at their ends to one shape, as one.

        Args:
          batch_size: How many.
          padded_shapes: The shapes of components; None in one means the longest of the batch.
          padding_values: What is appended; 0 or "" if None.
          drop_remainder: Whether a last, smaller batch is left out.
        """
        made = _transformation("PaddedBatchDataset")
        return made(self, batch_size, padded_shapes, padding_values, drop_remainder)

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Any:
        """A dataset of the results of a function of each element.

        Args:
          map_func: A function of an element's components.
          num_parallel_calls: For how many elements at a time it is called; AUTOTUNE: as fits.

        Example:
            >>> dataset = tf.data.Dataset.range(3).map(lambda x: x * 2).batch(3)
            >>> tf.Session().run(tf.data.make_one_shot_iterator(dataset).get_next())
            array([0, 2, 4])
        """
        if num_parallel_calls is None:
            return _transformation("MapDataset")(self, map_func, preserve_cardinality=True)
        made = _transformation("ParallelMapDataset")
        return made(self, map_func, num_parallel_calls, preserve_cardinality=True)

    def flat_map(self, map_func: Callable[..., Any]) -> Any:
        """A dataset of the elements of datasets that a function makes of each element."""
        return _transformation("FlatMapDataset")(self, map_func)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = AUTOTUNE,
        block_length: Any = 1,
        num_parallel_calls: Any = None,
    ) -> Any:
        """A dataset of the elements of datasets that a function makes, several in turns.

        Args:
          map_func: A function from an element to a dataset.
          cycle_length: How many datasets take turns.
          block_length: How many elements each gives at a time.
          num_parallel_calls: How many are read at a time; AUTOTUNE: all that take turns.
        """
        if num_parallel_calls is None:
            made = _transformation("InterleaveDataset")
            return made(self, map_func, cycle_length, block_length)
        made = _transformation("ParallelInterleaveDataset")
        return made(self, map_func, cycle_length, block_length, num_parallel_calls)

    def filter(self, predicate: Callable[..., Any]) -> Any:
        """A dataset of the elements for which a function holds."""
        return _transformation("FilterDataset")(self, predicate)

    def apply(self, transformation_func: Callable[[Any], Any]) -> Any:
        """The dataset that a function makes of this one.

        Raises:
          TypeError: It returns something else.
        """
        dataset = transformation_func(self)
        if not isinstance(dataset, DatasetV2):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {dataset}.")
        dataset._input_datasets = [self]  # type: ignore[attr-defined]
        return dataset

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False
    ) -> Any:
        """A dataset of datasets of neighbouring elements, one for each component.

        Args:
          size: How many elements are in a window.
          shift: How far windows are apart; `size` if None.
          stride: How far the elements of a window are apart.
          drop_remainder: Whether windows with fewer elements are left out.
        """
        shift = size if shift is None else shift
        return _transformation("WindowDataset")(self, size, shift, stride, drop_remainder)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """What a function makes of a state and all elements, one after the other.

        Args:
          initial_state: The state to begin with.
          reduce_func: A function of the state and an element that returns the next state.

        Raises:
          TypeError: The next state is of another type.

        Example:
            >>> total = tf.data.Dataset.range(4).reduce(np.int64(0), lambda s, x: s + x)
            >>> tf.Session().run(total)
            np.int64(6)
        """
        from .reducing import reduce

        return reduce(self, initial_state, reduce_func)

    def unbatch(self) -> Any:
        """A dataset of the rows of the elements."""
        from .transformations import unbatch

        return unbatch(self)


_LARGEST = 2**63 - 1


class _VariantDataset(DatasetV2):
    """A dataset of which only the variant tensor and the types of elements are known."""

    def __init__(self, dataset_variant: Any, structure: Any) -> None:
        self._structure = structure
        super().__init__(dataset_variant)

    def _inputs(self) -> list[Any]:
        return []

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._structure


class _NestedVariant:
    """A tensor of datasets."""

    def __init__(self, variant_tensor: Any, element_spec: Any, dataset_shape: Any) -> None:
        self._variant_tensor = variant_tensor
        self._element_spec = element_spec
        self._dataset_shape = dataset_shape

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self._element_spec, self._dataset_shape)


def _transformation(name: str) -> Any:
    from . import transformations

    return getattr(transformations, name)
