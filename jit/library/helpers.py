# SPDX-License-Identifier: Apache-2.0
"""Functions that the text of a kernel defines for itself.

Numba would optimise and assemble every function that another one calls; a helper is typed and
lowered only, and its code goes unoptimised into the kernel's module, which is optimised as a whole.
Imports Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as binding
from numba.core import compiler
from numba.core.codegen import CPUCodeLibrary
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher, cpu_target


class _Unassembled(CPUCodeLibrary):
    """Keeps the LLVM module of a function as it is before optimisation."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._captured: list[Any] = []

    def add_ir_module(self, ir_module: Any) -> None:
        self._captured.append(ir_module)

    def finalize(self) -> None:
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        (first,) = self._captured
        module = binding.parse_assembly(str(first))
        for value in (*module.functions, *module.global_variables):
            if not value.is_declaration:
                value.linkage = "linkonce_odr"  # two callers may both bring it along
        for linked in dict.fromkeys(self._linking_libraries):
            module.link_in(linked._get_module_for_linking(), preserve=True)
        return module


class _Compiler(_FunctionCompiler):
    """Types and lowers; the entry point is a token, as nobody calls a helper from Python."""

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        typing, context = cpu_target.typing_context, cpu_target.target_context
        flags = compiler.Flags()
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        flags.error_model = "numpy"
        library = _Unassembled(context.codegen(), self.py_func.__name__)
        result = compiler.compile_extra(
            typing, context, self.py_func, args, return_type, flags, {}, library=library
        )
        token = object()
        context.insert_user_function(token, result.fndesc, [library])
        return result._replace(entry_point=token)


class _Helper(CPUDispatcher):
    """A function that only other compiled functions can call."""

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result


def helper(function: Callable[..., Any]) -> Any:
    """Marks a function of a kernel's text that other functions of the text call."""
    dispatcher = _Helper(function, targetoptions={"nopython": True})
    dispatcher._compiler = _Compiler(
        function, dispatcher.targetdescr, dispatcher.targetoptions, {}, compiler.Compiler
    )
    return dispatcher
