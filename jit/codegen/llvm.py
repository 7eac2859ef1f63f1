# SPDX-License-Identifier: Apache-2.0
"""Generated source to object code: Numba types and lowers it, LLVM optimises it as told here.

Numba's own code generation is bypassed after lowering: loops get the fact that their accesses are
independent, and one pipeline of LLVM for the wanted CPU and vector width makes the object file.
Imports Numba.
"""

from __future__ import annotations

import re
from typing import Any

import llvmlite.binding as binding
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError

from .. import target
from . import intrinsics, numba_target
from .addresses import Arguments
from .llvm_scalar import GROUP

# The further names that a hand-written text uses; None marks a generated text, all of whose loops
# are free of dependences between iterations through memory.
Names = dict[str, Any] | None
_LOOP = "numbaflow.loop"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# More than any function has metadata nodes.
_MOST_NODES = 1_000_000
_REST = [types.intp] * 5  # what a kernel gets besides its argument block


def lowered(source: str, symbol: str, aim: target.Target, names: Names = None) -> str:
    """The LLVM text of a source, as Numba makes it, with a function `symbol` to call it by."""
    further = {} if names is None else names
    module_names = {**intrinsics.vocabulary(), **further, "__name__": f"numbaflow_{symbol}"}
    exec(compile(source, f"<{symbol}>", "exec"), module_names)
    with numba_target.front_end():
        pipeline = numba_target.Pipeline if names is None else numba_target.LibraryPipeline
        function = module_names["kernel"]
        arguments = (Arguments(module_names.get("BUFFERS", ())), *_REST)
        try:
            result = numba_target.compiled(function, symbol, arguments, types.void, pipeline)
        except TypingError as error:
            raise Untyped(f"{_mismatch(error, source)}, in {symbol}:\n{source}") from error
        module = _one_module(result.library)
        return _annotate(module, result.fndesc.mangled_name, symbol, aim, names is None)


class Untyped(Exception):
    """A source has no types; the text tells the access that does not fit, the rule, and where."""


def _mismatch(error: TypingError, source: str) -> str:
    found = re.search(r"Mismatch: (.*)", _COLOUR.sub("", str(error)))
    line = getattr(getattr(error, "loc", None), "line", 0)
    lines = source.splitlines()
    where = f", in line {line}: {lines[line - 1].strip()}" if 0 < line <= len(lines) else ""
    return (found[1] if found else str(error)) + where


def object_code(text: str, aim: target.Target) -> bytes:
    """An object file of what `lowered` gave.  Takes as long as Numba, and needs nothing of it."""
    machine = target.machine(aim)
    return bytes(machine.emit_object(_optimised(text, aim, machine)))


def assembly(text: str, aim: target.Target) -> str:
    """The same machine code in readable form."""
    machine = target.machine(aim)
    return str(machine.emit_assembly(_optimised(text, aim, machine)))


def _optimised(text: str, aim: target.Target, machine: Any) -> Any:
    module = binding.parse_assembly(text, binding.create_context())
    module.data_layout = str(machine.target_data)
    module.triple = aim.triple
    module.verify()
    _run_passes(module, machine)
    return module


def _one_module(library: Any) -> Any:
    """The LLVM module of a function, joined by those of all that it calls."""
    main, *others = library.all_modules().values()
    for number, other in enumerate(others, 1):
        for node in other.metadata:
            node.name = str(number * _MOST_NODES + int(node.name))
        main.metadata += other.metadata
        for name, value in other.globals.items():
            known = main.globals.get(name)
            if known is None or _is_declaration(known):
                main.globals[name] = value
    # Unused ones go away where they are known to be nobody else's.
    for value in main.globals.values():
        if not _is_declaration(value):
            value.linkage = "internal"
    return main


def _is_declaration(value: Any) -> bool:
    return value.is_declaration if isinstance(value, ir.Function) else value.initializer is None


def _run_passes(module: Any, machine: Any) -> None:
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.loop_interleaving = options.loop_unrolling = True
    options.slp_vectorization = False
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _annotate(
    module: Any, function_name: str, symbol: str, aim: target.Target, parallel: bool
) -> str:
    function = module.globals[function_name]
    function.linkage = "internal"
    function.attributes.add("alwaysinline")
    _entry(module, function, symbol)
    if parallel:
        _mark_loops(module, function)
    return _finish_text(str(module), aim)


def _entry(module: Any, function: Any, symbol: str) -> None:
    """The exported function: calls Numba's, whose return slots for errors nobody reads."""
    word = ir.IntType(64)
    kind = ir.FunctionType(ir.VoidType(), [word.as_pointer(), *[word] * 5])
    entry = ir.Function(module, kind, symbol)
    builder = ir.IRBuilder(entry.append_basic_block("entry"))
    slots = [builder.alloca(kind.pointee) for kind in function.function_type.args[:2]]
    builder.call(function, [*slots, *entry.args])
    builder.ret_void()


def _mark_loops(module: Any, function: Any) -> None:
    """Puts a loop node on every back edge; its text is completed in _finish_text."""
    active: set[Any] = set()
    seen: set[Any] = set()
    count = 0
    stack: list[tuple[Any, bool]] = [(function.entry_basic_block, False)]
    while stack:
        block, leave = stack.pop()
        if leave:
            active.discard(block)
            continue
        if block in seen:
            continue
        seen.add(block)
        active.add(block)
        stack.append((block, True))
        for successor in _successors(block):
            if successor in active:
                block.terminator.set_metadata(
                    "llvm.loop", module.add_metadata([f"{_LOOP}.{count}"])
                )
                count += 1
            else:
                stack.append((successor, False))


def _successors(block: Any) -> list[Any]:
    return [o for o in getattr(block.terminator, "operands", ()) if isinstance(o, ir.Block)]


_NODE = re.compile(
    r'^!(\d+) = !\{ !"(' + re.escape(GROUP) + "|" + re.escape(_LOOP) + r')[^"]*" \}', re.M
)


def _finish_text(text: str, aim: target.Target) -> str:
    """What llvmlite cannot say: distinct nodes, the vector width, hidden globals."""
    group = next((m[1] for m in _NODE.finditer(text) if m[2] == GROUP), None)
    last = max((int(n) for n in re.findall(r"^!(\d+) = ", text, re.M)), default=-1) + 1

    def node(match: re.Match[str]) -> str:
        if match[2] == GROUP:
            return f"!{match[1]} = distinct !{{}}"
        accesses = f", !{last}" if group is not None else ""
        return f"!{match[1]} = distinct !{{!{match[1]}{accesses}}}"

    text = _NODE.sub(node, text)
    if group is not None:
        text += f'\n!{last} = !{{!"llvm.loop.parallel_accesses", !{group}}}\n'
    attributes = f'"prefer-vector-width"="{aim.vector_bits}" nounwind'
    return re.sub(
        r"^(define [^\n]*?\))( alwaysinline)?\s*$", rf"\1\2 {attributes}", text, flags=re.M
    )
