# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.checkpoints`: saving and restoring a gigabyte, beside a plain copy.

numbaflow, TensorFlow (NUMBAFLOW_TF_PYTHON) and a program that only writes and reads the same bytes
take turns in one folder.  None of them waits for the disk.  Times are the best of the rounds: the
first ones pay for the machine's own memory.
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
from pathlib import Path
from typing import Any

import numpy as np

SHAPES = ((1, 1 << 30), (100, 10 << 20), (10_000, 100 << 10))
PIECE = 1 << 20


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
    with tf.Graph().as_default(), tf.Session() as session:
        ones = tf.ones_initializer()
        for i in range(count):
            tf.get_variable(f"v{i}", [size // 4], initializer=ones)
        saver = tf.train.Saver(max_to_keep=1)
        session.run(tf.global_variables_initializer())
        path = ""

        def save(step: int) -> None:
            nonlocal path
            path = saver.save(session, f"{folder}/m", global_step=step, write_meta_graph=False)

        actions = {"save": save, "restore": lambda step: saver.restore(session, path)}
        for step, line in enumerate(sys.stdin):
            forget_peak()
            before, start = memory("VmRSS"), time.perf_counter()
            actions[line.strip()](step)
            seconds = time.perf_counter() - start
            more = max(0, memory("VmHWM") - before)
            print(json.dumps({"seconds": seconds, "more": more / (count * size)}), flush=True)


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
        with open(self.path, "wb" if what == "save" else "rb", buffering=0) as file:
            for at in range(0, len(self.array), PIECE):
                piece = self.array[at : at + PIECE].data
                file.write(piece) if what == "save" else file.readinto(piece)
        if what == "save":
            self.old.unlink(missing_ok=True)
        return {"seconds": time.perf_counter() - start, "more": 0.0}

    def close(self) -> None:
        """Nothing is left."""


def measure(folder: Path, count: int, size: int, rounds: int) -> dict[str, Any]:
    """The sides in turns: best seconds and memory of saving and restoring."""
    sides: dict[str, Any] = {"plain": Plain(folder, count, size)}
    sides["numbaflow"] = Side(sys.executable, "numbaflow", folder / "n", count, size)
    tensorflow = os.environ.get("NUMBAFLOW_TF_PYTHON")
    if tensorflow:
        sides["TensorFlow"] = Side(tensorflow, "tensorflow.compat.v1", folder / "t", count, size)
    found: dict[str, Any] = {name: {"save": [], "restore": []} for name in sides}
    for _ in range(rounds):
        for what in ("save", "restore"):
            for name, side in sides.items():
                if what == "save":
                    os.sync()
                found[name][what].append(side.do(what))
    for side in sides.values():
        side.close()
    return found


def show(count: int, size: int, found: dict[str, Any]) -> None:
    """A line per side."""
    print(f"\n{count} x {size >> 10} KB")
    total = count * size / 1e9
    for name, times in found.items():
        words = [f"{name:<12}"]
        for what, each in times.items():
            best = min(one["seconds"] for one in each)
            plain = min(one["seconds"] for one in found["plain"][what])
            more = max(one["more"] for one in each[1:])
            words.append(
                f"{what} {best:6.3f} s {total / best:5.1f} GB/s {100 * plain / best:4.0f} % of a "
                f"plain copy, {100 * more:3.0f} % more memory"
            )
        print("   ".join(words))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkpoints", description=__doc__)
    parser.add_argument("--folder", help="where to write (default: a temporary folder)")
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    for count, size in SHAPES:
        folder = Path(tempfile.mkdtemp(dir=options.folder))
        try:
            show(count, size, measure(folder, count, size, options.rounds))
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
