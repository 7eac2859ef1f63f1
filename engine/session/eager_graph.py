# SPDX-License-Identifier: Apache-2.0
"""A graph whose operations run when they are made: what functions given to `py_function` see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph.graph import Graph
from ..graph.kernel_context import KernelContext
from ..graph.operation import Operation
from ..graph.tensor import Tensor
from ..types.dtypes import resource
from .interpreter import Step
from .state import Resources, VariableStorage

if TYPE_CHECKING:
    from ..graph.annotations import Feeds
    from .session import BaseSession


class ImmediateTensor(Tensor):
    """A tensor that has its value."""

    _value: Any = None

    def array(self) -> Any:
        """The value as kernels know it."""
        value = self._value
        return (
            value.read() if isinstance(value, VariableStorage) and self.dtype != resource else value
        )

    def numpy(self) -> Any:
        """The value as NumPy knows it."""
        value = self.array()
        return value.copy()[()] if isinstance(value, np.ndarray) else value

    def eval(self, feed_dict: Feeds | None = None, session: BaseSession | None = None) -> Any:
        """The same as `numpy`."""
        del feed_dict, session
        return self.numpy()

    def __array__(self, *unused: Any, **options: Any) -> np.ndarray:
        return np.asarray(self.numpy(), *unused)

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def __index__(self) -> int:
        return self.numpy().__index__()

    def __float__(self) -> float:
        return float(self.numpy())

    def __len__(self) -> int:
        return len(self.numpy())

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self.numpy()!r}>"

    __str__ = __repr__


class ImmediateGraph(Graph):
    """A graph that computes its operations as they come."""

    def __init__(self) -> None:
        super().__init__()
        self._resources = Resources()
        self._kernel_states: dict[Any, Any] = {}

    def _add_op(self, op: Operation) -> None:
        super()._add_op(op)
        tensors = list(dict.fromkeys((*op._inputs_val, *op.outputs)))
        context = KernelContext(op, self._resources, self._kernel_states)
        step = Step(op, context, {tensor: i for i, tensor in enumerate(tensors)})
        # Outputs must lie side by side.
        step.first = len(tensors)
        values = [getattr(tensor, "_value", None) for tensor in tensors]
        values += [None] * len(op.outputs)
        step.run(values)
        for tensor, value in zip(op.outputs, values[len(tensors) :], strict=True):
            self._give(tensor, value)

    @staticmethod
    def _give(tensor: Any, value: Any) -> None:
        # Operations make ordinary tensors, whatever the graph.
        tensor.__class__ = ImmediateTensor
        tensor._value = value
        shape = getattr(value.value if isinstance(value, VariableStorage) else value, "shape", None)
        if shape is not None and tensor.dtype != resource:
            tensor._shape_val = tensor._shape_val.merge_with(shape)
