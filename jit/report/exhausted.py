# SPDX-License-Identifier: Apache-2.0
"""What is said when there is not enough memory for a run of a plan: who wants how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine import errors
from .plan_report import Buffer, plan_report
from .plan_text import size_text

if TYPE_CHECKING:
    from ..runtime.plan import Plan
    from ..schedule.bind import Binding

# So many of the largest buffers are listed.
_LISTED = 10
_ADVICE = "Run with smaller feeds (a smaller batch), or fetch less at once."


def exhausted(plan: Plan, binding: Binding) -> errors.ResourceExhaustedError:
    """The error for a run that found no memory, with its largest buffers."""
    # Nothing is measured: there is no memory to run anything in.
    buffers = plan_report(plan, binding, [0.0] * len(plan.schedule.steps), None).buffers
    largest = sorted(buffers, key=lambda buffer: -buffer.bytes)
    lines = [_line(buffer) for buffer in largest[:_LISTED]]
    if len(buffers) > _LISTED:
        lines.append(f"  and {len(buffers) - _LISTED} smaller ones")
    text = (
        f"OOM when allocating the memory of a run: {size_text(binding.arena_bytes)} for what is "
        f"between its steps, {size_text(binding.scratch_bytes)} for each thread. {_ADVICE} The "
        "largest buffers:"
    )
    return errors.resource_exhausted("\n".join([text, *lines]))


def _line(buffer: Buffer) -> str:
    sizes = ",".join(map(str, buffer.shape))
    return (
        f"  {size_text(buffer.bytes):>9}  {buffer.kind:8}  {buffer.dtype}[{sizes}]  {buffer.name}"
    )


def beyond_addresses() -> errors.ResourceExhaustedError:
    """The error for sizes that no memory has."""
    text = f"OOM: a tensor of the run has more bytes than memory can have addresses. {_ADVICE}"
    return errors.resource_exhausted(text)
