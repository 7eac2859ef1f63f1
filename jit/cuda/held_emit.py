# SPDX-License-Identifier: Apache-2.0
"""What passes over a row hand on: values that a later pass would read or compute again.

A softmax goes over its row three times: for the largest element, for the sum of the exponentials,
and for the quotients.  The second pass finds the elements, and the third the exponentials, where
the pass before has left them: in shared memory, a place for each element of the row, which the same
lane fills and reads, so that nobody waits.  What is left when the places are full, and all of a row
that a warp takes, is read and computed again.  Imports no Numba.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..codegen.reductions import late_stores, levels_of
from ..codegen.writer import Scope, Writer
from ..kernel.ir import Apply, Expr, Kernel, Load, postorder
from ..kernel.reference import numpy_dtype

LONG = 2048  # elements of a row from which on a block takes it, and not a warp
HELD_BYTES = (
    16384  # of shared memory: a multiprocessor has room for all blocks that its threads fill
)
FEWEST = 512  # places, so that each lane of a block has some


class Place(NamedTuple):
    """Memory for one value of each element, and what is in it."""

    number: int
    dtype: str


class HeldWriter(Writer):
    """A writer of rows that finds what earlier passes computed while `is_near`."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        sweeps = list(_sweeps(self))
        self.plan = _plan(self, sweeps) if _is_fit(kernel, self.reduce) else ()
        self.dtypes = {place.number: place.dtype for kept in self.plan for place in kept.values()}
        size = sum(numpy_dtype(dtype).itemsize for dtype in self.dtypes.values())
        self.most = 1 << (HELD_BYTES // size).bit_length() - 1 if size else 0
        if self.most < FEWEST:
            self.plan, self.most = (), 0
        self.sweep = 0
        self.held: dict[Expr, Place] = {}
        self.is_near = False

    def text(self, node: Expr, scope: Scope) -> str:
        if self.is_near and node in self.held:
            return f"load_ordered(held{self.held[node].number}, i{self.reduce[0]})"
        return super().text(node, scope)

    def is_named(self, node: Expr) -> bool:
        return (self.is_near and node in self.held) or super().is_named(node)

    def leave(self) -> None:
        """Lines that leave what later passes want of the element at hand."""
        for node, place in self.plan[self.sweep].items():
            if node not in self.held:
                name = self.value(node)
                self.line(f"store_ordered(held{place.number}, i{self.reduce[0]}, {name})")

    def end_sweep(self) -> None:
        """The next pass begins."""
        self.held = dict(self.plan[self.sweep])
        self.sweep += 1

    def reserved(self) -> list[str]:
        """The lines that reserve the memory."""
        numbers = sorted(self.dtypes) if self.most else []
        return [f"held{n} = shared_{self.dtypes[n]}({self.most})" for n in numbers]


def _is_fit(kernel: Kernel, reduce: Sequence[int]) -> bool:
    """Rows of one axis, all of it, that may be long."""
    if len(reduce) != 1 or any(axis.kind == "chunk" for axis in kernel.axes):
        return False
    size = kernel.axes[reduce[0]].size
    return size is None or size >= LONG


def _sweeps(e: Writer) -> Iterator[list[Expr]]:
    """What each pass over the row computes, in order."""
    reductions, levels = e.kernel.reductions, levels_of(e.kernel)
    for level in range(max(levels, default=-1) + 1):
        here = [r for r, at in zip(reductions, levels) if at == level]
        yield [r.value for r in here]
        extremes = [r.value for r in here if r.fn.startswith("arg")]
        if extremes:
            yield extremes
    late = late_stores(e)
    if late:
        yield [s.value for s in late] + [s.index.offset for s in late if s.index.offset is not None]


def _plan(e: Writer, sweeps: Sequence[Sequence[Expr]]) -> tuple[dict[Expr, Place], ...]:
    """For each pass what is in memory after it, and where."""
    held: dict[Expr, Place] = {}
    places: list[Place] = []
    plan = []
    for number, roots in enumerate(sweeps):
        there = {*held, *(node for root in roots for node in _read(e, root))}
        later = [root for others in sweeps[number + 1 :] for root in others]
        held = _placed(_wanted(later, there), held, places)
        plan.append(held)
    return tuple(plan)


def _read(e: Writer, root: Expr) -> Iterator[Expr]:
    """What is read along the row, and what is computed of it."""
    found: set[Expr] = set()
    for node in postorder(root):
        moves = not e.dependence(node).isdisjoint(e.reduce)
        is_read = isinstance(node, Load) and moves
        if is_read or (isinstance(node, Apply) and not found.isdisjoint(node.args)):
            found.add(node)
            yield node


def _wanted(roots: Iterable[Expr], there: set[Expr]) -> Iterator[Expr]:
    """The largest expressions below some that are there."""
    for root in roots:
        yield from (node for node in postorder(root, there.__contains__) if node in there)


def _placed(
    wanted: Iterable[Expr], before: dict[Expr, Place], places: list[Place]
) -> dict[Expr, Place]:
    """A place for each: the one that it has, or one that is free again, or one more."""
    wanted = list(dict.fromkeys(wanted))
    held = {node: before[node] for node in wanted if node in before}
    for node in wanted:
        if node not in held:
            dtype: str = node.dtype  # type: ignore[union-attr]
            taken = held.values()
            free = (p for p in places if p.dtype == dtype and p not in taken)
            place = next(free, None) or Place(len(places), dtype)
            if place.number == len(places):
                places.append(place)
            held[node] = place
    return held
