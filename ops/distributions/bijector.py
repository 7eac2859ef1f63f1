# SPDX-License-Identifier: Apache-2.0
"""What all bijectors share: a function, its inverse, and how much it stretches volumes."""

from __future__ import annotations

import abc
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, broadcast_static
from ..public import tf
from .util import static_integer

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.operation import Operation


class _Mapping(NamedTuple):
    """What is known of one x and its y: logarithms of Jacobians by ranks of events."""

    x: Tensor | None
    y: Tensor | None
    inverse_log_dets: dict[Any, Tensor]


def _frozen(x: Any) -> Any:
    """Named arguments as something that is a key."""
    if isinstance(x, (list, tuple)):
        return tuple(_frozen(item) for item in x)
    return _frozen(sorted(x.items())) if isinstance(x, dict) else x


class Bijector(abc.ABC):
    """A function that can be undone, and the logarithm of its Jacobian's determinant.

    Subclasses state `_forward`, `_inverse`, and one or both of `_forward_log_det_jacobian` and
    `_inverse_log_det_jacobian`.  What was computed for a tensor is remembered, so that the inverse
    of a result is what it came from (tf.contrib.distributions.bijectors.Bijector).
    """

    @abc.abstractmethod
    def __init__(
        self,
        graph_parents: Sequence[Tensor] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: DTypeLike | None = None,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str | None = None,
    ) -> None:
        self._graph_parents = list(graph_parents or ())
        forward, inverse = forward_min_event_ndims, inverse_min_event_ndims
        if forward is None and inverse is None:
            raise ValueError(
                "Must specify at least one of `forward_min_event_ndims` and "
                "`inverse_min_event_ndims`."
            )
        self._forward_min_event_ndims = _rank(forward, inverse, "forward_min_event_ndims")
        self._inverse_min_event_ndims = _rank(inverse, forward, "inverse_min_event_ndims")
        self._is_constant_jacobian = is_constant_jacobian
        self._constant_ildj_map: dict[Any, Tensor] = {}
        self._validate_args = validate_args
        self._dtype = dtype
        self._from_x: dict[Any, _Mapping] = {}
        self._from_y: dict[Any, _Mapping] = {}
        # "SoftmaxCentered" is "softmax_centered".
        words = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", type(self).__name__.lstrip("_"))
        self._name = name or re.sub("([a-z0-9])([A-Z])", r"\1_\2", words).lower()
        for i, parent in enumerate(self._graph_parents):
            if not isinstance(parent, Tensor):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")

    @property
    def graph_parents(self) -> list[Tensor]:
        """The tensors that it is made of."""
        return self._graph_parents

    @property
    def forward_min_event_ndims(self) -> int:
        """The least rank of what `forward` takes."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self) -> int:
        """The least rank of what `inverse` takes."""
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the Jacobian is the same everywhere."""
        return self._is_constant_jacobian

    @property
    def _is_injective(self) -> bool:
        """Whether every y comes from one x."""
        return True

    @property
    def validate_args(self) -> bool:
        """Whether arguments are checked in the run."""
        return self._validate_args

    @property
    def dtype(self) -> Any:
        """The type of x and y; None for any."""
        return self._dtype

    @property
    def name(self) -> str:
        """The scope of its operations."""
        return self._name

    # Shapes

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return input_shape

    def forward_event_shape_tensor(
        self, input_shape: TensorLike, name: str = "forward_event_shape_tensor"
    ) -> Tensor:
        """The shape of y for a shape of x, as a tensor."""
        with self._name_scope(name, [input_shape]):
            shape = convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
            return self._forward_event_shape_tensor(shape)

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return input_shape

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """The shape of y for a shape of x, as far as it is known."""
        return self._forward_event_shape(TensorShape(input_shape))

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return output_shape

    def inverse_event_shape_tensor(
        self, output_shape: TensorLike, name: str = "inverse_event_shape_tensor"
    ) -> Tensor:
        """The shape of x for a shape of y, as a tensor."""
        with self._name_scope(name, [output_shape]):
            shape = convert_to_tensor(output_shape, dtype=dtypes.int32, name="output_shape")
            return self._inverse_event_shape_tensor(shape)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return output_shape

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        """The shape of x for a shape of y, as far as it is known."""
        return self._inverse_event_shape(TensorShape(output_shape))

    # Both ways

    def _forward(self, x: Tensor) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Tensor) -> Any:
        raise NotImplementedError("inverse not implemented")

    def _call_forward(self, x: TensorLike, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [x]):
            x = self._converted(x, "x")
            if not self._is_injective:
                return self._forward(x, **kwargs)
            known = self._lookup_x(x, kwargs)
            if known.y is None:
                known = self._remember(known._replace(y=self._forward(x, **kwargs)), kwargs)
            return known.y

    def forward(self, x: TensorLike, name: str = "forward") -> Tensor:
        """The y of an x."""
        return self._call_forward(x, name)

    def _call_inverse(self, y: TensorLike, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [y]):
            y = self._converted(y, "y")
            if not self._is_injective:
                return self._inverse(y, **kwargs)
            known = self._lookup_y(y, kwargs)
            if known.x is None:
                known = self._remember(known._replace(x=self._inverse(y, **kwargs)), kwargs)
            return known.x

    def inverse(self, y: TensorLike, name: str = "inverse") -> Any:
        """The x of a y; all of them, as a tuple, where there are several."""
        return self._call_inverse(y, name)

    # Jacobians

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _call_inverse_log_det_jacobian(
        self, y: TensorLike, event_ndims: Any, name: str, **kwargs: Any
    ) -> Any:
        with self._name_scope(name, [y]):
            if _key(event_ndims) in self._constant_ildj_map:
                return self._constant_ildj_map[_key(event_ndims)]
            y = self._converted(y, "y")
            checks = self._check_valid_event_ndims(self.inverse_min_event_ndims, event_ndims)
            with control_dependencies(checks):
                if not self._is_injective:
                    return self._several_log_dets(y, event_ndims, kwargs)
                known = self._lookup_y(y, kwargs)
                if _key(event_ndims) in known.inverse_log_dets:
                    return known.inverse_log_dets[_key(event_ndims)]
                return self._new_inverse_log_det(known, event_ndims, kwargs)

    def _new_inverse_log_det(
        self, known: _Mapping, event_ndims: Any, kwargs: dict[str, Any]
    ) -> Tensor:
        x, y = None, known.y
        assert y is not None, "the mapping was looked up by y"
        try:
            found = self._inverse_log_det_jacobian(y, **kwargs)
            found = self._reduced(y, found, self.inverse_min_event_ndims, event_ndims)
        except NotImplementedError as missing:
            try:
                x = self._inverse(y, **kwargs) if known.x is None else known.x
                found = -self._forward_log_det_jacobian(x, **kwargs)
                found = self._reduced(x, found, self.forward_min_event_ndims, event_ndims)
            except NotImplementedError:
                raise missing from None
        return self._remember_log_det(known, x, None, found, event_ndims, kwargs)

    def _several_log_dets(
        self, y: Tensor, event_ndims: Any, kwargs: dict[str, Any]
    ) -> tuple[Any, ...]:
        """One for every x of a y."""
        try:
            found = self._inverse_log_det_jacobian(y, **kwargs)
            return tuple(
                self._reduced(y, one, self.inverse_min_event_ndims, event_ndims) for one in found
            )
        except NotImplementedError as missing:
            try:
                x = self._inverse(y, **kwargs)
                found = self._forward_log_det_jacobian(x, **kwargs)
            except NotImplementedError:
                raise missing from None
            return tuple(
                self._reduced(x, -one, self.forward_min_event_ndims, event_ndims) for one in found
            )

    def inverse_log_det_jacobian(
        self, y: TensorLike, event_ndims: Any, name: str = "inverse_log_det_jacobian"
    ) -> Any:
        """log|det(dx/dy)|, summed over the last `event_ndims` dimensions."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    def _call_forward_log_det_jacobian(
        self, x: TensorLike, event_ndims: Any, name: str, **kwargs: Any
    ) -> Tensor:
        if not self._is_injective:
            raise NotImplementedError(
                "forward_log_det_jacobian cannot be implemented for non-injective transforms."
            )
        with self._name_scope(name, [x]):
            checks = self._check_valid_event_ndims(self.forward_min_event_ndims, event_ndims)
            with control_dependencies(checks):
                if _key(event_ndims) in self._constant_ildj_map:
                    return -1.0 * self._constant_ildj_map[_key(event_ndims)]
                x = self._converted(x, "x")
                known = self._lookup_x(x, kwargs)
                if _key(event_ndims) in known.inverse_log_dets:
                    return -known.inverse_log_dets[_key(event_ndims)]
                return -self._new_forward_log_det(known, event_ndims, kwargs)

    def _new_forward_log_det(
        self, known: _Mapping, event_ndims: Any, kwargs: dict[str, Any]
    ) -> Tensor:
        """The inverse's, as that is what is remembered."""
        x, y = known.x, None
        assert x is not None, "the mapping was looked up by x"
        try:
            found = -self._forward_log_det_jacobian(x, **kwargs)
            found = self._reduced(x, found, self.forward_min_event_ndims, event_ndims)
        except NotImplementedError as missing:
            try:
                y = self._forward(x, **kwargs) if known.y is None else known.y
                found = self._inverse_log_det_jacobian(y, **kwargs)
                found = self._reduced(y, found, self.inverse_min_event_ndims, event_ndims)
            except NotImplementedError:
                raise missing from None
        return self._remember_log_det(known, None, y, found, event_ndims, kwargs)

    def forward_log_det_jacobian(
        self, x: TensorLike, event_ndims: Any, name: str = "forward_log_det_jacobian"
    ) -> Tensor:
        """log|det(dy/dx)|, summed over the last `event_ndims` dimensions."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name)

    def _reduced(self, y: Tensor, log_det: Tensor, least: int, event_ndims: Any) -> Tensor:
        """Summed over the dimensions of an event beyond those of the Jacobian."""
        rank = tf.rank(y)
        shape = tf.shape(y)[rank - event_ndims : rank - least]
        known: Any = self._maybe_get_static_event_ndims(event_ndims)
        axes: Any = tf.range(-(event_ndims - least), 0) if known is None else None
        if known is not None:
            axes = [-i for i in range(1, known - least + 1)]
        # What is one number for all positions counts as often as there are positions.
        result = tf.reduce_sum(tf.ones(shape, log_det.dtype) * log_det, axis=axes)
        known_rank: Any = y.shape.ndims
        if None not in (known, known_rank, log_det.shape.ndims):
            of_event = y.shape[known_rank - known : known_rank - least]
            whole = broadcast_static(log_det.shape, of_event)
            result.set_shape(whole[: len(whole) - (known - least)])
        return result

    def _check_valid_event_ndims(self, min_event_ndims: int, event_ndims: Any) -> list[Operation]:
        given = convert_to_tensor(event_ndims, name="event_ndims")
        known = constant_value(given)
        if not given.dtype.is_integer:
            raise ValueError(f"Expected integer dtype, got dtype {given.dtype}")
        if known is not None:
            if given.shape.ndims != 0:
                raise ValueError(f"Expected scalar event_ndims, got shape {given.shape}")
            if min_event_ndims > known:
                raise ValueError(
                    f"event_ndims ({known}) must be larger than min_event_ndims ({min_event_ndims})"
                )
            return []
        if given.shape.is_fully_defined() and given.shape.ndims != 0:
            raise ValueError(f"Expected scalar shape, got ndims {given.shape.ndims}")
        if not self.validate_args:
            return []
        checks = [tf.assert_greater_equal(given, min_event_ndims)]
        if not given.shape.is_fully_defined():
            checks.append(tf.assert_rank(given, 0, message="Expected scalar."))
        return checks

    def _maybe_get_static_event_ndims(self, event_ndims: Any) -> int | None:
        return static_integer(event_ndims)

    # What is remembered

    def _converted(self, x: TensorLike, name: str) -> Tensor:
        x = convert_to_tensor(x, name=name)
        self._maybe_assert_dtype(x)
        return x

    def _maybe_assert_dtype(self, x: Tensor) -> None:
        if self.dtype is not None and self.dtype.base_dtype != x.dtype.base_dtype:
            raise TypeError(f"Input had dtype {self.dtype} but expected {x.dtype}.")

    def _lookup_x(self, x: Tensor, kwargs: dict[str, Any]) -> _Mapping:
        return self._from_x.get((id(x), _frozen(kwargs)), _Mapping(x, None, {}))

    def _lookup_y(self, y: Tensor, kwargs: dict[str, Any]) -> _Mapping:
        return self._from_y.get((id(y), _frozen(kwargs)), _Mapping(None, y, {}))

    def _remember(self, mapping: _Mapping, kwargs: dict[str, Any]) -> _Mapping:
        key = _frozen(kwargs)
        for of_one, value in ((self._from_x, mapping.x), (self._from_y, mapping.y)):
            if value is not None:
                known = of_one.get((id(value), key))
                if known is not None:
                    mapping.inverse_log_dets.update(known.inverse_log_dets)
                of_one[id(value), key] = mapping
        return mapping

    def _remember_log_det(
        self,
        known: _Mapping,
        x: Tensor | None,
        y: Tensor | None,
        found: Tensor,
        event_ndims: Any,
        kwargs: dict[str, Any],
    ) -> Tensor:
        known.inverse_log_dets[_key(event_ndims)] = found
        self._remember(known._replace(x=known.x if x is None else x), kwargs)
        if y is not None:
            self._remember(known._replace(y=y), kwargs)
        if self.is_constant_jacobian:
            self._constant_ildj_map[_key(event_ndims)] = found
        return found

    @contextmanager
    def _name_scope(self, name: str, values: Sequence[Any] = ()) -> Iterator[str]:
        with name_scope(self.name), name_scope(name, values=[*values, *self.graph_parents]) as s:
            yield s


def _key(event_ndims: Any) -> Any:
    """A rank as a key: tensors by identity, numbers by value."""
    if isinstance(event_ndims, Tensor):
        return event_ndims
    # What is no number is refused when it is looked at.
    return repr(event_ndims) if np.ndim(event_ndims) else int(event_ndims)


def _rank(given: Any, other: Any, name: str) -> int:
    rank = other if given is None else given
    if not isinstance(rank, int):
        raise TypeError(f"Expected {name} to be of type int, got {type(rank).__name__}")
    if rank < 0:
        raise ValueError(f"{name} must be a non-negative integer.")
    return rank


class Identity(Bijector):
    """y = x."""

    def __init__(self, validate_args: bool = False, name: str = "identity") -> None:
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x: Tensor) -> Tensor:
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        return y

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return tf.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return tf.constant(0.0, dtype=x.dtype)
