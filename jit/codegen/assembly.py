# SPDX-License-Identifier: Apache-2.0
"""LLVM's own language: what walks through plans is written in it, and machine code is shown in it.

Texts are compiled once: with the library (`packed`), or else by the first process of a machine that
needs one.  Imports the compiler, and llvmlite where there is something to compile.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...engine import settings
from .. import target
from ..cache import shipped
from ..cache.kernel_text import split_header
from ..cache.machine_files import WALKERS
from ..cache.store import key_of_text
from . import compile as compiler


def readable(name: str, source: str, labels: Mapping[str, str]) -> str:
    """The machine code of a stored source in readable form, for the target of its labels."""
    from . import llvm

    text = f"{labels['cpu']}:{labels['features']}"
    with settings.override(target=text):
        is_generated = bool(split_header(source)[0])
        aim = target.current()
        return llvm.assembly(llvm.lowered(source, f"kernel_{name}", aim, not is_generated), aim)


def load(text: str, symbol: str) -> int:
    """Links a text into this process; the address of the function that it defines."""
    content = key_of_text(text)
    found = compiler.brought(content)
    if found is not None and not compiler.problem_of(found.code, symbol):
        return compiler.load_object(found.code, symbol)
    labels = {name: value for name, value in compiler.labels_of(content) if name != "emitter"}
    key = "".join(f"{name}: {value}\n" for name, value in labels.items())
    code = WALKERS.load(key)
    problem = "" if code is None else compiler.problem_of(code, symbol)
    if problem:
        WALKERS.reject(key, problem)
    if code is None or problem:
        code = _compiled(text)
        WALKERS.save({key: code})
    return compiler.load_object(code, symbol)


def packed(texts: Mapping[str, str]) -> dict[str, shipped.Object]:
    """Texts by the functions that they define, as packages carry them."""
    return {
        key_of_text(text): shipped.Object(symbol, symbol, _compiled(text))
        for symbol, text in texts.items()
    }


def _compiled(text: str) -> bytes:
    import llvmlite.binding as binding

    # In a quarter of the time: what calls kernels is 5 ns a call slower by it.
    machine = target.machine(target.current(), opt=0)
    module = binding.parse_assembly(text)
    module.triple = target.current().triple
    code: bytes = machine.emit_object(module)
    return code
