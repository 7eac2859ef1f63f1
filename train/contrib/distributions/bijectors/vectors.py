# SPDX-License-Identifier: Apache-2.0
"""Bijectors of vectors: to probabilities, to increasing numbers, by order, by shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .....engine.api import export
from .....engine.graph.constants import constant_value
from .....engine.graph.convert import convert_to_tensor
from .....engine.graph.graph import control_dependencies, name_scope
from .....engine.graph.tensor import Tensor
from .....engine.signatures import without_private_bases
from .....engine.types import dtypes
from .....engine.types.shape import TensorShape, dimension_value
from .....ops.control import with_dependencies
from .....ops.distributions.bijector import Bijector
from .....ops.distributions.util import pad
from .....ops.nn.activation import softplus
from .....ops.nn.softmax import softmax
from .....ops.nn.top_k import top_k
from .....ops.public import tf

if TYPE_CHECKING:
    from .....engine.graph.annotations import TensorLike
    from .....engine.graph.operation import Operation


class _OfVectors(Bijector):
    """A bijector of vectors that become `_longer` than they were."""

    _longer = 0

    def _set(self, validate_args: bool, name: str) -> None:
        Bijector.__init__(self, forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        if input_shape.ndims is None or dimension_value(input_shape[-1]) is None:
            return input_shape
        return TensorShape([input_shape[-1] + self._longer])

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return (input_shape[-1] + self._longer)[..., None]

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        size = None if output_shape.ndims is None else dimension_value(output_shape[-1])
        if size is None:
            return output_shape
        if size <= 1:
            raise ValueError(f"output_shape[-1] = {size} <= 1")
        return TensorShape([size - self._longer])

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        if self.validate_args:
            text = "Need last dimension greater than 1."
            check = tf.assert_greater(output_shape[-1], 1, message=text)
            output_shape = with_dependencies([check], output_shape)
        return (output_shape[-1] - self._longer)[..., None]


@export("contrib.distributions.bijectors.SoftmaxCentered")
@without_private_bases
class SoftmaxCentered(_OfVectors):
    """y = softmax([x, 0]): n numbers become n + 1 probabilities."""

    _longer = 1

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered") -> None:
        self._set(validate_args, name)

    def _resized(self, x: Tensor, like: Tensor, longer: int) -> Tensor:
        if like.shape.ndims is not None:
            size = dimension_value(like.shape[-1])
            size = None if size is None else size + longer
            x.set_shape(like.shape[:-1].concatenate(TensorShape([size])))
        return x

    def _forward(self, x: Tensor) -> Tensor:
        return softmax(self._resized(pad(x, axis=-1, back=True), x, 1))

    def _inverse(self, y: Tensor) -> Tensor:
        logs = tf.log(y)
        x = logs[..., :-1] + (-logs[..., -1])[..., None]
        return self._resized(x, y, -1)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        # The determinant is the product of all probabilities.
        return -tf.reduce_sum(tf.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        normalizer = softplus(tf.reduce_logsumexp(x, axis=-1, keepdims=True))
        logs = tf.reduce_sum(x - normalizer, axis=-1, keepdims=True)
        return tf.squeeze(-normalizer + logs, axis=-1)


@export("contrib.distributions.bijectors.Ordered")
@without_private_bases
class Ordered(_OfVectors):
    """y = [x_0, log(x_1 - x_0), log(x_2 - x_1), ...] of increasing x."""

    def __init__(self, validate_args: bool = False, name: str = "ordered") -> None:
        self._set(validate_args, name)

    def _checked(self, x: Tensor) -> Tensor:
        if not self.validate_args:
            return x
        text = "Forward transformation input must be strictly increasing."
        check = tf.assert_positive(x[..., 1:] - x[..., :-1], message=text)
        return with_dependencies([check], x)

    def _forward(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        steps = tf.log(x[..., 1:] - x[..., :-1])
        return tf.concat([x[..., 0, None], steps], axis=-1)

    def _inverse(self, y: Tensor) -> Tensor:
        steps = tf.concat([y[..., 0, None], tf.exp(y[..., 1:])], axis=-1)
        return tf.cumsum(steps, axis=-1)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return tf.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        x = self._checked(x)
        return -tf.reduce_sum(tf.log(x[..., 1:] - x[..., :-1]), axis=-1)


class _OfVolumeOne(Bijector):
    """A bijector that keeps volumes."""

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        return tf.constant(0.0, dtype=y.dtype.base_dtype)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        return tf.constant(0.0, dtype=x.dtype.base_dtype)


@export("contrib.distributions.bijectors.Permute")
@without_private_bases
class Permute(_OfVolumeOne):
    """y_i = x_permutation[i]."""

    def __init__(
        self, permutation: TensorLike, validate_args: bool = False, name: str | None = None
    ) -> None:
        with name_scope(name, "permute", values=[permutation]):
            given = convert_to_tensor(permutation, name="permutation")
            if not given.dtype.is_integer:
                raise TypeError(f"permutation.dtype ({given.dtype.name}) should be `int`-like.")
            text = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
            known = constant_value(given)
            if known is not None:
                if set(known) != set(np.arange(known.size)):
                    raise ValueError(text)
            elif validate_args:
                largest, _ = top_k(-given, tf.shape(given)[-1], sorted=True)  # type: ignore[arg-type]
                check = tf.assert_equal(-largest, tf.range(tf.size(largest)), message=text)
                given = with_dependencies([check], given)
            self._permutation = given
            Bijector.__init__(
                self,
                forward_min_event_ndims=1,
                is_constant_jacobian=True,
                validate_args=validate_args,
                name=name or "permute",
            )

    @property
    def permutation(self) -> Tensor:
        """Where each entry comes from."""
        return self._permutation

    def _forward(self, x: Tensor) -> Tensor:
        return tf.gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return tf.gather(y, tf.invert_permutation(self.permutation), axis=-1)


@export("contrib.distributions.bijectors.Reshape")
class Reshape(Bijector):
    """The last dimensions of x in another shape; one size of each shape may be -1."""

    def __init__(
        self,
        event_shape_out: TensorLike,
        event_shape_in: TensorLike = (-1,),
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        with name_scope(name, "reshape", values=[event_shape_out, event_shape_in]):
            out = convert_to_tensor(
                event_shape_out, name="event_shape_out", preferred_dtype=dtypes.int32
            )
            into = convert_to_tensor(
                event_shape_in, name="event_shape_in", preferred_dtype=dtypes.int32
            )
            self._assertions = _shape_checks(out, validate_args)
            self._assertions += _shape_checks(into, validate_args)
            self._event_shape_in, self._event_shape_out = into, out
            super().__init__(
                forward_min_event_ndims=0,
                is_constant_jacobian=True,
                validate_args=validate_args,
                name=name or "reshape",
            )

    def _checks(self, x: Tensor, rank: object, shape_in: Tensor) -> list[Operation]:
        """That the last dimensions of x are those of a shape."""
        own: np.ndarray | None = None
        if isinstance(rank, int) and x.shape.ndims is not None:
            last = x.shape.with_rank_at_least(rank)[x.shape.ndims - rank :]
            own = np.array(last.as_list(), np.int32) if last.is_fully_defined() else None
        known = constant_value(shape_in)
        text = "Input `event_shape` does not match `event_shape_in`"
        if own is not None and known is not None:
            if not np.equal(own[known >= 0], known[known >= 0]).all():
                raise ValueError(f"{text} ({own} vs {known}).")
        elif self.validate_args:
            sizes = tf.shape(x)[tf.rank(x) - tf.shape(shape_in)[0] :]
            mask = tf.reshape(shape_in >= 0, [-1])
            given = tf.boolean_mask(sizes, mask), tf.boolean_mask(shape_in, mask)
            return [tf.assert_equal(*given, message=f"{text}.")]
        return []

    def _reshaped(self, x: Tensor, shape_in: Tensor, shape_out: Tensor) -> Tensor:
        with control_dependencies(self._assertions):
            rank = dimension_value(shape_in.shape.with_rank_at_least(1)[0])
            dynamic = tf.shape(shape_in)[0]
            checks = self._checks(x, rank, shape_in)
            x = with_dependencies(checks, x) if checks else x
            if rank is not None and rank == x.shape.ndims:
                return tf.reshape(x, shape_out)
            all_dims = tf.rank(x) if x.shape.ndims is None else x.shape.ndims
            front = tf.shape(x)[: all_dims - tf.abs(dynamic)]
            return tf.reshape(x, tf.concat([front, shape_out], axis=0))

    def _forward(self, x: Tensor) -> Tensor:
        return self._reshaped(x, self._event_shape_in, self._event_shape_out)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._reshaped(y, self._event_shape_out, self._event_shape_in)

    def _inverse_log_det_jacobian(self, y: Tensor) -> Tensor:
        with control_dependencies(self._assertions):
            return tf.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        with control_dependencies(self._assertions):
            return tf.constant(0.0, dtype=x.dtype)

    def _example(self, shape: object) -> Tensor:
        with control_dependencies(self._assertions):
            return tf.zeros(dtype=dtypes.float32, shape=shape)

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return self.forward(self._example(input_shape)).shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return self.inverse(self._example(output_shape)).shape

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return tf.shape(self.forward(self._example(input_shape)))

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return tf.shape(self.inverse(self._example(output_shape)))


def _shape_checks(shape: Tensor, validate_args: bool) -> list[Operation]:
    """That something is a shape of which at most one size is -1."""
    if not shape.dtype.is_integer:
        raise TypeError(f"{shape} dtype ({shape.dtype.name}) should be `int`-like.")
    checks = []
    rank = shape.shape.ndims
    if rank is not None and rank > 1:
        raise ValueError(f"`{shape}` rank ({rank}) should be <= 1.")
    if rank is None and validate_args:
        text = f"`{shape}` rank should be <= 1."
        checks.append(tf.assert_less_equal(tf.rank(shape), 1, message=text))
    # A shape with a size that is not known is looked at in the run.
    known = constant_value(shape)
    if validate_args and (known is None or np.any(known < 0)):
        unknown = tf.reduce_sum(tf.cast(tf.equal(shape, -1), dtypes.int32))
        text = f"`{shape}` elements must have at most one `-1`."
        checks.append(tf.assert_less_equal(unknown, 1, message=text))
        text = f"`{shape}` elements must be either positive integers or `-1`."
        checks.append(tf.assert_greater_equal(shape, -1, message=text))
    return checks
