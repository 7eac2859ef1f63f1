# SPDX-License-Identifier: Apache-2.0
"""The CPU that kernels are compiled for: its name, features and vector width.

Imports llvmlite on first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from . import settings


@dataclass(frozen=True, slots=True)
class Target:
    """A CPU as LLVM names it; `vector_bits` is the width that loops are vectorised to."""

    triple: str
    cpu: str
    features: str
    vector_bits: int

    @property
    def text(self) -> str:
        """The target as NUMBAFLOW_TARGET takes it."""
        return f"{self.cpu}:{self.features}"

    @property
    def has_half(self) -> bool:
        """Whether instructions convert 16-bit floats; elsewhere LLVM would call a library."""
        enabled = f"{_implied(self.cpu)},{self.features}".split(",")
        return "+f16c" in enabled or self.triple.startswith(("aarch64", "arm64"))

    def lanes(self, itemsize: int) -> int:
        """How many elements of `itemsize` bytes one vector holds."""
        return self.vector_bits // (8 * itemsize)


def current() -> Target:
    """The target of the settings: this machine's CPU unless NUMBAFLOW_TARGET names another."""
    return _resolve(settings.get("target"))


@cache
def _resolve(text: str) -> Target:
    import llvmlite.binding as llvm

    triple = llvm.get_process_triple()
    if text:
        cpu, _, features = text.partition(":")
        bits = _vector_bits(triple, f"{_implied(cpu)},{features}")
        return Target(triple, cpu, features, bits)
    features = llvm.get_host_cpu_features().flatten()
    return Target(triple, llvm.get_host_cpu_name(), features, _vector_bits(triple, features))


@cache
def lacking(target: Target) -> tuple[str, ...]:
    """What a target needs that this machine has not, as far as the names say: +avx512f …"""
    host = _resolve("")
    has = set(f"{host.features},{_implied(host.cpu)}".split(","))
    wanted = f"{target.features},{_implied(target.cpu)}".split(",")
    return tuple(sorted({word for word in wanted if word.startswith("+")} - has))


def require_native() -> None:
    """Raises FailedPreconditionError where this machine cannot run what is compiled for the
    target of the settings; it would die of an illegal instruction."""
    aim = current()
    missing = lacking(aim)
    if missing:
        from ..engine import errors

        raise errors.failed_precondition(
            f"Code for {aim.cpu} needs {' '.join(missing)}, which this processor has not. Unset "
            "NUMBAFLOW_TARGET to run; `numbaflow compile` makes code for other processors."
        )


def complaints(target: Target) -> str:
    """What LLVM says to the names of a target; nothing if it knows them all.

    LLVM writes to the process's standard error, which is another file meanwhile.
    """
    import os
    import tempfile

    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            machine(target)
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return "; ".join(dict.fromkeys(file.read().decode(errors="replace").splitlines()))


def _implied(cpu: str) -> str:
    """The features that matter here of CPUs that are named without any."""
    if cpu in ("x86-64-v4", "znver4", "znver5") or "avx512" in cpu:
        return "+avx512f,+f16c"
    return "+avx2,+f16c" if cpu in ("x86-64-v3", "haswell") or cpu.startswith("znver") else ""


def _vector_bits(triple: str, features: str) -> int:
    enabled = set(features.split(","))
    if "+avx512f" in enabled:
        return 512
    if "+avx2" in enabled or "+avx" in enabled:
        return 256
    return 128


def machine(target: Target, opt: int = 3) -> Any:
    """An LLVM target machine; callers hold the compile lock, as LLVM objects are not shared."""
    import llvmlite.binding as llvm

    initialize()
    # Sections are loaded far apart: x86 needs absolute 64-bit addresses for that.
    reloc = "static" if target.triple.startswith(("x86", "i686")) else "default"
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu,
        features=target.features,
        opt=opt,
        reloc=reloc,
        codemodel="jitdefault",
        jit=True,
    )


@cache
def initialize() -> None:
    """Makes LLVM's native code generator available, once per process."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
