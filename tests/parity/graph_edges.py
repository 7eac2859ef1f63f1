# SPDX-License-Identifier: Apache-2.0
"""Lines of drawn programs at edges: integers where they end, nothing at all, stated numbers.

Also rows of several lengths, and datasets of a value, whose functions are graphs of their own.
"""

from __future__ import annotations

from .graph_source import Writer
from .graph_steps import Step
from .graph_values import LARGEST, Size

_SIGNED = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_UNSIGNED = {"uint8": 8}
# What all of them have, and those of full width besides; quotients by what is neither 0 nor -1.
_INTEGER_STEPS = (
    *("{x} + {y}", "{x} - {y}", "{x} * {y}", "{x} // {z}", "tf.bitwise.invert({x})"),
    *("tf.bitwise.bitwise_and({x}, {y})", "tf.bitwise.bitwise_or({x}, {y})"),
    *("tf.bitwise.left_shift({x}, {s})", "tf.bitwise.right_shift({x}, {s})"),
    *("tf.where(tf.less({x}, {x} * 0 + {y}), {x}, {x} * 0 + {z})", "tf.truncatediv({x}, {z})"),
    "tf.bitwise.bitwise_xor({x}, {y})",
)
_WIDE_STEPS = (
    *("-{x}", "tf.abs({x})", "tf.sign({x})", "tf.square({x})", "{x} % {z}"),
    *("tf.minimum({x}, {y})", "tf.maximum({x}, {y})", "tf.truncatemod({x}, {z})"),
    *("tf.squared_difference({x}, {y})", "tf.add_n([{x}, {x}])"),
)
# Functions of constants: their last bits are a matter of who computes them.
_OF_CONSTANTS = (
    *("tf.tanh({x})", "tf.exp({x}) * 0.25", "tf.sin({x}) + tf.cos({x})", "tf.sigmoid({x} * 2.0)"),
    *("tf.log(1.0 + tf.square({x}))", "tf.nn.softmax({x})", "tf.erf({x})", "{x} / 3.0"),
    *(
        "{x} - tf.reduce_mean({x})",
        "tf.pow(1.0 + tf.square({x}), 0.3)",
        "tf.rsqrt({x} * {x} + 1.0)",
    ),
)
_OF_ROWS = (
    *("tf.sin(r)", "r * 2.0 - 1.0", "tf.nn.softmax(tf.reshape(r, [-1]))[0] + r", "tf.tanh(r) * r"),
    *("r - tf.reduce_sum(tf.cos(r))", "tf.cond(tf.reduce_sum(r) > 0.0, lambda: -r, lambda: r * r)"),
    "tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, tf.sin(a)), [0, r])[1]",
)


def bordered(w: Writer) -> None:
    """Arithmetic of integers near the largest and the smallest that there are."""
    value = w.pick(lambda v: v.is_int and v.largest <= 100)
    if value is None:
        return
    kinds = {**_SIGNED, **_UNSIGNED}
    kind, name = w.random.choice(sorted(kinds)), w.fresh("e")
    w.line(f"{name} = tf.cast({value.name}, tf.{kind})")
    for _ in range(w.random.randint(1, 5)):
        steps = _INTEGER_STEPS + (_WIDE_STEPS if kind in ("int32", "int64") else ())
        texts = {
            "x": name,
            "y": _border(w, kind),
            "z": f"tf.constant({w.random.randint(2, 9)}, tf.{kind})",
        }
        shift = f"tf.cast({w.random.randint(0, kinds[kind] - 1)}, tf.{kind})"
        w.line(f"{name} = " + w.random.choice(steps).format(s=f"{shift} + {name} * 0", **texts))
        if w.chance(0.2):
            kind = w.random.choice(sorted(kinds))
            w.line(f"{name} = tf.cast({name}, tf.{kind})")
    w.add(f"tf.floormod(tf.cast({name}, tf.int64), 97)", "int64", value.sizes, 0, 96, 0)


def _border(w: Writer, kind: str) -> str:
    bits = {**_SIGNED, **_UNSIGNED}[kind]
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind in _SIGNED else (0, 2**bits - 1)
    number = w.random.choice([low, low + 1, high, high - 1, high // 2, 1])
    return f"tf.constant({number}, tf.{kind})"


def stated(w: Writer) -> None:
    """What follows from constants alone, beside a value."""
    value = w.pick(lambda v: v.is_float and v.ndim <= 3 and v.largest <= 90)
    if value is None:
        return
    last = value.sizes[-1].fixed if value.ndim else None
    width, name = (1 if last is None else last), w.fresh("k")
    numbers = [w.random.randint(-20, 20) / 8 for _ in range(2 * width)]
    w.line(f"{name} = tf.constant(np.array({numbers}, np.{value.dtype}).reshape(2, {width}))")
    for _ in range(w.random.randint(1, 4)):
        w.line(f"{name} = " + w.random.choice(_OF_CONSTANTS).format(x=name))
    end = value.largest + 60
    w.like(
        f"{value.name} + tf.tanh({name}[1])"
        if value.ndim
        else f"{value.name} + tf.tanh({name}[1, 0])",
        value,
        low=-end,
        high=end,
        bits=None,
    )


def emptied(w: Writer) -> None:
    """A value beside nothing: parts without elements, and what is made of them."""
    value = w.pick(lambda v: v.is_float and 1 <= v.ndim <= 3 and v.largest <= 90)
    if value is None:
        return
    axis, none = w.random.randrange(value.ndim), w.fresh("none")
    w.line(f"{none} = {value.name}[{':, ' * axis}:0]")
    if w.chance(0.5):
        function = w.random.choice(["sin", "exp", "nn.relu", "square", "nn.softmax"])
        w.line(f"{none} = tf.{function}({none})")
    rest = tuple(size for k, size in enumerate(value.sizes) if k != axis)
    how = w.random.choice(["sum", "prod", "concat", "product", "any"])
    if how == "concat":
        w.like(f"tf.concat([{none}, {value.name}], {axis})", value)
    elif how == "product" and value.ndim == 2 and axis == 1:
        text = f"tf.matmul({none}, {none}, transpose_b=True)"
        w.like(text, value, sizes=(value.sizes[0], value.sizes[0]), low=0, high=1)
    elif how == "any":
        w.add(f"tf.reduce_any({none} > 0.0, {axis})", "bool", rest, 0, 1, 0)
    else:
        text = f"tf.reduce_{'prod' if how == 'prod' else 'sum'}({none}, {axis})"
        w.like(text, value, sizes=rest, low=0, high=1, bits=0)


def ragged(w: Writer) -> None:
    """Rows of several lengths: sums of them, and all of them side by side."""
    value = w.pick(
        lambda v: (
            v.is_float and v.ndim in (1, 2) and v.largest <= 90 and (v.sizes[0].fixed or 0) > 1
        )
    )
    if value is None:
        return
    count, name = value.sizes[0].fixed or 0, w.fresh("r")
    cuts = sorted(w.random.randint(0, count) for _ in range(w.random.randint(1, 3)))
    splits = [0, *cuts, count]
    w.line(f"{name} = tf.RaggedTensor.from_row_splits({value.name}, {splits})")
    if w.chance(0.6):
        w.line(f"{name} = tf.ragged.map_flat_values(lambda v: tf.sin(v) * 2.0, {name})")
    rows, rest = Size(0, len(splits) - 1), value.sizes[1:]
    widest = max(b - a for a, b in zip(splits, splits[1:]))
    end = max(value.largest, 2.0) * count
    if w.chance(0.5) and end <= LARGEST:
        w.like(
            f"tf.reduce_sum({name}, 1)", value, sizes=(rows, *rest), low=-end, high=end, bits=None
        )
    else:
        sizes = (rows, Size(0, widest), *rest)
        w.like(f"{name}.to_tensor()", value, sizes=sizes, low=-end, high=end, bits=None)


def piped(w: Writer) -> None:
    """The rows of a value as a dataset makes them, with a value of outside perhaps."""
    value = w.pick(
        lambda v: v.is_float and 1 <= v.ndim <= 3 and v.largest <= 8 and v.sizes[0].least > 0
    )
    if value is None or w.indent:
        return
    data, text = w.fresh("d"), w.random.choice(_OF_ROWS)
    w.line(f"{data} = tf.data.Dataset.from_tensor_slices({value.name})")
    w.line(f"{data} = {data}.map(lambda r: {text})")
    if w.chance(0.3):
        w.line(f"{data} = {data}.map(lambda r: r + tf.reduce_mean({value.name}))")
    w.line(f"{data} = {data}.batch(10000)")
    found = f"tf.data.experimental.get_single_element({data})"
    static = [size.fixed for size in value.sizes]
    # (Datasets have no gradient: TensorFlow refuses one.)
    shaped = f"tf.stop_gradient(tf.ensure_shape({found}, {static}))"
    w.like(shaped, value, low=-600, high=600, bits=None)


EDGES: list[Step] = [bordered, bordered, stated, stated, emptied, ragged, piped]
