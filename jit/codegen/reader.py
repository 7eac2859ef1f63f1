# SPDX-License-Identifier: Apache-2.0
"""Generated kernels from their text to LLVM code in one walk, without Numba.

The texts of jit/codegen/emit.py are a small part of Python: assignments, loops over ranges,
conditions, whole-number arithmetic, and calls of words (jit/codegen/words.py).  Every name has one
type, which is known when it is first assigned, so nothing is left to infer.  Numba compiles the
same texts to the same results (jit/codegen/library_code.py; tests hold them against each other), in
ten times as long.  Imports llvmlite alone.
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from llvmlite import ir

from ...engine.syntax import tree_of
from ..kernel.scalar import COMPILED_DTYPES
from . import words
from .llvm_scalar import BODY, LANES, LOOP, NODE, SERIAL, Emitter
from .words import ARGUMENTS, WORD, Address, Kind, Unfit


class Value(NamedTuple):
    """An LLVM value and what it is."""

    code: Any
    kind: Kind


def module(source: str, symbol: str) -> ir.Module:
    """The LLVM module of a text, whose function is called `symbol`."""
    found = ir.Module(symbol)
    # The signature of every kernel: args, r0, r1, c0, c1, worker. The driver calls all by address,
    # and so knows of no other.
    kind = ir.FunctionType(ir.VoidType(), [WORD.as_pointer(), *[WORD] * 5])
    function = ir.Function(found, kind, symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    write(builder, source, function.args)
    builder.ret_void()
    return found


def write(
    builder: ir.IRBuilder,
    source: str,
    arguments: Sequence[Any],
    known: Mapping[str, words.Word] | None = None,
    space: int = 0,
) -> None:
    """Writes the body of a text's kernel where a builder stands.

    known: the words that it may use, all of words.py by default; space: where its buffers are.
    The block that the builder is in afterwards is where the kernel ends.
    """
    tree = tree_of(source)
    walk = Walk(builder, words.table() if known is None else known, space)
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="BUFFERS")], value=value):
                walk.buffers = ast.literal_eval(value)
            case ast.Assign(targets=[ast.Name(id="CONSTANT")], value=value):
                walk.constant = frozenset(ast.literal_eval(value))
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                walk.names[name] = literal(value)
            case ast.FunctionDef(args=ast.arguments(args=names), body=body):
                kinds: list[Kind] = [ARGUMENTS, *["int64"] * (len(names) - 1)]
                for argument, code, kind in zip(names, arguments, kinds, strict=True):
                    walk.names[argument.arg] = Value(code, kind)
                walk.function(body)
            case _:
                raise unknown(node)


def literal(node: ast.expr) -> Value:
    """A constant of the text: True, or a dtype applied to a number or its name ("inf")."""
    match node:
        case ast.Constant(value=bool() as value):
            return Value(ir.Constant(ir.IntType(1), int(value)), "bool")
        case ast.Call(func=ast.Name(id=dtype), args=[argument]) if dtype in COMPILED_DTYPES:
            e = Emitter(None, words.HELD_IN[dtype])
            value = ast.literal_eval(argument)
            number = float(value) if e.is_float else int(value)
            # A NaN is the positive one, as Python's text of it says no more.
            return Value(e.c(math.nan if number != number else number), e.dtype)
    raise unknown(node)


def unknown(node: ast.AST) -> Unfit:
    error = Unfit(f"{type(node).__name__} is no part of generated kernels")
    return located(error, node)


def located(error: Unfit, node: ast.AST) -> Unfit:
    """The error with the line at fault, which the innermost statement tells."""
    error.line = error.line or getattr(node, "lineno", 0)
    return error


class Scope:
    """What the names of a function stand for, where a builder writes it."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self.b = builder
        self.names: dict[str, Value] = {}
        # Names that are assigned more than once are places in the frame, which LLVM dissolves.
        self.places: dict[str, Value] = {}
        self.often: set[str] = set()

    def assign(self, name: str, value: Value) -> None:
        """Lets a name stand for a value from here on."""
        if name not in self.often:
            self.names[name] = value
            return
        if name not in self.places:
            # At the entry, where LLVM looks for what it may keep in registers, and where a loop
            # does not take more of the stack in each turn.
            with self.b.goto_entry_block():
                self.places[name] = Value(self.b.alloca(value.code.type), value.kind)
        place, kind = self.places[name]
        if value.kind != kind:
            raise Unfit(f"{name} of {kind}, {value.kind}: a name has one kind")
        self.b.store(value.code, place)

    def name(self, name: str) -> Value:
        """What a name stands for here."""
        if name in self.places:
            place, kind = self.places[name]
            return Value(self.b.load(place), kind)
        if name not in self.names:
            raise Unfit(f"{name}: it is assigned nowhere before")
        return self.names[name]


class Walk(Scope):
    """The walk over a kernel's statements."""

    def __init__(
        self, builder: ir.IRBuilder, known: Mapping[str, words.Word], space: int = 0
    ) -> None:
        super().__init__(builder)
        self.known, self.space = known, space
        self.buffers: tuple[str, ...] = ()
        self.constant: frozenset[int] = frozenset()  # the numbers of those that are only read
        self.loops = 0
        # Where every `return` leads, so that whoever writes a text into a function goes on behind
        # it.
        self.end: Any = None

    def function(self, body: list[ast.stmt]) -> None:
        self.often = assigned_often(body)
        self.end = self.b.append_basic_block("end")
        self.statements(body)
        self.leave()
        self.b.position_at_end(self.end)

    def leave(self, block: Any = None) -> None:
        """Goes on in a block, or where the kernel ends, unless it went elsewhere already."""
        if not self.b.block.is_terminated:
            self.b.branch(block or self.end)

    def statements(self, nodes: list[ast.stmt]) -> bool:
        """Writes statements; whether the last of them is a loop of unknown length, or has one."""
        has_loop = False
        for node in nodes:
            try:
                has_loop |= self.statement(node)
            except Unfit as error:
                raise located(error, node) from None
        return has_loop

    def statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.assign(name, self.value(value))
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                self.assign(name, self.arithmetic(op, self.name(name), self.value(value)))
            case ast.Expr(value=ast.Call() as call):
                self.value(call)
            case ast.For(
                target=ast.Name(id=name),
                iter=ast.Call(func=ast.Name(id="range" | "lanes" as kind), args=limits),
                body=body,
            ):
                lanes = limits[2:] if kind == "lanes" else []
                return self.loop(name, limits[: len(limits) - len(lanes)], body, lanes)
            case ast.If(test=test, body=body, orelse=[]):
                return self.condition(test, body)
            case ast.Return(value=None):
                self.leave()
            case _:
                raise unknown(node)
        return False

    def condition(self, test: ast.expr, body: list[ast.stmt]) -> bool:
        # A real branch, as what is inside may store; values are chosen by `select`, which
        # vectorises.
        inside, behind = (self.b.append_basic_block(name) for name in ("if", "endif"))
        self.b.cbranch(self.value(test).code, inside, behind)
        self.b.position_at_end(inside)
        has_loop = self.statements(body)
        self.leave(behind)
        self.b.position_at_end(behind)
        return has_loop

    def loop(
        self, name: str, limits: list[ast.expr], body: list[ast.stmt], lanes: list[ast.expr]
    ) -> bool:
        """for name in range(...), whose step is positive; whether its length is unknown.

        lanes: literals that say how many turns become a vector, and how many vectors one turn.
        """
        numbers = [self.number(limit, "range") for limit in limits]
        first, last = (ir.Constant(WORD, 0), *numbers) if len(numbers) == 1 else numbers[:2]
        step = numbers[2] if len(numbers) > 2 else ir.Constant(WORD, 1)
        blocks = [self.b.append_basic_block(part) for part in ("for", BODY, "endfor")]
        # The position is a phi by hand and no place in the frame: so it is known to be counted by
        # one step, of which LLVM's loop passes make the most.
        before = self.b.block
        self.b.branch(blocks[0])
        self.b.position_at_end(blocks[0])
        position = self.b.phi(WORD)
        position.add_incoming(first, before)
        self.b.cbranch(self.b.icmp_signed("<", position, last), *blocks[1:])
        self.b.position_at_end(blocks[1])
        self.assign(name, Value(position, "int64"))
        has_loop = self.statements(body)
        # No wrap: positions are below sizes of arrays. This lets addresses be computed once and
        # counted on, in place of being multiplied out in each turn.
        position.add_incoming(self.b.add(position, step, flags=("nsw",)), self.b.block)
        back = self.b.branch(blocks[0])
        # The node is distinct by its number, as loops that share one would count as one loop. What
        # it says is written in llvm.py, since llvmlite has no words for it.
        text = f"{LOOP}.{self.loops}{'.' + SERIAL if has_loop else ''}"
        if lanes:
            text += "".join(f".{LANES}{ast.literal_eval(number)}" for number in lanes)
        back.set_metadata(NODE, self.b.module.add_metadata([text]))
        self.loops += 1
        self.b.position_at_end(blocks[2])
        # Loops of literal length (windows, short rows) do not count: they are unrolled, and then
        # the loop around them can be vectorised.
        return has_loop or not all(isinstance(limit, ast.Constant) for limit in limits)

    # Expressions

    def number(self, node: ast.expr, use: str) -> Any:
        return _whole(self.value(node), use)

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Name(id=name):
                return self.name(name)
            case ast.Constant(value=int() as value):
                return Value(ir.Constant(WORD, value), "int64")
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
                return Value(ir.Constant(WORD, -value), "int64")
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self.call(name, [self.value(arg) for arg in args])
            case ast.BinOp(left=left, op=op, right=right):
                return self.arithmetic(op, self.value(left), self.value(right))
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return self.argument(self.name(name), self.value(index))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                # Only positions and sizes are compared by signs; elements have words for it, in
                # which NaN and types without a sign are considered.
                x, y = (self.number(side, "comparison") for side in (left, right))
                return Value(self.b.icmp_signed(COMPARISONS[type(op)], x, y), "bool")
            case ast.BoolOp(op=ast.Or(), values=[left, right]):
                # Both sides are looked at: they are comparisons, which cost less than a branch
                # between them.
                return Value(self.b.or_(self.value(left).code, self.value(right).code), "bool")
        raise unknown(node)

    def call(self, name: str, values: list[Value]) -> Value:
        word = self.known.get(name)
        if word is None or word.arity != len(values):
            raise Unfit(f"{name} of {len(values)} arguments: there is no such word")
        kinds = tuple(value.kind for value in values)
        kind = word.result(*kinds)
        return Value(word.code(self.b, kinds, tuple(value.code for value in values)), kind)

    def arithmetic(self, op: ast.operator, x: Value, y: Value) -> Value:
        if type(op) not in _OPERATORS:
            raise unknown(op)
        left, right = (_whole(side, type(op).__name__.lower()) for side in (x, y))
        # Positions and offsets of elements are far from where whole numbers end.
        return Value(_OPERATORS[type(op)](self.b, left, right), "int64")

    def argument(self, block: Value, index: Value) -> Value:
        """args[i]: a typed address for the literal number of a buffer, else a number."""
        if block.kind != ARGUMENTS:
            raise Unfit(f"element of {block.kind}: only the argument block has any")
        code = self.b.load(self.b.gep(block.code, [_whole(index, "element")]))
        # An index that is no literal is no buffer's.
        number = index.code.constant if isinstance(index.code, ir.Constant) else len(self.buffers)
        if number >= len(self.buffers):
            return Value(code, "int64")
        is_constant = number in self.constant
        return Value(code, Address(self.buffers[number], self.space, is_constant))


_OPERATORS: dict[type[ast.operator], Callable[..., Any]] = {
    # No division: generated texts divide by words, which say what becomes of zero.
    ast.Add: lambda b, x, y: b.add(x, y, flags=("nsw",)),
    ast.Sub: lambda b, x, y: b.sub(x, y, flags=("nsw",)),
    ast.Mult: lambda b, x, y: b.mul(x, y, flags=("nsw",)),
}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def _whole(value: Value, use: str) -> Any:
    if value.kind != "int64":
        raise Unfit(f"{use} of {value.kind}: this is arithmetic of whole numbers")
    return value.code


def assigned_often(body: list[ast.stmt]) -> set[str]:
    """Names with several assignments, or with one besides being a loop's position."""
    counts: Counter[str] = Counter()
    positions = set()
    for node in (inner for statement in body for inner in ast.walk(statement)):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
                counts[name] += 1
            case ast.For(target=ast.Name(id=name)):
                positions.add(name)
    return {name for name, count in counts.items() if count + (name in positions) > 1}
