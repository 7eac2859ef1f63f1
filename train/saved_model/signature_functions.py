# SPDX-License-Identifier: Apache-2.0
"""Functions as the signatures of a SavedModel: named tensors to named tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...engine.graph.tensor import Tensor
from ...engine.graph.trackable import Trackable
from ...engine.interface.specs import TensorSpec
from ...engine.types import nest
from ...ops.flow.concrete_functions import ConcreteFunction
from ...ops.flow.graph_functions import Function, function
from . import names

DEFAULT_SIGNATURE_ATTR = "_default_save_signature"
SIGNATURE_ATTRIBUTE_NAME = "signatures"


class SignatureMap(Mapping, Trackable):
    """The signatures of a SavedModel by name; what `load` makes cannot be changed."""

    def __init__(self) -> None:
        self._signatures: dict[str, ConcreteFunction] = {}

    def _add_signature(self, name: str, concrete_function: ConcreteFunction) -> None:
        self._signatures[name] = concrete_function

    def __getitem__(self, key: str) -> ConcreteFunction:
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def _list_functions_for_serialization(self, cache: object) -> dict[str, Any]:
        return {key: value for key, value in self.items() if _is_function(value)}


def _is_function(value: object) -> bool:
    return isinstance(value, (Function, ConcreteFunction))


def _concrete(candidate: Any) -> Any:
    """The function of a signature; None for what can be none."""
    if isinstance(candidate, Function) and candidate.input_signature is not None:
        return candidate.get_concrete_function()
    return candidate if isinstance(candidate, ConcreteFunction) else None


def _is_valid(candidate: ConcreteFunction) -> bool:
    if not candidate.outputs:
        return False  # A signature without results could not be run.
    try:
        _normalized(candidate.structured_outputs, "unused", "unused")
    except ValueError:
        return False
    return True


def find_function_to_export(view: Any) -> Any:
    """The function of the root that is the signature if none is given; None if that is not clear.

    view: what lists the functions of objects (object_saving.py).
    """
    functions = view.list_functions(view.root)
    default = functions.get(DEFAULT_SIGNATURE_ATTR)
    if default is not None:
        return default
    found = [_concrete(candidate) for candidate in functions.values()]
    valid = [candidate for candidate in found if candidate is not None and _is_valid(candidate)]
    return valid[0] if len(valid) == 1 else None


def canonicalize_signatures(signatures: Any) -> dict[str, ConcreteFunction]:
    """The signatures by name, each a function from named tensors to a dict of such.

    Raises:
        ValueError: one is no function for arguments of one kind, or returns nested structures.
    """
    if signatures is None:
        return {}
    if not isinstance(signatures, Mapping):
        signatures = {names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    return {key: _wrapped(key, given) for key, given in signatures.items()}


def _wrapped(key: str, given: Any) -> ConcreteFunction:
    inner = _concrete(given)
    if inner is None:
        raise ValueError(
            "Expected a TensorFlow function to generate a signature for, but got "
            f"{given}. Only `tf.functions` with an input signature or concrete functions can be "
            "used as a signature."
        )

    def signature_wrapper(**kwargs: Any) -> Any:
        return _normalized(inner(**kwargs), inner.name, key)

    specs = {
        keyword: TensorSpec(placed.shape, placed.dtype, keyword)
        for keyword, placed in zip(inner._arg_keywords, inner.inputs)
    }
    made = function(signature_wrapper, autograph=False).get_concrete_function(**specs)
    # One argument needs no name; several have no order.
    made._num_positional_args = 1 if len(made._arg_keywords) == 1 else 0
    return made


def _normalized(outputs: Any, function_name: str, key: str) -> dict[str, Any]:
    """The results of a signature by name, numbered if they have none."""
    if isinstance(outputs, Mapping):
        for name, value in outputs.items():
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"Got a dictionary containing non-Tensor value {value} for key {name} in the "
                    f"output of the function {function_name} used to generate a SavedModel "
                    "signature. Dictionaries outputs for functions used as signatures should have "
                    "one Tensor output per string key."
                )
        return dict(outputs)
    found = outputs if isinstance(outputs, Sequence) else [outputs]
    if any(nest.is_sequence(value) or nest.is_composite(value) for value in found):
        raise ValueError(
            f"Got non-flat outputs '{outputs}' from '{function_name}' for SavedModel signature "
            f"'{key}'. Signatures have one Tensor per output, so to have predictable names Python "
            "functions used to generate these signatures should avoid outputting Tensors in "
            "nested structures."
        )
    return {f"output_{i}": value for i, value in enumerate(found)}


def create_signature_map(signatures: Mapping[str, ConcreteFunction]) -> SignatureMap:
    """The signatures as an object that a SavedModel holds."""
    made = SignatureMap()
    for name, signature in signatures.items():
        made._add_signature(name, signature)
    return made


def validate_saveable_view(view: Any) -> None:
    """Raises ValueError if the root has an attribute in whose place the signatures would stand."""
    for name, dependency in view.list_dependencies(view.root):
        if name == SIGNATURE_ATTRIBUTE_NAME and not isinstance(dependency, SignatureMap):
            raise ValueError(
                f"Exporting an object {view.root} which has an attribute named "
                f"'{SIGNATURE_ATTRIBUTE_NAME}'. This is a reserved attribute used to store "
                "SavedModel signatures in objects which come from `tf.saved_model.load`. Delete "
                "this attribute (e.g. 'del obj.signatures') before saving if this shadowing is "
                "acceptable."
            )
