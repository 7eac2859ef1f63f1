# SPDX-License-Identifier: Apache-2.0
"""Records the programs: run me with a Python 3.7 that has TensorFlow 1.15.

`python tests/ops/state/variables/record.py` writes recorded_1_15.json.gz beside this
file, or the file that it is told.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = (
    *("getting", "scopes", "making", "assigning", "partitions", "templates", "initializers"),
    *("scatters", "failing", "flows", "checkpoints"),
)


def main() -> None:
    """Runs every program and writes what it showed."""
    sys.path.insert(0, HERE)
    import facts
    import tensorflow as tf

    found = {}
    for module in map(importlib.import_module, MODULES):
        for name, program in facts.programs_of(module).items():
            found[name] = facts.run(tf, program)
    target = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "recorded_1_15.json.gz")
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
    with gzip.GzipFile(target, "wb", mtime=0) as file:
        file.write(("{\n" + ",\n".join(lines) + "\n}\n").encode())


if __name__ == "__main__":
    main()
