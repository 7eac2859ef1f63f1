# SPDX-License-Identifier: Apache-2.0
"""Texts of CUDA kernels to PTX, by LLVM's own code generator for NVIDIA's GPUs.

The same walk over the text as for processors (jit/codegen/reader.py), with the words of a GPU; no
toolkit is needed, and a driver makes machine code of PTX for the card at hand.  Numba's simulator
runs the same texts in tests.  Imports llvmlite alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

import llvmlite.binding as binding
from llvmlite import ir

from ..codegen import library_reader, llvm_calls, reader, words
from ..codegen.llvm import Untyped, finished_loops, where
from ..codegen.llvm_scalar import BODY, NODE
from ..codegen.words import WORD
from . import device_words
from .cuda_kernel import LIBRARY, OLDEST, Capability, KernelText
from .launching import Told, held, told
from .own_functions import is_long, own_functions

_TRIPLE = "nvptx64-nvidia-cuda"
# Turns of a loop over elements that are one, so that as many of its reads are under way.  Copies
# and sums gain a sixth by it.  Where elements are divided, the assembler branches, behind which no
# read moves up, and functions of numbers take registers: both lose a fifth to a half.
_TURNS = 4
_LIGHT = 48  # instructions of such a loop, at most
# Addresses and sizes of a kernel of rows, at most: with more there are too few registers for those
# of several turns, which would go to memory and back.
_FEW = 5
# How many texts stay: those of some plans.
_KEPT = 256
# Capabilities that LLVM is told of, and the version of PTX that each needs, which asks for a driver
# of CUDA 11.8, or of 12.7 and 12.8.  PTX for one of them runs on all later cards.
_VERSIONS = {
    Capability(8, 0): "+ptx78",
    Capability(8, 6): "+ptx78",
    Capability(8, 9): "+ptx78",
    Capability(9, 0): "+ptx78",
    Capability(10, 0): "+ptx86",
    Capability(12, 0): "+ptx87",
}


# What begins the tiles of a library kernel.
_ENTRY = """
define ptx_kernel void @SYMBOL(ptr addrspace(1) %block, i64 %rows, i64 %row.tile, i64 %columns,
                               i64 %column.tile) {
entry:
  %args = addrspacecast ptr addrspace(1) %block to ptr
  %x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %g = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %first.block = mul i32 %x, %n
  %first.word = add i32 %first.block, %t
  %first = zext i32 %first.word to i64
  %step.word = mul i32 %g, %n
  %step = zext i32 %step.word to i64
  %columns.up = add i64 %columns, %column.tile
  %columns.most = sub i64 %columns.up, 1
  %across = sdiv i64 %columns.most, %column.tile
  %rows.up = add i64 %rows, %row.tile
  %rows.most = sub i64 %rows.up, 1
  %down = sdiv i64 %rows.most, %row.tile
  %total = mul i64 %across, %down
  br label %look
look:
  %tile = phi i64 [ %first, %entry ], [ %next, %work ]
  %more = icmp slt i64 %tile, %total
  br i1 %more, label %work, label %end
work:
  %row.number = sdiv i64 %tile, %across
  %column.number = srem i64 %tile, %across
  %r = mul i64 %row.number, %row.tile
  %c = mul i64 %column.number, %column.tile
  %r.sum = add i64 %r, %row.tile
  %r.next = call i64 @llvm.smin.i64(i64 %r.sum, i64 %rows)
  %c.sum = add i64 %c, %column.tile
  %c.next = call i64 @llvm.smin.i64(i64 %c.sum, i64 %columns)
  call void @SYMBOL_tile(ptr %args, i64 %r, i64 %r.next, i64 %c, i64 %c.next, i64 %first)
  %next = add i64 %tile, %step
  br label %look
end:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare i64 @llvm.smin.i64(i64, i64)
"""


def ptx(kernel: KernelText, capability: Capability = OLDEST) -> str:
    """The PTX of a kernel, whose entry has its symbol; Unfit if it needs what a GPU has not."""
    return assembled(written(kernel), capability)


# A kernel is written when it is looked whether it fits, and again when it is assembled.
@lru_cache(_KEPT)
def written(kernel: KernelText) -> str:
    """The LLVM text of a kernel for a GPU; Unfit if it needs what a GPU has not."""
    if kernel.form == LIBRARY:
        return _of_library(kernel.source, kernel.symbol)
    found = module(kernel.source, kernel.symbol, told(kernel))
    if kernel.block is not None:
        return finished_loops(own_functions(found))
    if kernel.form == "row" and held(kernel) > _FEW:
        return finished_loops(own_functions(found))
    return finished_loops(own_functions(found), _TURNS, set(_light_loops(found)))


def _light_loops(found: ir.Module) -> Iterator[str]:
    """The numbers of loops whose bodies are short, without branches, divisions or functions."""
    for block in (block for function in found.functions for block in function.blocks):
        note = block.terminator.metadata.get(NODE)
        if note is None or not block.name.startswith(BODY) or len(block.instructions) > _LIGHT:
            continue
        names = (
            instruction.callee.name if instruction.opname == "call" else instruction.opname
            for instruction in block.instructions
        )
        if not any(name == "fdiv" or is_long(name) for name in names):
            yield note.name


def _of_library(source: str, symbol: str) -> str:
    """A library kernel (jit/library), whose entry gives every thread tiles.

    The entry takes the argument block, rows, rows of a tile, columns, columns of a tile.  The
    number of a thread is that of the worker, for scratch memory.
    """
    inner = library_reader.module(source, f"{symbol}_tile")
    next(f for f in inner.functions if f.name == f"{symbol}_tile").linkage = "internal"
    inner.triple, inner.data_layout = _TRIPLE, _layout()
    text = finished_loops(own_functions(inner))
    return f"{text}\n{_ENTRY.replace('SYMBOL', symbol)}"


def assembled(text: str, capability: Capability = OLDEST) -> str:
    """The PTX of what `written` gave."""
    machine = _machine(capability)
    parsed = binding.parse_assembly(text, binding.create_context())
    parsed.verify()
    options = binding.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = options.loop_interleaving = False
    options.loop_unrolling = True
    builder = binding.create_pass_builder(machine, options)
    llvm_calls.run_passes(builder.getModulePassManager(), parsed, builder)
    return llvm_calls.emitted(machine, parsed, is_object=False).decode()


def module(source: str, symbol: str, blocks: Told | None = None) -> ir.Module:
    """The LLVM module of a text for a GPU."""
    found = ir.Module(symbol)
    # At once, as alignments follow from it when the text is read.
    found.triple, found.data_layout = _TRIPLE, _layout()
    block = WORD.as_pointer(device_words.GLOBAL)
    function = ir.Function(found, ir.FunctionType(ir.VoidType(), [block, WORD, WORD]), symbol)
    function.calling_convention = "ptx_kernel"
    if blocks is not None:
        _note(found, function, "maxntidx", blocks.threads)
        _note(found, function, "minctasm", blocks.blocks)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    _write(builder, source, symbol, function.args, device_words.on_gpu(), device_words.GLOBAL)
    builder.ret_void()
    return found


def _note(module: ir.Module, function: ir.Function, name: str, value: int) -> None:
    """Tells LLVM something of a kernel."""
    text, number = ir.MetaDataString(module, name), ir.Constant(ir.IntType(32), value)
    note = module.add_metadata([function, text, number])
    module.add_named_metadata("nvvm.annotations", note)


def module_alone(source: str, symbol: str) -> ir.Module:
    """The LLVM module of a text for a processor: one thread does what a grid would."""
    found = ir.Module(symbol)
    # The signature of a processor's kernels, of which rows and columns are looked at.
    kind = ir.FunctionType(ir.VoidType(), [WORD.as_pointer(), *[WORD] * 5])
    function = ir.Function(found, kind, symbol)
    args, _, rows, _, columns, _ = function.args
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    _write(builder, source, symbol, (args, rows, columns), device_words.alone(), 0)
    builder.ret_void()
    return found


def _write(
    builder: ir.IRBuilder, source: str, symbol: str, arguments: Any, known: Any, space: int
) -> None:
    try:
        reader.write(builder, source, arguments, known, space)
    except words.Unfit as error:
        raise Untyped(f"{error}{where(source, error.line)}, in {symbol}:\n{source}") from error


@cache
def _layout() -> str:
    return str(_machine(OLDEST).target_data)


def _machine(capability: Capability) -> Any:
    """A machine for whoever compiles, since threads must not share one."""
    _initialize()
    found = binding.Target.from_triple(_TRIPLE)
    # (LLVM ends the process where it is told of a card that it does not know.)
    known = max((c for c in _VERSIONS if c <= capability), default=OLDEST)
    return found.create_target_machine(cpu=known.name, features=_VERSIONS[known], opt=3)


@cache
def _initialize() -> None:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
