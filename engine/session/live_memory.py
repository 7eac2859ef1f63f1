# SPDX-License-Identifier: Apache-2.0
"""What kernels make of reference variables has memory of its own.

An operation that takes the value of a reference variable is given the variable's array, which
assignments change in place.  Many kernels give views of what they are given: a slice of it read
before an assignment would change with it.  What only hands on a variable (Identity) stays live, as
in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.operation import Operation
from ..graph.tensor import Tensor

Kernel = Callable[..., Any]


def detached(op: Operation, kernel: Kernel) -> Kernel:
    """An operation's kernel; one whose results are copies where it is given a variable's array."""
    if _hands_on(op) or not any(map(_is_live, op._inputs_val)):
        return kernel

    def copying(context: object, *inputs: Any) -> Any:
        return _apart(kernel(context, *inputs), inputs)

    return copying


def _hands_on(op: Operation) -> bool:
    return op.definition.passes_ref or bool(op.definition.control_flow_role)


def _is_live(tensor: Tensor) -> bool:
    """Whether a tensor's value may be the array of a reference variable."""
    seen: set[Tensor] = set()
    waiting = [tensor]
    while waiting:
        tensor = waiting.pop()
        if tensor.dtype._is_ref_dtype:
            return True
        if _hands_on(tensor.op) and tensor not in seen:
            seen.add(tensor)
            waiting += tensor.op._inputs_val
    return False


def _apart(result: Any, inputs: Any) -> Any:
    """A kernel's results, with copies of those that share memory with an input."""
    if isinstance(result, (tuple, list)):
        return [_apart(item, inputs) for item in result]
    if type(result) is np.ndarray and _shares(result, inputs):
        return result.copy()
    return result


def _shares(result: np.ndarray, given: Any) -> bool:
    if isinstance(given, (tuple, list)):
        return any(_shares(result, item) for item in given)
    return type(given) is np.ndarray and np.may_share_memory(result, given)
