# SPDX-License-Identifier: Apache-2.0
"""Compiled forms of ops on sparse tensors.

Where entries stand is data: what depends on it is done by the library's kernels of rows of indices
(jit/library/index_rows.py), and how many entries come of it a run measures.  Dense shapes are sizes
where somebody's shape depends on them, else numbers that a run looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.types.indices import first_outside
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import AnySize, maximum, minimum, product, same
from ..array.nd_index import depth_of, places
from ..run_checks import error_of
from .common import require_shape

if TYPE_CHECKING:
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def rank_of(b: Builder, indices: Value, shape: Value) -> int:
    """How long the vectors of indices are, which a plan knows; refuses what does not fit."""
    b.require(indices.ndim == 2 and shape.ndim == 1)
    known = shape.shape[0]
    if not isinstance(known, int):
        known = depth_of(b, indices)
    b.require(b.equal(indices.shape[1], known) and b.equal(shape.shape[0], known))
    return known


def columns_of(b: Builder, indices: Value, rank: int) -> list[Value]:
    """The indices along each dimension."""
    count = indices.shape[0]
    return [b.reshape(b.slice(indices, [0, i], [count, 1]), [count]) for i in range(rank)]


def numbers_of(b: Builder, vector: Value, count: int) -> list[Value]:
    """The elements of a vector, 0-d."""
    known = b.known(vector)
    if known is not None:
        return [b.constant(size, vector.dtype) for size in known.tolist()]
    return [b.reshape(b.slice(vector, [i], [1]), []) for i in range(count)]


def _require_none(b: Builder, wrong: Value, error: Callable[..., object], *evidence: Value) -> None:
    """Raises what error(*contents of the evidence) raises if anything is wrong."""
    b.require_not(b.reduce("any", wrong, None), error_of(error), *evidence)


def _require_sizes(b: Builder, shape: Value) -> None:
    """Raises what reference kernels raise of a dense shape that is none."""
    _require_none(b, b.map(lambda size: k.lt(size, 0), shape), require_shape, shape)


def _require_alike(b: Builder, one: Value, other: Value, error: Callable[..., object]) -> None:
    """Raises error(one, other) unless two dense shapes are equal."""
    if one is other:
        return
    known = b.known(one), b.known(other)
    if known[0] is not None and known[1] is not None:
        b.require(known[0].shape == known[1].shape)
        if all(map(same, known[0].tolist(), known[1].tolist())):
            return
    b.require_shape(other, one.shape)
    _require_none(b, b.map(k.ne, one, other), error, one, other)


# Two sparse tensors


def lower_merge(fn: str, error: Callable[..., object]) -> Callable[..., Any]:
    """The lowering of what merges two sparse tensors; error(shape, other shape) if these differ."""

    def lower(b: Builder, op: OpView, *given: Value) -> Any:
        from ...jit import library

        rows, values, shape, other_rows, other_values, other_shape, *least = given
        b.require(rows.ndim == 2 and other_rows.ndim == 2)
        b.require(b.equal(rows.shape[1], other_rows.shape[1]))
        b.require_shape(values, rows.shape[:1])
        b.require_shape(other_values, other_rows.shape[:1])
        b.require_shape(shape, rows.shape[1:])
        b.require(all(number.ndim == 0 for number in least))
        _require_alike(b, shape, other_shape, error)
        sides = (rows, values), (other_rows, other_values)
        made = library.merged_rows(b, fn, *sides, *least)
        if made is NotImplemented:
            return made
        whole, total, count = made
        size = b.measure(count)
        results = b.slice(whole, [0, 0], [size, rows.shape[1]]), b.slice(total, [0], [size])
        return (*results, shape) if least else results

    return lower


def lower_add_gradient(
    b: Builder, op: OpView, grad: Value, a: Value, c: Value, total: Value
) -> Any:
    """The lowering of the gradient of a sum of two sparse tensors."""
    from ...jit import library

    b.require(a.ndim == 2 and c.ndim == 2 and total.ndim == 2)
    b.require(b.equal(a.shape[1], total.shape[1]) and b.equal(c.shape[1], total.shape[1]))
    b.require_shape(grad, total.shape[:1])
    return library.parted_rows(b, grad, a, c, total)


# Softmax and sums


def lower_softmax(b: Builder, op: OpView, indices: Value, values: Value, shape: Value) -> Any:
    """The lowering of a softmax of the entries of each row, which come in order."""
    from ...jit import library

    count = indices.shape[0]
    b.require(indices.ndim == 2 and rank_of(b, indices, shape) >= 2)
    b.require_shape(values, [count])
    _require_sizes(b, shape)
    order = library.row_order(b, indices)
    group = library.row_groups(b, indices, order, indices.shape[1] - 1)
    ordered = b.pick(values, order)
    greatest = library.sorted_segments(b, "fmax", ordered, group, count, -np.inf, 0)
    powers = b.map(lambda x, top: k.exp(k.sub(x, top)), ordered, b.pick(greatest, group))
    total = library.sorted_segments(b, "add", powers, group, count, 0, 0)
    return b.map(k.div, powers, b.pick(total, group))


def require_places(indices: np.ndarray, sizes: np.ndarray) -> None:
    """Raises InvalidArgumentError for an index outside of what is kept of a shape."""
    outside = ((indices < 0) | (indices >= sizes)).any(axis=1)
    if outside.any():
        i = int(np.argmax(outside))
        raise errors.invalid(
            f"indices[{i}] = {indices[i].tolist()} is out of bounds: need 0 <= index < "
            f"{sizes.tolist()}"
        )


def lower_reduce_sum(
    b: Builder, op: OpView, indices: Value, values: Value, shape: Value, axes: Value
) -> Any:
    """The lowering of a sum of a sparse tensor along axes, which is dense."""
    from ...jit import library

    sizes, along = b.known(shape), b.known(axes)
    if sizes is None or along is None:
        raise b.host("the shape depends on the data")
    rank = rank_of(b, indices, shape)
    count = indices.shape[0]
    b.require_shape(values, [count])
    reduced = {b.axis(axis, rank) for axis in along.reshape(-1).tolist()}
    kept = [i for i in range(rank) if i not in reduced]
    numbers = sizes.tolist()
    b.require(all(number >= 0 for number in numbers))
    if not kept:
        total = b.reduce("sum", values, None)
        return b.reshape(total, [1] * rank if op.attr("keep_dims") else [])
    chosen = [numbers[i] for i in kept]
    columns = columns_of(b, indices, rank)
    flat, outside = places(b, [columns[i] for i in kept], chosen)
    _require_none(b, outside, _require_kept(kept), indices, shape)
    dense = library.scatter_rows(b, "add", flat, values, product(chosen))
    if dense is NotImplemented:
        return dense
    result = [1 if i in reduced else size for i, size in enumerate(numbers)]
    return b.reshape(dense, result if op.attr("keep_dims") else chosen)


def _require_kept(kept: list[int]) -> Callable[[np.ndarray, np.ndarray], None]:
    return lambda indices, shape: require_places(indices[:, kept], shape[kept])


# Sparse with dense


def lower_cwise(
    compute: Callable[[Any, Any], Any], error: Callable[..., object]
) -> Callable[..., Any]:
    """The lowering of what combines entries with the dense elements at their places.

    error(indices, shape, dense shape) raises what is wrong with them.
    """

    def lower(
        b: Builder, op: OpView, indices: Value, values: Value, shape: Value, dense: Value
    ) -> Any:
        rank = rank_of(b, indices, shape)
        lead = rank - dense.ndim
        if lead < 0 or not 1 <= rank <= 5:
            return NotImplemented
        b.require_shape(values, indices.shape[:1])
        columns, limits = columns_of(b, indices, rank), numbers_of(b, shape, rank)
        wide = [1] * lead + list(dense.shape)
        sizes = [b.constant(size, "int64") for size in wide]
        evidence = indices, shape, b.constant(list(dense.shape), "int64")
        for size, number, limit in zip(wide, sizes, limits, strict=True):
            if not same(size, 1):
                misfit = b.map(lambda n, m: k.logical_and(k.ne(n, 1), k.ne(n, m)), number, limit)
                b.require_not(misfit, error_of(error), *evidence)
        flat, outside = _spread_places(b, columns, limits, sizes)
        _require_none(b, outside, error, *evidence)
        found = b.pick(b.reshape(dense, [product(dense.shape)]), flat)
        return b.map(compute, values, found)

    return lower


def _spread_places(
    b: Builder, columns: Sequence[Value], limits: Sequence[Value], sizes: Sequence[Value]
) -> tuple[Value, Value]:
    """Places in a tensor that is spread along dimensions of one, and whether they are outside."""
    rank = len(columns)

    def place(*given: Any) -> Any:
        found, outside = None, None
        for i, limit, n in zip(
            given[:rank], given[rank : 2 * rank], given[2 * rank :], strict=True
        ):
            wrong = k.logical_or(k.lt(i, 0), k.ge(i, limit))
            outside = wrong if outside is None else k.logical_or(outside, wrong)
            here = k.select(k.eq(n, 1), k.const_like(0, i), i)
            found = here if found is None else k.add(k.mul(found, n), here)
        return found, outside

    flat, outside = b.map(place, *columns, *limits, *sizes)
    return flat, outside


# Another order or shape


def lower_reorder(
    b: Builder, op: OpView, indices: Value, values: Value, shape: Value
) -> tuple[Value, Value]:
    """The lowering of a sparse tensor's entries in order."""
    from ...jit import library

    b.require(indices.ndim == 2)
    b.require_shape(values, indices.shape[:1])
    b.require_shape(shape, indices.shape[1:])
    order = library.row_order(b, indices)
    return b.pick(indices, order), b.pick(values, order)


def lower_reshape(b: Builder, op: OpView, indices: Value, shape: Value, wanted: Value) -> Any:
    """The lowering of indices in another dense shape."""
    known, given = b.known(shape), b.known(wanted)
    if known is None or given is None:
        raise b.host("the shape depends on the data")
    sizes, target = known.tolist(), given.tolist()
    rank = rank_of(b, indices, shape)
    opened = [i for i, size in enumerate(target) if isinstance(size, int) and size < 0]
    if opened:
        rest = product([size for size in target if not (isinstance(size, int) and size < 0)])
        if len(opened) > 1 or target[opened[0]] != -1 or b.equal(rest, 0):
            return NotImplemented
        target[opened[0]] = product(sizes) // rest
    if not b.equal(product(target), product(sizes)):
        return NotImplemented
    result = b.constant(target, "int64")
    if len(target) == rank and all(map(b.equal, target, sizes)):
        return indices, result
    if not target or not rank:
        return NotImplemented
    flat, _ = places(b, columns_of(b, indices, rank), sizes)
    columns = []
    # The first index is not held against its size, as in the reference kernel.
    for size in target[:0:-1]:
        number = b.constant(maximum(size, 1), "int64")
        columns.append(b.map(k.floormod, flat, number))
        flat = b.map(k.floordiv, flat, number)
    columns = [flat, *columns[::-1]]
    count = indices.shape[0]
    return b.concat([b.reshape(column, [count, 1]) for column in columns], 1), result


def lower_concat(error: Callable[..., object]) -> Callable[..., Any]:
    """The lowering of sparse tensors one after the other; error(axis, *shapes) if they differ."""

    def lower(
        b: Builder, op: OpView, indices: Any, values: Any, shapes: Any
    ) -> tuple[Value, Value, Value]:
        from ...jit import library

        rank = rank_of(b, indices[0], shapes[0])
        axis = b.axis(op.attr("concat_dim"), rank)
        moved, start = [], b.constant(0, "int64")
        numbers = [numbers_of(b, shape, rank) for shape in shapes]
        at = b.iota([rank], 0, "int64")
        for part, its_values, shape, sizes in zip(indices, values, shapes, numbers, strict=True):
            b.require(part.ndim == 2 and b.equal(part.shape[1], rank))
            b.require_shape(shape, [rank])
            b.require_shape(its_values, part.shape[:1])
            for i in range(rank):
                if i != axis and sizes[i] is not numbers[0][i]:
                    differ = b.map(k.ne, sizes[i], numbers[0][i])
                    b.require_not(differ, error_of(partial(error, axis)), *shapes)
            shift = _at_axis(axis)
            moved.append(b.map(shift, part, at, start))
            start = b.map(k.add, start, sizes[axis])
        whole, together = b.concat(moved, 0), b.concat(list(values), 0)
        order = library.row_order(b, whole)
        return b.pick(whole, order), b.pick(together, order), _joined(b, shapes, axis, start, at)

    return lower


def _at_axis(axis: int) -> Callable[..., Any]:
    """Adds an offset to the indices along an axis."""
    return lambda i, at, offset: k.select(k.eq(at, axis), k.add(i, offset), i)


def _joined(b: Builder, shapes: Sequence[Value], axis: int, total: Value, at: Value) -> Value:
    """The dense shape of several along an axis: sizes if all are known."""
    known = [b.known(shape) for shape in shapes]
    if any(sizes is None for sizes in known):
        return b.map(lambda i, n, total: k.select(k.eq(i, axis), total, n), at, shapes[0], total)
    sizes = known[0].tolist()  # type: ignore[union-attr]
    sizes[axis] = sum(s.tolist()[axis] for s in known)  # type: ignore[union-attr]
    return b.constant(sizes, "int64")


def lower_slice(
    b: Builder, op: OpView, indices: Value, values: Value, shape: Value, start: Value, size: Value
) -> Any:
    """The lowering of a block of a sparse tensor."""
    rank = rank_of(b, indices, shape)
    b.require_shape(start, [rank])
    b.require_shape(size, [rank])
    known = [b.known(vector) for vector in (shape, start, size)]
    if any(numbers is None for numbers in known[1:]):
        return NotImplemented
    first, length = (numbers.tolist() for numbers in known[1:])  # type: ignore[union-attr]
    if any(isinstance(n, int) and (n < 0 or n >= 2**62) for n in (*first, *length)):
        return NotImplemented
    part, its_values = _block(b, indices, values, rank, first, length, range(rank))
    if known[0] is None:
        sizes = b.map(lambda m, a, n: k.maximum(k.minimum(n, k.sub(m, a)), 0), shape, start, size)
    else:
        rest = [m - a for m, a in zip(known[0].tolist(), first, strict=True)]
        sizes = b.constant(
            [maximum(minimum(n, m), 0) for n, m in zip(length, rest, strict=True)], "int64"
        )
    return part, its_values, sizes


def _block(
    b: Builder,
    indices: Value,
    values: Value,
    rank: int,
    first: Sequence[AnySize],
    length: Sequence[AnySize],
    axes: Sequence[int],
) -> tuple[Value, Value]:
    """The entries in a block, their indices counted from where it begins; it is as large as all
    along all axes but these.
    """
    from ...jit import library

    b.require_shape(values, indices.shape[:1])
    count = len(axes)

    def inside(*given: Any) -> Any:
        found = None
        begins, ends = given[count : 2 * count], given[2 * count :]
        for i, begin, end in zip(given[:count], begins, ends, strict=True):
            here = k.logical_and(k.ge(i, begin), k.lt(i, end))
            found = here if found is None else k.logical_and(found, here)
        return found

    limits = [first[i] for i in axes] + [first[i] + length[i] for i in axes]
    columns = columns_of(b, indices, rank)
    numbers = [b.constant(number, "int64") for number in limits]
    chosen = b.map(inside, *[columns[i] for i in axes], *numbers)
    kept = b.measure(b.reduce("sum", b.cast(chosen, "int64"), None))
    where = b.reshape(library.coordinates(b, chosen, kept), [kept])
    begins = b.constant(list(first), "int64")
    return b.map(k.sub, b.pick(indices, where), begins), b.pick(values, where)


def lower_split(error: Callable[..., object]) -> Callable[..., Any]:
    """The lowering of a sparse tensor in parts along an axis, the first being the larger ones.

    error(size, parts) raises what is wrong with so many parts of a size.
    """

    def lower(
        b: Builder, op: OpView, axis: Value, indices: Value, values: Value, shape: Value
    ) -> tuple[Any, ...]:
        place, count = b.known(axis), op.attr("num_split")
        if place is None or place.size != 1:
            raise b.host("the axis depends on the data")
        rank = rank_of(b, indices, shape)
        at = b.axis(place.item(), rank)
        b.require_shape(values, indices.shape[:1])
        size, column = numbers_of(b, shape, rank)[at], columns_of(b, indices, rank)[at]
        parts = b.constant(count, "int64")
        b.require_not(b.map(k.lt, size, parts), error_of(error), size, parts)
        results = [
            _strip(b, (indices, values, shape), column, at, (i, count)) for i in range(count)
        ]
        return tuple(part for each in zip(*results, strict=True) for part in each)

    return lower


def _strip(
    b: Builder, sparse: tuple[Value, Value, Value], column: Value, at: int, part: tuple[int, int]
) -> tuple[Value, Value, Value]:
    """A part of a sparse tensor along an axis, the first of (which, how many)."""
    from ...jit import library

    indices, values, shape = sparse
    number, count = part
    size = numbers_of(b, shape, at + 1)[at]

    def begin_of(n: Any) -> tuple[Any, Any]:
        # The first parts take the remainder.
        least, extra = k.floordiv(n, count), k.floormod(n, count)
        begin = k.add(k.mul(least, number), k.minimum(extra, number))
        return begin, k.add(least, k.select(k.lt(number, extra), k.const_like(1, n), 0))

    begin, length = b.map(begin_of, size)
    end = b.map(k.add, begin, length)
    chosen = b.map(lambda i, a, e: k.logical_and(k.ge(i, a), k.lt(i, e)), column, begin, end)
    kept = b.measure(b.reduce("sum", b.cast(chosen, "int64"), None))
    where = b.reshape(library.coordinates(b, chosen, kept), [kept])
    axes = b.iota([indices.shape[1]], 0, "int64")
    moved = b.map(
        lambda i, axis, a: k.select(k.eq(axis, at), k.sub(i, a), i),
        *(b.pick(indices, where), axes, begin),
    )
    sizes = b.map(lambda m, axis, n: k.select(k.eq(axis, at), n, m), shape, axes, length)
    known = b.known(shape)
    if known is not None and isinstance(known.item(at), int):
        numbers, (least, extra) = known.tolist(), divmod(known.item(at), count)
        numbers[at] = least + (number < extra)
        sizes = b.constant(numbers, "int64")
    return moved, b.pick(values, where), sizes


def lower_slice_gradient(error: Callable[..., object]) -> Callable[..., Any]:
    """The lowering of the gradient of a block; error() if not all of it has a place."""

    def lower(
        b: Builder, op: OpView, grad: Value, indices: Value, start: Value, chosen: Value
    ) -> Any:
        from ...jit import library

        b.require(indices.ndim == 2 and chosen.ndim == 2)
        b.require(b.equal(indices.shape[1], chosen.shape[1]))
        b.require(chosen.shape[0] <= indices.shape[0])
        b.require_shape(start, indices.shape[1:])
        b.require_shape(grad, chosen.shape[:1])
        made = library.spread_subsequence(b, grad, indices, chosen, start)
        if made is NotImplemented:
            return made
        values, found = made
        count = b.size_scalar(grad, None, "int64")
        b.require_not(b.map(k.ne, found, count), error_of(error), count, found)
        return values

    return lower


# Empty rows


def require_rows(rows: np.ndarray, count: np.ndarray) -> None:
    """Raises InvalidArgumentError for an entry that begins with a row that is not there."""
    if not count and len(rows):
        raise errors.invalid(
            f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {len(rows)}"
        )
    bad = first_outside(rows, int(count))
    if bad is not None:
        raise errors.invalid(f"indices({bad}, 0) is invalid: {rows[bad]} >= {count}")


def lower_fill_rows(
    b: Builder, op: OpView, indices: Value, values: Value, shape: Value, default: Value
) -> tuple[Value, Any, Any, Any]:
    """The lowering of a sparse tensor with one more entry in each empty row."""
    from ...jit import library

    sizes = b.known(shape)
    if sizes is None:
        raise b.host("the shape depends on the data")
    rank = rank_of(b, indices, shape)
    b.require(rank >= 1 and not default.ndim)
    b.require_shape(values, indices.shape[:1])
    rows = sizes.tolist()[0]
    number, first = b.constant(rows, "int64"), columns_of(b, indices, 1)[0]
    outside = b.map(lambda i, n: k.logical_or(k.lt(i, 0), k.ge(i, n)), first, number)
    _require_none(b, outside, require_rows, first, number)
    whole, source, empty, gone, count = library.filled_rows(b, indices, rows)
    size = b.measure(count)
    source = b.slice(source, [0], [size])
    found = b.pick(values, b.map(lambda i: k.maximum(i, 0), source))
    filled = b.map(lambda i, x, y: k.select(k.lt(i, 0), y, x), source, found, default)
    return b.slice(whole, [0, 0], [size, rank]), filled, empty, gone


def require_gone(places: np.ndarray, count: np.ndarray) -> None:
    """Raises InvalidArgumentError for an entry that went where nothing is."""
    bad = first_outside(places, int(count))
    if bad is not None:
        raise errors.invalid(
            f"Elements in reverse index must be in [0, {count}) but got {places[bad]}"
        )


def lower_fill_gradient(b: Builder, op: OpView, gone: Value, grad: Value) -> Any:
    """The lowering of the gradient of filling empty rows: what nobody went to is the default's."""
    from ...jit import library

    b.require(gone.ndim == 1 and grad.ndim == 1)
    count = b.size_scalar(grad, None, "int64")
    outside = b.map(lambda i, n: k.logical_or(k.lt(i, 0), k.ge(i, n)), gone, count)
    _require_none(b, outside, require_gone, gone, count)
    zeros = b.full(gone.shape, 0, grad.dtype)
    rest = library.scatter_rows(b, "update", gone, zeros, grad.shape[0], grad)
    if rest is NotImplemented:
        return rest
    return b.pick(grad, gone), b.reduce("sum", rest, None)
