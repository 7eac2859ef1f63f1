# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.checkpoints`: saving and restoring a gigabyte, beside a plain copy.

numbaflow, both TensorFlows (NUMBAFLOW_TF_PYTHON, NUMBAFLOW_TF115_PYTHON) and a Python program that
only writes and reads the same bytes take turns in one folder.  None of them waits for the disk.
Times are the best of the rounds: the first ones pay for the machine's own memory.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

SHAPES = {1: 1 << 30, 100: 10 << 20, 10_000: 100 << 10}
PIECE = 1 << 20
# What is measured -> how the table calls it.
ACTIONS = {
    "save": "save",
    "restore": "restore into variables with values",
    "first": "restore in a new session",
}
PEERS = (
    ("TensorFlow 2", "NUMBAFLOW_TF_PYTHON"),
    ("TensorFlow 1.15", "NUMBAFLOW_TF115_PYTHON"),
)
TEXT = """A program that does nothing but `write` or `readinto` pieces of a megabyte is the plain
copy: for “restore into variables with values” it reads into an array that it has, for “restore in a
new session” into one that it makes. Both read what the last save wrote, which is in the system's
memory. A new session also prepares the operations. More memory is the peak over what the process
had, without the variables themselves, as a share of the gigabyte."""


def memory(name: str) -> int:
    """VmRSS (now) or VmHWM (at most since `forget_peak`) in bytes."""
    with open("/proc/self/status") as lines:
        found = next(line for line in lines if line.startswith(name))
    return int(found.split()[1]) * 1024


def forget_peak() -> None:
    """Sets the highest memory so far to that of now."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def serve(module: str, folder: str, count: int, size: int) -> None:
    """A process with variables; saves and restores for each line of its input."""
    tf = importlib.import_module(module)
    if module.startswith("tensorflow"):
        tf.disable_v2_behavior()
    start = time.perf_counter()
    ones = tf.ones_initializer()
    for i in range(count):
        tf.get_variable(f"v{i}", [size // 4], initializer=ones)
    variables = time.perf_counter() - start
    before, start = len(tf.get_default_graph().as_graph_def().node), time.perf_counter()
    saver = tf.train.Saver(max_to_keep=1)
    seconds = time.perf_counter() - start
    operations = len(tf.get_default_graph().as_graph_def().node) - before
    print(json.dumps({"variables": variables, "saver": seconds, "ops": operations}), flush=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = ""

        def save(step: int) -> None:
            nonlocal path
            path = saver.save(session, f"{folder}/m", global_step=step, write_meta_graph=False)

        def first(step: int) -> None:
            with tf.Session() as other:
                saver.restore(other, path)

        actions = {"save": save, "restore": lambda step: saver.restore(session, path)}
        actions["first"] = first
        for step, line in enumerate(sys.stdin):
            action = line.strip()
            forget_peak()
            before, start = memory("VmRSS"), time.perf_counter()
            actions[action](step)
            seconds = time.perf_counter() - start
            more = memory("VmHWM") - before - (count * size if action == "first" else 0)
            found = {"seconds": seconds, "more": max(0, more) / (count * size)}
            print(json.dumps(found), flush=True)


class Side:
    """A process that serves."""

    def __init__(self, python: str, module: str, folder: Path, count: int, size: int) -> None:
        folder.mkdir()
        code = (
            "import runpy, sys; sys.argv = sys.argv[1:]; "
            "runpy.run_path(sys.argv[0])['serve'](*sys.argv[1:3], *map(int, sys.argv[3:]))"
        )
        arguments = [python, "-c", code, __file__, module, str(folder), str(count), str(size)]
        environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
        self.process = subprocess.Popen(
            arguments,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.built = json.loads(self.process.stdout.readline())

    def do(self, what: str) -> dict[str, float]:
        """Saves or restores."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(what, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """Ends the process."""
        self.process.communicate()


class Plain:
    """Writes and reads the same bytes, nothing else; the last file goes when the next is there."""

    def __init__(self, folder: Path, count: int, size: int) -> None:
        self.path, self.old = folder / "plain", folder / "old"
        self.array = np.ones(count * size // 4, np.float32).view(np.uint8)

    def do(self, what: str) -> dict[str, float]:
        """Writes or reads in large pieces."""
        start = time.perf_counter()
        if what == "save" and self.path.exists():
            self.path.rename(self.old)
        array = np.empty_like(self.array) if what == "first" else self.array
        with open(self.path, "wb" if what == "save" else "rb", buffering=0) as file:
            for at in range(0, len(array), PIECE):
                piece = array[at : at + PIECE].data
                file.write(piece) if what == "save" else file.readinto(piece)
        if what == "save":
            self.old.unlink(missing_ok=True)
        return {"seconds": time.perf_counter() - start, "more": 0.0}

    def close(self) -> None:
        """Nothing is left."""


def measure(folder: Path, count: int, size: int, rounds: int) -> dict[str, Any]:
    """The sides in turns: all seconds and shares of memory, and what building took."""
    sides: dict[str, Any] = {"plain copy": Plain(folder, count, size)}
    sides["numbaflow"] = Side(sys.executable, "numbaflow", folder / "n", count, size)
    for number, (name, variable) in enumerate(PEERS):
        if os.environ.get(variable):
            place = folder / str(number)
            module = "tensorflow.compat.v1"
            sides[name] = Side(os.environ[variable], module, place, count, size)
    found: dict[str, Any] = {name: {action: [] for action in ACTIONS} for name in sides}
    for _ in range(rounds):
        for what in ACTIONS:
            for name, side in sides.items():
                if what == "save":
                    os.sync()
                found[name][what].append(side.do(what))
    for name, side in sides.items():
        found[name]["built"] = getattr(side, "built", None)
        side.close()
    return found


def rows(count: int, size: int, found: dict[str, Any]) -> list[str]:
    """A line of the table for each action, and one on building."""
    result = []
    for what, text in ACTIONS.items():
        plain = min(one["seconds"] for one in found["plain copy"][what])
        cells = [f"{plain:.3f} s"]
        for name in list(found)[1:]:
            best = min(one["seconds"] for one in found[name][what])
            more = max(one["more"] for one in found[name][what][1:])
            cells.append(f"{best:.3f} s, {100 * plain / best:.0f} %, +{100 * more:.0f} %")
        result.append([f"{count} × {size >> 10} KB: {text}", *cells])
    built = [found[name]["built"] for name in list(found)[1:]]
    cells = [f"{b['saver']:.3f} s, {b['ops']} ops" for b in built]
    result.append([f"{count} × {size >> 10} KB: build the saver", "", *cells])
    return [f"| {' | '.join(row)} |" for row in result]


def page(results: dict[int, dict[str, Any]]) -> str:
    """The table, with what it says about where it was measured."""
    from . import report

    names = list(next(iter(results.values())))
    lines = [
        f"{date.today()}, {report.machine(os.cpu_count() or 1)['cpu']}, {os.cpu_count()} cores. "
        "Seconds, share of the plain copy's speed, more memory.",
        "",
        f"|  | {' | '.join(names)} |",
        f"| --- {'| ---: ' * len(names)}|",
    ]
    for count, found in results.items():
        lines += rows(count, SHAPES[count], found)
    return "\n".join([*lines, "", TEXT])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkpoints", description=__doc__)
    parser.add_argument("--folder", help="where to write (default: a temporary folder)")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--counts", default="1,100,10000", help="how many variables share it")
    parser.add_argument("--page", type=Path, help="a page to put the table into")
    options = parser.parse_args()
    results = {}
    for count in map(int, options.counts.split(",")):
        folder = Path(tempfile.mkdtemp(dir=options.folder))
        try:
            results[count] = measure(folder, count, SHAPES[count], options.rounds)
        finally:
            shutil.rmtree(folder)
    text = page(results)
    print(text)
    if options.page:
        from . import report

        report.put(options.page, text, "checkpoints")


if __name__ == "__main__":
    main()
