# SPDX-License-Identifier: Apache-2.0
"""Datasets of what Python generators yield."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine.graph.convert import internal_convert_n_to_tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape
from ..flow.script import converted
from ..public import tf
from . import nest
from .sources import _GeneratorDataset


class _Generators:
    """The generators that are being read, by number."""

    def __init__(self, generator: Callable[..., Any]) -> None:
        self._generator = generator
        self._lock = threading.Lock()
        self._next_id = 0
        self._arguments: dict[int, tuple[Any, ...]] = {}
        self._iterators: dict[int, Any] = {}

    def begin(self, *arguments: Any) -> np.ndarray:
        """The number of a new generator, which begins with these arguments when it is read."""
        with self._lock:
            number = self._next_id
            self._next_id += 1
        self._arguments[number] = arguments
        return np.array(number, np.int64)

    def find(self, number: Any) -> Any:
        """The generator of a number."""
        number = int(number)
        if number not in self._iterators:
            arguments = self._arguments.pop(number)
            self._iterators[number] = iter(self._generator(*arguments))
        return self._iterators[number]

    def end(self, number: Any) -> np.ndarray:
        """Lets a generator go."""
        self._iterators.pop(int(number), None)
        return np.array(0, np.int64)


def _arrays(
    values: Any, types: Any, kinds: Sequence[Any], shapes: Sequence[TensorShape]
) -> list[np.ndarray]:
    """What a generator yielded as arrays of given dtypes and shapes; errors say what is wrong."""
    try:
        flat = nest.flatten_up_to(types, values)
    except (TypeError, ValueError):
        raise TypeError(
            "`generator` yielded an element that did not match the expected structure. The "
            f"expected structure was {types}, but the yielded element was {values}."
        ) from None
    found = []
    for value, kind in zip(flat, kinds):
        try:
            found.append(converted(value, kind.as_numpy_dtype))
        except (TypeError, ValueError):
            raise TypeError(
                "`generator` yielded an element that could not be converted to the expected type. "
                f"The expected type was {kind.name}, but the yielded element was {value}."
            ) from None
    for array, kind, shape in zip(found, kinds, shapes):
        if array.dtype != kind.as_numpy_dtype:
            raise TypeError(
                f"`generator` yielded an element of type {array.dtype} where an element of type "
                f"{kind.as_numpy_dtype} was expected."
            )
        if not shape.is_compatible_with(array.shape):
            raise ValueError(
                f"`generator` yielded an element of shape {array.shape} where an element of shape "
                f"{shape} was expected."
            )
    return found


class _Exact:
    """Takes what is given as it is wanted: arrays of NumPy, of the dtypes and whole shapes."""

    def __init__(self, types: Any, kinds: Sequence[Any], shapes: Sequence[TensorShape]) -> None:
        self._is_single = not nest.is_sequence(types)
        self._is_flat = type(types) is tuple and not any(map(nest.is_sequence, types))
        known = [tuple(s.as_list()) if s.is_fully_defined() else None for s in shapes]
        self._wanted = [(np.dtype(kind.as_numpy_dtype), shape) for kind, shape in zip(kinds, known)]

    def __call__(self, values: Any) -> list[np.ndarray] | None:
        """The arrays; None for anything else, which may be right, too."""
        if self._is_single:
            values = (values,)
        elif not (self._is_flat and type(values) is tuple and len(values) == len(self._wanted)):
            return None
        for value, (dtype, shape) in zip(values, self._wanted):
            is_array = isinstance(value, (np.ndarray, np.generic))
            if dtype.hasobject or not is_array or value.dtype != dtype or value.shape != shape:
                return None
        return [np.asarray(value) for value in values]


def from_generator(
    generator: Callable[..., Any], output_types: Any, output_shapes: Any, args: Any
) -> Any:
    """See `tf.data.Dataset.from_generator`."""
    from .dataset_v1 import DatasetV1

    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    if output_shapes is None:
        output_shapes = nest.map_structure(lambda _: TensorShape(None), output_types)
    else:
        output_shapes = nest.map_structure_up_to(output_types, as_shape, output_shapes)
    given = () if args is None else tuple(internal_convert_n_to_tensor(args, name="args"))
    kinds = [dtypes.as_dtype(kind) for kind in nest.flatten(output_types)]
    shapes = nest.flatten(output_shapes)
    generators, exact = _Generators(generator), _Exact(output_types, kinds, shapes)

    def get_iterator_id_fn(dummy: Any) -> Any:
        return tf.numpy_function(generators.begin, given, dtypes.int64)

    def generator_next_fn(number: Any) -> Any:
        def generator_py_func(number: Any) -> list[np.ndarray]:
            values = next(generators.find(number))
            found = exact(values)
            return _arrays(values, output_types, kinds, shapes) if found is None else found

        types: Any = kinds
        flat = tf.numpy_function(generator_py_func, [number], types)
        for tensor, shape in zip(flat, shapes):
            tensor.set_shape(shape)
        return nest.pack_sequence_as(output_types, flat)

    def finalize_fn(number: Any) -> Any:
        return tf.numpy_function(generators.end, [number], dtypes.int64)

    def flat_map_fn(dummy: Any) -> Any:
        return _GeneratorDataset(dummy, get_iterator_id_fn, generator_next_fn, finalize_fn)

    return DatasetV1.from_tensors(0).flat_map(flat_map_fn)
