# SPDX-License-Identifier: Apache-2.0
"""Writes io/protos/ops.binpb.gz: the signatures of all ops that TensorFlow 1.15 and 2 register.

`python tests/io/record_ops.py PYTHON...` takes Pythons with TensorFlow; the first one that has an
op tells its signature.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any

from numbaflow.io import protos

TABLE = Path(__file__).parents[2] / "io" / "protos" / "ops.binpb.gz"

# TensorFlow 2 has moved the module, and gives bytes in place of a buffer.
_LIST = """
import sys
try:
    from tensorflow.python.client import pywrap_tf_session as runtime
except ImportError:
    from tensorflow.python import pywrap_tensorflow as runtime
found = runtime.TF_GetAllOpList()
sys.stdout.buffer.write(runtime.TF_GetBuffer(found))
"""


def op_list(python: str, message: Any) -> Any:
    """The OpList of the TensorFlow that a Python has."""
    done = subprocess.run([python, "-c", _LIST], stdout=subprocess.PIPE, check=True)
    message.ParseFromString(done.stdout)
    return message


def without_texts(op: Any) -> Any:
    """An OpDef as it is, but for descriptions."""
    op.ClearField("summary")
    op.ClearField("description")
    for part in (*op.input_arg, *op.output_arg, *op.attr):
        part.ClearField("description")
    return op


def main(pythons: list[str]) -> None:
    """Merges the lists and writes them."""
    ops: dict[str, Any] = {}
    for python in pythons:
        for op in op_list(python, protos.OpList()).op:
            ops.setdefault(op.name, without_texts(op))
    merged = protos.OpList(op=[ops[name] for name in sorted(ops)])
    content = merged.SerializeToString(deterministic=True)
    TABLE.write_bytes(gzip.compress(content, mtime=0))
    print(f"{len(ops)} op types")


if __name__ == "__main__":
    main(sys.argv[1:])
