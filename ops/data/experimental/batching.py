# SPDX-License-Identifier: Apache-2.0
"""Batches of a function's results, of arrays of different sizes, and the rows of batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....engine.api import export
from ....engine.deprecation import deprecated
from ....engine.graph.annotations import TensorLike
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.interface.specs import SparseTensorSpec
from ....engine.types import dtypes
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from ...public import raw
from .. import nest, structure
from ..arguments import partial_shape_to_tensor
from ..dataset import DatasetV2
from ..functions import StructuredFunctionWrapper
from ..unary import UnaryDataset, int64

Apply = Callable[[Any], Any]


@export("data.experimental.dense_to_sparse_batch")
def dense_to_sparse_batch(batch_size: TensorLike, row_shape: Any) -> Apply:
    """A transformation that makes one SparseTensor of several elements of different sizes.

    Args:
      batch_size: How many elements.
      row_shape: The shape of a row; None or -1 for the largest size of the batch.

    Example:
        >>> rows = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
        >>> rows = rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [3]))
        >>> batch = tf.data.make_one_shot_iterator(rows).get_next()
        >>> tf.Session().run(tf.sparse.to_dense(batch))
        array([[1, 0, 0],
               [2, 2, 0]])
    """
    return lambda dataset: _DenseToSparseBatchDataset(dataset, batch_size, row_shape)


class _DenseToSparseBatchDataset(UnaryDataset):
    """Several elements of different sizes as one sparse tensor."""

    def __init__(self, input_dataset: DatasetV2, batch_size: TensorLike, row_shape: Any) -> None:
        kind = structure.legacy(input_dataset.element_spec, "types")
        if not isinstance(kind, DType):
            raise TypeError(
                "DenseToSparseDataset requires an input whose elements have a single component, "
                f"whereas the input has {kind!r}."
            )
        self._batch_size, self._row_shape = batch_size, row_shape
        self._structure = SparseTensorSpec(TensorShape([None]).concatenate(row_shape), kind)
        variant = raw.DenseToSparseBatchDataset(
            input_dataset._variant_tensor,
            batch_size,
            row_shape=partial_shape_to_tensor(row_shape),
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)


def _calls(
    batch_size: Any,
    num_parallel_batches: TensorLike | None,
    num_parallel_calls: TensorLike | None,
) -> Any:
    """For how many elements at a time the function is called."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive."
        )
    if num_parallel_calls is not None:
        return num_parallel_calls
    return batch_size if num_parallel_batches is None else batch_size * num_parallel_batches


@export("data.experimental.map_and_batch_with_legacy_function")
@deprecated(None, "Use `tf.data.experimental.map_and_batch()")
def map_and_batch_with_legacy_function(
    map_func: Callable[..., Any],
    batch_size: TensorLike,
    num_parallel_batches: TensorLike | None = None,
    drop_remainder: TensorLike = False,
    num_parallel_calls: TensorLike | None = None,
) -> Apply:
    """`map_and_batch` with a function built as TensorFlow's older functions are."""
    calls = _calls(batch_size, num_parallel_batches, num_parallel_calls)
    rest = batch_size, calls, drop_remainder
    return lambda dataset: _MapAndBatchDataset(dataset, map_func, *rest, use_legacy_function=True)


@export("data.experimental.map_and_batch")
@deprecated(
    None,
    "Use `tf.data.Dataset.map(map_func, num_parallel_calls)` followed by "
    "`tf.data.Dataset.batch(batch_size, drop_remainder)`. Static tf.data optimizations will take "
    "care of using the fused implementation.",
)
def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: TensorLike,
    num_parallel_batches: TensorLike | None = None,
    drop_remainder: TensorLike = False,
    num_parallel_calls: TensorLike | None = None,
) -> Apply:
    """A transformation that maps a function over elements and puts several results together.

    Args:
      map_func: A function of an element's components.
      batch_size: How many results are put together.
      num_parallel_batches: For how many batches at a time the function is called; or else
      num_parallel_calls: For how many elements.
      drop_remainder: Whether a last, smaller batch is left out.

    Raises:
      ValueError: Both numbers are given.
    """
    calls = _calls(batch_size, num_parallel_batches, num_parallel_calls)
    return lambda dataset: _MapAndBatchDataset(dataset, map_func, batch_size, calls, drop_remainder)


class _MapAndBatchDataset(UnaryDataset):
    """The results of a function, several as one."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        map_func: Callable[..., Any],
        batch_size: TensorLike,
        num_parallel_calls: TensorLike,
        drop_remainder: TensorLike,
        use_legacy_function: bool = False,
    ) -> None:
        self._map_func = StructuredFunctionWrapper(
            map_func,
            "tf.data.experimental.map_and_batch()",
            dataset=input_dataset,
            use_legacy_function=use_legacy_function,
        )
        size = int64(batch_size, "batch_size")
        calls = int64(num_parallel_calls, "num_parallel_calls")
        drops = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        static = constant_value(size) if constant_value(drops) else None
        static = None if static is None else int(static)
        found = self._map_func.output_structure
        self._structure = nest.map_structure(lambda spec: spec._batch(static), found)
        variant = raw.MapAndBatchDataset(
            input_dataset._variant_tensor,
            self._map_func.captured,
            f=self._map_func.attribute,
            batch_size=size,
            num_parallel_calls=calls,
            drop_remainder=drops,
            preserve_cardinality=True,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    def _functions(self) -> list[Any]:
        return [self._map_func]


@export("data.experimental.unbatch")
@deprecated(None, "Use `tf.data.Dataset.unbatch()`.")
def unbatch() -> Apply:
    """A transformation that gives the rows of elements."""
    return lambda dataset: dataset.unbatch()
