# SPDX-License-Identifier: Apache-2.0
"""The lines that a drawn program is made of: arithmetic, sums, and moving elements about.

Each step adds a line to a Writer, or nothing where no value fits it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .graph_source import Writer
from .graph_values import LARGEST, ONE, Size, Sizes, Value, broadcast, count

Step = Callable[[Writer], Any]
Range = tuple[float, float]

# Function -> where it is taken, and what it gives: a range, or itself where it is monotone.
_UNARY: dict[str, tuple[float, float, Any]] = {
    "tf.sin": (-50, 50, (-1, 1)),
    "tf.cos": (-50, 50, (-1, 1)),
    "tf.tanh": (-200, 200, np.tanh),
    "tf.sigmoid": (-50, 50, lambda x: 1 / (1 + np.exp(-x))),
    "tf.exp": (-20, 3, np.exp),
    "tf.math.expm1": (-20, 3, np.expm1),
    "tf.log": (0.25, LARGEST, np.log),
    "tf.log1p": (-0.5, LARGEST, np.log1p),
    "tf.sqrt": (0.25, LARGEST, np.sqrt),
    "tf.rsqrt": (0.25, LARGEST, lambda x: x**-0.5),
    "tf.reciprocal": (0.25, LARGEST, lambda x: 1 / x),
    "tf.nn.softplus": (-50, 50, lambda x: np.log1p(np.exp(x))),
    "tf.nn.softsign": (-50, 50, lambda x: x / (1 + abs(x))),
    "tf.nn.elu": (-10, 50, (-1, 50)),
    "tf.nn.selu": (-10, 20, (-2, 22)),
    "tf.nn.swish": (-20, 50, (-1, 50)),
    "tf.atan": (-200, 200, np.arctan),
    "tf.asinh": (-200, 200, np.arcsinh),
    "tf.sinh": (-3, 3, np.sinh),
    "tf.cosh": (-3, 3, (1, 11)),
    "tf.acosh": (1.25, 100, np.arccosh),
    "tf.atanh": (-0.75, 0.75, np.arctanh),
    "tf.asin": (-0.75, 0.75, np.arcsin),
    "tf.acos": (-0.75, 0.75, lambda x: np.arccos(x)),
    "tf.tan": (-1, 1, np.tan),
    "tf.erf": (-10, 10, (-1, 1)),
    "tf.erfc": (-3, 3, (0, 2)),
    "tf.lgamma": (1.5, 20, math.lgamma),
    "tf.digamma": (1.5, 20, (0, 3)),
    "tf.stop_gradient": (-LARGEST, LARGEST, lambda x: x),
    "tf.identity": (-LARGEST, LARGEST, lambda x: x),
}
# The same for numbers that are exact, whose functions have corners or steps.
_CORNERED: dict[str, tuple[float, float, Any]] = {
    "tf.nn.relu": (-LARGEST, LARGEST, lambda x: max(x, 0)),
    "tf.nn.relu6": (-LARGEST, LARGEST, lambda x: min(max(x, 0), 6)),
    "tf.sign": (-LARGEST, LARGEST, (-1, 1)),
    "tf.floor": (-LARGEST, LARGEST, math.floor),
    "tf.ceil": (-LARGEST, LARGEST, math.ceil),
    "tf.round": (-LARGEST, LARGEST, round),
    "tf.rint": (-LARGEST, LARGEST, round),
}


def _span(made: Any, low: float, high: float) -> Range:
    if isinstance(made, tuple):
        return made
    ends = float(made(low)), float(made(high))
    return min(ends), max(ends)


def unary(w: Writer) -> None:
    """A smooth function of one value."""
    value = w.pick(lambda v: v.is_float and v.largest <= LARGEST)
    if value is None:
        return
    fits = [k for k, (a, b, _) in _UNARY.items() if a <= value.low and value.high <= b]
    name = w.random.choice(fits)
    w.like(f"{name}({value.name})", value, bits=None, **_ends(_UNARY[name][2], value))


def cornered(w: Writer) -> None:
    """A function with corners, of exact numbers."""
    value = w.pick(lambda v: v.is_float and v.is_exact)
    if value is None:
        return
    name = w.random.choice(sorted(_CORNERED))
    w.like(f"{name}({value.name})", value, **_ends(_CORNERED[name][2], value))


def _ends(made: Any, value: Value) -> dict[str, float]:
    low, high = _span(made, value.low, value.high)
    return {"low": low, "high": high}


def magnitude(w: Writer) -> None:
    """What even functions give: numbers that are not negative."""
    value = w.pick(lambda v: v.dtype != "bool" and v.largest <= 90)
    if value is None:
        return
    bits = None if value.bits is None else 2 * value.bits
    if value.dtype != "bool" and value.is_exact and w.chance(0.5):
        w.like(f"tf.abs({value.name})", value, low=0.0, high=value.largest)
    elif w.chance(0.5):
        w.like(f"tf.square({value.name})", value, low=0.0, high=value.largest**2, bits=bits)
    elif value.is_float:
        text = f"1.0 + {value.name} * {value.name}"
        w.like(text, value, low=1.0, high=1 + value.largest**2, bits=bits)


def negative(w: Writer) -> None:
    """The other sign."""
    value = w.pick(lambda v: v.dtype != "bool")
    if value is not None:
        w.like(f"-{value.name}", value, low=-value.high, high=-value.low)


def _pair(w: Writer, fits: Callable[[Value], bool]) -> tuple[Value, Value, Sizes] | None:
    first = w.pick(fits)
    if first is None:
        return None
    second = w.pick(
        lambda v: fits(v) and v.dtype == first.dtype and broadcast(first.sizes, v.sizes) is not None
    )
    assert second is not None
    sizes = broadcast(first.sizes, second.sizes)
    assert sizes is not None
    return first, second, sizes


def _bits(first: Value, second: Value, product: bool = False) -> int | None:
    if first.bits is None or second.bits is None:
        return None
    return first.bits + second.bits if product else max(first.bits, second.bits)


def arithmetic(w: Writer) -> None:
    """A sum, a difference, a product of two values that broadcast."""
    found = _pair(w, lambda v: v.dtype != "bool" and v.largest <= 90)
    if found is None:
        return
    a, b, sizes = found
    name = w.random.choice(["add", "subtract", "multiply", "squared_difference"])
    text = f"tf.{name}({a.name}, {b.name})"
    if name == "add":
        ends, bits = (a.low + b.low, a.high + b.high), _bits(a, b)
    elif name == "subtract":
        ends, bits = (a.low - b.high, a.high - b.low), _bits(a, b)
    elif name == "multiply":
        products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        ends, bits = (min(products), max(products)), _bits(a, b, product=True)
    else:
        ends = (0.0, max(abs(a.low - b.high), abs(a.high - b.low)) ** 2)
        bits = _bits(a, b)
        bits = None if bits is None else 2 * bits
    if max(map(abs, ends)) <= LARGEST:
        w.add(text, a.dtype, sizes, *ends, bits)


def ordered(w: Writer) -> None:
    """The larger or smaller of two exact values, or how they compare."""
    found = _pair(w, lambda v: v.dtype != "bool" and v.is_exact)
    if found is None:
        return
    a, b, sizes = found
    names = ["maximum", "minimum", "less", "less_equal", "greater", "greater_equal", "equal"]
    name = w.random.choice([*names, "not_equal"])
    text = f"tf.{name}({a.name}, {b.name})"
    if name in ("maximum", "minimum"):
        pick = max if name == "maximum" else min
        w.add(text, a.dtype, sizes, pick(a.low, b.low), pick(a.high, b.high), _bits(a, b))
    else:
        w.add(text, "bool", sizes, bits=0)


def quotient(w: Writer) -> None:
    """A quotient of smooth values, of integers by some that are not zero."""
    value = w.pick(lambda v: v.is_float)
    other = w.pick(lambda v: v.is_float and not -0.25 < v.low <= 0 and v.low > 0)
    if value is None or other is None or other.dtype != value.dtype or other.low < 0.25:
        return
    sizes = broadcast(value.sizes, other.sizes)
    if sizes is None or value.largest / other.low > LARGEST:
        return
    end = value.largest / other.low
    text = w.random.choice(
        ["tf.div({}, {})", "{} / {}", "tf.div_no_nan({}, {})", "tf.xdivy({}, {})"]
    )
    text = text.replace("tf.xdivy", "tf.math.xdivy")
    w.add(text.format(value.name, other.name), value.dtype, sizes, -end, end)


def power(w: Writer) -> None:
    """A power of what is positive, or an angle."""
    base = w.pick(lambda v: v.is_float and v.low >= 0.25 and v.high <= 8)
    if base is None:
        return
    other = w.pick(lambda v: v.dtype == base.dtype and v.largest <= 3)
    sizes = None if other is None else broadcast(base.sizes, other.sizes)
    if other is None or sizes is None:
        return
    name, end = w.random.choice([("pow", 512.0), ("atan2", 4.0), ("math.xlogy", 50.0)])
    first, second = (other, base) if name != "pow" else (base, other)
    w.add(f"tf.{name}({first.name}, {second.name})", base.dtype, sizes, -end, end)


def whole(w: Writer) -> None:
    """Divisions and bits of integers."""
    value = w.pick(lambda v: v.is_int)
    if value is None:
        return
    number = w.random.randint(2, 5)
    kind = w.random.randrange(4)
    if kind == 0:
        ends = {"low": math.floor(value.low / number), "high": math.floor(value.high / number)}
        w.like(f"{value.name} // {number}", value, **ends)
    elif kind == 1:
        w.like(f"{value.name} % {number}", value, low=0, high=number - 1)
    elif kind == 2:
        w.like(f"tf.bitwise.bitwise_and({value.name}, {number})", value, low=0, high=number)
    else:
        end = float(2 ** int(value.largest + number + 1).bit_length())
        w.like(f"tf.bitwise.bitwise_xor({value.name}, {number})", value, low=-end, high=end)


def logical(w: Writer) -> None:
    """And, or, not."""
    found = _pair(w, lambda v: v.dtype == "bool")
    if found is None:
        return
    a, b, sizes = found
    name = w.random.choice(["and", "or", "xor", "not"])
    rest = "" if name == "not" else f", {b.name}"
    w.add(f"tf.logical_{name}({a.name}{rest})", "bool", a.sizes if name == "not" else sizes, bits=0)


def select(w: Writer) -> None:
    """One or the other of two values, element by element."""
    condition = w.pick(lambda v: v.dtype == "bool")
    found = _pair(w, lambda v: v.dtype != "bool")
    if condition is None or found is None:
        return
    a, b, sizes = found
    ends = min(a.low, b.low), max(a.high, b.high), _bits(a, b)
    if condition.sizes == a.sizes == b.sizes and w.chance(0.5):
        w.add(f"tf.where({condition.name}, {a.name}, {b.name})", a.dtype, sizes, *ends)
        return
    every = broadcast(condition.sizes, sizes)
    if every is not None:
        w.add(f"tf.where_v2({condition.name}, {a.name}, {b.name})", a.dtype, every, *ends)


def cast(w: Writer) -> None:
    """Another type."""
    value = w.pick()
    if value is None:
        return
    wanted = w.random.choice(["float32", "float64", "int32", "int64", "bool"])
    if wanted == "bool" and (value.dtype == "bool" or not value.is_exact):
        return
    rounds = wanted.startswith("int") and value.is_float
    if (rounds and not value.is_exact) or value.dtype == wanted:
        return
    ends = {"low": math.floor(value.low), "high": math.ceil(value.high)} if rounds else {}
    bits = 0 if not wanted.startswith("float") or value.dtype == "bool" else value.bits
    w.like(f"tf.cast({value.name}, tf.{wanted})", value, dtype=wanted, bits=bits, **ends)


# Reductions.


def reduction(w: Writer) -> None:
    """A sum, mean, maximum … over some axes."""
    value = w.pick(lambda v: v.ndim > 0 and v.dtype != "bool")
    if value is None:
        return
    axes = sorted(w.random.sample(range(value.ndim), w.random.randint(1, value.ndim)))
    number = 1
    for axis in axes:
        number *= value.sizes[axis].most
    keep = w.chance(0.5)
    names = ["sum", "sum"] + ["max", "min"] * value.is_exact
    names += ["mean"] * (value.is_float and value.largest <= 50)
    # (Of nothing it is infinite, and who multiplies complex numbers that are has rules of his own.)
    is_some = all(size.least for size in value.sizes)
    names += ["logsumexp"] * (value.is_float and value.largest <= 50 and is_some)
    name = w.random.choice(names)
    ends, bits = (value.low, value.high), value.bits
    if name == "sum":
        ends = min(0.0, value.low * number), max(0.0, value.high * number)
    elif name in ("mean", "logsumexp"):
        bits, ends = None, (value.low, value.high + (3.0 if name == "logsumexp" else 0.0))
    if max(map(abs, ends)) > LARGEST:
        return
    shown = [axis - value.ndim if w.chance(0.3) else axis for axis in axes]
    given = str(shown) if len(axes) < value.ndim or w.chance(0.5) else "None"
    text = f"tf.reduce_{name}({value.name}, {given}, keepdims={keep})"
    w.add(text, value.dtype, _reduced(value.sizes, axes, keep), *ends, bits)


def _reduced(sizes: Sizes, axes: list[int], keep: bool) -> Sizes:
    if keep:
        return tuple(ONE if k in axes else size for k, size in enumerate(sizes))
    return tuple(size for k, size in enumerate(sizes) if k not in axes)


def truth(w: Writer) -> None:
    """Whether any, or all are true."""
    value = w.pick(lambda v: v.dtype == "bool" and v.ndim > 0)
    if value is not None:
        axis = w.random.randrange(value.ndim)
        name = w.random.choice(["any", "all"])
        w.add(
            f"tf.reduce_{name}({value.name}, {axis})", "bool", _reduced(value.sizes, [axis], False)
        )


def running(w: Writer) -> None:
    """A sum up to each element."""
    value = w.pick(lambda v: v.ndim > 0 and v.dtype != "bool" and v.largest <= 90)
    if value is None:
        return
    axis = w.random.randrange(value.ndim)
    flags = f"exclusive={w.chance(0.5)}, reverse={w.chance(0.5)}"
    number = value.sizes[axis].most
    ends = {"low": min(0.0, value.low * number), "high": max(0.0, value.high * number)}
    w.like(f"tf.cumsum({value.name}, {axis}, {flags})", value, **ends)


def position(w: Writer) -> None:
    """Where the largest or smallest is."""
    value = w.pick(lambda v: v.ndim > 0 and v.dtype != "bool" and v.is_exact)
    if value is None:
        return
    axis = w.random.randrange(value.ndim)
    if not value.sizes[axis].least:
        return
    name, kind = w.random.choice(["argmax", "argmin"]), w.random.choice(["int32", "int64"])
    text = f"tf.{name}({value.name}, {axis}, output_type=tf.{kind})"
    w.add(text, kind, _reduced(value.sizes, [axis], False), 0, value.sizes[axis].most - 1, 0)


def normalized(w: Writer) -> None:
    """A softmax, or what layers make of rows: less their mean, over their deviation."""
    value = w.pick(lambda v: v.is_float and v.ndim > 0 and v.largest <= 50)
    if value is None:
        return
    name = w.random.choice(["softmax", "log_softmax", "norm", "l2"])
    if name in ("softmax", "log_softmax"):
        ends = {"low": 0.0, "high": 1.0} if name == "softmax" else {"low": -110.0, "high": 0.0}
        w.like(f"tf.nn.{name}({value.name})", value, bits=None, **ends)
    elif name == "l2":
        text = f"tf.nn.l2_normalize({value.name}, -1, epsilon=0.5)"
        w.like(text, value, low=-1.0, high=1.0, bits=None)
    else:
        mean, variance = w.fresh("mean"), w.fresh("variance")
        w.line(f"{mean}, {variance} = tf.nn.moments({value.name}, [-1], keep_dims=True)")
        text = f"({value.name} - {mean}) * tf.rsqrt({variance} + 0.5)"
        end = 3 * value.largest + 1
        w.like(text, value, low=-end, high=end, bits=None)


def largest(w: Writer) -> None:
    """The k largest of each row."""
    value = w.pick(
        lambda v: v.ndim > 0 and v.is_exact and v.dtype != "bool" and v.sizes[-1].least >= 2
    )
    if value is None:
        return
    sizes = (*value.sizes[:-1], Size(0, 2))
    kind = w.random.randrange(3)
    if kind == 0:
        w.like(f"tf.nn.top_k({value.name}, 2)[0]", value, sizes=sizes)
    elif kind == 1:
        text = f"tf.nn.top_k({value.name}, 2)[1]"
        w.add(text, "int32", sizes, 0, value.sizes[-1].most - 1, 0)
    else:
        direction = w.random.choice(["ASCENDING", "DESCENDING"])
        w.like(f"tf.sort({value.name}, direction={direction!r})", value)


def product(w: Writer) -> None:
    """A matrix product."""
    a = w.pick(lambda v: v.is_float and v.ndim >= 2 and v.largest <= 30)
    if a is None:
        return
    left, right = w.chance(0.3), w.chance(0.3)
    rows, inner = (a.sizes[-1], a.sizes[-2]) if left else (a.sizes[-2], a.sizes[-1])
    b = w.pick(
        lambda v: (
            v.dtype == a.dtype
            and (v.ndim == a.ndim and v.sizes[:-2] == a.sizes[:-2])
            and v.sizes[-1 if right else -2] == inner
            and v.largest <= 30
        )
    )
    if b is None:
        return
    columns = b.sizes[-2 if right else -1]
    end = a.largest * b.largest * inner.most
    if end <= LARGEST:
        text = f"tf.matmul({a.name}, {b.name}, transpose_a={left}, transpose_b={right})"
        bits = _bits(a, b, product=True)
        w.add(text, a.dtype, (*a.sizes[:-2], rows, columns), -end, end, bits)


def weighted(w: Writer) -> None:
    """A product with a constant matrix, and a bias: a layer."""
    value = w.pick(
        lambda v: v.is_float and v.ndim == 2 and v.sizes[1].fixed is not None and v.largest <= 30
    )
    if value is None:
        return
    inner, outer = value.sizes[1].fixed, w.random.randint(1, 4)
    matrix = _numbers(w, (inner, outer))
    text = f"tf.matmul({value.name}, tf.constant({matrix}, tf.{value.dtype}))"
    if w.chance(0.5):
        bias = _numbers(w, (outer,))
        text = f"tf.nn.bias_add({text}, tf.constant({bias}, tf.{value.dtype}))"
    assert inner is not None
    end = value.largest * 2 * inner + 2
    bits = None if value.bits is None else value.bits + 2
    sizes = (value.sizes[0], Size(0, outer))
    w.add(text, value.dtype, sizes, -end, end, bits)


def _numbers(w: Writer, shape: tuple[Any, ...]) -> str:
    if not shape:
        return str(w.random.randint(-8, 8) / 4)
    return "[" + ", ".join(_numbers(w, shape[1:]) for _ in range(shape[0])) + "]"


def contraction(w: Writer) -> None:
    """An einsum of two values."""
    a = w.pick(lambda v: v.is_float and v.ndim == 2 and v.largest <= 30)
    if a is None:
        return
    b = w.pick(
        lambda v: (
            v.dtype == a.dtype and v.ndim == 2 and v.sizes[0] == a.sizes[0] and v.largest <= 30
        )
    )
    if b is None:
        return
    result, sizes, inner = w.random.choice(
        [
            ("jk", (a.sizes[1], b.sizes[1]), a.sizes[0].most),
            ("ijk", (a.sizes[0], a.sizes[1], b.sizes[1]), 1),
            ("k", (b.sizes[1],), a.sizes[0].most * a.sizes[1].most),
        ]
    )
    end = a.largest * b.largest * inner
    if end <= LARGEST:
        text = f"tf.einsum('ij,ik->{result}', {a.name}, {b.name})"
        w.add(text, a.dtype, sizes, -end, end, _bits(a, b, product=True))


def elements(value: Value) -> Size | None:
    """How many a value has."""
    return count(value.sizes)


STEPS: list[Step] = [
    *([unary] * 5 + [arithmetic] * 6 + [magnitude] * 2 + [ordered] * 2 + [reduction] * 4),
    *(cornered, negative, quotient, power, whole, logical, select, select, cast, cast, truth),
    *(running, position, normalized, largest, product, product, weighted, contraction),
]
