# SPDX-License-Identifier: Apache-2.0
"""This machine's processor as LLVM names it, asked once and kept.

To load LLVM takes longer than a small program's plans do from the cache, and nothing else in a
process that compiles nothing needs it.  What it said is kept under what the system says of the
processor (`/proc/cpuinfo`), in the cache, and beside the library's machine code where that was made
on this machine (`make warm`); where a system says nothing, LLVM is asked each time.  Imports
llvmlite where it is asked.
"""

from __future__ import annotations

import json
import platform
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.record_class import record

if TYPE_CHECKING:
    from .cache.checked_files import Folder

# The lines that tell what a processor can do, of those that Linux has of each: others tell which of
# them it is, and how fast it is just now.
_TELLING = frozenset({"vendor_id", "cpu family", "model", "model name", "stepping", "flags"})
_CPUINFO = "/proc/cpuinfo"
_MOST_BYTES = 1 << 14  # the lines of the first processor, with room
_OBJECTS, _NAME = Path(__file__).parent / "library" / "objects", "host.json"


@record(frozen=True, slots=True)
class Host:
    """LLVM's triple of this process, and its name and features of the processor."""

    triple: str
    cpu: str
    features: str


@cache
def host() -> Host:
    """What this process runs on."""
    text = _description()
    kept = _kept(text) if text else None
    if kept is not None:
        return kept
    found = _asked()
    if text:
        _folder().save({text: json.dumps([found.triple, found.cpu, found.features]).encode()})
    return found


def _asked() -> Host:
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return Host(llvm.get_process_triple(), llvm.get_host_cpu_name(), features)


def _folder() -> Folder:
    # (Which imports this module: kernels are kept by what they are compiled for.)
    from .cache.machine_files import HOSTS

    return HOSTS


def write(folder: Path) -> None:
    """Writes what LLVM says beside machine code that is made for this processor."""
    found, text = host(), _description()
    if text:
        content = {text: [found.triple, found.cpu, found.features]}
        (folder / _NAME).write_text(json.dumps(content, indent=1), encoding="utf-8")


def _kept(text: str) -> Host | None:
    try:
        beside = json.loads((_OBJECTS / _NAME).read_text(encoding="utf-8"))
        return Host(*map(str, beside[text]))
    except (OSError, ValueError, LookupError, TypeError):
        pass  # it is not there, or of another machine
    content = _folder().load(text)
    if content is None:
        return None
    try:
        return Host(*map(str, json.loads(content)))
    except (ValueError, TypeError) as error:
        _folder().reject(text, str(error))
        return None


def _description() -> str:
    """What tells processors, systems and versions apart; nothing where a system does not say."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return ""
    try:
        with open(_CPUINFO, encoding="utf-8", errors="replace") as file:
            first = file.read(_MOST_BYTES).partition("\n\n")[0]
    except OSError:
        return ""
    pairs = [line.partition(":") for line in first.splitlines()]
    told = [(name.strip(), value.strip()) for name, _, value in pairs]
    told = [(name, value) for name, value in told if name in _TELLING]
    if {name for name, _ in told} != _TELLING:
        return ""
    from .kernel.module_source import installed_version

    lines = [("llvmlite", installed_version("llvmlite")), *told]
    return "".join(f"{name}: {' '.join(value.split())}\n" for name, value in lines)
