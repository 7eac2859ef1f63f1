# SPDX-License-Identifier: Apache-2.0
"""Iterators of a session: resources that hold a stream of a dataset, and optional values."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....engine import errors, stopping
from ....engine.types.dtypes import DType, boxed, runtime_name
from ....engine.types.shape import TensorShape, shape_text
from .context import Context
from .dataset import Dataset, Element, State
from .functions import require_stateless
from .kept_functions import KeptFunctions

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession

_UNINITIALIZED = (
    "{} failed because the iterator has not been initialized. Ensure that you have run the "
    "initializer operation for this iterator before {}."
)


class _Reading:
    """What reads a dataset, one element at a time; `lock` is held meanwhile."""

    def __init__(self, dataset: Dataset, context: Context) -> None:
        self.dataset, self.context = dataset, context
        self.stream = dataset.stream(context, "Iterator")
        self.lock = threading.RLock()
        self.is_closed = False
        self._is_replaced = False

    def next(self, session: BaseSession) -> Element | None:
        """The next element, or None at the end; with the lock held."""
        self.context.follow(session)
        element = self.stream.next()
        if self.context.is_ending:  # what is closed meanwhile ends, perhaps within a batch
            stopping.check_session(session)
            self.context.check()
        return element

    def replace(self) -> None:
        """Says that another one is read now: it is closed behind those who still read it."""
        self._is_replaced = True
        self.end()

    def end(self) -> None:
        """Closes what was replaced if nobody reads it; whoever does calls this again."""
        if self._is_replaced and self.lock.acquire(blocking=False):
            try:
                self.close()
            finally:
                self.lock.release()

    def close(self) -> None:
        """Ends what is being read, and whoever reads."""
        if not self.is_closed:
            self.is_closed = self.context.is_cancelled = True
            self.stream.close()


class IteratorResource:
    """What the handle of an iterator stands for."""

    _numbers = itertools.count()

    def __init__(
        self,
        name: str,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        container: str = "",
    ) -> None:
        self.name, self.container = name, container
        self.types, self.shapes = list(types), list(shapes)
        self._reading: _Reading | None = None
        self._functions = KeptFunctions()

    def begin(self, dataset: Dataset, session: BaseSession) -> None:
        """Begins to read a dataset; whoever reads another one gets an element of that."""
        require_types(self.types, dataset.types)
        require_shapes(self.shapes, dataset.shapes)
        self._replace(_Reading(dataset, Context(session, self._functions)))

    def _replace(self, reading: _Reading) -> None:
        before, self._reading = self._reading, reading
        if before is not None:
            before.replace()

    def _require(self, what: str, doing: str) -> _Reading:
        reading = self._reading
        if reading is None:
            raise errors.failed_precondition(_UNINITIALIZED.format(what, doing))
        return reading

    def next(self, session: BaseSession) -> Element | None:
        """The next element; None at the end."""
        while True:
            reading = self._require("GetNext()", "getting the next element")
            try:
                with reading.lock:
                    if not reading.is_closed:
                        return reading.next(session)
            finally:
                reading.end()
            stopping.check_session(session)

    def save(self) -> State:
        """What `restore` needs to go on from here."""
        reading = self._require("Save()", "saving it")
        with reading.lock:
            require_stateless(reading.dataset)
            return reading.stream.save()

    def restore(self, state: State, session: BaseSession) -> None:
        """Goes on where an iterator over the same dataset was saved."""
        before = self._require("Restore()", "restoring it")
        reading = _Reading(before.dataset, Context(session, self._functions))
        reading.stream.restore(state)
        self._replace(reading)

    def close(self) -> None:
        """Ends what is being read."""
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.close()

    def __repr__(self) -> str:
        return f"<IteratorResource {self.name!r}>"


def require_types(expected: Sequence[DType], given: Sequence[DType]) -> None:
    """InvalidArgumentError where elements are of other types."""
    if len(expected) != len(given):
        raise errors.invalid(
            f"Number of components does not match: expected {len(expected)} types but got "
            f"{len(given)}."
        )
    for i, (mine, theirs) in enumerate(zip(expected, given)):
        if mine.base_dtype != theirs.base_dtype:
            raise errors.invalid(
                f"Data type mismatch at component {i}: expected {runtime_name(mine)} but got "
                f"{runtime_name(theirs)}."
            )


def require_shapes(expected: Sequence[TensorShape], given: Sequence[TensorShape]) -> None:
    """InvalidArgumentError where elements are of shapes that do not fit."""
    if len(expected) != len(given):
        raise errors.invalid(
            f"Number of components does not match: expected {len(expected)} shapes but got "
            f"{len(given)}."
        )
    for i, (mine, theirs) in enumerate(zip(expected, given)):
        if not mine.is_compatible_with(theirs):
            raise errors.invalid(
                f"Incompatible shapes at component {i}: expected {shape_text(mine)} but got "
                f"{shape_text(theirs)}."
            )


class OptionalValue:
    """An element, or nothing."""

    __slots__ = ("element",)

    def __init__(self, element: Element | None) -> None:
        self.element = element

    def boxed(self) -> np.ndarray:
        """As the value of a scalar variant tensor."""
        return boxed(self)

    def zeroed(self) -> OptionalValue:
        """Zeros in the place of the element; nothing stays nothing."""
        if self.element is None:
            return self
        return OptionalValue(tuple(map(_zeroed, self.element)))

    def __add__(self, other: OptionalValue) -> OptionalValue:
        if self.element is None and other.element is None:
            return self
        if self.element is None or other.element is None:
            raise errors.invalid(
                "Cannot add optionals because one has a value and the other doesn't."
            )
        pairs = zip(self.element, other.element, strict=True)
        return OptionalValue(tuple(np.asarray(a + b) for a, b in pairs))

    def __repr__(self) -> str:
        return "OptionalValue(none)" if self.element is None else f"OptionalValue({self.element})"


def _zeroed(component: np.ndarray) -> np.ndarray:
    zeros = np.zeros_like(component)
    if zeros.dtype == object:
        for place, item in np.ndenumerate(component):
            zeroed = getattr(item, "zeroed", None)
            zeros[place] = item if zeroed is None else zeroed()
    return zeros


def optional_in(value: object) -> OptionalValue:
    """The optional that a scalar variant tensor holds."""
    found = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not isinstance(found, OptionalValue):
        raise errors.invalid(f"The given variant is no Optional: {found!r}")
    return found
