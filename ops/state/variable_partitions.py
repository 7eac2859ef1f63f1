# SPDX-License-Identifier: Apache-2.0
"""Variables that live in several parts, and the partitioners' part of making them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import register_tensor_conversion_function
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import dimension_value
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.types.dtypes import DType


def _require_sequence(name: str, value: Sequence[int]) -> None:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError(
            f"`{name}` must be a sequence (like tuple or list) instead of {type(value).__name__}"
        )


class PartitionInfo:
    """Tells an initializer which part of which whole it initializes."""

    def __init__(self, full_shape: Sequence[int], var_offset: Sequence[int]) -> None:
        _require_sequence("full_shape", full_shape)
        _require_sequence("var_offset", var_offset)
        if len(var_offset) != len(full_shape):
            raise ValueError(
                f"Expected equal length, but `var_offset` is of length {len(var_offset)} while "
                f"full_shape is of length {len(full_shape)}."
            )
        for offset, size in zip(var_offset, full_shape, strict=True):
            if offset < 0 or offset >= size:
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={size} for "
                    f"var_offset={var_offset}, full_shape={full_shape}"
                )
        self.full_shape = full_shape
        self.var_offset = var_offset

    def single_offset(self, shape: Sequence[int]) -> int:
        """The offset on the one axis along which `shape` is a part."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The one axis along which `shape` is a part; None when it is the whole."""
        _require_sequence("shape", shape)
        if len(shape) != len(self.full_shape):
            raise ValueError(
                f"Expected equal length, but received shape={shape} of length {len(shape)} while "
                f"self.full_shape={self.full_shape} is of length {len(self.full_shape)}."
            )
        for i, size in enumerate(shape):
            if self.var_offset[i] + size > self.full_shape[i]:
                raise ValueError(
                    f"With self.var_offset={self.var_offset}, a partition of shape={shape} would "
                    f"exceed self.full_shape={self.full_shape} in dimension {i}."
                )
        found = None
        for i, size in enumerate(shape):
            if size == self.full_shape[i]:
                continue
            if found is not None:
                raise ValueError(
                    f"Cannot use single_slice_dim() with shape={shape} and "
                    f"self.full_shape={self.full_shape} since slice dim could be either dimension "
                    f"{i} or {found}."
                )
            found = i
        return found


_PartitionInfo = PartitionInfo


def call_partitioner(
    partitioner: Callable[..., Any], shape: Any, dtype: DTypeLike
) -> Sequence[int]:
    """The number of parts along each axis, after checking it."""
    if not shape.is_fully_defined():
        raise ValueError(
            f"Shape of a new partitioned variable must be fully defined, but instead was {shape}."
        )
    if shape.ndims < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    parts = partitioner(shape=shape, dtype=dtype)
    if not isinstance(parts, Sequence):
        raise ValueError(f"Partitioner must return a sequence, but saw: {parts}")
    if len(parts) != shape.ndims:
        raise ValueError(
            "Partitioner returned a partition list that does not match the Variable's rank: "
            f"{parts} vs. {shape}"
        )
    if any(count < 1 for count in parts):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {parts}")
    if sum(count > 1 for count in parts) > 1:
        raise ValueError(
            f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {parts}"
        )
    return parts


def slices(full_shape: list[int], count: int, axis: int) -> Iterator[tuple[list[int], list[int]]]:
    """Offset and shape of each part; the first ones are larger when it does not divide evenly."""
    least, extra = divmod(full_shape[axis], count)
    offset = [0] * len(full_shape)
    for i in range(count):
        shape = list(full_shape)
        shape[axis] = least + (i < extra)
        yield list(offset), shape
        offset[axis] += shape[axis]


class PartitionedVariable:
    """Several variables that are the parts of one, along one axis."""

    _distribute_strategy = None

    def __init__(
        self,
        name: str,
        shape: Any,
        dtype: DTypeLike,
        variable_list: Sequence[Any],
        partitions: Any,
    ) -> None:
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError(f"variable_list is not a list or tuple: {variable_list}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError(f"partitions is not a list or tuple: {partitions}")
        if not all(count >= 1 for count in partitions):
            raise ValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        if any(v._get_save_slice_info() is None for v in variable_list):
            names = [v.name for v in variable_list]
            raise ValueError(f"All variables must have a save_slice_info available: {names}")
        if len(shape) != len(partitions):
            raise ValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
        for v in variable_list:
            full_shape = v._get_save_slice_info().full_shape
            if full_shape != shape:
                raise ValueError(
                    f"All variables' full shapes must match shape: {shape}; but full shapes were: "
                    f"{[full_shape]}"
                )
        self._variable_list = sorted(
            variable_list, key=lambda v: v._get_save_slice_info().var_offset
        )
        self._name = name
        self._shape = shape
        self._dtype = dtype
        self._partitions = partitions

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        axes = len(self._partition_axes())
        if axes > 1:
            raise ValueError(f"Cannot get a length for {axes} > 1 partition axes")
        return len(self._variable_list)

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def shape(self) -> Any:
        return self._shape

    def get_shape(self) -> Any:
        return self._shape

    def _get_variable_list(self) -> list[Any]:
        return self._variable_list

    def _get_partitions(self) -> Any:
        return self._partitions

    def _partition_axes(self) -> list[int]:
        if all(count == 1 for count in self._partitions):
            return [0]
        return [i for i, count in enumerate(self._partitions) if count > 1]

    def _one_axis(self, doing: str) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(
                f"Cannot {doing} along more than one dimension: {axes}.  "
                "Multi-axis partitions are not supported"
            )
        return axes[0]

    def _concat(self) -> Tensor:
        if len(self._variable_list) == 1:
            with name_scope(None):
                return tf.identity(self._variable_list[0], name=self._name)
        axis = self._one_axis("concatenate")
        with name_scope(self._name + "/ConcatPartitions/"):
            whole = tf.concat(self._variable_list, axis)
        with name_scope(None):
            return tf.identity(whole, name=self._name)

    def as_tensor(self) -> Tensor:
        """All parts as one tensor."""
        with control_dependencies(None):
            return self._concat()

    def _assign_parts(
        self, method: str, value: TensorLike, read_value: bool, **given: Any
    ) -> list[Any]:
        axis = self._one_axis("do assign action")
        if isinstance(value, list):
            values = value
            if len(values) != len(self._variable_list):
                raise AssertionError(
                    f"{len(values)} values for the {len(self._variable_list)} parts of {self._name}"
                )
        elif isinstance(value, PartitionedVariable):
            values = list(value)
        else:
            sizes = [dimension_value(v.shape[axis]) for v in self._variable_list]
            values = tf.split(value, sizes, axis=axis)
        pairs = zip(self._variable_list, values, strict=True)
        results = [getattr(v, method)(part, read_value=read_value, **given) for v, part in pairs]
        return results

    def assign(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Gives all parts their piece of `value`."""
        return self._assign_parts("assign", value, read_value, use_locking=use_locking, name=name)

    def assign_add(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Adds to all parts their piece of `value`."""
        return self._assign_parts(
            "assign_add", value, read_value, use_locking=use_locking, name=name
        )

    def assign_sub(
        self,
        value: TensorLike,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> list[Any]:
        """Subtracts from all parts their piece of `value`."""
        return self._assign_parts(
            "assign_sub", value, read_value, use_locking=use_locking, name=name
        )


def _to_tensor(
    variable: PartitionedVariable,
    dtype: DType | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> Tensor:
    if dtype is not None and not dtype.is_compatible_with(variable.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{variable.dtype.name}'"
        )
    if as_ref:
        raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
    return variable.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _to_tensor)
