# SPDX-License-Identifier: Apache-2.0
"""Runs drawn programs in a TensorFlow, one after another, for a process that asks by a pipe.

`python graph_worker.py MODULE`: each line of input is JSON with a `folder`, in which `graph.pb` is
a GraphDef, or `source.py` the program itself, and `runs.npz` what to feed; the names of `fetches`
and of the `inits` operation.  Results go to `out.npz` in it, and a line of JSON to the output.  In
Python that 3.7 reads, for TensorFlow 1.15.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

import numpy as np


def feeds_of(folder: str) -> list[dict[str, Any]]:
    """What each run feeds, by the placeholder's name."""
    found: dict[int, dict[str, Any]] = {}
    with np.load(os.path.join(folder, "runs.npz")) as file:
        for key in file.files:
            number, name = key.split("/")
            found.setdefault(int(number), {})[name + ":0"] = file[key]
    return [found[number] for number in sorted(found)]


def load(tf: Any, request: dict[str, Any]) -> Any:
    """Puts the program into the default graph; (what initializes, what is fetched)."""
    folder = request["folder"]
    if request["by"] == "source":
        names: dict[str, Any] = {"tf": tf, "np": np}
        with open(os.path.join(folder, "source.py")) as source:
            exec(compile(source.read(), "<drawn program>", "exec"), names)
        return names["inits"], names["fetches"]
    definition = tf.GraphDef()
    with open(os.path.join(folder, "graph.pb"), "rb") as binary:
        definition.ParseFromString(binary.read())
    tf.import_graph_def(definition, name="")
    return request["inits"], request["fetches"]


def answer(tf: Any, config: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Runs one program."""
    folder = request["folder"]
    results = {}
    try:
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            inits, fetches = load(tf, request)
            session.run(inits)
            for number, feeds in enumerate(feeds_of(folder)):
                for k, value in enumerate(session.run(fetches, feeds)):
                    results[f"{number}/{k}"] = value
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)[:2000]}
    np.savez(os.path.join(folder, "out.npz"), **results)
    return {"error": None}


def main() -> None:
    """Answers until the pipe is closed."""
    # (What TensorFlow prints must not be taken for answers.)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    tf = importlib.import_module(sys.argv[1])
    if hasattr(tf, "disable_v2_behavior"):
        tf.disable_v2_behavior()
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    for line in sys.stdin:
        answers.write(json.dumps(answer(tf, config, json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
