# SPDX-License-Identifier: Apache-2.0
"""Measured times of a plan's kernels, without side effects: variables are copies meanwhile.

Imports the rest of jit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import threads
from ..kernel import sizes
from ..kernel.reference import numpy_dtype
from ..kernel.scalar import holds
from ..program.tensor_ir import Feed
from ..runtime.driver import Program
from ..runtime.execution import Run
from ..runtime.plan import Plan
from ..schedule.aligned import aligned_copy, aligned_empty
from ..schedule.bind import Binding
from ..schedule.frame import Arena
from ..schedule.steps import CallStep, Control, HostStep, has_row
from . import roofline
from .plan_report import PlanReport, plan_report

if TYPE_CHECKING:
    from ...engine.session.state import VariableStorage


def measured_report(plan: Plan, binding: Binding, arrays: Sequence[np.ndarray]) -> PlanReport:
    """The report of a plan with the times of its kernels for these feeds."""
    elsewhere = plan.step_seconds(binding, arrays)
    if elsewhere is not None:
        return plan_report(plan, binding, elsewhere, None)
    return plan_report(plan, binding, kernel_seconds(plan, binding, arrays), roofline.machine())


def later_report(plan: Plan, binding: Binding) -> PlanReport:
    """The report of a plan that a run came to after another one, timed on zeros."""
    segment, traced = plan.traced.segment, plan.traced
    values = dict(zip(traced.scope.examples, binding.symbols))
    nodes = [node for node in traced.program if isinstance(node, Feed)]
    arrays: list[Any] = [np.zeros(())] * len(segment.inputs)
    for node in nodes:
        (value,) = node.outputs
        dtype = numpy_dtype(value.dtype) if holds(value.dtype) else object
        arrays[node.number] = np.zeros([sizes.number(size, values) for size in value.shape], dtype)
    report = measured_report(plan, binding, arrays)
    return replace(report, start=segment.operations[segment.start].name)


def _contents(plan: Plan, cell: VariableStorage) -> np.ndarray:
    """What a variable has; where it has nothing any more, as much as kernels expect of it."""
    if cell.value is not None:
        return aligned_copy(cell.value)
    shape, dtype = plan.traced.cells.get(cell, ((1,), "uint8"))
    return aligned_empty([int(size) for size in shape], numpy_dtype(dtype))


def kernel_seconds(plan: Plan, binding: Binding, arrays: Sequence[np.ndarray]) -> list[float]:
    """The best of a few timed runs of every step; host steps, which may have effects, count 0."""
    run = Run(plan, binding, Arena(max(threads.count(), threads.cores())), arrays)
    run.frame.fill_sizes(binding)
    # What arguments point to must live as long as kernels run.
    kept: list[Any] = []
    for number, memory in run.staged:
        memory[...] = arrays[number]
    for number, places in run.pointed:
        kept.append(np.ascontiguousarray(arrays[number]))
        run.args[places] = kept[-1].ctypes.data
    for cell, _, places in run.cells:
        copy = _contents(plan, cell)
        kept.append(copy)
        run.args[places] = copy.ctypes.data
    seconds, row = [], 0
    # Each by itself, on whatever lies in memory: jumps, which would go by it, are left out.
    for step in plan.schedule.steps:
        if isinstance(step, (HostStep, Control)):
            row += has_row(step)
            seconds.append(0.0)
            continue
        if isinstance(step, CallStep) and step.node.effects.writes:
            seconds.append(0.0)  # it works only at its turn
            row += 1
            continue
        seconds.append(roofline.best_seconds(Program(run.frame.table[row : row + 1].copy())))
        row += 1
    return seconds
