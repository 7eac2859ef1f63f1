# SPDX-License-Identifier: Apache-2.0
"""Memory that outlives a run: of large results, which the caller gets as they are, and of what
variables are given when they have none yet.

Otherwise each would be copied out of what lies between steps, and for a moment take twice as much.
Knows runs (jit/runtime/execution.py) by what they offer.  Imports the tensor IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...engine.memory import address_of
from ..kernel import verify_kernel
from ..program.tensor_ir import Value, home
from ..schedule.aligned import aligned_empty
from ..schedule.steps import HostStep

if TYPE_CHECKING:
    from .execution import Run

# What has fewer bytes is copied, which takes less time than to place it.
_LEAST = 1 << 16


def place(run: Run, results: Sequence[Value]) -> None:
    """Finds the results that are large, and all of a slot: they get memory of their own."""
    template = run.plan.template
    # (Before the addresses are known.)
    written = {slot for arrays in template.size_arrays for slot in arrays.slots.tolist()}
    for value in dict.fromkeys(results):
        slot = run.plan.schedule.slot_of.get(home(value))
        if slot is None or slot in written or slot in run.places or verify_kernel.guards:
            continue
        if home(value).cell is not None or not run.has_room(value):
            continue
        count = run.bytes_of(value)
        if count >= _LEAST and count == run.room(value):
            view = run.view(value)
            positions = template.arena.positions[template.arena.sources == slot]
            run.places[slot] = value, positions, view


def place_gifts(run: Run) -> None:
    """The same of what variables may keep, behind that for results."""
    template, results = run.plan.template, set(run.places)
    for segment, number in template.gifts:
        step = template.segments[segment]
        assert isinstance(step, HostStep)
        value = step.node.inputs[number]
        slot = run.plan.schedule.slot_of[home(value)]
        run._give_away([value])
        is_own = slot in run.places and slot not in results
        if is_own and run.has_room(value) and run.bytes_of(value) == run.room(value):
            run.gifts.setdefault(step.node, []).append((number, slot))


def make(run: Run) -> None:
    """Makes what the next run needs."""
    lasting = {slot for gifts in run.gifts.values() for _, slot in gifts}
    for slot, (_, positions, like) in run.places.items():
        if slot in lasting:
            renew(run, slot)
        else:
            memory = run.own[slot] = run.empty(like.shape, like.dtype)
            run.args[positions] = address_of(memory)


def renew(run: Run, slot: int) -> None:
    """Gives a slot other memory, as a variable has kept what it had, or will."""
    _, positions, like = run.places[slot]
    memory = run.own[slot] = aligned_empty(like.shape, like.dtype)
    run.args[positions] = address_of(memory)
