# SPDX-License-Identifier: Apache-2.0
"""Iterators of a session: resources that hold a stream of a dataset, and optional values."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....engine import errors
from ....engine.types.dtypes import DType, boxed, runtime_name
from ....engine.types.shape import TensorShape, shape_text
from .context import Context
from .dataset import Dataset, Element, State, Stream
from .functions import require_stateless
from .kept_functions import KeptFunctions

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession

_UNINITIALIZED = (
    "{} failed because the iterator has not been initialized. Ensure that you have run the "
    "initializer operation for this iterator before {}."
)


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
        self._lock = threading.RLock()
        self._context: Context | None = None
        self._stream: Stream | None = None
        self._dataset: Dataset | None = None
        self._functions = KeptFunctions()

    def begin(self, dataset: Dataset, session: BaseSession) -> None:
        """Begins to read a dataset."""
        require_types(self.types, dataset.types)
        require_shapes(self.shapes, dataset.shapes)
        context = Context(session, self._functions)
        stream = dataset.stream(context, "Iterator")
        self.close()
        with self._lock:
            self._context, self._stream, self._dataset = context, stream, dataset

    def _require(self, what: str, doing: str) -> Stream:
        if self._stream is None:
            raise errors.failed_precondition(_UNINITIALIZED.format(what, doing))
        return self._stream

    def next(self, session: BaseSession) -> Element | None:
        """The next element; None at the end."""
        with self._lock:
            stream = self._require("GetNext()", "getting the next element")
            assert self._context is not None
            self._context.follow(session)
            return stream.next()

    def save(self) -> State:
        """What `restore` needs to go on from here."""
        with self._lock:
            stream = self._require("Save()", "saving it")
            assert self._dataset is not None
            require_stateless(self._dataset)
            return stream.save()

    def restore(self, state: State, session: BaseSession) -> None:
        """Goes on where an iterator over the same dataset was saved."""
        with self._lock:
            self._require("Restore()", "restoring it")
            assert self._dataset is not None
            context = Context(session, self._functions)
            stream = self._dataset.stream(context, "Iterator")
            stream.restore(state)
            self.close()
            self._context, self._stream = context, stream

    def close(self) -> None:
        """Ends what is being read."""
        context, stream = self._context, self._stream
        if context is not None:
            context.is_cancelled = True
        if stream is not None:
            stream.close()
        self._stream = self._context = None

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
