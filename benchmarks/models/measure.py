# SPDX-License-Identifier: Apache-2.0
"""How a model is measured: all peers hold it at once and take short turns, so that noise hits all.

A row is a dictionary that goes into the JSON as it is: what was measured, by peer.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from ..peers import Peer
from ..processes import Worker, say

Measured = dict[str, Any]


PEERS = {
    "numbaflow": Peer("numbaflow", "", ""),
    "tensorflow": Peer("TensorFlow 2", "NUMBAFLOW_TF_PYTHON", "tf"),
    "tensorflow_1_15": Peer("TensorFlow 1.15", "NUMBAFLOW_TF115_PYTHON", "tf115"),
    "jax": Peer("JAX", "NUMBAFLOW_JAX_PYTHON", "jax"),
}


@dataclass(frozen=True)
class Settings:
    """How a run measures: who, with how many threads, in how many turns of how long.

    `cache` is a folder of kernels that models share; without one each begins with none.
    """

    pythons: dict[str, str]
    threads: int
    rounds: int
    seconds: float
    cache: str | None = None
    sizes: dict[str, Any] | None = None


# What is kept of a process that finds what another has compiled.
_FRESH = ("first", "five", "build", "compiled", "peak", "baseline", "imported", "error")


def measure(settings: Settings, model: str) -> Measured:
    """A model's row: steps in turns, then first steps and memory in processes of their own.

    Without a shared cache kernels are compiled into an empty folder, so the first step of the
    process that takes turns is a cold one; those that come later find what it has compiled.
    """
    with tempfile.TemporaryDirectory() as empty:
        scratch = settings.cache or empty
        row = {"name": model, **_turns(settings, model, scratch)}
        for peer in list(row["values"]):
            with closing(_worker(settings, peer, scratch)) as worker:
                built = worker.ask("build", model=model, sizes=settings.sizes)
                fresh = {**built, **worker.ask("peak", steps=5)}
            for key in _FRESH:
                if key in fresh:
                    row.setdefault(f"fresh_{key}", {})[peer] = fresh[key]
    say(f"{model}: {_ratio_in_words(row)}")
    return row


def _worker(settings: Settings, peer: str, scratch: str) -> Worker:
    python = settings.pythons[peer]
    return Worker(peer, python, settings.threads, scratch, "benchmarks.models.worker")


def _turns(settings: Settings, model: str, scratch: str) -> Measured:
    row: Measured = {"values": {}, "processor": {}, "errors": {}}
    row |= {"first": {}, "five": {}, "compiled": {}}
    with ExitStack() as alive:
        workers = {}
        for peer in settings.pythons:
            worker = alive.enter_context(closing(_worker(settings, peer, scratch)))
            built = worker.ask("build", model=model, sizes=settings.sizes)
            if "absent" in built:
                continue
            if "error" in built:
                row["errors"][peer] = built["error"]
                continue
            workers[peer] = worker
            for key in ("first", "five", "compiled"):
                row[key][peer] = built[key]
            row["values"][peer], row["processor"][peer] = [], []
        for number in range(settings.rounds):
            for peer in list(workers) if number % 2 == 0 else reversed(list(workers)):
                answer = workers[peer].ask("block", seconds=settings.seconds)
                if "error" in answer:
                    row["errors"][peer] = answer["error"]
                    continue
                row["values"][peer].append(answer["mean"])
                row["processor"][peer].append(answer["processor"])
    for peer in row["errors"]:
        row["values"].pop(peer, None)
        row["processor"].pop(peer, None)
    return row


def step(row: Measured, peer: str) -> float | None:
    """A peer's time of a step: the best of its turns, each an average over some steps."""
    values = row["values"].get(peer)
    return min(values) if values else None


def ratio(row: Measured, peer: str, of: str = "values") -> float | None:
    """How many times as fast as a peer we are, by the clock or by `processor` time."""
    mine, theirs = (row[of].get(p) for p in ("numbaflow", peer))
    return min(theirs) / min(mine) if mine and theirs else None


def _ratio_in_words(row: Measured) -> str:
    parts = []
    for peer in row["values"]:
        by_clock, by_processor = ratio(row, peer), ratio(row, peer, "processor")
        if peer != "numbaflow" and by_clock and by_processor:
            title = PEERS[peer].title
            parts.append(f"{by_clock:.2f} × as fast as {title} ({by_processor:.2f} by processors)")
    parts += [f"{PEERS[p].title} fails: {why}" for p, why in row["errors"].items()]
    return "; ".join(parts) or "nobody to compare with"
