# SPDX-License-Identifier: Apache-2.0
"""Internal modules of TensorFlow's that its public ones show.

`tf` itself has some of them, as imports leave them there: `tf.python.framework.ops.Tensor`,
`tf.pywrap_tensorflow.NewCheckpointReader`.  `tf.contrib.slim` shows others because it takes all
names of its layers: `slim.init_ops.zeros_initializer()`, `slim.variable_scope`.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from ...engine.api import lazy

# Name in `tf.contrib.slim` -> module below `tensorflow.python`.
_MODULES = {
    **{
        name: f"ops.{name}"
        for name in (
            "array_ops clip_ops control_flow_ops init_ops math_ops nn nn_ops parsing_ops "
            "random_ops resource_variable_ops sparse_ops string_ops variable_scope"
        ).split()
    },
    **{name: f"framework.{name}" for name in "dtypes ops sparse_tensor tensor_shape".split()},
    "deprecation": "util.deprecation",
    "fc_core": "feature_column.feature_column",
    "logging": "platform.tf_logging",
    "moving_averages": "training.moving_averages",
    "nest": "util.nest",
    "optimizer_": "training.optimizer",
    "sparse_tensor_py": "framework.sparse_tensor",
    "summary": "summary.summary",
    "train": "training.training",
    "vars_": "ops.variables",
    "vs": "ops.variable_scope",
}
# Name in `tf` -> module below `tensorflow`.
OF_ROOT = {"core": "core", "python": "python", "pywrap_tensorflow": "python.pywrap_tensorflow"}


def place_of(parts: list[str]) -> list[str]:
    """Where a name below `tensorflow`, by its parts, leads: that of a module shown here is its own.

    Example:
        >>> place_of(["contrib", "slim", "init_ops", "zeros_initializer"])
        ['python', 'ops', 'init_ops', 'zeros_initializer']
    """
    if parts[:2] == ["contrib", "slim"] and parts[2:3] and parts[2] in _MODULES:
        return ["python", *_MODULES[parts[2]].split("."), *parts[3:]]
    if parts and parts[0] in OF_ROOT:
        return [*OF_ROOT[parts[0]].split("."), *parts[1:]]
    return parts


def publish() -> None:
    """Makes them names of `tf.contrib.slim` and `tf`, each found when it is first used."""
    home = __name__.partition(".")[2]
    for name in _MODULES:
        lazy(f"{home}:{name}", f"contrib.slim.{name}")
    for name in OF_ROOT:
        lazy(f"{home}:{name}", name)


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return importlib.import_module(f"tensorflow.python.{_MODULES[name]}")
    if name in OF_ROOT:
        return importlib.import_module(f"tensorflow.{OF_ROOT[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
