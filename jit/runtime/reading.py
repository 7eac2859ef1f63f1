# SPDX-License-Identifier: Apache-2.0
"""What gives the contents of a value in a run: looked up once for each value that Python reads.

Knows runs (jit/runtime/execution.py) by what they offer.  Imports the tensor IR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ..program.tensor_ir import Constant, Feed, Read, Sizes, Value, home
from ..schedule.steps import is_native

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from .execution import Run


def left_out(tensor: Tensor, fetches: Sequence[Any], is_part: bool) -> np.ndarray:
    """In place of a fetched value of a branch that is known not to be taken.

    is_part: another part of the run takes it, which is not taken then, either.
    """
    if not is_part:
        raise errors.invalid(f"Retval[{fetches.index(tensor)}] does not have value")
    shape, dtype = [size or 0 for size in tensor.shape.sizes or ()], tensor.dtype.as_numpy_dtype
    return np.full(shape, b"" if dtype is object else 0, dtype)


def reader_of(value: Value) -> Callable[[Run], Any]:
    """What gives the contents of a value in a run."""
    storage = home(value)
    cell = storage.cell
    if cell is not None:
        return lambda run: cell
    match storage.node:
        case Feed(number=number):
            return lambda run: run.feeds[number].reshape(run.shape_of(value))
        case Constant(array=array):
            return lambda run: array.reshape(run.shape_of(value))
        case Sizes():
            return lambda run: run.spelled(storage).reshape(run.shape_of(value))
        case Read(cell=read):
            if value is storage:
                # Another session may have given a variable that is just fetched another shape.
                return lambda run: run.variables.array_of(read)
            return lambda run: run.variables.array_of(read).reshape(run.shape_of(value))
    if not is_native(storage):
        return lambda run: run.hosted[storage]
    return lambda run: run.view(value)
