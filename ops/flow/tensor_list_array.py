# SPDX-License-Identifier: Apache-2.0
"""TensorArrays that are lists of tensors, as elements of datasets hold them, and their type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.interface.specs import TensorSpec, TypeSpec, type_spec_from_value
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape
from ..control import no_op
from ..public import raw, tf
from .tensor_array import TensorArray

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, ShapeLike, TensorLike


class TensorListArray(TensorArray):
    """An array whose flow is the list of its elements, a variant: there is nothing beside it."""

    def __init__(
        self,
        dtype: DTypeLike,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike | None = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        """Makes a list of `size` elements, or wraps one (`flow`); see TensorArray."""
        # (A list is a value: what is read stays, wherever it is.)
        del clear_after_read, tensor_array_name, handle, colocate_with_first_write_call
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size, self._infer_shape = bool(dynamic_size), infer_shape
        self._element_shape = [as_shape(element_shape)]
        if flow is None and size is None:
            raise ValueError("Size must be provided if flow is not provided")
        with name_scope(name, "TensorArrayV2", [size, flow]) as scope:
            if flow is None:
                flow = raw.TensorListReserve(
                    self._shape_input, size, element_dtype=self._dtype, name=scope
                )
            self._flow = flow

    def _after(self, flow: Tensor) -> TensorListArray:
        made = TensorListArray(
            self._dtype,
            flow=flow,
            dynamic_size=self._dynamic_size,
            infer_shape=self._infer_shape,
        )
        made._element_shape = self._element_shape
        return made

    @property
    def handle(self) -> Any:
        """None: the flow is all that there is."""
        return None

    @property
    def _shape_input(self) -> Tensor:
        """The elements' shape as ops of lists take it: -1 for all that is not known."""
        shape = self.element_shape
        if shape.rank is None:
            return convert_to_tensor(-1, dtypes.int32)
        return convert_to_tensor([-1 if n is None else n for n in shape.as_list()], dtypes.int32)

    def identity(self) -> TensorArray:
        return self._after(tf.identity(self._flow))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """Not there: the list's own ops have gradients.

        Raises:
          NotImplementedError: Always, as in TensorFlow.
        """
        raise NotImplementedError()

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        with name_scope(name, "TensorArrayV2Read", [self._flow, index]):
            value = raw.TensorListGetItem(self._flow, index, self._shape_input, self._dtype)
        value.set_shape(self.element_shape)
        return value

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayV2Write", [self._flow, index, value]):
            value, flow = self._value(value), self._flow
            self._learn_shape(value.shape)
            if self._dynamic_size:
                count = tf.maximum(raw.TensorListLength(flow), tf.add(index, 1))
                flow = raw.TensorListResize(flow, count)
            return self._after(raw.TensorListSetItem(flow, index, value))

    def stack(self, name: str | None = None) -> Tensor:
        with name_scope(name, "TensorArrayV2Stack", [self._flow]):
            value = raw.TensorListStack(self._flow, self._shape_input, self._dtype)
        if self.element_shape.rank is not None:
            value.set_shape([None, *self.element_shape.as_list()])
        return value

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        with name_scope(name, "TensorArrayV2Gather", [self._flow, indices]):
            value = raw.TensorListGather(self._flow, indices, self._shape_input, self._dtype)
        if self.element_shape.rank is not None:
            value.set_shape([None, *self.element_shape.as_list()])
        return value

    def concat(self, name: str | None = None) -> Tensor:
        shape = self.element_shape
        first = [] if shape.rank is None else [None, *shape.as_list()[1:]]
        stated: Any = -1 if shape.rank is None else [-1 if n is None else n for n in first]
        with name_scope(name, "TensorArrayV2Concat", [self._flow]):
            value, _ = raw.TensorListConcatV2(
                self._flow,
                convert_to_tensor(stated, dtypes.int32),
                convert_to_tensor([], dtypes.int64),
                self._dtype,
            )
        if shape.rank is not None:
            value.set_shape(first)
        return value

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayUnstack", [self._flow, value]):
            value = self._value(value)
            self._learn_shape(value.shape[1:] if value.shape.rank else TensorShape(None))
            return self._after(raw.TensorListFromTensor(value, self._shape_input))

    def scatter(
        self, indices: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        with name_scope(name, "TensorArrayScatter", [self._flow, value, indices]):
            value = self._value(value)
            self._learn_shape(value.shape[1:] if value.shape.rank else TensorShape(None))
            return self._after(raw.TensorListScatterIntoExistingList(self._flow, value, indices))

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArraySplit", [self._flow, value, lengths]):
            value = self._value(value)
            lengths = tf.cast(lengths, dtypes.int64)
            return self._after(raw.TensorListSplit(value, self._shape_input, lengths))

    def size(self, name: str | None = None) -> Tensor:
        return raw.TensorListLength(self._flow, name=name)

    def close(self, name: str | None = None) -> Any:
        """Nothing: a list lives as long as it is needed."""
        return no_op(name=name)


@export("TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """The type of TensorArrays (`tf.TensorArraySpec`).

    Args:
      element_shape: The shape of the elements, as far as it is known.
      dtype: Their type.
      dynamic_size: Whether the array can grow.
      infer_shape: Whether all elements have one shape.
    """

    __slots__ = ("_dtype", "_dynamic_size", "_element_shape", "_infer_shape")

    def __init__(
        self,
        element_shape: ShapeLike = None,
        dtype: DTypeLike = dtypes.float32,
        dynamic_size: bool | None = False,
        infer_shape: bool | None = True,
    ) -> None:
        self._element_shape = as_shape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    @property
    def value_type(self) -> type:
        """TensorArray."""
        return TensorArray

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a type, or a value's, may stand for this one; `infer_shape` does not count."""
        if not isinstance(other, TypeSpec):
            other = type_spec_from_value(other)
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype.is_compatible_with(other._dtype)
            and self._element_shape.is_compatible_with(other._element_shape)
            and self._dynamic_size == other._dynamic_size
        )

    def most_specific_compatible_type(self, other: Any) -> TensorArraySpec:
        """The narrowest type of which both are; ValueError where there is none."""
        if not self.is_compatible_with(other):
            raise ValueError("Types are not compatible")
        shape = self._element_shape.most_specific_compatible_shape(other._element_shape)
        infers = self._infer_shape and other._infer_shape
        return TensorArraySpec(shape, self._dtype, self._dynamic_size, infers)

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    @property
    def _component_specs(self) -> list[TensorSpec]:
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value: Any) -> list[Tensor]:
        if not isinstance(value, TensorArray):
            raise TypeError(f"value must be a TensorArray, but saw: {type(value)}")
        if value.flow is not None and value.flow.dtype == dtypes.variant:
            return [value.flow]
        with name_scope(None, "convert_tensor_array"):
            shape = value.element_shape
            known = shape.rank is not None
            stated = [-1 if n is None else n for n in shape.as_list()] if known else -1
            shapes = convert_to_tensor(stated, dtypes.int32)
            return [raw.TensorListFromTensor(value.stack(), shapes)]

    def _from_components(self, components: Sequence[Any]) -> TensorListArray:
        (flow,) = components
        return TensorListArray(
            self._dtype,
            flow=flow,
            element_shape=self._element_shape,
            dynamic_size=bool(self._dynamic_size),
            infer_shape=bool(self._infer_shape),
        )

    @staticmethod
    def from_value(value: Any) -> TensorArraySpec:
        """The type of a TensorArray; TypeError for anything else."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but saw: {type(value)}")
        return TensorArraySpec(
            value.element_shape, value.dtype, value.dynamic_size, value._infer_shape
        )

    def _to_legacy_output_types(self) -> dtypes.DType:
        return self._dtype

    def _to_legacy_output_shapes(self) -> TensorShape:
        # As in TensorFlow, which puts its two other facts in front of the shape.
        stated = (self._dynamic_size, self._infer_shape)
        facts = TensorShape([None if fact is None else int(fact) for fact in stated])
        return facts.concatenate(self._element_shape)

    def _to_legacy_output_classes(self) -> type:
        return TensorArray
