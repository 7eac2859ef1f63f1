# SPDX-License-Identifier: Apache-2.0
"""Groups of elements by a key that a function computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....engine.api import export
from ....engine.graph.annotations import TensorLike
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies, name_scope
from ....engine.interface.specs import TensorSpec
from ....engine.types import dtypes
from ....engine.types.shape import as_shape, dimension_value
from ...public import raw, tf
from .. import nest, structure
from ..dataset import DatasetV2
from ..dataset_spec import DatasetSpec
from ..functions import StructuredFunctionWrapper
from ..states import settled
from ..unary import UnaryDataset

Apply = Callable[[Any], Any]
_INT64 = TensorSpec([], dtypes.int64)


@export("data.experimental.Reducer")
class Reducer:
    """How the elements of a group become one.

    Args:
      init_func: A function from the key to a first state.
      reduce_func: A function of a state and an element that returns the next state.
      finalize_func: A function from the last state to the result.
    """

    def __init__(self, init_func: Any, reduce_func: Any, finalize_func: Any) -> None:
        self._functions = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Any:
        """From the key to a first state."""
        return self._functions[0]

    @property
    def reduce_func(self) -> Any:
        """From a state and an element to the next state."""
        return self._functions[1]

    @property
    def finalize_func(self) -> Any:
        """From the last state to the result."""
        return self._functions[2]


@export("data.experimental.group_by_reducer")
def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Apply:
    """A transformation that gives one element for each key, made of all that have the key.

    Args:
      key_func: A function from an element to an int64.
      reducer: What makes one of many.

    Example:
        >>> total = tf.data.experimental.Reducer(
        ...     lambda key: np.int64(0), lambda state, x: state + x, lambda state: state)
        >>> sums = tf.data.Dataset.range(5).apply(
        ...     tf.data.experimental.group_by_reducer(lambda x: x % 2, total))
        >>> tf.Session().run(tf.data.make_one_shot_iterator(sums.batch(2)).get_next())
        array([6, 4])
    """
    return lambda dataset: _GroupByReducerDataset(dataset, key_func, reducer)


@export("data.experimental.group_by_window")
def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: TensorLike | None = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Apply:
    """A transformation that makes datasets of groups of elements with one key.

    Args:
      key_func: A function from an element to an int64.
      reduce_func: A function of a key and a dataset of elements that have it, to a dataset.
      window_size: How many elements are a group; the last one of each key may have fewer.
      window_size_func: A function from the key to that number, in its place.

    Raises:
      ValueError: Neither or both of the last two are given.
    """
    if (window_size is not None) == bool(window_size_func):
        raise ValueError("Must pass either window_size or window_size_func.")
    size_of = window_size_func or (lambda key: convert_to_tensor(window_size, dtype=dtypes.int64))
    return lambda dataset: _GroupByWindowDataset(dataset, key_func, reduce_func, size_of)


@export("data.experimental.bucket_by_sequence_length")
def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: TensorLike = False,
) -> Apply:
    """A transformation that batches elements with others of about their length, padded.

    Args:
      element_length_func: A function from an element to its length, int32.
      bucket_boundaries: The lengths from which on the next bucket is an element's.
      bucket_batch_sizes: How many elements of each bucket are a batch: one number more.
      padded_shapes: As of `Dataset.padded_batch`; the elements' shapes if None.
      padding_values: As there.
      pad_to_bucket_boundary: Whether unknown sizes become the bucket's largest length, rather than
        the batch's.
      no_padding: Whether elements, all of one shape or sparse, are batched as they are.
      drop_remainder: Whether last, smaller batches are left out.

    Raises:
      ValueError: There is not one size for each bucket.
    """
    with name_scope("bucket_by_seq_length"):
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
        batch_sizes = tf.constant(bucket_batch_sizes, dtype=dtypes.int64)

    def bucket_of(*args: Any) -> Any:
        length = element_length_func(*args)
        limits, boundaries = np.iinfo(np.int32), list(bucket_boundaries)
        is_above = tf.less_equal([limits.min, *boundaries], length)
        is_below = tf.less(length, [*boundaries, limits.max])
        return tf.reduce_min(tf.where(tf.logical_and(is_above, is_below)))

    def size_of(bucket: Any) -> Any:
        return batch_sizes[bucket]

    def batched(bucket: Any, dataset: DatasetV2) -> Any:
        size = size_of(bucket)
        if no_padding:
            return dataset.batch(size, drop_remainder=drop_remainder)
        filler = _largest_length(bucket, bucket_boundaries) if pad_to_bucket_boundary else None
        shapes = padded_shapes or structure.legacy(dataset.element_spec, "shapes")
        shapes = _filled(shapes, filler)
        return dataset.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)

    def apply(dataset: DatasetV2) -> Any:
        return dataset.apply(group_by_window(bucket_of, batched, window_size_func=size_of))

    return apply


def _largest_length(bucket: Any, boundaries: Sequence[int]) -> Any:
    check = tf.assert_less(
        bucket,
        tf.constant(len(boundaries), dtype=dtypes.int64),
        message="When pad_to_bucket_boundary=True, elements must have length < "
        "max(bucket_boundaries).",
    )
    with control_dependencies([check]):
        return tf.constant(boundaries, dtype=dtypes.int64)[bucket] - 1


def _filled(shapes: Any, filler: Any) -> Any:
    """The shapes as lists, with `filler` for each unknown size."""
    found = []
    for shape in nest.flatten(shapes):
        sizes = [dimension_value(size) for size in as_shape(shape)]
        found.append([filler if size is None else size for size in sizes])
    return nest.pack_sequence_as(shapes, found)


class _Grouping(UnaryDataset):
    """A dataset that computes a key of each element."""

    _name = ""

    def _wrapped(self, func: Callable[..., Any], **given: Any) -> StructuredFunctionWrapper:
        return StructuredFunctionWrapper(func, self._name, **given)


def _is_int64(function: StructuredFunctionWrapper) -> bool:
    return bool(function.output_structure.is_compatible_with(_INT64))


class _GroupByReducerDataset(_Grouping):
    """What functions make of all elements with one key."""

    _name = "tf.data.experimental.group_by_reducer()"

    def __init__(self, input_dataset: DatasetV2, key_func: Any, reducer: Reducer) -> None:
        self._key_func = self._wrapped(key_func, dataset=input_dataset)
        if not _is_int64(self._key_func):
            raise ValueError(
                "`key_func` must return a single tf.int64 tensor. Got "
                f"type={self._key_func.output_types} and shape={self._key_func.output_shapes}"
            )
        self._init_func = self._wrapped(reducer.init_func, input_structure=_INT64)
        self._reduce_func, state = settled(
            reducer.reduce_func,
            self._name,
            self._init_func.output_structure,
            input_dataset.element_spec,
        )
        self._finalize_func = self._wrapped(reducer.finalize_func, input_structure=state)
        self._structure = self._finalize_func.output_structure
        variant = raw.ExperimentalGroupByReducerDataset(
            input_dataset._variant_tensor,
            self._key_func.captured,
            self._init_func.captured,
            self._reduce_func.captured,
            self._finalize_func.captured,
            key_func=self._key_func.attribute,
            init_func=self._init_func.attribute,
            reduce_func=self._reduce_func.attribute,
            finalize_func=self._finalize_func.attribute,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    def _functions(self) -> list[Any]:
        return [self._key_func, self._init_func, self._reduce_func, self._finalize_func]


class _GroupByWindowDataset(_Grouping):
    """The elements of datasets that a function makes of groups with one key."""

    _name = "tf.data.experimental.group_by_window()"

    def __init__(
        self, input_dataset: DatasetV2, key_func: Any, reduce_func: Any, window_size_func: Any
    ) -> None:
        def key_func_wrapper(*args: Any) -> Any:
            return convert_to_tensor(key_func(*args), dtype=dtypes.int64)

        def window_size_func_wrapper(key: Any) -> Any:
            return convert_to_tensor(window_size_func(key), dtype=dtypes.int64)

        self._key_func = self._wrapped(key_func_wrapper, dataset=input_dataset)
        if not _is_int64(self._key_func):
            raise ValueError("`key_func` must return a single tf.int64 scalar tensor.")
        given = _INT64, DatasetSpec(input_dataset.element_spec)
        self._reduce_func = self._wrapped(reduce_func, input_structure=given)
        made = self._reduce_func.output_structure
        if not isinstance(made, DatasetSpec):
            raise TypeError("`reduce_func` must return a `Dataset` object.")
        self._structure = made._element_spec
        self._window_size_func = self._wrapped(window_size_func_wrapper, input_structure=_INT64)
        if not _is_int64(self._window_size_func):
            raise ValueError("`window_size_func` must return a single tf.int64 scalar tensor.")
        variant = raw.GroupByWindowDataset(
            input_dataset._variant_tensor,
            self._key_func.captured,
            self._reduce_func.captured,
            self._window_size_func.captured,
            key_func=self._key_func.attribute,
            reduce_func=self._reduce_func.attribute,
            window_size_func=self._window_size_func.attribute,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    def _functions(self) -> list[Any]:
        return [self._key_func, self._reduce_func, self._window_size_func]
