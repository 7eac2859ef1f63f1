# SPDX-License-Identifier: Apache-2.0
"""`for` over datasets and iterators in rewritten functions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from ...public import tf
from ..effects import are_ordered, behind, current, ordered
from .control import Loop, Values, if_stmt


def over_dataset(
    loop: Loop, dataset: Any, extra_test: Callable[..., Any] | None, body: Callable[..., Any]
) -> Values:
    """Over the elements of a dataset, as long as `extra_test` says: `Dataset.reduce`."""
    first = loop.begin()
    effects = current()
    # (What is reduced must be something.)
    state = behind(effects.settle() if effects is not None else [], first or [tf.constant(0)])
    touched: list[bool] = []

    def turn(tensors: Sequence[Any], element: Any) -> tuple[Any, ...]:
        with ordered() if are_ordered() else contextlib.nullcontext() as inner:
            found = loop.after(body(element, *loop.write(tensors[: len(first)])), False)
            if inner is None:
                return tuple(found) or tuple(tensors)
            done = inner.settle()
            touched.append(inner.touches_anything)
            return tuple(behind(done, found or tensors))

    if extra_test is None:
        reduced = dataset.reduce(tuple(state), turn)
    else:
        reduced = _until(dataset, tuple(state), _tested(loop, first, extra_test), turn)
    if effects is not None:
        effects.pass_over(reduced[0].op if any(touched) else None)
    return loop.write(reduced[: len(first)])


def _tested(loop: Loop, first: Sequence[Any], extra_test: Callable[..., Any]) -> Any:
    return lambda tensors: extra_test(*loop.write(tensors[: len(first)]))


def _until(
    dataset: Any, state: tuple[Any, ...], goes_on: Callable[..., Any], turn: Callable[..., Any]
) -> Any:
    """The state after the elements before which `goes_on` holds."""

    def scanned(tensors: Any, element: Any) -> Any:
        test = tf.cast(tf.convert_to_tensor(goes_on(tensors)), tf.bool)
        turned = tf.cond(test, lambda: turn(tensors, element), lambda: tensors, strict=True)
        return tuple(turned), (tuple(turned), test)

    dataset = dataset.apply(getattr(tf, "data.experimental.scan")(state, scanned))
    dataset = dataset.apply(getattr(tf, "data.experimental.take_while")(lambda tensors, test: test))
    return dataset.reduce(state, lambda tensors, given: given[0])


def over_iterator(
    loop: Loop, iterator: Any, extra_test: Callable[..., Any] | None, body: Callable[..., Any]
) -> Values:
    """Over what an iterator has left, as long as `extra_test` says."""
    has_next: list[Any] = []

    def turn(turn: Any, *values: Any) -> Any:
        given = getattr(tf, "data.experimental.get_next_as_optional")(iterator)
        has_next[:] = [given.has_value()]
        return if_stmt(
            has_next[0],
            lambda: body(given.get_value(), *values),
            lambda: values or None,
            loop.get_state,
            loop.set_state,
            (),
            () if loop.names else None,
            loop.names or None,
        )

    def goes_on(is_there: Any, *values: Any) -> Any:
        if extra_test is None:
            return is_there
        left = lambda: tf.cast(tf.convert_to_tensor(extra_test(*values)), tf.bool)  # noqa: E731
        return tf.cond(is_there, left, lambda: tf.constant(False))

    return loop.build(goes_on, turn, tf.constant(True), lambda number: has_next[0])
