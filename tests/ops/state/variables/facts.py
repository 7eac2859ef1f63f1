# SPDX-License-Identifier: Apache-2.0
"""Runs a program and writes down everything that a user could see of it, as JSON holds it.

A program is a function of the module `tf` and of `say`, which notes values, and what functions
return or raise.  At its end come the graph's nodes and collections.  Python 3.7 runs it too.
"""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# What differs between two runs, two versions of Python or of NumPy, or by the names of modules.
CLEANINGS = (
    # What a misspelt name may have meant is said here only.
    (r"; did you mean .*$", ""),
    (r"<([\w.]+\.)?(\w+) object at 0x[0-9a-f]+>", r"<\2 object>"),
    (r"<(bound method|function) ([\w.<>]+) ?(of .*)?(at 0x[0-9a-f]+)?>", r"<\1 \2>"),
    (r"<class '[\w.]+\.(\w+)'>", r"<class '\1'>"),
    (r" at 0x[0-9a-f]+", ""),
    (r"(?<=[ '/(])_\d+_(?=\w)", "_N_"),
    (r"_temp_[0-9a-f]{32}", "_temp"),
    (re.escape(HERE) + "/", ""),
    (r"'?numbaflow'?(?= has no attribute)", "'tensorflow'"),
    (r"[\w.<>]+\.(\w+|<lambda>)\(\) (got|missing|takes)", r"\1() \2"),
    (r"_variable_v1_call\(\)|_variable_arguments\(\)", "call()"),
    (r", got '\w+'$", ""),
    (r"or a (real )?number", "or a number"),
    (r"can't pickle (\S+) objects", r"cannot pickle '\1' object"),
    (r"property '\w+' of '\w+' object has no setter", "can't set attribute"),
    (r'(?s)  File "/\S+/template.py", line \d+, in make_template\n.*?\n', ""),
    (r"(setting an array element with a sequence\.).*", r"\1"),
    # Where an error comes from: not the subject here.
    (r"(?s)Originally defined at:.*", "Originally defined at:"),
    (r"\n\t \[\[.*\]\]", ""),
    (r"(?s)\n\n(Original stack trace|Errors may have originated).*", ""),
    # Names that TensorFlow keeps to itself.
    ("reduce_sum_v1", "reduce_sum"),
    ("VariableAggregationV2", "VariableAggregation"),
)


class Say:
    """Notes facts, in order."""

    def __init__(self, tf: Any, folder: str) -> None:
        self.tf, self.folder, self.facts = tf, folder, []
        self._session: Any = None

    @property
    def session(self) -> Any:
        """A session on the program's graph."""
        if self._session is None:
            self._session = self.tf.Session(graph=self.tf.get_default_graph())
        return self._session

    def __call__(self, *values: Any) -> Any:
        """Notes values; of functions what they return or raise.  Gives the last one."""
        result = None
        for value in values:
            result = self._noted(value)
        return result

    def _noted(self, value: Any) -> Any:
        if callable(value) and not isinstance(value, type) and not hasattr(value, "get_config"):
            try:
                value = value()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what is compared
                message = getattr(error, "message", None) or str(error)
                if isinstance(error, KeyError):
                    message = str(error.args[0])
                self.facts.append({"raises": [type(error).__name__, self.text(message)]})
                return None
        self.facts.append(self.plain(value))
        return value

    def run(self, *fetches: Any, **options: Any) -> None:
        """Notes what fetches give, one after the other."""
        for fetch in fetches:
            self(lambda: self.session.run(fetch, **options))  # noqa: B023 - called at once

    def init(self) -> None:
        """Initializes all variables."""
        tf = self.tf
        self.session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])

    def text(self, text: str) -> str:
        """Text without what has to differ."""
        text = text.replace(self.folder, "FOLDER")
        for pattern, replacement in CLEANINGS:
            text = re.sub(pattern, replacement, text)
        return text

    def plain(self, value: Any) -> Any:
        """A value as JSON holds it."""
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, float):
            return value if np.isfinite(value) else str(value)
        if isinstance(value, (str, bytes)):
            is_text = isinstance(value, str)
            return self.text(value) if is_text else "b" + self.text(value.decode("latin-1"))
        if isinstance(value, (np.ndarray, np.generic)):
            return ["array", str(value.dtype), list(value.shape), self.plain(value.tolist())]
        return self._container(value)

    def _container(self, value: Any) -> Any:
        if hasattr(value, "_fields"):
            return [type(value).__name__] + [self.plain(v) for v in value]
        if isinstance(value, dict):
            return {str(k): self.plain(v) for k, v in value.items()}
        if type(value) in (list, tuple):
            return [self.plain(v) for v in value]
        return self._object(value)

    def _object(self, value: Any) -> Any:
        if type(value).__name__ == "NodeDef":
            return self.node(value)
        if hasattr(value, "DESCRIPTOR"):
            return self.text(str(value))
        if isinstance(value, type):
            return "class " + value.__name__
        if hasattr(value, "get_config"):
            return [type(value).__name__, self.plain(value.get_config())]
        return self.text(repr(value))

    def node(self, node: Any) -> Any:
        """A NodeDef."""
        attrs = {key: self._attr(node.attr[key]) for key in sorted(node.attr)}
        return [node.name, node.op, list(node.input), node.device, attrs]

    def _attr(self, value: Any) -> Any:
        kind = value.WhichOneof("value")
        if kind == "tensor":
            return self.plain(self.tf.make_ndarray(value.tensor))
        if kind in ("s", "i", "b", "type"):
            return self.plain(getattr(value, kind))
        return " ".join(str(value).split())

    def graph(self) -> None:
        """Notes the nodes and collections of the default graph."""
        graph = self.tf.get_default_graph()
        nodes = {node.name: node for node in graph.as_graph_def().node}
        for op in graph.get_operations():
            inputs = [name[:-2] if name.endswith(":0") else name for name in op.node_def.input]
            outputs = [[x.dtype.name, str(x.shape)] for x in op.outputs]
            self.facts.append(["node", self.node(nodes[op.name]), inputs, outputs])
        keys = [k for k in graph.get_all_collection_keys() if isinstance(k, str)]
        for key in sorted(key for key in keys if not key.startswith("__")):
            self.facts.append(["collection", key, self.plain(graph.get_collection(key))])


def run(tf: Any, program: Any) -> Any:
    """The facts of one program, which runs in a graph and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        say = Say(tf, folder)
        tf.set_random_seed(11)
        program(tf, say)
        say.graph()
        if say._session is not None:
            say._session.close()
    return say.facts


def programs_of(module: Any) -> Any:
    """The programs of a module, by name."""
    return {
        f"{module.__name__}.{name}": value
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__ and not name.startswith("_")
    }


def close(x: Any, y: Any) -> bool:
    """Whether two facts agree; floats to single precision."""
    if isinstance(x, float) and isinstance(y, float):
        return x == y or abs(x - y) <= 3e-5 * max(abs(x), abs(y), 1e-3)
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(map(close, x, y))
    if isinstance(x, dict) and isinstance(y, dict):
        return list(x) == list(y) and all(close(x[key], y[key]) for key in x)
    return type(x) is type(y) and x == y
