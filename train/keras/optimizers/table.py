# SPDX-License-Identifier: Apache-2.0
"""All optimizers by their names, and those of `tf.train` as optimizers of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....engine.graph.trackable import Trackable
from ....ops.public import tf
from ...optimizers.optimizer import Optimizer as TrainOptimizer
from ..serialization import Family, serialize_keras_object
from . import further_rules, rules
from .base import Optimizer


class TFOptimizer(Trackable):
    """An optimizer of `tf.train` as one of models.

    Args:
        optimizer: the optimizer.
        iterations: a variable that counts updates; the global step, or a new one, if None.
    """

    def __init__(self, optimizer: TrainOptimizer, iterations: Any = None) -> None:
        self.optimizer = optimizer
        self._track_trackable(optimizer, "optimizer")
        if iterations is None:
            from ...layers.weights import make_variable, track

            with tf.init_scope():
                iterations = make_variable(
                    "iterations", (), tf.int64, tf.zeros_initializer(), trainable=False
                )
                track(iterations)
        self.iterations = iterations
        self._track_trackable(iterations, "global_step")

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The operations that update variables by a loss's gradients."""
        from ...layers.weights import track, tracked

        if not params:
            return [tf.assign_add(self.iterations, 1)]
        pairs = self.optimizer.compute_gradients(loss, params)
        update = self.optimizer.apply_gradients(pairs, global_step=self.iterations)
        known = {id(v) for v in tracked(self.iterations.graph)}
        for variable in self.optimizer.variables():
            if id(variable) not in known:
                track(variable)
        return [update]

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The gradients of a loss."""
        return [g for g, _ in self.optimizer.compute_gradients(loss, params)]

    @property
    def weights(self) -> list[Any]:
        """None: what the optimizer keeps is not read this way."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """None: optimizers of `tf.train` have no configuration."""
        raise NotImplementedError

    def from_config(self, config: dict[str, Any]) -> Any:
        """None: optimizers of `tf.train` have no configuration."""
        raise NotImplementedError


_CLASSES = {
    name: value
    for module in (rules, further_rules)
    for name, value in vars(module).items()
    if isinstance(value, type)
    and issubclass(value, Optimizer)
    and name not in ("Optimizer", "Rule")
}
_FAMILY = Family("optimizer", {**_CLASSES, **{n.lower(): c for n, c in _CLASSES.items()}})
serialize = serialize_keras_object


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The optimizer of what `serialize` gave; ValueError if there is none."""
    name = config["class_name"]
    if name.lower() in _FAMILY:
        # (In place: programs compare what they gave with what `serialize` gives behind it.)
        config["class_name"] = name.lower()
    return _FAMILY.deserialize(config, custom_objects)


def get(identifier: Any) -> Any:
    """The optimizer that an argument means: its name, its description or itself.

    Raises:
        ValueError: it is something else.
    """
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}})
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if isinstance(identifier, TrainOptimizer):
        return TFOptimizer(identifier)
    if isinstance(identifier, (Optimizer, TFOptimizer)) or hasattr(identifier, "get_updates"):
        return identifier
    raise ValueError(f"Could not interpret optimizer identifier: {identifier}")
