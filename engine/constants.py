# SPDX-License-Identifier: Apache-2.0
"""What is known of tensors while the graph is built, by folding reference kernels.

Partly known shapes come from the few ops that TensorFlow looks through, no further: how much is
known decides which nodes the public functions make.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .api import NAMES, export
from .convert import is_tensor
from .kernel import KernelContext
from .operation import Operation, group
from .shape import TensorShape, as_shape, unknown_shape
from .tensor import Tensor

# The work that one question may cost, in operations looked at.
_BUDGET = 200
# Ops whose result needs only the static shape (or rank) of the input, not its value.
_FROM_SHAPE = frozenset({"Shape", "ShapeN", "Size"})
# What TensorFlow's `constant_value` looks through; programs see its choice in the nodes they get.
_PYTHON_FOLDED = frozenset(
    {"Const", "Shape", "Size", "Rank", "Range", "Cast", "Concat", "ConcatV2", "ConcatOffset",
     "Pack", "Fill", "Equal", "NotEqual"}
)  # fmt: skip


class _NotKnown(Exception):
    """Folding met something that the graph alone does not tell."""


class _Folder:
    """Folds one tensor, within a budget."""

    __slots__ = ("done", "left")

    def __init__(self) -> None:
        self.left = _BUDGET
        self.done: dict[int, list[Any]] = {}

    def value(self, tensor: Tensor) -> np.ndarray:
        known = tensor.__dict__.get("_folded")
        if known is not None:
            return known
        op = tensor.op
        if op._id not in self.done:
            self.done[op._id] = self._run(op)
        value = np.asarray(self.done[op._id][tensor.value_index])
        tensor._folded = value  # type: ignore[attr-defined]
        return value

    def _run(self, op: Operation) -> list[Any]:
        definition = op.definition
        self.left -= 1
        foldable = definition.sizes and not definition.stateful and definition.kernel is not None
        if not foldable or self.left < 0:
            raise _NotKnown
        if op.type == "Rank":
            if op.inputs[0].shape.rank is None:
                raise _NotKnown
            return [np.asarray(op.inputs[0].shape.rank, np.int32)]
        if op.type in _FROM_SHAPE:
            return self._from_shape(op)
        flat = [self.value(tensor) for tensor in op._inputs_val]
        inputs = group(definition.inputs, op._attrs, flat)
        result = definition.kernel(KernelContext(op), *inputs)  # type: ignore[misc]
        return list(result) if len(op.outputs) > 1 else [_single(result)]

    def _from_shape(self, op: Operation) -> list[Any]:
        kind = op.outputs[0].dtype.np_dtype
        shapes = [tensor.shape for tensor in op._inputs_val]
        if not all(shape.is_fully_defined() for shape in shapes):
            raise _NotKnown
        count = op.type == "Size"
        return [np.asarray(s.num_elements() if count else s.sizes, kind) for s in shapes]


def _single(result: Any) -> Any:
    """The lone output of a kernel, which may come in a tuple or list."""
    return result[0] if isinstance(result, (tuple, list)) and len(result) == 1 else result


def _fold(tensor: Tensor) -> np.ndarray | None:
    known = tensor.__dict__.get("_folded")
    if known is not None:
        return known
    if not tensor.op.definition.sizes:
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


def evaluate_shape(tensor: Tensor) -> TensorShape:
    """The shape that an integer vector (or the scalar -1) spells, as far as it is known."""
    static = tensor.shape
    if static.rank == 0:
        value = evaluate(tensor)
        if value is not None and int(value) != -1:
            raise ValueError(
                f"Received a scalar with value '{int(value)}' as shape; require a statically "
                "unknown scalar with value '-1' to describe an unknown shape."
            )
        return unknown_shape()
    shape = _spelled(tensor)
    if shape.rank is None:
        shape = _spelled_by_value(tensor)
    return shape


def _spelled(tensor: Tensor) -> TensorShape:
    """What the ops that shapes are usually made of tell about a vector of sizes.

    TensorFlow looks through these ops only, and programs see in the nodes they get how far.
    """
    op = tensor.op
    if tensor.shape.sizes == (0,):
        return as_shape([])
    if op.type in ("Shape", "ShapeN"):
        return op.inputs[tensor.value_index].shape
    if op.type == "Pack":
        return TensorShape([_dimension(part) for part in op.inputs])
    if op.type in ("Concat", "ConcatV2"):
        parts = op.inputs[1:] if op.type == "Concat" else op.inputs[:-1]
        shape = as_shape([])
        for part in parts:
            shape = shape.concatenate(evaluate_shape(part))
        return shape
    if op.type == "StridedSlice":
        return _spelled_slice(op)
    return _spelled_by_value(tensor)


def _spelled_slice(op: Operation) -> TensorShape:
    """A plain slice of one dimension of a shape; anything else is unknown."""
    masks = [op._attrs[f"{name}_mask"] for name in ("begin", "end")]
    others = [op._attrs[f"{name}_mask"] for name in ("ellipsis", "new_axis", "shrink_axis")]
    if any(others) or any(mask not in (0, 1) for mask in masks):
        return unknown_shape()
    bounds = []
    for tensor, mask in zip(op.inputs[1:], [*masks, 0]):
        value = None if mask else evaluate(tensor)
        if tensor.shape.sizes != (1,) or (value is None and not mask):
            return unknown_shape()
        bounds.append(None if mask else int(value[0]))  # type: ignore[index]
    shape = evaluate_shape(op.inputs[0])
    return shape if shape.rank is None else shape[slice(*bounds)]


def _spelled_by_value(tensor: Tensor) -> TensorShape:
    value = evaluate(tensor)
    if value is not None:
        return TensorShape([_size(item) for item in value.ravel().tolist()])
    sizes = tensor.shape.sizes
    length = sizes[0] if sizes is not None and len(sizes) == 1 else None
    return unknown_shape() if length is None else unknown_shape(rank=length)


def _dimension(tensor: Tensor) -> int | None:
    value = evaluate(tensor)
    return None if value is None or value < 0 else int(value)


def _size(item: int) -> int | None:
    if item < -1:
        raise ValueError(f"Dimension {item} must be >= -1")
    return None if item == -1 else int(item)


@export("get_static_value", "contrib.util.constant_value")
def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor if TensorFlow's Python knows it, else None; then it cannot be fed.

    With `partial`, a stack of partly known parts is an object array with None for the unknown.
    """
    if not isinstance(tensor, Tensor):
        return None if is_tensor(tensor) else tensor
    value = _python_value(tensor, partial)
    if value is not None:
        tensor.graph.prevent_feeding(tensor)
    return value


def _python_value(tensor: Tensor, partial: bool) -> Any:
    op = tensor.op
    if op.type == "Pack" and op._attrs["axis"] != 0:
        return None
    if op.type not in _PYTHON_FOLDED or not all(_folds(t, op) for t in op._inputs_val):
        if partial and op.type == "Pack":
            return _partial_pack(op)
        return None
    return evaluate(tensor)


def _folds(tensor: Tensor, consumer: Operation) -> bool:
    if consumer.type in _FROM_SHAPE or consumer.type == "Rank":
        return True
    return _python_value(tensor, False) is not None


def _partial_pack(op: Operation) -> Any:
    if not op.inputs or all(constant_value(tensor) is None for tensor in op.inputs):
        return None
    return np.array([_item(constant_value(tensor)) for tensor in op.inputs], dtype=object)


def _item(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def constant_value_as_shape(tensor: Tensor) -> TensorShape:
    """The shape that a tensor spells, as far as it is known."""
    shape = tensor.shape.with_rank_at_most(1)
    if shape.rank == 0:
        return evaluate_shape(tensor)
    shape = shape.with_rank(1)
    if shape.sizes == (0,):
        return as_shape([])
    return evaluate_shape(tensor)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A constant tensor; for code that may not import the ops."""
    return NAMES["constant"](value, dtype=dtype, shape=shape, name=name)
