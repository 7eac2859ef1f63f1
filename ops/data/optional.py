# SPDX-License-Identifier: Apache-2.0
"""`tf.data.experimental.Optional`: an element, or nothing."""

from __future__ import annotations

from typing import Any

from ...engine.api import export
from ...engine.graph.graph import name_scope
from ...engine.interface.specs import TensorSpec, TypeSpec
from ...engine.types import dtypes
from ..public import raw
from . import structure


@export("data.experimental.Optional")
class Optional:
    """An element that may be missing.

    Example:
        >>> optional = tf.data.experimental.Optional.from_value(3)
        >>> tf.Session().run([optional.has_value(), optional.get_value()])
        [np.True_, np.int32(3)]
    """

    def has_value(self, name: str | None = None) -> Any:
        """A truth value: whether there is an element."""
        raise NotImplementedError("Optional.has_value()")

    def get_value(self, name: str | None = None) -> Any:
        """The element; InvalidArgumentError in a run if there is none."""
        raise NotImplementedError("Optional.get_value()")

    @property
    def value_structure(self) -> Any:
        """The types of the element's components, in its structure."""
        raise NotImplementedError("Optional.value_structure")

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An optional with a value."""
        with name_scope("optional") as scope:
            with name_scope("value"):
                spec = structure.type_spec_from_value(value)
                tensors = structure.to_tensor_list(spec, value)
            return _OptionalImpl(raw.OptionalFromValue(tensors, name=scope), spec)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Optional:
        """An optional without a value, of a type."""
        return _OptionalImpl(raw.OptionalNone(), value_structure)


class _OptionalImpl(Optional):
    """An optional as the value of a variant tensor."""

    def __init__(self, variant_tensor: Any, value_structure: Any) -> None:
        self._variant_tensor = variant_tensor
        self._value_structure = value_structure

    def has_value(self, name: str | None = None) -> Any:
        """A truth value: whether there is an element."""
        return raw.OptionalHasValue(self._variant_tensor, name=name)

    def get_value(self, name: str | None = None) -> Any:
        """The element; InvalidArgumentError in a run if there is none."""
        with name_scope(name, "OptionalGetValue", [self._variant_tensor]) as scope:
            flat = raw.OptionalGetValue(
                self._variant_tensor,
                name=scope,
                output_types=structure.get_flat_tensor_types(self._value_structure),
                output_shapes=structure.get_flat_tensor_shapes(self._value_structure),
            )
            return structure.from_tensor_list(self._value_structure, flat)

    @property
    def value_structure(self) -> Any:
        """The types of the element's components, in its structure."""
        return self._value_structure

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec.from_value(self)


@export("OptionalSpec", "data.experimental.OptionalStructure")
class OptionalSpec(TypeSpec):
    """The type of optionals of a type of elements.

    Args:
      value_structure: The types of the element's components, in its structure.
    """

    __slots__ = ("_value_structure",)

    def __init__(self, value_structure: Any) -> None:
        self._value_structure = value_structure

    @property
    def value_type(self) -> type:
        """The class of optionals."""
        return _OptionalImpl

    def _serialize(self) -> tuple[Any, ...]:
        return (self._value_structure,)

    @property
    def _component_specs(self) -> list[TensorSpec]:
        return [TensorSpec((), dtypes.variant)]

    def _to_components(self, value: Any) -> list[Any]:
        return [value._variant_tensor]

    def _from_components(self, components: Any) -> _OptionalImpl:
        return _OptionalImpl(components[0], self._value_structure)

    @staticmethod
    def from_value(value: Any) -> OptionalSpec:
        """The type of an optional."""
        return OptionalSpec(value.value_structure)

    def _to_legacy_output_types(self) -> Any:
        return self

    def _to_legacy_output_shapes(self) -> Any:
        return self

    def _to_legacy_output_classes(self) -> Any:
        return self
