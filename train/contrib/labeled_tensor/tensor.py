# SPDX-License-Identifier: Apache-2.0
"""Tensors with names for their axes; what can be done with them is in core.py and ops.py."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor, register_tensor_conversion_function
from ....engine.graph.tensor import Tensor
from ....engine.types.dtypes import DType
from ....engine.types.shape import Dimension, TensorShape
from . import _typecheck as tc
from .axes import Axes, Axis, AxisLike, listed

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike

Scalar = tc.Union(numbers.Number, bool, bytes, str)


def _operator(name: str, swapped: bool = False) -> Callable[..., LabeledTensor]:
    """The method of an operator, by the name of its function in core.py."""

    def method(self: LabeledTensor, *others: object) -> LabeledTensor:
        from . import core

        operands = (*others, self) if swapped else (self, *others)
        return getattr(core, name)(*operands)

    return method


@export("contrib.labeled_tensor.LabeledTensor")
class LabeledTensor:
    """A tensor with an Axis for each of its dimensions."""

    @tc.accepts(object, Tensor, tc.Union(Axes, tc.Collection(tc.Union(str, AxisLike))))
    def __init__(
        self, tensor: Tensor, axes: Axes | Collection[str | Axis | tuple[str, Any]]
    ) -> None:
        """A tensor with axes.

        Args:
            tensor: of known rank.
            axes: as many; a name stands for an axis of the tensor's size.

        Raises:
            ValueError: the axes are more or fewer, or their sizes are not the tensor's.
        """
        shape = tensor.shape
        if not isinstance(axes, Axes):
            named = [
                (axis, shape[i]) if isinstance(axis, str) else axis for i, axis in enumerate(axes)
            ]
            axes = Axes(named)
        if len(shape) != len(axes):
            raise ValueError(
                f"Tensor rank was not equal to the number of axes: {shape!r}, {axes!r}"
            )
        for size, axis in zip(shape.as_list(), axes.values()):
            # A size that is not known fits any.
            if size is not None and axis.size is not None and size != axis.size:
                raise ValueError(
                    f"Provided axis size {axis.size} does not match tensor dimension size {size} "
                    f"in tensor {tensor!r}"
                )
        self._tensor = tensor
        self._axes = axes

    @property
    def tensor(self) -> Tensor:
        """The tensor."""
        return self._tensor

    @property
    def axes(self) -> Axes:
        """Its axes."""
        return self._axes

    @property
    def dtype(self) -> DType:
        """The tensor's dtype."""
        return self._tensor.dtype

    @property
    def shape(self) -> TensorShape:
        """The tensor's shape."""
        return self._tensor.shape

    @property
    def name(self) -> str:
        """The tensor's name."""
        return self._tensor.name

    def get_shape(self) -> TensorShape:
        """The tensor's shape."""
        return self._tensor.shape

    def _as_graph_element(self) -> Tensor:
        return self._tensor

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} '{self.name}' shape={self.shape} dtype={self.dtype.name}\n"
            f" axes=[{listed(self.axes, ' ' * len(' axes=['))}]>"
        )

    def __getitem__(self, key: Any) -> LabeledTensor:
        """A part of the tensor; a slice or an integer for each axis."""
        from .core import slice_function

        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != len(self.axes):
            raise ValueError(
                f"indexer {keys!r} must have the same length as the Tensor rank "
                f"({len(self.axes)!r})"
            )
        return slice_function(self, dict(zip(self.axes, keys)))

    __abs__ = _operator("abs_function")
    __neg__ = _operator("neg")
    __add__ = _operator("add")
    __radd__ = _operator("add", swapped=True)
    __sub__ = _operator("sub")
    __rsub__ = _operator("sub", swapped=True)
    __mul__ = _operator("mul")
    __rmul__ = _operator("mul", swapped=True)
    __truediv__ = _operator("div")
    __rtruediv__ = _operator("div", swapped=True)
    __mod__ = _operator("mod")
    __rmod__ = _operator("mod", swapped=True)
    __pow__ = _operator("pow_function")
    __rpow__ = _operator("pow_function", swapped=True)
    __invert__ = _operator("logical_not")
    __and__ = _operator("logical_and")
    __or__ = _operator("logical_or")
    __xor__ = _operator("logical_xor")
    __lt__ = _operator("less")
    __le__ = _operator("less_equal")
    __gt__ = _operator("greater")
    __ge__ = _operator("greater_equal")

    def __pos__(self) -> LabeledTensor:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabeledTensor):
            return False
        return self.tensor is other.tensor and self.axes == other.axes

    def __hash__(self) -> int:
        return hash((self.tensor, self.axes))


def _to_tensor(
    value: LabeledTensor, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    del as_ref
    return convert_to_tensor(value.tensor, dtype=dtype, name=name)


def _define_conversion() -> None:
    """Whoever has a LabeledTensor has imported this module: nobody has to do it for them."""
    register_tensor_conversion_function(LabeledTensor, _to_tensor)
    for listed_class, alias in {
        Dimension: "tensorflow.Dimension",
        Tensor: "tensorflow.Tensor",
        DType: "tensorflow.DType",
        Axis: "labeled_tensor.Axis",
        Axes: "labeled_tensor.Axes",
        LabeledTensor: "labeled_tensor.LabeledTensor",
    }.items():
        tc.register_type_abbreviation(listed_class, alias)


_define_conversion()

LabeledTensorLike = tc.Union(LabeledTensor, Tensor, np.ndarray, Scalar)


@export("contrib.labeled_tensor.convert_to_labeled_tensor")
@tc.returns(LabeledTensor)
@tc.accepts(LabeledTensorLike, object, tc.Optional(str))
def convert_to_labeled_tensor(
    value: object, dtype: DTypeLike | None = None, name: str | None = None
) -> LabeledTensor:
    """A LabeledTensor of what stands for one.

    Args:
        value: a LabeledTensor, or a scalar: a Tensor, an array or a Python value.
        dtype: that it must have; its own if None.
        name: of a constant that is made.

    Returns:
        A LabeledTensor.

    Raises:
        ValueError: a tensor or an array has axes, which have no names.
    """
    labeled = isinstance(value, LabeledTensor)
    axes: list[Any] = list(value.axes.values()) if isinstance(value, LabeledTensor) else []
    tensor = convert_to_tensor(
        value.tensor if isinstance(value, LabeledTensor) else value, dtype=dtype, name=name
    )
    if not labeled and len(tensor.shape) > 0:
        raise ValueError(
            "cannot automatically convert unlabeled arrays or tensors with rank>0 into "
            f"LabeledTensors: {value!r}"
        )
    return LabeledTensor(tensor, axes)
