# SPDX-License-Identifier: Apache-2.0
"""What operations give that is no tensor and lives for one run, while it is traced.

Lists of tensors (jit/library/lists.py) and optionals (jit/library/optionals.py) are such: handles
stand for them, which only operations that know them may take.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..kernel import scalar
from ..program.tensor_ir import Guard, Value

if TYPE_CHECKING:
    from ..trace.builder import Builder


class OfRun:
    """A thing that a handle stands for, which no reference kernel could take."""

    def require_unspent(self, b: Builder) -> None:
        """Sees that it is still what it was where it was made."""

    @abstractmethod
    def joined(self, b: Builder, sides: Sequence[tuple[Guard, Value]]) -> Value:
        """What two branches give, of which one gives this, by the conditions of each.

        Raises:
            NotLowered: there is nothing that would stand for both.
        """

    @abstractmethod
    def zeroed(self, b: Builder) -> Value:
        """The like of it, of zeros."""

    @abstractmethod
    def total(self, b: Builder, handles: Sequence[Value]) -> Value:
        """The sum of several such things, of which this is one."""


def zeros_like(b: Builder, value: Value) -> Value:
    """Zeros like a tensor, or like what a handle stands for."""
    if isinstance(value.cell, OfRun):
        return value.cell.zeroed(b)
    return b.full(value.shape, 0, value.dtype)  # type: ignore[no-any-return]


def total(b: Builder, values: Sequence[Value]) -> Value:
    """The sum of tensors of one shape, or of what handles stand for."""
    if isinstance(values[0].cell, OfRun):
        return values[0].cell.total(b, values)
    b.require(all(b.same_shape(value, values[0]) for value in values))
    return b.fold(scalar.add, values)  # type: ignore[no-any-return]
