# SPDX-License-Identifier: Apache-2.0
"""Kernels that are compiled and evaluated both, wherever they run: the bits must be the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen.evaluate import Evaluation, is_independent
from numbaflow.jit.codegen.scalar_functions import Functions, wanted
from numbaflow.jit.codegen.signature import SIGNATURE
from numbaflow.jit.kernel.ir import Kernel
from numbaflow.jit.runtime import interpreted

# What differed, by kernel; a test looks when it is over.
DIFFERENT: list[str] = []
COUNTS = {"runs": 0, "kernels": 0}
_MADE: dict[Kernel, Any] = {}


class Checked:
    """A kernel whose machine code is held against what evaluating it gives, at every tile."""

    def __init__(self, kernel: Kernel, origin: Any) -> None:
        self.kernel = kernel
        made = compiler.compile_kernel(kernel, origin)
        self.made, self._machine_code = made, SIGNATURE(made.address)
        self._functions = Functions([*dict.fromkeys(wanted(kernel))])
        self._entry = SIGNATURE(self._run)
        COUNTS["kernels"] += 1

    @property
    def compiled(self) -> compiler.Compiled:
        import ctypes
        from dataclasses import replace

        return replace(self.made, address=ctypes.cast(self._entry, ctypes.c_void_p).value)

    def _run(self, args: int, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
        written: list[Any] = []

        def write(memory: Any, where: Any, value: Any) -> None:
            written.append((memory, where, np.array(value)))

        try:
            one = Evaluation(self.kernel, args, self._functions, write)
            if not one.is_in_many_pieces:
                one.run(r0, r1, c0, c1)
            self._machine_code(args, r0, r1, c0, c1, worker)
            COUNTS["runs"] += 1
            self._compare(written)
        except BaseException as error:
            DIFFERENT.append(f"{type(error).__name__}: {error}")
            raise

    def _compare(self, written: list[Any]) -> None:
        for memory, where, value in written:
            found, value = np.array(memory[where]), np.broadcast_to(value, memory[where].shape)
            if found.dtype.kind == "V" or found.dtype.name == "bfloat16":
                found, value = found.astype(np.float32), value.astype(np.float32)
            same = found == value
            if found.dtype.kind == "f":
                same |= np.isnan(found) & np.isnan(value)
            if not same.all():
                from numbaflow.jit.codegen.emit import emit

                bad = np.argwhere(~same)[:3].tolist()
                text = (
                    f"{found[~same][:3]} {np.asarray(value)[~same][:3]} at {bad} of {found.shape}"
                )
                DIFFERENT.append(f"{text}\n{emit(self.kernel)}")
                return


def _first(kernels: Any, errors: Any, is_ahead: bool) -> list[Any]:
    found = []
    for kernel, origin in kernels:
        if isinstance(kernel, Kernel) and kernel not in _MADE and is_independent(kernel):
            _MADE[kernel] = Checked(kernel, origin)
        found.append(_MADE.get(kernel))
    return found


def install() -> None:
    """From here on all kernels of this process are checked."""
    from numbaflow.jit.runtime import plan

    def compiled(steps: Any, traced: Any, errors: Any) -> Any:
        kernels, parts, _ = before(steps, traced, [] if errors is None else errors)
        return kernels, parts, []

    before, plan._compile_kernels = plan._compile_kernels, compiled
    plan.first_kernels = _first
    interpreted.first_kernels = _first
