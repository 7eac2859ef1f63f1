# SPDX-License-Identifier: Apache-2.0
"""Generated source to object code: Numba types and lowers it, LLVM optimises it as told here.

Numba's own code generation is bypassed after lowering: a library object captures the LLVM module
before any pass, loops get the fact that their accesses are independent, and one pipeline for the
wanted CPU and vector width makes the object file.  Imports Numba.
"""

from __future__ import annotations

import re
from typing import Any

import llvmlite.binding as binding
from llvmlite import ir
from numba import types
from numba.core import compiler, typed_passes, untyped_passes
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.registry import cpu_target

from . import intrinsics, target
from .lowering import GROUP

# The further names that a hand-written text uses; None marks a generated text, all of whose loops
# are free of dependences between iterations through memory.
Names = dict[str, Any] | None
_LOOP = "numbaflow.loop"
_SIGNATURE = types.void(types.CPointer(types.intp), *[types.intp] * 5)


class Pipeline(compiler.CompilerBase):
    """Numba's passes that generated sources need: a third fewer milliseconds than all of them."""

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("numbaflow")
        for step in (
            untyped_passes.TranslateByteCode,
            untyped_passes.FixupArgs,
            untyped_passes.IRProcessing,
            untyped_passes.ReconstructSSA,
            typed_passes.NopythonTypeInference,
            typed_passes.PreLowerStripPhis,
            typed_passes.AnnotateTypes,
            typed_passes.IRLegalization,
            typed_passes.NativeLowering,
            typed_passes.NoPythonBackend,
        ):
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]


class Capture(CPUCodeLibrary):
    """Keeps the LLVM modules that Numba makes, as they are before optimisation."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.captured: list[Any] = []

    def add_ir_module(self, ir_module: Any) -> None:
        self.captured.append(ir_module)


def object_code(source: str, symbol: str, aim: target.Target, names: Names = None) -> bytes:
    """Compiles the function `kernel` of a source text to an object file that defines `symbol`."""
    module = optimised(source, symbol, aim, names)
    return target.machine(aim).emit_object(module)


def assembly(source: str, symbol: str, aim: target.Target, names: Names = None) -> str:
    """The machine code of a source text in readable form."""
    module = optimised(source, symbol, aim, names)
    return target.machine(aim).emit_assembly(module)


@global_compiler_lock
def optimised(source: str, symbol: str, aim: target.Target, names: Names = None) -> Any:
    """The LLVM module of a source text after all passes."""
    module_names = {**intrinsics.vocabulary(), **(names or {}), "__name__": f"numbaflow_{symbol}"}
    exec(compile(source, f"<{symbol}>", "exec"), module_names)
    library, function_name = _lower(module_names["kernel"], symbol, names is None)
    (module,) = library.captured
    text = _annotate(module, function_name, symbol, aim, names is None)
    machine = target.machine(aim)
    optimised_module = binding.parse_assembly(text)
    optimised_module.data_layout = str(machine.target_data)
    optimised_module.triple = aim.triple
    optimised_module.verify()
    for linked in dict.fromkeys(library._linking_libraries):
        optimised_module.link_in(linked._get_module_for_linking(), preserve=True)
    _hide_all_but(symbol, optimised_module)
    _run_passes(optimised_module, machine)
    return optimised_module


def _lower(function: Any, symbol: str, is_generated: bool) -> tuple[Capture, str]:
    typing, context = cpu_target.typing_context, cpu_target.target_context
    typing.refresh()
    context.refresh()
    flags: Any = compiler.Flags()
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.no_compile = True
    flags.error_model = "numpy"
    library = Capture(context.codegen(), symbol)
    result = compiler.compile_extra(
        typing,
        context,
        function,
        _SIGNATURE.args,
        types.void,
        flags,
        {},
        library=library,
        pipeline_class=Pipeline if is_generated else compiler.Compiler,
    )
    return library, result.fndesc.mangled_name


def _hide_all_but(symbol: str, module: Any) -> None:
    """Makes helpers and Numba's environment variables local, so that unused ones go away."""
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != symbol:
            value.linkage = "internal"


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
