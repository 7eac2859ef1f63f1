# SPDX-License-Identifier: Apache-2.0
"""A traced segment as a plan for a device: the same schedule, its nests being CUDA kernels.

What has no CUDA kernel (a hand-written one, a function that only C's library has) stays a kernel of
the processor, and what it reads and writes is copied.  Imports the compiler.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.record_class import record
from ...engine.session.state import VariableStorage
from .. import debug, threads
from ..codegen import compile as compiler
from ..codegen.compile import parts_of
from ..kernel import ir
from ..kernel.sizes import ceil_div, hint, same
from ..library.computed import Computed
from ..library.library_kernel import LibraryKernel
from ..library.stacks import CONTROLS
from ..program.tensor_ir import GrowableStack, Value
from ..program.tensor_ir import Launch as LibraryLaunch
from ..runtime.plan import Plan, native_steps, scheduled, timed
from ..schedule.argument_blocks import StepNumbers, cell_of, make_template
from ..schedule.bind import Binding
from ..schedule.steps import Again, CallStep, KernelStep, Schedule, has_row
from ..trace.segment import Traced
from .cuda_kernel import BLOCK, LIBRARY, KernelText, kernel_text
from .device import Device, Library, Made, Memory
from .device_stacks import bundled, latching, on_device, stack_of
from .launching import PIECES

if TYPE_CHECKING:
    from .known_turns import KnownLoop

# What few threads of a GPU take so long for that a processor, and copies, are quicker: fewer than a
# warp has, with so many operations each.
_FEW_THREADS = 32
_LONG_WORK = 1 << 17


@record(frozen=True, slots=True)
class Launch:
    """A row of the table that the device runs: its kernel, and the variables that it changes.

    positions: the number, among those of the template, of how many positions the nest has.
    cuts: of a library kernel, whether every row may be a thread's, and every column; has_scratch:
    whether every thread needs memory of its own.  library: what
    computes in its place what it `computes`, if the device has that, from as many words of
    arguments.  stack: the one on the device that it uses; change: what it does to its counts; name:
    that of the library's kernel.  written: the values that it makes; None if it does more.
    """

    text: KernelText
    positions: int
    writes: tuple[VariableStorage, ...]
    cuts: tuple[bool, bool] = (False, False)
    has_scratch: bool = False
    library: Library | None = None
    computes: Computed | None = None
    words: int = 0
    stack: GrowableStack | None = None
    change: Callable[[int, int], tuple[int, int]] | None = None
    name: str = ""
    written: tuple[Value, ...] | None = None


@record(frozen=True, slots=True)
class ProcessorCall:
    """A row that the processor runs, between copies."""

    step: KernelStep | CallStep


@record(frozen=True, eq=False)
class DevicePlan(Plan):
    """A plan whose rows are launches on a device; None stands for rows that jump or stop."""

    device: Device
    rows: Sequence[Launch | ProcessorCall | None]
    constants: dict[int, Memory] = field(default_factory=dict)
    # Loops whose turns are known ahead, by the row of their test; None: they are not.
    loops: dict[int, KnownLoop | None] = field(default_factory=dict)

    def constant(self, position: int, array: np.ndarray) -> Memory:
        """The constant whose address is at a position of the argument blocks, on the device."""
        found = self.constants.get(position)
        if found is None:
            found = self.constants[position] = Memory(self.device, array.nbytes)
            self.device.upload(found.address, np.ascontiguousarray(array))
        return found

    def step_seconds(self, binding: Binding, feeds: Sequence[np.ndarray]) -> list[float]:
        """See Plan."""
        from .device_run import DeviceArena, DeviceRun

        run = DeviceRun(self, binding, DeviceArena(threads.cores(), self.device), feeds)
        rows = iter(run.step_seconds(feeds))
        return [next(rows) if has_row(step) else 0.0 for step in self.schedule.steps]


def compile_for(device: Device, traced: Traced) -> DevicePlan:
    """Makes a plan of what was traced."""
    seconds = {"trace": traced.seconds}
    began = time.perf_counter() - traced.seconds
    schedule = scheduled(traced, seconds, PIECES)
    with timed("compile", seconds):
        native = native_steps(schedule)
        stacks = on_device(native)
        texts = [_text(step, stacks) for step in native]
        by_library = [_library(device, step)[0] is not None for step in native]
        wanted_here = [text for text, is_done in zip(texts, by_library) if text and not is_done]
        for_loops = [latching()] if any(isinstance(step, Again) for step in schedule.steps) else []
        made = device.prepare([*wanted_here, *(bundled() if stacks else ()), *for_loops])
        texts = [
            text if text is not None and (is_done or text.symbol in made) else None
            for text, is_done in zip(texts, by_library)
        ]
        left = [step for step, text in zip(native, texts) if text is None]
        wanted = [(step.kernel, None) for step in left]
        processor = dict(zip(map(id, left), compiler.compile_kernels(wanted)))
        kernels = [
            _compiled(device, step, text, made) if text is not None else processor[id(step)]
            for step, text in zip(native, texts)
        ]
        parts = [compiler.compiled_parts(s.kernel) if id(s) in processor else [] for s in native]
    with timed("lay out", seconds):
        addresses = [(k.address, *(p.address for p in called)) for k, called in zip(kernels, parts)]
        template = make_template(schedule, traced.program, traced.scope, addresses)
        # (What runs elsewhere does without a compiler for the processor.)
        template.may_compile = False
    every = tuple(dict.fromkeys(part for called in parts for part in called))
    rows = _rows(device, schedule, template.steps, texts)
    plan = DevicePlan(
        traced, schedule, kernels, every, template, seconds, began, device=device, rows=rows
    )
    debug.show("timing", plan)
    return plan


def _text(step: KernelStep | CallStep, stacks: frozenset[GrowableStack]) -> KernelText | None:
    """The CUDA kernel of a step, which may need what a GPU has not; None if it has none."""
    kernel = step.kernel
    stack = stack_of(step)
    if isinstance(step, CallStep):
        # Parts are called by their address, and other stacks lie in the host's memory.
        if parts_of(kernel) or stack not in (None, *stacks):
            return None
        if stack is None and _is_for_few(step):
            return None
    return kernel_text(kernel)


def _is_for_few(step: CallStep) -> bool:
    """Whether few threads would have long to do, as those of what goes one by one (by the sizes met
    first).  Variables stay where they are."""
    launch, effects = step.node.launch, step.node.effects
    if not isinstance(launch.kernel, LibraryKernel) or launch.kernel.block is not None:
        return False
    if effects.writes or effects.updates or any(map(cell_of, step.reads)):
        return False
    by_row, by_column = _cuts(launch)
    lines = hint(launch.rows if by_row else ceil_div(launch.rows, launch.row_tile))
    threads = lines * (hint(launch.columns) if by_column else 1)
    return 0 < threads < _FEW_THREADS and hint(launch.operations) > _LONG_WORK * threads


def _cuts(launch: LibraryLaunch) -> tuple[bool, bool]:
    """Whether every row of a library kernel may be a thread's, and every column."""
    # Where tiles of rows count (as numbers that a kernel gets, say) they stay what they are.
    by_row = not any(same(launch.row_tile, size) for size in (launch.rows, *launch.params))
    return by_row, launch.col_tile is not None


def _compiled(
    device: Device, step: KernelStep | CallStep, text: KernelText, made: Mapping[str, Made]
) -> compiler.Compiled:
    """What reports say of a CUDA kernel.  (Its address is not zero, which is that of jumps.)"""
    now = time.perf_counter()
    library = _library(device, step)[0]
    if library is not None:
        return compiler.Compiled(1, library.name, text.symbol, 0.0, True, text.source, made=now)
    found = made[text.symbol]
    names = text.form, found.key or text.symbol
    is_cached = found.seconds == 0.0
    return compiler.Compiled(1, *names, found.seconds, is_cached, text.source, made=now)


def _library(device: Device, step: KernelStep | CallStep) -> tuple[Library | None, Computed | None]:
    """What computes a step in the place of its kernel, and what that is."""
    kernel = step.kernel
    computes = kernel.computes if isinstance(kernel, LibraryKernel) else None
    return device.library(computes), computes


def _rows(
    device: Device,
    schedule: Schedule,
    numbers: Sequence[Any],
    texts: Sequence[KernelText | None],
) -> list[Launch | ProcessorCall | None]:
    """What every row of the table is."""
    rows: list[Launch | ProcessorCall | None] = []
    remaining = iter(texts)
    for step in schedule.steps:
        if not isinstance(step, (KernelStep, CallStep)):
            if has_row(step):
                rows.append(None)
            continue
        text = next(remaining)
        entry = numbers[len(rows)]
        assert isinstance(entry, StepNumbers)
        if text is None:
            rows.append(ProcessorCall(step))
        else:
            rows.append(_launch(device, step, text, entry.positions))
    assert len(rows) == len(numbers)
    return rows


def _launch(
    device: Device, step: KernelStep | CallStep, text: KernelText, positions: int
) -> Launch:
    """A step as a launch."""
    if text.form in (LIBRARY, BLOCK):
        assert isinstance(step, CallStep)
        launch = step.node.launch
        values = step.reads[len(step.node.inputs) :]
        cuts, words = _cuts(launch), len(step.reads) + len(launch.params)
        library, stack = _library(device, step), stack_of(step)
        change = None if stack is None else CONTROLS[step.kernel.name]
        has_scratch, cells = not same(launch.scratch, 0), _cells(values)
        about = library[0], library[1], words, stack, change, step.kernel.name
        effects = step.node.effects
        written = None if effects.writes or effects.updates else tuple(step.node.outputs)
        return Launch(text, positions, cells, cuts, has_scratch, *about, written)
    assert isinstance(step.kernel, ir.Kernel)
    buffers = zip(step.reads, step.kernel.buffers)
    written = tuple(value for value, buffer in buffers if buffer.access != "r")
    return Launch(text, positions, _cells(written), written=written)


def _cells(values: Iterable[Value]) -> tuple[VariableStorage, ...]:
    """The variables whose memory values are."""
    found = map(cell_of, values)
    return tuple(dict.fromkeys(cell for cell in found if cell is not None))
