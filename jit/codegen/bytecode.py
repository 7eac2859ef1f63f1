# SPDX-License-Identifier: Apache-2.0
"""Kernels as bytecode, for a machine that is compiled already: jit/library/bytecode_kernels.py.

What is computed for a block of elements is a list of instructions, each of which is a kernel:
loads, functions (jit/codegen/instructions.py), reductions, stores.  So bits are those that the
kernel has once it is compiled; totals are added in the order of jit/codegen/reductions.py.  Imports
neither Numba nor llvmlite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial

from ..kernel.grain import is_plain
from ..kernel.ir import (
    Apply,
    AxisIndex,
    Const,
    Expr,
    Index,
    Kernel,
    Load,
    Param,
    Reduced,
    Store,
    nodes,
    postorder,
)
from ..library import bytecode_kernels as layout
from ..library import instruction_kernels as operands
from ..library import instruction_set
from . import instructions
from .program_words import Assembler, Program
from .reductions import (
    accumulator_dtype,
    at_level,
    identity,
    in_lanes,
    lanes_of,
    late_stores,
    levels_of,
    worst,
)
from .row_order import counted
from .writer import HALF, Writer, wide

# Registers of a section, by what they hold.
Values = dict[Expr, int]


@cache
def program(kernel: Kernel) -> Program:
    """The bytecode of a kernel, which `is_fit`."""
    return _Translator(kernel).program()


def is_fit(kernel: Kernel) -> bool:
    """Has the machine what the kernel needs?  Not for long rows in lanes that are one vector."""
    numbers = range(len(kernel.reductions))
    levels = {levels_of(kernel)[n] for n in numbers if in_lanes(kernel, n)}
    return all(lanes_of(kernel, level).width <= layout.LIMIT for level in levels)


def may_meet(kernel: Kernel) -> bool:
    """May rows be in one place, as those of a sparse update are?"""
    roots = [store.index.offset for store in kernel.stores if store.index.offset is not None]
    return any(isinstance(node, Load) for root in roots for node in postorder(root))


class _Translator:
    """A kernel on its way to bytecode: the code so far, and what all of its sections have."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.writer, self.code = kernel, Writer(kernel), Assembler(kernel)
        self.outer = counted(self.writer)
        # The axes along which a block has several rows, and columns.
        self.across, self.down = self.writer.inner, self.outer[-1] if self.outer else None
        if kernel.form != "map":
            self.down = None if kernel.form == "row" else self.writer.reduce[-1]
        self.levels = max(levels_of(kernel), default=-1) + 1
        # Of each reduction: totals or the best so far, where that is, and what is known at last.
        self.totals: dict[int, int] = {}
        self.places: dict[int, int] = {}
        self.done: dict[int, int] = {}

    def program(self) -> Program:
        kernel, code = self.kernel, self.code
        code.header(self.outer, self.writer.reduce, self.across, self.levels)
        # (Where rows may meet, one of them is a block.)
        code.words[layout.BESIDE] = int(kernel.form == "map" and not may_meet(kernel))
        slots = dict.fromkeys(node for node in nodes(kernel) if isinstance(node, Param))
        code.section(lambda: [code.parameter(node) for node in slots])
        if kernel.form == "map":
            code.section(partial(self._stores, kernel.stores))
        else:
            self._passes()
        return code.program(instruction_set.machine(kernel.form))

    def _passes(self) -> None:
        code, late = self.code, late_stores(self.writer)
        for level in range(self.levels):
            numbers = at_level(levels_of(self.kernel), level)
            code.section(partial(self._begin, numbers))
            code.section(partial(self._take, numbers, level))
            code.section(partial(self._finish, numbers))
        code.section(partial(self._stores, late))
        code.section(partial(self._stores, [s for s in self.kernel.stores if s not in late]))

    # Sections

    def _stores(self, stores: Sequence[Store]) -> None:
        """Values, all of which are known before the first is written."""
        offsets = [s.index.offset for s in stores if not is_plain(s.index.offset)]
        roots = [*(store.value for store in stores), *(o for o in offsets if o is not None)]

        def write(values: Values) -> None:
            for store in stores:
                self._store(store, values)

        self._compute(roots, write)

    def _begin(self, numbers: Iterable[int]) -> None:
        for n in numbers:
            reduction = self.kernel.reductions[n]
            self.totals[n] = self.code.new()
            first = identity(reduction.fn, accumulator_dtype(reduction))
            if reduction.fn.startswith("arg"):
                first, self.places[n] = worst(reduction), self.code.new()
                nowhere = Const(0, "int64")
                self.code.spread(self.code.constant(nowhere), self.places[n], "int64", 0)
            self.code.spread(self.code.constant(first), self.totals[n], first.dtype, 0)

    def _take(self, numbers: Sequence[int], level: int) -> None:
        roots = []
        for n in numbers:
            reduction = self.kernel.reductions[n]
            held, dtype = wide(reduction.value.dtype), accumulator_dtype(reduction)
            is_arg = reduction.fn.startswith("arg")
            same = is_arg or held == dtype
            roots.append(reduction.value if same else Apply("cast", (reduction.value,), dtype))

        def take(values: Values) -> None:
            for n, root in zip(numbers, roots):
                self._reduce(n, values[root], level)

        self._compute(roots, take)

    def _reduce(self, n: int, values: int, level: int) -> None:
        code, reduction = self.code, self.kernel.reductions[n]
        form = layout.IN_COLUMN if self.kernel.form == "row" else layout.IN_SQUARES
        if in_lanes(self.kernel, n):
            lanes = lanes_of(self.kernel, level)
            kernel = instruction_set.lanes(reduction.fn, accumulator_dtype(reduction))
            block = code.step(kernel, operands.LANES + 1)
            code.inner[block + operands.WHERE] = layout.AT
            code.inner[block + operands.PLACE] = layout.LENGTH
            code.words[block + operands.WIDTH] = lanes.width
            code.words[block + operands.VECTORS] = lanes.vectors
            # (From block to block; what comes before this in the section is put elsewhere.)
            code.registers[block + operands.LANES] = code.lasting()
        elif reduction.fn.startswith("arg"):
            kernel = instruction_set.reduction(reduction.fn, wide(reduction.value.dtype))
            block = code.step(kernel, operands.PLACE + 1, form)
            code.registers[block + operands.WHERE] = self.places[n]
            code.inner[block + operands.PLACE] = code.position(self.writer.reduce[0])
        else:
            kernel = instruction_set.reduction(reduction.fn, accumulator_dtype(reduction))
            block = code.step(kernel, operands.VALUES + 1, form)
        code.registers[block + operands.TOTAL] = self.totals[n]
        code.registers[block + operands.VALUES] = values

    def _finish(self, numbers: Iterable[int]) -> None:
        for n in numbers:
            reduction = self.kernel.reductions[n]
            self.done[n] = self.places.get(n, self.totals[n])
            held = accumulator_dtype(reduction)
            if held != reduction.dtype:
                kernel = instructions.function("cast", (held,), reduction.dtype)
                known, self.done[n] = self.done[n], self.code.new()
                self.code.apply(kernel, [known], self.done[n])

    # Expressions

    def _compute(self, roots: Sequence[Expr], end: Callable[[Values], object]) -> None:
        """What expressions are for a block, each as long as it is needed."""
        order = list(dict.fromkeys(node for root in roots for node in postorder(root)))
        uses = Counter(operand for node in order for operand in _operands(node))
        uses.update(roots)
        values: Values = {}
        own: set[Expr] = set()
        for node in order:
            if not uses[node]:
                continue  # a part of an address that is no register
            known = self._lasting(node)
            if known is None:
                known = self._computed(node, values)
                own.add(node)
            values[node] = known
            for operand in _operands(node):
                uses[operand] -= 1
                if not uses[operand] and operand in own:
                    own.remove(operand)
                    self.code.free.append(values[operand])
        end(values)
        self.code.free += [values[node] for node in own]

    def _lasting(self, node: Expr) -> int | None:
        """The register of what is the same everywhere."""
        if isinstance(node, Const):
            return self.code.constant(node)
        return self.code.parameter(node) if isinstance(node, Param) else None

    def _computed(self, node: Expr, values: Values) -> int:
        code, target = self.code, self.code.new()
        match node:
            case AxisIndex(axis=axis):
                code.positions(axis, target, int(axis == self.down), int(axis == self.across))
            case Load(buffer=buffer, index=index):
                self._load(buffer, index, target, values)
            case Reduced(reduction=n, dtype=dtype):
                is_column = self.kernel.form == "column"
                code.spread(self.done[n], target, wide(dtype), int(is_column))
            case Apply(fn=fn, args=args, dtype=dtype):
                takes = tuple(arg.dtype for arg in args)
                kernel = instructions.function(fn, takes, dtype)
                code.apply(kernel, [values[arg] for arg in args], target)
        return target

    def _load(self, buffer: int, index: Index, target: int, values: Values) -> None:
        dtype = self.kernel.buffers[buffer].dtype
        read = self.code.new() if dtype in HALF else target
        self._move("load", buffer, index, read, values)
        if dtype in HALF:
            self.code.apply(instructions.widened(dtype), [read], target)
            self.code.free.append(read)

    def _store(self, store: Store, values: Values) -> None:
        dtype, value = self.kernel.buffers[store.buffer].dtype, values[store.value]
        written = value
        if dtype in HALF:
            written = self.code.new()
            self.code.apply(instructions.narrowed(dtype), [value], written)
        self._move("store", store.buffer, store.index, written, values)
        if written != value:
            self.code.free.append(written)

    def _move(self, name: str, buffer: int, index: Index, register: int, values: Values) -> None:
        code, dtype, offset = self.code, self.kernel.buffers[buffer].dtype, index.offset
        strides = [*index.strides, offset if is_plain(offset) and offset is not None else 0]
        block = code.move(name, dtype, register, [_number(stride) for stride in strides])
        code.given[block + operands.ADDRESS] = buffer
        code.number(block + operands.ACROSS, index.strides[self.across])
        if self.down is not None:
            code.number(block + operands.DOWN, index.strides[self.down])
        if not is_plain(offset) and offset is not None:
            code.registers[block + operands.OFFSETS] = values[offset]


def _number(value: Expr | int) -> Param | int:
    if isinstance(value, Const):
        return int(value.value)
    assert isinstance(value, (Param, int))
    return value


def _operands(node: Expr) -> tuple[Expr, ...]:
    """What a node needs in registers."""
    if isinstance(node, Apply):
        return node.args
    if isinstance(node, Load) and not is_plain(node.index.offset):
        assert node.index.offset is not None
        return (node.index.offset,)
    return ()
