# SPDX-License-Identifier: Apache-2.0
"""Texts of kernels to LLVM code by Numba: the front end that knows all of their Python.

jit/codegen/reader.py and jit/codegen/library_reader.py take its place wherever they can, and are
held against it in tests.  Numba types and lowers; its own code generation after that is
bypassed.  Imports Numba.
"""

from __future__ import annotations

import re
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError

from . import intrinsics, llvm, numba_target
from .addresses import Arguments
from .llvm_scalar import LOOP, NODE

_LANES = re.compile(r"in lanes\((.*), \d+, \d+\):")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# More than any function has metadata nodes.
_MOST_NODES = 1_000_000
_REST = [types.intp] * 5  # what a kernel gets besides its argument block


def module(
    source: str, symbol: str, is_generated: bool = False, names: dict[str, Any] | None = None
) -> str:
    """The LLVM text of a source, which may use further names, as Numba makes it.

    The accesses of all loops of a generated text are marked as independent.
    """
    # (In what order Numba's loops add up totals is not stated.)
    source = _LANES.sub(r"in range(\1):", source) if is_generated else source
    further = {} if is_generated else {**intrinsics.library(), **(names or {})}
    module_names = {**intrinsics.generated(), **further, "__name__": f"numbaflow_{symbol}"}
    exec(compile(source, f"<{symbol}>", "exec"), module_names)
    with numba_target.front_end():
        pipeline = numba_target.Pipeline if is_generated else numba_target.LibraryPipeline
        function = module_names["kernel"]
        arguments = (Arguments(module_names.get("BUFFERS", ())), *_REST)
        try:
            result = numba_target.compiled(function, symbol, arguments, types.void, pipeline)
        except TypingError as error:
            raise llvm.Untyped(f"{_mismatch(error, source)}, in {symbol}:\n{source}") from error
        module = _one_module(result.library)
        function = module.globals[result.fndesc.mangled_name]
        function.linkage = "internal"
        function.attributes.add("alwaysinline")
        _entry(module, function, symbol)
        if is_generated:
            _mark_loops(module, function)
        return str(module)


def _mismatch(error: TypingError, source: str) -> str:
    found = re.search(r"Mismatch: (.*)", _COLOUR.sub("", str(error)))
    line = getattr(getattr(error, "loc", None), "line", 0)
    return (found[1] if found else str(error)) + llvm.where(source, line)


def _one_module(library: Any) -> Any:
    """The LLVM module of a function, joined by those of all that it calls."""
    main, *others = library.all_modules().values()
    for number, other in enumerate(others, 1):
        # Numbers of nodes are a module's own; joined, two nodes would have one.
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


def _entry(module: Any, function: Any, symbol: str) -> None:
    """The exported function: calls Numba's, whose return slots for errors nobody reads."""
    word = ir.IntType(64)
    kind = ir.FunctionType(ir.VoidType(), [word.as_pointer(), *[word] * 5])
    entry = ir.Function(module, kind, symbol)
    builder = ir.IRBuilder(entry.append_basic_block("entry"))
    # Numba's convention: the status and the exception go out through pointers. Kernels raise
    # nothing.
    slots = [builder.alloca(kind.pointee) for kind in function.function_type.args[:2]]
    builder.call(function, [*slots, *entry.args])
    builder.ret_void()


def _mark_loops(module: Any, function: Any) -> None:
    """Puts a loop node on every back edge; its text is completed in llvm.py."""
    # Depth first, on a stack of our own: a branch to a block that is still open goes back, and so
    # ends a loop. Python's stack would not hold the blocks of a long kernel.
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
                block.terminator.set_metadata(NODE, module.add_metadata([f"{LOOP}.{count}"]))
                count += 1
            else:
                stack.append((successor, False))


def _successors(block: Any) -> list[Any]:
    return [o for o in getattr(block.terminator, "operands", ()) if isinstance(o, ir.Block)]
