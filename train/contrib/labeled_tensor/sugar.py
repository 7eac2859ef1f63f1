# SPDX-License-Identifier: Apache-2.0
"""Ways to another shape and back."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.graph import name_scope
from . import _typecheck as tc
from .core import (
    Axis,
    AxisLike,
    LabeledTensor,
    LabeledTensorLike,
    as_axis,
    convert_to_labeled_tensor,
)
from .ops import reshape

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


@export("contrib.labeled_tensor.ReshapeCoder")
class ReshapeCoder:
    """Puts other axes in place of some, and these back.

    Example:
        >>> lt = tf.contrib.labeled_tensor
        >>> image = lt.LabeledTensor(tf.ones([2, 3, 4]), ["row", "channel", "mask"])
        >>> coder = lt.ReshapeCoder(["channel", "mask"], ["depth"])
        >>> flat = coder.encode(image)
        >>> print(list(flat.axes), list(coder.decode(flat).axes))
        ['row', 'depth'] ['row', 'channel', 'mask']
    """

    @tc.accepts(
        object, tc.Collection(str), tc.Collection(tc.Union(str, AxisLike)), tc.Optional(str)
    )
    def __init__(
        self,
        existing_axis_names: Collection[str],
        new_axes: Collection[str | Axis | tuple[str, Any]],
        name: str | None = None,
    ) -> None:
        """A way.

        Args:
            existing_axis_names: the axes that go, one after another in a tensor.
            new_axes: those that come, as for `reshape`.
            name: of the operations.
        """
        self._name = name
        self._existing_names = existing_axis_names
        self._new_axes = new_axes
        self._existing_axes: list[Axis] | None = None

    @tc.returns(LabeledTensor)
    @tc.accepts(object, LabeledTensorLike)
    def encode(self, labeled_tensor: LabeledTensor | TensorLike) -> LabeledTensor:
        """A tensor in the other shape.

        Args:
            labeled_tensor: the tensor.

        Returns:
            A LabeledTensor.

        Raises:
            ValueError: the axes that go are not those of a call before.
        """
        with name_scope(self._name, "lt_reshape_encode", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            encoded = reshape(labeled_tensor, self._existing_names, self._new_axes, name=scope)
            axes = [labeled_tensor.axes[name] for name in self._existing_names]
            if self._existing_axes is not None and self._existing_axes != axes:
                raise ValueError(
                    f"input axes {axes!r} do not match axes from previous method call "
                    f"{self._existing_axes!r}"
                )
            self._existing_axes = axes
            return encoded

    @tc.returns(LabeledTensor)
    @tc.accepts(object, LabeledTensorLike)
    def decode(self, labeled_tensor: LabeledTensor | TensorLike) -> LabeledTensor:
        """A tensor in the shape that was.

        Args:
            labeled_tensor: the tensor; its new axes have the sizes they had.

        Returns:
            A LabeledTensor.

        Raises:
            ValueError: nothing was encoded before.
        """
        if self._existing_axes is None:
            raise ValueError("decode called before encode")
        with name_scope(self._name, "lt_reshape_decode", [labeled_tensor]) as scope:
            names = [
                axis if isinstance(axis, str) else as_axis(axis).name for axis in self._new_axes
            ]
            return reshape(labeled_tensor, names, self._existing_axes, name=scope)
