# SPDX-License-Identifier: Apache-2.0
"""Running sums and products on GPUs: the texts of kernels whose blocks take pieces of lines.

A block goes over its piece by chunks, which are in shared memory: every thread adds up a few
neighbours, the threads' sums are scanned, and each thread goes over its neighbours again.  Where
lines are few, all pieces are summed first, and a piece begins with what stands before it.  Threads
take their shares by number, so that fewer of them do all of it in the same order: what is added to
what follows from sizes alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from ..kernel import ir, scalar
from ..kernel.sizes import ceil_div, hint, maximum, product
from .library_kernel import LibraryKernel

THREADS = 256
# Neighbours that a thread takes: an odd number, so that threads meet different banks of memory.
_EACH = 9
CHUNK = _EACH * THREADS
# Lines that keep a card busy without being cut; pieces into which they are cut at most.
_MANY = 256
_MOST_PIECES = 1024
# Columns from which on each has a thread of its own, and lengths that are short enough for it.
_COLUMNS = 1 << 13
_SHORT = 64
_FIRST = {"add": 0, "mul": 1}


def running_sums(
    b: Any, fn: str, x: Any, axis: int, exclusive: bool = False, reverse: bool = False
) -> Any:
    """The running sum (fn "add") or product ("mul") along an axis by blocks; None where every
    column has better a thread of its own, or the dtype has no such function."""
    if not scalar.supports(fn, x.dtype):
        return None
    outer, length, inner = product(x.shape[:axis]), x.shape[axis], product(x.shape[axis + 1 :])
    if hint(inner) > 1:
        if hint(outer) * hint(inner) >= _COLUMNS or hint(length) <= _SHORT:
            return None
        turned = b.transpose(b.reshape(x, (outer, length, inner)), (0, 2, 1))
        found = _of_lines(b, fn, turned, (exclusive, reverse))
        return b.reshape(b.transpose(found, (0, 2, 1)), x.shape)
    found = _of_lines(b, fn, b.reshape(x, (outer * inner, length)), (exclusive, reverse))
    return b.reshape(found, x.shape)


def _of_lines(b: Any, fn: str, x: Any, options: tuple[bool, bool]) -> Any:
    """Along the last axis."""
    *lead, length = x.shape
    lines = product(lead)
    if hint(lines) >= _MANY or hint(length) <= 2 * CHUNK:
        return _scanned(b, fn, x, (length, 1), options)
    chunks = maximum(ceil_div(length, CHUNK), 1)
    piece = CHUNK * ceil_div(chunks, _MOST_PIECES)
    pieces = ceil_div(chunks, ceil_div(chunks, _MOST_PIECES))
    (sums,) = b.call(
        _sums_kernel(fn, x.dtype),
        [x],
        [((lines, pieces), x.dtype)],
        [length, piece, pieces, int(options[1])],
        columns=lines * pieces,
        col_tile=1,
        operations=product(x.shape),
    )
    starts = _scanned(b, fn, sums, (pieces, 1), (True, False))
    return _scanned(b, fn, x, (piece, pieces), options, [starts])


def _scanned(
    b: Any,
    fn: str,
    x: Any,
    cut: tuple[Any, Any],
    options: tuple[bool, bool],
    starts: Sequence[Any] = (),
) -> Any:
    """cut: how long pieces are, and how many a line has; starts: what stands before each."""
    *lead, length = x.shape
    (out,) = b.call(
        _scan_kernel(fn, x.dtype, bool(starts)),
        [x, *starts],
        [(tuple(x.shape), x.dtype)],
        [length, maximum(cut[0], 1), cut[1], *map(int, options)],
        columns=product(lead) * cut[1],
        col_tile=1,
        operations=2 * product(x.shape),
    )
    return out


@cache
def _scan_kernel(fn: str, dtype: str, is_begun: bool) -> LibraryKernel:
    """Arguments: x, what stands before pieces (if they are begun), results; length of a line and of
    a piece, pieces of a line, whether an element is left out of its own sum, whether lines are gone
    through from their end.  Columns are pieces."""
    return _kernel(f"block_scan_{fn}", fn, dtype, _scan(fn, dtype, is_begun))


@cache
def _sums_kernel(fn: str, dtype: str) -> LibraryKernel:
    """Arguments: x, the sums of pieces; length of a line and of a piece, pieces of a line, whether
    lines are gone through from their end.  Columns are pieces."""
    return _kernel(f"block_sums_{fn}", fn, dtype, _sums(fn, dtype))


def _kernel(name: str, fn: str, dtype: str, body: Iterator[str]) -> LibraryKernel:
    return block_kernel(name, [f"START = {typed(_FIRST[fn], dtype)}"], body, (1, 1, THREADS))


def block_kernel(
    name: str, head: Sequence[str], body: Iterator[str], block: tuple[int, int, int]
) -> LibraryKernel:
    """A kernel of blocks, of the lines that constants and its body have."""
    lines = [*head, "", "", "def kernel(args, rows, columns):", *indented(body), ""]
    return LibraryKernel(name, "\n".join(lines), block=block)


def typed(number: Any, dtype: str) -> str:
    """The text of a constant of a dtype."""
    literal = scalar.const(number, dtype)
    assert isinstance(literal, ir.Const)
    value = literal.value
    if dtype == "bool":
        return str(bool(value))
    text = repr(value)
    # (Python has no literals for what is infinite, or no number.)
    return f"{dtype}({text})" if text[-1].isdigit() else f'{dtype}("{text}")'


def indented(lines: Iterator[str] | Sequence[str], depth: int = 1) -> Iterator[str]:
    """Lines further in."""
    yield from (f"{'    ' * depth}{text}" for text in lines)


def scanned_threads(sums: str, spare: str, add: str, first: str) -> Iterator[str]:
    """The lines that make running sums of what all threads have, once they have come so far; where
    these are afterwards is `sums` again.  (The number of turns is even.)"""
    reach, here, there = 1, sums, spare
    while reach < THREADS:
        yield "barrier()"
        yield f"for t in range(lane(), {THREADS}, lanes()):"
        yield f"    low = load_ordered({here}, maximum(t - {reach}, 0))"
        yield f"    low = select(lt(t, {reach}), {first}, low)"
        yield f"    store_ordered({there}, t, {add}(low, load_ordered({here}, t)))"
        reach, here, there = 2 * reach, there, here
    yield "barrier()"


def _scan(fn: str, dtype: str, is_begun: bool) -> Iterator[str]:
    yield "x = args[0]"
    if is_begun:
        yield "starts = args[1]"
    first = 1 + is_begun
    yield f"out = args[{first}]"
    for i, name in enumerate("length piece pieces late back".split(), first + 1):
        yield f"{name} = args[{i}]"
    yield f"held = shared_{dtype}({CHUNK})"
    yield f"sums = shared_{dtype}({THREADS})"
    yield f"spare = shared_{dtype}({THREADS})"
    yield "for job in range(block_x(), columns, blocks_x()):"
    yield from indented(_piece())
    yield f"    total = {'load(starts, job)' if is_begun else 'START'}"
    yield f"    for begin in range(first, last, {CHUNK}):"
    yield from indented(_chunk(fn), 2)


def _piece() -> Iterator[str]:
    """Where a piece begins and ends in its line, and where that is in memory."""
    yield "top = truncatediv(job, pieces) * length"
    yield "first = truncatemod(job, pieces) * piece"
    yield "last = minimum(first + piece, length)"


def _place(at: str) -> str:
    """Where the element at a position of a line is."""
    return f"top + select(eq(back, 1), length - 1 - {at}, {at})"


def _chunk(fn: str) -> Iterator[str]:
    yield "barrier()"
    yield f"for e in range(lane(), {CHUNK}, lanes()):"
    yield "    inside = minimum(begin + e, last - 1)"
    yield f"    found = load(x, {_place('inside')})"
    yield "    store_ordered(held, e, select(lt(begin + e, last), found, START))"
    yield "barrier()"
    yield f"for t in range(lane(), {THREADS}, lanes()):"
    yield "    a = START"
    yield f"    for s in range({_EACH}):"
    yield f"        a = {fn}(a, load_ordered(held, t * {_EACH} + s))"
    yield "    store_ordered(sums, t, a)"
    yield from scanned_threads("sums", "spare", fn, "START")
    yield f"for t in range(lane(), {THREADS}, lanes()):"
    yield "    low = load_ordered(sums, maximum(t - 1, 0))"
    yield f"    a = {fn}(total, select(lt(t, 1), START, low))"
    yield f"    for s in range({_EACH}):"
    yield f"        c = {fn}(a, load_ordered(held, t * {_EACH} + s))"
    yield f"        store_ordered(held, t * {_EACH} + s, select(eq(late, 1), a, c))"
    yield "        a = c"
    yield "barrier()"
    yield f"for e in range(lane(), minimum({CHUNK}, last - begin), lanes()):"
    yield "    at = begin + e"
    yield f"    store(out, {_place('at')}, load_ordered(held, e))"
    yield f"total = {fn}(total, load_ordered(sums, {THREADS - 1}))"


def _sums(fn: str, dtype: str) -> Iterator[str]:
    names = "x sums length piece pieces back".split()
    yield from (f"{name} = args[{i}]" for i, name in enumerate(names))
    yield f"held = shared_{dtype}({THREADS})"
    yield "for job in range(block_x(), columns, blocks_x()):"
    yield from indented(_piece())
    yield "    barrier()"
    yield f"    for t in range(lane(), {THREADS}, lanes()):"
    yield "        a = START"
    yield f"        for at in range(first + t, last, {THREADS}):"
    yield f"            a = {fn}(a, load(x, {_place('at')}))"
    yield "        store_ordered(held, t, a)"
    reach = THREADS // 2
    while reach:
        yield "    barrier()"
        yield f"    for t in range(lane(), {reach}, lanes()):"
        yield f"        high = load_ordered(held, t + {reach})"
        yield f"        store_ordered(held, t, {fn}(load_ordered(held, t), high))"
        reach //= 2
    yield "    if lane() < 1:"
    yield "        store(sums, job, load_ordered(held, 0))"
