# SPDX-License-Identifier: Apache-2.0
"""`tf.keras`, as far as programs without its models use it: a base class, functions, and names.

What is not here can be inherited and named, and fails with its name when it is called.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from ...engine.interface.missing import known_names
from .absent import absent

_ROOT = __package__.partition(".")[0]
_INSTEAD = "; the package Keras 2.2.5 runs on it"

_ACTIVATIONS = "elu relu selu sigmoid softmax softplus softsign tanh"
_INITIALIZERS = {
    "Constant constant": "constant_initializer",
    "Identity identity": "initializers.identity",
    "Ones ones": "ones_initializer",
    "Orthogonal orthogonal": "orthogonal_initializer",
    "VarianceScaling": "variance_scaling_initializer",
    "Zeros zeros": "zeros_initializer",
    "RandomNormal normal random_normal": ".alias.internals.keras_initializers:RandomNormal",
    "RandomUniform random_uniform uniform": ".alias.internals.keras_initializers:RandomUniform",
    "TruncatedNormal truncated_normal": ".alias.internals.keras_initializers:TruncatedNormal",
    "deserialize": ".alias.internals.keras_initializers:deserialize",
    "get": ".alias.internals.keras_initializers:get",
    "serialize": ".alias.internals.keras_initializers:serialize",
    "glorot_normal": "glorot_normal_initializer",
    "glorot_uniform": "glorot_uniform_initializer",
    "he_normal": "initializers.he_normal",
    "he_uniform": "initializers.he_uniform",
    "lecun_normal": "initializers.lecun_normal",
    "lecun_uniform": "initializers.lecun_uniform",
}
_FUNCTIONS = {
    "backend": "clear_session epsilon floatx get_session image_data_format is_sparse set_epsilon "
    "set_floatx set_image_data_format set_session",
    "preprocessing.sequence": "pad_sequences",
    "regularizers": "L1L2 Regularizer l1 l1_l2 l2",
    "utils": "normalize to_categorical",
}
# Name below `tf.keras` -> ".module:name" or a public name.
_HERE = {
    "layers.Layer": ".train.layers.base_layer:Layer",
    "layers.InputSpec": ".train.layers.input_spec:InputSpec",
    **{
        f"layers.{name}": f".alias.internals.keras_activations:{name}"
        for name in "Activation ELU LeakyReLU PReLU ReLU Softmax ThresholdedReLU".split()
    },
    "activations.get": ".alias.internals.keras_view:activation",
    "utils.get_custom_objects": ".alias.internals.keras_view:get_custom_objects",
    **{f"activations.{name}": f"nn.{name}" for name in _ACTIVATIONS.split()},
    **{
        f"{place}.{name}": f".alias.internals.keras_functions:{name}"
        for place, names in _FUNCTIONS.items()
        for name in names.split()
    },
    "activations.sigmoid": "sigmoid",
    "activations.tanh": "tanh",
    "activations.exponential": "exp",
    **{
        f"initializers.{name}": target
        for names, target in _INITIALIZERS.items()
        for name in names.split()
    },
}


class View(ModuleType):
    """One namespace of it."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{_ROOT}.{path}")
        self.__path__: list[str] = []
        vars(self)["_path"] = path

    def __getattr__(self, name: str) -> Any:
        full = f"{self._path}.{name}"
        if full.removeprefix("keras.") in _HERE:
            found = _found(_HERE[full.removeprefix("keras.")])
        elif full in known_names() or _leads_to_names(full.removeprefix("keras.")):
            found = namespace(full)
        elif name in known_names().get(self._path, ()):
            found = absent(f"tf.{full}", _INSTEAD)
        else:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        vars(self)[name] = found
        return found


def _leads_to_names(place: str) -> bool:
    # Namespaces that are packages of their own are not among those of TensorFlow's list.
    return any(name.startswith(f"{place}.") for name in _HERE)


def _found(target: str) -> Any:
    module, _, name = target.partition(":")
    if name:
        return getattr(importlib.import_module(module, _ROOT), name)
    place: Any = importlib.import_module(_ROOT)
    for part in target.split("."):
        place = getattr(place, part)
    return place


def namespace(path: str = "keras") -> View:
    """The view of a namespace, which `import` finds, too."""
    full = f"{_ROOT}.{path}"
    found = sys.modules.get(full)
    if not isinstance(found, View):
        found = sys.modules[full] = View(path)
    return found


def activation(identifier: Any) -> Any:
    """An activation function by its name (tf.keras.activations.get).

    Raises:
        ValueError: there is none of that name.
        TypeError: it is neither a name nor a function.
    """
    if identifier is None or identifier == "linear":
        return lambda x: x
    if isinstance(identifier, str):
        target = _HERE.get(f"activations.{identifier}", "")
        if not target or identifier == "get":
            raise ValueError(f"Unknown activation function:{identifier}")
        return _found(target)
    if not callable(identifier):
        raise TypeError(f"Could not interpret activation function identifier: {identifier!r}")
    return identifier


def get_custom_objects() -> dict[str, Any]:
    """The classes and functions that libraries gave names to (get_custom_objects)."""
    return _custom_objects


def register_symbolic_tensor_type(cls: type) -> None:
    """Notes a class whose objects layers of Keras, of which none are here, take for tensors."""
    _symbolic.add(cls)


_custom_objects: dict[str, Any] = {}
_symbolic: set[type] = set()
KERAS = namespace()
