# SPDX-License-Identifier: Apache-2.0
"""A process of its own: from its start to a few steps of one workload, times and memory.

`python -m benchmarks.once PEER THREADS STARTED WORKLOAD [SIZES]` prints one line of JSON; STARTED
is a time.time() from before the process, SIZES a JSON object.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time

_STATUS = "/proc/self/status"


def memory() -> dict[str, int]:
    """Resident bytes now and at most so far: {"VmRSS": …, "VmHWM": …}; empty where not told."""
    if not os.path.exists(_STATUS):
        return {}
    with open(_STATUS) as lines:
        pairs = (line.split() for line in lines if line.startswith(("VmRSS", "VmHWM")))
        return {pair[0].rstrip(":"): int(pair[1]) * 1024 for pair in pairs}


def main() -> None:
    """Imports, builds, takes steps and reports."""
    peer, threads, started, workload, *sizes = sys.argv[1:]
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    from . import sides

    importlib.import_module(sides.PEERS[peer].module)
    imported, baseline = time.time(), memory().get("VmRSS")
    from .worker import first_call, kernels

    side = sides.load(peer, int(threads))
    if workload not in side.workloads:
        print(json.dumps({"absent": True}), file=answers, flush=True)
        return
    step = side.step(workload, **json.loads(sizes[0] if sizes else "{}"))
    built = time.time()
    first = first_call(side, step)
    done = time.time()
    for _ in range(4):
        step()
    compiled, _, compiling = kernels(side)
    answer = {
        "seconds": done - float(started),
        "imported": imported - float(started),
        "built": built - imported,
        "first": first,
        "compiled": compiled,
        "compiling": compiling,
        "baseline": baseline,
        "peak": memory().get("VmHWM"),
    }
    print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
