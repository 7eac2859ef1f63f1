# SPDX-License-Identifier: Apache-2.0
"""Wrong uses of ops: inputs of other ranks and sizes, numbers that are out of range.

Each is a case that TensorFlow took, with one input changed; once its inputs are known to the graph
as constants, and once nothing is known of them before the run.  In Python that 3.7 reads:
record_wrong_uses.py has TensorFlow 1.15 run `python wrong_uses.py CASES.npz RESULTS.json`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

_MOST = 30
# Seconds for all cases of an op in TensorFlow, some of which never end.
_PATIENCE = 25


def changed(inputs: list[Any]) -> list[Any]:
    """(position, change, all inputs with it) for each wrong use."""
    found = []
    for i, given in enumerate(inputs):
        if isinstance(given, list) and not given:
            continue
        last = given[-1] if isinstance(given, list) else given
        for what, array in _changes(last):
            new = list(inputs)
            new[i] = [*given[:-1], array] if isinstance(given, list) else array
            found.append((i, what, new))
    return found[:_MOST]


def _changes(x: np.ndarray) -> list[Any]:
    found = [("one more dimension", x[None])]
    if x.ndim:
        row = x[:1] if len(x) else np.zeros((1,) + x.shape[1:], x.dtype)
        found += [("one more row", np.concatenate([x, row])), ("no rows", x[:0])]
        if len(x):
            one = np.empty(x.shape[1:], x.dtype)
            one[...] = x[0]
            found.append(("one row", one))
    if x.ndim > 1:
        found.append(("one more column", np.concatenate([x, x[..., :1]], -1)))
    if x.dtype.kind in "iu" and x.size:
        found.append(("a great number", _with(x, -1, 100)))
        if x.dtype.kind == "i":
            found.append(("a negative number", _with(x, 0, -99)))
    return found


def _with(x: np.ndarray, place: int, value: int) -> np.ndarray:
    result = x.copy()
    result.reshape(-1)[place] = value
    return result


def outcome(tf: Any, name: str, case: Any, is_known: bool) -> list[str]:
    """[where it failed, the class of the error, its first line]; ["fine", "", ""] otherwise."""
    feeds: dict[Any, Any] = {}

    def symbol(value: Any) -> Any:
        if isinstance(value, list):
            return [symbol(one) for one in value]
        kind = tf.string if value.dtype == object else tf.as_dtype(value.dtype)
        if is_known:
            return tf.constant(value, kind)
        tensor = tf.placeholder(kind)
        feeds[tensor] = value
        return tensor

    with tf.Graph().as_default() as graph:
        try:
            given = dict(zip(case["names"], map(symbol, case["inputs"])))
            attrs = {key: _attribute(tf, value) for key, value in case["attrs"].items()}
            getattr(tf.raw_ops, name)(**given, **attrs)
        except Exception as error:
            return ["made", *_told(error)]
        op = [node for node in graph.get_operations() if node.type == name][-1]
        try:
            with tf.Session() as session:
                session.run(list(op.outputs) or op, feeds)
        except Exception as error:
            kind, text = _told(error)
            return ["run", kind, text if op.name in str(error) else "its node is not named"]
    return ["fine", "", ""]


def _told(error: Exception) -> tuple[str, str]:
    return type(error).__name__, str(error).split("\n")[0][:200]


def _attribute(tf: Any, value: Any) -> Any:
    if isinstance(value, dict) and "dtype" in value:
        return tf.as_dtype(value["dtype"])
    return [_attribute(tf, one) for one in value] if isinstance(value, list) else value


def main(cases: str, results: str) -> None:
    """Runs all cases in TensorFlow, those of an op in a process of their own."""
    here = Path(__file__).with_name("tensorflow_worker.py")
    spec = importlib.util.spec_from_file_location("tensorflow_worker", str(here))
    assert spec is not None and spec.loader is not None
    worker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(worker)
    import tensorflow as tf

    found = {name: _apart(tf, name, ops) for name, ops in worker.load(Path(cases)).items()}
    Path(results).write_text(json.dumps(found))


def _apart(tf: Any, name: str, cases: list[Any]) -> list[Any]:
    """What a process of its own finds; null for cases that it does not survive."""
    import signal

    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(_PATIENCE)
        with os.fdopen(writer, "w") as out:
            for case in cases:
                found = [outcome(tf, name, case, is_known) for is_known in (True, False)]
                out.write(json.dumps(found) + "\n")
                out.flush()
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        found = [json.loads(line) for line in lines if line.endswith("\n")]
    os.waitpid(child, 0)
    # What comes after a case that ends the process is tried without it.
    if len(found) == len(cases):
        return found
    return [*found, None, *_apart(tf, name, cases[len(found) + 1 :])]


if __name__ == "__main__":
    main(*sys.argv[1:])
