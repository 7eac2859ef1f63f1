# SPDX-License-Identifier: Apache-2.0
"""The classes of datasets that call functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.interface.specs import TensorSpec
from ...engine.types import dtypes
from ..public import raw
from .dataset_spec import DatasetSpec
from .functions import StructuredFunctionWrapper
from .unary import UnaryDataset, UnaryUnchangedStructureDataset, int64

Function = Callable[..., Any]


class _Calling(UnaryDataset):
    """A dataset that calls a function for each element."""

    _map_func: StructuredFunctionWrapper

    def _functions(self) -> list[Any]:
        return [self._map_func]

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._map_func.output_structure

    def _transformation_name(self) -> str:
        return "Dataset.map()"

    def _take(self, input_dataset: Any, map_func: Function, legacy: bool = False) -> None:
        self._input_dataset = input_dataset
        self._map_func = StructuredFunctionWrapper(
            map_func,
            self._transformation_name(),
            dataset=input_dataset,
            use_legacy_function=legacy,
        )

    def _become(self, make: Any, *arguments: Any, **attrs: Any) -> None:
        source = self._input_dataset
        variant = make(
            source._variant_tensor,
            self._map_func.captured,
            *arguments,
            f=self._map_func.attribute,
            **attrs,
            **self._flat_structure,
        )
        UnaryDataset.__init__(self, source, variant)


class MapDataset(_Calling):
    """The results of a function of each element."""

    def __init__(
        self,
        input_dataset: Any,
        map_func: Function,
        use_inter_op_parallelism: bool = True,
        preserve_cardinality: bool = False,
        use_legacy_function: bool = False,
    ) -> None:
        self._use_inter_op_parallelism = use_inter_op_parallelism
        self._preserve_cardinality = preserve_cardinality
        self._take(input_dataset, map_func, use_legacy_function)
        self._become(
            raw.MapDataset,
            use_inter_op_parallelism=use_inter_op_parallelism,
            preserve_cardinality=preserve_cardinality,
        )


class ParallelMapDataset(_Calling):
    """The results of a function, called for several elements at a time."""

    def __init__(
        self,
        input_dataset: Any,
        map_func: Function,
        num_parallel_calls: Any,
        use_inter_op_parallelism: bool = True,
        preserve_cardinality: bool = False,
        use_legacy_function: bool = False,
    ) -> None:
        self._use_inter_op_parallelism = use_inter_op_parallelism
        self._take(input_dataset, map_func, use_legacy_function)
        self._num_parallel_calls = convert_to_tensor(
            num_parallel_calls, dtype=dtypes.int32, name="num_parallel_calls"
        )
        self._preserve_cardinality = preserve_cardinality
        self._become(
            raw.ParallelMapDataset,
            self._num_parallel_calls,
            use_inter_op_parallelism=use_inter_op_parallelism,
            preserve_cardinality=preserve_cardinality,
        )


class FlatMapDataset(_Calling):
    """The elements of the datasets that a function makes."""

    def __init__(self, input_dataset: Any, map_func: Function) -> None:
        self._take_datasets(input_dataset, map_func)
        self._become(raw.FlatMapDataset)

    def _take_datasets(self, input_dataset: Any, map_func: Function) -> None:
        self._take(input_dataset, map_func)
        made = self._map_func.output_structure
        if not isinstance(made, DatasetSpec):
            raise TypeError(f"`map_func` must return a `Dataset` object. Got {type(made)}")
        self._structure = made._element_spec

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._structure

    def _transformation_name(self) -> str:
        return "Dataset.flat_map()"


class InterleaveDataset(FlatMapDataset):
    """The elements of the datasets that a function makes, in turns."""

    def __init__(
        self, input_dataset: Any, map_func: Function, cycle_length: Any, block_length: Any
    ) -> None:
        self._take_datasets(input_dataset, map_func)
        self._cycle_length = int64(cycle_length, "cycle_length")
        self._block_length = int64(block_length, "block_length")
        self._become(raw.InterleaveDataset, self._cycle_length, self._block_length)

    def _transformation_name(self) -> str:
        return "Dataset.interleave()"


class ParallelInterleaveDataset(FlatMapDataset):
    """The elements of the datasets that a function makes, in turns, several read at a time."""

    def __init__(
        self,
        input_dataset: Any,
        map_func: Function,
        cycle_length: Any,
        block_length: Any,
        num_parallel_calls: Any,
    ) -> None:
        self._take_datasets(input_dataset, map_func)
        self._cycle_length = int64(cycle_length, "cycle_length")
        self._block_length = int64(block_length, "block_length")
        self._num_parallel_calls = int64(num_parallel_calls, "num_parallel_calls")
        self._become(
            raw.ParallelInterleaveDatasetV2,
            self._cycle_length,
            self._block_length,
            self._num_parallel_calls,
        )

    def _transformation_name(self) -> str:
        return "Dataset.interleave()"


class FilterDataset(UnaryUnchangedStructureDataset):
    """The elements for which a function holds."""

    def __init__(
        self, input_dataset: Any, predicate: Function, use_legacy_function: bool = False
    ) -> None:
        self._input_dataset = input_dataset
        self._predicate = StructuredFunctionWrapper(
            predicate,
            "Dataset.filter()",
            dataset=input_dataset,
            use_legacy_function=use_legacy_function,
        )
        found = self._predicate.output_structure
        truth = TensorSpec([], dtypes.bool)
        if not (isinstance(found, TensorSpec) and found.is_compatible_with(truth)):
            raise ValueError(
                "`predicate` return type must be convertible to a scalar boolean tensor. Was "
                f"{found}."
            )
        self._unchanged(
            raw.FilterDataset,
            other_arguments=self._predicate.captured,
            predicate=self._predicate.attribute,
        )

    def _functions(self) -> list[Any]:
        return [self._predicate]
