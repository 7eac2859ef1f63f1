# SPDX-License-Identifier: Apache-2.0
"""Lines of drawn programs beyond the usual: other types, numbers that repeat, strides, arrays in loops."""

from __future__ import annotations

from typing import Any

from .graph_source import Writer
from .graph_steps import Step
from .graph_values import LARGEST, ONE, Size, Value

# Integers that wrap around, and how far they reach.
_WRAPPING = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}


def _whole(w: Writer, most: float = LARGEST) -> Any:
    return w.pick(lambda v: v.is_int and v.largest <= most)


def _real(w: Writer, most: float = 90.0, least_rank: int = 0, most_rank: int = 3) -> Any:
    return w.pick(lambda v: v.is_float and v.largest <= most and least_rank <= v.ndim <= most_rank)


def wrapping(w: Writer) -> None:
    """Arithmetic of small integers, which begin again where they end."""
    value = _whole(w, 100)
    if value is None:
        return
    kind = w.random.choice(sorted(_WRAPPING))
    low, high = _WRAPPING[kind]
    name = w.fresh("s")
    w.line(f"{name} = tf.cast({value.name}, tf.{kind})")
    for _ in range(w.random.randint(1, 4)):
        number = f"tf.constant({w.random.randint(1, 9)}, tf.{kind})"
        other = w.random.choice([number, name, f"tf.cast({value.name} + 3, tf.{kind})"])
        w.line(f"{name} = " + w.random.choice(_WRAPPING_STEPS).format(x=name, y=other, z=number))
    if value.ndim and w.chance(0.5):
        axis = w.random.randrange(value.ndim)
        how = w.random.choice(["sum", "max", "min", "prod"])
        sizes = (*value.sizes[:axis], *value.sizes[axis + 1 :])
        if how in ("sum", "prod") or value.sizes[axis].least:
            w.line(f"{name} = tf.reduce_{how}({name}, {axis})")
            value = Value(name, kind, sizes)
    text = f"tf.cast({name}, tf.{w.random.choice(['int32', 'int64'])})"
    w.add(text, text[-6:-1], value.sizes, low, high, 0)


_WRAPPING_STEPS = (
    *("{x} + {y}", "{x} * {y}", "{x} - {y}", "{x} // {z}"),
    *("tf.bitwise.bitwise_or({x}, {y})", "tf.bitwise.invert({x})"),
    *("tf.bitwise.left_shift({x}, tf.ones_like({x}) * 2)", "tf.where(tf.less({x}, {z}), {x}, {y})"),
    *("tf.bitwise.right_shift({x}, tf.ones_like({x}))", "tf.square({x})"),
)


def halved(w: Writer) -> None:
    """Arithmetic of floats of sixteen bits."""
    value = _real(w, 8.0)
    if value is None:
        return
    kind = w.random.choice(["float16", "bfloat16"])
    name = w.fresh("h")
    w.line(f"{name} = tf.cast({value.name}, tf.{kind})")
    for _ in range(w.random.randint(1, 4)):
        w.line(f"{name} = " + w.random.choice(_HALF_STEPS).format(x=name, kind=kind))
    w.line(f"{name} = tf.tanh({name})")
    sizes = value.sizes
    if value.ndim and w.chance(0.5):
        axis = w.random.randrange(value.ndim)
        how = w.random.choice(["mean", "sum", "max"])
        if sizes[axis].least and (how != "sum" or sizes[axis].most <= 40):
            w.line(f"{name} = tf.reduce_{how}({name}, {axis})")
            sizes = (*sizes[:axis], *sizes[axis + 1 :])
    w.marks.add("half")
    w.add(f"tf.cast({name}, tf.{value.dtype})", value.dtype, sizes, -40, 40, None)


_HALF_STEPS = (
    *("{x} + tf.constant(0.5, tf.{kind})", "{x} * tf.constant(0.75, tf.{kind})", "tf.sin({x})"),
    *(
        "tf.nn.relu({x})",
        "tf.maximum({x}, tf.constant(-1, tf.{kind}))",
        "-{x}",
        "tf.exp(-tf.abs({x}))",
    ),
    *(
        "tf.sigmoid({x})",
        "tf.square({x}) * tf.constant(0.125, tf.{kind})",
        "tf.sqrt(tf.abs({x}) + 1)",
    ),
    "{x} / tf.constant(3, tf.{kind})",
)


def complicated(w: Writer) -> None:
    """Complex numbers made of two reals, and what they become."""
    a = _real(w, 8.0)
    if a is None:
        return
    b = w.pick(lambda v: v.dtype == a.dtype and v.sizes == a.sizes and v.largest <= 90)
    name = w.fresh("c")
    w.line(f"{name} = tf.complex({a.name}, {b.name})")
    for _ in range(w.random.randint(1, 4)):
        w.line(f"{name} = " + w.random.choice(_COMPLEX_STEPS).format(x=name))
    sizes = a.sizes
    if a.ndim and w.chance(0.5):
        axis = w.random.randrange(a.ndim)
        choices = [(f"tf.reduce_sum({name}, {axis})", (*sizes[:axis], *sizes[axis + 1 :]))]
        choices += [
            (f"tf.transpose({name})", sizes[::-1]),
            (f"tf.reverse({name}, [{axis}])", sizes),
        ]
        choices += [(f"tf.cumsum({name}, {axis})", sizes)]
        if a.ndim == 2:
            choices += [(f"tf.matmul({name}, {name}, adjoint_b=True)", (sizes[0], sizes[0]))]
        text, sizes = w.random.choice(choices)
        w.line(f"{name} = {text}")
    how = w.random.choice(["real", "imag", "abs", "both"])
    text = f"tf.{how}({name})" if how != "both" else f"tf.real({name}) * tf.imag({name})"
    if how == "abs":
        text = f"tf.sqrt(1.0 + tf.square(tf.real({name})) + tf.square(tf.imag({name})))"
    w.add(f"tf.tanh({text} * 0.01)", a.dtype, sizes, -1, 1, None)


_COMPLEX_STEPS = (
    *(
        "{x} * {x}",
        "{x} + tf.conj({x})",
        "tf.conj({x})",
        "-{x}",
        "{x} * (0.5 - 2j)",
        "tf.square({x})",
    ),
    *(
        "{x} / (3 + 1j)",
        "tf.exp({x} * 0.0625j)",
        "tf.tanh({x} * 0.03125)",
        "1j * {x} - tf.ones_like({x})",
    ),
    *("{x} * tf.cast(tf.real({x}), {x}.dtype)", "tf.sin({x} * 0.0625)"),
)


def taken(w: Writer) -> None:
    """Elements by numbers that repeat, and what is put together by such."""
    value = _real(w, 90.0, 1)
    rows = _whole(w)
    if value is None or rows is None or not value.sizes[0].least or rows.ndim != 1:
        return
    size = f"tf.shape({value.name}, out_type={rows.name}.dtype)[0]"
    at = f"tf.floormod({rows.name}, {size})"
    if not rows.sizes[0].least:
        return
    found = w.fresh("taken")
    w.line(f"{found} = tf.gather({value.name}, {at})")
    sizes = (*rows.sizes, *value.sizes[1:])
    how = w.random.randrange(5)
    number = rows.sizes[0].most
    end = value.largest * (number + 1)
    if how == 0:
        w.like(f"tf.gather_nd({value.name}, {at}[:, tf.newaxis])", value, sizes=sizes)
    elif how == 1 and end <= LARGEST:
        text = f"tf.tensor_scatter_add({value.name}, {at}[:, tf.newaxis], {found})"
        end *= number + 1
        if end <= LARGEST:
            w.like(text, value, low=-end, high=end)
    elif how == 2:
        name = w.random.choice(["max", "min", "mean"])
        if not value.is_exact and name != "mean":
            return
        text = f"tf.math.unsorted_segment_{name}({found}, tf.floormod({rows.name}, 3), 3)"
        text = f"tf.clip_by_value({text}, -100, 100)" if name != "mean" else text
        bits = None if name == "mean" else value.bits
        w.like(text, value, sizes=(Size(0, 3), *value.sizes[1:]), low=-100, high=100, bits=bits)
    elif how == 3 and end <= LARGEST:
        ordered = f"tf.sort(tf.floormod({rows.name}, 3))"
        text = f"tf.segment_sum({found}, {ordered})"
        text = f"tf.reduce_sum({text}, 0)"
        w.like(text, value, sizes=value.sizes[1:], low=-end, high=end)
    else:
        w.like(f"{found}[::-1]", value, sizes=sizes)


def wide_slice(w: Writer) -> None:
    """A slice whose ends and steps are known in the run only, or of a slice."""
    value = w.pick(lambda v: v.ndim >= 1 and v.sizes[0].least >= 2)
    if value is None:
        return
    rest = value.sizes[1:]
    size = f"tf.shape({value.name})[0]"
    how = w.random.randrange(7)
    if how == 0:
        w.like(f"{value.name}[k % 2]", value, sizes=rest)
    elif how == 1:
        w.like(f"{value.name}[tf.minimum(k, 1) :][:1]", value, sizes=(ONE, *rest))
    elif how == 2:
        w.like(f"{value.name}[{size} - 1 :: -1]", value)
    elif how == 3:
        w.like(f"{value.name}[::-1][1:]", value, sizes=(value.sizes[0].plus(ONE, -1), *rest))
    elif how == 4:
        begin = f"tf.concat([[1], tf.zeros([{value.ndim - 1}], tf.int32)], 0)"
        text = f"tf.slice({value.name}, {begin}, tf.shape({value.name}) - {begin})"
        w.like(text, value, sizes=(value.sizes[0].plus(ONE, -1), *rest))
    elif how == 5:
        w.like(f"{value.name}[..., tf.newaxis][-1]", value, sizes=(*rest, ONE))
    elif value.dtype != "bool":
        ends = {"low": 2 * value.low, "high": 2 * value.high}
        if max(map(abs, ends.values())) <= LARGEST:
            text = f"{value.name}[1:] + {value.name}[:-1]"
            w.like(text, value, sizes=(value.sizes[0].plus(ONE, -1), *rest), **ends)


def collected(w: Writer) -> None:
    """What the turns of a loop write into a tensor array, and read from one."""
    value = _real(w, 90.0, 1)
    if value is None or not value.sizes[0].least:
        return
    body, there, found, n = w.fresh("f"), w.fresh("there"), w.fresh("found"), w.fresh("n")
    w.line(f"{n} = tf.shape({value.name})[0]")
    w.line(f"{there} = tf.TensorArray(tf.{value.dtype}, {n}, clear_after_read=False)")
    w.line(f"{there} = {there}.unstack({value.name})")
    place = w.random.choice(["i", f"{n} - 1 - i", f"(i + 1) % {n}"])
    w.line(f"def {body}(i, a, out):")
    turn = [
        f"x = {there}.read({w.random.choice(['i', f'{n} - 1 - i', f'i % tf.minimum({n}, 2)'])})"
    ]
    turn += w.random.choice(
        [
            ["a = tf.sin(a) + tf.cos(x)"],
            ["a = tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(a * x), lambda: tf.cos(x) - a * 0.5)"],
            ["a = tf.where(tf.greater(tf.zeros_like(x) + tf.cast(i, x.dtype), 1.5), tf.sin(x), a)"],
            [
                "a = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, tf.sin(b + x)),"
                " [tf.constant(0), a])[1]"
            ],
        ]
    )
    for text in (*turn, f"return i + 1, a, out.write({place}, a * 0.5)"):
        w.line(f"    {text}")
    start = f"[tf.constant(0), tf.zeros_like({value.name}[0]), tf.TensorArray(tf.{value.dtype}, {n}, clear_after_read=False)]"
    w.line(f"{found} = tf.while_loop(lambda i, a, out: i < {n}, {body}, {start})")
    w.marks.add("loop")
    text, sizes = w.random.choice(
        [
            (f"{found}[2].stack()", value.sizes),
            (f"{found}[2].gather([0, 0])", (Size(0, 2), *value.sizes[1:])),
            (f"{found}[1]", value.sizes[1:]),
        ]
    )
    if "stack" not in text:
        # (An array of which gradients do not all come has none.)
        w.line(f"{found} = ({found}[0], {found}[1] * 1.0, {found}[2])")
    w.like(text, value, sizes=sizes, low=-3, high=3, bits=None)


def solved(w: Writer) -> None:
    """What a matrix is the root, the inverse, the determinant of."""
    value = _real(w, 8.0, 2)
    if value is None or value.sizes[-1].most > 6 or value.sizes[-2].most > 6:
        return
    if not value.sizes[-1].least or not value.sizes[-2].least:
        return
    name = w.fresh("m")
    size = f"tf.shape({value.name})[-1]"
    w.line(f"{name} = tf.tanh({value.name})")
    w.line(
        f"{name} = tf.matmul({name}, {name}, transpose_a=True) + 2.0 * tf.eye({size}, dtype=tf.{value.dtype})"
    )
    square = (*value.sizes[:-2], value.sizes[-1], value.sizes[-1])
    text, sizes = w.random.choice(
        [
            (f"tf.cholesky({name})", square),
            (f"tf.matrix_inverse({name})", square),
            (f"tf.log(tf.matrix_determinant({name}))", square[:-2]),
            (
                f"tf.matrix_solve({name}, tf.matrix_transpose({value.name}))",
                (*square[:-1], value.sizes[-2]),
            ),
            (
                f"tf.matrix_triangular_solve({name}, tf.matrix_transpose({value.name}))",
                (*square[:-1], value.sizes[-2]),
            ),
            (f"tf.trace({name})", square[:-2]),
            (f"tf.linalg.tensor_diag_part({name})", square[:1])
            if value.ndim == 2
            else (f"tf.trace({name})", square[:-2]),
        ]
    )
    w.like(f"tf.tanh({text} * 0.125)", value, sizes=sizes, low=-1, high=1, bits=None)


def counted(w: Writer) -> None:
    """Products so far, masks of lengths, rows backwards up to a length."""
    value = _real(w, 1.0, 1) or _real(w, 90.0, 2)
    if value is None:
        return
    how = w.random.randrange(4)
    if how == 0 and value.largest <= 1:
        axis = w.random.randrange(value.ndim)
        flags = f"exclusive={w.chance(0.5)}, reverse={w.chance(0.5)}"
        w.like(
            f"tf.cumprod({value.name} + 0.25, {axis}, {flags})", value, low=-90, high=90, bits=None
        ) if value.sizes[axis].most <= 19 else None
    elif how == 1 and value.ndim >= 2:
        lengths = f"tf.floormod(tf.range(tf.shape({value.name})[0]), tf.shape({value.name})[1] + 1)"
        text = f"tf.reverse_sequence({value.name}, {lengths}, seq_axis=1, batch_axis=0)"
        w.like(text, value)
    elif how == 2 and value.ndim >= 2:
        lengths = f"tf.floormod(tf.range(tf.shape({value.name})[0]), 3)"
        mask = f"tf.sequence_mask({lengths}, tf.shape({value.name})[1], tf.{value.dtype})"
        if value.ndim == 2:
            low, high = min(0.0, value.low), max(0.0, value.high)
            w.like(f"{value.name} * {mask}", value, low=low, high=high)
    elif value.ndim >= 2:
        axes = [[0], [0]] if w.chance(0.5) else [[value.ndim - 1], [value.ndim - 1]]
        at = axes[0][0]
        rest = tuple(s for k, s in enumerate(value.sizes) if k != at)
        end = value.largest**2 * value.sizes[at].most
        if end <= LARGEST and 2 * len(rest) <= 4:
            text = f"tf.tensordot({value.name}, {value.name}, {axes})"
            w.like(text, value, sizes=(*rest, *rest), low=-end, high=end, bits=None)


def odd_sum(w: Writer) -> None:
    """Sums over axes that lie apart, of what was turned round."""
    value = w.pick(lambda v: v.is_float and v.ndim >= 2 and v.largest <= 10)
    if value is None:
        return
    order = w.random.sample(range(value.ndim), value.ndim)
    name = w.fresh("t")
    w.line(f"{name} = tf.transpose({value.name}, {order})")
    if w.chance(0.5):
        w.line(f"{name} = tf.reverse({name}, [{w.random.randrange(value.ndim)}])")
    turned = tuple(value.sizes[k] for k in order)
    axes = sorted(w.random.sample(range(value.ndim), max(1, value.ndim - 1)))
    kept = tuple(s for k, s in enumerate(turned) if k not in axes)
    number = 1
    for k in axes:
        number *= turned[k].most
    end = value.largest * number
    how = w.random.choice(["reduce_sum", "reduce_mean", "reduce_prod", "norm", "reduce_logsumexp"])
    if how == "reduce_prod":
        w.like(
            f"tf.tanh(tf.reduce_prod(tf.cos({name}), {axes}))",
            value,
            sizes=kept,
            low=-1,
            high=1,
            bits=None,
        )
    elif how == "norm":
        w.like(
            f"tf.sqrt(1.0 + tf.reduce_sum(tf.square({name}), {axes}))",
            value,
            sizes=kept,
            low=1,
            high=LARGEST,
            bits=None,
        ) if end * value.largest < LARGEST**2 / 2 else None
    elif end <= LARGEST and all(turned[k].least for k in axes):
        bits = value.bits if how == "reduce_sum" else None
        w.like(f"tf.{how}({name}, {axes})", value, sizes=kept, low=-end, high=end + 9, bits=bits)


def written_by_number(w: Writer) -> None:
    """Rows of a variable that one write changes more than once."""
    if not w.variables or w.indent:
        return
    variable = w.random.choice(w.variables)
    rows = variable.sizes[0].fixed or 1
    numbers = [w.random.randrange(rows) for _ in range(w.random.randint(1, 5))]
    shape = (len(numbers), *(size.fixed for size in variable.sizes[1:]))
    name = w.fresh("done")
    how = w.random.choice(
        [
            "scatter_add",
            "scatter_sub",
            "scatter_mul",
            "scatter_min",
            "scatter_max",
            "scatter_update",
            "scatter_nd_add",
            "scatter_nd_update",
            "slice",
        ]
    )
    if how.endswith("update"):
        numbers = list(dict.fromkeys(numbers))
        shape = (len(numbers), *shape[1:])
    given = f"tf.constant(np.arange({int_product(shape)}).reshape({shape}) % 5 * 0.25 - 0.5, tf.{variable.dtype})"
    effects = f"[{w.effect}]" if w.effect is not None else "[]"
    w.line(f"with tf.control_dependencies({effects}):")
    if how == "slice":
        text = f"{variable.name}[1:].assign({variable.name}.read_value()[:-1] * 0.5)"
        if "resource" in w.marks:
            text = f"tf.group({text})"
    elif how.startswith("scatter_nd"):
        text = f"tf.{how}({variable.name}, {[[k] for k in numbers]}, {given})"
    else:
        text = f"tf.{how}({variable.name}, {numbers}, {given})"
    w.line(f"    {name} = {text}")
    w.line(f"with tf.control_dependencies([{name}]):")
    w.line(f"    {name} = {variable.name}.read_value() + 0.0")
    w.effect = name


def int_product(shape: tuple[Any, ...]) -> int:
    """How many elements a shape has."""
    number = 1
    for size in shape:
        number *= size
    return number


def whole_picture(w: Writer) -> None:
    """Convolutions the other way round, in depth, and windows of pictures."""
    value = w.pick(
        lambda v: (
            v.is_float
            and v.ndim == 4
            and v.largest <= 90
            and v.sizes[0].least > 0
            and all(s.fixed and s.fixed > 1 for s in v.sizes[1:3])
            and v.sizes[3].fixed is not None
        )
    )
    if value is None or (value.sizes[3].fixed or 9) > 4:
        return
    rows, columns, depth = (s.fixed or 1 for s in value.sizes[1:])
    how = w.random.randrange(6)
    end = value.largest
    if how == 0:
        filters = f"tf.constant(np.arange({4 * 2 * depth}).reshape(2, 2, 2, {depth}) % 7 * 0.25 - 0.75, tf.{value.dtype})"
        text = f"tf.nn.conv2d_transpose({value.name}, {filters}, [tf.shape({value.name})[0], {2 * rows}, {2 * columns}, 2], [1, 2, 2, 1], 'SAME')"
        sizes = (value.sizes[0], Size(0, 2 * rows), Size(0, 2 * columns), Size(0, 2))
        w.like(f"tf.tanh({text})", value, sizes=sizes, low=-1, high=1, bits=None)
    elif how == 1:
        text = f"tf.extract_image_patches({value.name}, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID')"
        w.like(
            text,
            value,
            sizes=(value.sizes[0], Size(0, rows - 1), Size(0, columns - 1), Size(0, 4 * depth)),
        )
    elif how == 2 and rows % 2 == 0 and columns % 2 == 0:
        w.like(
            f"tf.space_to_depth({value.name}, 2)",
            value,
            sizes=(value.sizes[0], Size(0, rows // 2), Size(0, columns // 2), Size(0, 4 * depth)),
        )
    elif how == 3:
        filters = f"tf.constant(np.arange({2 * 2 * 2 * 2}).reshape(2, 2, 2, 1, 2) % 7 * 0.25 - 0.75, tf.{value.dtype})"
        text = f"tf.nn.conv3d({value.name}[..., tf.newaxis], {filters}, [1, 1, 1, 1, 1], 'SAME')[..., 0]"
        w.like(text, value, low=-8 * end, high=8 * end, bits=None) if 8 * end <= LARGEST else None
    elif how == 4:
        filters = f"tf.constant(np.arange({9 * depth * 2}).reshape(3, 3, {depth}, 2) % 7 * 0.25 - 0.75, tf.{value.dtype})"
        text = (
            f"tf.nn.conv2d({value.name}, {filters}, [1, 1, 1, 1], 'SAME', dilations=[1, 2, 2, 1])"
        )
        w.like(
            text,
            value,
            sizes=(*value.sizes[:3], Size(0, 2)),
            low=-7 * depth * end,
            high=7 * depth * end,
            bits=None,
        ) if 7 * depth * end <= LARGEST else None
    elif value.dtype == "float32":
        w.like(
            f"tf.nn.local_response_normalization({value.name}, 2, 1.0, 0.5, 0.5)", value, bits=None
        )


WIDE: list[Step] = [
    *(wrapping, wrapping, halved, complicated, complicated, taken, taken, wide_slice, wide_slice),
    *(collected, solved, counted, counted, odd_sum, odd_sum, whole_picture, whole_picture),
]
