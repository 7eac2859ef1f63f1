# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks`: times numbaflow and TensorFlow in turns and keeps the figures.

NUMBAFLOW_TF_PYTHON names a Python that has TensorFlow; without it only numbaflow is timed.  The
two run in a process each; for every workload they are measured alternately, so that whatever
else the machine does hits both alike.  Results go to benchmarks/results/ as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .report import Row, judge, machine, show
from .workloads import WORKLOADS

HERE = Path(__file__).parent
OTHERS = ("new_batch_size", "import", "start_cold", "start_warm")


class Peer:
    """A worker process; `ask` sends it a command and waits for the answer."""

    def __init__(self, python: str, module: str, threads: int) -> None:
        self._command = [python, str(HERE / "worker.py")]
        self._quiet = module != "numbaflow"
        self._environment = dict(
            os.environ,
            BENCHMARK_MODULE=module,
            BENCHMARK_THREADS=str(threads),
            NUMBAFLOW_THREADS=str(threads),
            TF_CPP_MIN_LOG_LEVEL="3",
            CUDA_VISIBLE_DEVICES="-1",
        )
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if self._quiet else None,
            text=True,
            env=self._environment,
        )

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """The worker's answer to a command; a worker that has died is started anew."""
        if self._process.poll() is not None:
            self._process = self._start()
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            print(json.dumps({"do": do, **arguments}), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        code = self._process.wait(timeout=30)
        return {"error": f"the worker process ended with exit code {code}"}

    def close(self) -> None:
        """Ends the worker."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)


def compare(peers: dict[str, Peer], workload: str, rounds: int, seconds: float) -> Row:
    """Times one workload in all peers in turns."""
    row = Row(workload)
    built = {name: peer.ask("build", workload=workload) for name, peer in peers.items()}
    times: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(rounds):
        for name, peer in peers.items():
            if "error" not in built[name]:
                answer = peer.ask("measure", seconds=seconds / rounds)
                if "error" in answer:
                    built[name] = answer
                else:
                    times[name].append(answer["median"])
    for name, answer in built.items():
        if "error" in answer:
            row.errors[name] = answer["error"]
        else:
            row.seconds[name] = statistics.median(times[name])
            row.first[name] = answer["first"]
    return row


def new_batch_size(peers: dict[str, Peer]) -> Row:
    """The first step at an unseen batch size, as a multiple of a later step."""
    row = Row("new_batch_size")
    for name, peer in peers.items():
        answer = peer.ask("new_batch")
        if "error" in answer:
            row.errors[name] = answer["error"]
        else:
            row.ratios[name] = answer["ratio"]
            row.compiled[name] = answer["compiled"]
    return row


def import_time() -> Row:
    """Importing the package in fresh processes: the median, and whether Numba came along."""
    program = (
        "import time; s = time.perf_counter(); import numbaflow, sys;"
        "print(time.perf_counter() - s, 'numba' in sys.modules)"
    )
    environment = with_bytecode()
    subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True)
    row, times = Row("import"), []
    for _ in range(5):
        text = subprocess.check_output([sys.executable, "-c", program], env=environment, text=True)
        seconds, numba = text.split()
        times.append(float(seconds))
        if numba == "True":
            row.errors["numbaflow"] = "importing the package imports Numba"
    row.seconds["numbaflow"] = statistics.median(times)
    return row


def with_bytecode(**variables: str) -> dict[str, str]:
    """The environment for processes that use bytecode, which the first one writes."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **variables}


def starts() -> list[Row]:
    """From the start of a process to the first compiled step, with an empty and a full cache."""
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for name in ("start_cold", "start_warm"):
            row = Row(name)
            done = subprocess.run(
                [sys.executable, str(HERE / "start.py"), str(time.time())],
                env=with_bytecode(NUMBAFLOW_CACHE=cache),
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                row.errors["numbaflow"] = done.stderr.strip().splitlines()[-1]
            else:
                answer = json.loads(done.stdout.splitlines()[-1])
                row.seconds["numbaflow"] = answer["seconds"]
                row.compiled["numbaflow"] = answer["compiled"]
            rows.append(row)
    return rows


def measure(options: argparse.Namespace) -> tuple[list[Row], dict[str, str]]:
    """All rows that were asked for, and the versions of the peers."""
    wanted = set(options.only.split(",")) if options.only else {*WORKLOADS, *OTHERS}
    peers = {"numbaflow": Peer(sys.executable, "numbaflow", options.threads)}
    python = os.environ.get("NUMBAFLOW_TF_PYTHON")
    if python:
        peers["tensorflow"] = Peer(python, "tensorflow.compat.v1", options.threads)
    else:
        print("NUMBAFLOW_TF_PYTHON is not set: timing numbaflow only", file=sys.stderr)
    versions = {name: peer.ask("version").get("version", "?") for name, peer in peers.items()}
    rows = []
    for name in WORKLOADS:
        if name in wanted:
            rows.append(compare(peers, name, options.rounds, options.seconds))
            print(f"{name} done", file=sys.stderr)
    if "new_batch_size" in wanted:
        rows.append(new_batch_size(peers))
    for peer in peers.values():
        peer.close()
    if "import" in wanted:
        rows.append(import_time())
    if {"start_cold", "start_warm"} & wanted:
        rows += starts()
    return rows, versions


def main() -> int:
    """Measures, prints the table, keeps the JSON; 1 when a threshold is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", help="names of workloads, separated by commas")
    parser.add_argument("--seconds", type=float, default=3.0, help="per workload and peer")
    parser.add_argument("--rounds", type=int, default=5, help="turns that these are cut into")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--no-save", action="store_true", help="keep no JSON")
    options = parser.parse_args()
    rows, versions = measure(options)
    now = datetime.now(UTC)
    result = {
        "date": now.isoformat(timespec="seconds"),
        "machine": machine(options.threads),
        "peers": versions,
        "rows": [row.as_json() for row in rows],
    }
    if not options.only and not options.no_save:
        folder = HERE / "results"
        folder.mkdir(exist_ok=True)
        path = folder / f"{now:%Y-%m-%d-%H%M}.json"
        path.write_text(json.dumps(result, indent=1) + "\n")
        print(f"kept in {path.relative_to(HERE.parent)}", file=sys.stderr)
    print(show(result))
    return 0 if all(judge(row) is not False for row in result["rows"]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
