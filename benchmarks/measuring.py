# SPDX-License-Identifier: Apache-2.0
"""How each kind of row is measured: the peers in turns, in rounds, so that noise hits all alike.

A measured row is a dictionary that goes into the JSON as it is: values by peer, one a round, and
what else there is to tell (first calls, kernels compiled, errors).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .costs import Tally
from .processes import Worker, import_seconds, once, say
from .rows import ROWS, Row
from .sides import SAME_PACKAGE
from .workloads import WORKLOADS, costs

Measured = dict[str, Any]
# Below so many bytes a copy measures its call; the machine's smallest footprint stands for it.
_COPIED = 1 << 18
# First calls that take most of a minute.
SLOW = {("lstm_sgd", "torch_compile")}


@dataclass
class Run:
    """One run of the command: who takes part, how long, and the workers that are alive."""

    pythons: dict[str, str]
    threads: int
    rounds: int
    seconds: float
    scratch: str
    slow: bool = True
    workers: dict[str, Worker] = field(default_factory=dict)

    def worker(self, peer: str) -> Worker:
        """The peer's worker, started at its first use."""
        if peer not in self.workers:
            python = self.pythons[peer]
            self.workers[peer] = Worker(peer, python, self.threads, self.scratch)
        return self.workers[peer]

    def close(self) -> None:
        """Ends the workers."""
        for worker in self.workers.values():
            worker.close()
        self.workers.clear()

    def taking_part(self, row: Row) -> list[str]:
        """The peers of a row."""
        return [peer for peer in self.pythons if not row.peers or peer in row.peers]


def measure(run: Run, name: str) -> Measured:
    """The row of that name."""
    row = ROWS[name]
    measured = {"name": name, "unit": row.unit, **_KINDS[row.kind](run, name, row)}
    say(f"{name} done")
    return {key: value for key, value in measured.items() if value not in ({}, None)}


def _in_turns(run: Run, peers: list[str], rounds: int) -> Iterator[str]:
    """Peers round by round, every other round backwards."""
    for number in range(rounds):
        yield from peers if number % 2 == 0 else reversed(peers)


def _gather(answers: dict[str, Measured], key: str) -> dict[str, Any]:
    return {peer: answer[key] for peer, answer in answers.items() if key in answer}


def _step(run: Run, name: str, row: Row) -> Measured:
    built: dict[str, Measured] = {}
    for peer in run.taking_part(row):
        if run.slow or (name, peer) not in SLOW:
            built[peer] = run.worker(peer).ask("build", workload=name)
    good = [p for p, answer in built.items() if "first" in answer]
    values: dict[str, list[float]] = {peer: [] for peer in good}
    least: dict[str, list[float]] = {peer: [] for peer in good}
    cost, copies = _cost(run, name), []
    for peer in _in_turns(run, good, run.rounds):
        if "error" in built[peer]:
            continue
        if peer == "numbaflow" and cost["footprint"] >= _COPIED:
            copies.append(run.worker(peer).ask("copy", footprint=cost["footprint"])["rate"])
        answer = run.worker(peer).ask("measure", seconds=run.seconds / run.rounds)
        if "error" in answer:
            built[peer] = answer
        else:
            values[peer].append(answer["median"])
            least[peer].append(answer["least"])
    whole = {peer for peer in good if "error" not in built[peer]}
    return {
        "values": {peer: values[peer] for peer in good if peer in whole},
        "least": {peer: least[peer] for peer in good if peer in whole},
        "first": _gather(built, "first"),
        "compiled": {p: built[p]["compiled"] for p in ("numbaflow",) if "compiled" in built[p]},
        "errors": _gather(built, "error"),
        "cost": cost,
        "copies": copies or None,
    }


def _cost(run: Run, name: str) -> Measured:
    """What the workload must move and do; instructions are counted where the package is."""

    def operations_of(function: str, dtype: str) -> int:
        answer = run.worker("numbaflow").ask("instructions", functions=[function], dtype=dtype)
        return answer.get(function, 1)

    tally: Tally = costs(name, operations_of)
    return tally.as_json()


def _new_batch(run: Run, name: str, row: Row) -> Measured:
    answers = {peer: run.worker(peer).ask("new_batch") for peer in run.taking_part(row)}
    return {
        "values": _gather(answers, "ratios"),
        "compiled": {p: answers[p]["compiled"] for p in ("numbaflow",) if "compiled" in answers[p]},
        "errors": _gather(answers, "error"),
    }


def _import(run: Run, name: str, row: Row) -> Measured:
    peers = [peer for peer in run.taking_part(row) if peer not in SAME_PACKAGE]
    for peer in peers:  # writes bytecode and fills the file cache
        import_seconds(peer, run.pythons[peer], run.threads)
    values: dict[str, list[float]] = {peer: [] for peer in peers}
    errors: dict[str, str] = {}
    for peer in _in_turns(run, peers, 3):
        answer = import_seconds(peer, run.pythons[peer], run.threads)
        if "error" in answer:
            errors[peer] = answer["error"]
        else:
            values[peer].append(answer["seconds"])
    return {"values": {p: v for p, v in values.items() if p not in errors}, "errors": errors}


def _fresh(run: Run, row: Row, key: str, cold: bool, rounds: int = 1, **sizes: int) -> Measured:
    """Processes of their own, with an empty or the run's own cache; `key` is what counts."""
    peers = run.taking_part(row)
    values: dict[str, list[float]] = {peer: [] for peer in peers}
    answers: dict[str, Measured] = {}
    for peer in _in_turns(run, peers, rounds):
        with tempfile.TemporaryDirectory() as empty:
            scratch = empty if cold else run.scratch
            python = run.pythons[peer]
            answers[peer] = once(peer, python, run.threads, scratch, row.workload, **sizes)
        if answers[peer].get(key) is not None:
            values[peer].append(answers[peer][key])
    ours = answers.get("numbaflow", {})
    return {
        "values": {peer: v for peer, v in values.items() if v},
        "first": _gather(answers, "first"),
        "compiled": {"numbaflow": ours["compiled"]} if "compiled" in ours else {},
        "compiling": {"numbaflow": ours["compiling"]} if cold and "compiling" in ours else {},
        "errors": _gather(answers, "error"),
        "peak": _gather(answers, "peak") if row.kind == "memory" else {},
        "baseline": _gather(answers, "baseline") if row.kind == "memory" else {},
    }


def _start(run: Run, name: str, row: Row) -> Measured:
    return _fresh(run, row, "seconds", cold=True)


def _only_us(run: Run) -> Run:
    return Run({"numbaflow": run.pythons["numbaflow"]}, run.threads, 1, 0, run.scratch)


def _cold(run: Run, name: str, row: Row) -> Measured:
    measured = _fresh(_only_us(run), row, "first", cold=True)
    measured.pop("first")
    return measured


def _warm(run: Run, name: str, row: Row) -> Measured:
    _fresh(_only_us(run), row, "first", cold=False)  # fills the cache, if it is not filled yet
    measured = _fresh(_only_us(run), row, "first", cold=False, rounds=3)
    measured.pop("first")
    return measured


def _memory(run: Run, name: str, row: Row) -> Measured:
    _fresh(_only_us(run), row, "first", cold=False, batch=256)
    measured = _fresh(run, row, "first", cold=False, rounds=1, batch=256)
    measured.pop("first")
    base, peak = measured["baseline"], measured["peak"]
    told = [p for p in peak if peak[p] is not None and base.get(p) is not None]
    return {**measured, "values": {peer: [peak[peer] - base[peer]] for peer in told}}


def _second(run: Run, name: str, row: Row) -> Measured:
    """Every workload again in a new process: nothing is compiled there."""
    total, compiled, first = 0.0, 0, {}
    for filling in (True, False):
        python, scratch = run.pythons["numbaflow"], str(Path(run.scratch))
        with closing(Worker("numbaflow", python, run.threads, scratch)) as worker:
            for workload in WORKLOADS:
                answer = worker.ask("build", workload=workload)
                if "error" in answer:
                    return {"errors": {"numbaflow": f"{workload}: {answer['error']}"}}
                if not filling:
                    total, compiled = total + answer["first"], compiled + answer["compiled"]
                    first[workload] = answer["first"]
    return {
        "values": {"numbaflow": [total]},
        "compiled": {"numbaflow": compiled},
        "by_workload": first,
    }


_KINDS = {
    "step": _step,
    "new_batch": _new_batch,
    "import": _import,
    "start": _start,
    "cold": _cold,
    "warm": _warm,
    "memory": _memory,
    "second": _second,
}


def limits(run: Run, dtypes: tuple[str, ...] = ("float32", "float64")) -> Measured:
    """What the machine can do, as of now: copies, and multiply-adds by dtype."""
    worker = run.worker("numbaflow")
    return {
        "copies": worker.ask("copies").get("copies", []),
        "products": {dtype: worker.ask("products", dtype=dtype) for dtype in dtypes},
    }


def better(one: Measured, other: Measured) -> Measured:
    """The higher of two measurements of the machine's limits, each by each."""
    copies = [[a[0], max(a[1], b[1])] for a, b in zip(one["copies"], other["copies"])]
    products = {
        dtype: {k: max(v, other["products"][dtype][k]) for k, v in rates.items()}
        for dtype, rates in one["products"].items()
    }
    return {"copies": copies, "products": products}
