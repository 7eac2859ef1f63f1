# SPDX-License-Identifier: Apache-2.0
"""Functions that are there as nodes already: a call has these in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.graph import trust
from ...engine.graph.tensor import Tensor
from .concrete_functions import ConcreteFunction


class PlacedFunction(ConcreteFunction):
    """A function of a library whose calls have its nodes in their place."""

    _flat: Any = None

    def _placed(self, args: Sequence[Any]) -> tuple[list[Tensor], list[Any]]:
        """The results of the function's nodes for tensors, and operations besides that must run."""
        from ...io.function_placing import clean_name, flattened, placed

        if self._flat is None:
            self._flat = flattened(self.name, self.library())
        with trust.importing(None):  # The nodes have the marks that they came with.
            return placed(self._flat, [*args, *self.captured_inputs], clean_name(self.name))
