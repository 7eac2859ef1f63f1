# SPDX-License-Identifier: Apache-2.0
"""No op hangs or crashes on the most extreme inputs, nor does its gradient, however it is run.

Each is run by extremes_worker.py with NaN, infinities and the largest numbers of its dtypes, in a
process with a time limit; and compiled it fails where it fails by reference, in the same way.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from numbaflow.engine.graph import registry

from .samples import needs_more_than_arrays

pytestmark = pytest.mark.process

# Seconds for all runs of one op, most of them for compiling.
LIMIT = 240.0
# Op -> why there is no end of it to be seen.
ENDLESS = {
    "KmeansPlusPlusInitialization": "tries as often as it is told",
    "RandomUniformInt": "draws as many numbers as memory holds",
    "DecodePaddedRaw": "pads as far as memory reaches",
}
# Op -> why compiled runs take what the reference refuses; a test fails that finds it refused.
SIZES = "only the reference counts the elements of a sparse tensor, which may be beyond counting"
LENIENT = {
    "CTCLoss": "the reference makes a size of the last label's place, which may be beyond counting",
    "CTCLossV2": "the reference makes a size of the last label's place, too",
    **dict.fromkeys(("EditDistance", "SparseConcat", "SparseSoftmax"), SIZES),
}
LOWERED = [
    definition.name
    for definition in registry.definitions()
    if definition.lower is not None
    and not needs_more_than_arrays(definition)
    and definition.name not in ENDLESS
]
# A few here, the others when there is time.
QUICK = ("Add", "Cast", "Fill", "GatherV2", "MatMul", "Pad", "ResizeArea", "Softmax", "TopKV2")


class Worker:
    """A process that runs ops, one after another; a new one after each that it did not survive."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None

    def wrong(self, name: str) -> list[str]:
        """What goes wrong with an op."""
        if self.process is None:
            command = [sys.executable, str(Path(__file__).with_name("extremes_worker.py"))]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        process, is_late = self.process, threading.Event()
        assert process.stdin is not None and process.stdout is not None

        def stop() -> None:
            is_late.set()
            os.kill(process.pid, signal.SIGKILL)

        timer = threading.Timer(LIMIT, stop)
        timer.start()
        doing = name
        try:
            with suppress(BrokenPipeError):  # it has been ended by now
                process.stdin.write(name + "\n")
                process.stdin.flush()
            for line in process.stdout:
                told = json.loads(line)
                if isinstance(told, dict):
                    return list(told["wrong"])
                doing = told
        finally:
            timer.cancel()
        self.close()
        how = f"took more than {LIMIT} s" if is_late.is_set() else f"ended: {process.returncode}"
        return [f"{doing}: {how}"]

    def close(self) -> None:
        """Ends the process."""
        process, self.process = self.process, None
        if process is not None:
            assert process.stdin is not None and process.stdout is not None
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.wait(60)
            process.stdout.close()


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.close()


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.deep) for n in LOWERED]
)
def test_extreme_inputs_neither_hang_nor_crash(name: str, worker: Worker) -> None:
    wrong = worker.wrong(name)
    if name not in LENIENT:
        assert wrong == []
    else:
        assert wrong and all(told.endswith("'always': ''}") for told in wrong)


def test_a_worker_that_dies_or_hangs_is_told_and_replaced(worker: Worker, monkeypatch) -> None:
    assert worker.wrong("Add") == []
    (died,) = worker.wrong("NoSuchOp")
    assert died == "NoSuchOp: ended: 1"
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules[__name__], "LIMIT", 0.0)
        (late,) = worker.wrong("Add")
    assert late.endswith("took more than 0.0 s")
    assert worker.wrong("Add") == []
