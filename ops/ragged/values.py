# SPDX-License-Identifier: Apache-2.0
"""Arrays whose rows have different lengths, as values outside of graphs (tf.ragged)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.dispatch import register_handler
from ...engine.interface.specs import register_type_spec_from_value_converter
from ...engine.types import dtypes

if TYPE_CHECKING:
    from ...engine.types.dtypes import DType
    from .spec import RaggedTensorSpec

# The depth of the scalars in nested lists, None if there are none, and the greatest depth of lists.
Depths = tuple[int | None, int]


@export("ragged.RaggedTensorValue")
class RaggedTensorValue:
    """Rows of different lengths, one behind the other, and where each begins and ends.

    Args:
        values: the rows' elements: an array, or a RaggedTensorValue where these are rows again.
        row_splits: a vector of int32 or int64: row i is values[row_splits[i] : row_splits[i + 1]].

    Raises:
        TypeError: one of them is of another kind.
        ValueError: the splits of rows and of the rows in them are of different dtypes.

    Example:
        >>> tf.ragged.RaggedTensorValue(np.array([1, 2, 3]), np.array([0, 2, 2, 3])).to_list()
        [[1, 2], [], [3]]
    """

    def __init__(self, values: Any, row_splits: Any) -> None:
        is_array = isinstance(row_splits, (np.ndarray, np.generic))
        if not (is_array and row_splits.dtype in (np.int64, np.int32) and row_splits.ndim == 1):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values, self._row_splits = values, row_splits

    @property
    def values(self) -> Any:
        """The elements of all rows."""
        return self._values

    @property
    def row_splits(self) -> np.ndarray:
        """Where rows begin, and where the last one ends."""
        return self._row_splits  # type: ignore[no-any-return]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the elements."""
        return self._values.dtype  # type: ignore[no-any-return]

    @property
    def flat_values(self) -> Any:
        """The elements of the innermost rows."""
        inner = self._values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def nested_row_splits(self) -> tuple[np.ndarray, ...]:
        """The splits of all levels, the outermost first."""
        inner = self._values
        more = inner.nested_row_splits if isinstance(inner, RaggedTensorValue) else ()
        return (self._row_splits, *more)

    @property
    def ragged_rank(self) -> int:
        """How many levels of rows there are."""
        return len(self.nested_row_splits)

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        from .spec import RaggedTensorSpec

        return RaggedTensorSpec.from_value(self)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The number of rows, None for their lengths, and the shape of elements."""
        return (len(self._row_splits) - 1, None, *self._values.shape[1:])

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"

    def to_list(self) -> list[Any]:
        """The rows as nested lists."""
        inner = self._values
        flat = inner.to_list() if isinstance(inner, RaggedTensorValue) else inner.tolist()
        stops = self._row_splits.tolist()
        return [flat[start:stop] for start, stop in zip(stops, stops[1:])]


def is_ragged(value: object) -> bool:
    """Whether rows of a value have different lengths."""
    return isinstance(value, RaggedTensorValue) or hasattr(type(value), "nested_row_splits")


@export("ragged.constant_value")
def constant_value(
    pylist: Any,
    dtype: DType | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """Nested lists as a RaggedTensorValue.

    Args:
        pylist: lists, tuples or arrays of scalars, which are all of one depth.
        dtype: of the elements; chosen by them if None.
        ragged_rank: how many levels of rows differ in length: all, if None, but `inner_shape`.
        inner_shape: the shape of elements; what is found there if None.
        row_splits_dtype: int32 or int64.

    Returns:
        A RaggedTensorValue; an array where there is no level of rows.

    Raises:
        TypeError: `pylist` is a RaggedTensorValue.
        ValueError: scalars are of different depths, or rank and shape are not those of `pylist`.

    Example:
        >>> tf.ragged.constant_value([[1, 2], [], [3]]).row_splits.tolist()
        [0, 2, 2, 3]
    """
    if is_ragged(pylist):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    numpy_dtype = dtype.as_numpy_dtype if isinstance(dtype, dtypes.DType) else dtype
    splits_dtype = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype

    def rows(values: Any, row_splits: list[int]) -> RaggedTensorValue:
        return RaggedTensorValue(values, np.array(row_splits, splits_dtype))

    def elements(values: Any, shape: Any, name: str | None = None) -> np.ndarray:
        flat = np.array(values, numpy_dtype)
        return flat if shape is None else np.reshape(flat, tuple(shape))

    return from_lists(rows, elements, pylist, ragged_rank, inner_shape)


def from_lists(
    rows: Callable[[Any, list[int]], Any],
    elements: Callable[..., Any],
    pylist: Any,
    ragged_rank: int | None,
    inner_shape: Sequence[int] | None,
) -> Any:
    """What nested lists are: `elements(list, shape)` below levels of `rows(values, splits)`."""
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    scalars, deepest = _depths(pylist)
    _check(pylist, scalars, deepest, ragged_rank, inner_shape)
    if deepest == 0:
        return elements(pylist, ())
    if not ragged_rank and (
        ragged_rank == 0 or deepest < 2 or (inner_shape and deepest - len(inner_shape) < 2)
    ):
        return elements(pylist, inner_shape)
    if ragged_rank is None:
        inner_shape = () if inner_shape is None else tuple(inner_shape)
        known = deepest - 1 if scalars is None else scalars - 1 - len(inner_shape)
        ragged_rank = max(1, known)
    values, nested = pylist, []
    for level in range(ragged_rank):
        if not all(_is_nested(row) for row in values):
            raise ValueError(
                f"pylist has scalar values depth {level + 1}, but ragged_rank={ragged_rank} "
                f"requires scalar value depth greater than {ragged_rank}"
            )
        nested.append([0, *accumulate(map(len, values))])
        values = [item for row in values for item in row]
    if inner_shape is None:
        inner_shape = _shape_of(values)
    found = elements(values, (len(values), *inner_shape), name="values")
    for splits in reversed(nested):
        found = rows(found, splits)
    return found


def _check(
    pylist: object,
    scalars: int | None,
    deepest: int,
    ragged_rank: int | None,
    inner_shape: Sequence[int] | None,
) -> None:
    """Raises ValueError for lists that are not of a rank and a shape."""
    if deepest == 0:
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with {ragged_rank=}")
        if inner_shape:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}"
            )
        return
    if scalars is not None and deepest > scalars:
        raise ValueError(
            f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting"
        )
    if inner_shape is not None and ragged_rank is not None:
        expected = ragged_rank + len(inner_shape) + 1
        if expected < deepest if scalars is None else expected != scalars:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={len(inner_shape)}"
            )


def _is_nested(item: Any) -> bool:
    return isinstance(item, (list, tuple)) or np.ndim(item) != 0


def _depths(pylist: Any) -> Depths:
    if not _is_nested(pylist):
        return 0, 0
    scalars, deepest = None, 1
    for child in pylist:
        inner, depth = _depths(child)
        if inner is not None:
            if scalars is not None and scalars != inner + 1:
                raise ValueError("all scalar values must have the same nesting depth")
            scalars = inner + 1
        deepest = max(deepest, depth + 1)
    return scalars, deepest


def _shape_of(values: Sequence[Any]) -> tuple[int, ...]:
    """The shape that all values have; ValueError if they differ."""
    shapes = {np.shape(value) for value in values}
    if len(shapes) > 1:
        raise ValueError("inner values have inconsistent shape")
    return shapes.pop() if shapes else ()


def _handle(function: Callable[..., Any], args: Any, keywords: Any) -> Any:
    from .dispatch import handle

    return handle(function, args, keywords)


def _define_class() -> None:
    """What others must know of ragged values; whoever has one, or a tensor, has imported this."""
    register_handler(_handle)
    register_type_spec_from_value_converter(RaggedTensorValue, lambda value: value._type_spec)


_define_class()
