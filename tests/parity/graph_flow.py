# SPDX-License-Identifier: Apache-2.0
"""Lines of drawn programs with an order: branches, loops, variables, control dependencies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .graph_edges import EDGES
from .graph_further import FURTHER
from .graph_hosts import HOSTS
from .graph_keras import KERAS
from .graph_layers import LAYERS
from .graph_moves import MOVES
from .graph_shapes import PARTS, SHAPES
from .graph_source import Writer
from .graph_steps import STEPS, Step
from .graph_types import TYPES
from .graph_values import Value
from .graph_wide import WIDE, written_by_number
from .graph_windows import WINDOWS

# Loops and branches stand within each other no deeper than this.
_DEPTH = 2
_PLAIN = (
    *(STEPS, STEPS, STEPS, MOVES, MOVES, LAYERS, WIDE, TYPES, FURTHER, HOSTS, EDGES),
    *(WINDOWS, SHAPES, KERAS),
)


def some_steps(w: Writer, most: int) -> None:
    """A few lines of any kind."""
    for _ in range(w.random.randint(1, most)):
        flow = FLOW if w.indent < _DEPTH and w.chance(0.15) else None
        w.random.choice(flow or w.random.choice(_PLAIN))(w)


def _near(w: Writer, value: Value) -> Value:
    """A value of the type and sizes, computed from others if chance will."""
    some_steps(w, 3)
    found = w.pick(lambda v: v.dtype == value.dtype and v.sizes == value.sizes)
    return found or value


def _bounded(value: Value) -> tuple[str, float]:
    """Text for a value kept small, and how small."""
    if value.is_float:
        return f"tf.sin({value.name})", 1.0
    if value.is_int:
        return f"tf.clip_by_value({value.name}, -8, 8)", 8.0
    return f"tf.logical_not({value.name})", 1.0


def _carried_on(w: Writer, value: Value, carried: Value) -> str:
    """Text for what a turn gives to the next: as it is where it has not grown, if chance will."""
    fits = carried.low <= value.low and value.high <= carried.high
    return value.name if fits and w.chance(0.6) else _bounded(value)[0]


def _condition(w: Writer) -> str:
    found = w.pick(lambda v: v.dtype == "bool" and v.ndim == 0)
    return found.name if found is not None else "flag"


def _start(w: Writer) -> Any:
    return w.pick(lambda v: v.largest <= 90 and v.dtype != "bool")


def branch(w: Writer) -> None:
    """A value that one of two branches gives."""
    value = _start(w)
    if value is None:
        return
    pred, (yes, no) = _condition(w), (w.fresh("f"), w.fresh("f"))
    results: list[Value] = []
    for name in (yes, no):
        with w.block(f"def {name}():"):
            results.append(_near(w, value))
            w.line(f"return {results[-1].name} + {w.random.randint(0, 2)}")
    bits = None if None in [r.bits for r in results] else max(r.bits or 0 for r in results)
    low, high = min(r.low for r in results), max(r.high for r in results) + 2
    w.like(f"tf.cond({pred}, {yes}, {no})", value, low=low, high=high, bits=bits)


def loop(w: Writer) -> None:
    """What a value becomes in a few turns of a loop, with a second one that goes along."""
    value, other = _start(w), _start(w)
    if value is None:
        return
    body, i, x, z = w.fresh("f"), w.fresh("i"), w.fresh("x"), w.fresh("x")
    turns = w.pick(lambda v: v.dtype == "int32" and v.ndim == 0 and v.low >= 0 and v.high <= 8)
    limit = turns.name if turns is not None else str(w.random.randint(0, 3))
    with w.block(f"def {body}({i}, {x}, {z}):"):
        carried = [_carried(x, value), _carried(z, other)]
        w.values += [*carried, Value(i, "int32", (), 0, 8, 0)]
        new = [_near(w, v) for v in carried]
        w.line(f"return {i} + 1, {', '.join(_carried_on(w, *pair) for pair in zip(new, carried))}")
    found = w.fresh("found")
    parallel = w.random.choice(["", ", parallel_iterations=1", ", swap_memory=True"])
    start = f"[tf.constant(0), {value.name}, {other.name}]"
    test = f"lambda i, x, z: i < {limit}"
    shapes = f"shape_invariants=[tf.TensorShape([]), loose({value.name}), loose({other.name})]"
    w.line(f"{found} = tf.while_loop({test}, {body}, {start}, {shapes}{parallel})")
    w.marks.add("loop")
    for k, v in enumerate(carried, 1):
        w.like(f"{found}[{k}]", v)


def _carried(name: str, value: Value) -> Value:
    low, high = min(value.low, -8.0), max(value.high, 8.0)
    return Value(name, value.dtype, value.sizes, low, high, 0 if value.is_int else None)


def mapped(w: Writer) -> None:
    """A function of each row, or one of a row and of what came of those before."""
    value = w.pick(lambda v: 1 <= v.ndim <= 3 and v.largest <= 90 and v.dtype != "bool")
    if value is None:
        return
    body, x, a = w.fresh("f"), w.fresh("x"), w.fresh("a")
    row = Value(x, value.dtype, value.sizes[1:], value.low, value.high, value.bits)
    carried = _carried(a, row)
    kind = w.random.choice(["map_fn", "scan", "foldl"])
    head = f"def {body}({x}):" if kind == "map_fn" else f"def {body}({a}, {x}):"
    with w.block(head):
        w.values += [row] if kind == "map_fn" else [carried, row]
        made = _near(w, row)
        w.line(f"return {_bounded(made)[0]}")
    w.marks.add("loop")
    ends: Any = {"low": carried.low, "high": carried.high, "bits": carried.bits}
    sizes = value.sizes[1:] if kind == "foldl" else value.sizes
    w.like(f"tf.{kind}({body}, {value.name})", value, sizes=sizes, **ends)


def choice(w: Writer) -> None:
    """One of three functions, by number."""
    value = _start(w)
    if value is None or not value.is_float:
        return
    number = w.pick(lambda v: v.dtype == "int32" and v.ndim == 0)
    if number is None:
        return
    cases = f"[lambda: {value.name} * 2.0, lambda: -{value.name}, lambda: tf.sin({value.name})]"
    end = 2 * value.largest + 1
    text = f"tf.switch_case(tf.floormod({number.name}, 3), {cases})"
    w.like(text, value, low=-end, high=end, bits=None)


def called(w: Writer) -> None:
    """A function that is a function in the graph, too."""
    value = _start(w)
    if value is None or not value.is_float:
        return
    name, x = w.fresh("g"), w.fresh("x")
    w.line("@tf.custom_gradient")
    with w.block(f"def {name}({x}):"):
        w.line(f"return tf.tanh({x}), lambda dy: dy * 0.5")
    w.like(f"{name}({value.name})", value, low=-1.0, high=1.0, bits=None)


@contextmanager
def after_effects(w: Writer) -> Iterator[None]:
    """Lines that wait for what happened before."""
    if w.effect is None:
        yield
        return
    w.line(f"with tf.control_dependencies([{w.effect}]):")
    w.indent += 1
    try:
        yield
    finally:
        w.indent -= 1


def read(w: Writer) -> None:
    """The value of a variable, at this point of the order."""
    if not w.variables or w.indent:
        return
    variable = w.random.choice(w.variables)
    with after_effects(w):
        # (What a reference gives may change later, where TensorFlow does not copy it.)
        how = f"{variable.name}.read_value()" if "resource" in w.marks else f"-{variable.name}"
        found = w.like(how, variable)
    w.effect = found.name


def write(w: Writer) -> None:
    """Something added to a variable, or put in its place."""
    if not w.variables or w.indent:
        return
    variable = w.random.choice(w.variables)
    value = w.pick(
        lambda v: v.dtype == variable.dtype and v.sizes == variable.sizes and v.largest <= 2
    )
    given = value.name if value is not None else f"tf.ones_like({variable.name}.initial_value)"
    name = w.fresh("done")
    how = w.random.choice(["assign_add", "assign_sub", "assign", "scatter_add", "move"])
    row = "[0.5]" if variable.ndim == 1 else f"[{[0.5] * (variable.sizes[-1].fixed or 0)}]"
    with after_effects(w):
        if how == "scatter_add":
            w.line(f"{name} = tf.scatter_add({variable.name}, [1], {row})")
        elif how == "move":
            order = w.random.sample(
                range(variable.sizes[0].fixed or 0), variable.sizes[0].fixed or 0
            )
            moved = w.random.choice(
                [f"tf.gather({variable.name}, {order})", f"{variable.name}[::-1]"]
            )
            w.line(f"{name} = {variable.name}.assign({moved})")
        elif w.chance(0.3):
            kept = f"lambda: {variable.name}.read_value() + 0.0"
            yes = f"lambda: {variable.name}.{how}({given}) + 0.0"
            w.line(f"{name} = tf.cond({_condition(w)}, {yes}, {kept})")
        else:
            w.line(f"{name} = {variable.name}.{how}({given})")
    w.effect = name


def together(w: Writer) -> None:
    """A value that waits for others."""
    value, other = w.pick(), w.pick()
    if value is None or other is None:
        return
    if w.chance(0.5):
        w.like(f"tf.tuple([{value.name}, {other.name}])[0]", value)
        return
    group = w.fresh("group")
    w.line(f"{group} = tf.group({value.name}.op, {other.name}.op)")
    with w.block(f"with tf.control_dependencies([{group}]):"):
        found = w.like(f"tf.identity({value.name})", value)
    w.values.append(found)


def derivative(w: Writer) -> None:
    """A gradient as a value among others."""
    y = w.pick(lambda v: v.is_float)
    x = w.pick(lambda v: v.is_float)
    if y is None or x is None or w.indent or w.marks & {"loop", "once"}:
        return
    name = w.fresh("slope")
    w.line(f"{name} = tf.gradients({y.name}, {x.name})[0]")
    w.line(f"{name} = tf.zeros_like({x.name}) if {name} is None else tf.convert_to_tensor({name})")
    w.like(f"tf.tanh({name})", x, low=-1.0, high=1.0, bits=None)


FLOW: list[Step] = [branch, branch, loop, loop, mapped, choice, called]
ORDER: list[Step] = [*(read, write, write, written_by_number, *PARTS, together, derivative)]
