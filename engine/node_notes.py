# SPDX-License-Identifier: Apache-2.0
"""Notes on errors that say which node it is about, what it takes, and which lines made that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import OpError
from .graph.operation import Operation, group
from .graph.tensor import IndexedSlices, SparseTensor, Tensor
from .printable import printable

_MOST_INPUTS = 8
_LONGEST_VALUE = 60


def describe_call(
    error: BaseException, name: str, op_type: str, inputs: Iterable[tuple[str, Any]]
) -> None:
    """Notes what a node that could not be built was to take; the innermost one says so."""
    given = list(inputs)
    if not given or getattr(error, "__notes__", None):
        return
    lines = [f"Node '{name}' (op: '{op_type}') with"]
    lines += [f"  {key} = {_described(value)}" for key, value in given[:_MOST_INPUTS]]
    if len(given) > _MOST_INPUTS:
        lines.append(f"  and {len(given) - _MOST_INPUTS} more inputs")
    error.add_note("\n".join(lines))


def describe_run(error: BaseException) -> None:
    """Notes what the node takes that failed in a run."""
    op = error.op if isinstance(error, OpError) else None
    if isinstance(op, Operation):
        names = [arg.name for arg in op.definition.inputs]
        values = group(op.definition.inputs, op._attrs, op.inputs)
        describe_call(error, op.name, op.type, zip(names, values))


def _described(value: Any) -> str:
    if isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
        return "[" + "; ".join(_described(item) for item in value[:_MOST_INPUTS]) + "]"
    if isinstance(value, (IndexedSlices, SparseTensor)):
        return f"{type(value).__name__} with values {_described(value.values)}"
    # Of a variable: the tensor that it stands for.
    stand_in = getattr(type(value), "_as_graph_element", None)
    tensor = value if stand_in is None else stand_in(value)
    if isinstance(tensor, Tensor):
        filename, line, _ = tensor.op._frame
        shape = f"shape {tensor.shape}"
        return f"'{tensor.name}', {tensor.dtype.name}, {shape}, made at {filename}:{line}"
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{value.dtype}, shape {value.shape}"
    return f"{type(value).__name__} {_short(value)}".rstrip()


def _short(value: Any) -> str:
    text = printable(repr(value)) if isinstance(value, (str, bytes, int, float, bool)) else ""
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."
