# SPDX-License-Identifier: Apache-2.0
"""Where the slots of plans lie in memory at the sizes of a run.  Imports the schedule."""

from __future__ import annotations

from ..schedule.bind import Binding, Placement, computed, settle
from ..trace.segment import Traced
from .plan import Plan

# Of slots of so many bytes in all room for a quarter more is little memory.
_LITTLE = 1 << 24


class Placements:
    """The places that the slots of some plans had; who uses it has a lock."""

    def __init__(self) -> None:
        self._known: dict[Plan, list[Placement]] = {}  # the least memory first

    def largest(self, plan: Plan) -> Placement | None:
        """The one of most memory, if there is any."""
        known = self._known.get(plan)
        return known[-1] if known else None

    def bound(self, plan: Plan, symbols: tuple[int, ...]) -> Binding:
        """A plan for such sizes, be they fed or learnt in the middle of a run."""
        try:
            return self._placed(plan, symbols)
        except OverflowError:
            from ..report.exhausted import beyond_addresses

            raise beyond_addresses() from None

    def _placed(self, plan: Plan, symbols: tuple[int, ...]) -> Binding:
        """A binding, in places that the plan had before if that can be."""
        binding, known = computed(plan.template, symbols), self._known.setdefault(plan, [])
        is_measured, counts = bool(plan.traced.scope.measured), binding.counts
        # (What is learnt on the way grows within one, as a run goes on where it began.)
        near = [p for p in known if is_measured or not p.is_roomy(binding.total)]
        like = next((p for p in near if p.has_room(counts)), near[-1] if near else None)
        most = None
        if like is not None and (is_measured or like.total < _LITTLE):
            # What is another number each time is often not far from the last.
            most = [size + size // 4 for size in symbols]
        settle(binding, like, most)
        if binding.placement is not like:
            # One that it could stand for as well.
            if like is not None and (is_measured or not binding.placement.is_roomy(like.total)):
                known = [p for p in known if p is not like]
            self._known[plan] = sorted([*known, binding.placement], key=lambda p: p.total)
        return binding

    def give_up(self, plan: Plan) -> None:
        """Forgets those of a plan."""
        self._known.pop(plan, None)

    def forget(self, traced: Traced) -> None:
        """Forgets those of all plans of a program."""
        self._known = {plan: p for plan, p in self._known.items() if plan.traced is not traced}
