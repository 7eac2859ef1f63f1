# SPDX-License-Identifier: Apache-2.0
"""Texts of the library's kernels to LLVM code in one walk, without Numba.

They are written by hand (jit/library/template.py), so they say more than generated ones do: loops
of every kind, choices, tuples, elements at pointers, numbers of several kinds, and functions that
they call, each of which becomes a function of the module for the kinds that it is called with.
Every name still has one kind, that of what is first assigned to it.  What does without raises
Unfit, and Numba compiles the text (jit/codegen/library_code.py); tests tell how many do, and hold
both against each other.  Imports llvmlite alone.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from llvmlite import ir

from ...engine.record_class import record
from ...engine.syntax import tree_of
from . import numbers, vocabulary, words
from .reader import COMPARISONS, Scope, Value, located, unknown
from .words import ARGUMENTS, WORD, Address, Kind, Pointer, Several, Text, Unfit

_BIT = ir.IntType(1)
_SIGNATURE = "args r0 r1 c0 c1 worker".split()


class _Function(NamedTuple):
    """A function of the text for some kinds of arguments, and the kind of what it gives."""

    code: Any
    kind: Kind


@record
class _Text:
    """A text: its constants and functions, and the module that is written."""

    module: Any
    buffers: tuple[str, ...] = ()
    constants: dict[str, Value] = field(default_factory=dict)
    helpers: dict[str, ast.FunctionDef] = field(default_factory=dict)
    made: dict[tuple[str, tuple[Kind, ...]], _Function | None] = field(default_factory=dict)

    def function(self, name: str, kinds: tuple[Kind, ...]) -> _Function:
        """What a helper is for some kinds of arguments."""
        key = name, kinds
        if key not in self.made:
            # Marked before it is written, so that a call of itself is seen in place of never
            # ending.
            self.made[key] = None
            self.made[key] = _written(self, self.helpers[name], kinds)
        found = self.made[key]
        if found is None:
            raise Unfit(f"{name} calls itself: kernels have no stack for that")
        return found


def module(source: str, symbol: str) -> ir.Module:
    """The LLVM module of a text, whose function is called `symbol`."""
    found = ir.Module(symbol)
    text, kernel = _Text(found), None
    for node in tree_of(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="BUFFERS")], value=value):
                text.buffers = ast.literal_eval(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                text.constants[name] = _constant(value)
            case ast.FunctionDef(name="kernel"):
                kernel = node
            case ast.FunctionDef(name=name):
                text.helpers[name] = node
            case _:
                raise unknown(node)
    if kernel is None or [argument.arg for argument in kernel.args.args] != _SIGNATURE:
        raise Unfit("kernel: its arguments are those of kernels")
    kind = ir.FunctionType(ir.VoidType(), [WORD.as_pointer(), *[WORD] * 5])
    function = ir.Function(found, kind, symbol)
    # BUFFERS comes before the functions in every text, so that kinds of addresses are known here.
    kinds: list[Kind] = [ARGUMENTS, *["int64"] * 5]
    walk = _Walk(text, function, dict(zip(_SIGNATURE, kinds)))
    if walk.body(kernel.body) is not None:
        raise Unfit("kernel: it gives nothing")
    return found


def _constant(node: ast.expr) -> Value:
    """A constant of the text: a number, a string, or a dtype applied to a number."""
    match node:
        # A constant of a dtype, which arithmetic takes for what it is: float32(0.5) with a float32
        # stays in float32, where 0.5 alone would meet it in float64.
        case ast.Call(func=ast.Name(id=kind), args=[argument]):
            if kind not in numbers.FLOATS and not numbers.is_whole(kind):
                raise unknown(node)
            value = ast.literal_eval(argument)
            number = float(value) if kind in numbers.FLOATS else int(value)
            return Value(ir.Constant(numbers.type_of(kind), number), kind)
    try:
        return _literal(ast.literal_eval(node))
    except ValueError:
        raise unknown(node) from None


def _literal(value: object) -> Value:
    match value:
        case bool():
            return Value(ir.Constant(_BIT, int(value)), "bool")
        case int() if -(1 << 63) <= value < 1 << 63:
            return Value(ir.Constant(WORD, value), "int64")
        case float():
            return Value(ir.Constant(ir.DoubleType(), value), "float64")
        case str():
            return Value(None, Text(value))
    raise Unfit(f"constant {value!r}: it is neither a number nor a string")


def _held(kind: Kind) -> Any:
    """How LLVM holds a value of a kind."""
    match kind:
        case Address():
            return WORD
        case Pointer(dtype=dtype):
            return numbers.type_of(dtype).as_pointer()
        case Several(kinds=kinds):
            return ir.LiteralStructType([_held(one) for one in kinds])
    return WORD.as_pointer() if kind == ARGUMENTS else numbers.type_of(kind)


def _written(text: _Text, node: ast.FunctionDef, kinds: tuple[Kind, ...]) -> _Function:
    """A helper as a function of the module."""
    names = [argument.arg for argument in node.args.args]
    if len(names) != len(kinds):
        raise Unfit(f"{node.name} of {len(kinds)} arguments: it takes {len(names)}")
    # One function for the kinds of a call, as a template: helpers are written once for all dtypes.
    # A number of the text's functions is in the name, which two kinds would share.
    arguments = [_held(kind) for kind in kinds]
    symbol = f"{node.name}.{len(text.module.globals)}"
    function = ir.Function(text.module, ir.FunctionType(ir.VoidType(), arguments), symbol)
    # So that LLVM inlines what is called once, drops what is not, and passes of arguments whatever
    # it likes. What results have is known at the end of the walk, see `returned`.
    function.linkage = "internal"
    walk = _Walk(text, function, dict(zip(names, kinds)))
    return _Function(function, walk.body(node.body))


class _Walk(Scope):
    """The walk over a function's statements."""

    def __init__(self, text: _Text, function: Any, arguments: dict[str, Kind]) -> None:
        self.text, self.function, self.arguments = text, function, arguments
        super().__init__(ir.IRBuilder(function.append_basic_block("entry")))
        self.names.update(text.constants)
        # Ends stay open until the kind of result is known: LLVM's functions state it, texts do not.
        self.results: list[tuple[Value | None, Any]] = []
        # Where `continue` and `break` of the loops around lead.
        self.around: list[list[Any]] = []

    def body(self, nodes: list[ast.stmt]) -> Kind:
        """Writes the function; the kind of what it gives."""
        self.often = _assigned_often(nodes, self.arguments)
        # An argument that is assigned to later is a place as other names are, with a first value.
        for (name, kind), code in zip(self.arguments.items(), self.function.args, strict=True):
            self.assign(name, Value(code, kind))
        self.statements(nodes)
        if not self.has_left():
            self.results.append((None, self.b.block))
        return self.returned()

    def has_left(self) -> bool:
        """Whether nothing leads to what comes next."""
        block = self.b.block
        return block.is_terminated or any(block is end for _, end in self.results)

    def returned(self) -> Kind:
        """Ends all ways out of the function, now that it is known what it gives."""
        kinds = {value and value.kind for value, _ in self.results}
        if len(kinds) > 1:
            raise Unfit(f"results of {', '.join(map(str, kinds))}: a function has one kind of them")
        kind = kinds.pop() if kinds else None
        if kind is not None:
            held = _held(kind)
            # llvmlite has no way to change what a function gives; nobody has called it yet, as
            # callers get it from here.
            self.function.ftype = ir.FunctionType(held, self.function.ftype.args)
            self.function.return_value = ir.values.ReturnValue(self.function, held)
            self.function.type = self.function.ftype.as_pointer()
        for given, block in self.results:
            self.b.position_at_end(block)
            self.b.ret_void() if given is None else self.b.ret(given.code)
        return kind

    # Statements

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        """Writes statements, but for those that nothing leads to."""
        for node in nodes:
            if self.has_left():
                return
            try:
                self.statement(node)
            except Unfit as error:
                raise located(error, node) from None

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                new = self.value(value)
                for target in targets:
                    self.put(target, new)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                self.assign(name, self.arithmetic(op, self.name(name), self.value(value)))
            case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
                # Base and index are evaluated once, as in Python: they may call.
                base, index = self.value(target.value), self.value(target.slice)
                old = self.element(base, index)
                self.put_element(base, index, self.arithmetic(op, old, self.value(value)))
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case ast.Expr(value=ast.Call() as call):
                self.value(call)
            case ast.For(target=ast.Name(id=name), iter=ast.Call() as call, orelse=[]):
                self.counted(name, call, node.body)
            case ast.For(target=ast.Name(id=name), iter=ast.Tuple(elts=each), orelse=[]):
                self.listed(name, each, node.body)
            case ast.While(test=test, body=body, orelse=[]):
                self.loop(test, body)
            case ast.If(test=test, body=body, orelse=rest):
                self.choice(test, body, rest)
            case ast.Return(value=value):
                given = None if value is None else self.value(value)
                self.results.append((given, self.b.block))
            case ast.Continue() | ast.Break() if self.around:
                self.b.branch(self.around[-1][isinstance(node, ast.Break)])
            case _:
                raise unknown(node)

    def put(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.assign(name, value)
            case ast.Tuple(elts=targets) if isinstance(value.kind, Several):
                if len(targets) != len(value.kind.kinds):
                    raise Unfit(f"{value.kind} to {len(targets)} names: as many of both")
                for number, one in enumerate(targets):
                    self.put(one, self.part(value, number))
            case ast.Subscript(value=base, slice=index):
                self.put_element(self.value(base), self.value(index), value)
            case _:
                raise unknown(target)

    def assign(self, name: str, value: Value) -> None:
        if isinstance(value.kind, Text) or value.kind is None:
            raise Unfit(f"{name} of {value.kind}: names stand for numbers, addresses and tuples")
        super().assign(name, value)

    def put_element(self, base: Value, index: Value, value: Value) -> None:
        place = self.place(base, index)
        kind = base.kind.dtype if isinstance(base.kind, Pointer) else "int64"
        # The block is the plan's: it is shared by all threads that run the kernel. Walkers, which
        # have no buffers, get blocks of their own to write to.
        if base.kind == ARGUMENTS and self.text.buffers:
            raise Unfit("element of arguments: those with buffers are read only")
        self.b.store(numbers.converted(self.b, value.kind, value.code, kind), place)

    def choice(self, test: ast.expr, body: list[ast.stmt], rest: list[ast.stmt]) -> None:
        then, other = self.b.append_basic_block("if"), self.b.append_basic_block("else")
        behind = self.b.append_basic_block("endif")
        self.branch(test, then, other)
        ends = [self.within(then, body, behind), self.within(other, rest, behind)]
        self.b.position_at_end(behind)
        # A block must end; this one has no way in, where both sides return or go on with a loop.
        if not any(ends):
            self.b.unreachable()

    def within(self, block: Any, nodes: Sequence[ast.stmt], behind: Any) -> bool:
        """Writes statements into a block; whether what is behind them is reached."""
        self.b.position_at_end(block)
        self.statements(nodes)
        if self.has_left():
            return False
        self.b.branch(behind)
        return True

    def loop(self, test: ast.expr, body: list[ast.stmt]) -> None:
        """while test: body."""
        head, inside = self.b.append_basic_block("while"), self.b.append_basic_block("body")
        behind = self.b.append_basic_block("endwhile")
        self.b.branch(head)
        self.b.position_at_end(head)
        # Without a branch at its head: or else what is behind it would count as reached, and a
        # function that returns from within would seem to give nothing as well.
        is_endless = isinstance(test, ast.Constant) and test.value is True
        if is_endless:
            self.b.branch(inside)
        else:
            self.branch(test, inside, behind)
        self.turn(inside, body, head, behind)
        self.b.position_at_end(behind)
        if is_endless and not any(isinstance(n, ast.Break) for s in body for n in ast.walk(s)):
            self.b.unreachable()

    def turn(self, inside: Any, body: list[ast.stmt], following: Any, behind: Any) -> None:
        # `continue` goes to where the loop counts on, and not to its head.
        self.around.append([following, behind])
        self.within(inside, body, following)
        self.around.pop()

    def listed(self, name: str, each: list[ast.expr], body: list[ast.stmt]) -> None:
        """for name in (...): body, one after the other."""
        # Written out turn by turn, as words of tiles ask for literals, which a place in memory is
        # not.
        behind = self.b.append_basic_block("endfor")
        for node in each:
            inside, following = map(self.b.append_basic_block, ("body", "next"))
            self.b.branch(inside)
            self.b.position_at_end(inside)
            self.assign(name, self.value(node))
            self.turn(inside, body, following, behind)
            self.b.position_at_end(following)
        self.b.branch(behind)
        self.b.position_at_end(behind)

    def counted(self, name: str, call: ast.Call, body: list[ast.stmt]) -> None:
        """for name in range(...): body."""
        match call:
            case ast.Call(func=ast.Name(id="range"), args=[_] | [_, _] | [_, _, _], keywords=[]):
                limits = [self.whole(self.value(limit), "range") for limit in call.args]
            case _:
                raise unknown(call)
        first, last = (WORD(0), *limits) if len(limits) == 1 else limits[:2]
        step = limits[2] if len(limits) > 2 else WORD(1)
        parts = ("for", "body", "next", "endfor")
        head, inside, following, behind = map(self.b.append_basic_block, parts)
        before = self.b.block
        self.b.branch(head)
        self.b.position_at_end(head)
        at = self.b.phi(WORD)
        at.add_incoming(first, before)
        self.b.cbranch(self.is_left(at, last, step), inside, behind)
        self.b.position_at_end(inside)
        self.assign(name, Value(at, "int64"))
        self.turn(inside, body, following, behind)
        self.b.position_at_end(following)
        at.add_incoming(self.b.add(at, step, flags=("nsw",)), following)
        self.b.branch(head)
        self.b.position_at_end(behind)

    def is_left(self, at: Any, last: Any, step: Any) -> Any:
        """Whether a range goes on at a position."""
        below = self.b.icmp_signed("<", at, last)
        # Of nearly all ranges it is known; a loop with one comparison is one that LLVM understands.
        if isinstance(step, ir.Constant) and step.constant > 0:
            return below
        above, up = self.b.icmp_signed(">", at, last), self.b.icmp_signed(">", step, WORD(0))
        return self.b.select(up, below, above)

    # Conditions

    def branch(self, test: ast.expr, then: Any, other: Any, is_value: bool = False) -> None:
        """Goes on in one of two blocks; what need not be looked at is not.

        is_value: the test is asked for what it gives, which for `x or y` is one of both.
        """
        match test:
            case ast.BoolOp(op=op, values=[first, *rest]):
                # By branches and not by arithmetic: the second part may read what is there only if
                # the first is true.
                following = self.b.append_basic_block("and" if isinstance(op, ast.And) else "or")
                if isinstance(op, ast.And):
                    self.branch(first, following, other, is_value)
                else:
                    self.branch(first, then, following, is_value)
                self.b.position_at_end(following)
                last = rest[0] if len(rest) == 1 else ast.BoolOp(op=op, values=rest)
                self.branch(last, then, other, is_value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.branch(operand, other, then)
            case _:
                value = self.value(test)
                if is_value and value.kind != "bool":
                    raise Unfit(f"and, or of {value.kind}: they are of truth values")
                self.b.cbranch(numbers.truth(self.b, value.kind, value.code), then, other)

    def chosen(
        self, test: ast.expr, ways: Sequence[Callable[[], Value]], is_value: bool = False
    ) -> Value:
        """What one of two ways gives, of which the other is not gone."""
        blocks = [self.b.append_basic_block(name) for name in ("yes", "no")]
        behind = self.b.append_basic_block("chosen")
        self.branch(test, blocks[0], blocks[1], is_value)
        found = []
        for block, way in zip(blocks, ways, strict=True):
            self.b.position_at_end(block)
            found.append((way(), self.b.block))
        (x, _), (y, _) = found
        # Known when both ways are written; conversions go to the ends of the ways, in their own
        # blocks.
        kind = x.kind if x.kind == y.kind else numbers.unified(x.kind, y.kind)
        if isinstance(kind, Text) or kind is None:
            raise Unfit(f"{x.kind} or {y.kind}: a choice is of values")
        codes = []
        for value, block in found:
            self.b.position_at_end(block)
            code = value.code
            if value.kind != kind:
                code = numbers.converted(self.b, value.kind, code, kind)
            codes.append(code)
            self.b.branch(behind)
        self.b.position_at_end(behind)
        result = self.b.phi(_held(kind))
        for code, (_, block) in zip(codes, found, strict=True):
            result.add_incoming(code, block)
        return Value(result, kind)

    # Expressions

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Name(id=name):
                return self.name(name)
            case ast.Constant(value=constant):
                return _literal(constant)
            case ast.BinOp(left=left, op=op, right=right):
                return self.arithmetic(op, self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self.call(name, [self.value(arg) for arg in args])
            case ast.Subscript(value=base, slice=index):
                return self.element(self.value(base), self.value(index))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                x, y = self.value(left), self.value(right)
                sign = COMPARISONS[type(op)]
                return Value(numbers.compared(self.b, sign, x.kind, y.kind, x.code, y.code), "bool")
            case ast.IfExp(test=test, body=body, orelse=rest):
                return self.chosen(test, (lambda: self.value(body), lambda: self.value(rest)))
            case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                yes, no = Value(_BIT(1), "bool"), Value(_BIT(0), "bool")
                is_value = isinstance(node, ast.BoolOp)
                return self.chosen(node, (lambda: yes, lambda: no), is_value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.value(operand)
                return Value(*numbers.negated(self.b, value.kind, value.code))
            case ast.Tuple(elts=parts):
                return self.several([self.value(part) for part in parts])
        raise unknown(node)

    def arithmetic(self, op: ast.operator, x: Value, y: Value) -> Value:
        if isinstance(x.kind, Address) and isinstance(op, ast.Add):
            size = words.element_bytes(self.b, x.kind.dtype)
            offset = self.b.mul(self.whole(y, "offset"), WORD(size))
            return Value(self.b.add(x.code, offset), x.kind)
        return Value(*numbers.arithmetic(self.b, type(op), x.kind, y.kind, x.code, y.code))

    def whole(self, value: Value, use: str) -> Any:
        if not numbers.is_whole(value.kind):
            raise Unfit(f"{use} of {value.kind}: it is a whole number")
        return numbers.word(self.b, value.kind, value.code)

    def several(self, parts: list[Value]) -> Value:
        kind = Several(tuple(part.kind for part in parts))
        # LLVM takes tuples apart again, so that they cost nothing, whatever they hold.
        found = ir.Constant(_held(kind), ir.Undefined)
        for number, part in enumerate(parts):
            found = self.b.insert_value(found, part.code, number)
        return Value(found, kind)

    def part(self, value: Value, number: int) -> Value:
        assert isinstance(value.kind, Several)
        return Value(self.b.extract_value(value.code, number), value.kind.kinds[number])

    def place(self, base: Value, index: Value) -> Any:
        if not isinstance(base.kind, Pointer) and base.kind != ARGUMENTS:
            raise Unfit(f"element of {base.kind}: pointers and the argument block have any")
        return self.b.gep(base.code, [self.whole(index, "element")])

    def element(self, base: Value, index: Value) -> Value:
        """base[index]; of the argument block a typed address for the literal number of a buffer."""
        if isinstance(base.kind, Several):
            return self.one_of(base, base.kind.kinds, index)
        code = self.b.load(self.place(base, index))
        if isinstance(base.kind, Pointer):
            return Value(code, base.kind.dtype)
        number, buffers = self.number(index), self.text.buffers
        is_buffer = number is not None and 0 <= number < len(buffers)
        return Value(code, Address(buffers[number or 0]) if is_buffer else "int64")

    @staticmethod
    def number(index: Value) -> int | None:
        """A literal number."""
        is_known = isinstance(index.code, ir.Constant) and isinstance(index.code.constant, int)
        return index.code.constant if is_known else None

    def one_of(self, base: Value, kinds: tuple[Kind, ...], index: Value) -> Value:
        number = self.number(index)
        if number is not None and 0 <= number < len(kinds):
            return self.part(base, number)
        if len(set(kinds)) > 1:
            raise Unfit(f"element of {base.kind}: one of several kinds")
        # An index of the run: the tuple goes through the frame, as registers have no numbers.
        held = _held(kinds[0])
        with self.b.goto_entry_block():
            place = self.b.alloca(ir.ArrayType(held, len(kinds)))
        for at in range(len(kinds)):
            self.b.store(self.part(base, at).code, self.b.gep(place, [WORD(0), WORD(at)]))
        spot = self.b.gep(place, [WORD(0), self.whole(index, "element")])
        return Value(self.b.load(spot), kinds[0])

    def call(self, name: str, values: list[Value]) -> Value:
        kinds = tuple(value.kind for value in values)
        codes = tuple(value.code for value in values)
        if name in self.text.helpers:
            function = self.text.function(name, kinds)
            return Value(self.b.call(function.code, codes), function.kind)
        if len(values) == 1 and (name in numbers.FLOATS or numbers.is_whole(name)):
            return Value(numbers.converted(self.b, kinds[0], codes[0], name), name)
        if len(values) == 1 and name in vocabulary.FUNCTIONS:
            return Value(*numbers.real(self.b, kinds[0], codes[0], name))
        if len(values) == 1 and name == "abs":
            return Value(numbers.magnitude(self.b, kinds[0], codes[0]), kinds[0])
        word = vocabulary.table().get(name) or words.table().get(name)
        if word is None or word.arity != len(values):
            raise Unfit(f"{name} of {len(values)} arguments: there is no such word")
        kind = word.result(*kinds)
        return Value(word.code(self.b, kinds, codes), kind)


def _assigned_often(nodes: list[ast.stmt], arguments: dict[str, Kind]) -> set[str]:
    """Names with several assignments, or with one besides being an argument or in a loop."""
    counts = Counter(arguments.keys())
    for node in (inner for statement in nodes for inner in ast.walk(statement)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts[node.id] += 1
    return {name for name, count in counts.items() if count > 1}
