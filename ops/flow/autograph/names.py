# SPDX-License-Identifier: Apache-2.0
"""Which variables statements read and assign, and which of them are read afterwards."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own(node: ast.AST) -> Iterator[ast.AST]:
    """What is in a node, without what is in functions within it."""
    for x in ast.iter_child_nodes(node):
        yield x
        if not isinstance(x, SCOPES):
            yield from own(x)


def has(nodes: Iterable[ast.AST], kinds: tuple[type, ...]) -> bool:
    """Whether a node of some kinds is there, not in a function within."""
    return any(
        isinstance(x, kinds) or (not isinstance(x, SCOPES) and has(ast.iter_child_nodes(x), kinds))
        for x in nodes
    )


def assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that statements assign, without those of functions within."""
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        x = waiting.pop()
        if isinstance(x, (ast.FunctionDef, ast.ClassDef)):
            found.add(x.name)
        elif isinstance(x, ast.Name) and isinstance(x.ctx, (ast.Store, ast.Del)):
            found.add(x.id)
        elif isinstance(x, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).partition(".")[0] for a in x.names)
        elif isinstance(x, ast.ExceptHandler) and x.name:
            found.add(x.name)
        if not isinstance(x, (*SCOPES, *COMPREHENSIONS)):
            waiting.extend(ast.iter_child_nodes(x))
    return found


def places(nodes: Iterable[ast.AST]) -> list[str]:
    """What statements assign that is no name, but like one: `a.b` and `a["b"]`, as source."""
    found = set()
    for x in nodes:
        for y in [x, *own(x)] if not isinstance(x, SCOPES) else []:
            is_stored = isinstance(getattr(y, "ctx", None), ast.Store)
            if is_stored and isinstance(y, (ast.Attribute, ast.Subscript)) and _is_place(y):
                found.add(ast.unparse(y))
    return sorted(found)


def _is_place(x: ast.expr) -> bool:
    while isinstance(x, (ast.Attribute, ast.Subscript)):
        if isinstance(x, ast.Subscript) and not isinstance(x.slice, ast.Constant):
            return False
        x = x.value
    return isinstance(x, ast.Name)


def reads(node: ast.AST | None) -> set[str]:
    """The names that are read in a node; names of functions within it may be among them."""
    found = set()
    for x in ast.walk(node) if node is not None else ():
        if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load):
            found.add(x.id)
        elif isinstance(x, ast.AugAssign) and isinstance(x.target, ast.Name):
            found.add(x.target.id)
    return found


class Liveness:
    """Which names are read after each statement of a function, without jumps in it.

    Args:
        body: the statements.
        outer: names that are of a scope around the function, which may be read at its end.
    """

    def __init__(self, body: Sequence[ast.stmt], outer: set[str]) -> None:
        # Functions within may be called, and handlers run, after every statement.
        self.always = set(outer)
        for x in body:
            for y in [x, *([] if isinstance(x, SCOPES) else own(x))]:
                if isinstance(y, (ast.FunctionDef, ast.ClassDef)):
                    self.always |= reads(y)
        # Names that are read after a statement; for loops also before one more turn.
        self.after: dict[ast.stmt, set[str]] = {}
        self.head: dict[ast.stmt, set[str]] = {}
        self._block(body, set(outer))

    def _block(self, body: Sequence[ast.stmt], after: set[str]) -> set[str]:
        live = set(after)
        for x in reversed(body):
            self.after[x] = self.after.get(x, set()) | live
            live = self._before(x, live)
        return live

    def _before(self, x: ast.stmt, live: set[str]) -> set[str]:
        if isinstance(x, ast.If):
            return reads(x.test) | self._block(x.body, live) | self._block(x.orelse, live)
        if isinstance(x, (ast.While, ast.For)):
            return self._before_loop(x, live)
        if isinstance(x, ast.Try):
            return self._before_try(x, live)
        if isinstance(x, ast.With):
            inner = self._block(x.body, live) - assigned(_targets(x))
            return inner.union(*(reads(item) for item in x.items))
        if isinstance(x, (ast.Return, ast.Raise)):
            return reads(x)
        return (live - assigned([x])) | reads(x)

    def _before_loop(self, x: ast.While | ast.For, live: set[str]) -> set[str]:
        head = self._block(x.orelse, live) | live | {getattr(x, "stopped", "")}
        target: set[str] = set()
        if isinstance(x, ast.While):
            head |= reads(x.test)
        else:
            target = assigned([x.target])
        for _ in range(2):  # (What a turn reads at its end may be read at its beginning.)
            head |= self._block(x.body, head) - target
        self.head[x] = head
        return head | (reads(x.iter) if isinstance(x, ast.For) else set())

    def _before_try(self, x: ast.Try, live: set[str]) -> set[str]:
        final = self._block(x.finalbody, live)
        handled = set(final)
        for handler in x.handlers:
            handled |= self._block(handler.body, final) | reads(handler.type)
        self.always |= handled - live
        return self._block(x.body, self._block(x.orelse, final) | handled) | handled


def _targets(x: ast.With) -> list[ast.expr]:
    return [item.optional_vars for item in x.items if item.optional_vars is not None]
