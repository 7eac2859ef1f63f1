# SPDX-License-Identifier: Apache-2.0
"""Small programs whose nodes and results are compared with those of TensorFlow 1.15.

A file of programs is a module with PROGRAMS: names and functions of `tf` that return tensors.
Recorded by  python recording.py programs.py > recorded_1_15.json  where `tensorflow` is 1.15.
"""

from __future__ import annotations

import json
import runpy
import sys
from typing import Any

import numpy as np


def results(tf: Any, program: Any) -> dict[str, Any]:
    """The types and names of the nodes that a program makes, and what its tensors are."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        tensors = program(tf)
        nodes = [f"{op.type} {op.name}" for op in graph.get_operations()]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = session.run(tensors)
    return {"nodes": nodes, "values": [plain(value) for value in values]}


def plain(value: Any) -> Any:
    """A value for JSON; complex numbers as pairs."""
    array = np.asarray(value)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], -1)
    return array.tolist()


if __name__ == "__main__":
    import tensorflow

    programs = runpy.run_path(sys.argv[1])["PROGRAMS"]
    lines = [
        f"{json.dumps(name)}: {json.dumps(results(tensorflow, program))}"
        for name, program in programs.items()
    ]
    print("{\n" + ",\n".join(lines) + "\n}")
