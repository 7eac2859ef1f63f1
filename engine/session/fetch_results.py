# SPDX-License-Identifier: Apache-2.0
"""From the values that a run computed to the structure that the program asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..graph.operation import Operation
from ..graph.tensor import Tensor
from .fetches import HANDLES, Build, Fetches

if TYPE_CHECKING:
    from .session import BaseSession

Runner = Callable[[Sequence[Any]], list[Any]]


def result_builder(wanted: Fetches, computed: list[Tensor], fed: dict[int, int]) -> Any:
    """A function of (computed values, feed values) to the structure asked for."""
    places = {id(tensor): i for i, tensor in enumerate(computed)}
    picks: list[tuple[int, int]] = []
    for element in wanted.elements:
        if isinstance(element, Operation):
            picks.append((2, 0))
        elif id(element) in fed:
            picks.append((1, fed[id(element)]))
        else:
            picks.append((0, places[id(element)]))
    build: Build = wanted.build
    # All is computed, in this order: nothing to arrange in any run.
    if all(pick == (0, i) for i, pick in enumerate(picks)):
        return lambda values, given: build(values)

    def arrange(values: Sequence[Any], given: Sequence[Any]) -> Any:
        sources = (values, given, (None,))
        return build([sources[source][i] for source, i in picks])

    return arrange


def without_records(run: Runner, places: list[int]) -> Runner:
    """A runner whose results at some places, numbers of quantised dtypes, are plain integers.

    NumPy has such numbers as records of one field; TensorFlow hands out what the field holds.
    """

    def wrapped(values: Sequence[Any]) -> list[Any]:
        results = run(values)
        for i in places:
            if results[i].dtype.names:
                results[i] = results[i][results[i].dtype.names[0]]
        return results

    return wrapped


def with_handles(
    session: BaseSession, run: Runner, tensors: list[Tensor], places: list[int]
) -> Runner:
    """A runner whose results at some places are handles of kept tensors."""

    def wrapped(values: Sequence[Any]) -> list[Any]:
        results = run(values)
        for i in places:
            op = tensors[i].op
            results[i] = HANDLES[op.type](results[i].item(), op.inputs[0].dtype, session)
        return results

    return wrapped
