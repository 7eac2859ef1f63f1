# SPDX-License-Identifier: Apache-2.0
"""Makes networks of specs, and hyperparameters of expressions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FrameType
from typing import Any

from ....engine.api import export
from . import params_ops, specs_ops
from .specs_lib import check_keywords, exec_


def _evaluated(
    text: str, names: dict[str, Any], environment: dict[str, Any] | None
) -> dict[str, Any]:
    check_keywords(text)
    found = dict(environment or {})
    exec_(text, names, found)
    return found


@export("contrib.specs.eval_params")
def eval_params(params: str, environment: dict[str, Any] | None = None) -> dict[str, Any]:
    """What statements assign, such as "rate = Lf(1e-4, 0.1); layers = Ui(1, 3)".

    Args:
        params: the statements, in Python, with the functions of `math` and random numbers.
        environment: names that they may use.

    Returns:
        All names and values.

    Raises:
        ValueError: there is a statement such as `import`.

    Example:
        >>> tf.contrib.specs.eval_params("x = 3; y = floor(pi) + x")
        {'x': 3, 'y': 6}
    """
    return _evaluated(params, vars(params_ops), environment)  # type: ignore[no-any-return]


@export("contrib.specs.eval_spec")
def eval_spec(spec: str, environment: dict[str, Any] | None = None) -> dict[str, Any]:
    """What a spec assigns; arguments as of `create_net_fun`."""
    return _evaluated(spec, vars(specs_ops), environment)  # type: ignore[no-any-return]


@export("contrib.specs.create_net_fun")
def create_net_fun(spec: str, environment: dict[str, Any] | None = None) -> Callable[[Any], Any]:
    """The function that a spec assigns to `net`.

    Args:
        spec: statements in Python, with layers under short names.
        environment: names that it may use.

    Returns:
        A function of the network's input.

    Raises:
        ValueError: `net` is missing, or there is a statement such as `import`.
    """
    net = eval_spec(spec, environment).get("net")
    if net is None:
        raise ValueError(f"spec failed to create 'net': {spec}")
    return net.funcall  # type: ignore[no-any-return]


@export("contrib.specs.create_net")
def create_net(spec: str, inputs: Any, environment: dict[str, Any] | None = None) -> Any:
    """The network that a spec assigns to `net`, for an input; as of `create_net_fun`.

    Example:
        >>> images = tf.zeros([2, 8, 8, 3])
        >>> tf.contrib.specs.create_net("net = Cr(4, [3, 3]) | Mp([2, 2]) | Flat | Fs(10)", images)
        <tf.Tensor 'fully_connected/Sigmoid:0' shape=(2, 10) dtype=float32>
    """
    return create_net_fun(spec, environment)(inputs)


@export("contrib.specs.LocalImport")
class LocalImport:
    """A context in which names are global variables of the calling module.

    Args:
        names: a dict, or a module whose names they are.
    """

    def __init__(self, names: Any) -> None:
        self.names: dict[str, Any] = names if isinstance(names, dict) else vars(names)
        self._globals: dict[str, Any] = {}
        self._before: dict[str, Any] = {}

    def __enter__(self) -> None:
        frame = inspect.currentframe()
        caller: FrameType | None = frame.f_back if frame else None
        if caller is None:
            raise RuntimeError("this Python does not say who calls, which LocalImport needs")
        self._globals = caller.f_globals
        self._before = {key: self._globals[key] for key in self.names if key in self._globals}
        self._globals.update(self.names)

    def __exit__(self, *unused: object) -> None:
        for key in self.names:
            if key in self._before:
                self._globals[key] = self._before[key]
            else:
                self._globals.pop(key, None)


ops = LocalImport(specs_ops)
