# SPDX-License-Identifier: Apache-2.0
"""What is known of tensors while the graph is built, by folding reference kernels.

Partly known shapes come from the few ops that TensorFlow looks through, no further: how much is
known decides which nodes the public functions make.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from ..api import NAMES, export
from ..types import dtypes
from ..types.shape import TensorShape, as_shape, unknown_shape
from .convert import is_tensor
from .kernel_context import KernelContext
from .operation import Operation, group
from .tensor import Tensor

if TYPE_CHECKING:
    from ..types.dtypes import DType
    from .annotations import TensorLike

# The work that one question may cost, in operations looked at.
_BUDGET = 200
_MOST_NUMBERS = 64
# What an operation's shape is told by, beside what arithmetic of shapes gives.
_OF_SIZES = (dtypes.int32, dtypes.int64)
# Tells the value of a tensor, or that it is not known.
Look = Callable[[Tensor], Any]


class _NotKnown(Exception):
    """Folding met something that the graph alone does not tell."""


class _Folder:
    """Folds one tensor, within a budget."""

    __slots__ = ("done", "left", "opaque")

    def __init__(self, opaque: Collection[str] | None = None) -> None:
        self.left = _BUDGET
        self.done: dict[int, list[Any]] = {}
        # Not only arithmetic of shapes is folded, but all ops but those of these types.
        self.opaque = opaque

    def value(self, tensor: Tensor) -> np.ndarray:
        known = tensor.__dict__.get("_folded")
        if known is not None:
            return known
        op = tensor.op
        if op._id not in self.done:
            self.done[op._id] = self._run(op)
        value = np.asarray(self.done[op._id][tensor.value_index])
        if self.opaque is None:
            tensor._folded = value  # type: ignore[attr-defined]
        return value

    def _is_foldable(self, op: Operation) -> bool:
        definition = op.definition
        if definition.stateful or definition.touches or definition.kernel is None:
            return False
        if self.opaque is None:
            return definition.sizes or not definition.control_flow_role
        return not definition.control_flow_role and op.type not in self.opaque

    def _run(self, op: Operation) -> list[Any]:
        definition = op.definition
        self.left -= 1
        if not self._is_foldable(op) or self.left < 0:
            raise _NotKnown
        if definition.folding.from_shapes is not None:
            shapes = [tensor.shape for tensor in op._inputs_val]
            found = definition.folding.from_shapes(shapes, op.outputs[0].dtype.np_dtype)
            if found is None:
                raise _NotKnown
            return list(found)
        flat = [self.value(tensor) for tensor in op._inputs_val]
        # What is no arithmetic of shapes is computed for a few numbers only.
        is_plain = self.opaque is None and not definition.sizes
        if is_plain and sum(part.size for part in flat) > _MOST_NUMBERS:
            raise _NotKnown
        inputs = group(definition.inputs, op._attrs, flat)
        result = definition.kernel(KernelContext(op), *inputs)  # type: ignore[misc]
        return list(result) if len(op.outputs) > 1 else [_single(result)]


def _single(result: np.ndarray) -> np.ndarray:
    """The lone output of a kernel, which may come in a tuple or list."""
    return result[0] if isinstance(result, (tuple, list)) and len(result) == 1 else result


def _fold(tensor: Tensor) -> np.ndarray | None:
    known = tensor.__dict__.get("_folded")
    if known is not None:
        return known
    # TensorFlow's shape refiner runs whatever makes a shape of constants: a sparse slice, say.
    if not tensor.op.definition.sizes and tensor.dtype not in _OF_SIZES:
        return None
    try:
        return _Folder().value(tensor)
    # A kernel given markers, or values it rejects, may fail in any way: then nothing is known.
    except Exception:
        return None


def evaluate(tensor: Tensor) -> np.ndarray | None:
    """The value of a tensor that depends on constants and static shapes only, else None."""
    value = _fold(tensor)
    is_text = np.dtype(tensor.dtype.base_dtype.np_dtype).kind == "O"
    if value is None or (value.dtype.kind == "O" and not is_text):
        return None
    return value


def evaluate_all(tensor: Tensor, opaque: Collection[str]) -> Any:
    """The value of a tensor that depends on constants only, through any op but such types."""
    try:
        return _Folder(opaque).value(tensor)
    # As in `_fold`.
    except Exception:
        return None


def evaluate_shape(tensor: Tensor, look: Look = evaluate) -> TensorShape:
    """The shape that an integer vector (or the scalar -1) spells, as far as it is known.

    look: what tells the values that are known, of sizes or of the whole vector.
    """
    static = tensor.shape
    if static.rank == 0:
        value = look(tensor)
        if value is not None and int(value) != -1:
            raise ValueError(
                f"Received a scalar with value '{int(value)}' as shape; require a statically "
                "unknown scalar with value '-1' to describe an unknown shape."
            )
        return unknown_shape()
    shape = _spelled(tensor, look)
    if shape.rank is None:
        shape = _spelled_by_value(tensor, look)
    return shape


def _spelled(tensor: Tensor, look: Look) -> TensorShape:
    """What the ops that shapes are usually made of tell about a vector of sizes.

    TensorFlow looks through these ops only, and programs see in the nodes they get how far.
    """
    op = tensor.op
    if tensor.shape.sizes == (0,):
        return as_shape([])
    if op._captured is not None:
        return _spelled(op._captured, look)
    spelled = op.definition.folding.spelled
    if spelled is None:
        return _spelled_by_value(tensor, look)
    return spelled(op, tensor.value_index, look)


def _spelled_by_value(tensor: Tensor, look: Look) -> TensorShape:
    value = look(tensor)
    if value is not None:
        return TensorShape([_size(item) for item in value.ravel().tolist()])
    sizes = tensor.shape.sizes
    length = sizes[0] if sizes is not None and len(sizes) == 1 else None
    return unknown_shape() if length is None else unknown_shape(rank=length)


def _size(item: int) -> int | None:
    if item < -1:
        raise ValueError(f"Dimension {item} must be >= -1")
    return None if item == -1 else int(item)


@export("get_static_value", "contrib.util.constant_value")
def constant_value(tensor: TensorLike, partial: bool = False) -> Any:
    """The value of a tensor if TensorFlow's Python knows it, else None; then it cannot be fed.

    With `partial`, a stack of partly known parts is an object array with None for the unknown.
    """
    if not isinstance(tensor, Tensor):
        return None if is_tensor(tensor) else tensor
    value = _python_value(tensor, partial)
    if value is not None:
        tensor.graph.prevent_feeding(tensor)
    return value


def _python_value(tensor: Tensor, partial: bool = False) -> Any:
    op = tensor.op
    folding = op.definition.folding
    if folding.constant is None or not folding.constant(op):
        return None
    needs_values = folding.from_shapes is None
    if needs_values and any(_python_value(part) is None for part in op._inputs_val):
        return folding.partial(op) if partial and folding.partial is not None else None
    return evaluate(tensor)


def constant_value_as_shape(tensor: Tensor) -> TensorShape:
    """The shape that a tensor spells, as far as TensorFlow's Python knows it."""
    if tensor.shape.rank == 0:
        return evaluate_shape(tensor)
    shape = tensor.shape.with_rank(1)
    if shape.sizes == (0,):
        return as_shape([])
    return evaluate_shape(tensor, _python_value)


def constant(
    value: object, dtype: DType | None = None, shape: object = None, name: str = "Const"
) -> Tensor:
    """A constant tensor; for code that may not import the ops."""
    return NAMES["constant"](value, dtype=dtype, shape=shape, name=name)
