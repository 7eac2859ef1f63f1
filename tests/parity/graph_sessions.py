# SPDX-License-Identifier: Apache-2.0
"""Programs at random of sessions over time: what they keep, share, save and lose.

Two graphs, each with sessions of its own that open and close; variables that are assigned, loaded,
trained, saved and restored, also into another session or an imported graph; queues, iterators and
accumulators; graphs that grow between runs; threads.  A program is text that leaves
`results`, of which an error is its class, and writes into the folder that `folder` names.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import numbaflow as tf
from numbaflow.engine import settings

_HEAD = """
import os, threading
results = []
def note(function):
    try:
        value = function()
    except (tf.errors.OpError, RuntimeError, ValueError) as error:
        value = type(error).__name__
    for one in tf.nest.flatten(value):
        if one is not None: results.append(np.asarray(one))
def together(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
""".strip()


@dataclass
class _Graph:
    """One of the graphs: the name of its namespace in the program, and what it has."""

    name: str
    fetches: list[str]
    sessions: list[str] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)


@dataclass
class _Writer:
    random: Random
    lines: list[str] = field(default_factory=list)
    graphs: list[_Graph] = field(default_factory=list)
    # How many elements the queue of a session has.
    queued: dict[str, int] = field(default_factory=dict)
    count: int = 0

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def note(self, text: str) -> None:
        self.lines.append(f"note(lambda: {text})")

    def graph(self) -> _Graph:
        return self.random.choice(self.graphs)

    def feed(self, graph: _Graph) -> str:
        rows = self.random.choice([0, 1, 1, 2, 4, 4, 7])
        numbers = [[self.random.randint(-8, 8) / 4 for _ in range(3)] for _ in range(rows)]
        return f"{{{graph.name}.p: np.array({numbers}, np.float32).reshape(-1, 3)}}"


def results(source: str, mode: str) -> list[np.ndarray]:
    """What a program leaves, compiled ("always") or by reference kernels ("never")."""
    with (
        tempfile.TemporaryDirectory() as folder,
        settings.override(jit=mode),
        tf.Graph().as_default(),
    ):
        names: dict[str, Any] = {"tf": tf, "np": np, "folder": folder}
        exec(compile(source, "<drawn program>", "exec"), names)
    found: list[np.ndarray] = names["results"]
    return found


def draw(random: Random, steps: int = 24) -> str:
    """The text of a program of about so many actions."""
    w = _Writer(random)
    w.lines.append(_HEAD)
    for number in range(2):
        _build(w, f"g{number}")
    for graph in w.graphs:
        _opened(w, graph)
    for _ in range(random.randint(6, steps)):
        random.choice(_ACTIONS)(w)
    for graph in w.graphs:
        for session in graph.sessions:
            w.note(f"{session}.run([{graph.name}.a, {graph.name}.n, {graph.name}.step])")
            w.lines.append(f"{session}.close()")
    return "\n".join(w.lines)


def _build(w: _Writer, name: str) -> None:
    resource, rule = w.random.random() < 0.6, w.random.choice(_RULES)
    v = f"use_resource={resource}"
    lines = f"""
class {name}: graph = tf.Graph()
with {name}.graph.as_default():
    tf.set_random_seed({w.random.randint(0, 99)})
    {name}.p = tf.placeholder(tf.float32, [None, 3], name="p")
    {name}.a = tf.Variable([0.5, -1.0, {w.random.randint(-4, 4)}.0], name="a", {v})
    {name}.b = tf.Variable(tf.ones([3, 2]) * 0.25, name="b", {v})
    {name}.n = tf.Variable(0, name="n", trainable=False, {v})
    {name}.step = tf.train.get_or_create_global_step()
    {name}.hidden = tf.tanh({name}.p * {name}.a, name="hidden")
    {name}.out = tf.matmul({name}.hidden, {name}.b, name="out")
    {name}.loss = tf.reduce_sum(tf.square({name}.out - 1.0), name="loss")
    {name}.train = tf.train.{rule}.minimize({name}.loss, {name}.step)
    {name}.add = tf.assign_add({name}.n, 1, use_locking=True)
    {name}.put = tf.assign({name}.a, tf.reduce_sum({name}.p, 0), name="put")
    {name}.scatter = tf.scatter_add({name}.b, [0, 2, 0], tf.ones([3, 2]))
    with tf.control_dependencies([{name}.add]):
        {name}.after = {name}.loss + tf.cast({name}.step, tf.float32)
    {name}.loop = tf.while_loop(lambda i, s: i < {name}.n % 5,
        lambda i, s: (i + 1, s * 0.5 + {name}.a), [0, {name}.a])[1]
    {name}.branch = tf.cond({name}.n > 2, lambda: {name}.a * 2.0, lambda: {name}.a - 1.0)
    {name}.changes = tf.cond({name}.n % 2 > 0,
        lambda: tf.assign_add({name}.a, [1.0, 0.0, -1.0]) + 0.0, lambda: {name}.a + 0.0)
    {name}.q = tf.FIFOQueue(20, tf.float32, [3])
    {name}.enqueue, {name}.dequeue = {name}.q.enqueue({name}.a * 2.0), {name}.q.dequeue()
    {name}.qsize = {name}.q.size()
    {name}.data = tf.data.Dataset.range(4).map(lambda i: i * 2).batch(3)
    {name}.it = tf.data.make_initializable_iterator({name}.data)
    {name}.next = {name}.it.get_next()
    {name}.mean, {name}.mean_up = tf.metrics.mean({name}.p)
    {name}.drawn = tf.random_uniform([2], seed=5)
    {name}.acc = tf.ConditionalAccumulator(tf.float32, [3])
    {name}.acc_add = {name}.acc.apply_grad({name}.a * 1.0, tf.cast({name}.step, tf.int64))
    {name}.acc_n = {name}.acc.num_accumulated()
    {name}.handle = tf.get_session_handle({name}.out)
    {name}.init = tf.group(tf.global_variables_initializer(), tf.local_variables_initializer())
    {name}.saver = tf.train.Saver(max_to_keep=None)
""".strip()
    w.lines.append(lines)
    names = (
        "hidden out loss add put after loop branch changes scatter mean mean_up drawn a b n step"
    )
    w.graphs.append(_Graph(name, [f"{name}.{one}" for one in names.split()]))


_RULES = (
    *("GradientDescentOptimizer(0.05)", "MomentumOptimizer(0.05, 0.5)", "AdamOptimizer(0.05)"),
    *("AdagradOptimizer(0.1)", "RMSPropOptimizer(0.05)"),
)


def _opened(w: _Writer, graph: _Graph) -> None:
    session = w.fresh("s")
    graph.sessions.append(session)
    w.queued[session] = 0
    w.lines.append(f"{session} = tf.Session(graph={graph.name}.graph)")
    if w.random.random() < 0.1:
        w.note(f"{session}.run({graph.name}.loop)")
    w.lines.append(f"{session}.run({graph.name}.init)")


def _pair(w: _Writer) -> tuple[_Graph, str]:
    graph = w.graph()
    return graph, w.random.choice(graph.sessions)


# Those whose result would depend on the order in which one run does its work.
_WRITERS = ("add", "put", "after", "changes", "scatter", "mean_up")


def _run(w: _Writer) -> None:
    graph, session = _pair(w)
    taken = w.random.sample(graph.fetches, w.random.randint(1, 5))
    if any(one.split(".")[1] in _WRITERS for one in taken):
        taken = [w.random.choice([one for one in taken if one.split(".")[1] in _WRITERS])]
    w.note(f"{session}.run([{', '.join(taken)}], {w.feed(graph)})")


def _train(w: _Writer) -> None:
    graph, session = _pair(w)
    fed = w.feed(graph)
    for _ in range(w.random.randint(1, 3)):
        w.note(f"{session}.run({graph.name}.train, {fed})")
    w.note(f"{session}.run([{graph.name}.a, {graph.name}.b, {graph.name}.step])")


def _open(w: _Writer) -> None:
    _opened(w, w.graph())


def _close(w: _Writer) -> None:
    graph = w.graph()
    if len(graph.sessions) > 1:
        session = graph.sessions.pop(w.random.randrange(len(graph.sessions)))
        w.lines.append(f"{session}.close()")
        w.note(f"{session}.run({graph.name}.a)")


def _load(w: _Writer) -> None:
    graph, session = _pair(w)
    numbers = [w.random.randint(-8, 8) / 4 for _ in range(3)]
    w.note(f"{graph.name}.a.load(np.array({numbers}, np.float32), {session})")


def _save(w: _Writer) -> None:
    graph, session = _pair(w)
    path = w.fresh("c")
    w.note(f"[{graph.name}.saver.save({session}, os.path.join(folder, '{path}')), None][1]")
    graph.saved.append(path)


def _restore(w: _Writer) -> None:
    graph, session = _pair(w)
    path = w.random.choice(graph.saved or ["none"])
    w.note(f"{graph.name}.saver.restore({session}, os.path.join(folder, '{path}'))")
    w.note(f"{session}.run([{graph.name}.a, {graph.name}.b, {graph.name}.n])")


def _import(w: _Writer) -> None:
    """A saved graph in a new one, with a session of its own."""
    graph = w.graph()
    if not graph.saved:
        return
    path, session = w.random.choice(graph.saved), w.fresh("i")
    w.lines += [
        "with tf.Graph().as_default():",
        f"    {session} = tf.Session()",
        f"    saver = tf.train.import_meta_graph(os.path.join(folder, '{path}.meta'))",
        f"    saver.restore({session}, os.path.join(folder, '{path}'))",
        f"    note(lambda: {session}.run(['out:0', 'loss:0'], {{'p:0': [[1.0, -1.0, 0.5]]}}))",
        f"    {session}.close()",
    ]


def _freeze(w: _Writer) -> None:
    """Its variables as constants in a new graph."""
    graph, session = _pair(w)
    name = w.fresh("f")
    w.lines += [
        f"{name} = tf.graph_util.convert_variables_to_constants({session},",
        f"    {graph.name}.graph.as_graph_def(), ['loss', 'out'])",
        "with tf.Graph().as_default():",
        f"    {name} = tf.import_graph_def({name}, return_elements=['loss:0', 'out:0', 'p:0'])",
        f"    with tf.Session() as session: note(lambda: session.run({name}[:2],",
        f"        {{{name}[2]: [[0.5, 2.0, 1.0]]}}))",
    ]


def _grow(w: _Writer) -> None:
    graph = w.graph()
    name, one = w.fresh("x"), w.random.choice(["loss", "out", "hidden", "loop", "branch"])
    text = w.random.choice(
        [
            f"tf.sin({graph.name}.{one}) * 2.0",
            f"tf.gradients({graph.name}.{one}, {graph.name}.a)[0] * 1.0",
            f"tf.identity({graph.name}.{one})",
            f"tf.concat([tf.reshape({graph.name}.{one}, [-1]), {graph.name}.a], 0)",
        ]
    )
    w.lines.append(f"with {graph.name}.graph.as_default(): {graph.name}.{name} = {text}")
    graph.fetches.append(f"{graph.name}.{name}")


def _call(w: _Writer) -> None:
    graph, session = _pair(w)
    name, fetch = w.fresh("f"), w.random.choice(["out", "loss", "after", "changes"])
    w.lines.append(f"{name} = {session}.make_callable({graph.name}.{fetch}, [{graph.name}.p])")
    for rows in w.random.choices([1, 2, 2, 5], k=w.random.randint(1, 4)):
        w.note(f"{name}(np.full([{rows}, 3], 0.5, np.float32))")


def _queue(w: _Writer) -> None:
    graph, session = _pair(w)
    if w.queued[session] and w.random.random() < 0.5:
        w.queued[session] -= 1
        w.note(f"{session}.run({graph.name}.dequeue)")
    elif w.queued[session] < 20:
        w.queued[session] += 1
        w.note(f"{session}.run({graph.name}.enqueue)")
    w.note(f"{session}.run({graph.name}.qsize)")


def _iterate(w: _Writer) -> None:
    graph, session = _pair(w)
    if w.random.random() < 0.4:
        w.note(f"{session}.run({graph.name}.it.initializer)")
    for _ in range(w.random.randint(1, 3)):
        w.note(f"{session}.run({graph.name}.next)")


def _accumulate(w: _Writer) -> None:
    graph, session = _pair(w)
    w.note(f"{session}.run({graph.name}.acc_add)")
    w.note(f"{session}.run({graph.name}.acc_n)")


def _instead(w: _Writer) -> None:
    """What the program computes is fed."""
    graph, session = _pair(w)
    rows = w.random.choice([1, 3])
    w.note(
        f"{session}.run([{graph.name}.out, {graph.name}.loss],"
        f" {{{graph.name}.hidden: np.full([{rows}, 3], 0.25, np.float32)}})"
    )


def _threads(w: _Writer) -> None:
    """Many threads count in one session, or each trains in a session of its own."""
    graph = w.graph()
    if w.random.random() < 0.5:
        session = w.random.choice(graph.sessions)
        one = f"lambda: [{session}.run({graph.name}.add) for _ in range(5)]"
        w.lines.append(f"together({one}, {one}, {one})")
        w.note(f"{session}.run({graph.name}.n)")
        return
    fed = w.feed(graph)
    works = [f"lambda: {one}.run({graph.name}.train, {fed})" for one in graph.sessions]
    w.lines.append(f"together({', '.join(works)})")
    for one in graph.sessions:
        w.note(f"{one}.run([{graph.name}.a, {graph.name}.step])")


def _again(w: _Writer) -> None:
    graph, session = _pair(w)
    w.note(f"{session}.run({graph.name}.init)")


def _wrong(w: _Writer) -> None:
    """A run that fails changes nothing for the next."""
    graph, session = _pair(w)
    text = w.random.choice(
        [
            f"{session}.run({graph.name}.out)",
            f"{session}.run({graph.name}.out, {{{graph.name}.p: np.ones([2, 4], np.float32)}})",
            f"{session}.run({graph.name}.loss, {{{graph.name}.hidden: np.ones([2, 2])}})",
            f"{session}.run({w.random.choice(w.graphs).name}.a)",
            f"{session}.run('none:0')",
        ]
    )
    w.note(text)


_ACTIONS: list[Callable[[_Writer], None]] = [
    *(_run, _run, _run, _run, _train, _train, _open, _close, _load, _save, _restore, _restore),
    *(_import, _freeze, _grow, _grow, _call, _queue, _iterate, _accumulate, _instead, _threads),
    *(_again, _wrong),
]
