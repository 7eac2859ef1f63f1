# SPDX-License-Identifier: Apache-2.0
"""Static shapes: TensorFlow 1.15's `TensorShape` and `Dimension`.

A shape holds a tuple of int-or-None; `Dimension` objects are made when a program asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..api import export
from ..hints import hinted
from .dtypes import DType

if TYPE_CHECKING:
    from ..graph.annotations import TensorLike


_v2_behavior = False


@export("Dimension")
class Dimension:
    """The size of one dimension, which may be unknown (None)."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        if value is None:
            self._value: int | None = None
        elif isinstance(value, Dimension):
            self._value = value._value
        elif isinstance(value, DType):
            raise TypeError(f"Cannot convert {value} to Dimension")
        elif _is_symbolic(value):
            self._value = _size(value)
        else:
            self._value = int(value)
            if not isinstance(value, (str, bytes)) and self._value != value:
                raise ValueError(f"Ambiguous dimension: {value}")
            if self._value < 0:
                raise ValueError(f"Dimension {self._value} must be >= 0")

    def __repr__(self) -> str:
        return f"Dimension({self._value!r})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    @property
    def value(self) -> int | None:
        """The size, or None when unknown."""
        return self._value

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]

    __long__ = __int__

    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'Dimension'")

    def __reduce__(self) -> Any:
        return Dimension, (self._value,)

    def is_compatible_with(self, other: object) -> bool:
        """Whether both can be the same size; an unknown size fits anything."""
        other = as_dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other: object) -> None:
        """Raises ValueError unless `is_compatible_with(other)`."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Dimension) -> Dimension:
        """The dimension that knows what either knows; ValueError if they disagree."""
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other._value if self._value is None else self._value)

    def __div__(self, other: Any) -> Any:
        return self // other

    def __truediv__(self, other: int) -> Any:
        raise TypeError(
            f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', "
            "please use // instead"
        )

    def __rtruediv__(self, other: object) -> Any:
        raise TypeError(
            f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', "
            "please use // instead"
        )

    __rdiv__ = __rtruediv__


def as_dimension(value: Any) -> Dimension:
    """`value` as a Dimension."""
    return value if isinstance(value, Dimension) else Dimension(value)


def _arithmetic(function: Callable[..., Any], swap: bool) -> Any:
    def method(self: Dimension, other: object) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        x, y = (other._value, self._value) if swap else (self._value, other._value)
        return Dimension(None) if x is None or y is None else Dimension(function(x, y))

    return method


def _comparison(function: Callable[..., Any]) -> Any:
    def method(self: Dimension, other: object) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        x, y = self._value, other._value
        return None if x is None or y is None else function(x, y)

    return method


for _name, _function in (
    ("add", lambda x, y: x + y),
    ("sub", lambda x, y: x - y),
    ("mul", lambda x, y: x * y),
    ("floordiv", lambda x, y: x // y),
    ("mod", lambda x, y: x % y),
):
    setattr(Dimension, f"__{_name}__", _arithmetic(_function, swap=False))
    setattr(Dimension, f"__r{_name}__", _arithmetic(_function, swap=True))
for _name, _function in (
    ("eq", lambda x, y: x == y),
    ("ne", lambda x, y: x != y),
    ("lt", lambda x, y: x < y),
    ("le", lambda x, y: x <= y),
    ("gt", lambda x, y: x > y),
    ("ge", lambda x, y: x >= y),
):
    setattr(Dimension, f"__{_name}__", _comparison(_function))


def _size(value: Any) -> int | None:
    """One entry of a shape as int or None, with Dimension's checks."""
    if type(value) is int and value >= 0:
        return value
    if _is_symbolic(value):
        if value < 0:
            raise ValueError(f"Dimension {value} must be >= 0")
        return value  # type: ignore[no-any-return]
    return None if value is None else Dimension(value)._value


def _are_sizes(items: tuple[Any, ...]) -> bool:
    """Is it what a shape holds already, as nearly all shapes are that are made?"""
    return not [item for item in items if type(item) is not int or item < 0]


def _is_symbolic(value: object) -> bool:
    """Is it a size of the compiler's, whose number is not to be asked for (jit/kernel/sizes.py)?"""
    return getattr(value, "is_symbolic", False) is True


@export("TensorShape")
class TensorShape:
    """A shape of known or unknown rank whose sizes may each be unknown.

    Args:
        dims: a list of sizes, each an integer, a Dimension or None; one integer; another shape or a
            TensorShapeProto; None for an unknown rank.

    Raises:
        TypeError: a size is something else.
        ValueError: a size is negative.

    Example:
        >>> shape = tf.TensorShape([None, 3])
        >>> shape.ndims, shape.as_list(), shape.is_fully_defined(), shape.is_compatible_with([2, 3])
        (2, [None, 3], False, True)
        >>> print(shape.merge_with([2, None]))
        (2, 3)
    """

    __slots__ = ("_sizes", "_dimensions")

    def __init__(self, dims: Any) -> None:
        self._dimensions: list[Dimension] | None = None
        self._sizes: tuple[int | None, ...] | None
        if type(dims) is tuple and _are_sizes(dims):
            self._sizes = dims
        elif dims is None:
            self._sizes = None
        elif isinstance(dims, (str, bytes)):
            raise TypeError(
                "A string has ambiguous TensorShape, please wrap in a list or convert to an int: "
                f"{dims!s}"
            )
        elif isinstance(dims, TensorShape):
            self._sizes = dims._sizes
        elif type(dims).__name__ == "TensorShapeProto":
            sizes = (dim.size for dim in dims.dim)
            self._sizes = (
                None if dims.unknown_rank else tuple(s if s != -1 else None for s in sizes)
            )
        else:
            try:
                items = iter(dims)
            except TypeError:
                self._sizes = (_size(dims),)
            else:
                self._sizes = tuple([_size(item) for item in items])

    @property
    def sizes(self) -> tuple[int | None, ...] | None:
        """The sizes as plain int-or-None, or None when the rank is unknown (ours, not TF's)."""
        return self._sizes

    @property
    def _v2_behavior(self) -> bool:
        return _v2_behavior

    @property
    def _dims(self) -> list[Dimension] | None:
        if self._sizes is None:
            return None
        if self._dimensions is None:
            self._dimensions = [Dimension(size) for size in self._sizes]
        return self._dimensions

    @property
    def dims(self) -> list[Dimension] | None:
        """The dimensions, or None when the rank is unknown."""
        return self._dims

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return None if self._sizes is None else len(self._sizes)

    @property
    def ndims(self) -> int | None:
        """The same as `rank`."""
        return self.rank

    def __repr__(self) -> str:
        if _v2_behavior:
            return f"TensorShape({None if self._sizes is None else list(self._sizes)!r})"
        return f"TensorShape({self._dims!r})"

    def __str__(self) -> str:
        if self._sizes is None:
            return "<unknown>"
        unknown = "None" if _v2_behavior else "?"
        texts = [unknown if size is None else str(size) for size in self._sizes]
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"

    def __len__(self) -> int:
        if self._sizes is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._sizes)

    def __bool__(self) -> bool:
        return self._sizes is not None

    __nonzero__ = __bool__

    def __iter__(self) -> Iterator[Any]:
        if self._sizes is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._sizes if _v2_behavior else list(self._dims or ()))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self._sliced(key)
        if self._sizes is None:
            return None if _v2_behavior else Dimension(None)
        return self._sizes[key] if _v2_behavior else (self._dims or [])[key]

    def _sliced(self, key: slice) -> TensorShape:
        if self._sizes is not None:
            return TensorShape(self._sizes[key])
        start = 0 if key.start is None else key.start
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if key.stop is None or start < 0 or key.stop < 0:
            return unknown_shape()
        return unknown_shape(rank=key.stop - start)

    def num_elements(self) -> int | None:
        """The number of elements, or None when the shape is not fully defined."""
        if not self.is_fully_defined():
            return None
        size = 1
        for dim in self._sizes or ():
            size *= dim or 0
        return size

    def is_fully_defined(self) -> bool:
        """Whether rank and all sizes are known."""
        return self._sizes is not None and None not in self._sizes

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError unless `is_fully_defined()`."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def as_list(self) -> list[int | None]:
        """The sizes as a list; ValueError when the rank is unknown."""
        if self._sizes is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._sizes)

    def as_proto(self) -> Any:
        """The shape as a `TensorShapeProto`."""
        from ...io.graph_def import shape_proto

        return shape_proto(self)

    def merge_with(self, other: object) -> TensorShape:
        """The shape that knows what either knows; ValueError if they disagree."""
        other = as_shape(other)
        if self._sizes is None:
            return other
        if other._sizes is None:
            return TensorShape(self)
        try:
            self.assert_same_rank(other)
            merged = [_merge(x, y) for x, y in zip(self._sizes, other._sizes)]
        except ValueError:
            raise ValueError(f"Shapes {self} and {other} are not compatible") from None
        return TensorShape(merged)

    def __add__(self, other: object) -> TensorShape:
        return self.concatenate(TensorShape(other))

    def __radd__(self, other: object) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def concatenate(self, other: object) -> TensorShape:
        """The dimensions of both, in order; unknown if either rank is."""
        other = as_shape(other)
        if self._sizes is None or other._sizes is None:
            return unknown_shape()
        return TensorShape(self._sizes + other._sizes)

    def assert_same_rank(self, other: TensorShape) -> None:
        """Raises ValueError when both ranks are known and differ."""
        other = as_shape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError when the rank is known and not `rank`."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """This shape with the given rank; ValueError if it has another."""
        try:
            return self.merge_with(unknown_shape(rank=rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; ValueError if its rank is known to be smaller."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; ValueError if its rank is known to be larger."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def is_compatible_with(self, other: object) -> bool:
        """Whether some fully defined shape fits both."""
        other = as_shape(other)
        if self._sizes is None or other._sizes is None:
            return True
        return len(self._sizes) == len(other._sizes) and all(
            x is None or y is None or x == y for x, y in zip(self._sizes, other._sizes)
        )

    def assert_is_compatible_with(self, other: object) -> None:
        """Raises ValueError unless `is_compatible_with(other)`."""
        if not self.is_compatible_with(other):
            raise hinted(ValueError, f"Shapes {self} and {other} are incompatible")

    def most_specific_compatible_shape(self, other: object) -> TensorShape:
        """The shape that keeps only what both know and agree on."""
        other = as_shape(other)
        if self._sizes is None or other._sizes is None or self.rank != other.rank:
            return unknown_shape()
        return TensorShape([x if x == y else None for x, y in zip(self._sizes, other._sizes)])

    def __eq__(self, other: object) -> bool:
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        # Unknown sizes are not equal to anything but themselves, also in a copy of the shape.
        if self._sizes is other._sizes:
            return True
        return self._sizes == other._sizes and None not in (self._sizes or ())

    def __ne__(self, other: object) -> bool:
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        if self._sizes is None or other._sizes is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        if self._sizes is other._sizes:
            return False
        return self._sizes != other._sizes or None in self._sizes

    def __hash__(self) -> int:
        return hash(self._sizes)

    def __reduce__(self) -> Any:
        return TensorShape, (None if self._sizes is None else list(self._sizes),)


def _merge(x: int | None, y: int | None) -> int | None:
    if x is not None and y is not None and x != y:
        raise ValueError(f"Dimensions {x} and {y} are not compatible")
    return y if x is None else x


def shape_text(shape: TensorShape | Iterable[int | None] | None) -> str:
    """A shape as TensorFlow's runtime prints it: [2,?]."""
    sizes = shape.sizes if isinstance(shape, TensorShape) else shape
    if sizes is None:
        return "<unknown>"
    return "[" + ",".join("?" if size is None else str(size) for size in sizes) + "]"


def as_shape(shape: object) -> TensorShape:
    """`shape` as a TensorShape."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


_UNKNOWN = TensorShape(None)


def unknown_shape(rank: int | None = None) -> TensorShape:
    """A shape of unknown sizes; of unknown rank too when `rank` is None."""
    return _UNKNOWN if rank is None else TensorShape([None] * rank)


def scalar() -> TensorShape:
    """The shape of a scalar."""
    return TensorShape([])


def vector(length: object) -> TensorShape:
    """The shape of a vector."""
    return TensorShape([length])


def matrix(rows: object, cols: object) -> TensorShape:
    """The shape of a matrix."""
    return TensorShape([rows, cols])


@export("dimension_value", "compat.dimension_value")
def dimension_value(dimension: TensorLike | None) -> Any:
    """The plain value of a Dimension; anything else as it is."""
    return dimension._value if isinstance(dimension, Dimension) else dimension


@export("dimension_at_index", "compat.dimension_at_index")
def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """The Dimension at an index, whatever iteration over shapes yields."""
    return Dimension(None) if shape.dims is None else shape.dims[index]


@export("enable_v2_tensorshape")
def enable_v2_tensorshape() -> None:
    """Makes indexing and iterating over shapes give plain values."""
    _set_v2(True)


@export("disable_v2_tensorshape")
def disable_v2_tensorshape() -> None:
    """Makes indexing and iterating over shapes give Dimension objects."""
    _set_v2(False)


def _set_v2(enabled: bool) -> None:
    global _v2_behavior
    _v2_behavior = enabled


def broadcast_static(x: object, y: object) -> TensorShape:
    """The static shape that two shapes broadcast to; ValueError when they cannot."""
    a, b = as_shape(x).sizes, as_shape(y).sizes
    if a is None or b is None:
        return unknown_shape()
    width = max(len(a), len(b))
    left: Iterable[int | None] = (1,) * (width - len(a)) + a
    right: Iterable[int | None] = (1,) * (width - len(b)) + b
    sizes: list[int | None] = []
    for m, n in zip(left, right):
        if m is None or n is None:
            # A known size above 1 wins: the unknown one must be 1 or equal to it.
            known = n if m is None else m
            sizes.append(known if known is not None and known > 1 else None)
        elif m == n or n == 1:
            sizes.append(m)
        elif m == 1:
            sizes.append(n)
        else:
            raise ValueError(
                f"Incompatible shapes for broadcasting: {as_shape(x)} and {as_shape(y)}"
            )
    return TensorShape(sizes)


@export("broadcast_static_shape")
def broadcast_static_shape(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The static shape that results from broadcasting two shapes."""
    return broadcast_static(shape_x, shape_y)
