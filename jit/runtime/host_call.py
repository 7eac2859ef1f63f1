# SPDX-License-Identifier: Apache-2.0
"""An operation that a plan leaves to its reference kernel: what of it is the same in every run.

Knows runs (jit/runtime/execution.py) by what they offer.  Imports the tensor IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.memory import copy_of, giving, put
from ...engine.stopping import check_session, within
from ..program.tensor_ir import Constant, Value, home
from ..schedule.steps import HostStep, is_native
from . import own_memory
from .done import Misguessed

if TYPE_CHECKING:
    from .execution import Run
    from .plan import Plan


class HostCall:
    """One host step of a plan."""

    def __init__(self, plan: Plan, step: HostStep) -> None:
        node = self.node = step.node
        self.evaluate = plan.traced.segment.evaluate
        self._begin = self.evaluate.bound(node.op)
        # Contents that never change are looked up once.
        self._inputs: list[Any] = [_fixed(plan, value) for value in node.inputs]
        self._read = [(i, v) for i, v in enumerate(node.inputs) if self._inputs[i] is None]
        hasty = plan.traced.hasty
        # It may not run twice, though the run may have to begin anew.
        self._is_once = hasty is not None and node.op in hasty.hosts
        # What it gives, as a list of tensors, may hold what it took: not the run's memory.
        self._may_keep = not all(map(is_native, node.outputs))
        self._gives = [
            (number, value, is_native(value))
            for number, value in enumerate(node.outputs)
            if value.cell is None
        ]

    def run(self, run: Run) -> None:
        """Runs it, and puts what it gives where the steps behind it find it."""
        session, node = self.evaluate.session, self.node
        check_session(session)
        if any(cell.value is None for cell in node.reshaped):
            run.arena.fills_variables = True
        began = perf_counter()
        inputs = self._inputs.copy()
        for i, value in self._read:
            array = run._read(value)
            if self._may_keep and type(array) is np.ndarray and not array.flags.owndata:
                array = copy_of(array)
            inputs[i] = array
        done = self.evaluate.done
        results = done.take(node.op) if done.results else None
        if results is None:
            with within(session):
                result = self._give(run, inputs) if node in run.gifts else self._begin(inputs)
            results = self.evaluate.spread(node.op, result)
        if self._is_once:
            run.done.append((node.op, results))
        if node.is_guessed:
            self._look_at(run, results)
        if node.cells:
            run.follow_variables(node)
        for number, value, is_held in self._gives:
            if is_held:
                self._store(run, value, results[number])
            else:
                run.hosted[value] = results[number]
        self.evaluate.meter.add(node.op, node.reason, perf_counter() - began)

    def _give(self, run: Run, inputs: list[Any]) -> Any:
        """Runs it where variables may keep inputs; what they keep is replaced in the run."""
        gifts = run.gifts[self.node]
        given = [inputs[number] for number, _ in gifts]
        left = list(given)
        with giving(left):
            result = self._begin(inputs)
        for array, (_, slot) in zip(given, gifts):
            if not any(other is array for other in left):
                own_memory.renew(run, slot)
        return result

    def _look_at(self, run: Run, results: Sequence[Any]) -> None:
        """Sees whether results have the sizes that the program took for granted."""
        found = [np.shape(result) for result in results]
        if any(found[number] != run.shape_of(value) for number, value, _ in self._gives):
            self.evaluate.shapes[self.node.op] = found
            raise Misguessed(self.node.op)

    def _store(self, run: Run, value: Value, array: Any) -> None:
        view = run.view(value)
        shape = array.shape if type(array) is np.ndarray else np.shape(array)
        if view.shape != shape:
            op = self.node.op
            raise errors.InternalError(
                *(None, op),
                f"{op.type} gave shape {shape}, expected {view.shape}: what its function, or "
                "set_shape, said of it",
            )
        put(view, array)


def _fixed(plan: Plan, value: Value) -> np.ndarray | None:
    """Contents that are the same in all runs; None for others."""
    storage = home(value)
    if storage.cell is not None or value in plan.template.shapes:
        return None
    match storage.node:
        case Constant(array=array):
            return array.reshape([int(size) for size in value.shape])
    return None
