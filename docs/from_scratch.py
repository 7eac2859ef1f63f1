# SPDX-License-Identifier: Apache-2.0
"""numbaflow from scratch: a graph, its gradients, and a compiler of fused loops, in one file.

`python docs/from_scratch.py` prints a plan and its kernels, trains a small model, and trains it
again with numbaflow itself.  docs/from_scratch.md explains the parts; the marks name them.
"""

# [imports]
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

# [end]


# [graph]
Size = int | str  # a number, or the name of a size that only a run knows
Shape = tuple[Size, ...]


@dataclass(eq=False)
class Tensor:
    """A node of the graph and its one result.  `attr` is whatever else the op must know."""

    op: str
    inputs: tuple[Tensor, ...]
    shape: Shape
    attr: Any = None

    def __add__(self, other: Any) -> Tensor:
        return elementwise("add", self, other)

    def __sub__(self, other: Any) -> Tensor:
        return elementwise("subtract", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return elementwise("subtract", other, self)

    def __mul__(self, other: Any) -> Tensor:
        return elementwise("multiply", self, other)

    def __truediv__(self, other: Any) -> Tensor:
        return elementwise("divide", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return elementwise("divide", other, self)

    def __neg__(self) -> Tensor:
        return elementwise("negative", self)


@dataclass(eq=False)
class Cell:
    """The memory of a variable."""

    value: np.ndarray


def placeholder(shape: Sequence[Size]) -> Tensor:
    return Tensor("placeholder", (), tuple(shape), object())


def Variable(value: Any) -> Tensor:
    array = np.array(value, np.float64)
    return Tensor("Variable", (), array.shape, Cell(array))


def constant(value: float | str, shape: Shape = ()) -> Tensor:
    """One value everywhere: a number, or an expression of sizes."""
    return Tensor("constant", (), shape, value)


def assign(variable: Tensor, value: Tensor) -> Tensor:
    return Tensor("assign", (value,), value.shape, variable.attr)


# [end]


# [ops]
@dataclass(frozen=True)
class Elementwise:
    """An op in one row: the text of an element, and gradient(result, its gradient) per input."""

    text: str
    gradient: Callable[[Tensor, Tensor], Sequence[Tensor]]


ELEMENTWISE = {
    "add": Elementwise("{} + {}", lambda y, g: (g, g)),
    "subtract": Elementwise("{} - {}", lambda y, g: (g, -g)),
    "multiply": Elementwise("{} * {}", lambda y, g: (g * y.inputs[1], g * y.inputs[0])),
    "divide": Elementwise("{} / {}", lambda y, g: (g / y.inputs[1], -g * y / y.inputs[1])),
    "negative": Elementwise("-{}", lambda y, g: (-g,)),
    "exp": Elementwise("np.exp({})", lambda y, g: (g * y,)),
    "log": Elementwise("np.log({})", lambda y, g: (g / y.inputs[0],)),
    "tanh": Elementwise("np.tanh({})", lambda y, g: (g * (1.0 - y * y),)),
}


def elementwise(op: str, *inputs: Any) -> Tensor:
    tensors = [x if isinstance(x, Tensor) else constant(float(x)) for x in inputs]
    shape: Shape = ()
    for tensor in tensors:
        shape = broadcast(shape, tensor.shape)
    return Tensor(op, tuple(broadcast_to(tensor, shape) for tensor in tensors), shape)


def broadcast(a: Shape, b: Shape) -> Shape:
    """NumPy's rule; sizes that are not known are equal if they have the same name."""
    rank = max(len(a), len(b))
    pairs = list(zip((1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b))
    for p, q in pairs:
        if p != q and 1 not in (p, q):
            raise ValueError(f"Dimensions must be equal, but are {p} and {q}: {a} and {b}")
    return tuple(q if p == 1 else p for p, q in pairs)


def exp(x: Any) -> Tensor:
    return elementwise("exp", x)


def log(x: Any) -> Tensor:
    return elementwise("log", x)


def tanh(x: Any) -> Tensor:
    return elementwise("tanh", x)


def sigmoid(x: Any) -> Tensor:
    return 1.0 / (exp(-x) + 1.0)


# [end]


# [views]
def view(x: Tensor, shape: Shape, axes: Sequence[int | None]) -> Tensor:
    """Another way to read: axis i of x is walked by axis axes[i] of the result, or stays at 0."""
    return Tensor("view", (x,), shape, tuple(axes))


def broadcast_to(x: Tensor, shape: Shape) -> Tensor:
    if x.shape == shape:
        return x
    first = len(shape) - len(x.shape)
    stays = [size == 1 and shape[first + i] != 1 for i, size in enumerate(x.shape)]
    return view(x, shape, [None if stay else first + i for i, stay in enumerate(stays)])


def transpose(x: Tensor) -> Tensor:
    return view(x, x.shape[::-1], range(len(x.shape))[::-1])


def reduce_sum(x: Tensor, axis: Sequence[int] | None = None) -> Tensor:
    axes = tuple(range(len(x.shape)) if axis is None else axis)
    shape = tuple(size for i, size in enumerate(x.shape) if i not in axes)
    return Tensor("reduce_sum", (x,), shape, axes)


def reduce_mean(x: Tensor) -> Tensor:
    count = " * ".join(str(size) for size in x.shape if size != 1)
    return reduce_sum(x) / constant(f"({count or 1})")


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Products of all rows with all columns, summed over the axis in the middle."""
    (m, k), (same, n) = a.shape, b.shape
    if k != same:
        raise ValueError(f"Dimensions must be equal, but are {k} and {same} for matmul")
    rows, columns = view(a, (m, k, n), (0, 1)), view(b, (m, k, n), (1, 2))
    return reduce_sum(rows * columns, axis=[1])


# [end]


# [gradients]
def gradient_of_view(y: Tensor, g: Tensor) -> Sequence[Tensor]:
    """What was read several times gets the sum, at the place where it was read."""
    walked = sorted(axis for axis in y.attr if axis is not None)
    summed = reduce_sum(g, [axis for axis in range(len(y.shape)) if axis not in walked])
    return (view(summed, y.inputs[0].shape, [y.attr.index(axis) for axis in walked]),)


def gradient_of_sum(y: Tensor, g: Tensor) -> Sequence[Tensor]:
    """Every summand gets the same."""
    (x,) = y.inputs
    return (view(g, x.shape, [axis for axis in range(len(x.shape)) if axis not in y.attr]),)


GRADIENTS: dict[str, Callable[[Tensor, Tensor], Sequence[Tensor]]] = {
    **{name: row.gradient for name, row in ELEMENTWISE.items()},
    "view": gradient_of_view,
    "reduce_sum": gradient_of_sum,
}


def order(tensors: Sequence[Tensor]) -> list[Tensor]:
    """The tensors and all that they need, inputs first."""
    found: dict[Tensor, None] = {}

    def visit(tensor: Tensor) -> None:
        if tensor not in found:
            for x in tensor.inputs:
                visit(x)
            found[tensor] = None

    for tensor in tensors:
        visit(tensor)
    return list(found)


def gradients(loss: Tensor, variables: Sequence[Tensor]) -> list[Tensor]:
    """New nodes for the derivatives of a scalar."""
    total = {loss: constant(1.0, loss.shape)}
    for y in reversed(order([loss])):
        if y in total and y.op in GRADIENTS:
            for x, g in zip(y.inputs, GRADIENTS[y.op](y, total[y])):
                total[x] = total[x] + g if x in total else g
    return [total.get(v, constant(0.0, v.shape)) for v in variables]


# [end]


# [reference]
def evaluate(tensor: Tensor, feeds: dict[Tensor, Any]) -> np.ndarray:
    """What a tensor means: NumPy, node by node.  Compiled plans are held against it."""
    sizes, results = bind_sizes(feeds), dict[Tensor, np.ndarray]()
    for t in order([tensor]):
        x = [results[one] for one in t.inputs]
        if t.op == "placeholder":
            result = np.asarray(feeds[t], np.float64)
        elif t.op == "Variable":
            result = t.attr.value
        elif t.op == "constant":
            value = eval(str(t.attr), dict(sizes))
            result = np.full(numbers(t.shape, sizes), float(value))
        elif t.op == "view":
            shape = numbers(t.shape, sizes)
            index = np.ix_(*(np.arange(size) for size in shape))
            where = tuple(0 if axis is None else index[axis] for axis in t.attr)
            result = np.broadcast_to(x[0][where], shape)
        elif t.op == "reduce_sum":
            result = np.sum(x[0], axis=t.attr)
        elif t.op == "assign":
            result = x[0]
        else:
            row = ELEMENTWISE[t.op]
            names = [f"x{i}" for i in range(len(x))]
            result = eval(row.text.format(*names), {"np": np}, dict(zip(names, x)))
        results[t] = result
    return results[tensor]


def bind_sizes(feeds: dict[Tensor, Any]) -> dict[str, int]:
    """What the sizes with names are in this run."""
    sizes: dict[str, int] = {}
    for tensor, value in feeds.items():
        for size, actual in zip(tensor.shape, np.shape(value), strict=True):
            expected = sizes.setdefault(size, actual) if isinstance(size, str) else size
            if expected != actual:
                raise ValueError(f"{np.shape(value)} is fed for {tensor.shape}: {size}={expected}")
    return sizes


def numbers(shape: Shape, sizes: dict[str, int]) -> list[int]:
    return [sizes[size] if isinstance(size, str) else size for size in shape]


# [end]


# [trace]
def simplify(t: Tensor) -> Tensor | None:
    """The rules, one a case; None if there is nothing to simplify."""
    match t:
        case Tensor("multiply" | "divide", (x, Tensor("constant", attr=1.0))):
            return x
        case Tensor("multiply", (Tensor("constant", attr=1.0), x)):
            return x
        case Tensor("negative", (Tensor("negative", (x,)),)):
            return x
        case Tensor("add", (x, Tensor("negative", (y,)))):
            return x - y
        case Tensor("multiply", (Tensor("negative", (x,)), Tensor("negative", (y,)))):
            return x * y
        case Tensor("negative", (Tensor("constant", attr=float(a)),)):
            return constant(-a, t.shape)
        case Tensor("divide", (Tensor("constant", attr=a), Tensor("constant", attr=b))):
            return constant(f"({a} / {b})", t.shape)
        case Tensor("view", (Tensor("constant", attr=value),)):
            return constant(value, t.shape)
        case Tensor("view", (Tensor("view", (x,), attr=inner),)):
            return view(x, t.shape, [None if axis is None else t.attr[axis] for axis in inner])
        case Tensor("view", (x,)) if x.shape == t.shape and t.attr == tuple(range(len(t.shape))):
            return x
        case Tensor("reduce_sum", (x,), attr=axes) if all(x.shape[axis] == 1 for axis in axes):
            kept = iter(range(len(t.shape)))
            return view(
                x, t.shape, [None if i in axes else next(kept) for i in range(len(x.shape))]
            )
    return None


def trace(fetches: Sequence[Tensor]) -> list[Tensor]:
    """The fetches over a copy of the graph in which all is simple and nothing is there twice."""
    copies: dict[Tensor, Tensor] = {}
    known: dict[tuple[Any, ...], Tensor] = {}
    for t in order(fetches):
        copy = replace(t, inputs=tuple(copies[x] for x in t.inputs)) if t.inputs else t
        while (simpler := simplify(copy)) is not None:
            copy = simpler
        copies[t] = known.setdefault((copy.op, copy.inputs, copy.shape, copy.attr), copy)
    return [copies[t] for t in fetches]


# [end]


# [fuse]
SOURCES = ("placeholder", "Variable")
CHEAP = ("constant", "add", "subtract", "multiply", "negative")


def readings(program: Sequence[Tensor], kept: set[Tensor]) -> Iterator[tuple[Tensor, Tensor, bool]]:
    """(who reads, what is read, more than once an element?), seen through views."""
    for reader in program:
        if reader.op == "view" and reader not in kept:
            continue
        for x in reader.inputs:
            again = repeats(reader)
            while x.op == "view" and x not in kept:
                again, x = again or repeats(x), x.inputs[0]
            yield reader, x, again


def repeats(t: Tensor) -> bool:
    """Does a view read elements more than once?"""
    axes = range(len(t.shape))
    return t.op == "view" and any(t.shape[axis] != 1 and axis not in t.attr for axis in axes)


def fuse(program: Sequence[Tensor], fetches: Sequence[Tensor]) -> list[Tensor]:
    """The tensors that get memory, each of which is one kernel with all that it alone needs.

    Backwards: a tensor moves into the kernel that reads it, if there is one only, and that reads
    every element once.  Cheap arithmetic costs less than memory, and moves into all who read it.
    """
    kept, readers = set(fetches), dict[Tensor, list[tuple[Tensor, bool]]]()
    for reader, x, again in readings(program, kept):
        readers.setdefault(x, []).append((reader, again))
    kernels: dict[Tensor, set[Tensor]] = {}  # in which a tensor is computed
    often: dict[Tensor, bool] = {}  # and whether more than once an element
    for t in reversed(program):
        kernels[t] = {root for reader, _ in readers.get(t, []) for root in kernels[reader]}
        often[t] = any(again or often[reader] for reader, again in readers.get(t, []))
        if t in kept or (t.op not in CHEAP and (len(kernels[t]) > 1 or often[t])):
            kernels[t], often[t] = {t}, False
    return [t for t in program if t in kernels[t] and t.op not in SOURCES]


# [end]


# [emit]
@dataclass
class Kernel:
    """A loop nest that fills one tensor, and what it takes: tensors, and sizes by name."""

    root: Tensor
    stored: set[Tensor]
    reads: list[Tensor] = field(default_factory=list)
    sizes: dict[str, None] = field(default_factory=dict)
    fused: dict[Tensor, None] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    known: dict[tuple[Tensor, tuple[str, ...]], str] = field(default_factory=dict)
    indent: str = "    "
    names: int = 0

    def __post_init__(self) -> None:
        index = self.open_loops(self.root.shape, "prange")
        value = self.compute(self.root, index)
        self.write(f"out[{', '.join(index) or '()'}] = {value}")
        arguments = [*self.sizes, *(f"in{i}" for i in range(len(self.reads))), "out"]
        self.source = "\n".join([f"def kernel({', '.join(arguments)}):", *self.lines])

    def read(self, t: Tensor, index: tuple[str, ...]) -> str:
        """An element of a tensor: loaded where it is in memory, else computed here, once."""
        if t in self.stored or t.op in SOURCES:
            if t not in self.reads:
                self.reads.append(t)
            return f"in{self.reads.index(t)}[{', '.join(index) or '()'}]"
        if (t, index) not in self.known:
            self.known[t, index] = self.compute(t, index)
        return self.known[t, index]

    def compute(self, t: Tensor, index: tuple[str, ...]) -> str:
        if t.op == "constant":
            self.sizes |= dict.fromkeys(re.findall(r"\b[a-z]\w*", str(t.attr)))
            return str(t.attr)
        if t.op == "view":
            return self.read(t.inputs[0], tuple("0" if a is None else index[a] for a in t.attr))
        self.fused[t] = None
        if t.op == "assign":
            return self.read(t.inputs[0], index)
        if t.op == "reduce_sum":
            return self.sum(t, index)
        text = ELEMENTWISE[t.op].text.format(*(self.read(x, index) for x in t.inputs))
        return self.let("v", text)

    def sum(self, t: Tensor, index: tuple[str, ...]) -> str:
        """A loop inside, whose names end with it."""
        total, outside, known = self.let("sum", "0.0"), self.indent, dict(self.known)
        (x,), rest = t.inputs, list(index)
        inner = iter(self.open_loops(tuple(x.shape[axis] for axis in t.attr), "range"))
        where = [next(inner) if i in t.attr else rest.pop(0) for i in range(len(x.shape))]
        self.write(f"{total} += {self.read(x, tuple(where))}")
        self.indent, self.known = outside, known
        return total

    def open_loops(self, shape: Shape, kind: str) -> tuple[str, ...]:
        """The names of the positions; a size of one needs no loop."""
        index = []
        for size in shape:
            if size == 1:
                index.append("0")
                continue
            if isinstance(size, str):
                self.sizes[size] = None
            name = self.new("i")
            self.write(f"for {name} in {kind}({size}):")
            self.indent, kind = self.indent + "    ", "range"
            index.append(name)
        return tuple(index)

    def let(self, kind: str, text: str) -> str:
        name = self.new(kind)
        self.write(f"{name} = {text}")
        return name

    def new(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"

    def write(self, line: str) -> None:
        self.lines.append(self.indent + line)


# [end]


# [compile]
LARGE = 1000


@cache
def compile_source(source: str, parallel: bool) -> Callable[..., None]:
    """Machine code; equal kernels are compiled once."""
    import numba  # takes its time: only those wait for it who run something

    names: dict[str, Any] = {"np": np, "prange": numba.prange if parallel else range}
    exec(source, names)
    return numba.njit(parallel=parallel, error_model="numpy")(names["kernel"])


# [end]


# [plan]
class Plan:
    """Kernels in order.  Sizes are arguments: what was compiled serves any batch."""

    def __init__(self, fetches: Sequence[Tensor]) -> None:
        self.fetches = trace(fetches)
        roots = fuse(order(self.fetches), self.fetches)
        self.kernels = [Kernel(root, set(roots) - {root}) for root in roots]

    def run(self, feeds: dict[Tensor, Any]) -> list[np.ndarray]:
        sizes = bind_sizes(feeds)
        memory = {t: np.ascontiguousarray(value, np.float64) for t, value in feeds.items()}
        for t in order(self.fetches):
            if t.op == "Variable":
                memory[t] = t.attr.value
        for kernel in self.kernels:
            memory[kernel.root] = out = np.empty(numbers(kernel.root.shape, sizes))
            code = compile_source(kernel.source, out.size >= LARGE)
            code(*(sizes[s] for s in kernel.sizes), *(memory[t] for t in kernel.reads), out)
        for t in self.fetches:  # now that nobody reads the old values any more
            if t.op == "assign":
                t.attr.value = memory[t]
        return [memory[t] for t in self.fetches]

    def __str__(self) -> str:
        lines = ["    loops        fuses"]
        for number, kernel in enumerate(self.kernels):
            loops = " ".join(map(str, kernel.root.shape)) or "-"
            lines.append(f"{number:2}  {loops:11}  {' '.join(t.op for t in kernel.fused)}")
        return "\n".join(lines)


@cache
def plan_of(*fetches: Tensor) -> Plan:
    return Plan(fetches)


def run(fetches: Sequence[Tensor], feeds: dict[Tensor, Any]) -> list[np.ndarray]:
    return plan_of(*fetches).run(feeds)


# [end]


# [train]
def circle(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of a square, and whether they lie within a circle."""
    points = np.random.RandomState(seed).uniform(-1, 1, (count, 2))
    inside = np.sum(points**2, axis=1, keepdims=True) < 0.6
    return points, inside.astype(np.float64)


def initial() -> list[np.ndarray]:
    random = np.random.RandomState(0)
    return [random.randn(2, 8), np.zeros(8), random.randn(8, 1), np.zeros(1)]


def model() -> tuple[Tensor, Tensor, list[Tensor], Tensor]:
    x, y = placeholder(["n", 2]), placeholder(["n", 1])
    w1, b1, w2, b2 = variables = [Variable(value) for value in initial()]
    p = sigmoid(matmul(tanh(matmul(x, w1) + b1), w2) + b2)
    loss = -reduce_mean(y * log(p) + (1.0 - y) * log(1.0 - p))
    return x, y, variables, loss


def train_here(steps: int) -> tuple[list[float], list[np.ndarray], list[np.ndarray]]:
    """The losses, the gradients of the first step, the variables after the last."""
    x, y, variables, loss = model()
    slopes = gradients(loss, variables)
    train = [assign(v, v - g) for v, g in zip(variables, slopes)]
    points, labels = circle(200, seed=1)
    found = [run([loss, *slopes, *train], {x: points, y: labels}) for _ in range(steps)]
    values = [v.attr.value for v in variables]
    return [float(step[0]) for step in found], found[0][1 : 1 + len(slopes)], values


# [end]


# [numbaflow]
def train_there(steps: int) -> tuple[list[float], list[np.ndarray], list[np.ndarray]]:
    """The same by numbaflow."""
    import numbaflow as tf

    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = tf.placeholder(tf.float64, [None, 2]), tf.placeholder(tf.float64, [None, 1])
        w1, b1, w2, b2 = variables = [tf.Variable(value) for value in initial()]
        p = tf.sigmoid(tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2) + b2)
        loss = -tf.reduce_mean(y * tf.log(p) + (1.0 - y) * tf.log(1.0 - p))
        slopes = tf.gradients(loss, variables)
        with tf.control_dependencies([loss, *slopes]):  # which read what was before the update
            train = tf.train.GradientDescentOptimizer(1.0).apply_gradients(zip(slopes, variables))
        points, labels = circle(200, seed=1)
        sess.run(tf.global_variables_initializer())
        found = [sess.run([loss, slopes, train], {x: points, y: labels}) for _ in range(steps)]
        return [step[0] for step in found], found[0][1], sess.run(variables)


def show() -> Plan:
    """The plan of a training step and its kernels, printed."""
    _, _, variables, loss = model()
    slopes = gradients(loss, variables)
    plan = Plan([loss, *(assign(v, v - g) for v, g in zip(variables, slopes))])
    print(plan, *(kernel.source for kernel in plan.kernels), sep="\n\n")
    return plan


def main() -> None:
    show()
    (losses, *here), (expected, *there) = train_here(300), train_there(300)
    print(f"\nloss {losses[0]:.3f} at first, {losses[-1]:.3f} after 300 steps")
    np.testing.assert_allclose(losses, expected, rtol=1e-9)
    for mine, theirs in zip(here, there):  # the gradients, the variables
        for a, b in zip(mine, theirs):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    print("numbaflow says the same")


if __name__ == "__main__":
    main()
# [end]
