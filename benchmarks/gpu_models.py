# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks.gpu_models`: steps of models on a GPU, beside JAX's, into results/gpu/.

Every step feeds its batch and fetches its loss.  The first losses are held against the processor's.
JAX, where it is installed with its CUDA plugin, computes in full precision, too; each of the two
has a process of its own for every model.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from numbaflow.engine import settings
from numbaflow.jit import threads

from .gpu import RESULTS
from .models.catalog import MODELS
from .models.session import has, module_of, steps_of
from .report import machine

_CHOSEN = (
    *("lenet", "vgg", "resnet50", "mobilenet", "transformer_encoder", "gpt", "lstm_classifier"),
    *("char_rnn", "word2vec", "vae"),
)
_LOSSES = 3
_AHEAD = 5  # steps that are not timed: what comes again is recorded in them


def measured(peer: str, model: str, seconds: float) -> dict[str, Any]:
    """The first step and the median of later ones, of a model on the first GPU."""
    start = time.perf_counter()
    steps = steps_of(peer, module_of(peer), model, threads.cores(), {})
    losses = [_loss(steps.run())]
    first = time.perf_counter() - start
    losses += [_loss(steps.run()) for _ in range(_AHEAD - 1)]
    taken: list[float] = []
    while sum(taken) < seconds:
        start = time.perf_counter()
        steps.run()
        taken.append(time.perf_counter() - start)
    steps.close()
    return {"first": first, "step": statistics.median(taken), "losses": losses[:_LOSSES]}


def _loss(found: Any) -> float:
    return float(np.ravel(np.asarray(found[0], np.float64))[0])


def on_processor(model: str) -> list[float]:
    """The first losses that the processor gives."""
    with settings.override(gpu="none"):
        steps = steps_of("numbaflow", module_of("numbaflow"), model, threads.cores(), {})
        losses = [_loss(steps.run()) for _ in range(_LOSSES)]
        steps.close()
    return losses


def in_process(peer: str, model: str, seconds: float, is_checked: bool) -> dict[str, Any] | None:
    """What a process of its own measures; None if it ends without a result."""
    command = [sys.executable, "-m", "benchmarks.gpu_models", model, "--peer", peer]
    command += ["--seconds", str(seconds), *(["--check"] if is_checked else [])]
    about = {**os.environ, "JAX_DEFAULT_MATMUL_PRECISION": "highest"}
    done = subprocess.run(command, capture_output=True, text=True, env=about, check=False)
    try:
        return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]
    except (IndexError, ValueError):
        print(f"{peer}, {model}: no result\n{done.stderr[-2000:]}", file=sys.stderr)
        return None


def row_of(model: str, options: argparse.Namespace) -> dict[str, Any]:
    """A model's figures, and how far its losses are from the processor's."""
    ours = in_process("numbaflow", model, options.seconds, options.check)
    theirs = None
    if find_spec("jax") is not None and not options.alone and has("jax", model):
        theirs = in_process("jax", model, options.seconds, False)
    return {"model": model, "numbaflow": ours, "jax": theirs}


def shown(row: dict[str, Any]) -> str:
    """A row as a line."""
    ours, theirs = row["numbaflow"], row["jax"]
    if ours is None:
        return f"{row['model']:20} no result"
    line = f"{row['model']:20} first {ours['first']:6.2f} s  step {ours['step'] * 1e3:8.3f} ms"
    if theirs is not None:
        line += f"  JAX first {theirs['first']:6.2f} s  step {theirs['step'] * 1e3:8.3f} ms"
    if "difference" in ours:
        line += f"  losses differ by {ours['difference']:.1e}"
    return line


def main() -> None:
    """Measures, prints and writes a dated report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_models", description=__doc__)
    parser.add_argument("models", nargs="*", default=_CHOSEN, help=f"of {', '.join(MODELS)}")
    parser.add_argument("--seconds", type=float, default=1.0, help="of steps that are timed")
    parser.add_argument("--check", action="store_true", help="hold losses against the processor's")
    parser.add_argument("--alone", action="store_true", help="without JAX")
    parser.add_argument("--peer", choices=("numbaflow", "jax"), help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.peer:
        found = measured(options.peer, options.models[0], options.seconds)
        if options.check:
            pairs = zip(found["losses"], on_processor(options.models[0]))
            found["difference"] = max(abs(a - b) / max(abs(b), 1e-6) for a, b in pairs)
        print(json.dumps(found))
        return
    from numbaflow.engine.session.device_placement import gpus

    if not gpus():
        raise SystemExit("This machine has no GPU that CUDA knows: see docs/cuda.md.")
    rows = []
    for model in options.models:
        rows.append(row_of(model, options))
        print(shown(rows[-1]), flush=True)
    now = datetime.now(UTC)
    about = {"machine": machine(threads.cores()), "gpu": gpus()[0].name}
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / f"models-{now:%Y-%m-%d-%H%M%S}.json"
    file.write_text(json.dumps({"date": now.isoformat(), **about, "rows": rows}, indent=1) + "\n")
    print(file)


if __name__ == "__main__":
    main()
