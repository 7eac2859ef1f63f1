# SPDX-License-Identifier: Apache-2.0
"""Datasets that are made of elements and take turns: whose turn it is, and how to go on later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from ....engine import errors
from .dataset import Element, State, Stream

# What begins a stream of the dataset that a function makes of an element with a number.
Begin = Callable[[Element, int], Stream]


class Turn:
    """A dataset that has its turns, and the element that it was made of."""

    def __init__(self, element: Element, number: int, stream: Stream) -> None:
        self.element, self.number, self.stream = element, number, stream

    def save(self) -> State:
        """Where it is."""
        return {
            "element": list(self.element),
            "number": self.number,
            "stream": self.stream.save(),
        }

    def restore(self, state: State) -> None:
        """Goes on where another one was."""
        self.stream.restore(state["stream"])


T = TypeVar("T", bound=Turn)
Given_co = TypeVar("Given_co", bound=Turn, covariant=True)


class Order(Protocol[Given_co]):
    """Says which of some datasets gives the next elements."""

    # How many datasets there are at a time, and how many elements each gives at a time.
    cycle: int
    block: int

    @property
    def left(self) -> int:
        """How many elements the one whose turn it is may give before it is another one's."""

    def current(self) -> Given_co | None:
        """The dataset whose turn it is, begun if it has to be; None at the end of all."""

    def gave(self, count: int = 1) -> None:
        """Says that the one whose turn it is gave elements, at most `left`."""

    def failed(self) -> None:
        """Says that the one whose turn it is gave an error."""

    def end(self) -> None:
        """Says that the one whose turn it is has none left."""

    def save(self) -> State:
        """What `restore` needs."""

    def restore(self, state: State) -> None:
        """Goes on where others were."""

    def close(self) -> None:
        """Ends all."""


class Turns(Generic[T]):
    """Some datasets, of elements of a source, each of which gives some elements at a time.

    A place whose dataset has ended is free; when its turn comes the next dataset begins there.
    """

    def __init__(
        self,
        source: Stream,
        begin: Begin,
        numbers: tuple[int, int],
        make: Callable[[Element, int, Stream], T],
    ) -> None:
        """numbers: how many datasets take turns, and how many elements each gives at a time.

        make: makes what is known of a dataset that takes turns.
        """
        self.cycle, self.block = numbers
        self.at = self.given = self.number = 0
        self.is_over = False
        self._source, self._begin, self._make = source, begin, make
        self._places = self._none()

    def _none(self) -> list[T | None]:
        return [None] * self.cycle

    @property
    def left(self) -> int:
        """See Order."""
        return self.block - self.given

    def current(self) -> T | None:
        """See Order."""
        while not self.is_over or any(self._places):
            turn = self._places[self.at]
            if turn is None and not self.is_over:
                turn = self._places[self.at] = self._next()
            elif turn is None:
                self._advance()
            if turn is not None:
                return turn
        return None

    def gave(self, count: int = 1) -> None:
        """See Order."""
        self.given += count
        if self.given == self.block:
            self._advance()

    def failed(self) -> None:
        """See Order: it goes on with its turn."""

    def end(self) -> None:
        """See Order."""
        turn = self._places[self.at]
        assert turn is not None
        turn.stream.close()
        self._places[self.at] = None
        self._advance()

    def _advance(self) -> None:
        self.given = 0
        self.at = (self.at + 1) % len(self._places) if self._places else 0

    def _next(self) -> T | None:
        """Begins with a dataset more, if there is one."""
        element = None if self.is_over else self._source.next()
        if element is None:
            self.is_over = True
            return None
        self.number += 1
        return self._made(element, self.number)

    def _made(self, element: Element, number: int) -> T:
        return self._make(element, number, self._begin(element, number))

    def save(self) -> State:
        """See Order."""
        return {
            "source": self._source.save(),
            "turns": [{} if turn is None else turn.save() for turn in self._places],
            "place": self.at,
            "given": self.given,
            "number": self.number,
            "over": int(self.is_over),
        }

    def restore(self, state: State) -> None:
        """See Order."""
        self._source.restore(state["source"])
        self.at, self.given = state["place"], state["given"]
        self.number, self.is_over = state["number"], bool(state["over"])
        self._places = [self._restored(saved) if saved else None for saved in state["turns"]]

    def _restored(self, saved: dict[str, Any]) -> T:
        turn = self._made(tuple(saved["element"]), saved["number"])
        turn.restore(saved)
        return turn

    def close(self) -> None:
        """See Order."""
        self._source.close()
        for turn in self._places:
            if turn is not None:
                turn.stream.close()


class ClosedUpTurns(Turns[T]):
    """The same without free places: who has ended gives its place to the next dataset at once.

    That has its first turn when all others have had theirs.  An error counts as an element, and
    what fails to begin has its turn, too.
    """

    def _none(self) -> list[T | None]:
        return []

    def current(self) -> T | None:
        while not self.is_over and len(self._places) < self.cycle:
            turn = self._next()
            if turn is not None:
                self._places.append(turn)
        return self._places[self.at] if self._places else None

    def failed(self) -> None:
        self.gave()

    def end(self) -> None:
        turn = self._places[self.at]
        assert turn is not None
        turn.stream.close()
        other = self._next()
        if other is not None:
            self._places[self.at] = other
            self._advance()
            return
        del self._places[self.at]
        self.given = 0
        self.at = self.at % len(self._places) if self._places else 0

    def _next(self) -> T | None:
        try:
            return super()._next()
        except (errors.CancelledError, errors.DeadlineExceededError):
            raise
        except errors.OpError as error:
            return self._make((), self.number, _Failed(error))


class ChosenTurns(Generic[T]):
    """Some datasets, and one of numbers that says of which each element is.

    One that has ended is passed over when it is chosen again.
    """

    block = left = 1

    def __init__(
        self,
        selector: Stream,
        sources: Sequence[Stream],
        make: Callable[[Element, int, Stream], T],
    ) -> None:
        """make: see Turns."""
        self.cycle = len(sources)
        self._selector: Stream | None = selector
        self._turns: list[T | None] = [make((), *pair) for pair in enumerate(sources)]
        # That which has its turn, if it is known.
        self._choice: int | None = None

    def current(self) -> T | None:
        """See Order."""
        while self._selector is not None and any(self._turns):
            if self._choice is None:
                self._choice = self._chosen(self._selector)
            if self._choice is None:
                break
            turn = self._turns[self._choice]
            if turn is not None:
                return turn
            self._choice = None
        self.close()
        self._selector = None
        return None

    def _chosen(self, selector: Stream) -> int | None:
        choice = selector.next()
        if choice is None:
            return None
        number = int(choice[0])
        if not 0 <= number < self.cycle:
            raise errors.invalid(f"Selector index out of range: {number} >= {self.cycle}")
        return number

    def gave(self, count: int = 1) -> None:
        """See Order."""
        del count
        self._choice = None

    failed = gave

    def end(self) -> None:
        """See Order."""
        assert self._choice is not None
        self._drop(self._choice)
        self._choice = None

    def _drop(self, number: int) -> None:
        turn, self._turns[number] = self._turns[number], None
        if turn is not None:
            turn.stream.close()

    def save(self) -> State:
        """See Order."""
        if self._selector is None:
            return {}
        return {
            "selector": self._selector.save(),
            "turns": [{} if turn is None else turn.save() for turn in self._turns],
            "choice": -1 if self._choice is None else self._choice,
        }

    def restore(self, state: State) -> None:
        """See Order."""
        if "selector" not in state:
            self.close()
            self._selector = None
            return
        assert self._selector is not None
        self._selector.restore(state["selector"])
        self._choice = state["choice"] if state["choice"] >= 0 else None
        for number, (turn, saved) in enumerate(zip(self._turns, state["turns"])):
            if not saved:
                self._drop(number)
            elif turn is not None:
                turn.restore(saved)

    def close(self) -> None:
        """See Order."""
        if self._selector is not None:
            self._selector.close()
        for turn in self._turns:
            if turn is not None:
                turn.stream.close()


class _Failed(Stream):
    """In the place of elements, an error once."""

    def __init__(self, error: errors.OpError) -> None:
        self._error: errors.OpError | None = error

    def next(self) -> Element | None:
        error, self._error = self._error, None
        if error is not None:
            raise error
        return None
