# SPDX-License-Identifier: Apache-2.0
"""`tf.RaggedTensor`: values, and row splits that say how they fall into rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor, register_tensor_conversion_function
from ...engine.graph.operation import Operation
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.interface.specs import register_type_spec_from_value_converter
from ...engine.session.fetches import register_session_run_conversion_functions
from ...engine.types import dtypes, nest
from ...engine.types.shape import TensorShape, dimension_value
from ..public import tf
from . import conversions, factories
from .segment_ids import row_splits_to_segment_ids
from .util import MISMATCHED_DTYPES, get_positive_axis
from .values import RaggedTensorValue

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, ShapeLike
    from .spec import RaggedTensorSpec


def _forward(name: str) -> Callable[..., Any]:
    """The operator that calls a public function with the ragged tensor on its left."""
    return lambda self, *other: getattr(tf, name)(self, *other)


def _reflected(name: str) -> Callable[..., Any]:
    return lambda self, other: getattr(tf, name)(other, self)


@export("RaggedTensor")
class RaggedTensor:
    """A tensor whose rows may differ in length.

    It consists of `values`, the rows' entries one behind the other, and `row_splits`: row i is
    values[row_splits[i] : row_splits[i + 1]].  Where values are ragged, too, these are rows of
    rows.  So its first axis is uniform, one or more ragged axes follow, then those below the first
    of the innermost values, which are uniform.  How many axes are ragged is known in the graph.

    It is made by its class methods or `tf.ragged.constant`, not by calling the class.  Runs give a
    tf.ragged.RaggedTensorValue for it, and take one where it is fed.  Elementwise functions,
    reductions, `tf.concat`, `tf.gather` and others take it; operators and slices work.

    Raises:
        ValueError: the class itself is called.

    Example:
        >>> x = tf.RaggedTensor.from_row_splits([3, 1, 4, 1, 5], [0, 2, 2, 5])
        >>> tf.Session().run([x * 2, tf.reduce_sum(x, axis=1)])[0].to_list()
        [[6, 2], [], [8, 2, 10]]
        >>> tf.Session().run(x[:, 1:]).to_list()
        [[1], [], [1, 5]]
    """

    def __init__(
        self,
        values: Any,
        row_splits: Any,
        cached_row_lengths: Tensor | None = None,
        cached_value_rowids: Tensor | None = None,
        cached_nrows: Tensor | None = None,
        internal: bool = False,
    ) -> None:
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods "
                "instead (e.g., RaggedTensor.from_row_lengths())"
            )
        if not isinstance(row_splits, Tensor):
            raise TypeError(f"Row-partitioning argument must be a Tensor, got {row_splits!r}")
        if not isinstance(values, (RaggedTensor, Tensor)):
            raise TypeError(f"values must be a Tensor or RaggedTensor, got {values!r}")
        if row_splits.dtype not in factories.INTEGERS:
            raise ValueError("Row-partitioning argument must be int32 or int64")
        row_splits.shape.assert_has_rank(1)
        values.shape.with_rank_at_least(1)
        row_splits.set_shape([None])
        if isinstance(values, RaggedTensor) and row_splits.dtype != values.row_splits.dtype:
            raise AssertionError("row_splits and values.row_splits must have the same dtype")
        for tensor in (cached_row_lengths, cached_value_rowids, cached_nrows):
            _check_cached(tensor)
        self._values, self._row_splits = values, row_splits
        self._cached_row_lengths = cached_row_lengths
        self._cached_value_rowids = cached_value_rowids
        self._cached_nrows = cached_nrows

    from_value_rowids = classmethod(factories.from_value_rowids)
    from_row_splits = classmethod(factories.from_row_splits)
    from_row_lengths = classmethod(factories.from_row_lengths)
    from_row_starts = classmethod(factories.from_row_starts)
    from_row_limits = classmethod(factories.from_row_limits)
    from_nested_value_rowids = classmethod(factories.from_nested_value_rowids)
    from_nested_row_splits = classmethod(factories.from_nested_row_splits)
    from_nested_row_lengths = classmethod(factories.from_nested_row_lengths)
    from_tensor = classmethod(conversions.from_tensor)
    from_sparse = classmethod(conversions.from_sparse)
    _from_variant = classmethod(conversions.from_variant)
    to_tensor = conversions.to_tensor
    to_sparse = conversions.to_sparse
    _to_variant = conversions.to_variant

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the values."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape; None for sizes that are ragged or not known."""
        count = dimension_value(self._row_splits.shape[0])
        rows = None if count is None else count - 1
        return TensorShape([rows, None]).concatenate(self._values.shape[1:])

    @property
    def ragged_rank(self) -> int:
        """How many axes are ragged."""
        return len(self.nested_row_splits)

    @property
    def values(self) -> Any:
        """The rows' entries, one behind the other: a Tensor, or a RaggedTensor of rows."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """Where each row begins and ends among the values."""
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """The innermost values, below all ragged axes."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedTensor) else values

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The row splits of all ragged axes, the outermost first."""
        values = self._values
        inner = values.nested_row_splits if isinstance(values, RaggedTensor) else ()
        return (self._row_splits, *inner)

    def _levels(self) -> list[RaggedTensor]:
        values = self._values
        return [self, *(values._levels() if isinstance(values, RaggedTensor) else [])]

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row of every value, a vector."""
        if self._cached_value_rowids is not None:
            return self._cached_value_rowids
        with name_scope(name, "RaggedValueRowIds", [self]):
            return row_splits_to_segment_ids(self._row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The rows of the values of all ragged axes, the outermost first."""
        with name_scope(name, "RaggedNestedValueRowIds", [self]):
            return tuple(level.value_rowids() for level in self._levels())

    def nrows(self, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
        """How many rows there are; of the dtype of the splits unless said."""
        kind = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        if self._cached_nrows is not None:
            return tf.cast(self._cached_nrows, kind)
        with name_scope(name, "RaggedNRows", [self]):
            return tf.shape(self._row_splits, out_type=kind)[0] - 1

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where each row begins among the values."""
        with name_scope(name, "RaggedRowStarts", [self]):
            return self._row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where each row ends among the values."""
        with name_scope(name, "RaggedRowLimits", [self]):
            return self._row_splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the rows along an axis, ragged for inner ones."""
        if self._cached_row_lengths is not None:
            return self._cached_row_lengths
        with name_scope(name, "RaggedRowLengths", [self]):
            axis = get_positive_axis(axis, self.shape.ndims)
            if axis == 0:
                return self.nrows()
            if axis == 1:
                return self._row_splits[1:] - self._row_splits[:-1]
            if isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.row_lengths(axis - 1))
            kind = self._row_splits.dtype
            sizes = tf.shape(self._values, out_type=kind)
            return self.with_values(tf.ones(sizes[: axis - 1], kind) * sizes[axis - 1])

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The lengths of the rows of all ragged axes, the outermost first."""
        with name_scope(name, "RaggedNestedRowLengths", [self]):
            return tuple(level.row_lengths() for level in self._levels())

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: DTypeLike | None = None
    ) -> Tensor:
        """The shape of the smallest dense tensor around it; or its sizes along axes."""
        kind = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedBoundingBox", [self, axis]):
            if isinstance(axis, int) and axis == 0:
                return tf.shape(self._row_splits, out_type=kind)[0] - 1
            if isinstance(axis, int) and axis == 1:
                return tf.maximum(tf.reduce_max(self.row_lengths()), 0)
            outer = tf.shape(self._row_splits, out_type=kind)
            inner = tf.shape(self.flat_values, out_type=kind)
            rows = outer[0] - 1
            widths = [
                tf.maximum(tf.reduce_max(splits[1:] - splits[:-1]), 0)
                for splits in self.nested_row_splits
            ]
            ragged = tf.stack([rows, *[tf.cast(width, kind) for width in widths]])
            box = tf.concat([ragged, inner[1:]], axis=0)
            return box if axis is None else tf.gather(box, axis)

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other values, of as many entries."""
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        if (
            isinstance(new_values, RaggedTensor)
            and self._row_splits.dtype != new_values.row_splits.dtype
        ):
            raise ValueError(
                "self and new_values have mismatched row_splits dtypes; use "
                "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
            )
        return RaggedTensor(new_values, **self._partition(), internal=True)

    def _partition(self) -> dict[str, Any]:
        """The arguments of the constructor behind the values."""
        return {
            "row_splits": self._row_splits,
            "cached_row_lengths": self._cached_row_lengths,
            "cached_value_rowids": self._cached_value_rowids,
            "cached_nrows": self._cached_nrows,
        }

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows on all levels, of other innermost values."""
        if isinstance(self._values, RaggedTensor):
            new_values = self._values.with_flat_values(new_values)
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: DTypeLike) -> RaggedTensor:
        """The same with splits of int32 or int64 on all levels."""
        kind = dtypes.as_dtype(dtype)
        if kind not in factories.INTEGERS:
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype == kind:
            return self
        parts = self._partition().items()
        partition = {name: part if part is None else tf.cast(part, kind) for name, part in parts}
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(kind)
        return RaggedTensor(values, **partition, internal=True)

    def to_list(self) -> list[Any]:
        """Raises ValueError: in a graph there are no values; what a run gives has `to_list`."""
        raise ValueError(
            "RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the "
            "RaggedTensor first and then use RaggedTensorValue.to_list()."
        )

    def consumers(self) -> list[Operation]:
        """The operations that take one of its tensors."""
        parts = (self.flat_values, *self.nested_row_splits)
        return list(dict.fromkeys(op for part in parts for op in part.consumers()))

    def _as_graph_element(self) -> Tensor:
        return self.flat_values

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        from .spec import RaggedTensorSpec

        return RaggedTensorSpec.from_value(self)

    def _shape_invariant_to_type_spec(self, shape: ShapeLike) -> RaggedTensorSpec:
        from .spec import RaggedTensorSpec

        return RaggedTensorSpec(shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def __repr__(self) -> str:
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"

    def __getitem__(self, key: Any) -> Any:
        from .getitem import ragged_tensor_getitem

        return ragged_tensor_getitem(self, key)

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    # NumPy's operators leave those of its arrays and a ragged tensor to this class.
    __array_priority__ = 100
    __nonzero__ = __bool__
    __ge__, __gt__ = _forward("greater_equal"), _forward("greater")
    __le__, __lt__ = _forward("less_equal"), _forward("less")
    __and__, __rand__ = _forward("logical_and"), _reflected("logical_and")
    __or__, __ror__ = _forward("logical_or"), _reflected("logical_or")
    __xor__, __rxor__ = _forward("logical_xor"), _reflected("logical_xor")
    __invert__, __abs__, __neg__ = _forward("logical_not"), _forward("abs"), _forward("negative")
    __add__, __radd__ = _forward("add"), _reflected("add")
    __sub__, __rsub__ = _forward("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _forward("multiply"), _reflected("multiply")
    __div__, __rdiv__ = _forward("div"), _reflected("div")
    __truediv__, __rtruediv__ = _forward("truediv"), _reflected("truediv")
    __floordiv__, __rfloordiv__ = _forward("floordiv"), _reflected("floordiv")
    __mod__, __rmod__ = _forward("floormod"), _reflected("floormod")
    __pow__, __rpow__ = _forward("pow"), _reflected("pow")


def _check_cached(tensor: object) -> None:
    if tensor is None:
        return
    if not isinstance(tensor, Tensor):
        raise TypeError("Cached value must be a Tensor or None.")
    if tensor.dtype not in factories.INTEGERS:
        raise TypeError("Cached value must be int32 or int64.")


def is_ragged(value: object) -> bool:
    """Whether a value is a RaggedTensor or the value of one."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def match_row_splits_dtypes(*tensors: Any, **kwargs: Any) -> Any:
    """The tensors, after checking that the splits of the ragged ones are of one dtype.

    With return_dtype=True, that dtype (int64 where none is ragged) and the tensors.
    """
    return_dtype = kwargs.pop("return_dtype", False)
    if kwargs:
        raise ValueError(f"Unexpected keyword args {kwargs!r}")
    kinds = {t.row_splits.dtype for t in tensors if isinstance(t, RaggedTensor)}
    if len(kinds) > 1:
        raise ValueError(MISMATCHED_DTYPES)
    if not return_dtype:
        return tensors
    return (kinds.pop() if kinds else dtypes.int64), tensors


def convert_to_tensor_or_ragged_tensor(
    value: Any,
    dtype: DTypeLike | None = None,
    preferred_dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Any:
    """A value as a Tensor, or as a RaggedTensor if it is one or the value of one."""
    if isinstance(value, RaggedTensor):
        if dtype and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for RaggedTensor "
                f"with dtype {value.dtype.name}: {value!r}"
            )
        return value
    if not isinstance(value, RaggedTensorValue):
        return convert_to_tensor(value, dtype=dtype, preferred_dtype=preferred_dtype, name=name)
    with name_scope(name, "ConvertToTensorOrRaggedTensor", []):
        flat = convert_to_tensor(
            value.flat_values, dtype=dtype, preferred_dtype=preferred_dtype, name="flat_values"
        )
        return RaggedTensor.from_nested_row_splits(flat, value.nested_row_splits, validate=False)


def _refuse(
    value: Any, dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    del dtype, name, as_ref
    raise TypeError(
        f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}. Consider "
        "casting elements to a supported type."
    )


# What a run fetches and is fed, and what structures of tensors hold.


def _parts(ragged: Any) -> list[Any]:
    return [ragged.flat_values, *ragged.nested_row_splits]


def _value_of(parts: Sequence[Any]) -> RaggedTensorValue:
    value = parts[0]
    for splits in reversed(parts[1:]):
        value = RaggedTensorValue(value, splits)
    return value


def _with_parts(like: RaggedTensor, parts: Sequence[Any]) -> RaggedTensor:
    value = parts[0]
    for splits in reversed(parts[1:]):
        value = RaggedTensor(value, splits, internal=True)
    return value


def _define_class() -> None:
    """What others must know of the class; whoever has an object of it has imported this."""
    register_tensor_conversion_function(RaggedTensor, _refuse)
    register_type_spec_from_value_converter(RaggedTensor, lambda value: value._type_spec)
    register_session_run_conversion_functions(
        RaggedTensor,
        lambda fetch: (_parts(fetch), _value_of),
        lambda feed, value: list(zip(_parts(feed), _parts(value))),
        _parts,
    )
    nest.COMPOSITES[RaggedTensor] = nest.Composite(
        _parts, _with_parts, lambda value: value._type_spec
    )


_define_class()


class RaggedTensorType:
    """What `map_fn` is told of a ragged result: its dtype and how many axes are ragged."""

    def __init__(
        self, dtype: DTypeLike, ragged_rank: int, row_splits_dtype: DTypeLike = dtypes.int64
    ) -> None:
        self.dtype, self.ragged_rank = dtype, ragged_rank
        self.row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
