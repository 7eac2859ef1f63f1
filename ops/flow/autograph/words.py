# SPDX-License-Identifier: Apache-2.0
"""The expressions of rewritten functions: `and`, `or`, `not`, `a if b else c`, and calls."""

from __future__ import annotations

import ast
from typing import Any

from ....engine.syntax import tree_of
from .names import SCOPES

RUN = "_autograph"


def _later(value: ast.expr) -> ast.Lambda:
    made = tree_of("lambda: 0", mode="eval").body
    assert isinstance(made, ast.Lambda), "a lambda was parsed"
    made.body = value
    return ast.copy_location(made, value)


class Words(ast.NodeTransformer):
    """Rewrites `and`, `or`, `not`, `a if b else c`, and calls; by features more than that."""

    def __init__(self, features: frozenset[str]) -> None:
        self._features = features

    def statement(self, x: ast.stmt) -> list[ast.stmt]:
        """What becomes of a statement without blocks."""
        if isinstance(x, ast.Assert) and "ASSERT_STATEMENTS" in self._features:
            message = self.visit(x.msg) if x.msg is not None else ast.Constant("")
            call = self.named("assert_stmt", x.test, self.visit(x.test), _later(message))
            return [ast.copy_location(ast.Expr(call), x)]
        found: ast.stmt = self.visit(x)
        return [found]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def named(self, name: str, where: ast.expr, *arguments: ast.expr) -> ast.Call:
        function = tree_of(f"{RUN}.{name}", mode="eval").body
        made = ast.Call(function, list(arguments), [])
        for x in (made, *ast.walk(function)):
            ast.copy_location(x, where)
        return made

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        found = node.values[-1]
        for value in reversed(node.values[:-1]):
            found = self.named(name, node, _later(value), _later(found))
        return found

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return self.named("not_", node, node.operand) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return self.named("if_exp", node, node.test, _later(node.body), _later(node.orelse))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        is_equality = len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq))
        if is_equality and "EQUALITY_OPERATORS" in self._features:
            name = "eq" if isinstance(node.ops[0], ast.Eq) else "not_eq"
            return self.named(name, node, node.left, node.comparators[0])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        # (`super` asks for the frame that it is called in.)
        name = ast.unparse(node.func)
        if name != "super" and not name.startswith(f"{RUN}."):
            node.func = self.named("callee", node.func, node.func)
        return node


class Lists(ast.NodeTransformer):
    """Rewrites `[]`, `x.append(y)` and `x[i] = y`, so that `x` may be a list of tensors."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def visit_body(self, node: ast.FunctionDef) -> None:
        """Changes the statements of a function in place."""
        changed: list[Any] = [self.visit(x) for x in node.body]
        node.body = changed

    def visit(self, node: ast.AST) -> ast.AST:
        """What becomes of a node; functions within stay as they are."""
        found: ast.AST = node if isinstance(node, SCOPES) else super().visit(node)
        return found

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        is_new = isinstance(node.ctx, ast.Load) and not node.elts
        return self._words.named("new_list", node) if is_new else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if not isinstance(target, ast.Subscript) or len(node.targets) > 1:
            return node
        if isinstance(target.slice, (ast.Slice, ast.Tuple)):
            return node
        return self._changed("set_item", node, target.value, target.slice, node.value)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        call = node.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return node
        if call.func.attr != "append" or len(call.args) != 1:
            return node
        return self._changed("list_append", node, call.func.value, call.args[0])

    def _changed(self, name: str, node: ast.stmt, owner: ast.expr, *given: ast.expr) -> ast.AST:
        if not isinstance(owner, ast.Name):
            return node
        call = self._words.named(name, owner, ast.Name(owner.id, ast.Load()), *given)
        made = ast.Assign([ast.Name(owner.id, ast.Store())], call)
        return ast.fix_missing_locations(ast.copy_location(made, node))
