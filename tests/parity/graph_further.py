# SPDX-License-Identifier: Apache-2.0
"""Lines of drawn programs: sparse tensors, texts, lists, layers with variables, cells, counts."""

from __future__ import annotations

from .graph_source import Writer
from .graph_steps import Step
from .graph_types import without
from .graph_values import LARGEST, ONE, Size, Value

# What variables of layers begin with: small numbers that repeat.
_INITIAL = (
    "lambda shape, dtype=tf.float32, partition_info=None: "
    "tf.constant(np.arange(np.prod(shape)).reshape(shape) % 7 * 0.25 - 0.75, dtype)"
)


def _named(w: Writer, letter: str, text: str) -> str:
    """A line whose name only the next lines use."""
    name = w.fresh(letter)
    w.line(f"{name} = {text}")
    return name


# Sparse tensors.


def scattered(w: Writer) -> None:
    """The positive elements of a matrix as a sparse tensor, and what that becomes."""
    value = w.pick(lambda v: v.ndim == 2 and v.dtype != "bool" and v.is_exact and v.largest <= 90)
    if value is None:
        return
    at = _named(w, "at", f"tf.where(tf.greater({value.name}, 0))")
    numbers, shape = f"tf.gather_nd({value.name}, {at})", f"tf.shape({value.name}, tf.int64)"
    name = _named(
        w,
        "sparse",
        f"tf.SparseTensor({at}, {numbers}, {shape.replace('tf.int64', 'out_type=tf.int64')})",
    )
    rows, columns = value.sizes
    axis = w.random.randrange(2)
    end = value.largest * max(rows.most, columns.most)
    turned = f"tf.sparse_transpose({name})"
    double = rows.plus(rows)
    options = [
        (name, value.sizes, value.largest),
        (turned, (columns, rows), value.largest),
        (f"tf.sparse_reorder({turned})", (columns, rows), value.largest),
        (f"tf.sparse_add({name}, {name})", value.sizes, 2 * value.largest),
        (f"tf.sparse_concat(0, [{name}, {name}])", (double, columns), value.largest),
        (f"tf.sparse_retain({name}, tf.greater({name}.values, 1))", value.sizes, value.largest),
        (f"{name} * {value.name}", value.sizes, value.largest**2),
        (f"tf.sparse_slice({name}, [0, 0], [2, {columns.most}])", None, value.largest),
        (f"tf.sparse_reduce_sum({name}, {axis})", without(value.sizes, axis), end),
    ]
    if value.is_float:
        product = f"tf.sparse_tensor_dense_matmul({name}, {value.name}, adjoint_b=True)"
        options.append((product, (rows, rows), value.largest**2 * columns.most))
    text, sizes, end = w.random.choice(options)
    if end > LARGEST or (sizes and sizes[0].most > 100):
        return
    if "reduce_sum" not in text and "matmul" not in text:
        text = f"tf.sparse_tensor_to_dense({text}, validate_indices=False)"
    if sizes is None:
        text, sizes = f"tf.reduce_sum({text}, [0, 1])", ()
        end *= 2 * columns.most
    bits = None if value.bits is None else 2 * value.bits
    w.like(text, value, sizes=sizes, low=min(value.low, -end), high=end, bits=bits)


# Texts.


def worded(w: Writer) -> None:
    """Integers as text, and numbers that the text gives."""
    value = w.pick(lambda v: v.is_int and v.ndim <= 2)
    if value is None:
        return
    text, kind = _named(w, "text", f"tf.as_string({value.name})"), "int32"
    low, high, sizes = -LARGEST, LARGEST, value.sizes
    which = w.random.randrange(7)
    if which == 0:
        made = f"tf.string_to_number({text}, tf.int32)"
        low, high = value.low, value.high
    elif which == 1:
        made, low, high = f"tf.strings.length({text})", 1, 12
    elif which == 2:
        made, low, high = (
            f"tf.string_to_number(tf.regex_replace({text}, '-', ''), tf.int32)",
            0,
            value.largest,
        )
    elif which == 3:
        made, kind = f"tf.string_to_hash_bucket_fast(tf.string_join([{text}, 'x']), 7)", "int64"
        low, high = 0, 6
    elif which == 4 and value.ndim:
        axis = w.random.randrange(value.ndim)
        made = f"tf.strings.length(tf.reduce_join({text}, {axis}, separator='-'))"
        sizes, low, high = without(value.sizes, axis), 0, 12 * value.sizes[axis].most
    elif which == 5 and value.ndim == 1 and value.sizes[0].least:
        split = f"tf.string_split(tf.string_join([{text}, {text}], ' '))"
        made = f"tf.string_to_number(tf.sparse_tensor_to_dense({split}, ''), tf.int32)"
        sizes, low, high = (*value.sizes, Size(0, 2)), value.low, value.high
    else:
        made = f"tf.cast(tf.equal({text}, tf.as_string({value.name} * 2)), tf.int32)"
        low, high = 0, 1
    w.add(made, kind, sizes, low, high, 0)


# Lists of tensors.


def listed(w: Writer) -> None:
    """Rows as a list of tensors that is changed, and read again."""
    value = w.pick(lambda v: 1 <= v.ndim <= 3 and v.sizes[0].least >= 1 and v.dtype != "bool")
    if value is None:
        return
    shape = _named(w, "shape", f"tf.shape({value.name})[1:]")
    raw, rows = "tf.raw_ops.TensorList", f"tf.shape({value.name})[0]"
    name = _named(w, "list", f"{raw}FromTensor(tensor={value.name}, element_shape={shape})")
    sizes = value.sizes
    for _ in range(w.random.randint(0, 3)):
        row = f"{value.name}[{w.random.choice(['0', '-1'])}]"
        if w.chance(0.5):
            place = w.random.choice(["0", f"{rows} - 1"])
            name = _named(
                w, "list", f"{raw}SetItem(input_handle={name}, index={place}, item={row})"
            )
        else:
            name = _named(w, "list", f"{raw}PushBack(input_handle={name}, tensor={row})")
            sizes = (sizes[0].plus(ONE), *sizes[1:])
    given = f"input_handle={name}, element_shape={shape}, element_dtype={value.name}.dtype"
    text, found = w.random.choice(
        [
            (f"{raw}Stack({given})", sizes),
            (f"{raw}GetItem({given}, index=0)", sizes[1:]),
            (f"{raw}Gather({given}, indices=[0, 0, {rows} - 1])", (Size(0, 3), *sizes[1:])),
            (f"{raw}PopBack({given})[1]", sizes[1:]),
        ]
    )
    w.like(text, value, sizes=found)


# Layers that have variables, and cells.


def layered(w: Writer) -> None:
    """A layer of tf.layers."""
    value = w.pick(
        lambda v: (
            v.is_float
            and 2 <= v.ndim <= 4
            and v.largest <= 90
            and v.sizes[0].least >= 2
            and all(s.fixed for s in v.sizes[1:])
            and (v.sizes[-1].fixed or 9) <= 6
        )
    )
    if value is None or w.indent:
        return
    units, lead = w.random.randint(1, 4), value.sizes[:-1]
    known = _named(w, "known", f"tf.ensure_shape({value.name}, {[s.fixed for s in value.sizes]})")
    options = f"{units}, kernel_initializer={_INITIAL}"
    how = w.random.choice(["dense", "dense", "norm", "conv"])
    if how == "norm" and value.dtype == "float32":
        text = f"tf.layers.batch_normalization({known}, epsilon=0.5, training={w.chance(0.7)})"
        w.like(f"tf.tanh({text})", value, low=-1, high=1, bits=None)
    elif how == "conv" and value.ndim in (3, 4) and all((s.fixed or 0) > 1 for s in lead[1:]):
        options += f", kernel_size=2, padding='same', strides={w.random.randint(1, 2)}"
        text = _named(w, "z", f"tf.layers.conv{value.ndim - 2}d({known}, filters={options})")
        axes = list(range(1, value.ndim - 1))
        text = f"tf.tanh(tf.reduce_mean({text}, {axes}))"
        w.like(text, value, sizes=(lead[0], Size(0, units)), low=-1, high=1, bits=None)
    else:
        text = f"tf.layers.dense({known}, units={options}, activation=tf.nn.softplus)"
        w.like(f"tf.tanh({text})", value, sizes=(*lead, Size(0, units)), low=0, high=1, bits=None)


def recurrent(w: Writer) -> None:
    """A cell over steps, each row as long as it says."""
    value = w.pick(
        lambda v: (
            v.is_float
            and v.ndim == 3
            and v.largest <= 30
            and v.sizes[0].least >= 1
            and v.sizes[1].least >= 1
            and v.sizes[1].most <= 19
            and (v.sizes[2].fixed or 9) <= 6
        )
    )
    if value is None or w.indent:
        return
    cell, scope, found = w.fresh("cell"), w.fresh("scope"), w.fresh("found")
    kind = w.random.choice(["BasicLSTMCell(2)", "GRUCell(2)", "BasicRNNCell(2)"])
    rows, steps = (f"tf.shape({value.name})[{axis}]" for axis in (0, 1))
    lengths = w.random.choice(["None", f"tf.floormod(tf.range({rows}), {steps} + 1)"])
    known = _named(w, "known", f"tf.ensure_shape({value.name}, {[s.fixed for s in value.sizes]})")
    given = f"{cell}, {known}, sequence_length={lengths}, dtype=tf.{value.dtype}"
    w.line(f"with tf.variable_scope('{scope}', initializer={_INITIAL}):")
    w.line(f"    {cell} = tf.nn.rnn_cell.{kind}")
    w.line(f"    {found} = tf.nn.dynamic_rnn({given})")
    w.marks.add("loop")
    last = f"{found}[1].h" if "LSTM" in kind else f"{found}[1]"
    batch, time, units = value.sizes[0], value.sizes[1], Size(0, 2)
    text, sizes = w.random.choice([(f"{found}[0]", (batch, time, units)), (last, (batch, units))])
    w.like(f"tf.identity({text})", value, sizes=sizes, low=-1, high=1, bits=None)


# Counts, places and orders.


def counted_up(w: Writer) -> None:
    """How often numbers occur, which there are, where they belong."""
    value = w.pick(lambda v: v.is_int and v.ndim <= 2)
    if value is None:
        return
    flat = _named(w, "flat", f"tf.reshape({value.name}, [-1])")
    total = 1
    for size in value.sizes:
        total *= size.most
    shape, places = f"tf.shape({value.name})", f"tf.cast({flat}, tf.int32)"
    small, four = f"tf.cast(tf.floormod({flat}, 4), tf.int32)", (Size(0, 4),)
    text, kind, sizes, low, high = w.random.choice(
        [
            (f"tf.bincount({small}, minlength=4, maxlength=4)", "int32", four, 0, total),
            (f"tf.size(tf.unique({flat})[0])", "int32", (), 0, total),
            (
                f"tf.reshape(tf.unique({flat})[1], tf.shape({value.name}))",
                "int32",
                value.sizes,
                0,
                total,
            ),
            (
                f"tf.reduce_max(tf.concat([[0], tf.unique_with_counts({flat})[2]], 0))",
                "int32",
                (),
                0,
                total,
            ),
            (f"tf.size(tf.setdiff1d({small}, [1, 3])[0])", "int32", (), 0, total),
            (f"tf.confusion_matrix({small}, {small}[::-1], 4)", "int32", (*four, *four), 0, total),
            (
                f"tf.reshape(tf.searchsorted([-2, 0, 3], {places}), {shape})",
                "int32",
                value.sizes,
                0,
                3,
            ),
            (
                f"tf.histogram_fixed_width(tf.cast({flat}, tf.float32), [-1.0, 3.0], 4)",
                "int32",
                four,
                0,
                total,
            ),
            (f"tf.count_nonzero({value.name})", "int64", (), 0, total),
            (
                f"tf.invert_permutation(tf.argsort({flat}, stable=True))[:1]",
                "int32",
                None,
                0,
                total,
            ),
        ]
    )
    if sizes is None:
        text, sizes = f"tf.reduce_sum({text})", ()
    w.add(text, kind, sizes, low, high, 0)


def pressed(w: Writer) -> None:
    """What keeps numbers small, and what is lost by some."""
    value = w.pick(lambda v: v.is_float and v.largest <= 50 and 1 <= v.ndim <= 3)
    if value is None:
        return
    name, sizes, low, high = value.name, value.sizes, -60.0, 60.0
    labels, whole = f"tf.sigmoid({name} * 0.5)", value.dtype.replace("float", "int")
    options = [
        (f"tf.clip_by_norm({name}, 2.0)", sizes),
        (f"tf.clip_by_global_norm([{name}, {name} * 0.5], 2.0)[0][1]", sizes),
        (f"tf.nn.sigmoid_cross_entropy_with_logits(labels={labels}, logits={name})", sizes),
        (f"tf.nn.weighted_cross_entropy_with_logits({labels}, {name}, 0.5)", sizes),
        (f"tf.tanh(tf.nn.l2_loss({name}) * 0.01)", ()),
        (f"tf.tanh(tf.losses.huber_loss({labels}, {name}) * 0.125)", ()),
        (
            f"tf.bitcast(tf.bitcast({name}, tf.{whole}), tf.{value.dtype})",
            sizes,
        ),
        (f"tf.nn.leaky_relu({name})" if value.is_exact else f"tf.nn.swish({name})", sizes),
    ]
    text, sizes = w.random.choice(options)
    w.like(text, value, sizes=sizes, low=low, high=high, bits=None)


def flipped(w: Writer) -> None:
    """Pictures turned, cut and put onto a larger one."""
    value = _picture(w)
    if value is None:
        return
    name, (batch, rows, columns, depth) = value.name, value.sizes
    up, wide = (rows.fixed or 1), (columns.fixed or 1)
    boxes = "[[0.0, 0.0, 1.0, 1.0], [0.25, 0.25, 0.75, 1.0]]"
    text, sizes = w.random.choice(
        [
            (f"tf.image.flip_left_right({name})", value.sizes),
            (f"tf.image.rot90({name}, {w.random.randint(0, 3)})", None),
            (
                f"tf.image.crop_and_resize({name}, {boxes}, [0, 0], [3, 2])",
                (Size(0, 2), Size(0, 3), Size(0, 2), depth),
            ),
            (
                f"tf.image.pad_to_bounding_box({name}, 1, 0, {up + 1}, {wide + 2})",
                (batch, Size(0, up + 1), Size(0, wide + 2), depth),
            ),
            (
                f"tf.image.crop_to_bounding_box({name}, 1, 0, {up - 1}, {wide})",
                (batch, Size(0, up - 1), columns, depth),
            ),
            (f"tf.image.adjust_contrast(tf.stop_gradient({name}) * 0.01, 0.5)", value.sizes),
            (f"tf.image.resize_area({name}, [3, 4])", (batch, Size(0, 3), Size(0, 4), depth)),
            (
                f"tf.image.resize_bicubic({name}, [5, 3]) * 0.5",
                (batch, Size(0, 5), Size(0, 3), depth),
            ),
        ]
    )
    if sizes is None:
        text, sizes = f"tf.reduce_sum({text}, [1, 2])", (batch, depth)
    end = value.largest * (up * wide if len(sizes) == 2 else 2)
    if end <= LARGEST and (value.dtype == "float32" or "resize" not in text):
        w.like(text, value, sizes=sizes, low=min(-end, value.low), high=end, bits=None)


def _picture(w: Writer) -> Value | None:
    return w.pick(
        lambda v: (
            v.is_float
            and v.ndim == 4
            and v.sizes[0].least > 0
            and v.largest <= 300
            and all((size.fixed or 0) > 1 for size in v.sizes[1:3])
        )
    )


FURTHER: list[Step] = [
    *(scattered, scattered, worded, worded, listed, layered, layered, recurrent),
    *(counted_up, counted_up, pressed, pressed, flipped, flipped),
]
