# SPDX-License-Identifier: Apache-2.0
"""Programs at random whose feeds change their shapes from run to run, and some their rank.

One placeholder has no known rank, others no known sizes: what is compiled for one run's shapes must
not be taken for another's.  Sizes differ from each other, there are none (0) and ones, which
broadcast; some come back, as batches of a training do after its last, smaller one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import numpy as np

from .graph_programs import Feeds, GraphProgram

# The sizes of a run; what is written as a number has that size in all runs.
Dims = tuple[str, ...]
_SIZES = (0, 1, 1, 2, 3, 5, 8, 17, 33)
_RANKS = ((3,), (2, 3), (1, 2, 1), (4, 2), (), (0, 2), (2, 1, 3, 2), (17,), (1,))


@dataclass
class _Writer:
    """The lines so far, and what they name: values of known rank, and some of the rank of `u`."""

    random: Random
    lines: list[str] = field(default_factory=list)
    known: list[tuple[str, Dims]] = field(default_factory=list)
    free: list[str] = field(default_factory=list)
    least_rank: int = 0
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"y{self.count}"

    def add(self, text: str, dims: Dims) -> None:
        """A value whose sizes are known by their names."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        self.known.append((name, dims))

    def loose(self, text: str) -> None:
        """A value of the shape of `u`."""
        name = self.name()
        self.lines.append(f"{name} = {text}")
        self.free.append(name)

    def size(self) -> str:
        """A size that nothing else has."""
        self.count += 1
        return f"n{self.count}"

    def pick(self, least: int = 0) -> tuple[str, Dims]:
        """A value of some rank or a higher one, mostly a new one."""
        found = [one for one in self.known if len(one[1]) >= least]
        back = min(int(self.random.expovariate(0.4)), len(found) - 1)
        return found[-1 - back]

    def pick_free(self) -> str:
        """A value of the shape of `u`."""
        return self.random.choice(self.free[-4:])


def draw(random: Random, steps: int = 12) -> GraphProgram:
    """A program of about so many lines, and runs of as many shapes."""
    w = _Writer(random)
    w.least_rank = random.choice([0, 1])
    width = random.choice(["3", "1", "f"])
    _inputs(w, width)
    for _ in range(random.randint(3, steps)):
        random.choice(_STEPS)(w)
    last = [name for name, _ in w.known[-3:]] + w.free[-3:]
    fetched = list(dict.fromkeys(name for name in last if name not in ("x", "w", "u")))
    w.lines.append(f"fetches = [{', '.join(fetched or ['u'])}]")
    if random.random() < 0.8:
        w.lines.append(
            "loss = tf.add_n([tf.reduce_sum(tf.sin(tf.cast(y, tf.float32))) for y in fetches])"
        )
        w.lines.append("slopes = [g for g in tf.gradients(loss, [x, w, u]) if g is not None]")
        w.lines.append("fetches += [tf.convert_to_tensor(g) for g in slopes]")
    w.lines.append("inits = tf.global_variables_initializer()")
    return GraphProgram("\n".join(w.lines), _runs(w, width), False, 1e-3)


def _inputs(w: _Writer, width: str) -> None:
    shape = w.random.choice(["[None, None, None]", "None", f"[None, None, {_static(width)}]"])
    w.lines += [
        f"x = tf.placeholder(tf.float32, {shape}, name='x')",
        f"w = tf.placeholder(tf.float32, [{_static(width)}, None], name='w')",
        "u = tf.placeholder(tf.float32, None, name='u')",
        "ids = tf.placeholder(tf.int32, [None], name='ids')",
        "lens = tf.placeholder(tf.int32, [None], name='lens')",
        "k = tf.placeholder(tf.int32, [], name='k')",
    ]
    w.known += [("x", ("b", "t", width)), ("w", (width, "g"))]
    w.free.append("u")
    if shape == "None":
        w.lines.append(f"x1 = tf.placeholder_with_default(x, [None, None, {_static(width)}])")
        w.known.append(("x1", ("b", "t", width)))


def _static(size: str) -> str:
    return size if size.isdigit() else "None"


def _runs(w: _Writer, width: str) -> tuple[Feeds, ...]:
    random, shapes = w.random, [s for s in _RANKS if len(s) >= w.least_rank]
    runs: list[Feeds] = []
    for number in range(random.randint(4, 9)):
        if number > 2 and random.random() < 0.3:
            # The shapes of an earlier run, with other numbers.
            first = random.choice(runs)
            runs.append(
                {name: value[::-1] if value.ndim else value for name, value in first.items()}
            )
            continue
        b, t, g = (random.choice(_SIZES) for _ in range(3))
        f = random.choice(_SIZES) if width == "f" else int(width)
        runs.append(
            {
                "x": _floats(random, (b, t, f)),
                "w": _floats(random, (f, g)),
                "u": _floats(random, random.choice(shapes)),
                "ids": np.array([random.randrange(b) for _ in range(b)], np.int32),
                "lens": np.array([random.randint(0, t) for _ in range(b)], np.int32),
                "k": np.array(random.randint(0, 2), np.int32),
            }
        )
    return tuple(runs)


def _floats(random: Random, shape: tuple[int, ...]) -> np.ndarray:
    count = int(np.prod(shape))
    numbers = np.array([random.randint(-8, 8) / 4 for _ in range(count)], np.float32)
    return numbers.reshape(shape)


# Values of the shape of `u`, whatever its rank is.


def _free_step(w: _Writer) -> None:
    a, b = w.pick_free(), w.pick_free()
    texts = [
        f"tf.tanh({a}) * {b}",
        f"{a} + 0.5 * {b}",
        f"{a} - tf.reduce_sum(tf.tanh({b}))",
        f"{a} - tf.reduce_max({b}, keepdims=True) * 0.0 + tf.cast(tf.rank({a}), tf.float32)",
        f"tf.reshape(tf.sin(tf.reshape({a}, [-1])), tf.shape({b}))",
        f"tf.cond(tf.rank({a}) > 1, lambda: {a} * 2.0, lambda: {b} - 1.0)",
        f"tf.cond(tf.equal(tf.size({a}), 2), lambda: {a}, lambda: tf.cos({b}))",
        f"tf.transpose(tf.sin(tf.transpose({a})))",
        f"tf.where({a} > 0.0, {a}, {b} * 0.5)",
        f"tf.squeeze({a}[..., None] * {b}[..., None], -1)",
        f"tf.reduce_sum({a}[..., None] * tf.range(3.0), -1)",
        f"tf.stack([{a}, tf.sin({b})])[1]",
        f"tf.reduce_mean(tf.stack([{a}, {b}], -1), -1)",
        f"tf.concat([{a}[None], {b}[None]], 0)[0]",
        f"tf.broadcast_to(tf.reduce_mean(tf.concat([tf.reshape({a}, [-1]), [1.0]], 0)),"
        f" tf.shape({b}))",
        f"tf.slice(tf.pad({a}, tf.ones([tf.rank({a}), 2], tf.int32)),"
        f" tf.ones([tf.rank({a})], tf.int32), tf.shape({a})) * {b}",
        f"tf.while_loop(lambda i, s: i < tf.size({a}) % 5,"
        f" lambda i, s: (i + 1, s * 0.5 + {b}), [0, {a}])[1]",
        f"tf.gather_nd(tf.stack([{a}, {b}]), [1])",
        f"tf.clip_by_value({a}, -1.0, tf.cast(tf.size({b}), tf.float32))",
        f"tf.py_func(lambda v: v * np.float32(2), [{a}], tf.float32) + {b}",
        f"tf.matrix_transpose(tf.tanh(-tf.matrix_transpose({a}[None, ..., None])))[0, ..., 0]",
        f"tf.expand_dims({a}, 0)[0] + tf.zeros_like({b})",
    ]
    ranked = [
        f"{a} - tf.reduce_max(tf.concat([{a}, {a} * 0.0 - 1.0], -1), -1, keepdims=True)",
        f"tf.cumsum({a}, 0, exclusive=True)",
        f"tf.gather({a}, tf.range(tf.shape({a})[0])[::-1])",
        f"tf.map_fn(lambda r: r * 2.0 + tf.reduce_sum(r), {a})",
        f"tf.nn.softmax({a})",
        f"tf.reverse({a}, [0])",
        f"tf.concat([{a}[1:], {b}[:1]], 0)",
        f"tf.nn.l2_normalize({a} + 0.1, -1)",
        f"tf.tile({a}, tf.ones([tf.rank({b})], tf.int32))",
        f"tf.scan(lambda s, r: s * 0.5 + r, {a}, tf.zeros(tf.shape({a})[1:]))",
    ]
    w.loose(w.random.choice(texts + ranked * (w.least_rank > 0)))


def _between(w: _Writer) -> None:
    """What is of `u` in what is not, and back."""
    (v, dims), a = w.pick(), w.pick_free()
    if w.random.random() < 0.5:
        w.add(f"{v} + tf.reduce_sum(tf.sin({a})) * 0.1", dims)
    else:
        w.loose(
            f"{a} * tf.cast(tf.shape({v})[{w.random.randrange(len(dims))}], tf.float32)"
            if dims
            else f"{a} + {v}"
        )


# Values of known rank.


def _unary(w: _Writer) -> None:
    v, dims = w.pick()
    texts = ["tf.tanh({})", "{} * 0.5 - 1.0", "tf.nn.relu({})", "-{}", "tf.square(tf.sin({}))"]
    texts += ["tf.identity({})", "{} + tf.cast(k, tf.float32)"]
    w.add(w.random.choice(texts).format(v), dims)


def _binary(w: _Writer) -> None:
    (v, dims), (other, others) = w.pick(), w.pick()
    n = min(len(dims), len(others))
    pairs = list(zip(dims[len(dims) - n :], others[len(others) - n :]))
    if any(p != q and "1" not in (p, q) for p, q in pairs):
        return
    joined = tuple(q if p == "1" else p for p, q in pairs)
    longer = dims if len(dims) > n else others
    sign = w.random.choice("+-*")
    w.add(f"tf.tanh({v}) {sign} tf.cos({other})", longer[: len(longer) - n] + joined)


def _reduced(w: _Writer) -> None:
    v, dims = w.pick(1)
    axis = w.random.randrange(len(dims))
    keep, name = w.random.random() < 0.5, w.random.choice(["sum", "mean", "max", "min", "prod"])
    if name in ("mean", "max", "min"):
        # (Of nothing there is no number, which the loss would carry to everything.)
        v = f"tf.concat([{v}, tf.reduce_sum({v}, {axis}, keepdims=True) * 0.0 + 0.25], {axis})"
    if name == "prod":
        # (Products of large numbers are not the same in another order.)
        v = f"(1.0 + 0.1 * tf.sin({v}))"
    axes = axis if w.random.random() < 0.5 else axis - len(dims)
    rest = (*dims[:axis], *(("1",) * keep), *dims[axis + 1 :])
    w.add(f"tf.reduce_{name}({v}, {axes}, keepdims={keep})", rest)


def _product(w: _Writer) -> None:
    found = [one for one in w.known if len(one[1]) >= 2]
    pairs = [(p, q) for p in found for q in found if len(q[1]) == 2 and p[1][-1] == q[1][0]]
    if not pairs:
        return
    (v, dims), (other, others) = w.random.choice(pairs)
    if len(dims) == 2:
        w.add(f"tf.matmul({v}, {other})", (dims[0], others[1]))
    else:
        w.add(f"tf.tensordot({v}, {other}, 1)", (*dims[:-1], others[1]))


def _gram(w: _Writer) -> None:
    v, dims = w.pick(2)
    w.add(f"tf.matmul(tf.tanh({v}), {v}, transpose_b=True)", (*dims[:-1], dims[-2]))


def _moved(w: _Writer) -> None:
    v, dims = w.pick(1)
    order = w.random.sample(range(len(dims)), len(dims))
    axis, n = w.random.randrange(len(dims)), w.size()
    other = (*dims[:axis], n, *dims[axis + 1 :])
    found = [
        (f"tf.transpose({v}, {order})", tuple(dims[i] for i in order)),
        (f"tf.reverse({v}, [{axis}])", dims),
        (f"tf.concat([{v}, {v} * 2.0], {axis})", other),
        (f"tf.concat([{v}, tf.zeros(tf.shape({v}))], {axis})", other),
        (f"tf.reshape({v}, [-1])", (n,)),
        (f"tf.expand_dims({v}, {axis})", (*dims[:axis], "1", *dims[axis:])),
        (f"tf.pad({v}, [[k, 1]] * {len(dims)})", tuple(w.size() for _ in dims)),
        (
            f"tf.tile({v}, tf.concat([[k], tf.ones([{len(dims) - 1}], tf.int32)], 0))",
            (w.size(), *dims[1:]),
        ),
        (f"{v}[{':, ' * axis}::2]", other),
        (f"{v}[{':, ' * axis}k:]", other),
        (f"{v}[{':, ' * axis}:-1]", other),
        (f"{v}[{':, ' * axis}-2:]", other),
        (f"tf.cumsum({v}, {axis}, reverse=True)", dims),
        (
            f"tf.boolean_mask({v}, tf.reduce_sum({v}, list(range(1, {len(dims)}))) > 0.0)",
            (w.size(), *dims[1:]),
        ),
        (f"tf.gather({v}, tf.range(tf.shape({v})[{axis}] // 2), axis={axis})", other),
    ]
    w.add(*w.random.choice(found))


def _merged(w: _Writer) -> None:
    """Two axes as one, and back."""
    v, dims = w.pick(2)
    n = w.size()
    shape = f"tf.concat([[tf.shape({v})[0] * tf.shape({v})[1]], tf.shape({v})[2:]], 0)"
    w.add(f"tf.reshape({v}, {shape})", (n, *dims[2:]))
    last = w.known[-1][0]
    w.add(f"tf.reshape(tf.tanh({last}), tf.shape({v}))", dims)


def _by_row(w: _Writer) -> None:
    """What indices of rows, and lengths, say."""
    found = [one for one in w.known if one[1][:1] == ("b",)]
    v, dims = w.random.choice(found)
    texts: list[tuple[str, Dims]] = [
        (f"tf.gather({v}, ids)", dims),
        (f"tf.unsorted_segment_sum({v}, ids, tf.shape({v})[0])", dims),
        (f"tf.unsorted_segment_sum({v}, ids % 2, 2)", ("2", *dims[1:])),
        (
            f"tf.dynamic_stitch(tf.dynamic_partition(tf.range(tf.shape(ids)[0]), ids % 2, 2),"
            f" tf.dynamic_partition({v}, ids % 2, 2))",
            dims,
        ),
        (f"tf.gather({v}, tf.unique(ids)[0])", (w.size(), *dims[1:])),
        (f"tf.tensor_scatter_update({v}, ids[:1, None], {v}[:1] * 0.5)", dims),
        ("tf.one_hot(ids, tf.shape(ids)[0])", ("b", "b")),
        ("tf.cast(tf.sequence_mask(lens), tf.float32)", ("b", w.size())),
        ("tf.cast(lens, tf.float32)", ("b",)),
    ]
    if dims[:2] == ("b", "t"):
        texts.append((f"tf.reverse_sequence({v}, lens, 1, 0)", dims))
        mask = f"tf.cast(tf.sequence_mask(lens, tf.shape({v})[1]), tf.float32)"
        texts.append(
            (
                f"{v} * tf.reshape({mask}, tf.concat([tf.shape({v})[:2],"
                f" tf.ones([{len(dims) - 2}], tf.int32)], 0))",
                dims,
            )
        )
        texts.append(
            (
                f"tf.boolean_mask({v}, tf.sequence_mask(lens, tf.shape({v})[1]))",
                (w.size(), *dims[2:]),
            )
        )
    w.add(*w.random.choice(texts))


def _looped(w: _Writer) -> None:
    v, dims = w.pick(1)
    texts: list[tuple[str, Dims]] = [
        (f"tf.map_fn(lambda r: tf.sin(r) + tf.reduce_sum(r), {v})", dims),
        (f"tf.scan(lambda s, r: s * 0.5 + r, {v}, tf.zeros(tf.shape({v})[1:]))", dims),
        (
            f"tf.while_loop(lambda i, s: i < tf.shape({v})[0], lambda i, s: (i + 1,"
            f" s * 0.5 + {v}[i]), [0, tf.zeros(tf.shape({v})[1:])],"
            f" shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)])[1] * 1.0",
            dims[1:],
        ),
        (f"tf.foldl(lambda s, r: s * 0.5 + tf.reduce_sum(r), {v}, 0.5)", ()),
        (f"tf.TensorArray(tf.float32, tf.shape({v})[0]).unstack({v}).stack() * 2.0", dims),
        (
            f"tf.while_loop(lambda i, s: i < k, lambda i, s: (i + 1, tf.concat([s, s], 0)),"
            f" [0, {v}], shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)])[1] * 1.0",
            (w.size(), *dims[1:]),
        ),
        (
            f"tf.cond(tf.shape({v})[0] > 2, lambda: {v}[:2], lambda: tf.sin({v}))",
            (w.size(), *dims[1:]),
        ),
        (
            f"tf.case([(tf.equal(k, 0), lambda: {v}), (tf.equal(k, 1), lambda: {v} * 2.0)],"
            f" default=lambda: -{v})",
            dims,
        ),
    ]
    w.add(*w.random.choice(texts))


def _layer(w: _Writer) -> None:
    v, dims = w.pick(1)
    n, last = w.size(), dims[-1]
    texts: list[tuple[str, Dims]] = [
        (f"tf.nn.softmax({v})", dims),
        (f"tf.nn.log_softmax({v})", dims),
        (f"tf.nn.top_k({v}, tf.minimum(2, tf.shape({v})[-1]))[0]", (*dims[:-1], n)),
        (f"tf.sort({v}, direction='DESCENDING')", dims),
        (f"tf.nn.l2_normalize({v} + 0.1, -1)", dims),
        (f"tf.cast(tf.argsort({v}, stable=True), tf.float32)", dims),
    ]
    if len(dims) == 3:
        texts += [
            (f"tf.nn.pool({v}, [2], 'MAX', 'SAME')", dims),
            (f"tf.nn.pool({v}, [2], 'AVG', 'SAME', strides=[2])", (dims[0], n, dims[2])),
            (f"tf.einsum('btf,bsf->bts', {v}, {v})", (dims[0], dims[1], dims[1])),
        ]
        if last.isdigit():
            shape = f"[3, {last}, 2]"
            texts.append(
                (f"tf.nn.conv1d({v}, tf.ones({shape}) * 0.1, 1, 'SAME')", (dims[0], dims[1], "2"))
            )
    w.add(*w.random.choice(texts))


_STEPS: list[Callable[[_Writer], None]] = [
    *(_free_step, _free_step, _free_step, _between, _unary, _unary, _binary, _binary, _reduced),
    *(_product, _gram, _moved, _moved, _moved, _merged, _by_row, _by_row, _looped, _looped, _layer),
]
