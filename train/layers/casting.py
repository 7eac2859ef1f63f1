# SPDX-License-Identifier: Apache-2.0
"""The dtypes of a layer: of its variables, and of what it computes (policy.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes, nest
from ...ops.public import tf
from . import policy as policies
from .policy import Policy

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike
    from ...engine.types.dtypes import DType


class Casting:
    """What has a policy, of which its dtype is a part."""

    _dtype_policy: Policy
    _autocast: bool

    @property
    def _dtype(self) -> str | None:
        """The name of the dtype of the variables; None until something decides."""
        return self._dtype_policy.variable_dtype

    @_dtype.setter
    def _dtype(self, value: DTypeLike | None) -> None:
        name = None if value is None else dtypes.as_dtype(value).base_dtype.name
        self._dtype_policy = policies.INFER if name is None else policies.of_dtype(name)

    def _set_dtype_policy(self, dtype: DTypeLike | Policy | None) -> None:
        if isinstance(dtype, Policy):
            self._dtype_policy = dtype
        elif dtype is None:
            self._dtype_policy = policies.global_policy()
        else:
            self._dtype = dtype

    @property
    def _compute_dtype(self) -> str | None:
        """The name of the dtype in which the layer computes; None until something decides."""
        return self._dtype_policy.compute_dtype

    def _cast_dtype(self) -> DType | None:
        """The dtype in which variables are read, if it is a float."""
        name = self._dtype_policy.compute_dtype
        found = None if name is None else dtypes.as_dtype(name)
        return found if found is not None and found.is_floating else None

    def _cast_inputs(self, inputs: Any) -> Any:
        """Float inputs in the dtype in which the layer computes, where it casts them."""
        wanted = self._cast_dtype() if self._autocast else None
        if wanted is None:
            return inputs

        def cast(x: Any) -> Any:
            is_tensor = isinstance(x, Tensor) or nest.is_composite(x)
            is_cast = is_tensor and x.dtype.is_floating and x.dtype.base_dtype != wanted
            return tf.cast(x, wanted) if is_cast else x

        return nest.map_structure(cast, inputs)

    @property
    def dtype(self) -> str | None:
        """The name of the dtype of the variables; None before one is known."""
        return self._dtype


def cast_variable(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A variable that is read in the dtype of the layer that is called."""
    from ..variables.auto_cast import AutoCastVariable

    return AutoCastVariable(getter(*args, **kwargs))
