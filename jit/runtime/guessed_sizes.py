# SPDX-License-Identifier: Apache-2.0
"""Plans that take for granted what sizes an operation on the host gives, between or within loops.

Only running it tells.  Elsewhere a plan ends in front of such an operation, but what branches or
loops is one plan, or runs piece by piece, which takes ten times as long.  So sizes are what they
were the last time, and a run that finds others begins anew with these (jit/runtime/done.py).
Imports the plans of segments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..schedule.bind import Binding
from ..trace.segment import MOST_SIZES, ResultSizes, Segment, Traced
from ..trace.tracer import is_handle
from .done import Misguessed
from .segment_plans import SegmentPlans

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from .plan import Plan

Result = TypeVar("Result")
Shapes = Sequence[tuple[int, ...]]

# So often a run begins anew before an operation is taken for one that gives other sizes each time.
_MOST_ANEW = 3
# A size that stands for any before one was seen.
_ANY = 8


def plans_of(segment: Segment, is_turn: bool) -> Plans:
    """The plans of a segment."""
    operations = [] if is_turn or segment.is_plain else list(_open(segment))
    return GuessedPlans(segment, operations) if operations else SegmentPlans(segment, is_turn)


def _open(segment: Segment) -> Iterator[Operation]:
    """The operations within branches and loops whose sizes nothing but running them tells."""
    for start, behind in segment.regions.items():
        for op in segment.operations[max(start, segment.start) : behind]:
            definition = op.definition
            if definition.lower is not None or definition.kernel is None or not op.outputs:
                continue
            if definition.control_flow_role or any(map(_is_reference, op.outputs)):
                continue
            if not all(output.shape.is_fully_defined() for output in op.outputs):
                yield op


def _is_reference(tensor: Any) -> bool:
    return bool(tensor.dtype._is_ref_dtype or is_handle(tensor))


class _Guess:
    """The shapes of one operation's results: as they last were, or else as they might be."""

    def __init__(self, op: Operation, seen: dict[Any, Any]) -> None:
        self.op, self._seen = op, seen
        seen.setdefault(op, None)
        self._likely = list(_likely(op))
        self.has_failed = False

    @property
    def shapes(self) -> Shapes | None:
        """The shapes; None where nothing is taken for granted."""
        if self.has_failed:
            return None
        seen: Shapes | None = self._seen[self.op]
        if seen is not None:
            return seen
        return self._likely[0] if self._likely else None

    def try_others(self) -> bool:
        """Makes another guess, if the shapes were one; False if there is none left."""
        if self.has_failed or self._seen[self.op] is not None or not self._likely:
            return False
        del self._likely[0]
        return bool(self._likely)


def _likely(op: Operation) -> Iterator[Shapes]:
    """Shapes that results may have of which the graph knows nothing."""
    known = [t.shape.as_list() for t in op._inputs_val if t.shape.rank is not None]
    for like in (*([_ANY if n is None else n for n in shape] for shape in known[:1]), [], [_ANY]):
        yield [_filled(output.shape.sizes, like) for output in op.outputs]


def _filled(sizes: Sequence[int | None] | None, like: Sequence[int]) -> tuple[int, ...]:
    """Sizes, with others in place of those that are missing."""
    if sizes is None:
        return tuple(like)
    given = list(like) if len(like) == len(sizes) else [_ANY] * len(sizes)
    return tuple(g if size is None else size for size, g in zip(sizes, given))


class _Told(SegmentPlans):
    """The plans for results of these ranks, which say where another guess is to be made."""

    def __init__(self, segment: Segment, guesses: Sequence[_Guess]) -> None:
        super().__init__(segment)
        self._guesses = guesses

    def _require_fitting(self, traced: Traced) -> None:
        behind = self.segment.regions.get(traced.stop)
        if not traced.is_barrier or behind is None:
            return
        inside = set(self.segment.operations[traced.stop : behind])
        others = [guess.try_others() for guess in self._guesses if guess.op in inside]
        if True in others:
            raise Misguessed


class GuessedPlans:
    """Runs a segment as SegmentPlans does, for which operations on the host give what they gave."""

    def __init__(self, segment: Segment, operations: Sequence[Operation]) -> None:
        self.segment = segment
        self._guesses = [_Guess(op, segment.evaluate.shapes) for op in operations]
        # By what is told: operations with the ranks of their results.
        self._plans: dict[object, _Told] = {}
        self._told: list[Shapes | None] = []
        self._now: tuple[_Told, list[np.ndarray]] = self._guessed()

    def _guessed(self) -> tuple[_Told, list[np.ndarray]]:
        """The plans for the shapes as they are taken to be by now, and the sizes of these."""
        told = [guess.shapes for guess in self._guesses]
        pairs = [
            (guess.op, shapes)
            for guess, shapes in zip(self._guesses, told)
            if shapes is not None and sum(map(len, shapes)) <= MOST_SIZES
        ]
        inputs = [
            ResultSizes(op, sum(map(len, shapes)), tuple(map(len, shapes))) for op, shapes in pairs
        ]
        key = tuple((tensor.op, tensor.ranks) for tensor in inputs)
        plans = self._plans.get(key)
        if plans is None:
            segment = replace(self.segment, inputs=[*self.segment.inputs, *inputs])
            plans = self._plans.setdefault(key, _Told(segment, self._guesses))
        sizes = [np.array([n for shape in shapes for n in shape], np.int64) for _, shapes in pairs]
        self._told, self._now = told, (plans, sizes)
        return self._now

    def run(self, arrays: Sequence[np.ndarray]) -> tuple[Plan, list[Any]]:
        """See SegmentPlans."""
        return self._with_guesses(SegmentPlans.run, arrays)

    def prepare(self, arrays: Sequence[np.ndarray]) -> tuple[Plan, Binding]:
        """See SegmentPlans."""
        return self._with_guesses(SegmentPlans.prepare, arrays)

    def trace(self, arrays: Sequence[np.ndarray]) -> Traced:
        """See SegmentPlans."""
        return self._with_guesses(SegmentPlans.trace, arrays)

    def is_exact(self, arrays: Sequence[np.ndarray]) -> bool:
        """See SegmentPlans."""
        return self._with_guesses(SegmentPlans.is_exact, arrays)

    def taken(self, known: Mapping[Any, np.ndarray]) -> list[np.ndarray]:
        """See SegmentPlans."""
        return self._now[0].taken(known)

    def only_ends_before(self, number: int) -> Traced | None:
        """See SegmentPlans."""
        return self._now[0].only_ends_before(number)

    @property
    def latest(self) -> list[tuple[Plan, Binding]]:
        """See SegmentPlans."""
        return self._now[0].latest

    def _with_guesses(
        self, function: Callable[[Any, Sequence[np.ndarray]], Result], arrays: Sequence[np.ndarray]
    ) -> Result:
        anew: dict[Operation, int] = {}
        while True:
            is_same = all(g.shapes is s for g, s in zip(self._guesses, self._told))
            plans, sizes = self._now if is_same else self._guessed()
            try:
                return function(plans, [*arrays, *sizes])
            except Misguessed as error:
                for op in error.args:
                    anew[op] = anew.get(op, 0) + 1
                    if anew[op] >= _MOST_ANEW:
                        next(g for g in self._guesses if g.op is op).has_failed = True


Plans = SegmentPlans | GuessedPlans
