# SPDX-License-Identifier: Apache-2.0
"""Starts the peers' processes: workers that stay, and processes that do one thing and end."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from typing import Any

from .sides import PEERS, ROOT, environment


class Worker:
    """A worker process; `ask` sends it a command and waits for the answer."""

    def __init__(
        self,
        peer: str,
        python: str,
        threads: int,
        scratch: str,
        module: str = "benchmarks.worker",
    ) -> None:
        self._command = [python, "-m", module, peer, str(threads)]
        self._quiet = peer != "numbaflow"
        self._environment = environment(peer, threads, scratch)
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if self._quiet else None,
            text=True,
            env=self._environment,
            cwd=ROOT,
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

    def stop(self) -> None:
        """Ends the worker at once, whatever it does or waits for."""
        self._process.kill()
        self._process.wait(timeout=30)


def once(
    peer: str, python: str, threads: int, scratch: str, workload: str, **sizes: int
) -> dict[str, Any]:
    """What benchmarks.once tells about a process of its own."""
    arguments = [peer, str(threads), str(time.time()), workload, json.dumps(sizes)]
    done = subprocess.run(
        [python, "-m", "benchmarks.once", *arguments],
        env=environment(peer, threads, scratch),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    return json.loads(done.stdout)


def import_seconds(peer: str, python: str, threads: int) -> dict[str, Any]:
    """Importing the peer's package in a fresh process; an error where ours brings in Numba."""
    program = (
        f"import time; s = time.perf_counter(); import {PEERS[peer].module}; import sys;"
        "print(time.perf_counter() - s, 'numba' in sys.modules)"
    )
    with tempfile.TemporaryDirectory() as scratch:
        variables = environment(peer, threads, scratch)
        done = subprocess.run(
            [python, "-c", program], env=variables, capture_output=True, text=True, check=False
        )
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    seconds, numba = done.stdout.split()[-2:]
    if peer == "numbaflow" and numba == "True":
        return {"error": "importing the package imports Numba"}
    return {"seconds": float(seconds)}


def say(text: str) -> None:
    """Progress, on standard error."""
    print(text, file=sys.stderr, flush=True)
