# SPDX-License-Identifier: Apache-2.0
"""Lines of drawn programs: numbers that repeat, slices of slices, arrays in loops, matrices."""

from __future__ import annotations

from math import prod
from typing import Any

from .graph_source import Writer
from .graph_steps import Step
from .graph_types import without
from .graph_values import LARGEST, ONE, Size, Value


def _real(w: Writer, most: float = 90.0, least_rank: int = 0) -> Any:
    return w.pick(lambda v: v.is_float and v.largest <= most and least_rank <= v.ndim <= 3)


def _ramp(dtype: str, *shape: int) -> str:
    """Text for a constant of small numbers that repeat."""
    numbers = f"np.arange({prod(shape)}).reshape({shape}) % 7 * 0.25 - 0.75"
    return f"tf.constant({numbers}, tf.{dtype})"


# Numbers that repeat.


def taken(w: Writer) -> None:
    """Elements by numbers that repeat, and what is put together by such."""
    value = _real(w, 90.0, 1)
    rows = w.pick(lambda v: v.is_int and v.ndim == 1 and v.sizes[0].least > 0)
    if value is None or rows is None or not value.sizes[0].least:
        return
    size = f"tf.shape({value.name}, out_type={rows.name}.dtype)[0]"
    at, found = w.fresh("at"), w.fresh("taken")
    w.line(f"{at} = tf.floormod({rows.name}, {size})")
    w.line(f"{found} = tf.gather({value.name}, {at})")
    sizes, rest = (*rows.sizes, *value.sizes[1:]), value.sizes[1:]
    end = value.largest * (rows.sizes[0].most + 1)
    how = w.random.randrange(5)
    if how == 0:
        w.like(f"tf.gather_nd({value.name}, {at}[:, tf.newaxis])", value, sizes=sizes)
    elif how == 1 and end <= LARGEST:
        text = f"tf.tensor_scatter_add({value.name}, {at}[:, tf.newaxis], {found})"
        w.like(text, value, low=-end, high=end)
    elif how == 2:
        _by_number(w, value, found, f"tf.floormod({rows.name}, 3)")
    elif how == 3 and end <= LARGEST:
        text = f"tf.segment_sum({found}, tf.sort(tf.floormod({rows.name}, 3)))"
        w.like(f"tf.reduce_sum({text}, 0)", value, sizes=rest, low=-end, high=end)
    else:
        w.like(f"{found}[::-1]", value, sizes=sizes)


def _by_number(w: Writer, value: Value, rows: str, numbers: str) -> None:
    """The largest, smallest or mean of rows with the same number; some numbers have none."""
    name = w.random.choice(["max", "min", "mean"] if value.is_exact else ["mean"])
    text = f"tf.math.unsorted_segment_{name}({rows}, {numbers}, 3)"
    sizes = (Size(0, 3), *value.sizes[1:])
    if name == "mean":
        w.like(text, value, sizes=sizes, low=-100, high=100, bits=None)
    else:
        w.like(f"tf.clip_by_value({text}, -100, 100)", value, sizes=sizes, low=-100, high=100)


def written_by_number(w: Writer) -> None:
    """Rows of a variable that one write changes more than once, or that it moves."""
    if not w.variables or w.indent:
        return
    variable = w.random.choice(w.variables)
    rows = variable.sizes[0].fixed or 1
    how = w.random.choice(["add", "sub", "mul", "min", "max", "update", "nd_add", "nd_update", ""])
    numbers = [w.random.randrange(rows) for _ in range(w.random.randint(1, 5))]
    if how.endswith("update"):
        numbers = list(dict.fromkeys(numbers))
    given = _ramp(variable.dtype, len(numbers), *(size.fixed or 1 for size in variable.sizes[1:]))
    at = str([[k] for k in numbers] if how.startswith("nd") else numbers)
    text = f"tf.scatter_{how}({variable.name}, {at}, {given})"
    if not how:
        moved = f"{variable.name}.read_value()[:-1] * 0.5"
        text = f"tf.group({variable.name}[1:].assign({moved}))"
    name, effects = w.fresh("done"), "[]" if w.effect is None else f"[{w.effect}]"
    w.line(f"with tf.control_dependencies({effects}):")
    w.line(f"    {name} = {text}")
    w.line(f"with tf.control_dependencies([{name}]):")
    w.line(f"    {name} = {variable.name}.read_value() + 0.0")
    w.effect = name


# Places that only a run knows.


def wide_slice(w: Writer) -> None:
    """A slice whose ends and steps are known in the run only, or of a slice."""
    value = w.pick(lambda v: v.ndim >= 1 and v.sizes[0].least >= 2)
    if value is None:
        return
    name, rest = value.name, value.sizes[1:]
    fewer = (value.sizes[0].plus(ONE, -1), *rest)
    begin = f"tf.concat([[1], tf.zeros([{value.ndim - 1}], tf.int32)], 0)"
    text, sizes = w.random.choice(
        [
            (f"{name}[k % 2]", rest),
            (f"{name}[tf.minimum(k, 1) :][:1]", (ONE, *rest)),
            (f"{name}[tf.shape({name})[0] - 1 :: -1]", value.sizes),
            (f"{name}[::-1][1:]", fewer),
            (f"tf.slice({name}, {begin}, tf.shape({name}) - {begin})", fewer),
            (f"{name}[..., tf.newaxis][-1]", (*rest, ONE)),
            (f"{name}[1:] + {name}[:-1]", fewer),
        ]
    )
    is_sum = "] + " in text
    if len(sizes) <= 4 and not (is_sum and (value.dtype == "bool" or value.largest > 90)):
        ends = {"low": 2 * value.low, "high": 2 * value.high} if is_sum else {}
        w.like(text, value, sizes=sizes, **ends)


_TURNS = (
    "a = tf.sin(a) + tf.cos(x)",
    "a = tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(a * x), lambda: tf.cos(x) - a * 0.5)",
    "a = tf.where(tf.zeros_like(x) + tf.cast(i, x.dtype) > 1.5, tf.sin(x), a)",
    "a = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, tf.sin(b + x)), [0, a])[1]",
)


def collected(w: Writer) -> None:
    """What the turns of a loop write into a tensor array, and read from one."""
    value = _real(w, 90.0, 1)
    if value is None or not value.sizes[0].least:
        return
    body, there, found, n = w.fresh("f"), w.fresh("there"), w.fresh("found"), w.fresh("n")
    array = f"tf.TensorArray(tf.{value.dtype}, {n}, clear_after_read=False)"
    w.line(f"{n} = tf.shape({value.name})[0]")
    w.line(f"{there} = {array}.unstack({value.name})")
    place = w.random.choice(["i", f"{n} - 1 - i", f"(i + 1) % {n}"])
    read = w.random.choice(["i", f"{n} - 1 - i", f"i % tf.minimum({n}, 2)"])
    w.line(f"def {body}(i, a, out):")
    w.line(f"    x = {there}.read({read})")
    w.line(f"    {w.random.choice(_TURNS)}")
    w.line(f"    return i + 1, a, out.write({place}, a * 0.5)")
    start = f"[tf.constant(0), tf.zeros_like({value.name}[0]), {array}]"
    w.line(f"{found} = tf.while_loop(lambda i, a, out: i < {n}, {body}, {start})")
    w.marks.add("loop")
    text, sizes = w.random.choice(
        [
            (f"{found}[2].stack()", value.sizes),
            (f"{found}[2].gather([0, 0])", (Size(0, 2), *value.sizes[1:])),
            (f"{found}[1]", value.sizes[1:]),
        ]
    )
    w.like(text, value, sizes=sizes, low=-3, high=3, bits=None)


# Matrices, and sums along axes that lie apart.


def solved(w: Writer) -> None:
    """What a matrix is the root, the inverse, the determinant of."""
    value = _real(w, 8.0, 2)
    if value is None or not all(s.least >= 1 and s.most <= 6 for s in value.sizes[-2:]):
        return
    name, other = w.fresh("m"), f"tf.matrix_transpose({value.name})"
    eye = f"2.0 * tf.eye(tf.shape({value.name})[-1], dtype=tf.{value.dtype})"
    w.line(f"{name} = tf.tanh({value.name})")
    w.line(f"{name} = tf.matmul({name}, {name}, transpose_a=True) + {eye}")
    lead, size, rows = value.sizes[:-2], value.sizes[-1], value.sizes[-2]
    text, sizes = w.random.choice(
        [
            (f"tf.cholesky({name})", (*lead, size, size)),
            (f"tf.matrix_inverse({name})", (*lead, size, size)),
            (f"tf.log(tf.matrix_determinant({name}))", lead),
            (f"tf.matrix_solve({name}, {other})", (*lead, size, rows)),
            (f"tf.matrix_triangular_solve({name}, {other})", (*lead, size, rows)),
            (f"tf.trace({name})", lead),
        ]
    )
    w.like(f"tf.tanh({text} * 0.125)", value, sizes=sizes, low=-1, high=1, bits=None)


def counted(w: Writer) -> None:
    """Products so far, masks of lengths, rows backwards up to a length."""
    value = _real(w, 90.0, 2)
    if value is None:
        return
    name, how = value.name, w.random.randrange(3)
    rows, columns = f"tf.range(tf.shape({name})[0])", f"tf.shape({name})[1]"
    if how == 0:
        lengths = f"tf.floormod({rows}, {columns} + 1)"
        w.like(f"tf.reverse_sequence({name}, {lengths}, seq_axis=1, batch_axis=0)", value)
    elif how == 1 and value.ndim == 2:
        mask = f"tf.sequence_mask(tf.floormod({rows}, 3), {columns}, tf.{value.dtype})"
        ends = {"low": min(0.0, value.low), "high": max(0.0, value.high)}
        w.like(f"{name} * {mask}", value, **ends)
    elif value.sizes[1].most <= 19:
        flags = f"exclusive={w.chance(0.5)}, reverse={w.chance(0.5)}"
        text = f"tf.cumprod(tf.cos({name}) + 0.25, 1, {flags})"
        w.like(text, value, low=-90, high=90, bits=None)


def squared(w: Writer) -> None:
    """Products of a value with itself along an axis."""
    value = _real(w, 90.0, 2)
    if value is None:
        return
    at = w.random.randrange(value.ndim)
    rest = without(value.sizes, at)
    end = value.largest**2 * value.sizes[at].most
    if end <= LARGEST and 2 * len(rest) <= 4:
        text = f"tf.tensordot({value.name}, {value.name}, [[{at}], [{at}]])"
        w.like(text, value, sizes=(*rest, *rest), low=-end, high=end, bits=None)


def odd_sum(w: Writer) -> None:
    """Sums over axes that lie apart, of what was turned round."""
    value = w.pick(lambda v: v.is_float and v.ndim >= 2 and v.largest <= 10)
    if value is None:
        return
    order, name = w.random.sample(range(value.ndim), value.ndim), w.fresh("t")
    w.line(f"{name} = tf.transpose({value.name}, {order})")
    if w.chance(0.5):
        w.line(f"{name} = tf.reverse({name}, [{w.random.randrange(value.ndim)}])")
    turned = [value.sizes[k] for k in order]
    axes = sorted(w.random.sample(range(value.ndim), max(1, value.ndim - 1)))
    kept = tuple(size for k, size in enumerate(turned) if k not in axes)
    end = value.largest * prod(turned[k].most for k in axes)
    how = w.random.choice(["sum", "mean", "prod", "norm", "logsumexp"])
    if how == "prod":
        text = f"tf.tanh(tf.reduce_prod(tf.cos({name}), {axes}))"
        w.like(text, value, sizes=kept, low=-1, high=1, bits=None)
    elif how == "norm" and end * value.largest < LARGEST**2 / 2:
        text = f"tf.sqrt(1.0 + tf.reduce_sum(tf.square({name}), {axes}))"
        w.like(text, value, sizes=kept, low=1, high=LARGEST, bits=None)
    elif how != "norm" and end <= LARGEST and all(turned[k].least for k in axes):
        bits = value.bits if how == "sum" else None
        text = f"tf.reduce_{how}({name}, {axes})"
        w.like(text, value, sizes=kept, low=-end, high=end + 9, bits=bits)


# Pictures.


def whole_picture(w: Writer) -> None:
    """Convolutions the other way round, in depth, with holes; windows of pictures."""
    value = w.pick(
        lambda v: (
            v.is_float
            and v.ndim == 4
            and v.largest <= 90
            and v.sizes[0].least > 0
            and all((size.fixed or 0) > 1 for size in v.sizes[1:3])
            and 0 < (v.sizes[3].fixed or 0) <= 4
        )
    )
    if value is not None:
        w.random.choice([_upwards, _windows, _blocks, _deep, _with_holes, _neighbours])(w, value)


def _sized(value: Value, rows: int, columns: int, depth: int) -> tuple[Size, ...]:
    return (value.sizes[0], Size(0, rows), Size(0, columns), Size(0, depth))


def _upwards(w: Writer, value: Value) -> None:
    rows, columns, depth = (size.fixed or 1 for size in value.sizes[1:])
    shape = f"[tf.shape({value.name})[0], {2 * rows}, {2 * columns}, 2]"
    filters = _ramp(value.dtype, 2, 2, 2, depth)
    text = f"tf.nn.conv2d_transpose({value.name}, {filters}, {shape}, [1, 2, 2, 1], 'SAME')"
    sizes = _sized(value, 2 * rows, 2 * columns, 2)
    w.like(f"tf.tanh({text})", value, sizes=sizes, low=-1, high=1, bits=None)


def _windows(w: Writer, value: Value) -> None:
    rows, columns, depth = (size.fixed or 1 for size in value.sizes[1:])
    ones = "[1, 1, 1, 1]"
    text = f"tf.extract_image_patches({value.name}, [1, 2, 2, 1], {ones}, {ones}, 'VALID')"
    w.like(text, value, sizes=_sized(value, rows - 1, columns - 1, 4 * depth))


def _blocks(w: Writer, value: Value) -> None:
    rows, columns, depth = (size.fixed or 1 for size in value.sizes[1:])
    if rows % 2 == 0 and columns % 2 == 0:
        sizes = _sized(value, rows // 2, columns // 2, 4 * depth)
        w.like(f"tf.space_to_depth({value.name}, 2)", value, sizes=sizes)


def _deep(w: Writer, value: Value) -> None:
    end = 8 * value.largest
    filters = _ramp(value.dtype, 2, 2, 2, 1, 2)
    text = f"tf.nn.conv3d({value.name}[..., tf.newaxis], {filters}, [1, 1, 1, 1, 1], 'SAME')"
    if end <= LARGEST:
        w.like(f"{text}[..., 0]", value, low=-end, high=end, bits=None)


def _with_holes(w: Writer, value: Value) -> None:
    depth = value.sizes[3].fixed or 1
    end, filters = 7 * depth * value.largest, _ramp(value.dtype, 3, 3, depth, 2)
    holes = "[1, 1, 1, 1], 'SAME', dilations=[1, 2, 2, 1]"
    sizes = (*value.sizes[:3], Size(0, 2))
    if end <= LARGEST:
        text = f"tf.nn.conv2d({value.name}, {filters}, {holes})"
        w.like(text, value, sizes=sizes, low=-end, high=end, bits=None)


def _neighbours(w: Writer, value: Value) -> None:
    if value.dtype == "float32":
        text = f"tf.nn.local_response_normalization({value.name}, 2, 1.0, 0.5, 0.5)"
        w.like(text, value, bits=None)


WIDE: list[Step] = [
    *(taken, taken, wide_slice, wide_slice, collected, solved, counted, squared),
    *(odd_sum, odd_sum, whole_picture, whole_picture),
]
