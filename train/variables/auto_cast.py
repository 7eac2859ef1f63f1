# SPDX-License-Identifier: Apache-2.0
"""Variables of layers that compute in another dtype: read, they are cast to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.defaults import get_default_graph
from ...ops.public import tf
from ...ops.state.resource_variable import is_resource_variable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.types.dtypes import DType


class AutoCastVariable:
    """A variable that is read in the dtype of the layer that is called.

    It is the variable itself, by another class: they have all attributes in common.

    Args:
        variable: a float variable behind a handle.

    Raises:
        ValueError: it is none.
    """

    def __new__(cls, variable: Any) -> Any:
        """The variable, as a variable that is cast."""
        if not is_resource_variable(variable):
            raise ValueError(f"variable must be of type tf.ResourceVariable, but got: {variable}")
        if not variable.dtype.is_floating:
            raise ValueError(
                f"variable must be a floating point variable but has type: {variable.dtype.name}"
            )
        made: Any = object.__new__(_cast_class(type(variable)))
        made.__dict__ = variable.__dict__
        return made


class _AutoCast(AutoCastVariable):
    """What reads a variable in the dtype that its graph asks for."""

    def __init__(self, variable: Any) -> None:
        del variable  # (The attributes are those of the variable.)

    def _read_dtype(self) -> DType | None:
        wanted = get_default_graph()._auto_cast_variable_read_dtype
        return None if wanted is None or wanted == self.true_dtype else wanted

    @property
    def true_dtype(self) -> Any:
        """The dtype of the variable."""
        return self._dtype  # type: ignore[attr-defined]

    @property
    def dtype(self) -> Any:
        """The dtype in which it is read now."""
        return self._read_dtype() or self.true_dtype

    def __repr__(self) -> str:
        return (
            f"<AutoCastVariable {self.name!r} shape={self.shape} "  # type: ignore[attr-defined]
            f"dtype={self.dtype.name} true_dtype={self.true_dtype.name}>"
        )

    def _cast(self, value: Any) -> Any:
        wanted = self._read_dtype()
        return value if wanted is None else tf.cast(value, wanted)

    def _changed(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """What a method that changes the variable returns; it is changed in its own dtype."""
        with get_default_graph()._enable_auto_casting_variables(None):
            return getattr(super(), method)(*args, **kwargs)

    def assign(self, *args: Any, **kwargs: Any) -> Any:
        """Assigns a value of the variable's own dtype."""
        return self._changed("assign", *args, **kwargs)

    def assign_add(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a value of the variable's own dtype."""
        return self._changed("assign_add", *args, **kwargs)

    def assign_sub(self, *args: Any, **kwargs: Any) -> Any:
        """Subtracts a value of the variable's own dtype."""
        return self._changed("assign_sub", *args, **kwargs)

    def value(self) -> Any:
        """The value, cast."""
        return self._cast(super().value())  # type: ignore[misc]

    def read_value(self) -> Any:
        """The value, read by an operation of its own and cast."""
        return self._cast(super().read_value())  # type: ignore[misc]

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Any:
        """The rows at `indices`, cast."""
        return self._cast(super().sparse_read(indices, name=name))  # type: ignore[misc]

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Any:
        """The slices that `indices` names, cast."""
        return self._cast(super().gather_nd(indices, name=name))  # type: ignore[misc]


_classes: dict[Any, Any] = {}


def _cast_class(kind: Any) -> Any:
    """The class of variables of a class that are cast."""
    if kind not in _classes:
        _classes[kind] = type(f"AutoCast{kind.__name__}", (_AutoCast, kind), {})
    return _classes[kind]
