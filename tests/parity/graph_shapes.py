# SPDX-License-Identifier: Apache-2.0
"""Lines of drawn programs about shapes: ranks up to six, any axes, batches that broadcast.

Also parts of variables that are assigned, numbers out of range, and wide integers without a sign.
"""

from __future__ import annotations

from math import prod

from .graph_source import Writer
from .graph_steps import Step
from .graph_values import ONE, Size, Value

_PAIRS = (
    *("{x} + {y}", "{x} - {y}", "{x} * {y}", "{y} - {x}", "{x} / ({y} * {y} + 1.0)"),
    *("tf.squared_difference({x}, {y})", "tf.where({x} + {y} > 0.0, {x} * {y}, {x} + {y})"),
    "tf.pow({y} * {y} + 1.0, {x} * 0.125)",
)
_REDUCED = (
    *("sum", "sum", "mean", "logsumexp", "prod", "variance", "euclidean_norm"),
    *("max", "min"),
)


def spread(w: Writer) -> None:
    """Two tensors of ranks up to six that broadcast, and sums over any of the axes."""
    value = w.pick(
        lambda v: v.is_float and v.ndim <= 3 and 0 < _least(v) <= _most(v) <= 60 and v.largest <= 8
    )
    if value is None:
        return
    rank = w.random.randint(value.ndim, 6)
    kept = sorted(w.random.sample(range(rank), value.ndim))
    inside = iter(value.sizes)
    sizes = [next(inside) if axis in kept else ONE for axis in range(rank)]
    x, y, z = w.fresh("x"), w.fresh("y"), w.fresh("z")
    index = ", ".join(":" if axis in kept else "tf.newaxis" for axis in range(rank))
    w.line(f"{x} = {value.name}[{index}]" if rank else f"{x} = tf.identity({value.name})")
    other = [
        size.fixed
        if size.fixed not in (None, 1) and w.chance(0.6)
        else w.random.choice([1, 1, 2])
        if size == ONE
        else 1
        for size in sizes
    ][w.random.randint(0, rank) :]
    numbers = f"np.arange({prod(other)}).reshape({tuple(other)}) % 5 * 0.5 - 1"
    w.line(f"{y} = tf.constant({numbers}, tf.{value.dtype})")
    w.line(f"{z} = " + w.random.choice(_PAIRS).format(x=x, y=y))
    padded = [1] * (rank - len(other)) + other
    whole = [Size(0, n) if size == ONE else size for size, n in zip(sizes, padded)]
    _reduced(w, value, z, whole)


def _least(value: Value) -> int:
    return prod(size.least for size in value.sizes)


def _most(value: Value) -> int:
    return prod(size.most for size in value.sizes)


def _reduced(w: Writer, value: Value, name: str, sizes: list[Size]) -> None:
    """Reductions over some axes, named from either end, until three are left at most."""
    while True:
        some = w.random.sample(
            range(len(sizes)), w.random.randint(max(len(sizes) - 3, 0), len(sizes))
        )
        how = w.random.choice(_REDUCED)
        axes = [axis - len(sizes) if w.chance(0.4) else axis for axis in some]
        keep = w.chance(0.3)
        shown = w.random.choice(
            [f"{axes}", f"tf.constant({axes}, tf.int32)", f"np.array({axes}, np.int32)"]
        )
        inner = (
            f"tf.tanh({name})"
            if how not in ("max", "min")
            else f"tf.stop_gradient(tf.tanh({name}))"
        )
        inner = f"{inner} + 1.5" if how in ("euclidean_norm", "prod") else inner
        function = f"tf.math.reduce_{how}"
        w.line(f"{name} = {function}({inner}, {shown}, keepdims={keep})")
        sizes = [
            ONE if axis in some else size
            for axis, size in enumerate(sizes)
            if keep or axis not in some
        ]
        if len(sizes) <= 3:
            break
    w.like(f"tf.tanh({name} * 0.25)", value, sizes=tuple(sizes), low=-1, high=1, bits=None)


def batched(w: Writer) -> None:
    """Products of matrices whose batches broadcast, turned round or not, complex or not."""
    value = w.pick(
        lambda v: (
            v.is_float and 2 <= v.ndim <= 3 and v.largest <= 8 and 0 < _least(v) <= _most(v) <= 200
        )
    )
    if value is None or (value.sizes[-1].fixed is None and value.sizes[-2].fixed is None):
        return
    turned = value.sizes[-1].fixed is None or (value.sizes[-2].fixed is not None and w.chance(0.5))
    inner, rows = value.sizes[-2 if turned else -1], value.sizes[-1 if turned else -2]
    batch = value.sizes[:-2]
    lead = w.random.choice([(), (1,), (2,), (2, 1), (3, 1)])
    if batch and lead[-1:] not in ((), (1,)):
        lead = (*lead, 1)
    columns, other = w.random.randint(1, 4), w.chance(0.5)
    last = (columns, inner.fixed) if other else (inner.fixed, columns)
    shape = (*lead, *last)
    numbers = f"np.arange({prod(n or 1 for n in shape)}).reshape({shape}) * 3 % 7 * 0.25 - 0.5"
    x, y, z = value.name, w.fresh("y"), w.fresh("z")
    w.line(f"{y} = tf.constant({numbers}, tf.{value.dtype})")
    adjoint = w.chance(0.4)
    how = "adjoint" if adjoint else "transpose"
    if adjoint and w.chance(0.6):
        a, b = w.fresh("c"), w.fresh("c")
        w.line(f"{a}, {b} = tf.complex({x}, {x} * 0.5), tf.complex({y}, 1.0 - {y})")
        w.line(f"{z} = tf.matmul({a}, {b}, {how}_a={turned}, {how}_b={other})")
        w.line(f"{z} = tf.real({z}) + tf.imag({z}) * 0.25")
    else:
        w.line(f"{z} = tf.matmul({x}, {y}, {how}_a={turned}, {how}_b={other})")
    longest = max(len(lead), len(batch))
    left = (*(1,) * (longest - len(lead)), *lead)
    right = (*(ONE,) * (longest - len(batch)), *batch)
    sizes = [Size(0, n) if size == ONE else size for n, size in zip(left, right)]
    sizes += [rows, Size(0, columns)]
    while len(sizes) > 3:
        w.line(f"{z} = tf.reduce_mean({z}, 0)")
        sizes = sizes[1:]
    w.like(f"tf.tanh({z} * 0.125)", value, sizes=tuple(sizes), low=-1, high=1, bits=None)


def part_written(w: Writer) -> None:
    """A part of a variable is assigned: every second row, backwards, one column."""
    if not w.variables or w.indent:
        return
    variable = w.random.choice(w.variables)
    bounds, left = [], []
    for size in variable.sizes:
        n = size.fixed or 1
        text, kept = w.random.choice(
            [
                *((":", n), ("::-1", n), ("1:", n - 1), (":-1", n - 1), ("::2", -(-n // 2))),
                *((f"{n - 1}:0:-1", n - 1), ("0", None), ("-1", None), ("-3:", min(n, 3))),
                *((f"{n}::-2", -(-n // 2)), (f"1:{n + 3}", n - 1)),
            ]
        )
        bounds.append(text)
        left += [kept] if kept is not None else []
    if w.chance(0.2):
        bounds.insert(w.random.randint(0, len(bounds)), "...")
    numbers = f"np.arange({prod(left)}).reshape({tuple(left)}) * 0.5 - 1"
    given = f"tf.constant({numbers}, tf.{variable.dtype})"
    if w.chance(0.4):
        given += f" * tf.reduce_mean({variable.name})"
    name, effects = w.fresh("done"), "[]" if w.effect is None else f"[{w.effect}]"
    w.line(f"with tf.control_dependencies({effects}):")
    w.line(f"    {name} = tf.group({variable.name}[{', '.join(bounds)}].assign({given}))")
    w.line(f"with tf.control_dependencies([{name}]):")
    w.line(f"    {name} = {variable.name}.read_value() + 0.0")
    w.effect = name


# Numbers that repeat, or lie outside.


def numbered(w: Writer) -> None:
    """Elements put together by numbers that repeat; some of them outside, which is an error."""
    value = w.pick(
        lambda v: v.is_float and 1 <= v.ndim <= 3 and v.sizes[0].least > 0 and v.largest <= 8
    )
    rows = w.pick(lambda v: v.is_int and v.ndim == 1 and v.sizes[0].least > 0 and v.largest <= 100)
    if value is None or rows is None:
        return
    at, found, n = w.fresh("at"), w.fresh("found"), w.fresh("n")
    w.line(f"{n} = tf.shape({value.name}, out_type={rows.name}.dtype)[0]")
    # (What is outside is an error of all that reads by it, or is left out where that is said.)
    outside = w.chance(0.03)
    w.line(f"{at} = tf.floormod({rows.name}, {n}{' + 1' * outside})")
    w.line(f"{found} = tf.gather({value.name}, tf.floormod({rows.name}, {n}))")
    places, rest = f"{at}[:, tf.newaxis]", value.sizes[1:]
    how = w.random.randrange(7)
    sizes = value.sizes
    if how == 0:
        text = (
            f"tf.scatter_nd({places}, {found}, tf.shape({value.name}, out_type={rows.name}.dtype))"
        )
    elif how == 1:
        text = f"tf.tensor_scatter_sub({value.name}, {places}, {found} * 0.5)"
    elif how == 2:
        text = f"tf.math.unsorted_segment_sum({found}, {rows.name} % 5 - 1, 3)"
        sizes = (Size(0, 3), *rest)
    elif how == 3:
        text = f"tf.math.unsorted_segment_prod(tf.cos({found}), {rows.name} % 5 - 1, 4)"
        sizes = (Size(0, 4), *rest)
    elif how == 4:
        text = f"tf.gather({value.name}, {at})[::-1] + tf.gather({value.name}, {at})"
        sizes = (rows.sizes[0], *rest)
    elif how == 5:
        text = f"tf.gather_nd(tf.cos({value.name}), {places})"
        sizes = (rows.sizes[0], *rest)
    else:
        text = f"tf.math.unsorted_segment_sqrt_n({found}, {rows.name} % 4 - 1, 3)"
        sizes = (Size(0, 3), *rest)
    w.like(f"tf.tanh({text} * 0.125)", value, sizes=sizes, low=-1, high=1, bits=None)


_UNSIGNED = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
_UNSIGNED_STEPS = (
    *("tf.bitwise.bitwise_and({x}, {y})", "tf.bitwise.bitwise_or({x}, {y})"),
    *("tf.bitwise.bitwise_xor({x}, {y})", "tf.bitwise.invert({x})"),
    *("tf.bitwise.left_shift({x}, {s})", "tf.bitwise.right_shift({x}, {s})"),
    *("{x}[::-1]", "tf.concat([{x}[1:], {x}[:1]], 0)"),
)


def unsigned(w: Writer) -> None:
    """Integers without a sign, up to 64 bits: their bits, and as other types."""
    value = w.pick(lambda v: v.is_int and v.ndim == 1 and v.sizes[0].least > 0 and v.largest <= 100)
    if value is None:
        return
    kind, name = w.random.choice(sorted(_UNSIGNED)), w.fresh("u")
    w.line(f"{name} = tf.cast({value.name}, tf.{kind})")
    for _ in range(w.random.randint(1, 5)):
        bits = _UNSIGNED[kind]
        number = w.random.choice([0, 1, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1, 5])
        texts = {
            "x": name,
            "y": f"tf.constant({number}, tf.{kind})",
            "s": f"tf.constant({w.random.randrange(bits)}, tf.{kind})",
        }
        step = w.random.choice(_UNSIGNED_STEPS)
        w.line(f"{name} = " + step.format(**texts))
        if w.chance(0.3):
            kind = w.random.choice(sorted(_UNSIGNED))
            w.line(f"{name} = tf.cast({name}, tf.{kind})")
    if w.chance(0.3):
        text = f"tf.cast(tf.bitwise.invert({name}), tf.float64) * 2.0 ** -60"
        w.add(text, "float64", value.sizes, 0, 16, None)
    else:
        w.add(f"tf.floormod(tf.cast({name}, tf.int64), 97)", "int64", value.sizes, 0, 96, 0)


SHAPES: list[Step] = [spread, spread, batched, batched, numbered, numbered, unsigned]
PARTS: list[Step] = [part_written]
