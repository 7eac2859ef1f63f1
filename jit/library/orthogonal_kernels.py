# SPDX-License-Identifier: Apache-2.0
"""The kernels of QR factors and of eigenvectors of symmetric matrices: jit/library/orthogonal.py.

A tile has some of a stack's matrices, row by row in memory.  Both kernels reflect: a vector v with
v[0] = 1 and a factor t stand for I - t v v'.  All work on rows is done side by side in them; sums
over rows are made in order.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Scalar,
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
EPSILON: float = GIVEN
TINY: float = GIVEN  # the least normal number
MOST_TURNS = 30  # for each eigenvalue


@helper
def real(x: float) -> Scalar:
    """A constant in the precision of the kernel."""
    return float32(x) if IS_SINGLE else float64(x)


@helper
def size(x: Scalar) -> Scalar:
    """Its absolute value."""
    return -x if x < 0 else x


@helper
def reflector(column: Address, count: int, step: int, out: Address) -> Scalar:
    """The vector that makes all but the first of the elements of a column zero, and its factor.

    The vector goes to `out`, what becomes of the first element behind it, at `out[count]`.
    """
    x, v = pointer(column), pointer(out)
    square, first = real(0.0), x[0]
    for i in range(1, count):
        item = x[i * step]
        v[i] = item
        square += item * item
    v[0] = real(1.0)
    v[count] = first
    if square <= real(TINY):
        for i in range(1, count):
            v[i] = real(0.0)
        return real(0.0)
    length = sqrt(first * first + square)
    made = length if first < 0 else -length
    v[count] = made
    for i in range(1, count):
        v[i] = v[i] / (first - made)
    return (made - first) / made


@helper
def add_rows(out: Address, v: Address, rows: Address, stride: int, count: int, width: int) -> None:
    """out = the sum of v[r] * rows[r], of `width` elements each."""
    zero(out, width)
    total, factor, x = pointer(out), pointer(v), pointer(rows)
    for r in range(count):
        a, at = factor[r], r * stride
        for i in range(width):
            total[i] = total[i] + a * x[at + i]


@helper
def reflect(
    rows: Address, stride: int, count: int, width: int, v: Address, factor: Scalar, sums: Address
) -> None:
    """Reflects the columns of a block of a matrix; sums: room for one of its rows."""
    if factor == 0:
        return
    add_rows(sums, v, rows, stride, count, width)
    x, along, total = pointer(rows), pointer(v), pointer(sums)
    for r in range(count):
        a, at = factor * along[r], r * stride
        for i in range(width):
            x[at + i] = x[at + i] - a * total[i]


def qr(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Matrices q, of orthonormal columns, and upper triangles r with q r = x.

    Parameters: rows and columns of x, columns of q.  Scratch: x, and three more rows and columns.
    """
    m, n, inner = args[3], args[4], args[5]
    least = min(m, n)
    matrix = region(args[6] + worker * args[7], DTYPE)
    factors = matrix + m * n
    v, sums = factors + least, factors + (least + m + 1)
    a, t, w = pointer(matrix), pointer(factors), pointer(v)
    for number in range(r0, r1):
        copy(matrix, args[0] + number * m * n, m * n)
        for k in range(least):
            at = k * n + k
            t[k] = reflector(matrix + at, m - k, n, v)
            a[at] = w[m - k]
            reflect(matrix + (at + 1), n, m - k, n - k - 1, v, t[k], sums)
            for i in range(1, m - k):
                a[at + i * n] = w[i]
        triangle(args[2] + number * inner * n, matrix, inner, n)
        unfold(args[1] + number * m * inner, matrix, m, n, inner, factors)


@helper
def triangle(target: Address, matrix: Address, rows: int, n: int) -> None:
    """The upper triangle of a matrix; zeros below."""
    zero(target, rows * n)
    for i in range(min(rows, n)):
        copy(target + (i * n + i), matrix + (i * n + i), n - i)


@helper
def unfold(target: Address, matrix: Address, m: int, n: int, inner: int, factors: Address) -> None:
    """The product of reflections whose vectors lie below the diagonal: `inner` columns of it."""
    least = min(m, n)
    q, a, t = pointer(target), pointer(matrix), pointer(factors)
    v, sums = factors + least, factors + (least + m + 1)
    w = pointer(v)
    zero(target, m * inner)
    for i in range(min(m, inner)):
        q[i * inner + i] = real(1.0)
    for back in range(least):
        k = least - 1 - back
        w[0] = real(1.0)
        for i in range(1, m - k):
            w[i] = a[(k + i) * n + k]
        reflect(target + (k * inner + k), inner, m - k, inner - k, v, t[k], sums)


@helper
def tridiagonal(matrix: Address, n: int, along: Address, beside: Address, work: Address) -> None:
    """A symmetric matrix becomes vectors of reflections, in rows; what they make of it is left on
    and beside the diagonal.

    work: 2 n + 2 elements.  The factors of the reflections replace the diagonal of the matrix.
    """
    a, d, e = pointer(matrix), pointer(along), pointer(beside)
    v, p = pointer(work), pointer(work + (n + 1))
    for i in range(n - 1):
        count = n - i - 1
        row = i * n + i + 1
        factor = reflector(matrix + row, count, 1, work)
        d[i], e[i] = a[i * n + i], v[count]
        a[i * n + i] = factor
        copy(matrix + row, work, count)
        if factor == 0:
            continue
        rest = matrix + (row + n)
        add_rows(work + (n + 1), work, rest, n, count, count)
        shared = real(0.0)
        for r in range(count):
            p[r] = p[r] * factor
            shared += p[r] * v[r]
        half = real(-0.5) * factor * shared
        for r in range(count):
            p[r] = p[r] + half * v[r]
        for r in range(count):
            one, two, at = v[r], p[r], row + n + r * n
            for c in range(count):
                a[at + c] = a[at + c] - (one * p[c] + two * v[c])
    d[n - 1] = a[n * n - 1]


@helper
def reflected(target: Address, matrix: Address, n: int, work: Address) -> None:
    """The product of the reflections of `tridiagonal`, mirrored at the diagonal."""
    q, a = pointer(target), pointer(matrix)
    zero(target, n * n)
    for i in range(n):
        q[i * n + i] = real(1.0)
    for back in range(n - 1):
        i = n - 2 - back
        count = n - i - 1
        at = (i + 1) * n + i + 1
        v = matrix + (i * n + i + 1)
        reflect(target + at, n, count, count, v, a[i * n + i], work)
    for i in range(n):
        for j in range(i):
            kept = q[i * n + j]
            q[i * n + j] = q[j * n + i]
            q[j * n + i] = kept


@helper
def shift(above: Scalar, last: Scalar, e: Scalar) -> Scalar:
    """The eigenvalue of the last two rows that is nearer to the last diagonal element."""
    half = (above - last) * real(0.5)
    if half == 0:
        return last - size(e)
    if e == 0:
        return last
    one, two = size(half), size(e)
    most, least = (one, two) if one > two else (two, one)
    length = most * sqrt(real(1.0) + (least / most) * (least / most))
    bottom = half + (length if half > 0 else -length)
    if e * e == 0:
        return last - e / (bottom / e)
    return last - e * e / bottom


@helper
def rotate(rows: Address, n: int, cosine: Scalar, sine: Scalar) -> None:
    """Turns two rows that follow each other."""
    x = pointer(rows)
    for i in range(n):
        one, two = x[i], x[n + i]
        x[i] = cosine * one - sine * two
        x[n + i] = sine * one + cosine * two


@helper
def turn(
    along: Address, beside: Address, start: int, end: int, rows: Address, n: int, has_rows: bool
) -> None:
    """One implicit step of the QR algorithm between two diagonal elements."""
    d, e = pointer(along), pointer(beside)
    x, z = d[start] - shift(d[end - 1], d[end], e[end - 1]), e[start]
    for k in range(start, end):
        if z == 0:
            continue
        # The turn that makes z zero.
        cosine, sine = real(0.0), real(0.0)
        if x == 0:
            sine = real(1.0) if z < 0 else real(-1.0)
        elif size(x) > size(z):
            ratio = z / x
            length = sqrt(real(1.0) + ratio * ratio)
            cosine = real(1.0) / (-length if x < 0 else length)
            sine = -ratio * cosine
        else:
            ratio = x / z
            length = sqrt(real(1.0) + ratio * ratio)
            sine = real(-1.0) / (-length if z < 0 else length)
            cosine = -ratio * sine
        one = sine * d[k] + cosine * e[k]
        two = sine * e[k] + cosine * d[k + 1]
        left, right = cosine * d[k] - sine * e[k], cosine * e[k] - sine * d[k + 1]
        d[k] = cosine * left - sine * right
        d[k + 1] = sine * one + cosine * two
        e[k] = cosine * one - sine * two
        if k > start:
            e[k - 1] = cosine * e[k - 1] - sine * z
        x = e[k]
        z = real(0.0)
        if k < end - 1:
            z = -sine * e[k + 1]
            e[k + 1] = cosine * e[k + 1]
        if has_rows:
            rotate(rows + k * n, n, cosine, sine)


@helper
def diagonal(along: Address, beside: Address, rows: Address, n: int, has_rows: bool) -> bool:
    """Turns a tridiagonal matrix, and rows with it, until it is diagonal; False if it does not."""
    d, e = pointer(along), pointer(beside)
    start, end, turns = 0, n - 1, 0
    while end > 0:
        for i in range(start, end):
            beyond = size(e[i])
            near = (size(d[i]) + size(d[i + 1])) * real(2 * EPSILON)
            if beyond <= near or beyond <= real(TINY):
                e[i] = real(0.0)
        while end > 0 and e[end - 1] == 0:
            end -= 1
        if end > 0:
            turns += 1
            if turns > MOST_TURNS * n:
                return False
            start = end - 1
            while start > 0 and e[start - 1] != 0:
                start -= 1
            turn(along, beside, start, end, rows, n, has_rows)
    return True


@helper
def ordered(along: Address, rows: Address, n: int, has_rows: bool) -> None:
    """Puts the diagonal in ascending order, and rows with it."""
    d, x = pointer(along), pointer(rows)
    for i in range(n - 1):
        least = i
        for j in range(i + 1, n):
            if d[j] < d[least]:
                least = j
        if least != i:
            kept = d[i]
            d[i] = d[least]
            d[least] = kept
            if has_rows:
                for c in range(n):
                    held = x[i * n + c]
                    x[i * n + c] = x[least * n + c]
                    x[least * n + c] = held


@helper
def largest(source: Address, n: int) -> Scalar:
    """The largest size of a number on or below the diagonal; the first that is not finite."""
    x, most = pointer(source), real(0.0)
    for i in range(n):
        for j in range(i + 1):
            item = size(x[i * n + j])
            if item > most:
                most = item
            if item - item != 0:
                return item
    return most


@helper
def symmetric(matrix: Address, source: Address, n: int, scale: Scalar) -> None:
    """The matrix of a lower triangle, whose numbers are divided."""
    a, x = pointer(matrix), pointer(source)
    for i in range(n):
        for j in range(i + 1):
            item = x[i * n + j] / scale
            a[i * n + j] = item
            a[j * n + i] = item


def eigen(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Eigenvalues, ascending, and eigenvectors, in columns, of matrices of which the lower triangle
    is read; and where they were not found.

    Parameters: rows of a matrix, whether vectors are wanted.  Scratch: the matrix, another, and
    four more rows.
    """
    n, has_vectors = args[4], args[5] != 0
    values, vectors, failed = pointer(args[1]), pointer(args[2]), pointer(args[3])
    matrix = region(args[6] + worker * args[7], DTYPE)
    rows = matrix + n * n
    beside = rows + n * n
    work, q = beside + n, pointer(rows)
    for number in range(r0, r1):
        source, along = args[0] + number * n * n, args[1] + number * n
        found = largest(source, n)
        is_finite = found - found == 0
        failed[number] = 0 if is_finite else 1
        if n == 0 or not is_finite:
            continue
        scale = real(1.0) if found == 0 else found
        symmetric(matrix, source, n, scale)
        tridiagonal(matrix, n, along, beside, work)
        if has_vectors:
            reflected(rows, matrix, n, work)
        if not diagonal(along, beside, rows, n, has_vectors):
            failed[number] = 1
            continue
        ordered(along, rows, n, has_vectors)
        for i in range(n):
            values[number * n + i] = values[number * n + i] * scale
        if has_vectors:
            for i in range(n):
                for j in range(n):
                    vectors[(number * n + i) * n + j] = q[j * n + i]
