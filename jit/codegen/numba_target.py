# SPDX-License-Identifier: Apache-2.0
"""The part of Numba that kernels are compiled with: its front end for numbers, ranges and tuples.

Numba's own CPU target knows NumPy, lists, strings and more, loads all of it before the first
function and looks through it for every operator.  A target of our own, by Numba's interface for
further targets, knows what kernels use and no more, and its pipeline has the passes that kernels
need.  Code is typed and lowered, never optimised or assembled here.  Imports Numba.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from numba.core import compiler, lowering, target_extension, typed_passes, types, untyped_passes
from numba.core.codegen import CodeLibrary, CPUCodeLibrary, JITCPUCodegen
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.cpu import CPUContext
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.ir_utils import build_definitions
from numba.core.registry import CPUDispatcher, CPUTarget
from numba.core.typing import Context as TypingContext

from . import addresses

_NAME = "numbaflow"


class _Target(target_extension.CPU):
    """The CPU, seen with fewer things to do on it."""


class Unoptimised(CPUCodeLibrary):
    """The LLVM module that Numba makes of a function, as it is before optimisation."""

    def __init__(self, codegen: Any, name: str) -> None:
        CodeLibrary.__init__(self, codegen, name)  # its subclass has LLVM parse an empty module
        self._linking_libraries: list[Unoptimised] = []
        self.modules: list[Any] = []

    def add_ir_module(self, ir_module: Any) -> None:
        self.modules.append(ir_module)

    def finalize(self) -> None:
        self._finalized = True

    def all_modules(self) -> dict[str, Any]:
        """By name, this module and those of the functions that it calls, directly or not."""
        found = {module.name: module for module in self.modules}
        for library in self._linking_libraries:
            found |= library.all_modules()
        return found


class _Codegen(JITCPUCodegen):
    _library_class = Unoptimised


class _Typing(TypingContext):
    """Types of operators and of mathematics on numbers."""

    def init(self) -> None:
        # What Numba found for an operator and types, which it would look for every time.
        self._signatures: dict[Any, Any] = {}

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        if kws or not isinstance(func, types.Function):
            return super().resolve_function_type(func, args, kws)
        key = func, tuple(args)
        if key not in self._signatures:
            self._signatures[key] = super().resolve_function_type(func, args, kws)
        return self._signatures[key]

    def load_additional_registries(self) -> None:
        from numba.core.typing import mathdecl

        self.install_registry(mathdecl.registry)
        self.install_registry(addresses.TYPING)


class _Lowering(CPUContext):
    """Code of operators and of mathematics on numbers."""

    def init(self) -> None:
        self.is32bit = False
        self._internal_codegen = _Codegen(_NAME)
        # Code of functions and operators for types, which Numba would look for every time.
        self._found: dict[Any, Any] = {}
        self._operators: dict[Any, Any] = {}

    def load_additional_registries(self) -> None:
        # The others are filled by being imported.
        from numba.cpython import builtins, mathimpl, numbers, rangeobj, tupleobj  # noqa: F401

        self.install_registry(mathimpl.registry)
        self.install_registry(addresses.LOWERING)

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        if not isinstance(fn, (types.Function, str)):
            return super().get_function(fn, sig, _firstcall)
        if (fn, sig) not in self._found:
            self._found[fn, sig] = super().get_function(fn, sig, _firstcall)
        return self._found[fn, sig]

    def operator_code(self, op: Any, signature: Any) -> Any:
        """The code of an operator for values of the given types."""
        if (op, signature) not in self._operators:
            typing = self.typing_context
            function = typing.resolve_value_type(op)
            known = function.get_call_type(typing, signature.args, {})
            self._operators[op, signature] = self.get_function(function, known)
        return self._operators[op, signature]

    def post_lowering(self, module: Any, library: Any) -> None:
        """Numba's own would link its memory management, which kernels do without."""

    @cache  # noqa: B019  there is one context, and asking LLVM takes a tenth of a millisecond
    def get_abi_sizeof(self, kind: Any) -> int:
        return int(super().get_abi_sizeof(kind))


class _Descriptor(CPUTarget):
    """Where Numba finds the two contexts of the target."""

    @property
    def typing_context(self) -> Any:
        return contexts()[0]

    @property
    def target_context(self) -> Any:
        return contexts()[1]


@cache
def contexts() -> tuple[Any, Any]:
    """The typing and the target context of kernels."""
    typing = _Typing()
    return typing, _Lowering(typing, _NAME)


class _Lower(lowering.Lower):
    """The walk over typed code, with fewer questions for every operator."""

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """As Numba's, which asks before whether there is code for a literal operand.

        There is for powers alone.
        """
        if op in (operator.pow, operator.ipow):
            return super().lower_binop(resty, expr, op)
        signature = self.fndesc.calltypes[expr]
        sides = [
            self.context.cast(self.builder, self.loadvar(side.name), self.typeof(side.name), kind)
            for side, kind in zip((expr.lhs, expr.rhs), signature.args)
        ]
        result = self.context.operator_code(op, signature)(self.builder, sides)
        return self.context.cast(self.builder, result, signature.return_type, resty)


@register_pass(mutates_CFG=True, analysis_only=False)
class _NativeLowering(typed_passes.NativeLowering):
    _name = "numbaflow_lowering"

    @property
    def lowering_class(self) -> Any:
        return _Lower


@register_pass(mutates_CFG=False, analysis_only=False)
class _StripPhis(typed_passes.PreLowerStripPhis):
    """Without finding out how long variables live, which matters to counted references alone."""

    _name = "numbaflow_strip_phis"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


class Pipeline(compiler.CompilerBase):
    """Numba's passes that kernels need: a third fewer milliseconds than all of them."""

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager(_NAME)
        for step in (
            untyped_passes.TranslateByteCode,
            untyped_passes.FixupArgs,
            *self.further_passes(),
            untyped_passes.ReconstructSSA,
            typed_passes.NopythonTypeInference,
            _StripPhis,
            typed_passes.AnnotateTypes,
            _NativeLowering,
            typed_passes.NoPythonBackend,
        ):
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]

    def further_passes(self) -> tuple[Any, ...]:
        """Passes before types are known."""
        return ()


class LibraryPipeline(Pipeline):
    """Hand-written texts have branches on constants, one side of which may not even have types."""

    def further_passes(self) -> tuple[Any, ...]:
        return untyped_passes.RewriteSemanticConstants, untyped_passes.DeadBranchPrune


def compiled(
    function: Callable[..., Any], name: str, arguments: Any, result: Any, pipeline: type[Pipeline]
) -> Any:
    """Numba's result for a function with the given types, lowered to LLVM code and no further."""
    typing, lowering = contexts()
    flags: Any = compiler.Flags()
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
    flags.error_model = "numpy"
    library = Unoptimised(lowering.codegen(), name)
    return compiler.compile_extra(
        typing, lowering, function, arguments, result, flags, {}, library, pipeline
    )


class _Compiler(_FunctionCompiler):
    """Types and lowers; the entry point is a token, as nobody calls a helper from Python."""

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        function = self.py_func
        result = compiled(function, function.__name__, args, return_type, LibraryPipeline)
        token = object()
        contexts()[1].insert_user_function(token, result.fndesc, [result.library])
        return result._replace(entry_point=token)


class Helper(CPUDispatcher):
    """A function that only other compiled functions can call; its code becomes part of theirs."""

    targetdescr = _Descriptor(_NAME)

    def __init__(self, function: Callable[..., Any], **_: Any) -> None:
        options = {"nopython": True}
        super().__init__(function, targetoptions=options)
        self._compiler = _Compiler(function, self.targetdescr, options, {}, compiler.Compiler)

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result


def helper(function: Callable[..., Any]) -> Helper:
    """Marks a function of a kernel's text that other functions of the text call."""
    return Helper(function)


target_extension.target_registry[_NAME] = _Target
target_extension.dispatcher_registry[_Target] = Helper
target_extension.jit_registry[_Target] = lambda **options: helper


@contextmanager
def front_end() -> Iterator[None]:
    """Where functions are compiled for the target."""
    with target_extension.target_override(_NAME):
        typing, lowering = contexts()
        typing.refresh()
        lowering.refresh()
        yield
