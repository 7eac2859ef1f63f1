# SPDX-License-Identifier: Apache-2.0
"""How every worker process answers: one command in JSON a line, one line of JSON for each.

Runs under any Python that a peer has; the other end is benchmarks/processes.py.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any


def serve(make: Callable[..., Any]) -> None:
    """Answers commands by methods of make(peer, threads) until the input ends."""
    # Whatever a library prints must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    worker = make(sys.argv[1], int(sys.argv[2]))
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = getattr(worker, command.pop("do"))(**command)
        except Exception as error:
            text = str(error).strip().splitlines() or [""]
            answer = {"error": f"{type(error).__name__}: {text[0]}"}
        print(json.dumps(answer), file=answers, flush=True)
