# SPDX-License-Identifier: Apache-2.0
"""Records what TensorFlow 1.15 makes of a few cases of every op: oracles_1_15.json.gz.

    NUMBAFLOW_TF115_PYTHON=<its Python> python -m numbaflow.tests.ops.record_oracles [OP ...]

With ops given only these are recorded anew.  Cases are those of tensorflow_cases.py that are small:
the first of each kind and type.  Infinities, NaN and values out of range are among them.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from numbaflow.engine.graph import registry

from .samples import needs_more_than_arrays
from .tensorflow_cases import records
from .tensorflow_worker import load, save

FILE = Path(__file__).with_name("oracles_1_15.json.gz")
WORKER = Path(__file__).with_name("tensorflow_worker.py")
# Cases of an op, and numbers of all arrays in one.
_CASES, _NUMBERS = 6, 200


def packed(tree: Any) -> Any:
    """A tree with arrays as JSON has it."""
    if isinstance(tree, dict):
        return {key: packed(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [packed(value) for value in tree]
    if isinstance(tree, bytes):
        return {"bytes": tree.decode("latin-1")}
    if not isinstance(tree, (np.ndarray, np.generic)):
        return tree
    array = np.asarray(tree)
    if array.dtype == object:
        return {"texts": [bytes(x).decode("latin-1") for x in array.flat], "shape": array.shape}
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"dtype": array.dtype.name, "shape": array.shape, "data": data}


def unpacked(tree: Any) -> Any:
    """What was packed."""
    if isinstance(tree, list):
        return [unpacked(value) for value in tree]
    if not isinstance(tree, dict):
        return tree
    if "data" in tree:
        array = np.frombuffer(base64.b64decode(tree["data"]), tree["dtype"])
        return array.reshape(tree["shape"]).copy()
    if "texts" in tree:
        array = np.empty(len(tree["texts"]), object)
        array[:] = [text.encode("latin-1") for text in tree["texts"]]
        return array.reshape(tree["shape"])
    if "bytes" in tree:
        return tree["bytes"].encode("latin-1")
    return {key: unpacked(value) for key, value in tree.items()}


def recorded() -> dict[str, Any]:
    """Op -> its cases and TensorFlow's results; arrays are packed."""
    return dict(json.loads(gzip.decompress(FILE.read_bytes()))) if FILE.exists() else {}


def _size(tree: Any) -> int:
    if isinstance(tree, list):
        return sum(map(_size, tree))
    return int(np.size(tree)) if isinstance(tree, np.ndarray) else 0


def chosen(name: str, kinds: Sequence[str] = ()) -> list[Any]:
    """The cases of an op that are recorded, of all kinds or of some."""
    found: dict[Any, Any] = {}
    every = records(registry.lookup(name))
    # (Some have no small ones.)
    sizes = [_size(case["inputs"]) for case in every if case["label"].startswith("drawn")]
    limit = max([_NUMBERS, *sorted(sizes)[:4]])
    for case in every:
        kind, *rest = case["label"].split("/")
        types = [a.dtype.name for x in case["inputs"] for a in (x if isinstance(x, list) else [x])]
        if "bfloat16" in types or _size(case["inputs"]) > limit or kind == "seeds":
            continue
        if kinds and kind not in kinds:
            continue
        is_usual = not rest or rest[-1] in ("float32", "int32", "0", "nan")
        typed = types[0] if types and kind in ("retyped", "drawn") else ""
        typed += str(case["attrs"]) if kind == "drawn" else ""
        found.setdefault((kind, typed), case)
        if is_usual and kind == "special":
            found[kind, ""] = case
    usual = sorted(found.items(), key=lambda pair: pair[0][0] in ("retyped", "parameter"))
    return [case for _, case in usual[:_CASES]]


def answers(names: list[str], kinds: Sequence[str] = ()) -> dict[str, Any]:
    """What TensorFlow gives, by op; an op that ends its process is left out."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        cases = {name: chosen(name, kinds) for name in names}
        for name in names:
            save(place / f"{name}.in.npz", cases[name])
        todo = list(names)
        while todo:
            (place / "todo.json").write_text(json.dumps(todo))
            command = [os.environ["NUMBAFLOW_TF115_PYTHON"], str(WORKER), folder]
            environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": ""}
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            todo = [name for name in todo if not (place / f"{name}.out.npz").exists()]
            if todo and "Error: " in done.stderr[-300:]:
                raise RuntimeError(done.stderr)
            if todo:
                print(todo.pop(0), "ends TensorFlow:", done.stderr[-300:])
        for name in names:
            if (place / f"{name}.out.npz").exists():
                result = load(place / f"{name}.out.npz")
                if "missing" not in result:
                    pairs = zip(cases[name], result["cases"], strict=True)
                    kept = [(a, b) for a, b in pairs if not b.get("unsupported")]
                    found[name] = {"cases": [a for a, _ in kept], "results": [b for _, b in kept]}
    return found


def main() -> None:
    """Writes the file."""
    callable_ = [d.name for d in registry.definitions() if not needs_more_than_arrays(d)]
    names = sys.argv[1:] or callable_
    known = recorded() if sys.argv[1:] else {}
    found = answers(names)
    # What ends TensorFlow's process may do so for values that are out of range alone.
    harmless = answers([name for name in names if name not in found], ("drawn",))
    known.update(packed({**found, **harmless}))
    text = json.dumps(known, sort_keys=True, separators=(",", ":")).encode()
    FILE.write_bytes(gzip.compress(text, 9, mtime=0))
    print(len(known), "ops,", len(text), "bytes,", FILE.stat().st_size, "packed")


if __name__ == "__main__":
    main()
