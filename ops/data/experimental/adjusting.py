# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow has for datasets beside the public API: replicas, pools of threads, sleeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import get_default_graph
from ....engine.types import dtypes
from ....engine.types import nest as types_nest
from ....engine.types.shape import TensorShape, as_shape
from ...flow.function_library import Defun
from ...flow.graph_functions import Function
from ...public import raw
from .. import nest, structure
from ..dataset import DatasetV2
from ..dataset_spec import DatasetSpec
from ..functions import StructuredFunctionWrapper, name_list
from ..transformations import _ModelDataset, _OptimizeDataset
from ..unary import UnaryDataset, UnaryUnchangedStructureDataset, int64

Change = Callable[[Any], Any]


class _RebatchDataset(UnaryDataset):
    """The batches of a dataset, each cut into `num_replicas` parts."""

    def __init__(self, input_dataset: Any, num_replicas: int, use_fallback: bool = True) -> None:
        del use_fallback  # TensorFlow 1.15 does not hand it on either
        spec = input_dataset.element_spec
        types, classes = (structure.legacy(spec, what) for what in ("types", "classes"))
        shapes = nest.map_structure(
            lambda shape: _cut_shape(shape, num_replicas), structure.legacy(spec, "shapes")
        )
        self._structure = structure.convert_legacy_structure(types, shapes, classes)
        variant = raw.RebatchDataset(
            input_dataset._variant_tensor, num_replicas=num_replicas, **self._flat_structure
        )
        super().__init__(input_dataset, variant)


class _AutoShardDataset(UnaryUnchangedStructureDataset):
    """The part of a dataset that worker `index` of `num_workers` has: files, or else elements."""

    def __init__(self, input_dataset: Any, num_workers: int, index: int) -> None:
        self._input_dataset = input_dataset
        self._unchanged(raw.AutoShardDataset, num_workers=num_workers, index=index)


def _cut_shape(shape: TensorShape, parts: int) -> TensorShape:
    if len(shape) < 1:
        raise ValueError(
            "Input shape should have at least one dimension. Perhaps your input dataset is not "
            "batched?"
        )
    count, *rest = shape.as_list()
    part = None if count is None or count % parts else count // parts
    return TensorShape([part, *rest])


class PrivateThreadPool:
    """Threads of a dataset's own.

    Args:
      num_threads: How many calls of functions go on at a time.
      display_name: A name for messages.
      max_intra_op_parallelism: How many threads each call has.
    """

    def __init__(
        self, num_threads: int, display_name: str | None = None, max_intra_op_parallelism: int = 1
    ) -> None:
        self._resource = raw.ThreadPoolHandle(
            num_threads=num_threads,
            max_intra_op_parallelism=max_intra_op_parallelism,
            display_name=display_name or "",
        )


class _ThreadPoolDataset(UnaryUnchangedStructureDataset):
    """The same elements, computed by a pool's threads."""

    def __init__(self, input_dataset: Any, thread_pool: PrivateThreadPool) -> None:
        self._input_dataset, self._thread_pool = input_dataset, thread_pool
        self._unchanged(raw.ThreadPoolDataset, thread_pool=thread_pool._resource)


def override_threadpool(dataset: Any, thread_pool: PrivateThreadPool) -> Any:
    """The dataset, what is parallel of which is done by the threads of a pool."""
    return _ThreadPoolDataset(dataset, thread_pool)


class _SleepDataset(UnaryUnchangedStructureDataset):
    """The same elements, each after a while."""

    def __init__(self, input_dataset: Any, sleep_microseconds: int) -> None:
        self._input_dataset = input_dataset
        self._sleep_microseconds = sleep_microseconds
        self._unchanged(raw.SleepDataset, sleep_microseconds=sleep_microseconds)


def sleep(sleep_microseconds: int) -> Change:
    """A transformation that waits before each element."""
    return lambda dataset: _SleepDataset(dataset, sleep_microseconds)


class _AssertNextDataset(UnaryUnchangedStructureDataset):
    """The same elements, if the transformations behind are those that are told."""

    def __init__(self, input_dataset: Any, transformations: Any) -> None:
        if transformations is None:
            raise ValueError("At least one transformation should be specified")
        self._input_dataset = input_dataset
        self._transformations = convert_to_tensor(
            transformations, dtype=dtypes.string, name="transformations"
        )
        self._unchanged(raw.AssertNextDataset, transformations=self._transformations)


def assert_next(transformations: Any) -> Change:
    """A transformation that fails unless the ones behind it are of given kinds, such as "Map"."""
    return lambda dataset: _AssertNextDataset(dataset, transformations)


class _NonSerializableDataset(UnaryUnchangedStructureDataset):
    """The same elements."""

    def __init__(self, input_dataset: Any) -> None:
        self._input_dataset = input_dataset
        self._unchanged(raw.NonSerializableDataset)


def non_serializable() -> Change:
    """A transformation that changes nothing."""
    return _NonSerializableDataset


def model() -> Change:
    """A transformation that changes nothing: AUTOTUNE needs no model here."""
    return lambda dataset: _ModelDataset(dataset, 0, 0)


def optimize(optimizations: Any = None) -> Change:
    """A transformation that rewrites a pipeline where rewrites change the order of elements."""
    return lambda dataset: _OptimizeDataset(dataset, optimizations)


class _ChooseFastestDataset(DatasetV2):
    """One of several datasets of the same elements."""

    def __init__(self, datasets: Sequence[Any], num_experiments: int = 10) -> None:
        self._datasets = list(datasets)
        variants = [dataset._variant_tensor for dataset in self._datasets]
        super().__init__(
            raw.ChooseFastestDataset(
                variants, num_experiments=num_experiments, **self._flat_structure
            )
        )

    def _inputs(self) -> list[Any]:
        return self._datasets

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._datasets[0].element_spec


class _ChooseFastestBranchDataset(UnaryDataset):
    """What one of several functions makes of a dataset; all make the same elements of it.

    Args:
      input_dataset: A dataset.
      functions: Functions from a dataset to a dataset.
      ratio_numerator: So many elements of the input
      ratio_denominator: become so many of the result.
      num_elements_per_branch: How many of them TensorFlow takes of each function to measure it;
        ten times the denominator unless given.

    Raises:
      ValueError: The ratio is not positive.
    """

    def __init__(
        self,
        input_dataset: Any,
        functions: Sequence[Change],
        ratio_numerator: int = 1,
        ratio_denominator: int = 1,
        num_elements_per_branch: int | None = None,
    ) -> None:
        if ratio_numerator <= 0 or ratio_denominator <= 0:
            raise ValueError("ratio must be positive.")
        given = DatasetSpec(input_dataset.element_spec)
        self._funcs = [
            StructuredFunctionWrapper(each, "ChooseFastestV2", input_structure=given)
            for each in functions
        ]
        self._structure = self._funcs[0].output_structure._element_spec
        captured = [func.function.captured_inputs for func in self._funcs]
        variant = raw.ChooseFastestBranchDataset(
            input_dataset._variant_tensor,
            int64(ratio_numerator, "ratio_numerator"),
            int64(ratio_denominator, "ratio_denominator"),
            [tensor for tensors in captured for tensor in tensors],
            num_elements_per_branch=num_elements_per_branch or 10 * ratio_denominator,
            branches=[func.attribute for func in self._funcs],
            other_arguments_lengths=[len(tensors) for tensors in captured],
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    def _functions(self) -> list[Any]:
        """The functions that this dataset calls."""
        return self._funcs


def _of_graph(fn: Any) -> Any:
    """The function of a graph that a `tf.function` is for the tensors of its signature."""
    if not isinstance(fn, Function):
        return fn
    if fn.input_signature is None:
        raise ValueError(f"{fn} needs an input_signature, by which it becomes a graph's function.")
    specs = types_nest.flatten(fn.input_signature)

    def of_tensors(*tensors: Any) -> Any:
        for tensor, spec in zip(tensors, specs):
            tensor.set_shape(spec.shape)
        given = types_nest.pack_sequence_as(fn.input_signature, tensors)
        return types_nest.flatten(fn.python_function(*given))

    return Defun(*(spec.dtype for spec in specs))(of_tensors)


def map_defun(
    fn: Any,
    elems: Sequence[Any],
    output_dtypes: Sequence[Any],
    output_shapes: Sequence[Any],
    max_intra_op_parallelism: int = 1,
) -> Any:
    """What a function makes of the rows of tensors, as rows.

    Args:
      fn: A function of a graph, as `Defun` makes them, or a `tf.function` with an input signature,
        of as many tensors as there are.
      elems: A list of tensors with as many rows each.
      output_dtypes: A list of the types of its results.
      output_shapes: A list of their shapes.
      max_intra_op_parallelism: How many threads each call has at most; 0: as many as there are.

    Returns:
      A list of tensors with a row for each call.

    Raises:
      ValueError: An argument is no list.
    """
    for value, text in (
        (elems, "`elems` must be a list of tensors."),
        (output_dtypes, "`output_dtypes` must be a list of `tf.DType` objects."),
        (output_shapes, "`output_shapes` must be a list of `tf.TensorShape` objects."),
    ):
        if not isinstance(value, list):
            raise ValueError(text)
    rows = [convert_to_tensor(elem) for elem in elems]
    fn = _of_graph(fn)
    fn.add_to_graph(get_default_graph())
    return raw.MapDefun(
        rows,
        list(fn.captured_inputs),
        output_dtypes,
        [as_shape(shape) for shape in output_shapes],
        name_list(fn),
        max_intra_op_parallelism,
    )
