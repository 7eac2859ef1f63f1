# SPDX-License-Identifier: Apache-2.0
"""The sources of the package, read and parsed once for all tests that look at them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
# Statements without others inside, which most are.
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return, ast.Raise, ast.ImportFrom, ast.Import)
FOLDERS = ("alias", "cli", "engine", "io", "jit", "ops", "train")


@cache
def package_files() -> tuple[Path, ...]:
    """All sources of the package, without generated protos."""
    files = sorted(ROOT.glob("*.py"))
    for folder in FOLDERS:
        files += sorted((ROOT / folder).rglob("*.py"))
    return tuple(file for file in files if not file.name.endswith("_pb2.py"))


def name_of(file: Path) -> str:
    """The path of a file in the repository."""
    return str(file.relative_to(ROOT))


@cache
def text(file: Path) -> str:
    """What is written in a file."""
    return file.read_text(encoding="utf-8")


@cache
def tree(file: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(text(file))


@cache
def statements(file: Path) -> tuple[ast.stmt, ...]:
    """All statements of a file, those inside of others too."""
    found, waiting = [], [tree(file).body]
    while waiting:
        for node in waiting.pop():
            found.append(node)
            if not isinstance(node, _SIMPLE):
                waiting += [block for block in blocks(node) if block]
    return tuple(found)


def words(file: Path) -> Iterator[str]:
    """The strings of a file that are one word; what else has quotes around it, too."""
    return (found[2] for found in re.finditer(r"""(["'])(\w+)\1""", text(file)))


@cache
def imports(file: Path) -> tuple[tuple[str, bool, int], ...]:
    """(module within the package such as "engine.graph.graph", at import time?, line) of a file."""
    here = list(file.relative_to(ROOT).with_suffix("").parts)

    def visit(statements: list[ast.stmt], top: bool) -> Iterator[tuple[str, bool, int]]:
        for node in statements:
            if isinstance(node, ast.ImportFrom) and node.level:
                base = here[: len(here) - node.level]
                module = [*base, *(node.module.split(".") if node.module else [])]
                for alias in node.names:
                    yield ".".join([*module, alias.name]), top, node.lineno
            if isinstance(node, _SIMPLE):
                continue
            inner = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            checking = isinstance(node, ast.If) and "TYPE_CHECKING" in _names(node.test)
            for block in blocks(node):
                yield from visit(block, top and not inner and not checking)

    return tuple(visit(tree(file).body, True))


def _names(expression: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}


def blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statements inside of a statement."""
    for part in ("body", "orelse", "finalbody"):
        yield getattr(node, part, [])
    for part in ("handlers", "cases"):
        for branch in getattr(node, part, []):
            yield branch.body
