# SPDX-License-Identifier: Apache-2.0
"""Branches with operations that may have to wait, piece by piece.

What is between the waits of a branch is a plan or a call (jit/runtime/piecewise.py).  A wait that
is not over holds up what comes behind it and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...engine.session.futures import Future
from ..trace.loop_recovery import Unstructured
from ..trace.pieces import Side
from .piecewise import Piecewise, Values

if TYPE_CHECKING:
    from ..trace.partition import Stage
    from .evaluator import Evaluator
    from .piecewise import MakeRunner
    from .straight_run import Inside


class WaitingBranches:
    """The pieces of branches, ready to run; Unstructured where they have no form that is known."""

    def __init__(
        self, make: MakeRunner, evaluate: Evaluator, stage: Stage, feeds: Iterable[Any]
    ) -> None:
        operations = stage.operations
        inside = {tensor for op in operations for tensor in op.outputs}
        if stage.cells or not stage.is_whole or not inside.isdisjoint(feeds):
            raise Unstructured(f"'{operations[-1].name}' is not run as a whole")
        if any(op.definition.control_flow_role == "enter" for op in operations):
            # (And may fail, or be told to stop, while what it takes is waited for.)
            raise Unstructured("a loop begins before all is there that it takes")
        taken = dict.fromkeys(t for op in operations for t in op._inputs_val if t not in inside)
        self.takes, self.gives = list(taken), list(stage.gives)
        self.region = Piecewise(make, evaluate, operations, self.gives, {})

    @property
    def sides(self) -> set[Side] | None:
        """The outermost conditions of all that they do, if each is of a predicate that is taken."""
        found = {guard[0] if guard else None for guard, _, _ in self.region.steps}
        are_taken = all(isinstance(c, Side) and c.predicate in self.takes for c in found)
        return found if are_taken else None  # type: ignore[return-value]

    def begin(self, values: Values, waits: Inside) -> Begun:
        """Runs what need not wait.

        values: what it takes, by tensor.  waits: told what the rest waits for, by number.
        """
        begun = Begun(self.region, values, waits)
        begun.start()
        return begun


class Begun:
    """One run of branches."""

    __slots__ = ("_later", "_missing", "_region", "_values", "_waits")

    def __init__(self, region: Piecewise, values: Values, waits: Inside) -> None:
        region.begin(values)
        self._region, self._values, self._waits = region, values, waits
        # The bits of what has begun and is not over, and the numbers of the pieces behind that.
        self._missing, self._later = 0, list[int]()

    def start(self) -> None:
        """Runs all pieces up to the first that waits, and then those that it does not hold up."""
        region, values = self._region, self._values
        # (As `Piecewise.run` does: what held for the piece before holds.)
        number, held, count = 0, 0, len(region.steps)
        while number < count:
            guard, run, ways = region.steps[number]
            while held < len(guard) and region.holds(guard[held], values):
                held += 1
            if held == len(guard):
                pending = run(values)
                if pending is not None:
                    self._hold(number, pending)
                    self._go_on(range(number + 1, count))
                    return
            number, held = ways[held]

    def _hold(self, number: int, pending: Future) -> None:
        self._missing |= self._region.waits[number].bit
        self._waits.add(number, pending)

    def _go_on(self, numbers: Iterable[int]) -> None:
        """Runs those of some pieces that nothing holds up."""
        region, values = self._region, self._values
        for number in numbers:
            if self._missing & region.behind[number]:
                self._later.append(number)
                continue
            guard, run, _ = region.steps[number]
            if all(region.holds(condition, values) for condition in guard):
                pending = run(values)
                if pending is not None:
                    self._hold(number, pending)

    def resume(self, number: int, pending: Future) -> None:
        """Goes on behind a wait that is over."""
        wait = self._region.waits[number]
        wait.end(self._values, pending)
        self._missing &= ~wait.bit
        later, self._later = self._later, []
        self._go_on(later)

    def results(self) -> list[Any]:
        """What they give, once nothing waits."""
        return self._region.results(self._values)
