# SPDX-License-Identifier: Apache-2.0
"""Modules of TensorFlow's that `tf.contrib.slim` shows because it takes all names of its layers.

Programs use them through it: `slim.init_ops.zeros_initializer()`, `slim.variable_scope`.
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


def publish() -> None:
    """Makes them names of `tf.contrib.slim`, each found when it is first used."""
    for name in _MODULES:
        lazy(f"{__name__.partition('.')[2]}:{name}", f"contrib.slim.{name}")


def __getattr__(name: str) -> ModuleType:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"tensorflow.python.{_MODULES[name]}")
