# SPDX-License-Identifier: Apache-2.0
"""Lines of drawn programs that move elements about: transposes, slices, gathers, scatters."""

from __future__ import annotations

from typing import Any

from .graph_source import Writer
from .graph_steps import Step, elements
from .graph_values import LARGEST, ONE, Size, Value


def _any_rank(w: Writer, least: int = 1, most: int = 4) -> Any:
    return w.pick(lambda v: least <= v.ndim <= most)


def transpose(w: Writer) -> None:
    """Axes in another order."""
    value = _any_rank(w, 2)
    if value is not None:
        order = w.random.sample(range(value.ndim), value.ndim)
        sizes = tuple(value.sizes[k] for k in order)
        w.like(f"tf.transpose({value.name}, {order})", value, sizes=sizes)


def reshape(w: Writer) -> None:
    """The same elements as one row, or with an axis more or less."""
    value = _any_rank(w, 0, 4)
    if value is None:
        return
    total = elements(value)
    kind = w.random.randrange(4)
    if kind == 0 and total is not None:
        w.like(f"tf.reshape({value.name}, [-1])", value, sizes=(total,))
    elif kind == 1 and value.ndim < 4:
        axis = w.random.randint(0, value.ndim)
        sizes = (*value.sizes[:axis], ONE, *value.sizes[axis:])
        w.like(f"tf.expand_dims({value.name}, {axis})", value, sizes=sizes)
    elif kind == 2 and ONE in value.sizes:
        axis = value.sizes.index(ONE)
        sizes = (*value.sizes[:axis], *value.sizes[axis + 1 :])
        w.like(f"tf.squeeze({value.name}, [{axis}])", value, sizes=sizes)
    elif kind == 3 and value.ndim >= 2:
        joined = value.sizes[0].by(value.sizes[1])
        if joined is not None:
            shape = f"tf.concat([[-1], tf.shape({value.name})[2:]], 0)"
            w.like(f"tf.reshape({value.name}, {shape})", value, sizes=(joined, *value.sizes[2:]))


def piece(w: Writer) -> None:
    """What brackets take of a value."""
    value = _any_rank(w)
    if value is None:
        return
    inside, sizes = [], []
    for size in value.sizes:
        kind = w.random.randrange(7)
        if kind == 0 and size.least >= 1:
            inside.append(w.random.choice(["0", "-1"]))
        elif kind == 1 and size.least >= 2:
            inside.append(w.random.choice(["1:", ":-1"]))
            sizes.append(size.plus(ONE, -1))
        elif kind == 2:
            inside.append("::-1")
            sizes.append(size)
        elif kind == 3:
            inside.append("tf.newaxis, :")
            sizes += [ONE, size]
        elif kind == 4 and size.fixed is not None:
            inside.append("::2")
            sizes.append(Size(0, (size.fixed + 1) // 2))
        else:
            inside.append(":")
            sizes.append(size)
    if len(sizes) <= 4:
        w.like(f"{value.name}[{', '.join(inside)}]", value, sizes=tuple(sizes))


def _same(w: Writer, value: Value, axis: int) -> Any:
    """Another value that differs in an axis at most."""
    return w.pick(
        lambda v: (
            v.dtype == value.dtype
            and v.ndim == value.ndim
            and all(k == axis or a == b for k, (a, b) in enumerate(zip(v.sizes, value.sizes)))
        )
    )


def join(w: Writer) -> None:
    """Values after one another, or on top of each other."""
    value = _any_rank(w, 1, 3)
    if value is None:
        return
    axis = w.random.randrange(value.ndim)
    other = _same(w, value, axis)
    bits = None if None in (value.bits, other.bits) else max(value.bits or 0, other.bits or 0)
    known = {"low": min(value.low, other.low), "high": max(value.high, other.high), "bits": bits}
    if other.sizes == value.sizes and w.chance(0.5):
        sizes = (*value.sizes[:axis], Size(0, 2), *value.sizes[axis:])
        w.like(f"tf.stack([{value.name}, {other.name}], {axis})", value, sizes=sizes, **known)
        return
    joined = value.sizes[axis].plus(other.sizes[axis])
    if joined.most > 20:
        return
    sizes = (*value.sizes[:axis], joined, *value.sizes[axis + 1 :])
    w.like(f"tf.concat([{value.name}, {other.name}], {axis})", value, sizes=sizes, **known)


def parts(w: Writer) -> None:
    """One of the parts that a value falls into."""
    value = w.pick(lambda v: v.ndim > 0 and any(s.fixed for s in v.sizes))
    if value is None:
        return
    axis = w.random.choice([k for k, s in enumerate(value.sizes) if s.fixed])
    size = value.sizes[axis].fixed or 1
    rest = (*value.sizes[:axis], *value.sizes[axis + 1 :])
    if size % 2 or w.chance(0.5):
        at = w.random.randrange(size)
        w.like(f"tf.unstack({value.name}, {size}, {axis})[{at}]", value, sizes=rest)
    else:
        half = (*value.sizes[:axis], Size(0, size // 2), *value.sizes[axis + 1 :])
        w.like(f"tf.split({value.name}, 2, {axis})[{w.random.randrange(2)}]", value, sizes=half)


def padded(w: Writer) -> None:
    """A margin around a value."""
    value = w.pick(lambda v: 1 <= v.ndim <= 3 and v.dtype != "bool")
    if value is None:
        return
    mode = w.random.choice(["CONSTANT", "CONSTANT", "SYMMETRIC", "REFLECT"])
    pads, sizes = [], []
    for size in value.sizes:
        most = 2 if mode == "CONSTANT" else max(size.least - (mode == "REFLECT"), 0)
        pads.append([w.random.randint(0, min(most, 2)), w.random.randint(0, min(most, 2))])
        sizes.append(size.plus(Size(0, sum(pads[-1]))))
    ends = {"low": min(0.0, value.low), "high": max(0.0, value.high)}
    w.like(f"tf.pad({value.name}, {pads}, {mode!r})", value, sizes=tuple(sizes), **ends)


def repeated(w: Writer) -> None:
    """A value several times, backwards, or turned round."""
    value = _any_rank(w, 1, 3)
    if value is None:
        return
    axis = w.random.randrange(value.ndim)
    kind = w.random.randrange(3)
    if kind == 0 and value.sizes[axis].most <= 10:
        times = [2 if k == axis else 1 for k in range(value.ndim)]
        sizes = tuple(s.by(Size(0, t)) or s for s, t in zip(value.sizes, times))
        w.like(f"tf.tile({value.name}, {times})", value, sizes=sizes)
    elif kind == 1:
        w.like(f"tf.reverse({value.name}, [{axis}])", value)
    else:
        w.like(f"tf.roll({value.name}, {w.random.choice([1, -1, 2])}, {axis})", value)


def gathered(w: Writer) -> None:
    """Rows by their numbers: constant ones, or those of a value."""
    value = _any_rank(w, 1, 3)
    if value is None:
        return
    axis = w.random.randrange(value.ndim)
    size = value.sizes[axis]
    if not size.least:
        return
    numbers = w.pick(lambda v: v.is_int and v.ndim <= 1)
    if numbers is None or w.chance(0.4):
        given = [w.random.randrange(size.least) for _ in range(w.random.randint(1, 4))]
        text, taken = str(given), (Size(0, len(given)),)
    else:
        bound = (
            "" if size.fixed else f"tf.shape({value.name}, out_type={numbers.name}.dtype)[{axis}]"
        )
        text = f"tf.floormod({numbers.name}, {bound or size.fixed})"
        taken = tuple(numbers.sizes)
    sizes = (*value.sizes[:axis], *taken, *value.sizes[axis + 1 :])
    if len(sizes) <= 4:
        w.like(f"tf.gather({value.name}, {text}, axis={axis})", value, sizes=sizes)


def _numbers_of_rows(w: Writer, value: Value) -> Value:
    """An integer for each row: something computed, or else where it stands."""
    rows = value.sizes[:1]
    found = w.pick(lambda v: v.dtype == "int32" and v.sizes == rows)
    if found is None:
        end = max(rows[0].most - 1, 0)
        found = w.add(f"tf.range(tf.shape({value.name})[0])", "int32", rows, 0, end, 0)
    return found


def summed_by_number(w: Writer) -> None:
    """Rows added up by a number that each has."""
    value = w.pick(lambda v: v.ndim >= 1 and v.dtype != "bool" and v.largest <= 90)
    if value is None:
        return
    numbers = _numbers_of_rows(w, value)
    text = f"tf.unsorted_segment_sum({value.name}, tf.floormod({numbers.name}, 3), 3)"
    if w.chance(0.3):
        text = f"tf.scatter_nd(tf.floormod({numbers.name}, 3)[:, tf.newaxis], {value.name}, "
        shape = f"tf.concat([[3], tf.shape({value.name})[1:]], 0)"
        text += f"tf.cast({shape}, {numbers.name}.dtype))"
    number = value.sizes[0].most
    ends = {"low": min(0.0, value.low * number), "high": max(0.0, value.high * number)}
    w.like(text, value, sizes=(Size(0, 3), *value.sizes[1:]), **ends)


def masked(w: Writer) -> None:
    """The sum of the rows that a mask takes, of which nobody knows the number."""
    value = w.pick(lambda v: v.ndim >= 1 and v.dtype != "bool" and v.largest <= 90)
    if value is None:
        return
    mask = w.pick(lambda v: v.dtype == "bool" and v.sizes == value.sizes[:1])
    if mask is None:
        numbers = _numbers_of_rows(w, value)
        mask = w.add(f"tf.equal({numbers.name} % 2, 0)", "bool", numbers.sizes, bits=0)
    number = value.sizes[0].most
    ends = {"low": min(0.0, value.low * number), "high": max(0.0, value.high * number)}
    text = f"tf.reduce_sum(tf.boolean_mask({value.name}, {mask.name}), 0)"
    w.like(text, value, sizes=value.sizes[1:], **ends)


def parted(w: Writer) -> None:
    """Rows sorted into parts by number, and put together again."""
    value = w.pick(lambda v: v.ndim >= 1 and v.is_float)
    if value is None:
        return
    numbers = _numbers_of_rows(w, value)
    kind, rows, found = w.fresh("kind"), w.fresh("rows"), w.fresh("found")
    w.line(f"{kind} = tf.floormod({numbers.name}, 2)")
    w.line(f"{rows} = tf.dynamic_partition(tf.range(tf.size({kind})), {kind}, 2)")
    w.line(f"{found} = tf.dynamic_partition({value.name}, {kind}, 2)")
    text = f"tf.dynamic_stitch({rows}, [{found}[0] * 2, {found}[1] * -1])"
    end = 2 * value.largest
    if end <= LARGEST:
        shape = f"tf.reshape({text}, tf.shape({value.name}))"
        w.like(shape, value, low=-end, high=end)


def hot(w: Writer) -> None:
    """Integers as rows with a single one."""
    value = w.pick(lambda v: v.is_int and v.ndim <= 2)
    if value is not None:
        axis = w.random.choice([-1, 0])
        sizes = (*value.sizes, Size(0, 3)) if axis else (Size(0, 3), *value.sizes)
        text = f"tf.one_hot(tf.floormod({value.name}, 4), 3, axis={axis}, dtype=tf.float32)"
        w.add(text, "float32", sizes, 0, 1, 0)


def triangle(w: Writer) -> None:
    """A band, or the diagonal of matrices."""
    value = w.pick(lambda v: 2 <= v.ndim <= 3 and v.dtype != "bool")
    if value is None:
        return
    if value.sizes[-1] == value.sizes[-2] and w.chance(0.5):
        w.like(f"tf.matrix_diag_part({value.name})", value, sizes=value.sizes[:-1])
    else:
        ends = {"low": min(0.0, value.low), "high": max(0.0, value.high)}
        low, high = w.random.randint(-1, 1), w.random.randint(-1, 1)
        w.like(f"tf.matrix_band_part({value.name}, {low}, {high})", value, **ends)


def made(w: Writer) -> None:
    """Something of a value's shape that does not depend on its elements."""
    value = _any_rank(w, 0, 3)
    if value is None:
        return
    kind = w.random.randrange(3)
    if kind == 0:
        w.like(f"tf.ones_like({value.name}, tf.float32)", value, dtype="float32", low=1, high=1)
    elif kind == 1 and value.ndim:
        end = value.sizes[0].most - 1
        text = f"tf.range(tf.shape({value.name})[0])"
        w.add(text, "int32", value.sizes[:1], 0, end, 0)
    else:
        text = f"tf.fill(tf.shape({value.name}), 0.75)"
        w.add(text, "float32", value.sizes, 0.75, 0.75, 2)


MOVES: list[Step] = [
    *([transpose] * 2 + [reshape] * 3 + [piece] * 3 + [join] * 2 + [gathered] * 2),
    *(parts, padded, repeated, summed_by_number, masked, parted, hot, triangle, made),
]
