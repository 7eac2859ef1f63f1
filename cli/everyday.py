# SPDX-License-Identifier: Apache-2.0
"""Kernels of everyday programs, which `numbaflow cache warm` compiles with those of the library.

What a program's own kernels are depends on how its steps fuse, and not on its sizes: a classifier
with Adam has those of the next one.  So small programs are traced here, as a user's would be, and
what they would compile is what new programs find.  Imports the package and its compiler.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ..engine import settings
from ..jit.kernel.ir import Kernel
from ..jit.library.library_kernel import LibraryKernel
from . import aot
from . import everyday_losses as losses
from . import everyday_nets as nets
from . import everyday_pictures as pictures
from .everyday_agents import AGENTS
from .everyday_kinds import KINDS
from .everyday_pieces import PIECES
from .everyday_rows import ROWS
from .everyday_sparse import SPARSE
from .everyday_wholes import WHOLE

# Programs know how large their batches are, or they do not; then each sum over one may be long, and
# is made of parts.
_BATCH = 32


# Of a program: the fetches of its runs.
Whole = Callable[[Any], list[list[Any]]]


class Program(NamedTuple):
    """A network, its loss, the name of an optimizer, and how its step is made."""

    network: nets.Network
    loss: losses.Loss = losses.one_of_classes
    optimizer: str = "adam"
    step: Callable[[Any, Any, Any], Any] = losses.plain


_OPTIMIZERS = ("sgd", "momentum", "nesterov", "rmsprop", "rmsprop with momentum", "adagrad")
_LOSSES = (
    losses.weighted_classes,
    losses.short_classes,
    losses.shares_of_classes,
    losses.one_hot_classes,
    losses.yes_or_no,
    losses.squares,
    losses.values_of_actions,
)
# (Rows of up to 16 numbers have kernels for their length.)
_FEW = (2, 3, 4, 6)
_OF_CLASSES = (losses.one_of_classes, *_LOSSES[:4], losses.values_of_actions)
PROGRAMS = (
    Program(nets.dense_layers()),
    *(Program(nets.dense_layers(), optimizer=name) for name in _OPTIMIZERS),
    *(Program(nets.dense_layers(), loss) for loss in _LOSSES),
    *(Program(nets.dense_layers(outputs=100), loss) for loss in _LOSSES[:4]),
    *(Program(nets.dense_layers(outputs=n), loss) for n in _FEW for loss in _OF_CLASSES),
    *(Program(nets.dense_layers(name)) for name in ("tanh", "sigmoid", "elu")),
    *(
        Program(nets.dense_layers(), step=s)
        for s in (losses.clipped, losses.decayed, losses.decaying)
    ),
    Program(nets.dense_layers(dropout=True), losses.weighted_classes),
    Program(nets.dense_layers("tanh", outputs=1), losses.squares),
    Program(nets.dense_layers("tanh"), losses.policy, step=losses.clipped),
    Program(nets.convolutions(), losses.weighted_classes),
    Program(nets.convolutions(dropout=True), losses.shares_of_classes),
    Program(nets.convolutions(normed=True), losses.weighted_classes),
    Program(nets.convolutions(normed=True, dropout=True, bias=False)),
    Program(nets.residual, losses.one_of_classes, "momentum", losses.decayed),
    Program(nets.bottlenecks, losses.one_of_classes, "momentum"),
    *(Program(nets.recurrent(cell)) for cell in ("BasicLSTMCell", "GRUCell")),
    Program(nets.recurrent("LSTMCell"), step=losses.clipped),
    Program(nets.recurrent_words, step=losses.clipped),
    Program(nets.bag_of_words),
    Program(nets.convolved_words, losses.one_hot_classes),
    Program(nets.convolved_words, losses.one_of_classes, "rmsprop with momentum", losses.counted),
    Program(nets.columns, losses.one_yes_or_no, "adagrad"),
    Program(nets.columns, losses.one_yes_or_no, step=losses.decayed),
    Program(nets.attention),
    Program(nets.language, losses.next_words, step=losses.clipped),
    Program(partial(nets.language, dropout=True), losses.next_words),
    Program(nets.normed_layers),
    *(Program(nets.convolutions(normed=True), optimizer=o) for o in ("momentum", "rmsprop")),
    Program(nets.residual),
    Program(nets.separable()),
    Program(nets.separable(bounded=False), optimizer="momentum"),
    Program(nets.pictures(), losses.pixels),
    Program(nets.pictures(normed=True), losses.pixels),
    Program(nets.pictures(outputs=5), losses.classes_of_pixels),
    Program(nets.coded, losses.squares),
    Program(nets.gated, losses.samples),
    *(Program(nets.both_ways(cell), losses.tags) for cell in ("LSTMCell", "GRUCell")),
    *(Program(nets.letters(cell), losses.next_words) for cell in ("BasicLSTMCell", "GRUCell")),
    Program(nets.letters(dropout=True), losses.next_words, step=losses.clipped),
    Program(nets.attended, losses.tags),
)
# What fewer programs are like, whose batches have no size (with one, sums over them fuse with what
# is done with each, which is another kernel for every pair).
OTHERS = (
    Program(pictures.leaky),
    Program(pictures.excited, losses.weighted_classes, "rmsprop with momentum", losses.counted),
    Program(pictures.branched, losses.weighted_classes, "rmsprop with momentum"),
    Program(pictures.grown, losses.weighted_classes, "nesterov", losses.decayed),
    Program(pictures.redrawn, losses.squares),
    Program(pictures.sharpened, losses.squares),
)


def kernels() -> Iterator[Kernel | LibraryKernel]:
    """All that these programs' steps and predictions need, for the target of the settings, as they
    are found; some more than once."""
    for graph, runs in _built():
        for fetches in runs:
            yield from _kernels(graph, fetches)


class _Library:
    """This package, as a program sees it whose batches have a size."""

    def __init__(self, tf: Any, batch: int | None) -> None:
        self._tf, self._batch = tf, batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tf, name)

    def placeholder(self, dtype: Any, shape: list[int | None]) -> Any:
        """What is fed."""
        known = [self._batch if size is None else size for size in shape]
        return self._tf.placeholder(dtype, known)


def _built() -> Iterator[tuple[Any, list[list[Any]]]]:
    """The graphs, and the fetches of each run of them."""
    package = importlib.import_module(__name__.rpartition(".cli.")[0])
    for batch in (None, _BATCH):
        yield from _graphs(_Library(package, batch), PROGRAMS, (*WHOLE, *PIECES))
    yield from _graphs(_Library(package, None), OTHERS, (*AGENTS, *KINDS, *SPARSE, *ROWS))


def _graphs(
    tf: Any, programs: Iterable[Program], wholes: Iterable[Whole]
) -> Iterator[tuple[Any, list[list[Any]]]]:
    for program in programs:
        with tf.Graph().as_default() as graph:
            outputs = program.network(tf)
            loss, beside = program.loss(tf, outputs)
            with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
                step = program.step(tf, loss, losses.optimizers(tf)[program.optimizer])
            yield graph, [[step, loss, beside], [outputs]]
    for whole in wholes:
        with tf.Graph().as_default() as graph:
            yield graph, whole(tf)


def _kernels(graph: Any, fetches: list[Any]) -> Iterator[Kernel | LibraryKernel]:
    from ..engine.session.session import Session
    from ..jit.runtime import plan

    feeds = aot.feeds_of(graph, fetches, [])
    with settings.override(jit="always"), Session(graph=graph) as session:
        aot.make_variables(session, fetches, feeds)
        for kernel in plan.kernels_of(session.prepared_program(fetches, feeds)):
            yield kernel
            yield from getattr(kernel, "parts", ())
