# SPDX-License-Identifier: Apache-2.0
"""The kernels of factors of square matrices and of systems; see jit/library/dense.py.

A tile has some of a stack's matrices, row by row in memory.  All work is one step: multiples of
rows are subtracted from a row, whose elements lie side by side.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    copy,
    float32,
    float64,
    helper,
    pointer,
    region,
    sqrt,
    zero,
)

DTYPE: str = GIVEN
IS_SINGLE: bool = GIVEN  # precision
BLOCK = 16  # columns that are eliminated before the columns behind them are


@helper
def subtract(
    target: Address, factors: Address, step: int, rows: Address, stride: int, count: int, width: int
) -> None:
    """target[c] -= sum over p < count of factors[p * step] * rows[p * stride + c], c < width."""
    out, f, x = pointer(target), pointer(factors), pointer(rows)
    if width == 1:
        subtract_dot(target, factors, step, rows, stride, count)
        return
    quads = count // 4
    for q in range(quads):
        a, b = f[4 * q * step], f[(4 * q + 1) * step]
        c, d = f[(4 * q + 2) * step], f[(4 * q + 3) * step]
        at = 4 * q * stride
        for i in range(width):
            first = a * x[at + i] + b * x[at + stride + i]
            last = c * x[at + 2 * stride + i] + d * x[at + 3 * stride + i]
            out[i] = out[i] - (first + last)
    for p in range(4 * quads, count):
        a, at = f[p * step], p * stride
        for i in range(width):
            out[i] = out[i] - a * x[at + i]


@helper
def subtract_dot(
    target: Address, factors: Address, step: int, rows: Address, stride: int, count: int
) -> None:
    """The same for rows of one element, in four sums that do not wait for each other."""
    out, f, x = pointer(target), pointer(factors), pointer(rows)
    quads = count // 4
    none = float32(0.0) if IS_SINGLE else float64(0.0)
    a, b, c, d = none, none, none, none
    for q in range(quads):
        p = 4 * q
        a += f[p * step] * x[p * stride]
        b += f[(p + 1) * step] * x[(p + 1) * stride]
        c += f[(p + 2) * step] * x[(p + 2) * stride]
        d += f[(p + 3) * step] * x[(p + 3) * stride]
    for p in range(4 * quads, count):
        a += f[p * step] * x[p * stride]
    out[0] = out[0] - ((a + b) + (c + d))


@helper
def divide(target: Address, number: Address, width: int) -> None:
    """Divides a row by a number."""
    out, divisor = pointer(target), pointer(number)[0]
    for i in range(width):
        out[i] = out[i] / divisor


@helper
def swap(one: Address, other: Address, width: int) -> None:
    """Exchanges two rows."""
    x, y = pointer(one), pointer(other)
    for i in range(width):
        kept = x[i]
        x[i] = y[i]
        y[i] = kept


@helper
def transposed(target: Address, source: Address, n: int) -> None:
    """A square matrix, mirrored at its diagonal."""
    out, x = pointer(target), pointer(source)
    for i in range(n):
        for j in range(n):
            out[i * n + j] = x[j * n + i]


@helper
def factored(out: Address, n: int) -> bool:
    """The upper triangle of a symmetric matrix becomes its Cholesky factor; True if it can."""
    u = pointer(out)
    for i in range(n):
        row = out + (i * n + i)
        subtract(row, out + i, n, out + i, n, i, n - i)
        pivot = u[i * n + i]
        if not pivot > 0:
            return False
        u[i * n + i] = sqrt(pivot)
        divide(row + 1, row, n - i - 1)
    return True


def cholesky(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Lower triangles L with L L' = x, of which the lower triangle is read; and which failed.

    Parameters: rows of a matrix.
    """
    n = args[3]
    x, u, failed = pointer(args[0]), pointer(args[1]), pointer(args[2])
    for matrix in range(r0, r1):
        start = matrix * n * n
        for i in range(n):
            for j in range(i, n):
                u[start + i * n + j] = x[start + j * n + i]
        failed[matrix] = 0 if factored(args[1] + start, n) else 1
        for i in range(n):
            for j in range(i + 1, n):
                u[start + j * n + i] = u[start + i * n + j]
                u[start + i * n + j] = 0


@helper
def forward(matrix: Address, out: Address, n: int, width: int, is_unit: bool) -> None:
    """Solves with the lower triangle of a matrix, in place."""
    for i in range(n):
        row = out + i * width
        subtract(row, matrix + i * n, 1, out, width, i, width)
        if not is_unit:
            divide(row, matrix + (i * n + i), width)


@helper
def backward(matrix: Address, out: Address, n: int, width: int) -> None:
    """Solves with the upper triangle of a matrix, in place."""
    for step in range(n):
        i = n - 1 - step
        row = out + i * width
        subtract(row, matrix + (i * n + i + 1), 1, row + width, width, step, width)
        divide(row, matrix + (i * n + i), width)


@helper
def forward_transposed(matrix: Address, out: Address, n: int, width: int) -> None:
    """Solves with the transpose of the upper triangle, in place."""
    if width == 1:
        for i in range(n):
            divide(out + i, matrix + (i * n + i), 1)
            subtract(out + (i + 1), out + i, 1, matrix + (i * n + i + 1), 1, 1, n - i - 1)
        return
    for i in range(n):
        row = out + i * width
        subtract(row, matrix + i, n, out, width, i, width)
        divide(row, matrix + (i * n + i), width)


@helper
def backward_transposed(matrix: Address, out: Address, n: int, width: int) -> None:
    """Solves with the transpose of the lower triangle, in place."""
    if width == 1:
        for step in range(n):
            i = n - 1 - step
            divide(out + i, matrix + (i * n + i), 1)
            subtract(out, out + i, 1, matrix + i * n, 1, 1, i)
        return
    for step in range(n):
        i = n - 1 - step
        row = out + i * width
        below = matrix + ((i + 1) * n + i)
        subtract(row, below, n, row + width, width, step, width)
        divide(row, matrix + (i * n + i), width)


def substitute(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Solutions of triangular systems; and where a diagonal has a zero.

    Parameters: rows of a matrix, columns of the right side, whether the lower triangle counts, and
    whether it is transposed.
    """
    n, width, is_lower, is_transposed = args[4], args[5], args[6], args[7]
    x, failed = pointer(args[0]), pointer(args[3])
    for number in range(r0, r1):
        matrix, out = args[0] + number * n * n, args[2] + number * n * width
        copy(out, args[1] + number * n * width, n * width)
        failed[number] = 0
        for i in range(n):
            if x[number * n * n + i * n + i] == 0:
                failed[number] = 1
        if is_lower != 0:
            if is_transposed != 0:
                backward_transposed(matrix, out, n, width)
            else:
                forward(matrix, out, n, width, False)
        elif is_transposed != 0:
            forward_transposed(matrix, out, n, width)
        else:
            backward(matrix, out, n, width)


@helper
def pivot_of(matrix: Address, n: int, column: int) -> int:
    """The row, from that of the diagonal on, whose element of a column is largest."""
    a = pointer(matrix)
    first = a[column * n + column]
    best, place = -first if first < 0 else first, column
    for i in range(column + 1, n):
        item = a[i * n + column]
        size = -item if item < 0 else item
        if size > best:
            best, place = size, i
    return place


@helper
def eliminated(matrix: Address, out: Address, n: int, width: int) -> int:
    """A matrix becomes its factors L (with ones) and U, rows of both sides being exchanged.

    The number of exchanges; negative, less one, where a pivot is zero.
    """
    a = pointer(matrix)
    swaps, is_singular = 0, False
    for block in range(0, n, BLOCK):
        end = min(block + BLOCK, n)
        for k in range(block, end):
            place = pivot_of(matrix, n, k)
            if place != k:
                swap(matrix + k * n, matrix + place * n, n)
                swap(out + k * width, out + place * width, width)
                swaps += 1
            pivot = a[k * n + k]
            if pivot == 0:
                is_singular = True
                continue
            for i in range(k + 1, n):
                a[i * n + k] = a[i * n + k] / pivot
                at = i * n + k
                subtract(
                    matrix + (at + 1), matrix + at, 1, matrix + (k * n + k + 1), n, 1, end - k - 1
                )
        for i in range(block + 1, n):
            count = min(i, end) - block
            row = matrix + (i * n + end)
            subtract(
                row, matrix + (i * n + block), 1, matrix + (block * n + end), n, count, n - end
            )
    return -1 - swaps if is_singular else swaps


@helper
def solved(
    matrix: Address, source: Address, is_transposed: int, out: Address, n: int, width: int
) -> int:
    """A right side becomes its solution, by a copy of its matrix; 1 if that is singular."""
    if is_transposed != 0:
        transposed(matrix, source, n)
    else:
        copy(matrix, source, n * n)
    swaps = eliminated(matrix, out, n, width)
    forward(matrix, out, n, width, True)
    backward(matrix, out, n, width)
    return 1 if swaps < 0 else 0


def solve(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Solutions of square systems; and which matrices are singular.

    Parameters: rows of a matrix, columns of the right side, whether the matrix is transposed.
    """
    n, width, is_transposed = args[4], args[5], args[6]
    failed = pointer(args[3])
    matrix = region(args[7] + worker * args[8], DTYPE)
    for number in range(r0, r1):
        out = args[2] + number * n * width
        copy(out, args[1] + number * n * width, n * width)
        failed[number] = solved(matrix, args[0] + number * n * n, is_transposed, out, n, width)


def invert(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Inverses of square matrices; and which are singular.

    Parameters: rows of a matrix, whether it is transposed.
    """
    n, is_transposed = args[3], args[4]
    result, failed = pointer(args[1]), pointer(args[2])
    matrix = region(args[5] + worker * args[6], DTYPE)
    for number in range(r0, r1):
        out = args[1] + number * n * n
        zero(out, n * n)
        for i in range(n):
            result[number * n * n + i * n + i] = 1
        failed[number] = solved(matrix, args[0] + number * n * n, is_transposed, out, n, n)


def diagonal(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The diagonal of the factor U of each matrix, and the sign of the exchange of rows.

    Parameters: rows of a matrix.
    """
    n = args[3]
    out, sign = pointer(args[1]), pointer(args[2])
    matrix = region(args[4] + worker * args[5], DTYPE)
    factors = pointer(matrix)
    for number in range(r0, r1):
        copy(matrix, args[0] + number * n * n, n * n)
        found = eliminated(matrix, matrix, n, 0)
        swaps = found if found >= 0 else -1 - found
        sign[number] = 1 - 2 * (swaps % 2)
        for i in range(n):
            out[number * n + i] = factors[i * n + i]


def lu(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The factors L (with ones) and U of each matrix in one, and the order of its rows; and which
    matrices are singular.

    Parameters: rows of a matrix.
    """
    n = args[4]
    order, failed = pointer(args[2]), pointer(args[3])
    for number in range(r0, r1):
        matrix, rows = args[1] + number * n * n, args[2] + number * n
        copy(matrix, args[0] + number * n * n, n * n)
        for i in range(n):
            order[number * n + i] = i
        failed[number] = 1 if eliminated(matrix, rows, n, 1) < 0 else 0
