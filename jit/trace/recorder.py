# SPDX-License-Identifier: Apache-2.0
"""What a builder remembers: one node for equal constants and equal subexpressions of a program.

Imports jit's IR.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernel.sizes import Scope, Size
from ..program.editing import Program
from ..program.tensor_ir import Constant, Node, Sizes, Value
from .forms import holds_sizes, numpy_dtype


class Recorder:
    """Appends to one Program, whose sizes are of one Scope, and never the same thing twice."""

    def __init__(self, program: Program, scope: Scope) -> None:
        self.program = program
        self.scope = scope
        self._constants: dict[tuple[str, tuple[int, ...], bytes], Value] = {}
        self._equal: dict[tuple[Any, ...], tuple[Value, ...]] = {}

    def known(self, value: Value) -> np.ndarray | None:
        """The contents of a value where the trace knows them (object dtype if partly symbolic)."""
        return value.known

    def constant(self, array: object, dtype: str | None = None) -> Value:
        """A value with contents known now."""
        if holds_sizes(array):
            return self.known_as(np.array(array, dtype=object), dtype or "int64")
        array = np.asarray(array, dtype=None if dtype is None else numpy_dtype(dtype))
        array = np.ascontiguousarray(array).reshape(array.shape)
        key = (array.dtype.name, array.shape, array.tobytes())
        if key not in self._constants:
            node = Constant(array)
            (value,) = self.program.add(node, (array.dtype.name, array.shape))
            value.known = array
            self._constants[key] = value
        return self._constants[key]

    def known_as(self, array: np.ndarray, dtype: str) -> Value:
        """A value for contents found while tracing; symbolic sizes become arguments of kernels."""
        if array.dtype != object:
            return self.constant(array, dtype)
        if not any(isinstance(item, Size) for item in array.flat):
            return self.constant(array.astype(numpy_dtype(dtype)), dtype)
        return self._sizes(array, dtype)

    def _sizes(self, array: np.ndarray, dtype: str) -> Value:
        node = Sizes(array)
        (value,) = self.program.add(node, (dtype, array.shape))
        value.known = array if dtype.startswith(("int", "uint")) else None
        return value

    def rollback(self, last: Node | None) -> set[Node]:
        """Takes back all nodes behind one that was the last, and what was remembered of them."""
        gone = self.program.rollback(last)
        if gone:
            self._constants = {k: v for k, v in self._constants.items() if v.node not in gone}
            self._equal = {k: v for k, v in self._equal.items() if v[0].node not in gone}
        return gone

    def _once(
        self, key: tuple[Any, ...], make: Callable[[], tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        """Equal subexpressions of one program are one node, if they run under one condition."""
        key = (*key, *self.program.guard)
        if key not in self._equal:
            self._equal[key] = make()
        return self._equal[key]
