# SPDX-License-Identifier: Apache-2.0
"""`return`, `break` and `continue` as variables: statements without jumps, for branches and loops.

    for x in xs:             stop = False
        if x > 3:            for x in xs:  (until stop)
            break     ->         if x > 3: stop = True
        total += x               if not stop: total += x

What cannot depend on a tensor keeps its jumps.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence

from ....engine.syntax import tree_of
from .names import SCOPES, has

RESULT, DONE = "_result", "_is_done"
_LOOPS = (ast.While, ast.For)
_JUMPS = (ast.Break, ast.Continue)
# How often statements may be repeated in branches before a variable is used instead.
_MOST_COPIES = 16


def parsed(line: str, where: ast.AST) -> ast.stmt:
    """The statement of a line of source, at the place of another one."""
    made = tree_of(line).body[0]
    for x in ast.walk(made):
        if hasattr(x, "lineno"):
            ast.copy_location(x, where)
    return made


def _guarded(flag: str, body: list[ast.stmt]) -> list[ast.stmt]:
    """`if not flag:` of some statements, if there are any."""
    if not body:
        return []
    made = parsed(f"if not {flag}:\n  pass", body[0])
    assert isinstance(made, ast.If), "an `if` was parsed"
    made.body = body
    return [made]


def _parts(x: ast.stmt) -> Iterator[tuple[ast.AST, str]]:
    """The blocks of a statement: what holds them, and as what."""
    for field in ("body", "orelse", "finalbody"):
        if not isinstance(x, SCOPES) and getattr(x, field, None):
            yield x, field
    for handler in getattr(x, "handlers", ()):
        yield handler, "body"


def _change_parts(x: ast.stmt, change: Callable[[list[ast.stmt]], list[ast.stmt]]) -> None:
    for holder, field in _parts(x):
        setattr(holder, field, change(getattr(holder, field)) or [ast.Pass()])


def always_returns(body: Sequence[ast.stmt]) -> bool:
    """Whether every way through statements ends in a return or an error."""
    return any(map(_returns, body))


def _returns(x: ast.stmt) -> bool:
    if isinstance(x, ast.If):
        return always_returns(x.body) and always_returns(x.orelse)
    if isinstance(x, ast.With):
        return always_returns(x.body)
    if isinstance(x, ast.Try):
        handled = all(always_returns(handler.body) for handler in x.handlers)
        return handled and (always_returns(x.body) or always_returns(x.orelse))
    return isinstance(x, (ast.Return, ast.Raise))


class Returns:
    """The statements of a function with one return, at their end."""

    def __init__(self) -> None:
        self._copies = 0
        self.uses_done = False

    def lowered(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements; those without a return in a block as they are."""
        inner = [x for x in body if not isinstance(x, ast.Return)]
        if not has(inner, (ast.Return,)):
            return body
        found = self._last(body)
        end = parsed(f"return {RESULT}", body[-1])
        begin = [parsed(f"{DONE} = False", body[0])] if self.uses_done else []
        return [*begin, *found, end]

    def _last(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Statements behind which there are none, so that each way through them has a result."""
        for place, x in enumerate(body):
            before, rest = body[:place], body[place + 1 :]
            if isinstance(x, ast.Raise):
                return [*before, x]
            if not has([x], (ast.Return,)):
                continue
            if isinstance(x, ast.Return):
                return [*before, _result(x)]
            if isinstance(x, ast.If) and self._may_repeat(x):
                return [*before, self._branches(x, rest)]
            if isinstance(x, (ast.With, ast.Try)) and _returns(x):
                _change_parts(x, self._last_of(x))
                return [*before, x]
            self._flag_parts(x, False)
            return [*before, x, *_guarded(DONE, self._last(rest) or [_nothing(x)])]
        return [*body, _nothing(body[-1])] if body else []

    def _last_of(self, x: ast.stmt) -> Callable[[list[ast.stmt]], list[ast.stmt]]:
        return lambda part: self._last(part) if always_returns(part) else self._flagged(part, False)

    def _may_repeat(self, x: ast.If) -> bool:
        if always_returns(x.body) or always_returns(x.orelse):
            return True
        self._copies += 1
        return self._copies <= _MOST_COPIES

    def _branches(self, x: ast.If, rest: list[ast.stmt]) -> ast.If:
        """An `if` in whose branches stands what follows it."""
        rest = rest or [parsed("return None", x)]
        if not always_returns(x.body):
            x.body = [*x.body, *copy.deepcopy(rest)]
        if not always_returns(x.orelse):
            x.orelse = [*x.orelse, *rest]
        x.body, x.orelse = self._last(x.body), self._last(x.orelse)
        return x

    def _flagged(self, body: list[ast.stmt], in_loop: bool) -> list[ast.stmt]:
        """Statements of a block that others follow: a variable says whether there was a return."""
        self.uses_done = True
        found: list[ast.stmt] = []
        for place, x in enumerate(body):
            if isinstance(x, ast.Return):
                more = [ast.copy_location(ast.Break(), x)] if in_loop else []
                return [*found, _result(x), parsed(f"{DONE} = True", x), *more]
            found.append(x)
            if not has([x], (ast.Return,)):
                continue
            self._flag_parts(x, in_loop)
            if not in_loop:
                return [*found, *_guarded(DONE, self._flagged(body[place + 1 :], False))]
            if isinstance(x, _LOOPS):
                found.append(parsed(f"if {DONE}:\n  break", x))
        return found

    def _flag_parts(self, x: ast.stmt, in_loop: bool) -> None:
        for holder, field in _parts(x):
            # (What follows `else` of a loop is in the loop around it, if there is one.)
            is_turn = isinstance(x, _LOOPS) and field == "body"
            setattr(holder, field, self._flagged(getattr(holder, field), in_loop or is_turn))


def _result(x: ast.Return) -> ast.stmt:
    made = ast.Assign([ast.Name(RESULT, ast.Store())], x.value or ast.Constant(None))
    return ast.fix_missing_locations(ast.copy_location(made, x))


def _nothing(where: ast.AST) -> ast.stmt:
    return parsed(f"{RESULT} = None", where)


class Loops:
    """Loops whose `break` and `continue` may depend on tensors, without them.

    A loop that ends by a variable has its name as `stopped`.

    Args:
        is_pythonic: whether an expression cannot be a tensor.
    """

    def __init__(self, is_pythonic: Callable[[ast.expr], bool]) -> None:
        self._is_pythonic = is_pythonic
        self._count = 0

    def lowered(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Statements with their loops, and the loops in these, changed."""
        found: list[ast.stmt] = []
        for x in body:
            _change_parts(x, self.lowered)
            found += self._loop(x) if isinstance(x, _LOOPS) else [x]
        return found

    def _loop(self, x: ast.While | ast.For) -> list[ast.stmt]:
        jumps = list(_jumps_of(x.body, ()))
        head = x.test if isinstance(x, ast.While) else x.iter
        if self._is_pythonic(head) and all(all(map(self._is_pythonic, j[1])) for j in jumps):
            return [x]
        orelse, x.orelse = x.orelse, []
        kinds = {type(jump) for jump, _ in jumps}
        self._count += 1
        found: list[ast.stmt] = [x]
        if ast.Break in kinds:
            x.stopped = stopped = f"_stop_{self._count}"  # type: ignore[union-attr]
            x.body = _without(ast.Break, stopped, x.body)
            found = [parsed(f"{stopped} = False", x), x, *_guarded(stopped, orelse)]
            if isinstance(x, ast.While):
                goes_on = ast.UnaryOp(ast.Not(), ast.Name(stopped, ast.Load()))
                test = ast.BoolOp(ast.And(), [goes_on, x.test])
                x.test = ast.fix_missing_locations(ast.copy_location(test, x.test))
        else:
            found += orelse
        if ast.Continue in kinds:
            skip = f"_skip_{self._count}"
            x.body = [parsed(f"{skip} = False", x), *_without(ast.Continue, skip, x.body)]
        return found


def _jumps_of(
    body: Sequence[ast.stmt], tests: tuple[ast.expr, ...]
) -> Iterator[tuple[ast.stmt, tuple[ast.expr, ...]]]:
    """The jumps of a loop, each with the conditions that it depends on."""
    for x in body:
        if isinstance(x, _JUMPS):
            yield x, tests
        more = (*tests, x.test) if isinstance(x, ast.If) else tests
        for holder, field in _parts(x):
            if not isinstance(x, _LOOPS) or field == "orelse":
                yield from _jumps_of(getattr(holder, field), more)


def _without(kind: type[ast.stmt], flag: str, body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements of a loop in which a variable is set instead of a jump of a kind."""
    for place, x in enumerate(body):
        if isinstance(x, kind):
            return [*body[:place], parsed(f"{flag} = True", x)]
        if not any(isinstance(jump, kind) for jump, _ in _jumps_of([x], ())):
            continue
        if isinstance(x, _LOOPS):
            x.orelse = _without(kind, flag, x.orelse)
        else:
            _change_parts(x, lambda part: _without(kind, flag, part))
        return [*body[: place + 1], *_guarded(flag, _without(kind, flag, body[place + 1 :]))]
    return body
