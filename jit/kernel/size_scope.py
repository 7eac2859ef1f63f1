# SPDX-License-Identifier: Apache-2.0
"""What a trace knows of its symbolic sizes, and what it relied on: guards, and what runs must find.

Imports sizes, which ask their scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .sizes import (
    SMALLEST_SYMBOL,
    AnySize,
    NeedsNumber,
    Size,
    Unanswered,
    by_examples,
    compile_function,
    expression,
    is_measured,
    made,
    symbols_of,
    without_solved,
)

# Of so many measured sizes the examples are as large as is likely, of more as small as they can be.
_MOST_LARGE = 6


class Scope:
    """The symbols of one trace, their example values, and the guards written down for them."""

    def __init__(self) -> None:
        self.examples: dict[str, int] = {}
        self.guards: dict[str, bool] = {}
        # Symbols that a guard ties to one number: wherever sizes are compared they are that number.
        self.fixed: dict[str, int] = {}
        # Texts of minima and maxima that are one or more, whatever the symbols are.
        self.at_least_one: set[str] = set()
        # Texts of quotients, and of minima and maxima of measured sizes, that are zero or more.
        self.at_least_zero: set[str] = set()
        # Minima and maxima that were asked for, by name and operands' texts.  (What is known of an
        # atom is known when it is made, so that they would come out the same again.)
        self.results: dict[tuple[str, str, str], AnySize] = {}
        # Texts of minima, and the number that none is above.
        self.at_most: dict[str, int] = {}
        # Symbols for sizes that a run measures on its way.  They may be zero, and no guard can ask
        # for them: when they are known it is too late for another plan.
        self.measured: list[str] = []
        # Where each was measured: the conditions, and the turns of loops, under which it is known.
        self.places: dict[str, frozenset[Any]] = {}
        # Of those that hold for one turn of a loop: the program that is run in each.
        self.turns: dict[str, object] = {}
        # Differences of measured sizes that a run must find to be zero, by their text, and what
        # symbols follow from that.  (Their example values need not agree.)
        self.taken_for_zero: dict[str, Size] = {}
        self.solved: dict[str, AnySize] = {}
        # Texts of measured sizes that a run must find to be more than zero.
        self.taken_for_some: set[str] = set()
        # Texts of differences that a run must find to be no more than zero.
        self.taken_for_within: set[str] = set()
        # Texts of what is not taken for granted any more.
        self._doubted: frozenset[str] = frozenset()
        self._is_strict = self._may_assume = False

    @contextmanager
    def assuming(self, may_assume: bool, doubted: frozenset[str] = frozenset()) -> Iterator[None]:
        """Within it, measured sizes that are compared may be taken for equal.

        doubted: the texts of what a run has found to be otherwise.

        Whoever compares two sizes needs them equal; the run sees to it as soon as it knows both.
        (Whether there is one element is a case of its own.)  And whoever asks whether there is
        anything at all asks for a case that is rare.
        """
        self._may_assume, self._doubted = may_assume, doubted
        try:
            yield
        finally:
            self._may_assume, self._doubted = False, frozenset()

    def takes_for_equal(self, a: AnySize, b: AnySize, is_needed: bool = False) -> bool:
        """Whether two measured sizes count as equal until a run knows them, now noting that.

        is_needed: also where one is so small that elsewhere that is a case of its own.
        """
        difference = a - b
        assert isinstance(difference, Size)
        if not {difference.text, expression(-difference)}.isdisjoint(self.taken_for_zero):
            return True
        if not self._may_assume or self._is_strict or not self.is_measured(difference.text):
            return False
        small = [size for size in (a, b) if not isinstance(size, Size) and size < SMALLEST_SYMBOL]
        if small and not is_needed:
            return False
        if not self._can_be_taken(difference.text):
            return False
        self.taken_for_zero[difference.text] = difference
        self._solve(difference)
        return True

    def takes_for_within(self, known: AnySize, found: AnySize, is_needed: bool = False) -> bool:
        """Whether a measured size counts as no more than a known one, now noting that.

        Whoever cuts a piece out of something, or adds what is missing, seldom asks for more than
        there is.  is_needed: whatever they are, as nothing else makes sense.
        """
        excess = found - known
        if not self._may_assume or self._is_strict or not isinstance(excess, Size):
            return False
        measured = {atoms: self.is_measured("*".join(atoms)) for atoms in excess.terms if atoms}
        learnt = [(atoms, n) for atoms, n in excess.terms.items() if measured.get(atoms)]
        if not learnt or any(len(a) > 1 or "(" in a[0] for a, _ in learnt):
            return False
        more = excess.terms.get((), 0)
        bounds = [n for atoms, n in excess.terms.items() if atoms and not measured[atoms]]
        # (That there is at most one is no such case.)
        is_usual = all(n > 0 for _, n in learnt) and (bool(bounds) or more < -1)
        # Whoever takes the last of something has something.
        is_usual |= not bounds and more == 1 and [n for _, n in learnt] == [-1]
        if not is_needed and (not is_usual or any(n > 0 for n in bounds)):
            return False
        if not self._can_be_taken(excess.text):
            return False
        self.taken_for_within.add(excess.text)
        return True

    def must_not_be_negative(self, size: Size) -> None:
        """Has a run that measures something find it to be zero or more."""
        self.taken_for_within.add((-size).text)

    def _solve(self, difference: Size) -> None:
        """Notes which symbol is what others make it, if a difference of sizes is zero."""
        # In terms of those that nothing is noted of, as no two may be made of each other.
        reduced = without_solved(difference)
        if not isinstance(reduced, Size):
            return
        difference = reduced
        for name in reversed(self.measured):
            factor = difference.terms.get((name,), 0)
            uses = sum(name in symbols_of("*".join(atoms)) for atoms in difference.terms)
            if abs(factor) == 1 and uses == 1 and self.is_known(difference, self.places[name]):
                rest = {atoms: -n * factor for atoms, n in difference.terms.items()}
                del rest[name,]
                self.solved[name] = by_examples(made(self, rest, 0))
                return

    def symbolic(self) -> Symbolic:
        """Within it, a size asked for its number raises NeedsNumber instead of fixing the number.

        What was noted as guards until then is forgotten.
        """
        return Symbolic(self)

    def be_strict(self, is_strict: bool) -> None:
        """From here on a size that is asked for its number raises NeedsNumber, or no longer."""
        self._is_strict = is_strict

    def mark(self) -> int:
        """Where the guards end by now, for `forget_guards`."""
        return len(self.guards)

    def forget_guards(self, mark: int) -> None:
        """Forgets what was asked since `mark`: what it was asked for has come to nothing."""
        while len(self.guards) > mark:
            self.guards.popitem()
        held = {text.partition(" == ")[0] for text, answer in self.guards.items() if answer}
        self.fixed = {name: number for name, number in self.fixed.items() if name in held}

    def fix(self, size: Size) -> int:
        """The number of a size, noting that the plan serves this number only."""
        if self._is_strict:
            raise NeedsNumber(size.text)
        self.ask(f"{size.text} == {size.hint}", True)
        return size.hint

    def symbol(self, example: int) -> Size:
        """A new symbol whose example is `example` (two or more)."""
        if example < SMALLEST_SYMBOL:
            raise ValueError(f"a symbolic size is at least {SMALLEST_SYMBOL}, not {example}")
        name = f"s{len(self.examples)}"
        self.examples[name] = example
        return Size(self, {(name,): 1}, example)

    def measure(self, example: int, place: frozenset[Any] = frozenset()) -> Size:
        """A new symbol for a size, zero or more, that is measured when a run comes to a place."""
        # A run begins with memory for examples, which of many axes together must not be much.
        if len(self.measured) >= _MOST_LARGE:
            example = min(example, SMALLEST_SYMBOL)
        name = f"s{len(self.examples)}"
        self.examples[name], self.places[name] = example, place
        self.measured.append(name)
        return Size(self, {(name,): 1}, example)

    def is_known(self, size: AnySize, place: frozenset[Any]) -> bool:
        """Is a size known wherever these conditions hold, in these turns?"""
        names = symbols_of(size.text) if isinstance(size, Size) else ()
        return all(self.places.get(name, place) <= place for name in names)

    def _can_be_taken(self, text: str) -> bool:
        """Was no run found to be otherwise, and does one that learns the last size know all?"""
        if text in self._doubted:
            return False
        names = set(symbols_of(text))
        places = [self.places[name] for name in self.measured if name in names]
        return all(place <= places[-1] for place in places)

    def is_from_zero(self, atom: str) -> bool:
        """Is an atom of a size zero or more, perhaps zero?"""
        return atom in self.at_least_zero or atom in self.at_least_one or atom in self.places

    def is_measured(self, text: str) -> bool:
        """Does an expression have a size in it that a run measures?"""
        return bool(self.measured) and not set(symbols_of(text)).isdisjoint(self.measured)

    def named(self, name: str) -> Size:
        """The symbol of that name."""
        return Size(self, {(name,): 1}, self.examples[name])

    def ask(self, text: str, answer: bool) -> bool:
        """Notes that the trace relied on `text` being `answer`."""
        if self.is_measured(text):
            is_some = self._taken_for_some(text)
            if is_some is not None:
                return is_some
            raise NeedsNumber(text) if self._is_strict else Unanswered(text)
        self.guards[text] = bool(answer)
        # Of other equations, such as s0*s1 == 6, no single symbol follows.
        symbol, equals, number = text.partition(" == ")
        if answer and equals and symbol in self.examples and number.isdigit():
            self.fixed[symbol] = int(number)
        return bool(answer)

    def _taken_for_some(self, text: str) -> bool | None:
        """The answer to whether a measured size is zero, or less, if one may be assumed.

        It is noted, too.
        """
        if not self._may_assume or self._is_strict:
            return None
        size, less, _ = text.partition(" < 0")
        if less:
            # Whoever asks that of a size looks for mistakes.
            return None if not self._take(self.taken_for_within, f"-({size})") else False
        for sign in (" == 0", " < 1"):
            if text.endswith(sign):
                is_taken = self._take(self.taken_for_some, text.removesuffix(sign))
                return False if is_taken else None
        if text.startswith("0 < "):
            return self._take(self.taken_for_some, text.removeprefix("0 < ")) or None
        return None

    def _take(self, taken: set[str], text: str) -> bool:
        """Notes what a run must find, if it may be taken for granted."""
        if not self._can_be_taken(text):
            return False
        taken.add(text)
        return True

    def tests(self, known: set[str], new: str) -> list[tuple[str, Callable[..., bool]]]:
        """What was taken for granted of sizes as soon as a run knows `new` besides other symbols.

        Texts, each with a function of the symbols' values, in order: is it so?
        """
        found = []
        zero = ((text, "== 0") for text in self.taken_for_zero)
        some = ((text, "> 0") for text in sorted(self.taken_for_some))
        within = ((text, "<= 0") for text in sorted(self.taken_for_within))
        for text, relation in (*zero, *some, *within):
            names = set(symbols_of(text)).intersection(self.measured)
            if new in names and names <= {*known, new}:
                found.append((text, compile_function(self.examples, f"{text} {relation}")))
        return found

    def checker(self) -> Callable[..., bool]:
        """A function of the symbols' values, in order: do all guards hold?"""
        tests = [text if answer else f"not ({text})" for text, answer in self.guards.items()]
        return compile_function(self.examples, " and ".join(tests) or "True")


# How much each integer type that sizes are computed in can hold, either way.
_LIMITS = {"int32": 1 << 31, "int64": 1 << 63}
# What is fed is a size up to this; beyond, it is data.  (And few tensors have more along an axis.)
LARGEST_FED = 1 << 24


def may_be_fed(numbers: Sequence[int]) -> bool:
    """Are these perhaps sizes, that a run is given?  (-1 is one that follows from others.)"""
    return not numbers or (min(numbers) >= -1 and max(numbers) <= LARGEST_FED)


def holds_exactly(dtype: str, size: AnySize) -> bool:
    """Is a size, computed exactly, what arithmetic of the type gives?  It does where it fits.

    Asks for a guard where sizes that there may well be have products that do not.
    """
    limit = _LIMITS.get(dtype)
    if limit is None:
        return dtype == "bool" or dtype.startswith("float")
    if not isinstance(size, Size):
        return -limit <= size < limit
    reach = sum(abs(factor) * LARGEST_FED ** len(atoms) for atoms, factor in size.terms.items())
    # (Of what a run measures on its way there is no guard.)
    return reach < limit or is_measured(size) or (size < limit and size >= -limit)


class Symbolic:
    """See Scope.symbolic.  (A class, as a trace enters it several times for each operation.)"""

    __slots__ = ("_mark", "_scope")

    def __init__(self, scope: Scope) -> None:
        self._scope, self._mark = scope, scope.mark()

    def __enter__(self) -> None:
        self._scope.be_strict(True)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._scope.be_strict(False)
        if kind is not None and issubclass(kind, NeedsNumber):
            self._scope.forget_guards(self._mark)


def unify(
    scope: Scope, shapes: Sequence[Sequence[int]], static: Sequence[Sequence[int | None] | None]
) -> tuple[list[tuple[AnySize, ...]], tuple[Any, ...]]:
    """Turns concrete shapes into symbolic ones: equal sizes become the same symbol.

    static gives what the graph says of each shape: known dimensions stay plain ints.  Returns the
    symbolic shapes and the values of the symbols in order.
    """
    symbols: dict[int, Size] = {}
    result = []
    for shape, known in zip(shapes, static):
        sizes: list[AnySize] = []
        # That sizes happen to be equal is no guard but part of the pattern that plans are kept by:
        # a run in which they differ finds another plan.
        for axis, size in enumerate(shape):
            fixed = known is not None and axis < len(known) and known[axis] is not None
            if fixed or size < SMALLEST_SYMBOL:
                sizes.append(int(size))
            else:
                if size not in symbols:
                    symbols[size] = scope.symbol(size)
                sizes.append(symbols[size])
        result.append(tuple(sizes))
    return result, tuple(symbols)
