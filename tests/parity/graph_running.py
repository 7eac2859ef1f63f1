# SPDX-License-Identifier: Apache-2.0
"""Running drawn programs here and in a TensorFlow beside, and comparing what they give."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import numbaflow as tf
from numbaflow.engine import settings

from .graph_programs import GraphProgram

WORKER = Path(__file__).with_name("graph_worker.py")
_LARGEST = 1e4
Runs = list[list[np.ndarray]]
# What a program may end with.
ERRORS = (tf.errors.OpError, ValueError, TypeError, LookupError)


@dataclass
class Outcome:
    """What a program gave in each run, or the error that ended it; its graph, for others."""

    runs: Runs = field(default_factory=list)
    error: str = ""
    message: str = ""
    graph: bytes = b""
    fetches: list[str] = field(default_factory=list)
    inits: str = ""


def here(program: GraphProgram, mode: str, goes_on: bool = False) -> Outcome:
    """Runs a program in this process: compiled ("always"), or by reference kernels ("never").

    A run that fails ends it; or its error is what the run gave, and the next one follows.
    """
    outcome = Outcome()
    with tf.Graph().as_default() as graph, settings.override(jit=mode), tf.Session() as session:
        try:
            names = program.build(tf)
            outcome.graph = graph.as_graph_def().SerializeToString()
            outcome.fetches = [fetch.name for fetch in names["fetches"]]
            outcome.inits = names["inits"].name
            session.run(names["inits"])
            for feeds in program.runs:
                fed = {names[name]: value for name, value in feeds.items()}
                try:
                    found = session.run(names["fetches"], fed)
                except tf.errors.OpError as error:
                    if not goes_on:
                        raise
                    found = [np.array(f"{type(error).__name__}: {error}", object)]
                outcome.runs.append([np.asarray(x) for x in found])
        except ERRORS as error:
            outcome.error, outcome.message = type(error).__name__, str(error)
    return outcome


class Peer:
    """A TensorFlow in another process, which runs one program after the other."""

    def __init__(self, python: str, module: str, folder: Path) -> None:
        self._folder = folder
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
        environment.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [python, str(WORKER), module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )

    def run(self, program: GraphProgram, outcome: Outcome) -> Outcome:
        """The same program there, from the graph that was made of it here.

        Functions of Python are in no graph: where there are some, from its source.  (If that has
        layers of tf.keras, which are others in TensorFlow 2, nothing is run.)
        """
        by = "source" if "py_func" in program.source else "graph"
        if by == "source" and "tf.keras" in program.source:
            return outcome
        feeds = {f"{k}/{name}": x for k, run in enumerate(program.runs) for name, x in run.items()}
        np.savez(self._folder / "runs.npz", **feeds)
        (self._folder / "graph.pb").write_bytes(outcome.graph)
        (self._folder / "source.py").write_text(program.source, encoding="utf-8")
        request = {"folder": str(self._folder), "by": by}
        said = self._ask({**request, "fetches": outcome.fetches, "inits": outcome.inits})
        if said["error"]:
            return Outcome(error=said["error"], message=said["message"])
        with np.load(self._folder / "out.npz") as file:
            found = {key: file[key] for key in file.files}
        runs: Runs = [[] for _ in program.runs]
        for key, value in found.items():
            runs[int(key.split("/")[0])].append(value)
        return Outcome(runs)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"TensorFlow ended with {self._process.wait()}"
        return dict(json.loads(line))

    def close(self) -> None:
        """Ends the process."""
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()


def differences(want: Runs, got: Runs, tolerance: float = 5e-4) -> Iterator[str]:
    """Which results differ by more than rounding does."""
    for number, (expected, actual) in enumerate(zip(want, got, strict=True)):
        largest = min(max(map(_size, expected), default=1.0), _LARGEST)
        for k, (x, y) in enumerate(zip(expected, actual, strict=True)):
            if x.dtype != y.dtype or x.shape != y.shape:
                yield f"run {number}, fetch {k}: {x.dtype}{x.shape} != {y.dtype}{y.shape}"
            elif not _close(x, y, largest, tolerance):
                yield f"run {number}, fetch {k}:\n{x}\n!=\n{y}"


def _size(x: np.ndarray) -> float:
    if x.dtype.kind != "f":
        return 1.0
    return max(1.0, float(np.max(np.abs(x[np.isfinite(x)]), initial=0.0)))


def _close(x: np.ndarray, y: np.ndarray, largest: float, tolerance: float) -> bool:
    if x.dtype.kind != "f":
        return bool(np.array_equal(x, y))
    near = np.allclose(y, x, rtol=tolerance, atol=tolerance * largest, equal_nan=True)
    return bool(near)
