# SPDX-License-Identifier: Apache-2.0
"""Bijectors of other bijectors or of functions: one after the other, backwards, inline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .....engine.api import export
from .....engine.graph.convert import convert_to_tensor
from .....engine.graph.tensor import Tensor
from .....engine.types.shape import TensorShape
from .....ops.distributions.bijector import Bijector, Identity
from .....ops.public import tf

if TYPE_CHECKING:
    from .....engine.graph.annotations import TensorLike

export("contrib.distributions.bijectors.Bijector")(Bijector)
export("contrib.distributions.bijectors.Identity")(Identity)


def _compute_min_event_ndims(
    bijector_list: Sequence[Bijector], compute_forward: bool = True
) -> int:
    """The least rank that a chain of bijectors takes, one way or the other."""
    least = rank = 0
    for one in reversed(bijector_list) if compute_forward else bijector_list:
        takes, gives = one.forward_min_event_ndims, one.inverse_min_event_ndims
        if not compute_forward:
            takes, gives = gives, takes
        # What comes in has `rank` dimensions so far, and must have as many as this one takes.
        least += max(0, takes - rank)
        rank = max(takes, rank) - (takes - gives)
    return least


@export("contrib.distributions.bijectors.Chain")
class Chain(Bijector):
    """Several bijectors, of which the last is applied first."""

    def __init__(
        self,
        bijectors: Sequence[Bijector] | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parts = () if bijectors is None else bijectors
        self._bijectors = parts
        for part in parts:
            if not part._is_injective:
                raise NotImplementedError(
                    f"Invert is not implemented for non-injective bijector ({part.name})"
                )
        found = list({part.dtype for part in parts})
        known = [dtype for dtype in found if dtype is not None]
        if len(found) > 2 or len(known) > 1:
            raise ValueError(f"incompatible dtypes: {found}")
        joined = "_of_".join(["chain", *(part.name for part in parts)])
        super().__init__(
            graph_parents=[parent for part in parts for parent in part.graph_parents],
            forward_min_event_ndims=_compute_min_event_ndims(parts, compute_forward=True),
            inverse_min_event_ndims=_compute_min_event_ndims(parts, compute_forward=False),
            is_constant_jacobian=all(part.is_constant_jacobian for part in parts),
            validate_args=validate_args,
            dtype=known[0] if known else None,
            name=name or (joined if parts else "identity"),
        )

    @property
    def bijectors(self) -> Sequence[Bijector]:
        """The bijectors, of which the last is applied first."""
        return self._bijectors

    def _shape(self, what: str, shape: object) -> Any:
        is_forward = what.startswith("forward")
        for part in reversed(self.bijectors) if is_forward else self.bijectors:
            shape = getattr(part, what)(shape)
        return shape

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return self._shape("forward_event_shape", input_shape)

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return self._shape("forward_event_shape_tensor", input_shape)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return self._shape("inverse_event_shape", output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return self._shape("inverse_event_shape_tensor", output_shape)

    def _forward(self, x: Tensor, **kwargs: Any) -> Tensor:
        for part in reversed(self.bijectors):
            x = part.forward(x, **kwargs.get(part.name, {}))
        return x

    def _inverse(self, y: Tensor, **kwargs: Any) -> Tensor:
        for part in self.bijectors:
            y = part.inverse(y, **kwargs.get(part.name, {}))
        return y

    def _log_det(self, way: str, x: Tensor, least: int, kwargs: dict[str, Any]) -> Tensor:
        """The sum of what all parts contribute, each with the rank of events that it sees."""
        x = convert_to_tensor(x, name="x" if way == "forward" else "y")
        total = tf.cast(0.0, dtype=x.dtype.base_dtype)
        if not self.bijectors:
            return total
        rank: Any = least
        is_known = x.shape.is_fully_defined()
        if is_known:
            shape: Any = x.shape[len(x.shape) - rank :]
        else:
            shape = tf.shape(x)[tf.rank(x) - rank :]
        for part in reversed(self.bijectors) if way == "forward" else self.bijectors:
            given = kwargs.get(part.name, {})
            total += getattr(part, f"{way}_log_det_jacobian")(x, event_ndims=rank, **given)
            if is_known and x.shape.is_fully_defined() and isinstance(rank, int):
                shape = getattr(part, f"{way}_event_shape")(shape)
                rank = self._maybe_get_static_event_ndims(shape.ndims)
            else:
                if isinstance(shape, TensorShape):
                    shape = shape.as_list()
                shape = getattr(part, f"{way}_event_shape_tensor")(shape)
                size = tf.size(shape)
                known = self._maybe_get_static_event_ndims(size)
                rank = size if known is None else known
                is_known = False
            x = getattr(part, way)(x, **given)
        return total

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Any) -> Tensor:
        return self._log_det("inverse", y, self.inverse_min_event_ndims, kwargs)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Any) -> Tensor:
        return self._log_det("forward", x, self.forward_min_event_ndims, kwargs)


@export("contrib.distributions.bijectors.Invert")
class Invert(Bijector):
    """A bijector the other way round."""

    def __init__(
        self, bijector: Bijector, validate_args: bool = False, name: str | None = None
    ) -> None:
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            name=name or f"invert_{bijector.name}",
        )

    @property
    def bijector(self) -> Bijector:
        """The bijector whose inverse this is."""
        return self._bijector

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return self.bijector._inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return self.bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return self.bijector._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return self.bijector._forward_event_shape_tensor(output_shape)

    def _forward(self, x: Tensor, **kwargs: Any) -> Tensor:
        return self.bijector._inverse(x, **kwargs)

    def _inverse(self, y: Tensor, **kwargs: Any) -> Tensor:
        return self.bijector._forward(y, **kwargs)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Any) -> Tensor:
        return self.bijector._forward_log_det_jacobian(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Any) -> Tensor:
        return self.bijector._inverse_log_det_jacobian(x, **kwargs)


_Function = Callable[..., Any] | None


@export("contrib.distributions.bijectors.Inline")
class Inline(Bijector):
    """A bijector of functions; what is not given is not implemented, shapes stay as they are."""

    def __init__(
        self,
        forward_fn: _Function = None,
        inverse_fn: _Function = None,
        inverse_log_det_jacobian_fn: _Function = None,
        forward_log_det_jacobian_fn: _Function = None,
        forward_event_shape_fn: _Function = None,
        forward_event_shape_tensor_fn: _Function = None,
        inverse_event_shape_fn: _Function = None,
        inverse_event_shape_tensor_fn: _Function = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ) -> None:
        self._functions = {
            key.removesuffix("_fn"): value for key, value in locals().items() if key.endswith("_fn")
        }
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )

    def _given(self, what: str, x: Tensor, kwargs: dict[str, Any]) -> Any:
        function = self._functions[what]
        if not callable(function):
            raise NotImplementedError(f"{what}_fn is not a callable function.")
        return function(x, **kwargs)

    def _given_shape(self, what: str, shape: object) -> Any:
        function = self._functions[what]
        return shape if function is None else function(shape)

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return self._given_shape("forward_event_shape", input_shape)

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return self._given_shape("forward_event_shape_tensor", input_shape)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return self._given_shape("inverse_event_shape", output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return self._given_shape("inverse_event_shape_tensor", output_shape)

    def _forward(self, x: Tensor, **kwargs: Any) -> Tensor:
        return self._given("forward", x, kwargs)

    def _inverse(self, y: Tensor, **kwargs: Any) -> Tensor:
        return self._given("inverse", y, kwargs)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Any) -> Tensor:
        return self._given("inverse_log_det_jacobian", y, kwargs)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Any) -> Tensor:
        return self._given("forward_log_det_jacobian", x, kwargs)


@export("contrib.distributions.bijectors.ConditionalBijector")
class ConditionalBijector(Bijector):
    """A bijector whose methods take named arguments besides, and hand them on."""

    def forward(self, x: TensorLike, name: str = "forward", **condition_kwargs: Any) -> Any:
        """The y of an x."""
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y: TensorLike, name: str = "inverse", **condition_kwargs: Any) -> Any:
        """The x of a y."""
        return self._call_inverse(y, name, **condition_kwargs)

    def inverse_log_det_jacobian(
        self,
        y: TensorLike,
        event_ndims: Any,
        name: str = "inverse_log_det_jacobian",
        **condition_kwargs: Any,
    ) -> Any:
        """log|det(dx/dy)|, summed over the last `event_ndims` dimensions."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def forward_log_det_jacobian(
        self,
        x: TensorLike,
        event_ndims: Any,
        name: str = "forward_log_det_jacobian",
        **condition_kwargs: Any,
    ) -> Tensor:
        """log|det(dy/dx)|, summed over the last `event_ndims` dimensions."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)
