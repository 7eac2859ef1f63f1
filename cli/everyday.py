# SPDX-License-Identifier: Apache-2.0
"""Kernels of everyday programs, which `numbaflow cache warm` compiles with those of the library.

What a program's own kernels are depends on how its steps fuse, and not on its sizes: a classifier
with Adam has those of the next one.  So small programs are traced here, as a user's would be, and
what they would compile is what new programs find.  Imports the package and its compiler.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ..engine import settings
from ..jit.kernel.ir import Kernel
from ..jit.library.library_kernel import LibraryKernel
from . import aot
from . import everyday_nets as nets


class Program(NamedTuple):
    """A network, its loss, the name of an optimizer, and how its step is made."""

    network: nets.Network
    loss: nets.Loss = nets.one_of_classes
    optimizer: str = "adam"
    step: Callable[[Any, Any, Any], Any] = nets.plain


_OPTIMIZERS = ("sgd", "momentum", "nesterov", "rmsprop", "rmsprop with momentum", "adagrad")
_LOSSES = (
    nets.weighted_classes,
    nets.short_classes,
    nets.shares_of_classes,
    nets.one_hot_classes,
    nets.yes_or_no,
    nets.squares,
    nets.values_of_actions,
)
PROGRAMS = (
    Program(nets.dense_layers()),
    *(Program(nets.dense_layers(), optimizer=name) for name in _OPTIMIZERS),
    *(Program(nets.dense_layers(), loss) for loss in _LOSSES),
    *(Program(nets.dense_layers(outputs=100), loss) for loss in _LOSSES[:4]),
    *(Program(nets.dense_layers(name)) for name in ("tanh", "sigmoid", "elu")),
    *(Program(nets.dense_layers(), step=s) for s in (nets.clipped, nets.decayed, nets.decaying)),
    Program(nets.dense_layers(dropout=True), nets.weighted_classes),
    Program(nets.dense_layers("tanh", outputs=1), nets.squares),
    Program(nets.dense_layers("tanh"), nets.policy, step=nets.clipped),
    Program(nets.convolutions(), nets.weighted_classes),
    Program(nets.convolutions(dropout=True), nets.shares_of_classes),
    Program(nets.convolutions(normed=True), nets.weighted_classes),
    Program(nets.convolutions(normed=True, dropout=True, bias=False)),
    Program(nets.residual, nets.one_of_classes, "momentum", nets.decayed),
    Program(nets.bottlenecks, nets.one_of_classes, "momentum"),
    *(Program(nets.recurrent(cell)) for cell in ("BasicLSTMCell", "GRUCell")),
    Program(nets.recurrent("LSTMCell"), step=nets.clipped),
    Program(nets.recurrent_words, step=nets.clipped),
    Program(nets.bag_of_words),
    Program(nets.convolved_words, nets.one_hot_classes),
    Program(nets.convolved_words, nets.one_of_classes, "rmsprop with momentum", nets.counted),
    Program(nets.columns, nets.one_yes_or_no, "adagrad"),
    Program(nets.columns, nets.one_yes_or_no, step=nets.decayed),
    Program(nets.attention),
    Program(nets.language, nets.next_words, step=nets.clipped),
    Program(partial(nets.language, dropout=True), nets.next_words),
)


def kernels() -> list[Kernel | LibraryKernel]:
    """All that these programs' steps and predictions need, for the target of the settings, each
    once."""
    found: dict[Kernel | LibraryKernel, None] = {}
    for graph, runs in _built():
        for fetches in runs:
            found |= dict.fromkeys(_kernels(graph, fetches))
    return list(found)


def _built() -> Iterator[tuple[Any, list[list[Any]]]]:
    """The graphs, and the fetches of each run of them."""
    tf: Any = importlib.import_module(__name__.rpartition(".cli.")[0])
    for program in PROGRAMS:
        with tf.Graph().as_default() as graph:
            outputs = program.network(tf)
            loss, beside = program.loss(tf, outputs)
            with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
                step = program.step(tf, loss, nets.optimizers(tf)[program.optimizer])
            yield graph, [[step, loss, beside], [outputs]]
    for run in (nets.acting, nets.beginning):
        with tf.Graph().as_default() as graph:
            yield graph, [run(tf)]


def _kernels(graph: Any, fetches: list[Any]) -> Iterator[Kernel | LibraryKernel]:
    from ..engine.session.session import Session
    from ..jit.runtime import plan

    feeds = aot.feeds_of(graph, fetches, [])
    with settings.override(jit="always"), Session(graph=graph) as session:
        aot.make_variables(session, fetches, feeds)
        for kernel in plan.kernels_of(session.prepared_program(fetches, feeds)):
            yield kernel
            yield from getattr(kernel, "parts", ())
