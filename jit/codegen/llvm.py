# SPDX-License-Identifier: Apache-2.0
"""Texts of kernels to object code: LLVM optimises as told here what a front end makes of them.

There are three front ends: jit/codegen/reader.py for generated texts, jit/codegen/library_reader.py
for those written by hand, and Numba, which takes a third of a second to import, for those of the
latter that say more than it reads (jit/codegen/library_code.py).  Loops get the fact that accesses
are independent, where they are, and one pipeline of LLVM for the wanted CPU and vector width makes
the object file.  Imports llvmlite alone.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import Any

import llvmlite.binding as binding

from .. import target
from . import library_reader, llvm_calls, reader, words
from .llvm_scalar import GROUP, LANES, LOOP, SERIAL


def lowered(source: str, symbol: str, aim: target.Target, is_library: bool = False) -> str:
    """The LLVM text of a source, with a function `symbol` to call it by."""
    if is_library:
        return finished(_of_library(source, symbol), aim)
    try:
        return finished(str(reader.module(source, symbol)), aim)
    except words.Unfit as error:
        raise Untyped(f"{error}{where(source, error.line)}, in {symbol}:\n{source}") from error


def _of_library(source: str, symbol: str) -> str:
    """Numba reads what the reader does not."""
    try:
        text = str(library_reader.module(source, symbol))
        return f"{text}\n{_IN_VECTORS}\n" if _TILE.search(source) else text
    except words.Unfit:
        from . import library_code

        return library_code.module(source, symbol)


class Untyped(Exception):
    """A source has no types; the text tells the access that does not fit, the rule, and where."""


def where(source: str, line: int) -> str:
    """The end of a message about a line of a source, if it has that line."""
    lines = source.splitlines()
    return f", in line {line}: {lines[line - 1].strip()}" if 0 < line <= len(lines) else ""


def object_code(text: str, aim: target.Target) -> bytes:
    """An object file of what `lowered` gave, by LLVM alone."""
    return _emitted(text, aim, is_object=True)


def assembly(text: str, aim: target.Target) -> str:
    """The same machine code in readable form."""
    return _emitted(text, aim, is_object=False).decode()


def _emitted(text: str, aim: target.Target, is_object: bool) -> bytes:
    machine = target.machine(aim)
    # (All options are set throughout, so that no thread sets any while another is in LLVM.)
    with llvm_calls.told((*_IN_PASSES, *_emission(aim))):
        return llvm_calls.emitted(machine, _optimised(text, aim, machine), is_object)


# What LLVM is told to leave out.  Strength reduction takes a third of emission to look for the best
# set of a loop's induction variables, and makes nothing faster: x86's addresses are a base and a
# scaled index, which is what texts say.  The combiner adds up lanes in whatever order a processor's
# tables find quickest, and totals have one that is stated.  Versions of loops for strides of one,
# which the kernel would know of, have others added up one by one.
_IN_EMISSION = {
    "x86": ("-disable-lsr=true", "-x86-machine-combiner=false"),
    "aarch64": ("-aarch64-enable-mcr=false",),
}
_IN_PASSES = ("-enable-mem-access-versioning=false",)


def _emission(aim: target.Target) -> Sequence[str]:
    return next((o for name, o in _IN_EMISSION.items() if aim.triple.startswith(name)), ())


def _optimised(text: str, aim: target.Target, machine: Any) -> Any:
    module = binding.parse_assembly(text, binding.create_context())
    module.data_layout = str(machine.target_data)
    module.triple = aim.triple
    module.verify()
    # Level 3 would make copies of whole nests for conditions that do not change within them, such
    # as whether there is anything to reduce: half as much machine code again, and none the faster.
    # Level 2 takes a tenth longer than 1: texts have no loads or branches to do away with.
    options = binding.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.loop_interleaving = options.loop_unrolling = True
    options.slp_vectorization = False
    if _IN_VECTORS in text:
        _optimise_tile(module, machine, options)
        return module
    builder = binding.create_pass_builder(machine, options)
    llvm_calls.run_passes(builder.getModulePassManager(), module, builder)
    return module


def _optimise_tile(module: Any, machine: Any, options: Any) -> None:
    """In half the time: one function, of vectors already, with nothing to inline or to vectorise.

    What counts is that addresses are hoisted out of loops, and that short loops are unrolled.
    """
    options.loop_vectorization = options.loop_interleaving = False
    builder = binding.create_pass_builder(machine, options)
    simplify = builder.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration:
            llvm_calls.run_passes(simplify, function, builder)
    rest = binding.create_new_module_pass_manager()
    rest.add_loop_unroll_pass()
    rest.add_instruction_combine_pass()
    rest.add_simplify_cfg_pass()
    llvm_calls.run_passes(rest, module, builder)


# Kernels that are but calls of a register tile, and what tells of them in their LLVM text.
_TILE = re.compile(r"^ +fma_tile\(", re.M)
_IN_VECTORS = "!numbaflow.vectors = !{}"
_NODE = re.compile(
    r'^!(\d+) = !\{ !"(' + re.escape(GROUP) + "|" + re.escape(LOOP) + r')([^"]*)" \}', re.M
)
# Loops around loops of unknown length are never vectorised, and copies of their bodies would be
# many vector loops.
_ROLLED = '!"llvm.loop.unroll.disable"'


def finished(text: str, aim: target.Target) -> str:
    """What llvmlite cannot say: distinct nodes, the vector width."""
    attributes = f'"prefer-vector-width"="{aim.vector_bits}" nounwind'
    return re.sub(
        r"^(define [^\n]*?\))( alwaysinline)?\s*$",
        rf"\1\2 {attributes}",
        finished_loops(text),
        flags=re.M,
    )


def finished_loops(text: str, turns: int = 0, loops: Container[str] = ()) -> str:
    """A text whose loops' nodes are distinct, and say what is known of the loops.

    turns: so many are to become one, of the loops whose nodes have these numbers; of the others
    LLVM decides.
    """
    group = next((m[1] for m in _NODE.finditer(text) if m[2] == GROUP), None)
    last = max((int(n) for n in re.findall(r"^!(\d+) = ", text, re.M)), default=-1) + 1

    def node(match: re.Match[str]) -> str:
        if match[2] == GROUP:
            return f"!{match[1]} = distinct !{{}}"
        fact = f", !{last}" if group is not None else ""
        if match[3].endswith(SERIAL):
            fact = f", !{last + 1}"
        elif LANES in match[3]:
            fact += "".join(f", !{number}" for number in laned(match[3]))
        elif match[1] in loops:
            fact += f", !{last + 2}"
        return f"!{match[1]} = distinct !{{!{match[1]}{fact}}}"

    widths: dict[str, int] = {}

    def laned(name: str) -> list[int]:
        width, vectors = (part[len(LANES) :] for part in name.split(".")[-2:])
        facts = [
            f'!"llvm.loop.vectorize.width", i32 {width}',
            f'!"llvm.loop.interleave.count", i32 {max(int(vectors), 1)}',
            f'!"llvm.loop.vectorize.predicate.enable", i1 {"01"[vectors == "0"]}',
            # Or a short one would be straight-line code before it can become vectors.
            '!"llvm.loop.unroll.disable"',
        ]
        return [widths.setdefault(fact, last + 3 + len(widths)) for fact in facts]

    text = _NODE.sub(node, text)
    for fact, number in widths.items():
        text += f"\n!{number} = !{{{fact}}}\n"
    if group is not None:
        text += f'\n!{last} = !{{!"llvm.loop.parallel_accesses", !{group}}}\n'
    text += f"\n!{last + 1} = !{{{_ROLLED}}}\n"
    return f'{text}!{last + 2} = !{{!"llvm.loop.unroll.count", i32 {turns}}}\n' if turns else text
