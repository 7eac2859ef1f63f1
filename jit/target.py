# SPDX-License-Identifier: Apache-2.0
"""The CPU that kernels are compiled for: its name, features and vector width.

Imports llvmlite on first use.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..engine import settings
from ..engine.record_class import record
from .host import host


@record(frozen=True, slots=True)
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
    def machine(self) -> str:
        """The kind of processor: x86_64, aarch64 …"""
        return architecture(self.triple)

    @property
    def system(self) -> str:
        """The system that object files are for: linux, darwin or windows; else what LLVM says."""
        names = {"linux": "linux", "apple": "darwin", "darwin": "darwin", "windows": "windows"}
        return next((names[word] for word in names if word in self.triple), self.triple)

    @property
    def enabled(self) -> frozenset[str]:
        """The features that it is known to have, as +name."""
        return _enabled(f"{_implied(self.cpu)},{self.features}")

    @property
    def has_half(self) -> bool:
        """Whether instructions convert 16-bit floats; elsewhere LLVM would call a library."""
        return "+f16c" in self.enabled or self.machine == "aarch64"

    @property
    def has_checksums(self) -> bool:
        """Whether an instruction computes CRC-32C (the word crc_of_word)."""
        return self.machine == "x86_64" and "+sse4.2" in self.enabled

    def lanes(self, itemsize: int) -> int:
        """How many elements of `itemsize` bytes one vector holds."""
        return self.vector_bits // (8 * itemsize)


# Processors by what all of a kind have, the best first: what code is shipped for.  Each is a target
# of its name; those of another kind than this machine's are for the system that stands here.
LEVELS = {
    "x86-64-v4": "x86_64-unknown-linux-gnu/x86-64-v4",
    "x86-64-v3": "x86_64-unknown-linux-gnu/x86-64-v3",
    "aarch64": "aarch64-unknown-linux-gnu/generic:+neon",
}
_V3 = (
    "+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+sahf,"
    "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe"
)
_V4 = f"{_V3},+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl"


def current() -> Target:
    """The target of the settings: this machine's CPU unless NUMBAFLOW_TARGET names another."""
    return _resolve(settings.get("target"))


def native() -> Target:
    """This machine's CPU."""
    return _resolve("")


@cache
def levels(aim: Target) -> tuple[tuple[str, Target], ...]:
    """The levels, by name, whose code runs wherever a target's own does, and computes the same."""
    found = ((name, _resolve(name)) for name in LEVELS)
    return tuple(
        (name, level)
        for name, level in found
        if (level.machine, level.system) == (aim.machine, aim.system)
        # As wide, so that loops are cut into the same vectors and sums into the same parts.
        and level.vector_bits == aim.vector_bits
        and level.enabled <= aim.enabled
    )


@cache
def _resolve(text: str) -> Target:
    here = host()
    triple = here.triple
    if not text:
        return Target(triple, here.cpu, here.features, _vector_bits(here.features))
    other, _, name = LEVELS.get(text, text).rpartition("/")
    if architecture(other) == architecture(triple):
        other = ""
    cpu, _, features = name.partition(":")
    bits = _vector_bits(f"{_implied(cpu)},{features}")
    return Target(other or triple, cpu, features, bits)


@cache
def lacking(target: Target) -> tuple[str, ...]:
    """What a target needs that this machine has not, as far as the names say: +avx512f …"""
    host = native()
    if target.machine != host.machine:
        return (f"a processor of kind {target.machine}",)
    return tuple(sorted(target.enabled - host.enabled))


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


def architecture(triple: str) -> str:
    """The kind of processor of a triple, by LLVM's name for it."""
    name = triple.partition("-")[0]
    return {"arm64": "aarch64", "amd64": "x86_64"}.get(name, name)


def _implied(cpu: str) -> str:
    """The features that matter here of CPUs that are named without any."""
    if cpu in ("x86-64-v3", "x86-64-v4"):
        return _V4 if cpu == "x86-64-v4" else _V3
    if cpu in ("znver4", "znver5") or "avx512" in cpu:
        return "+avx512f,+f16c"
    return "+avx2,+f16c" if cpu == "haswell" or cpu.startswith("znver") else ""


def _enabled(features: str) -> frozenset[str]:
    """The features that a list leaves on: a machine may be a CPU of a name less some of its own."""
    words = features.split(",")
    off = {f"+{word[1:]}" for word in words if word.startswith("-")}
    return frozenset(word for word in words if word.startswith("+")) - off


def _vector_bits(features: str) -> int:
    enabled = _enabled(features)
    if "+avx512f" in enabled:
        return 512
    if "+avx2" in enabled or "+avx" in enabled:
        return 256
    return 128


def machine(target: Target, opt: int = 3) -> Any:
    """A new LLVM target machine, which threads must not share."""
    import llvmlite.binding as llvm

    initialize()
    if target.machine != native().machine:
        _initialize_others()
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


@cache
def _initialize_others() -> None:
    """Makes LLVM's code generators for other kinds of processors available, if it has them."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
