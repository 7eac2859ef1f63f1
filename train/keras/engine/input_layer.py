# SPDX-License-Identifier: Apache-2.0
"""Where networks begin: `Input` and the layer behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ...layers.base_layer import Layer
from ...layers.nodes import KerasHistory, Node
from ..backend.elements import placeholder
from ..backend.phase import get_uid
from ..backend.settings import floatx
from .data import is_symbolic

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike


class InputLayer(Layer):
    """The beginning of a network: a placeholder, or a tensor that is there already.

    Args:
        input_shape: the shape without the batch's axis.
        batch_size: the size of the batch's axis; any if None.
        dtype: the dtype; that of settings if None.
        input_tensor: a tensor instead of a placeholder.
        sparse: whether the placeholder is fed sparse values.
        name: the layer's name.
        ragged: whether it is fed ragged values; sizes of None are those of rows.
        batch_input_shape: the shape with the batch's axis, instead.

    Raises:
        ValueError: both shapes are given, an argument is unknown, or the dtype is not the tensor's.
    """

    def __init__(
        self,
        input_shape: Any = None,
        batch_size: int | None = None,
        dtype: DTypeLike | None = None,
        input_tensor: Any = None,
        sparse: bool = False,
        name: str | None = None,
        ragged: bool = False,
        **kwargs: Any,
    ) -> None:
        if "batch_input_shape" in kwargs:
            whole = kwargs.pop("batch_input_shape")
            if input_shape and whole:
                raise ValueError(
                    "Only provide the input_shape OR batch_input_shape argument to InputLayer, "
                    "not both at the same time."
                )
            batch_size, *rest = whole
            input_shape = tuple(rest)
        if kwargs:
            raise ValueError("Unrecognized keyword arguments:", list(kwargs))
        if input_tensor is not None:
            given = input_tensor.dtype.base_dtype
            if dtype and dtypes.as_dtype(dtype) != given:
                raise ValueError(f"`input_tensor.dtype` differs from `dtype`: {given} vs. {dtype}")
            dtype = given
        dtype = dtypes.as_dtype(dtype or floatx())
        super().__init__(name=name or f"input_{get_uid('input')}", dtype=dtype)
        self.built = True
        self.sparse, self.ragged, self.batch_size = sparse, ragged, batch_size
        self.supports_masking = True
        self.is_placeholder = input_tensor is None
        if input_tensor is None:
            shape = _as_tuple(input_shape)
            batch_shape: Any = None if shape is None else (batch_size, *shape)
            input_tensor = placeholder(batch_shape, None, dtype, sparse, self.name, ragged)
            self._batch_input_shape = batch_shape
        else:
            if not is_symbolic(input_tensor):
                raise ValueError(f"`input_tensor` must be a tensor, not {input_tensor!r}")
            self._batch_input_shape = tuple(input_tensor.shape.as_list())
        input_tensor._keras_history = KerasHistory(self, 0, 0)
        input_tensor._keras_mask = None
        Node(self, [input_tensor], [input_tensor], begins=True)

    def get_config(self) -> dict[str, Any]:
        """The shape, the dtype and the name."""
        return {
            "batch_input_shape": self._batch_input_shape,
            "dtype": self.dtype,
            "sparse": self.sparse,
            "ragged": self.ragged,
            "name": self.name,
        }


def _as_tuple(shape: Any) -> Any:
    if shape is None or isinstance(shape, int):
        return shape if shape is None else (shape,)
    return tuple(shape.as_list() if isinstance(shape, TensorShape) else shape)


def Input(  # noqa: N802
    shape: Any = None,
    batch_size: int | None = None,
    name: str | None = None,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
    tensor: Any = None,
    ragged: bool = False,
    **kwargs: Any,
) -> Any:
    """The tensor that a network begins with.

    Args:
        shape: the shape without the batch's axis, or
        batch_shape: with it.
        batch_size: the size of the batch's axis; any if None.
        name, dtype, sparse, ragged: as of InputLayer.
        tensor: a tensor instead of a placeholder.

    Raises:
        ValueError: there is neither a shape nor a tensor, there are two shapes, an argument is
            unknown, or the input is to be both sparse and ragged.
    """
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True in a Keras input.")
    batch_shape = kwargs.pop("batch_shape", kwargs.pop("batch_input_shape", None))
    if batch_shape is not None and (shape is not None or batch_size is not None):
        raise ValueError(
            "Only provide the `shape` and `batch_size` arguments or the `batch_shape` argument, "
            "not both at the same time."
        )
    if kwargs:
        raise ValueError("Unrecognized keyword arguments:", list(kwargs))
    if shape is None and batch_shape is None and tensor is None:
        raise ValueError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` "
            "does not include the batch dimension."
        )
    if batch_shape is not None:
        batch_size, *rest = batch_shape
        shape = tuple(rest)
    layer = InputLayer(
        input_shape=shape,
        batch_size=batch_size,
        name=name,
        dtype=dtype,
        sparse=sparse,
        ragged=ragged,
        input_tensor=tensor,
    )
    outputs = layer.inbound_nodes[0].output_tensors
    return outputs[0]
