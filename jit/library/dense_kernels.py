# SPDX-License-Identifier: Apache-2.0
"""The kernels of factors of square matrices and of systems; see jit/library/dense.py.

A tile has some of a stack's matrices, row by row in memory.  All work is one step: multiples of
rows are subtracted from a row, whose elements lie side by side.  Blocks of rows take all but what
they owe each other from register tiles at once (`subtract_product`).
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
from .tile_kernels import BASE, BIAS, COUNT, LEFT, REPEATS, SEGMENTS, WORDS, run_row, strides

DTYPE: str = GIVEN
IS_SINGLE: bool = GIVEN  # precision
LANES: int = GIVEN  # elements of a vector
TALL: int = GIVEN  # rows of a tile
BLOCK = 24  # rows, or columns that are eliminated before those behind them are
# What a worker has for itself: numbers of tiles, a block's factors, and where it is needed a copy
# of the matrix.  The kernels of tiles stand behind its address and size, see `tiles` in dense.py.
TILE_BYTES = 8 * WORDS


@helper
def copy_of(memory: int, n: int) -> Address:
    """Where a worker's copy of a matrix is."""
    return region(memory + TILE_BYTES, DTYPE) + BLOCK * n


@helper
def subtract_product(
    args: Arguments,
    parts: int,
    memory: int,
    factors: Address,
    f_row: int,
    f_step: int,
    rows: Address,
    stride: int,
    out: Address,
    m: int,
    count: int,
    width: int,
) -> None:
    """out[i, c] -= the sum over p < count of factors[i * f_row + p * f_step] * rows[p, c], for
    i < m and c < width; rows of `out`, too, lie `stride` apart.  At most BLOCK is m, or count.

    parts: where the addresses of tiles are among the arguments.
    """
    if m * count * width == 0:
        return
    f, negated = pointer(factors), region(memory + TILE_BYTES, DTYPE)
    g = pointer(negated)
    for p in range(count):
        for i in range(m):
            g[p * m + i] = -f[i * f_row + p * f_step]
    block = region(memory, "int64")
    strides(block, 0, 0, 0, 0, 1, m, stride, stride)
    numbers = pointer(block)
    numbers[SEGMENTS] = numbers[REPEATS] = 1
    numbers[BIAS] = numbers[BASE] = 0
    numbers[COUNT] = count
    tall = m // TALL
    done = tall * TALL
    for c in range(0, width, 2 * LANES):
        numbers[LEFT] = min(2 * LANES, width - c)
        kind = parts if width - c >= 2 * LANES else parts + 2
        run_row(args[kind], block, negated, rows + c, out + c, 1, tall, TALL, TALL * stride)
        run_row(
            args[kind + 1],
            block,
            negated + done,
            rows + c,
            out + (done * stride + c),
            1,
            m - done,
            1,
            stride,
        )


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
def factored(args: Arguments, parts: int, memory: int, out: Address, n: int) -> bool:
    """The upper triangle of a symmetric matrix becomes its Cholesky factor; True if it can."""
    u = pointer(out)
    for block in range(0, n, BLOCK):
        end = min(block + BLOCK, n)
        subtract_product(
            args,
            parts,
            memory,
            out + block,
            1,
            n,
            out + block,
            n,
            out + (block * n + block),
            end - block,
            block,
            n - block,
        )
        for i in range(block, end):
            row, above = out + (i * n + i), out + (block * n + i)
            subtract(row, above, n, above, n, i - block, n - i)
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
    n, memory = args[3], args[4] + worker * args[5]
    x, u, failed = pointer(args[0]), pointer(args[1]), pointer(args[2])
    for matrix in range(r0, r1):
        start = matrix * n * n
        for i in range(n):
            for j in range(i, n):
                u[start + i * n + j] = x[start + j * n + i]
                u[start + j * n + i] = x[start + j * n + i]
        failed[matrix] = 0 if factored(args, 6, memory, args[1] + start, n) else 1
        for i in range(n):
            for j in range(i + 1, n):
                u[start + j * n + i] = u[start + i * n + j]
                u[start + i * n + j] = 0


@helper
def forward(
    args: Arguments,
    parts: int,
    memory: int,
    matrix: Address,
    f_row: int,
    f_step: int,
    out: Address,
    n: int,
    stride: int,
    width: int,
    is_unit: bool,
) -> None:
    """Solves with a lower triangle, in place: matrix[i * f_row + p * f_step] for p <= i."""
    is_wide = width >= LANES
    for block in range(0, n, BLOCK):
        end = min(block + BLOCK, n)
        first = block if is_wide else 0
        if is_wide:
            subtract_product(
                args,
                parts,
                memory,
                matrix + block * f_row,
                f_row,
                f_step,
                out,
                stride,
                out + block * stride,
                end - block,
                block,
                width,
            )
        for i in range(block, end):
            row, factors = out + i * stride, matrix + (i * f_row + first * f_step)
            subtract(row, factors, f_step, out + first * stride, stride, i - first, width)
            if not is_unit:
                divide(row, matrix + i * (f_row + f_step), width)


@helper
def backward(
    args: Arguments,
    parts: int,
    memory: int,
    matrix: Address,
    f_row: int,
    f_step: int,
    out: Address,
    n: int,
    stride: int,
    width: int,
) -> None:
    """Solves with an upper triangle, in place: matrix[i * f_row + p * f_step] for p >= i."""
    is_wide = width >= LANES
    for behind in range(0, n, BLOCK):
        end = n - behind
        block = max(end - BLOCK, 0)
        last = end if is_wide else n
        if is_wide:
            subtract_product(
                args,
                parts,
                memory,
                matrix + (block * f_row + end * f_step),
                f_row,
                f_step,
                out + end * stride,
                stride,
                out + block * stride,
                end - block,
                behind,
                width,
            )
        for step in range(end - block):
            i = end - 1 - step
            row, factors = out + i * stride, matrix + (i * f_row + (i + 1) * f_step)
            subtract(row, factors, f_step, row + stride, stride, last - i - 1, width)
            divide(row, matrix + i * (f_row + f_step), width)


@helper
def forward_column(matrix: Address, out: Address, n: int) -> None:
    """Solves for one column with the transpose of an upper triangle, row by row of it."""
    for i in range(n):
        divide(out + i, matrix + (i * n + i), 1)
        subtract(out + (i + 1), out + i, 1, matrix + (i * n + i + 1), 1, 1, n - i - 1)


@helper
def backward_column(matrix: Address, out: Address, n: int) -> None:
    """Solves for one column with the transpose of a lower triangle, row by row of it."""
    for step in range(n):
        i = n - 1 - step
        divide(out + i, matrix + (i * n + i), 1)
        subtract(out, out + i, 1, matrix + i * n, 1, 1, i)


def substitute(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Solutions of triangular systems; and where a diagonal has a zero.  Columns of a launch are
    those of the right side.

    Parameters: rows of a matrix, columns of the right side, whether the lower triangle counts, and
    whether it is transposed.
    """
    n, width, is_lower, is_transposed = args[4], args[5], args[6], args[7]
    x, failed = pointer(args[0]), pointer(args[3])
    memory, wide = args[8] + worker * args[9], c1 - c0
    for number in range(r0, r1):
        matrix, out = args[0] + number * n * n, args[2] + (number * n * width + c0)
        for i in range(n):
            copy(out + i * width, args[1] + ((number * n + i) * width + c0), wide)
        if c0 == 0:
            failed[number] = 0
            for i in range(n):
                if x[number * n * n + i * n + i] == 0:
                    failed[number] = 1
        row, step = n, 1
        if is_transposed != 0:
            row, step = 1, n
        if is_transposed != 0 and width == 1:
            if is_lower != 0:
                backward_column(matrix, out, n)
            else:
                forward_column(matrix, out, n)
        elif is_lower == is_transposed:
            backward(args, 10, memory, matrix, row, step, out, n, width, wide)
        else:
            forward(args, 10, memory, matrix, row, step, out, n, width, wide, False)


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
def eliminated(
    args: Arguments, parts: int, memory: int, matrix: Address, out: Address, n: int, width: int
) -> int:
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
        above = matrix + (block * n + end)
        for i in range(block + 1, end):
            subtract(
                matrix + (i * n + end), matrix + (i * n + block), 1, above, n, i - block, n - end
            )
        subtract_product(
            args,
            parts,
            memory,
            matrix + (end * n + block),
            n,
            1,
            above,
            n,
            matrix + (end * n + end),
            n - end,
            end - block,
            n - end,
        )
    return -1 - swaps if is_singular else swaps


@helper
def solved(
    args: Arguments,
    parts: int,
    memory: int,
    source: Address,
    is_transposed: int,
    out: Address,
    n: int,
    width: int,
) -> int:
    """A right side becomes its solution, by a copy of its matrix; 1 if that is singular."""
    matrix = copy_of(memory, n)
    if is_transposed != 0:
        transposed(matrix, source, n)
    else:
        copy(matrix, source, n * n)
    swaps = eliminated(args, parts, memory, matrix, out, n, width)
    forward(args, parts, memory, matrix, n, 1, out, n, width, width, True)
    backward(args, parts, memory, matrix, n, 1, out, n, width, width)
    return 1 if swaps < 0 else 0


def solve(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Solutions of square systems; and which matrices are singular.

    Parameters: rows of a matrix, columns of the right side, whether the matrix is transposed.
    """
    n, width, is_transposed = args[4], args[5], args[6]
    failed, memory = pointer(args[3]), args[7] + worker * args[8]
    for number in range(r0, r1):
        out = args[2] + number * n * width
        copy(out, args[1] + number * n * width, n * width)
        source = args[0] + number * n * n
        failed[number] = solved(args, 9, memory, source, is_transposed, out, n, width)


def invert(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Inverses of square matrices; and which are singular.

    Parameters: rows of a matrix, whether it is transposed.
    """
    n, is_transposed = args[3], args[4]
    result, failed = pointer(args[1]), pointer(args[2])
    memory = args[5] + worker * args[6]
    for number in range(r0, r1):
        out = args[1] + number * n * n
        zero(out, n * n)
        for i in range(n):
            result[number * n * n + i * n + i] = 1
        source = args[0] + number * n * n
        failed[number] = solved(args, 7, memory, source, is_transposed, out, n, n)


def diagonal(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The diagonal of the factor U of each matrix, and the sign of the exchange of rows.

    Parameters: rows of a matrix.
    """
    n = args[3]
    out, sign = pointer(args[1]), pointer(args[2])
    memory = args[4] + worker * args[5]
    matrix = copy_of(memory, n)
    factors = pointer(matrix)
    for number in range(r0, r1):
        copy(matrix, args[0] + number * n * n, n * n)
        found = eliminated(args, 6, memory, matrix, matrix, n, 0)
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
    order, failed, memory = pointer(args[2]), pointer(args[3]), args[5] + worker * args[6]
    for number in range(r0, r1):
        matrix, rows = args[1] + number * n * n, args[2] + number * n
        copy(matrix, args[0] + number * n * n, n * n)
        for i in range(n):
            order[number * n + i] = i
        failed[number] = 1 if eliminated(args, 7, memory, matrix, rows, n, 1) < 0 else 0
