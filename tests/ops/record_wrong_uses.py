# SPDX-License-Identifier: Apache-2.0
"""Records how TensorFlow 1.15 refuses wrong uses of ops: wrong_uses_1_15.json.gz.

NUMBAFLOW_TF115_PYTHON=<its Python> python -m numbaflow.tests.ops.record_wrong_uses
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numbaflow.engine.graph import registry

from . import wrong_uses
from .record_oracles import recorded, unpacked
from .tensorflow_worker import save

RIGHT = "as it is"
FILE = Path(__file__).with_name("wrong_uses_1_15.json.gz")


def _flat(inputs: list[Any]) -> Iterator[Any]:
    for value in inputs:
        yield from value if isinstance(value, list) else [value]


def cases(name: str, record: dict[str, Any]) -> dict[str, Any]:
    """The wrong uses of an op, by what is wrong, made of a case that TensorFlow took."""
    pairs = zip(record["cases"], record["results"], strict=True)
    fine = [case for case, result in pairs if "error" not in result]
    if not fine:
        return {}
    case = unpacked(fine[0])
    if any(array.dtype.name == "bfloat16" for array in _flat(case["inputs"])):
        return {}
    names = [arg.name for arg in registry.lookup(name).inputs]
    uses = {RIGHT: case["inputs"]}
    for i, what, inputs in wrong_uses.changed(case["inputs"]):
        uses[f"{names[i]}: {what}"] = inputs
    shared = {"names": names, "attrs": case["attrs"]}
    return {use: {**shared, "inputs": inputs} for use, inputs in uses.items()}


def _kept(uses: dict[str, Any], told: list[Any]) -> dict[str, Any]:
    """What TensorFlow made of wrong uses, in the ways in which it takes the right one."""
    right = told[0] or [[""], [""]]
    return {
        use: [one[:2] if fine[0] == "fine" else None for one, fine in zip(pair, right, strict=True)]
        for use, pair in zip(uses, told, strict=True)
        if pair is not None and use != RIGHT
    }


def main() -> None:
    """Writes the file: op -> wrong use -> for both ways of `wrong_uses`: where, and which error."""
    every = {name: cases(name, record) for name, record in recorded().items()}
    with tempfile.TemporaryDirectory() as folder:
        given, results = Path(folder) / "cases.npz", Path(folder) / "results.json"
        save(given, {name: list(uses.values()) for name, uses in every.items()})
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": ""}
        command = [os.environ["NUMBAFLOW_TF115_PYTHON"], str(wrong_uses.__file__)]
        subprocess.run([*command, str(given), str(results)], env=environment, check=True)
        found = json.loads(results.read_text())
    known = {name: _kept(uses, found[name]) for name, uses in every.items() if uses}
    text = json.dumps(known, sort_keys=True, separators=(",", ":")).encode()
    FILE.write_bytes(gzip.compress(text, 9, mtime=0))
    print(len(known), "ops,", sum(map(len, known.values())), "uses,", FILE.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
