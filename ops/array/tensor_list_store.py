# SPDX-License-Identifier: Apache-2.0
"""Lists of tensors as values: what TensorFlow's list ops hand from one to the next.

A list is never changed: each op gives another one.  Elements that were not set are None.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine import errors
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ..shape_inference import known_sizes

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...io.variants import VariantData

Element = np.ndarray | None
_WORD = (1 << 64) - 1


def merged(shape: TensorShape, other: TensorLike) -> TensorShape:
    """What two shapes say together; InvalidArgumentError when they contradict."""
    other = TensorShape(other)
    if shape.rank is not None and other.rank is not None and shape.rank != other.rank:
        raise errors.invalid(f"Incompatible ranks during merge: {shape.rank} vs. {other.rank}")
    if not shape.is_compatible_with(other):
        raise errors.invalid(
            f"Incompatible shapes during merge: {shape_text(shape)} vs. {shape_text(other)}"
        )
    return shape.merge_with(other)


def shape_of(sizes: np.ndarray) -> TensorShape:
    """The shape in a tensor: a vector with -1 for what is unknown, or the scalar -1."""
    if sizes.ndim == 0:
        if sizes != -1:
            raise errors.invalid(
                "The only valid scalar shape tensor is the fully unknown shape specified as -1."
            )
        return TensorShape(None)
    return TensorShape([None if size < 0 else int(size) for size in sizes])


class TensorList:
    """Elements of one dtype, and the shape that all of them fit."""

    __slots__ = ("dtype", "items", "limit", "shape")

    def __init__(
        self, items: Sequence[Element], dtype: dtypes.DType, shape: TensorShape, limit: int = -1
    ) -> None:
        self.items = tuple(items)
        self.dtype = dtype
        self.shape = shape
        self.limit = limit

    def with_items(self, items: Sequence[Element]) -> TensorList:
        """A list like this one."""
        return TensorList(items, self.dtype, self.shape, self.limit)

    def packed(self) -> VariantData:
        """As TensorFlow writes it: which elements are absent, dtype, limit, shape; the elements."""
        from ...io import varint
        from ...io.variants import LIST, VariantData

        absent = [number for number, item in enumerate(self.items) if item is None]
        numbers = (len(absent), *absent, self.dtype.as_datatype_enum, self.limit & _WORD)
        shape = self.shape.as_proto().SerializeToString()
        text = b"".join(map(varint.put, numbers)) + shape
        return VariantData(LIST, text, tuple(item for item in self.items if item is not None))

    def boxed(self) -> np.ndarray:
        """As the value of a scalar tensor."""
        box = np.empty((), object)
        box[()] = self
        return box

    def require(self, dtype: dtypes.DType) -> None:
        """Raises InvalidArgumentError unless the elements are of a type."""
        if dtype != self.dtype:
            raise errors.invalid(
                f"Invalid data types; op elements {dtype.name} but list elements {self.dtype.name}"
            )

    def agreed(self, shape: TensorShape, items: Iterable[Element]) -> TensorShape:
        """What a shape, the list's and those of elements say together."""
        shape = merged(shape, self.shape)
        if not self.shape.is_fully_defined():
            for item in items:
                if item is not None:
                    shape = merged(shape, item.shape)
        return shape

    def zeros(self, shape: Sequence[int]) -> np.ndarray:
        """What an element that was not set reads as."""
        if self.dtype == dtypes.variant:
            result = np.empty(shape, object)
            result.fill(None)
            return result
        if self.dtype == dtypes.string:
            return np.full(shape, b"", object)
        return np.zeros(shape, self.dtype.np_dtype)

    def rows(self, items: Sequence[Element], shape: TensorShape) -> np.ndarray:
        """Elements of one shape, stacked."""
        result = self.zeros((len(items), *known_sizes(shape)))
        for i, item in enumerate(items):
            if item is not None:
                result[i] = item
        return result

    def zeroed(self) -> TensorList:
        """A list like this one of zeros, as ZerosLike makes it."""
        items = [None if item is None else zeros_like(item, self.dtype) for item in self.items]
        return self.with_items(items)

    def __add__(self, other: object) -> TensorList:
        """The sums of the elements, as AddN makes them."""
        if not isinstance(other, TensorList):
            return NotImplemented
        if self.dtype != other.dtype:
            raise errors.invalid(
                "Trying to add two lists of tensors of different dtypes. One is "
                f"{self.dtype.name} and the other is {other.dtype.name}"
            )
        if not self.shape.is_compatible_with(other.shape):
            raise errors.invalid(
                "Trying to add two lists of tensors with incompatible element shapes. One is "
                f"{shape_text(self.shape)} and the other is {shape_text(other.shape)}"
            )
        if len(self.items) != len(other.items):
            raise errors.invalid(
                "Trying to add two lists of tensors with different lengths. One is "
                f"{len(self.items)} and the other is {len(other.items)}"
            )
        sums = [
            b if a is None else a if b is None else a + b for a, b in zip(self.items, other.items)
        ]
        return TensorList(sums, self.dtype, self.shape.merge_with(other.shape))

    def __repr__(self) -> str:
        return f"TensorList({len(self.items)} of {self.dtype.name} {shape_text(self.shape)})"


def zeros_like(value: np.ndarray, dtype: dtypes.DType) -> np.ndarray:
    """Zeros of an element's shape; of lists, lists of zeros, and so of optionals."""
    if dtype != dtypes.variant:
        return TensorList((), dtype, TensorShape(None)).zeros(value.shape)
    result = np.empty(value.shape, object)
    for place, item in np.ndenumerate(value):
        zeroed = getattr(item, "zeroed", None)
        result[place] = item if zeroed is None else zeroed()
    return result


def list_in(value: object) -> TensorList:
    """The list that a scalar variant tensor holds."""
    found = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not isinstance(found, TensorList):
        raise errors.invalid(f"Input handle is not a list. Saw: '{found!r}'")
    return found


def unpacked(data: VariantData) -> TensorList:
    """The list that was written; DataLossError for what is none."""
    from google.protobuf.message import DecodeError

    from ...io import protos, varint

    numbers: list[int] = []
    at = 0
    try:
        count, at = varint.get(data.metadata, at)
        for _ in range(count + 2):
            number, at = varint.get(data.metadata, at)
            numbers.append(number)
        shape = protos.TensorShapeProto.FromString(data.metadata[at:])
        dtype = dtypes.as_dtype(numbers[-2])
    except (IndexError, TypeError, DecodeError):
        raise errors.data_loss("A list of tensors cannot be read: it ends too early.") from None
    items: list[Element] = list(data.tensors)
    for number in numbers[:-2]:
        if number > len(items):
            raise errors.data_loss("A list of tensors cannot be read: elements are missing.")
        items.insert(number, None)
    limit = numbers[-1] if numbers[-1] <= _WORD >> 1 else -1
    return TensorList(items, dtype, TensorShape(shape), limit)
