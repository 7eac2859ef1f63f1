# SPDX-License-Identifier: Apache-2.0
"""Compiled forms of ops that move elements: permutations, reflections, diagonals.

They stand beside the definitions in `layout`, `pad`, `matrix_diag` and `matrix_diag_v2`, which
would be long with them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import AnySize, minimum, product, same
from ..run_checks import error_of

if TYPE_CHECKING:
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder

# Diagonals that one map selects among.
_MOST_DIAGONALS = 8


# Permutations


def inverted(b: Builder, x: Value, check: Callable[..., object]) -> Any:
    """The permutation that undoes one; check(x) raises what is wrong with it."""
    from ...jit import library

    if x.ndim != 1:
        return NotImplemented
    out, is_whole = library.inverted(b, x)
    b.require_not(b.map(k.logical_not, is_whole), error_of(check), x)
    return out


def reversed_sequences(
    b: Builder, x: Value, lengths: Value, seq: int, batch: int, check: Callable[..., object]
) -> Value:
    """Rows along `batch` with their first elements along `seq` reversed."""
    seq, batch = b.axis(seq, x.ndim), b.axis(batch, x.ndim)
    b.require(seq != batch)
    b.require_shape(lengths, [x.shape[batch]])
    order = [batch, seq, *(i for i in range(x.ndim) if i not in (batch, seq))]
    rows, steps = x.shape[batch], x.shape[seq]
    limit = b.constant(steps, "int64")
    wide = b.cast(lengths, "int64")
    outside = b.map(lambda n, most: k.logical_or(k.lt(n, 0), k.gt(n, most)), wide, limit)
    b.require_not(b.reduce("any", outside, None), error_of(check), lengths, limit)
    row, step = (b.iota((rows, steps), axis, "int64") for axis in (0, 1))

    def place(row: Any, step: Any, length: Any, steps: Any) -> Any:
        back = k.sub(k.sub(length, 1), step)
        return k.add(k.mul(row, steps), k.select(k.lt(step, length), back, step))

    flat = b.map(place, row, step, b.reshape(wide, (rows, 1)), limit)
    moved = b.transpose(x, order)
    tail = moved.shape[2:]
    picked = b.pick(b.reshape(moved, (rows * steps, *tail)), flat)
    return b.transpose(picked, [order.index(i) for i in range(x.ndim)])


def rolled(b: Builder, x: Value, shifts: Value, axes: Value) -> Any:
    """Elements moved along dimensions, around the end."""
    steps, where = b.known(shifts), b.known(axes)
    if steps is None or where is None or object in (steps.dtype, where.dtype):
        return NotImplemented
    b.require(x.ndim >= 1 and steps.ndim <= 1 and steps.shape == where.shape)
    # Of each axis what goes where: (begin, size, place).
    pieces: list[list[tuple[Any, Any, Any]]] = [[(0, size, 0)] for size in x.shape]
    moves = np.zeros(x.ndim, np.int64)
    np.add.at(moves, [b.axis(axis, x.ndim) for axis in where.reshape(-1).tolist()], steps.ravel())
    for axis, step in enumerate(moves.tolist()):
        size = x.shape[axis]
        if isinstance(size, int):
            step = step % size if size else 0
        elif size < abs(step):  # noted as a guard
            return NotImplemented
        if step:
            moved = step if step > 0 else size + step
            pieces[axis] = [(size - moved, moved, 0), (0, size - moved, moved)]
    parts = []
    for block in itertools.product(*pieces):
        part = b.slice(x, [begin for begin, _, _ in block], [size for _, size, _ in block])
        parts.append((part, [place for _, _, place in block], None))
    parts = [part for part in parts if not any(same(size, 0) for size in part[0].shape)]
    if len(parts) < 2:
        return b.identity(x)
    return b.assemble(x.shape, x.dtype, parts, None)


def _part(b: Builder, x: Value, axis: int, begin: AnySize, size: AnySize, stride: int = 1) -> Value:
    """`size` elements from `begin` along one axis; backwards where the stride is -1."""
    starts = [begin if i == axis else 0 for i in range(x.ndim)]
    sizes = [size if i == axis else full for i, full in enumerate(x.shape)]
    return b.slice(x, starts, sizes, [stride if i == axis else 1 for i in range(x.ndim)])


# Reflections


def mirrored(b: Builder, x: Value, amounts: Sequence[tuple[int, int]], offset: int) -> Value:
    """A tensor with its reflection around it; with offset 1 the edge itself is not repeated."""
    for axis, (before, after) in enumerate(amounts):
        size = x.shape[axis]
        b.require(before <= size - offset and after <= size - offset)
        parts = [x]
        if before:
            parts.insert(0, _part(b, x, axis, offset + before - 1, before, -1))
        if after:
            parts.append(_part(b, x, axis, size - 1 - offset, after, -1))
        x = b.concat(parts, axis)
    return b.identity(x)


def mirrored_gradient(
    b: Builder, dy: Value, amounts: Sequence[tuple[int, int]], offset: int
) -> Value:
    """Reflections added where they come from, in the order in which they lie."""
    for axis, (before, after) in enumerate(amounts):
        size = dy.shape[axis] - before - after
        b.require(before <= size - offset and after <= size - offset)
        centre = _part(b, dy, axis, before, size)
        # The edges of the result get something; where both get at one place, all are added up.
        if offset + before + after + offset > size:
            dy = _overlapping(b, dy, centre, axis, before, after, offset)
            continue
        pieces, done = [], 0
        if before:
            edge = _part(b, dy, axis, before - 1, before, -1)
            near = _part(b, centre, axis, offset, before)
            pieces += [_part(b, centre, axis, 0, offset), b.map(k.add, edge, near)]
            done = offset + before
        end = size - offset - after if after else size
        pieces.append(_part(b, centre, axis, done, end - done))
        if after:
            edge = _part(b, dy, axis, dy.shape[axis] - 1, after, -1)
            far = _part(b, centre, axis, end, after)
            pieces += [b.map(k.add, far, edge), _part(b, centre, axis, size - offset, offset)]
        dy = b.concat(pieces, axis)
    return b.identity(dy)


def _overlapping(
    b: Builder, dy: Value, total: Value, axis: int, before: int, after: int, offset: int
) -> Value:
    size = total.shape[axis]
    if before:
        edge = _part(b, dy, axis, before - 1, before, -1)
        total = b.map(k.add, _spread(b, edge, axis, offset, size - before - offset), total)
    if after:
        edge = _part(b, dy, axis, dy.shape[axis] - 1, after, -1)
        total = b.map(k.add, total, _spread(b, edge, axis, size - after - offset, offset))
    return total


def _spread(b: Builder, x: Value, axis: int, before: AnySize, after: AnySize) -> Value:
    return b.pad(x, [(before, after) if i == axis else (0, 0) for i in range(x.ndim)])


# Diagonals


def _difference(b: Builder, shape: Sequence[AnySize]) -> tuple[Value, Value]:
    """The row and the column at every position of matrices."""
    return b.iota(shape, len(shape) - 2, "int64"), b.iota(shape, len(shape) - 1, "int64")


def _on_diagonal(b: Builder, base: Value, diagonal: Value, d: int) -> Value:
    """Matrices with diagonal d replaced by the beginning of `diagonal`."""
    rows, columns = base.shape[-2:]
    row, column = _difference(b, base.shape)
    along = rows if d >= 0 else columns
    length = diagonal.shape[-1]
    edges = [(0, 0)] * (diagonal.ndim - 1) + [(0, along - length)]
    spread = b.pad(diagonal, edges)
    tail = (along, 1) if d >= 0 else (1, along)
    values = b.reshape(spread, (*diagonal.shape[:-1], *tail))

    def chosen(old: Any, new: Any, i: Any, j: Any) -> Any:
        return k.select(k.eq(k.sub(j, i), d), new, old)

    return b.map(chosen, base, values, row, column)


def diagonals_set(b: Builder, base: Value, diagonals: Value, low: int, high: int) -> Any:
    """Matrices with the diagonals low … high replaced; `diagonals` begins with the highest."""
    if high - low >= _MOST_DIAGONALS:
        return NotImplemented
    bands = diagonals
    if low == high:
        bands = b.reshape(diagonals, (*diagonals.shape[:-1], 1, diagonals.shape[-1]))
    b.require(bands.ndim == base.ndim)
    b.require(b.equal(bands.shape[-2], high - low + 1))
    for d in range(low, high + 1):
        sizes = [*bands.shape[:-2], 1, bands.shape[-1]]
        starts = [0] * (bands.ndim - 2) + [high - d, 0]
        one = b.reshape(b.slice(bands, starts, sizes), (*sizes[:-2], sizes[-1]))
        base = _on_diagonal(b, base, one, d)
    return b.identity(base)


def diagonal_of(b: Builder, x: Value, d: int, length: AnySize) -> Value:
    """Diagonal d of matrices, as far as `length`."""
    from ...jit.program.tensor_ir import Axis

    lead = x.ndim - 2
    axes = (*(Axis(i) for i in range(lead)), Axis(lead, 1, max(-d, 0)), Axis(lead, 1, max(d, 0)))
    return b.view(x, axes, (*x.shape[:-2], length))


def main_diagonal(b: Builder, x: Value) -> Value:
    """The main diagonals of matrices."""
    b.require(x.ndim >= 2)
    return diagonal_of(b, x, 0, minimum(x.shape[-2], x.shape[-1]))


def matrices(b: Builder, diagonal: Value) -> Value:
    """Square matrices with the given main diagonals."""
    b.require(diagonal.ndim >= 1)
    size = diagonal.shape[-1]
    zeros = b.full((*diagonal.shape, size), 0, diagonal.dtype)
    return _on_diagonal(b, zeros, diagonal, 0)


def with_main_diagonal(b: Builder, x: Value, diagonal: Value) -> Value:
    """Matrices with their main diagonals replaced."""
    b.require(x.ndim >= 2)
    b.require_shape(diagonal, (*x.shape[:-2], minimum(x.shape[-2], x.shape[-1])))
    return _on_diagonal(b, x, diagonal, 0)


def tensor_diagonal(b: Builder, x: Value) -> Value:
    """A tensor on the diagonal of one with twice its dimensions."""
    b.require(x.ndim > 0)
    flat = b.reshape(x, [product(x.shape)])
    return b.reshape(matrices(b, flat), (*x.shape, *x.shape))


def tensor_diagonal_part(b: Builder, x: Value) -> Value:
    """The diagonal of a tensor with twice the dimensions."""
    half = x.ndim // 2
    b.require(x.ndim and x.ndim % 2 == 0)
    b.require(all(b.equal(m, n) for m, n in zip(x.shape[:half], x.shape[half:])))
    count = product(x.shape[:half])
    return b.reshape(diagonal_of(b, b.reshape(x, [count, count]), 0, count), x.shape[:half])
