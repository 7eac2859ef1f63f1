# SPDX-License-Identifier: Apache-2.0
"""Functions that are there as nodes already: a call has these in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.graph import trust
from ...engine.graph.tensor import Tensor
from ..public import tf
from .concrete_functions import ConcreteFunction
from .effects import behind, current


class PlacedFunction(ConcreteFunction):
    """A function of a library whose calls have its nodes in their place."""

    # Whether effects run only where the function states them, or results need them.
    effects_are_stated = False
    _flat: Any = None

    def _placed(self, args: Sequence[Any]) -> tuple[list[Tensor], list[Any]]:
        """The results of the function's nodes for tensors, and operations besides that must run."""
        from ...io.function_placing import clean_name, flattened, placed

        if self._flat is None:
            self._flat = flattened(self.name, self.library(), self.effects_are_stated)
        inputs = [*args, *self.captured_inputs]
        order = current() if _has_loops(self._flat) else None
        if order is not None:
            # (Between the nodes of a loop of TensorFlow 1 and those around it no order is put.)
            inputs = behind(order.settle(), inputs)
        with trust.importing(None):  # The nodes have the marks that they came with.
            results, effects = placed(self._flat, inputs, clean_name(self.name))
        if order is not None:
            order.pass_over(tf.group(*effects) if effects else None)
        return results, effects


def _has_loops(flat: Any) -> bool:
    return any(node.op in ("Enter", "RefEnter") for node in flat.graph_def.node)
