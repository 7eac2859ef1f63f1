# SPDX-License-Identifier: Apache-2.0
"""Ways to run a drawn program: parts of its fetches, tensors of its middle fed, a graph that grows.

What is done follows from a seed alone, so that two modes do the same.
"""

from __future__ import annotations

import contextlib
import threading
from random import Random
from typing import Any

import numpy as np

import numbaflow as tf
from numbaflow.engine import settings

from .graph_programs import Feeds, GraphProgram
from .graph_running import ERRORS, Outcome, here

_RUNS = 7
# What lasts from run to run, by the texts of programs.
_LASTING = (
    "tf.Variable",
    "variable_scope",
    "tf.layers",
    "tf.random",
    "_normal(",
    "Queue(",
    "iterator",
)


def in_parts(program: GraphProgram, mode: str, seed: int) -> Outcome:
    """Runs some fetches at a time, with some tensors fed that are computed otherwise."""
    outcome, random = Outcome(), Random(seed)
    with tf.Graph().as_default(), settings.override(jit=mode):
        try:
            names = program.build(tf)
            fetches, middle = [*names["fetches"], names["flag"]], _middle(names)
            with tf.Session() as session, tf.Session() as probe:
                session.run(names["inits"])
                probe.run(names["inits"])
                for _ in range(_RUNS):
                    feeds = random.choice(program.runs)
                    fed = {names[name]: value for name, value in feeds.items()}
                    if random.random() < 0.25:
                        fetches.append(_grown(names, random.choice(fetches)))
                    taken = random.choices(fetches, k=random.randint(1, len(fetches) + 1))
                    if middle and random.random() < 0.6:
                        fed |= _instead(probe, random.choice(middle), fed)
                    # (What an operation does happens, whoever reads its results.)
                    acts = [random.random() < 0.15 and x not in fed for x in taken]
                    taken = [x.op if is_op else x for x, is_op in zip(taken, acts)]
                    found = [x for x in session.run(taken, fed) if x is not None]
                    outcome.runs.append([np.asarray(x) for x in found])
        except ERRORS as error:
            outcome.error, outcome.message = type(error).__name__, str(error)
    return outcome


def _middle(names: dict[str, Any]) -> list[Any]:
    """What the program computes outside of functions and can be fed."""
    found = [x for name, x in names.items() if name[0] == "y" and isinstance(x, tf.Tensor)]
    return [x for x in found if tf.get_default_graph().is_feedable(x) and "while" not in x.name]


def _instead(probe: Any, tensor: Any, feeds: Feeds) -> dict[Any, Any]:
    """Something of the same shape for a tensor."""
    with settings.override(jit="never"):
        value = np.asarray(probe.run(tensor, feeds))
    return {
        tensor: ~value
        if value.dtype == bool
        else value // 2
        if value.dtype.kind in "iu"
        else value / 2
    }


def _grown(names: dict[str, Any], fetch: Any) -> Any:
    """Nodes that were not there before: of a fetch, or of its gradients."""
    if not fetch.dtype.is_floating:
        return tf.identity(fetch)
    x = fetch * tf.sin(fetch)
    found = tf.gradients(x, fetch)[0]
    return tf.cast(tf.reduce_sum(found), tf.float64)


def at_once(program: GraphProgram, threads: int = 3) -> list[Outcome]:
    """What sessions of one graph give that run at once, each with variables of its own.

    Where a run leaves nothing for the next one, threads share a session.
    """
    outcomes = [Outcome() for _ in range(threads)]
    with tf.Graph().as_default() as graph:
        try:
            names = program.build(tf)
        except ERRORS:
            return []
    is_shared = not any(text in program.source for text in _LASTING)
    with settings.override(jit="always"), tf.Session(graph=graph) as shared:
        if is_shared:
            shared.run(names["inits"])

        def work(outcome: Outcome) -> None:
            try:
                with contextlib.ExitStack() as stack:
                    session = shared
                    if not is_shared:
                        session = stack.enter_context(tf.Session(graph=graph))
                        session.run(names["inits"])
                    for feeds in program.runs:
                        fed = {names[name]: value for name, value in feeds.items()}
                        given = session.run(names["fetches"], fed)
                        outcome.runs.append([np.asarray(x) for x in given])
            except ERRORS as error:
                outcome.error, outcome.message = type(error).__name__, str(error)

        workers = [threading.Thread(target=work, args=(outcome,)) for outcome in outcomes]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    return outcomes


def bit_by_bit(program: GraphProgram, mode: str, seed: int) -> Outcome:
    """Each run by partial runs: some placeholders at a time, and what follows from those."""
    outcome, random = Outcome(), Random(seed)
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        try:
            names = program.build(tf)
            session.run(names["inits"])
            needs = {fetch: _needs(fetch.op) for fetch in names["fetches"]}
            for feeds in program.runs:
                fed = {names[name]: value for name, value in feeds.items()}
                handle = session.partial_run_setup(list(needs), list(fed))
                outcome.runs.append(_by_and_by(session, handle, needs, fed, random))
        except ERRORS as error:
            outcome.error, outcome.message = type(error).__name__, str(error)
    return outcome


def _by_and_by(
    session: Any, handle: Any, needs: dict[Any, set[Any]], fed: dict[Any, Any], random: Random
) -> list[np.ndarray]:
    found, given = {}, set()
    left = random.sample(list(fed), len(fed))
    while len(found) < len(needs) or left:
        some = [left.pop() for _ in range(min(random.randint(0, 2), len(left)))]
        given |= {x.op for x in some}
        ready = [x for x in needs if x not in found and needs[x] <= given]
        taken = [x for x in ready if not left or random.random() < 0.6]
        if some or taken:
            values = session.partial_run(handle, taken, {x: fed[x] for x in some})
            found |= dict(zip(taken, values, strict=True))
    return [np.asarray(found[x]) for x in needs]


def _needs(operation: Any) -> set[Any]:
    """The placeholders that an operation waits for."""
    seen, open_ones = {operation}, [operation]
    while open_ones:
        one = open_ones.pop()
        new = {*(x.op for x in one.inputs), *one.control_inputs} - seen
        seen |= new
        open_ones += new
    return {one for one in seen if one.type == "Placeholder"}


def not_the_same_bits(want: Outcome, got: Outcome) -> str:
    """Where two outcomes of the same plan differ in a bit."""
    if want.error != got.error:
        return f"{want.error} {want.message}\n!=\n{got.error} {got.message}"
    for number, (expected, actual) in enumerate(zip(want.runs, got.runs, strict=True)):
        for k, (x, y) in enumerate(zip(expected, actual, strict=True)):
            if (x.dtype, x.shape, x.tobytes()) != (y.dtype, y.shape, y.tobytes()):
                return f"run {number}, fetch {k}:\n{x}\n!=\n{y}"
    return ""


def differs_at_once(program: GraphProgram) -> str:
    """What sessions at once give otherwise than one alone."""
    want = here(program, "always")
    return next(filter(None, (not_the_same_bits(want, got) for got in at_once(program))), "")
