# SPDX-License-Identifier: Apache-2.0
"""LLVM's passes and emission, in which several threads may be at once, and what LLVM is told.

llvmlite lets one thread at a time into LLVM, whatever it does there.  But passes and emission are
four fifths of what a kernel takes to be compiled, and see a module, its context and a machine
alone; LLVM asks no more than that each thread has its own.  So these calls do without llvmlite's
lock, and ctypes lets go of Python's.  Imports llvmlite alone.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import string_at
from typing import Any

import llvmlite.binding as binding

_LOCK = threading.Lock()
_told: Counter[str] = Counter()
_OTHER = {"true": "false", "false": "true"}


@contextmanager
def told(options: Sequence[str]) -> Iterator[None]:
    """Has LLVM's options (-name=true) set while it is open, by whichever threads.

    Options are the process's, so whoever else compiles with this LLVM gets them back.
    """
    with _LOCK:
        for option in options:
            _told[option] += 1
            if _told[option] == 1:
                binding.set_option("numbaflow", option)
    try:
        yield
    finally:
        with _LOCK:
            for option in options:
                _told[option] -= 1
                if not _told[option]:
                    name, value = option.split("=")
                    binding.set_option("numbaflow", f"{name}={_OTHER[value]}")


def run_passes(passes: Any, code: Any, builder: Any) -> None:
    """What `passes.run(code, builder)` does; none of them may be another thread's, too."""
    is_module = isinstance(passes, binding.newpassmanagers.ModulePassManager)
    _unlocked(f"LLVMPY_RunNew{'Module' if is_module else 'Function'}PassManager")(
        passes, code, builder
    )


def emitted(machine: Any, module: Any, is_object: bool) -> bytes:
    """An object file, or else assembly, of a module; neither it nor the machine may be another
    thread's, too."""
    with binding.ffi.OutputString() as problem:
        emit = _unlocked("LLVMPY_TargetMachineEmitToMemory")
        buffer = emit(machine, module, int(is_object), problem)
        if not buffer:
            raise RuntimeError(str(problem))
    lib = binding.ffi.lib
    try:
        return string_at(lib.LLVMPY_GetBufferStart(buffer), lib.LLVMPY_GetBufferSize(buffer))
    finally:
        lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _unlocked(name: str) -> Callable[..., Any]:
    """A function of LLVM without llvmlite's lock around it; with it, where that has no name."""
    function: Any = getattr(binding.ffi.lib, name)
    return getattr(function, "_cfn", function)
