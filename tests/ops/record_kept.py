# SPDX-License-Identifier: Apache-2.0
"""Records the programs beside it: run me with a Python 3.7 that has TensorFlow 1.15.

`python tests/ops/record_kept.py` writes kept_1_15.json beside this file.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def main() -> None:
    """Runs every program and writes what it made."""
    sys.path.insert(0, HERE)
    import area_programs
    import kept_programs
    import tensorflow as tf
    import text_programs
    from tensorflow.python.ops import data_flow_ops, lookup_ops

    lines = []
    programs = {**kept_programs.PROGRAMS, **area_programs.PROGRAMS, **text_programs.PROGRAMS}
    for name, program in programs.items():
        with tempfile.TemporaryDirectory() as folder:
            found = kept_programs.run(tf, program, folder, lookup_ops, data_flow_ops)
        lines.append(f"{json.dumps(name)}: {json.dumps(found)}")
    with open(os.path.join(HERE, "kept_1_15.json"), "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
