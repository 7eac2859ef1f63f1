# SPDX-License-Identifier: Apache-2.0
"""A model in a session: its variables initialized, its steps taken one by one."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .catalog import MODELS

# What each peer imports, and calls its version.
MODULES = {
    "numbaflow": "numbaflow",
    "tensorflow": "tensorflow.compat.v1",
    "tensorflow_1_15": "tensorflow.compat.v1",
    "jax": "jax",
}


def module_of(peer: str) -> Any:
    """The peer's module, in graph mode if it has one."""
    tf = importlib.import_module(MODULES[peer])
    if peer == "jax":
        return tf
    tf.logging.set_verbosity(tf.logging.ERROR)
    if hasattr(tf, "disable_v2_behavior"):
        tf.disable_v2_behavior()
    return tf


class Steps:
    """Takes steps of a model, one batch after another; `run` returns what can be compared.

    The variables' first values are kept in the file `first`, if it is named.
    """

    def __init__(
        self, tf: Any, name: str, threads: int, sizes: dict[str, Any], first: str | None = None
    ) -> None:
        config = tf.ConfigProto(
            intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads
        )
        graph = tf.Graph()
        with graph.as_default():
            tf.set_random_seed(1)
            self._model = MODELS[name].build(tf, **sizes)
            start = tf.global_variables_initializer()
            variables = {variable.op.name: variable for variable in tf.global_variables()}
        self._session = tf.Session(graph=graph, config=config)
        self._session.run(start)
        if first is not None:
            np.savez(first, **self._session.run(variables))
        self._taken = 0

    def run(self) -> list[Any]:
        """One step: the first fetch of each of its runs."""
        feeds = self._model.batches[self._taken % len(self._model.batches)]
        self._taken += 1
        return [self._session.run(fetches, feeds)[0] for fetches in self._model.runs]

    def close(self) -> None:
        """Gives the session's memory back."""
        self._session.close()


def has(peer: str, name: str) -> bool:
    """Whether a peer has a model."""
    if peer != "jax":
        return True
    from .in_jax import MODELS as in_jax

    return name in in_jax


def steps_of(
    peer: str, tf: Any, name: str, threads: int, sizes: dict[str, Any], first: str | None = None
) -> Any:
    """A model that takes steps in a peer; JAX begins with the values of the file `first`."""
    if peer != "jax":
        return Steps(tf, name, threads, sizes, first)
    from .in_jax import JaxSteps

    return JaxSteps(name, sizes, None if first is None else dict(np.load(first)))
