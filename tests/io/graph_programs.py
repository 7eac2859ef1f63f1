# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of graph_programs.txt and tells what nodes they make, or records it.

    python graph_programs.py OUT.json [PROGRAMS.txt]

writes what TensorFlow 1.15 makes, a few letters for each node; Python 3.7 reads this.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import pathlib
import re
import sys
from typing import Any

import numpy as np

TEXT = pathlib.Path(__file__).with_name("graph_programs.txt")
# Numbers that differ from run to run: of gradient functions, of tables, of temporary files.
_RANDOM = re.compile(
    rb"CustomGradient-\d+|[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|pyfunc_\d+"
)
_TOKEN = re.compile(rb"\x12.(pyfunc_|CustomGradient-)\d+", re.DOTALL)


def programs(file: pathlib.Path = TEXT) -> dict[str, str]:
    """The programs' statements by name."""
    parts = re.split(r"^\[(\w+)\]\n", file.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def run(tf: Any, text: str) -> Any:
    """The GraphDef of a program; an error that it meets ends it and becomes its last node."""
    inside = tf.__name__ == "numbaflow"

    def module(theirs: str, ours: str) -> Any:
        return importlib.import_module(
            f"numbaflow.{ours}" if inside else f"tensorflow.python.{theirs}"
        )

    with tf.Graph().as_default() as graph:
        try:
            exec(compile(text, "program", "exec"), {"tf": tf, "np": np, "module": module})
        except (AttributeError, TypeError, ValueError, LookupError) as error:
            tf.no_op(name=type(error).__name__)
        finally:
            tf.disable_resource_variables()
    return graph.as_graph_def()


def described(node: Any) -> list[Any]:
    """What is compared of a node."""
    attrs = [
        [key, _plain(node.attr[key].SerializeToString(deterministic=True)).decode("latin")]
        for key in sorted(node.attr)
    ]
    inputs = [_RANDOM.sub(b"", name.encode()).decode() for name in node.input]
    return [node.name, node.op, inputs, node.device, attrs]


def _plain(attribute: bytes) -> bytes:
    """An attribute without random numbers, nor the length that the number of a function has."""
    return _RANDOM.sub(b"", _TOKEN.sub(b"\x12\x00\\g<1>0", attribute))


def letters(node: Any) -> str:
    """A node as three letters; one in a quarter of a million others has the same."""
    digest = hashlib.sha1(json.dumps(described(node)).encode()).digest()
    return base64.b64encode(digest[:3]).decode()[:3]


def library(graph_def: Any) -> list[str]:
    """The names of a graph's functions, which tell what is in them."""
    return sorted(function.signature.name for function in graph_def.library.function)


def record(tf: Any, file: pathlib.Path = TEXT) -> dict[str, Any]:
    """What each program makes."""
    found = {}
    for name, text in programs(file).items():
        graph_def = run(tf, text)
        nodes = "".join(letters(node) for node in graph_def.node)
        found[name] = {"nodes": nodes, "functions": library(graph_def)}
    return found


if __name__ == "__main__":
    import tensorflow

    np.seterr(all="ignore")
    pathlib.Path(sys.argv[1]).write_text(
        json.dumps(record(tensorflow, *map(pathlib.Path, sys.argv[2:])), indent=0, sort_keys=True)
        + "\n"
    )
