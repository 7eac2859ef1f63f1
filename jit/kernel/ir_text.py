# SPDX-License-Identifier: Apache-2.0
"""Kernel IR as a text: what kernels are told apart by, and kept as where they are not compiled yet.

The text is a list of JSON: a row for each node, in order of use, with the name of its class and the
values of its fields.  A node is named as "%3" by the number of its row, a literal stands where it
is used as {"float32": 1.0}.  Imports the IR.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import Any

from . import ir

_CLASSES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(ir.AxisIndex, ir.Param, ir.Index, ir.Load, ir.Apply, ir.Reduced),
        *(ir.Buffer, ir.Axis, ir.Reduction, ir.Store, ir.Kernel),
    )
}
_KINDS = frozenset(_CLASSES.values())


def digest(kernel: ir.Kernel) -> str:
    """A content hash of a kernel, stable between processes and versions of Python (hex, 32)."""
    return hashlib.blake2b(text_of(kernel).encode(), digest_size=16).hexdigest()


# (A plan asks for the texts of its new kernels twice: to know them, and to be stored.)
@lru_cache(maxsize=256)
def text_of(kernel: ir.Kernel) -> str:
    """A kernel as a text that grows with the graph of its nodes, not with the paths in it."""
    return json.dumps(_rows(kernel), separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    return value.item()  # of NumPy's numbers


def _rows(root: ir.Kernel) -> list[list[Any]]:
    names: dict[Any, str] = {}
    rows: list[list[Any]] = []
    # No recursion: a chain of instructions may be longer than Python's stack is deep.
    stack: list[Any] = [root]
    while stack:
        node = stack[-1]
        if node in names:
            stack.pop()
            continue
        kind = type(node)
        values = [getattr(node, name) for name in kind.__match_args__]
        missing = [child for child in _children(values) if child not in names]
        if missing:
            missing.reverse()
            stack += missing
            continue
        stack.pop()
        names[node] = f"%{len(rows)}"
        rows.append([kind.__name__, *[_told(value, names) for value in values]])
    return rows


def _children(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        kind = type(value)
        if kind is tuple:
            found += [item for item in value if type(item) in _KINDS]
        elif kind in _KINDS:
            found.append(value)
    return found


def _told(value: Any, names: dict[Any, str]) -> Any:
    kind = type(value)
    if kind in _KINDS:
        return names[value]
    if kind is tuple:
        return [_told(item, names) for item in value]
    return {value.dtype: value.value} if kind is ir.Const else value


def parsed(text: str) -> ir.Kernel:
    """The kernel of a text; ValueError, or what JSON and Python raise, where it is none."""
    nodes: list[Any] = []

    def read(value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return nodes[int(value[1:])] if value[:1] == "%" else value
        if kind is list:
            return tuple([read(item) for item in value])
        if kind is dict:
            [(dtype, number)] = value.items()
            return ir.Const(number, dtype)
        return value

    for name, *values in json.loads(text):
        nodes.append(_CLASSES[name](*map(read, values)))
    if not nodes or not isinstance(nodes[-1], ir.Kernel):
        raise ValueError("it is no kernel")
    return nodes[-1]
