# SPDX-License-Identifier: Apache-2.0
"""Writes what checkers and editors read of `raw` and `tf`: `python docs/stubs.py`; tests hold it.

It also has docs/definitions.py write where names and ops are, by which the package finds them.

Ops reach each other's functions through `ops/public.py`, which looks names up when they are called.
`ops/raw_ops.pyi` states one function per op type, by the op table; `ops/public_names.pyi` says
where every public name of the top level is defined.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

ROOT = Path(__file__).parent.parent
RAW, NAMES = "ops/raw_ops.pyi", "ops/public_names.pyi"
_HEAD = '''# SPDX-License-Identifier: Apache-2.0
"""{}; written by docs/stubs.py."""

'''
_IMPORTS = """from collections.abc import Sequence
from typing import NamedTuple

from ..engine.graph.annotations import DTypeLike, ShapeLike, TensorLike
from ..engine.graph.operation import Operation
from ..engine.graph.tensor import Tensor
"""
# What an attribute of a kind takes; tensors and functions are whatever a proto says.
_KINDS = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "string": "bytes | str",
    "type": "DTypeLike",
    "shape": "ShapeLike",
    "tensor": "object",
    "func": "object",
}


def _of_attribute(attr: Any) -> str:
    inner = attr.type.removeprefix("list(").removesuffix(")")
    kind = _KINDS[inner]
    kind = f"Sequence[{kind}]" if inner != attr.type else kind
    return f"{kind} | None" if attr.has_default and kind not in ("object", "ShapeLike") else kind


def _is_list(arg: Any) -> bool:
    return bool(arg.number_attr or arg.type_list_attr)


def _result(name: str, definition: Any) -> tuple[str, str]:
    """What a call gives, and the class of several results."""
    kinds = ["list[Tensor]" if _is_list(arg) else "Tensor" for arg in definition.outputs]
    if not kinds:
        return "Operation", ""
    if len(kinds) == 1:
        return kinds[0], ""
    rows = []
    for i, (arg, kind) in enumerate(zip(definition.outputs, kinds)):
        # A named tuple has methods of these two names.
        note = "  # type: ignore[assignment]" if arg.name in ("count", "index") else ""
        rows.append(f"    {arg.name if arg.name.isidentifier() else f'_{i}'}: {kind}{note}\n")
    return f"_{name}", f"class _{name}(NamedTuple):\n{''.join(rows)}\n"


def _function(name: str, function: Any) -> tuple[str, str]:
    """The definition of a function that makes nodes of one op type, and the class of its result."""
    definition = function.definition
    inputs = {arg.name: arg for arg in definition.inputs}
    parameters = []
    for own, shown in zip(function._names[1], inspect.signature(function).parameters):
        if own in inputs:
            kind = "Sequence[TensorLike] | Tensor" if _is_list(inputs[own]) else "TensorLike"
            parameters.append(f"{shown}: {kind}")
        else:
            attr = definition.attr(own)
            parameters.append(
                f"{shown}: {_of_attribute(attr)}{' = ...' if attr.has_default else ''}"
            )
    result, kind = _result(definition.name, definition)
    lines = ",\n    ".join([*parameters, "name: str | None = ..."])
    return f"def {name}(\n    {lines},\n) -> {result}: ...\n", kind


def raw_ops() -> str:
    """The stub of `raw`."""
    from numbaflow.engine.graph import registry
    from numbaflow.ops.public import raw

    parts = [_HEAD.format("One function per op type, as `raw` makes them"), _IMPORTS, "\n"]
    for name in sorted(definition.name for definition in registry.definitions()):
        text, kind = _function(name, getattr(raw, name))
        parts += [kind, text]
    return "".join(parts)


def public_names() -> str:
    """The stub of `tf`."""
    from numbaflow.engine import api

    where = _places()
    imports, rows = [], []
    for name, thing in sorted(api.NAMES.items()):
        if "." in name or not _is_own(thing):
            continue
        module, own = _raw_place(thing) or where.get(id(thing)) or ("", "")
        if own == name:
            imports.append(f"from {module} import {name} as {name}\n")
        elif own:
            # Checkers take a name for public where it keeps it.
            imports.append(f"from {module} import {own} as _{name}\n")
            rows.append(f"{name} = _{name}\n")
        elif isinstance(thing, FunctionType):
            rows.append(f"def {name}{_untyped(thing)} -> Any: ...\n")
        else:
            rows.append(f"{name}: {type(thing).__name__}\n")
    head = _HEAD.format("The public names of the top level, as `tf` finds them")
    return "".join([head, "from typing import Any\n\n", *imports, "\n", *rows])


def _raw_place(thing: Any) -> tuple[str, str] | None:
    """Where the stub of `raw` states the same function, if one of its ops is meant."""
    from numbaflow.engine.graph.build import OpFunction
    from numbaflow.ops.public import raw

    if not isinstance(thing, OpFunction):
        return None
    twin = getattr(raw, thing.definition.name)
    is_alike = inspect.signature(twin) == inspect.signature(thing)
    return (".raw_ops", thing.definition.name) if is_alike else None


def _is_own(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "numbaflow")).startswith("numbaflow")


def _places() -> dict[int, tuple[str, str]]:
    """Object -> its module, as `ops` imports it, and its name there, at home if it has one."""
    found: dict[int, tuple[str, str]] = {}
    for path, module in sorted(sys.modules.items()):
        package, _, below = path.partition(".")
        if package != "numbaflow" or below.startswith(("cli", "alias", "jit")) or not below:
            continue
        if hasattr(module, "__path__") or not hasattr(module, "__file__"):
            continue
        below = below.removeprefix("ops.") if below.startswith("ops.") else "." + below
        for name, thing in vars(module).items():
            at_home = getattr(thing, "__module__", None) == path
            if at_home or (id(thing) not in found and not isinstance(thing, (bool, int, str))):
                found[id(thing)] = "." + below, name
    return found


def _untyped(function: FunctionType) -> str:
    """The parameters of a function that a decorator made."""
    rows = []
    for one in inspect.signature(function).parameters.values():
        default = "" if one.default is one.empty else " = ..."
        star = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        kind = "str | None" if one.name == "name" else "Any"
        rows.append(f"{star}{one.name}: {kind}{default}")
    return f"({', '.join(rows)})"


STUBS = {RAW: raw_ops, NAMES: public_names}


def fill_tables() -> None:
    """Imports everything that publishes names or defines ops."""
    import numbaflow  # noqa: F401
    from numbaflow.engine.graph import namespaces

    namespaces.load_all()


if __name__ == "__main__":
    subprocess.run([sys.executable, str(ROOT / "docs" / "definitions.py")], check=True)
    fill_tables()
    for path, text in STUBS.items():
        (ROOT / path).write_text(text())
