# SPDX-License-Identifier: Apache-2.0
"""`tf.TensorArray`: an array of tensors that loops write and read by index.

Each write returns a new object whose `flow` tensor stands for the write: what uses that object
runs after it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.graph import colocate_with, control_dependencies, device
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape
from ..public import raw, tf
from .util import EnableControlFlowV2

if TYPE_CHECKING:
    import numpy as np

    from ...engine.graph.annotations import DTypeLike, ShapeLike, TensorLike
    from ...engine.interface.specs import TypeSpec


_log = logging.getLogger("tensorflow")


@export("TensorArray")
class TensorArray:
    """An array of tensors of one type, each written once and, unless told otherwise, read once."""

    def __new__(cls, *args: Any, flow: Any = None, **options: Any) -> TensorArray:
        """One that is a list of tensors where control flow calls functions."""
        is_list = flow is not None and flow.dtype == dtypes.variant
        if cls is TensorArray and (is_list or EnableControlFlowV2(get_default_graph())):
            from .tensor_list_array import TensorListArray

            cls = TensorListArray
        return super().__new__(cls)

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
        """Makes an array of `size` elements, or wraps one that exists (`handle` and `flow`).

        Args:
          dtype: The type of the elements.
          size: How many elements.
          dynamic_size: Whether writes beyond the end make the array grow.
          clear_after_read: Whether an element is dropped when it was read; the default.
          tensor_array_name: A name for messages.
          handle: An array that exists.
          flow: The flow of that array.
          infer_shape: Whether all elements must have one shape.
          element_shape: That shape, as far as it is known.
          colocate_with_first_write_call: Whether the array is on the device of its first element.
          name: The scope of the nodes.
        """
        _check_arguments(
            handle,
            tensor_array_name,
            size,
            element_shape=element_shape,
            dynamic_size=dynamic_size,
            clear_after_read=clear_after_read,
        )
        self._dynamic_size = dynamic_size or False
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._colocates = colocate_with_first_write_call
        # Lists that all objects for one array share: what it is beside of, its elements' shape.
        self._beside: list[Tensor] = []
        self._element_shape = [as_shape(element_shape)]
        self._infer_shape = infer_shape
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                if flow is None:
                    raise ValueError("flow must not be None if handle is not None.")
                self._handle, self._flow = handle, flow
                return
            attrs = {
                "element_shape": element_shape,
                "identical_element_shapes": infer_shape,
                "dynamic_size": self._dynamic_size,
                "clear_after_read": True if clear_after_read is None else clear_after_read,
                "tensor_array_name": tensor_array_name,
                "name": scope,
            }
            self._handle, self._flow = self._make(size, attrs)

    def _make(self, size: TensorLike, attrs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        if not self._colocates:
            return raw.TensorArrayV3(dtype=self._dtype, size=size, **attrs)
        # Made on no device, as in TensorFlow: the values that are written decide (`_placed`).
        with device(None), colocate_with(None, ignore_existing=True):
            return raw.TensorArrayV3(dtype=self._dtype, size=size, **attrs)

    @property
    def flow(self) -> Tensor:
        """What stands for all that was done to the array so far."""
        return self._flow

    @property
    def dtype(self) -> dtypes.DType:
        """The type of the elements."""
        return self._dtype

    @property
    def handle(self) -> Tensor:
        """The array itself."""
        return self._handle

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the elements, as far as it is known."""
        return self._element_shape[0]

    @property
    def dynamic_size(self) -> bool:
        """Whether the array can grow."""
        return self._dynamic_size

    @property
    def _implementation(self) -> TensorArray:
        return self

    @property
    def _type_spec(self) -> TypeSpec:
        from .tensor_list_array import TensorArraySpec

        return TensorArraySpec.from_value(self)

    def _learn_shape(self, shape: TensorShape) -> None:
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.element_shape} ")
        # The list is shared by all objects for the array, so that what one write tells of the shape
        # is known to reads from older objects too, as in TensorFlow.
        if self._infer_shape:
            self._element_shape[0] = self.element_shape.merge_with(shape)

    @contextmanager
    def _placed(self, value: Tensor) -> Iterator[None]:
        """Beside the first value that was written."""
        if not self._colocates:
            yield
            return
        if not self._beside:
            self._beside.append(value)
        with colocate_with(self._beside[0]):
            yield

    def _value(self, value: TensorLike) -> Tensor:
        value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        if value.dtype != self._dtype:
            _log.error(
                "Error: Input value %s has dtype %s, but expected dtype %s.  This leads to "
                "undefined behavior and will be an error in future versions of TensorFlow.",
                value,
                value.dtype,
                self._dtype,
            )
        return value

    def identity(self) -> TensorArray:
        """The array after the control dependencies in force."""
        return build_ta_with_new_flow(self, tf.identity(self._flow))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """The array of gradients for one call of `tf.gradients`, which `source` names."""
        flow = self.flow if flow is None else flow
        with name_scope(name, "TensorArrayGrad", [self._handle]), colocate_with(self._handle):
            handle, _ = raw.TensorArrayGradV3(
                handle=self._handle, source=source, flow_in=flow, name=name
            )
            # The array of gradients must be there before anything is written to it or read from it,
            # and only the flow orders those.
            with control_dependencies([handle]):
                flow = tf.identity(flow, name="gradient_flow")
            result = TensorArray(
                dtype=self._dtype,
                handle=handle,
                flow=flow,
                infer_shape=self._infer_shape,
                colocate_with_first_write_call=False,
            )
            result._element_shape = self._element_shape
            return result

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """Element number `index`."""
        value = raw.TensorArrayReadV3(
            handle=self._handle, index=index, flow_in=self._flow, dtype=self._dtype, name=name
        )
        value.set_shape(self.element_shape)
        return value

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """The array with `value` as element number `index`."""
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = self._value(value)
            self._learn_shape(value.shape)
            with self._placed(value):
                flow = raw.TensorArrayWriteV3(
                    handle=self._handle, index=index, value=value, flow_in=self._flow, name=name
                )
            return build_ta_with_new_flow(self, flow)

    def stack(self, name: str | None = None) -> Tensor:
        """All elements as one tensor with one more dimension."""
        with colocate_with(self._handle), name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(tf.range(0, self.size()), name=name)

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements of the given numbers as one tensor."""
        value = raw.TensorArrayGatherV3(
            handle=self._handle,
            indices=indices,
            flow_in=self._flow,
            dtype=self._dtype,
            name=name,
            element_shape=self.element_shape,
        )
        if self.element_shape.rank is not None:
            value.set_shape([None, *self.element_shape.as_list()])
        return value

    def concat(self, name: str | None = None) -> Tensor:
        """All elements, one behind the other along their first dimension."""
        shape = self.element_shape
        rest = shape[1:] if shape.rank is not None else TensorShape(None)
        value, _ = raw.TensorArrayConcatV3(
            handle=self._handle,
            flow_in=self._flow,
            dtype=self._dtype,
            name=name,
            element_shape_except0=rest,
        )
        if rest.rank is not None:
            value.set_shape([None, *rest.as_list()])
        return value

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """The array with the rows of `value` as its elements."""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = tf.shape(value)[0]
            return self.scatter(indices=tf.range(0, count), value=value, name=name)

    def scatter(
        self, indices: TensorLike, value: TensorLike, name: str | None = None
    ) -> TensorArray:
        """The array with the rows of `value` as the elements of the given numbers."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = self._value(value)
            shape = value.shape
            self._learn_shape(shape[1:] if shape.rank is not None else TensorShape(None))
            with self._placed(value):
                flow = raw.TensorArrayScatterV3(
                    handle=self._handle, indices=indices, value=value, flow_in=self._flow, name=name
                )
            return build_ta_with_new_flow(self, flow)

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """The array with consecutive parts of `value`, of the given lengths, as its elements."""
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = convert_to_tensor(value, dtype=self._dtype, name="value")
            with self._placed(value):
                lengths = tf.cast(lengths, dtypes.int64)
                self._learn_part_shape(value, constant_value(lengths))
                flow = raw.TensorArraySplitV3(
                    handle=self._handle,
                    value=value,
                    lengths=lengths,
                    flow_in=self._flow,
                    name=name,
                )
            return build_ta_with_new_flow(self, flow)

    def _learn_part_shape(self, value: Tensor, lengths: np.ndarray | None) -> None:
        if value.shape.rank is None or lengths is None:
            return
        if lengths.shape and lengths.size and lengths.max() == lengths.min():
            self._learn_shape(TensorShape([int(lengths[0])]).concatenate(value.shape[1:]))

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements."""
        return raw.TensorArraySizeV3(handle=self._handle, flow_in=self.flow, name=name)

    def mark_used(self) -> None:
        """For programs written for arrays that complain when they are not used."""

    def close(self, name: str | None = None) -> Any:
        """An operation that drops the elements."""
        return raw.TensorArrayCloseV3(handle=self._handle, name=name)


def _check_arguments(
    handle: Tensor | None, tensor_array_name: str | None, size: TensorLike | None, **others: Any
) -> None:
    if handle is not None and tensor_array_name:
        raise ValueError("Cannot construct with both handle and tensor_array_name")
    if handle is not None and not isinstance(handle, Tensor):
        raise TypeError("Handle must be a Tensor")
    if handle is None and size is None:
        raise ValueError("Size must be provided if handle is not provided")
    if handle is not None and size is not None:
        raise ValueError("Cannot provide both a handle and size at the same time")
    for key, value in others.items():
        if handle is not None and value is not None:
            raise ValueError(f"Cannot provide both a handle and {key} at the same time")


def build_ta_with_new_flow(old_ta: TensorArray, flow: Tensor) -> TensorArray:
    """The same array after what `flow` stands for."""
    if old_ta.handle is None:  # it is a list of tensors
        return old_ta._after(flow)  # type: ignore[no-any-return, attr-defined]
    result = TensorArray(
        dtype=old_ta.dtype,
        handle=old_ta.handle,
        flow=flow,
        infer_shape=old_ta._infer_shape,
        colocate_with_first_write_call=old_ta._colocates,
    )
    result._dynamic_size = old_ta._dynamic_size
    result._beside = old_ta._beside
    result._element_shape = old_ta._element_shape
    return result


# For control flow: a TensorArray goes through branches and loops as its flow.


def is_array(value: object) -> bool:
    """Whether a value is a TensorArray."""
    return isinstance(value, TensorArray)


def flow_of(value: object) -> Any:
    """The flow of a TensorArray; other values as they are."""
    return value.flow if isinstance(value, TensorArray) else value


def arrays_of(originals: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """The values; those that are flows of TensorArrays as these."""
    if len(originals) != len(values):
        raise ValueError(
            "Lengths of original Tensor list and new list do not match: "
            f"{len(originals)} vs. {len(values)}"
        )
    return [
        build_ta_with_new_flow(original, value) if is_array(original) else value
        for original, value in zip(originals, values)
    ]
