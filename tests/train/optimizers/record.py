# SPDX-License-Identifier: Apache-2.0
"""Records the programs of programs.py: run me with a Python 3.7 that has TensorFlow 1.15.

`python tests/train/optimizers/record.py` writes tensorflow_1_15.json beside this file.
"""

from __future__ import annotations

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main() -> None:
    """Runs every program and writes what it made."""
    sys.path.insert(0, HERE)
    import programs
    import tensorflow as tf

    found = {}
    for name, program in programs.PROGRAMS.items():
        found[name] = programs.run(tf, program)
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
    with open(os.path.join(HERE, "tensorflow_1_15.json"), "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
