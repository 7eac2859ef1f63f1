# SPDX-License-Identifier: Apache-2.0
"""Lines of drawn programs in other types: small integers, floats of 16 bits, complex numbers.

They begin with a value of a usual type, and end with one.
"""

from __future__ import annotations

from .graph_source import Writer
from .graph_steps import Step
from .graph_values import Sizes, Value

# Integers that wrap around, and how far they reach.
_WRAPPING = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}
_WRAPPING_STEPS = (
    *("{x} + {y}", "{x} * {y}", "{x} - {y}", "{x} // {z}", "tf.bitwise.invert({x})"),
    *("tf.bitwise.bitwise_or({x}, {y})", "tf.bitwise.bitwise_xor({x}, {y})"),
    *("tf.bitwise.left_shift({x}, {z})", "tf.bitwise.right_shift({x}, tf.ones_like({x}))"),
    "tf.where(tf.less({x}, {z} + tf.zeros_like({x})), {x}, {y} + tf.zeros_like({x}))",
)
_HALF_STEPS = (
    *("{x} + tf.constant(0.5, tf.{kind})", "{x} * tf.constant(0.75, tf.{kind})", "tf.sin({x})"),
    *("tf.nn.relu({x})", "tf.maximum({x}, tf.constant(-1, tf.{kind}))", "-{x}", "tf.atan({x})"),
    *("tf.sigmoid({x})", "tf.square({x}) * tf.constant(0.125, tf.{kind})", "tf.asinh({x})"),
    *("tf.exp(-tf.abs({x}))", "tf.sqrt(tf.abs({x}) + 1)", "{x} / tf.constant(3, tf.{kind})"),
)
_COMPLEX_STEPS = (
    *("{x} * {x}", "{x} + tf.conj({x})", "tf.conj({x})", "-{x}", "{x} * (0.5 - 2j)"),
    *("tf.square({x})", "{x} / (3 + 1j)", "tf.exp({x} * 0.0625j)", "tf.tanh({x} * 0.03125)"),
    *("1j * {x} - tf.ones_like({x})", "{x} * tf.cast(tf.real({x}), {x}.dtype)"),
    "tf.sin({x} * 0.0625)",
)


def without(sizes: Sizes, axis: int) -> Sizes:
    """The sizes but one."""
    return (*sizes[:axis], *sizes[axis + 1 :])


def _reduced(w: Writer, name: str, sizes: Sizes, how: list[str]) -> Sizes:
    """Perhaps a line that reduces one axis of a name; the sizes then."""
    if not sizes or w.chance(0.5):
        return sizes
    axis, chosen = w.random.randrange(len(sizes)), w.random.choice(how)
    if chosen not in ("sum", "prod") and not sizes[axis].least:
        return sizes
    w.line(f"{name} = tf.reduce_{chosen}({name}, {axis})")
    return without(sizes, axis)


def wrapping(w: Writer) -> None:
    """Arithmetic of small integers, which begin again where they end."""
    value = w.pick(lambda v: v.is_int and v.largest <= 100)
    if value is None:
        return
    kind, name = w.random.choice(sorted(_WRAPPING)), w.fresh("s")
    w.line(f"{name} = tf.cast({value.name}, tf.{kind})")
    for _ in range(w.random.randint(1, 4)):
        number = f"tf.constant({w.random.randint(1, 6)}, tf.{kind})"
        other = w.random.choice([number, name, f"tf.cast({value.name} + 3, tf.{kind})"])
        w.line(f"{name} = " + w.random.choice(_WRAPPING_STEPS).format(x=name, y=other, z=number))
    sizes = _reduced(w, name, value.sizes, ["sum", "max", "min", "prod"])
    wide = w.random.choice(["int32", "int64"])
    w.add(f"tf.cast({name}, tf.{wide})", wide, sizes, *_WRAPPING[kind], 0)


def halved(w: Writer) -> None:
    """Arithmetic of floats of sixteen bits."""
    value = _small(w)
    if value is None:
        return
    kind, name = w.random.choice(["float16", "bfloat16"]), w.fresh("h")
    w.line(f"{name} = tf.cast({value.name}, tf.{kind})")
    for _ in range(w.random.randint(1, 4)):
        w.line(f"{name} = " + w.random.choice(_HALF_STEPS).format(x=name, kind=kind))
    w.line(f"{name} = tf.tanh({name})")
    few = all(size.most <= 40 for size in value.sizes)
    sizes = _reduced(w, name, value.sizes, ["mean", "max", *["sum"] * few])
    w.marks.add("half")
    w.add(f"tf.cast({name}, tf.{value.dtype})", value.dtype, sizes, -40, 40, None)


def complicated(w: Writer) -> None:
    """Complex numbers made of two reals, and what they become."""
    a = _small(w)
    if a is None:
        return
    b = w.pick(lambda v: v.dtype == a.dtype and v.sizes == a.sizes and v.largest <= 90)
    name = w.fresh("c")
    w.line(f"{name} = tf.complex({a.name}, {b.name if b is not None else a.name})")
    for _ in range(w.random.randint(1, 4)):
        w.line(f"{name} = " + w.random.choice(_COMPLEX_STEPS).format(x=name))
    text, sizes = w.random.choice([(name, a.sizes), *_moved(w, name, a)])
    w.line(f"{name} = {text}")
    real, imag = f"tf.real({name})", f"tf.imag({name})"
    size = f"tf.sqrt(1.0 + tf.square({real}) + tf.square({imag}))"
    result = w.random.choice([real, imag, size, f"{real} * {imag}"])
    w.add(f"tf.tanh({result} * 0.01)", a.dtype, sizes, -1, 1, None)


def _moved(w: Writer, name: str, value: Value) -> list[tuple[str, Sizes]]:
    """What may be done to complex numbers of so many axes."""
    if not value.ndim:
        return []
    axis, sizes = w.random.randrange(value.ndim), value.sizes
    found = [
        (f"tf.reduce_sum({name}, {axis})", without(sizes, axis)),
        (f"tf.transpose({name})", sizes[::-1]),
        (f"tf.reverse({name}, [{axis}])", sizes),
        (f"tf.cumsum({name}, {axis})", sizes),
    ]
    if value.ndim == 2:
        found.append((f"tf.matmul({name}, {name}, adjoint_b=True)", (sizes[0], sizes[0])))
    return found


def _small(w: Writer) -> Value | None:
    return w.pick(lambda v: v.is_float and v.largest <= 8 and v.ndim <= 3)


TYPES: list[Step] = [wrapping, wrapping, halved, complicated, complicated]
