# SPDX-License-Identifier: Apache-2.0
"""Whole programs at random: inputs, variables, steps, gradients, a step of training.

A program is text that any TensorFlow with version 1's names runs: it leaves `fetches` and `inits`.
Printed, it is what makes a failure again.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from .graph_flow import ORDER, some_steps
from .graph_source import Writer
from .graph_values import Size, Value

Feeds = dict[str, np.ndarray]


@dataclass(frozen=True)
class GraphProgram:
    """The text of a program, and what each run feeds to its placeholders, by name."""

    source: str
    runs: tuple[Feeds, ...]
    has_references: bool
    # How far results may lie apart, of the largest number about: single precision and gradients,
    # or floats of sixteen bits on the way.
    tolerance: float = 5e-4

    def build(self, tf: Any) -> dict[str, Any]:
        """Adds it to the default graph; its names."""
        names: dict[str, Any] = {"tf": tf, "np": np}
        exec(compile(self.source, "<drawn program>", "exec"), names)
        return names

    def __repr__(self) -> str:
        feeds = "\n".join(f"# run {k}: {show(run)}" for k, run in enumerate(self.runs))
        return f"\n{self.source}\n{feeds}\n"


def show(feeds: Feeds) -> str:
    """Feeds as Python."""
    return ", ".join(f"{name}={x.tolist()}" for name, x in feeds.items())


def draw(random: Random, steps: int = 14) -> GraphProgram:
    """A program of about so many lines."""
    w = Writer(random)
    kind = random.choice(["resource", "reference"])
    w.marks.add(kind)
    w.runs = random.choice(_RUNS)
    w.line("def loose(x):")
    w.line("    return tf.TensorShape(None if x.shape.ndims is None else [None] * x.shape.ndims)")
    _inputs(w)
    _variables(w)
    for _ in range(random.randint(1, steps)):
        if w.chance(0.25):
            random.choice(ORDER)(w)
        else:
            some_steps(w, 1)
    _ending(w)
    references = kind == "reference" and bool(w.variables)
    tolerance = 3e-2 if "half" in w.marks else 5e-4
    return GraphProgram("\n".join(w.lines), _feeds(w), references, tolerance)


# What n is, one run after the other; the last ones are more than a vector, or a tile, takes.
_RUNS = (
    *((3, 2, 5, 3), (3, 2, 5, 3), (1, 4, 1), (3, 0, 2), (4, 17, 3), (2, 70)),
    *((32, 16, 33), (1, 2, 1, 3, 2, 8, 1, 5), (1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 12, 1, 20)),
)
# How many elements are no more than a placeholder has.
_MOST = 3000


def _sizes(w: Writer, ndim: int) -> tuple[Size, ...]:
    n = Size(1, 0, w.runs)
    fixed = [3, 2, 4, 1, 3, 2, 4, 1, 19]
    found = [n if w.chance(0.35) else Size(0, w.random.choice(fixed)) for _ in range(ndim)]
    return tuple(found) if np.prod([size.most for size in found]) <= _MOST else tuple(found[:1])


def _inputs(w: Writer) -> None:
    for name, dtype, sizes, high in [
        ("flag", "bool", (), 1),
        ("k", "int32", (), 3),
        *[(f"p{i}", *_kind(w)) for i in range(w.random.randint(1, 4))],
    ]:
        low, bits = (0 if dtype == "bool" or name == "k" else -high), 2 if "f" in dtype else 0
        value = Value(name, dtype, tuple(sizes), low, high, bits)
        shape: Any = [s.fixed if w.chance(0.7) else None for s in sizes]
        shape = None if sizes and w.chance(0.05) else shape
        w.line(f"{name} = tf.placeholder(tf.{dtype}, {shape}, name={name!r})")
        w.placeholders.append(value)
        w.values.append(value)


def _kind(w: Writer) -> Any:
    dtype = w.random.choice(["float64", "float32", "float32", "int32", "float64", "bool", "int64"])
    sizes = _sizes(w, w.random.choice([1, 2, 2, 2, 3, 0]))
    return dtype, sizes, 1 if dtype == "bool" else 2


def _variables(w: Writer) -> None:
    resource = "resource" in w.marks
    for k in range(w.random.choice([0, 1, 1, 2])):
        shape = [w.random.randint(2, 4) for _ in range(w.random.choice([1, 2]))]
        dtype = w.random.choice(["float32", "float64"])
        numbers = np.array([w.random.randint(-8, 8) / 4 for _ in range(int(np.prod(shape)))])
        start = f"np.array({numbers.reshape(shape).tolist()}, np.{dtype})"
        w.line(f"v{k} = tf.Variable({start}, name='v{k}', use_resource={resource})")
        sizes = tuple(Size(0, size) for size in shape)
        w.variables.append(Value(f"v{k}", dtype, sizes, -90.0, 90.0, None))


def _ending(w: Writer) -> None:
    """Gradients of all, by all; perhaps a step of training; what is fetched."""
    last = [v.name for v in w.values[-2:] if not v.name.startswith(("p", "k", "flag"))]
    fetched: list[str] = list(dict.fromkeys([*w.unused, *last]))
    known = {v.name: v for v in w.values}
    floats = [name for name in fetched if name in known and known[name].is_float]
    sources = [v.name for v in [*w.placeholders, *w.variables] if v.is_float]
    w.line(f"fetches = [{', '.join(fetched)}]")
    if w.effect is not None:
        w.line(f"fetches.append({w.effect} + 0.0)")
    if floats and sources and w.chance(0.8):
        terms = [f"tf.cast(tf.reduce_sum(tf.cos({name})), tf.float64)" for name in floats]
        w.line(f"loss = tf.add_n([{', '.join(terms)}])")
        w.line(f"slopes = tf.gradients(loss, [{', '.join(sources)}])")
        w.line("slopes = [tf.convert_to_tensor(g) for g in slopes if g is not None]")
        w.line("fetches += slopes")
        _further(w)
    w.line("inits = tf.global_variables_initializer()")


def _further(w: Writer) -> None:
    sources = [v.name for v in [*w.placeholders, *w.variables] if v.is_float]
    if not w.marks & {"loop", "once"} and w.chance(0.3):
        w.line("if slopes:")
        terms = "tf.add_n([tf.cast(tf.reduce_sum(tf.sin(g)), tf.float64) for g in slopes])"
        w.line(f"    curves = tf.gradients({terms}, [{', '.join(sources)}])")
        w.line("    fetches += [tf.convert_to_tensor(g) for g in curves if g is not None]")
    if w.variables and w.chance(0.5):
        # (Of a gradient that is zero but for rounding Adam makes a whole step.)
        rules = ["GradientDescentOptimizer(0.1)", "MomentumOptimizer(0.1, 0.5)"]
        rule = w.random.choice(rules + ["AdamOptimizer(0.1)"] * ("level" not in w.marks))
        effects = f"[{w.effect}]" if w.effect is not None else "[]"
        w.line("pairs = [(g, v) for g, v in zip(tf.gradients(loss, tf.trainable_variables()),")
        w.line("         tf.trainable_variables()) if g is not None]")
        w.line(f"with tf.control_dependencies({effects} + fetches):")
        w.line(f"    if pairs: train = tf.train.{rule}.apply_gradients(pairs)")
        w.line("    else: train = tf.no_op()")
        w.line("with tf.control_dependencies([train]):")
        for variable in w.variables:
            w.line(f"    fetches.append({variable.name} + 0.0)")


def _feeds(w: Writer) -> tuple[Feeds, ...]:
    runs = []
    for n in w.runs:
        feeds: Feeds = {}
        for value in w.placeholders:
            shape = value.shape(n)
            whole = [w.random.randint(-8, 8) for _ in range(int(np.prod(shape)))]
            numbers = np.array(whole, float).reshape(shape)
            if value.dtype == "bool":
                feeds[value.name] = numbers > 0
            elif value.is_int:
                feeds[value.name] = (
                    np.abs(numbers) % 4 if value.low == 0 else numbers // 4
                ).astype(value.dtype)
            else:
                feeds[value.name] = (numbers / 4).astype(value.dtype)
        runs.append(feeds)
    return tuple(runs)
