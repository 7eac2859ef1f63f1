# SPDX-License-Identifier: Apache-2.0
"""Symbolic sizes: a plan is traced once for a pattern of dimensions and bound to any sizes later.

A `Size` is a polynomial over atoms with an example value.  Arithmetic stays exact; a question that
the form alone cannot answer ("are these two equal?") is answered for the example and written down
as a guard.  A plan may serve other sizes as long as every guard gives the same answer for them.
Imports nothing from the package; what a trace knows of its symbols is in jit/kernel/size_scope.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Union

import numpy as np

if TYPE_CHECKING:
    from .size_scope import Scope

# Sizes of zero and one are never symbols (they change what broadcasting means), so a symbol is at
# least two.
SMALLEST_SYMBOL = 2
# Products of sums are multiplied out, so that equal sizes have equal texts.  Beyond so many terms
# the product becomes one atom: as exact, but equal by form to nothing that is written otherwise.
_MOST_TERMS = 24

Term = tuple[str, ...]  # the atoms of a product, sorted; each atom is a Python expression


class NeedsNumber(BaseException):
    """Code that runs on symbolic sizes asked for the number itself (see Scope.symbolic).

    Not an Exception, so that nobody on the way takes it for a failure of the code.
    """


class Unanswered(Exception):
    """A question about a size that only a run tells, half way through; the text is the question."""


def compile_function(symbols: Iterable[str], expression: str) -> Callable[..., Any]:
    """A Python function of the symbols that returns the expression."""
    code = f"lambda {', '.join(symbols)}: {expression}"
    return eval(code, {"min": min, "max": max, "__builtins__": {}})  # noqa: S307 - our own text


def symbols_of(text: str) -> list[str]:
    """The symbols in an expression, as often as they are there."""
    return _NAMES.findall(text)


_NAMES = re.compile(r"\bs\d+\b")


def number(size: AnySize, values: Mapping[str, int]) -> int:
    """The number of a size, given those of the symbols."""
    if not isinstance(size, Size):
        return int(size)
    return int(_evaluator(tuple(values), size.text)(*values.values()))


# For reports and tests, which ask for one size at a time; a plan has one function that computes all
# of its sizes (jit/schedule/bind.py).
_evaluator = cache(compile_function)


class Size:
    """A non-constant integer expression; operations that come out constant give plain ints."""

    __slots__ = ("_text", "hint", "scope", "terms")

    # Static shapes (engine/types/shape.py) hold sizes as they are.
    is_symbolic = True

    def __init__(self, scope: Scope, terms: Mapping[Term, int], hint: int) -> None:
        self.scope = scope
        self.terms = dict(terms)
        self.hint = hint
        self._text: str | None = None

    @property
    def text(self) -> str:
        """The canonical Python expression; equal polynomials have equal texts."""
        if self._text is None:
            parts = []
            for atoms, coefficient in sorted(self.terms.items()):
                factors = [*atoms] if coefficient == 1 and atoms else [str(coefficient), *atoms]
                parts.append("*".join(factors))
            # In brackets, since it is put into products and quotients as it is.
            self._text = parts[0] if len(parts) == 1 else "(" + " + ".join(parts) + ")"
        return self._text

    def __repr__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        # A size in a set or a dictionary must meet the equal number there: it becomes a number.
        return hash(int(self))

    def __int__(self) -> int:
        return self.scope.fix(self)

    __index__ = __int__

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __add__(self, other: Any) -> Any:
        other = _operand(other)
        if other is None:
            return NotImplemented
        if not isinstance(other, Size):
            return self._plus(other) if other else self
        terms = dict(self.terms)
        for atoms, coefficient in other.terms.items():
            terms[atoms] = terms.get(atoms, 0) + coefficient
        return made(self.scope, terms, self.hint + other.hint)

    def _plus(self, number: int) -> Size:
        terms = dict(self.terms)
        constant = terms.pop((), 0) + number
        if constant:
            terms[()] = constant
        return Size(self.scope, terms, self.hint + number)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Size:
        return self

    def __sub__(self, other: Any) -> Any:
        other = _operand(other)
        return NotImplemented if other is None else self + (-other)

    def __rsub__(self, other: Any) -> Any:
        other = _operand(other)
        return NotImplemented if other is None else (-self) + other

    def __mul__(self, other: Any) -> Any:
        other = _operand(other)
        if other is None:
            return NotImplemented
        if not isinstance(other, Size):
            if other == 1 or not other:
                return self if other else 0
            terms = {atoms: x * other for atoms, x in self.terms.items()}
            return Size(self.scope, terms, self.hint * other)
        if len(self.terms) * len(other.terms) > _MOST_TERMS:
            return _opaque(self.scope, f"{self.text}*{other.text}", self.hint * other.hint)
        terms = {}
        for a, x in self.terms.items():
            for b, y in other.terms.items():
                atoms = tuple(sorted(a + b))
                terms[atoms] = terms.get(atoms, 0) + x * y
        return made(self.scope, terms, self.hint * other.hint)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        other = _operand(other)
        return NotImplemented if other is None else _divide(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        other = _operand(other)
        return NotImplemented if other is None else _divide(other, self)

    def __mod__(self, other: Any) -> Any:
        other = _operand(other)
        return NotImplemented if other is None else _remainder(self, other)

    def __rmod__(self, other: Any) -> Any:
        other = _operand(other)
        return NotImplemented if other is None else _remainder(other, self)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __truediv__(self, other: Any) -> Any:
        # A fraction follows from the number itself, and the plan serves that number only.
        return int(self) / other

    def __float__(self) -> float:
        return float(int(self))

    def __eq__(self, other: Any) -> bool:
        other = _operand(other)
        return NotImplemented if other is None else _compare(self, other, "==")

    def __ne__(self, other: Any) -> bool:
        other = _operand(other)
        return NotImplemented if other is None else not _compare(self, other, "==")

    def __lt__(self, other: Any) -> bool:
        other = _operand(other)
        return NotImplemented if other is None else _compare(self, other, "<")

    def __ge__(self, other: Any) -> bool:
        other = _operand(other)
        return NotImplemented if other is None else not _compare(self, other, "<")

    def __gt__(self, other: Any) -> bool:
        other = _operand(other)
        return NotImplemented if other is None else _compare(other, self, "<")

    def __le__(self, other: Any) -> bool:
        other = _operand(other)
        return NotImplemented if other is None else not _compare(other, self, "<")


AnySize = Union[int, Size]


def hint(size: AnySize) -> int:
    """The example value of a size."""
    return size.hint if isinstance(size, Size) else int(size)


def is_symbolic(value: np.ndarray | np.generic) -> bool:
    """Is a value a size that is not just a number?"""
    return isinstance(value, Size)


def same(a: AnySize, b: AnySize) -> bool:
    """Are two sizes equal by form?  Never writes a guard; False may mean "not known"."""
    if a is b:
        return True
    if type(a) is int and type(b) is int:  # most of them
        return a == b
    if isinstance(a, Size):
        if isinstance(b, Size) and a.text == b.text:
            return True
        scope = a.scope
    elif isinstance(b, Size):
        scope = b.scope
    else:
        return int(a) == int(b)
    if not scope.fixed and not scope.solved:
        return False
    # What is fixed is fixed to the example; what is solved need not agree with it.
    if not scope.solved and hint(a) != hint(b):
        return False
    return _text(_settled(without_solved(a))) == _text(_settled(without_solved(b)))


def without_solved(size: AnySize) -> AnySize:
    """A size without the symbols that follow from others by what is taken for granted."""
    if not isinstance(size, Size) or not size.scope.solved:
        return size
    scope, total = size.scope, 0
    if not any(atom in scope.solved for atoms in size.terms for atom in atoms):
        return size
    for atoms, coefficient in size.terms.items():
        parts = [without_solved(scope.solved.get(a, Size(scope, {(a,): 1}, 0))) for a in atoms]
        total = total + product([coefficient, *parts])
    return by_examples(total)


def substituted(size: AnySize, names: Mapping[str, Size]) -> AnySize:
    """A size with others in the place of some of its symbols."""
    text = _text(size)
    found = [name for name in dict.fromkeys(symbols_of(text)) if name in names]
    if not isinstance(size, Size) or not found:
        return size
    rest = [name for name in dict.fromkeys(symbols_of(text)) if name not in names]
    code = f"lambda {', '.join((*found, *rest))}: {text}"
    compute = eval(code, {"min": minimum, "max": maximum, "__builtins__": {}})  # noqa: S307 - ours
    known = [*(names[name] for name in found), *(size.scope.named(name) for name in rest)]
    return compute(*known)  # type: ignore[no-any-return]


def by_examples(size: AnySize) -> AnySize:
    """A size with its example value, from those of the symbols."""
    if not isinstance(size, Size):
        return size
    return Size(size.scope, size.terms, number(size, size.scope.examples))


def _settled(size: AnySize) -> AnySize:
    """A size with numbers for the symbols that a guard ties to one."""
    if not isinstance(size, Size):
        return size
    fixed = size.scope.fixed
    terms: dict[Term, int] = {}
    for atoms, coefficient in size.terms.items():
        rest = tuple(atom for atom in atoms if atom not in fixed)
        for atom in atoms:
            coefficient *= fixed.get(atom, 1)
        terms[rest] = terms.get(rest, 0) + coefficient
    return made(size.scope, terms, size.hint)


def is_measured(size: AnySize) -> bool:
    """Does a run learn the size on its way?"""
    return isinstance(size, Size) and size.scope.is_measured(size.text)


def one_of(size: AnySize, known: Iterable[int]) -> int:
    """Which of some numbers a size is, for which there is code of its own; 0 for another.

    Also for what a run learns on its way: that is not asked.
    """
    return 0 if is_measured(size) else next((number for number in known if size == number), 0)


def same_shape(a: Sequence[AnySize], b: Sequence[AnySize]) -> bool:
    """`same` for every dimension of two shapes."""
    return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))


def agree(a: AnySize, b: AnySize) -> bool:
    """Are two sizes equal, where no others make sense?  As `==`, which may ask for more.

    (Elsewhere whether a measured size is one, and so is repeated, is a case of its own.)
    """
    difference = a - b
    if same(a, b) or not isinstance(difference, Size):
        return same(a, b)
    return difference.scope.takes_for_equal(a, b, is_needed=True) or bool(a == b)


def fits(found: AnySize, known: AnySize) -> bool:
    """Is a size no more than another, where nothing else makes sense?  As `<=`, see `agree`."""
    excess = found - known
    if not isinstance(excess, Size) or _sign(excess) is not None or _is_not_negative(-excess):
        return bool(found <= known)
    return excess.scope.takes_for_within(known, found, is_needed=True) or bool(found <= known)


def may_equal(a: AnySize, b: AnySize) -> bool:
    """Are two sizes equal for the example, or may they be taken for equal until a run tells?"""
    if hint(a) == hint(b):
        return True
    scope = a.scope if isinstance(a, Size) else b.scope if isinstance(b, Size) else None
    return bool(scope and scope.taken_for_zero and scope.is_measured(f"{_text(a)} {_text(b)}"))


def product(shape: Iterable[AnySize]) -> AnySize:
    """The number of elements of a shape."""
    total: AnySize = 1
    for size in shape:
        total = size * total
    return total


def minimum(a: AnySize, b: AnySize) -> AnySize:
    """The smaller size, without a guard."""
    return _choose("min", a, b)


def maximum(a: AnySize, b: AnySize) -> AnySize:
    """The larger size, without a guard."""
    return _choose("max", a, b)


def ceil_div(a: AnySize, b: AnySize) -> AnySize:
    """The quotient rounded up."""
    exact = _exact_quotient(a, b) if isinstance(a, Size) else None
    return (a + (b - 1)) // b if exact is None else exact


def expression(size: AnySize) -> str:
    """Python text that computes a size from the symbols."""
    return _text(size)


def _choose(name: str, a: AnySize, b: AnySize) -> AnySize:
    pick = min if name == "min" else max
    if not isinstance(a, Size) and not isinstance(b, Size):
        return pick(int(a), int(b))
    scope = a.scope if isinstance(a, Size) else b.scope  # type: ignore[union-attr]
    key = name, _text(a), _text(b)
    if key not in scope.results:
        scope.results[key] = _extreme(name, a, b, scope)
    return scope.results[key]


def _extreme(name: str, a: AnySize, b: AnySize, scope: Scope) -> AnySize:
    pick = min if name == "min" else max
    difference = a - b
    # (Not a comparison, which would write a guard: both answers can be put into the text.)
    sign = _sign(difference)
    if sign is None and _is_not_negative(difference):
        sign = 1
    if sign is not None:
        smaller, larger = (b, a) if sign >= 0 else (a, b)
        return smaller if name == "min" else larger
    text = f"{name}({_text(a)}, {_text(b)})"
    if (any if name == "max" else all)(map(_is_at_least_one, (a, b))):
        scope.at_least_one.add(f"({text})")
    elif scope.is_measured(text) and all(map(_is_not_negative, (a, b))):
        scope.at_least_zero.add(f"({text})")
    bounds = [n for n in (a, b) if name == "min" and not isinstance(n, Size)]
    scope.at_most.update((f"({text})", n) for n in bounds)
    return _opaque(scope, text, pick(hint(a), hint(b)))


def _operand(value: np.ndarray | np.generic) -> AnySize | None:
    if type(value) is int or isinstance(value, Size):
        return value
    if isinstance(value, (bool, int, np.integer)):
        return int(value)
    # Reference kernels that compute with sizes hand over arrays without dimensions.
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iuO":
        return _operand(value.item())
    return None


def _terms(value: AnySize) -> Mapping[Term, int]:
    return value.terms if isinstance(value, Size) else {(): int(value)}


def _text(value: AnySize) -> str:
    return value.text if isinstance(value, Size) else str(int(value))


def _divisor(value: AnySize) -> str:
    """The text of what something is divided by; `a / b*c` would divide by the first factor only."""
    text = _text(value)
    return text if text.isalnum() else f"({text})"


def made(scope: Scope, terms: dict[Term, int], example: int) -> AnySize:
    """A size of these terms; a plain number where it is one."""
    # What comes out constant must be an int: everybody takes a Size for a number not known.
    terms = {atoms: c for atoms, c in terms.items() if c}
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    return Size(scope, terms, example)


def _opaque(scope: Scope, text: str, example: int) -> Size:
    return Size(scope, {(f"({text})",): 1}, example)


def _divide(a: AnySize, b: AnySize) -> AnySize:
    _require_divisor(b)
    exact = _exact_quotient(a, b)
    if exact is not None:
        return exact
    scope = a.scope if isinstance(a, Size) else b.scope  # type: ignore[union-attr]
    return _quotient(scope, f"{_text(a)}//{_divisor(b)}", hint(a) // hint(b), a, b)


def _exact_quotient(a: AnySize, b: AnySize) -> AnySize | None:
    """a / b when b divides a as polynomials, else None."""
    if same(a, b):
        return 1
    if not isinstance(a, Size):  # what has symbols does not divide what has none
        return None
    if not isinstance(b, Size) and b:
        # (Nearly all divisors are numbers, of which each coefficient must be a multiple.)
        if any(c % b for c in a.terms.values()):
            return None
        return Size(a.scope, {atoms: c // b for atoms, c in a.terms.items()}, a.hint // b)
    # As Python's // does: a quotient that is not exact is rounded down, and no polynomial.
    quotient = _polynomial_quotient(dict(_terms(a)), _terms(b))
    if quotient is None:
        return None
    if not hint(b):
        return by_examples(made(a.scope, quotient, 0))
    return made(a.scope, quotient, a.hint // hint(b))


def _polynomial_quotient(
    rest: dict[Term, int], divisor: Mapping[Term, int]
) -> dict[Term, int] | None:
    """What the divisor is multiplied by to give `rest`, which is used up; None if by nothing."""
    names = sorted({atom for atoms in (*rest, *divisor) for atom in atoms})

    def rank(atoms: Term) -> tuple[int, ...]:
        return tuple(map(atoms.count, names))

    lead = max(divisor, key=rank)
    quotient: dict[Term, int] = {}
    while rest:
        largest = max(rest, key=rank)
        factor, odd = divmod(rest[largest], divisor[lead])
        left = list(largest)
        for atom in lead:
            if atom not in left:
                return None
            left.remove(atom)
        if odd:
            return None
        quotient[tuple(left)] = factor
        for atoms, coefficient in divisor.items():
            term = tuple(sorted((*atoms, *left)))
            rest[term] = rest.get(term, 0) - factor * coefficient
            if not rest[term]:
                del rest[term]
    return quotient


def _require_divisor(size: AnySize) -> None:
    """Refuses zero; of a size that may be zero, writes down that this plan is for others."""
    if _is_at_least_one(size):
        return
    if size == 0:
        raise ZeroDivisionError("a size is divided by zero")


def _is_at_least_one(size: AnySize) -> bool:
    """By form: positive, or a product of symbols and of maxima that are."""
    if is_positive(size):
        return True
    if not isinstance(size, Size) or len(size.terms) != 1:
        return False
    ((atoms, coefficient),) = size.terms.items()
    scope = size.scope
    return coefficient > 0 and all(
        a in scope.at_least_one if "(" in a else a not in scope.measured for a in atoms
    )


def _remainder(a: AnySize, b: AnySize) -> AnySize:
    _require_divisor(b)
    if _exact_quotient(a, b) is not None:
        return 0
    scope = a.scope if isinstance(a, Size) else b.scope  # type: ignore[union-attr]
    return _quotient(scope, f"{_text(a)}%{_divisor(b)}", hint(a) % hint(b), a, b)


def _quotient(scope: Scope, text: str, example: int, a: AnySize, b: AnySize) -> Size:
    """What comes of a division, or is left of it; of two numbers above zero no less than zero."""
    if _is_not_negative(a) and _is_at_least_one(b):
        scope.at_least_zero.add(f"({text})")
    return _opaque(scope, text, example)


def is_positive(size: AnySize) -> bool:
    """Is a size more than zero by form?  Never writes a guard; False may mean "not known"."""
    return _sign(size) == 1


def _sign(value: AnySize) -> int | None:
    """+1 or -1 when the form alone says that a size is positive or negative, 0 for zero."""
    if not isinstance(value, Size):
        return (value > 0) - (value < 0)
    for sign in (1, -1):
        least = _least(value, sign)
        if least is not None and least > 0:
            return sign
    return None


def _is_not_negative(size: AnySize) -> bool:
    """Is a size zero or more by form?  Never writes a guard; False may mean "not known"."""
    least = _least(size, 1) if isinstance(size, Size) else size
    return least is not None and least >= 0


def _least(value: Size, sign: int) -> int | None:
    """What a size (of sign -1: its negative) is at least by form; None where that is unknown."""
    # Symbols are at least SMALLEST_SYMBOL, so terms of one sign have a least sum; atoms in brackets
    # (quotients, minima) may be anything, unless they are known not to be negative.
    scope, total = value.scope, 0
    for atoms, coefficient in value.terms.items():
        factor = coefficient * sign
        if not atoms:
            total += factor
        elif factor < 0:
            if len(atoms) > 1 or atoms[0] not in scope.at_most:
                return None
            total += factor * scope.at_most[atoms[0]]
        else:
            known = [scope.is_from_zero(atom) for atom in atoms]
            if any("(" in atom and not is_known for atom, is_known in zip(atoms, known)):
                return None
            total += 0 if any(known) else factor * SMALLEST_SYMBOL ** len(atoms)
    return total


def _compare(a: AnySize, b: AnySize, relation: str) -> bool:
    a, b = without_solved(a), without_solved(b)
    difference = a - b
    sign = _sign(difference)
    if sign is not None:
        return sign == 0 if relation == "==" else sign < 0
    if relation == "<" and isinstance(difference, Size) and _least(difference, 1) == 0:
        return False
    answer = hint(a) == hint(b) if relation == "==" else hint(a) < hint(b)
    scope = a.scope if isinstance(a, Size) else b.scope  # type: ignore[union-attr]
    if relation == "==" and scope.takes_for_equal(a, b):
        return True
    if relation == "<" and scope.takes_for_within(a, b):
        return False
    return scope.ask(f"{_text(a)} {relation} {_text(b)}", answer)
