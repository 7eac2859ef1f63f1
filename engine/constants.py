# SPDX-License-Identifier: Apache-2.0
"""What is known of tensors while the graph is built, by folding reference kernels.

Ops flagged `sizes` have kernels that also take object arrays; with a marker for "not known" among
the items, the same kernels give partly known shapes.
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


class _Unknown:
    """A size that is not known; arithmetic with it is not known either."""

    __slots__ = ()

    def _same(self, *unused: Any) -> _Unknown:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __pos__ = _same

    def _refuse(self, *unused: Any) -> Any:
        raise _NotKnown

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __bool__ = __int__ = _refuse  # type: ignore[assignment]
    __index__ = __hash__ = __float__ = _refuse  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "?"


class _NotKnown(Exception):
    """Folding met something that the graph alone does not tell."""


UNKNOWN = _Unknown()


class _Folder:
    """Folds one tensor; `partial` lets unknown sizes through as markers."""

    __slots__ = ("partial", "left", "done")

    def __init__(self, partial: bool) -> None:
        self.partial = partial
        self.left = _BUDGET
        self.done: dict[int, list[Any]] = {}

    def value(self, tensor: Tensor) -> np.ndarray:
        known = tensor.__dict__.get("_folded")
        if known is not None:
            return known
        op = tensor.op
        if op._id not in self.done:
            try:
                self.done[op._id] = self._run(op)
            except Exception:
                if not self.partial:
                    raise
                # Nothing of this value is known, but its length may be: markers stand for it.
                self.done[op._id] = [self._markers(output) for output in op.outputs]
        value = np.asarray(self.done[op._id][tensor.value_index])
        if value.dtype != object or tensor.dtype.base_dtype.np_dtype == object:
            tensor._folded = value  # type: ignore[attr-defined]
        return value

    def _markers(self, tensor: Tensor) -> np.ndarray:
        sizes = tensor.shape.sizes
        if sizes is None or None in sizes or not tensor.dtype.is_integer or np.prod(sizes) > 64:
            raise _NotKnown
        return np.full(sizes, UNKNOWN, dtype=object)

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
        flat = [self._input(tensor, op) for tensor in op._inputs_val]

        inputs = group(definition.inputs, op._attrs, flat)
        result = definition.kernel(KernelContext(op), *inputs)  # type: ignore[misc]
        return list(result) if len(op.outputs) > 1 else [_single(result)]

    def _input(self, tensor: Tensor, consumer: Operation) -> np.ndarray:
        try:
            return self.value(tensor)
        except _NotKnown:
            # Of tensors that must have one shape, the scalars tell that of the others.
            alike = consumer.definition.inputs[0].number_attr is not None
            scalar = any(other.shape.rank == 0 for other in consumer._inputs_val)
            if not (self.partial and alike and scalar and tensor.shape.rank is None):
                raise
            return np.full((), UNKNOWN, dtype=object)

    def _from_shape(self, op: Operation) -> list[Any]:
        kind = op.outputs[0].dtype.np_dtype
        return [self._sizes(tensor.shape, op.type == "Size", kind) for tensor in op._inputs_val]

    def _sizes(self, shape: TensorShape, count: bool, kind: Any) -> np.ndarray:
        sizes = shape.sizes
        if sizes is None:
            raise _NotKnown
        if None not in sizes:
            return np.asarray(shape.num_elements() if count else sizes, kind)
        if count or not self.partial:
            raise _NotKnown
        result = np.empty(len(sizes), object)
        result[:] = [UNKNOWN if size is None else size for size in sizes]
        return result


def _single(result: Any) -> Any:
    """The lone output of a kernel, which may come in a tuple or list."""
    return result[0] if isinstance(result, (tuple, list)) and len(result) == 1 else result


def _fold(tensor: Tensor, partial: bool) -> np.ndarray | None:
    known = tensor.__dict__.get("_folded")
    if known is not None:
        return known
    if not tensor.op.definition.sizes:
        return None
    try:
        return _Folder(partial).value(tensor)
    # A kernel given markers, or values it rejects, may fail in any way: then nothing is known.
    except Exception:
        return None


def evaluate(tensor: Tensor) -> np.ndarray | None:
    """The value of a tensor that depends on constants and static shapes only, else None."""
    value = _fold(tensor, partial=False)
    if value is None or (value.dtype == object and tensor.dtype.base_dtype.np_dtype != object):
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
    value = _fold(tensor, partial=True)
    if value is None:
        length = static.sizes[0] if static.rank == 1 else None  # type: ignore[index]
        return unknown_shape(rank=length) if length is not None else unknown_shape()
    return TensorShape([_size(item) for item in value.ravel().tolist()])


def _size(item: Any) -> int | None:
    if item is UNKNOWN:
        return None
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
