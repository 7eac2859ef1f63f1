# SPDX-License-Identifier: Apache-2.0
"""Which dimensions of a tensor are those of samples, of a batch and of an event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.control import with_dependencies
from ....ops.distributions.util import pick_vector, rotate_transpose
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


class _DistributionShape:
    """Samples, then the batch, then the event: how many dimensions the latter have."""

    def __init__(
        self,
        batch_ndims: object = None,
        event_ndims: object = None,
        validate_args: bool = False,
        name: str = "DistributionShape",
    ) -> None:
        if batch_ndims is None:
            raise ValueError("batch_ndims cannot be None")
        if event_ndims is None:
            raise ValueError("event_ndims cannot be None")
        self._validate_args = validate_args
        with name_scope(name):
            self._name = name
            with name_scope("init"):
                self._batch_ndims = self._count(batch_ndims, "batch_ndims")
                self._event_ndims = self._count(event_ndims, "event_ndims")
        self._batch_ndims_is_0 = _is_zero(self._batch_ndims)
        self._event_ndims_is_0 = _is_zero(self._event_ndims)

    @property
    def name(self) -> str:
        """The scope of its operations."""
        return self._name

    @property
    def batch_ndims(self) -> Tensor:
        """The number of dimensions of the batch."""
        return self._batch_ndims

    @property
    def event_ndims(self) -> Tensor:
        """The number of dimensions of an event."""
        return self._event_ndims

    @property
    def validate_args(self) -> bool:
        """Whether arguments are checked in the run."""
        return self._validate_args

    def get_ndims(self, x: TensorLike, name: str = "get_ndims") -> Tensor:
        """The number of dimensions."""
        with self._name_scope(name, values=[x]):
            x = convert_to_tensor(x, name="x")
            if x.shape.ndims is None:
                return tf.rank(x, name="ndims")
            return convert_to_tensor(x.shape.ndims, dtype=dtypes.int32, name="ndims")

    def get_sample_ndims(self, x: TensorLike, name: str = "get_sample_ndims") -> Tensor:
        """The number of dimensions that come before those of batch and event."""
        with self._name_scope(name, values=[x]):
            ndims = self.get_ndims(x, name=name)
            known = [constant_value(y) for y in (ndims, self.batch_ndims, self.event_ndims)]
            if None not in known:
                count = known[0] - known[1] - known[2]
                if count < 0:
                    raise ValueError(
                        f"expected batch_ndims({known[1]}) + event_ndims({known[2]}) <= "
                        f"ndims({known[0]})"
                    )
                return convert_to_tensor(count, name="sample_ndims")
            with name_scope("sample_ndims"):
                left = ndims - self.batch_ndims - self.event_ndims
                if self.validate_args:
                    left = with_dependencies([tf.assert_non_negative(left)], left)
            return left

    def _parts(self, x: TensorLike, name: str) -> list[tuple[list[Tensor], Tensor, str]]:
        """Of samples, batch and event: what comes before, and the number of dimensions."""
        sample = self.get_sample_ndims(x, name=name)
        zero = tf.zeros([], dtype=dtypes.int32, name="zero")
        return [
            ([zero], sample, "sample"),
            ([sample], self.batch_ndims, "batch"),
            ([sample, self.batch_ndims], self.event_ndims, "event"),
        ]

    def get_dims(self, x: TensorLike, name: str = "get_dims") -> tuple[Any, ...]:
        """The dimensions of samples, of the batch and of the event, by number."""

        def numbers(before: Sequence[Tensor], size: Tensor, name: str) -> Tensor:
            known = [constant_value(y) for y in (*before, size)]
            if None not in known:
                start = sum(int(y) for y in known[:-1])
                found = list(range(start, start + int(known[-1])))
                return convert_to_tensor(found, dtype=dtypes.int32, name=f"{name}_dims")
            start = tf.add_n(list(before))
            return tf.range(start, start + size)

        with self._name_scope(name, values=[x]):
            return tuple(numbers(*part) for part in self._parts(x, name))

    def get_shape(self, x: TensorLike, name: str = "get_shape") -> tuple[Any, ...]:
        """The shapes of samples, of the batch and of the event."""
        with self._name_scope(name, values=[x]):
            x = convert_to_tensor(x, name="x")

            def sizes(before: Sequence[Tensor], size: Tensor, name: str) -> Tensor:
                known = [constant_value(y) for y in (*before, size)]
                if x.shape.ndims is not None and None not in known:
                    start = sum(int(y) for y in known[:-1])
                    found = x.shape.as_list()[start : start + int(known[-1])]
                    if None not in found:
                        return convert_to_tensor(found, dtype=dtypes.int32, name=f"{name}_shape")
                return tf.slice(tf.shape(x), [tf.add_n(list(before))], [size])

            return tuple(sizes(*part) for part in self._parts(x, name))

    def make_batch_of_event_sample_matrices(
        self,
        x: TensorLike,
        expand_batch_dim: bool = True,
        name: str = "make_batch_of_event_sample_matrices",
    ) -> tuple[Tensor, Tensor]:
        """Events as rows, samples as columns, with the samples' shape for the way back."""
        with self._name_scope(name, values=[x]):
            x = convert_to_tensor(x, name="x")
            sample_shape, batch_shape, event_shape = self.get_shape(x)
            event_shape = pick_vector(self._event_ndims_is_0, [1], event_shape)
            if expand_batch_dim:
                batch_shape = pick_vector(self._batch_ndims_is_0, [1], batch_shape)
            x = tf.reshape(x, shape=tf.concat([[-1], batch_shape, event_shape], 0))
            return rotate_transpose(x, shift=-1), sample_shape

    def undo_make_batch_of_event_sample_matrices(
        self,
        x: TensorLike,
        sample_shape: TensorLike,
        expand_batch_dim: bool = True,
        name: str = "undo_make_batch_of_event_sample_matrices",
    ) -> Tensor:
        """The way back."""
        with self._name_scope(name, values=[x, sample_shape]):
            x = convert_to_tensor(x, name="x")
            sample_shape = convert_to_tensor(sample_shape, name="sample_shape")
            x = rotate_transpose(x, shift=1)
            known = [constant_value(y) for y in (self.batch_ndims, self.event_ndims)]
            if None not in known:
                extra = [-1] if self._event_ndims_is_0 else []
                if self._batch_ndims_is_0 and expand_batch_dim:
                    extra.append(1)
                x = tf.squeeze(x, axis=extra) if extra else x
                _, batch_shape, event_shape = self.get_shape(x)
            else:
                sizes: Any = x.shape.as_list() if x.shape.is_fully_defined() else tf.shape(x)
                batch_shape = sizes[1 : 1 + self.batch_ndims]
                is_expanded = tf.logical_and(expand_batch_dim, self._batch_ndims_is_0)
                start = tf.where_v2(is_expanded, 2, 1 + self.batch_ndims)
                event_shape = sizes[start : start + self.event_ndims]
            return tf.reshape(x, tf.concat([sample_shape, batch_shape, event_shape], 0))

    @contextmanager
    def _name_scope(self, name: str, values: Sequence[Any] = ()) -> Iterator[str]:
        parents = [*values, self.batch_ndims, self.event_ndims]
        with name_scope(self.name), name_scope(name, values=parents) as scope:
            yield scope

    def _count(self, x: Any, name: str) -> Tensor:
        x = convert_to_tensor(x, name=name)
        if x.dtype.base_dtype != dtypes.int32:
            raise TypeError(f"{x.name}.dtype={x.dtype} is not {dtypes.int32}")
        known = constant_value(x)
        if x.shape.ndims is not None and known is not None:
            if x.shape.ndims != 0:
                raise ValueError(f"{x.name}.ndims={x.shape.ndims} is not 0 (scalar)")
            if known < 0:
                raise ValueError(f"{x.name}.value={known} cannot be negative")
            return x
        if self.validate_args:
            x = with_dependencies([tf.assert_rank(x, 0), tf.assert_non_negative(x)], x)
        return x


def _is_zero(ndims: Tensor) -> Any:
    known = constant_value(ndims)
    return tf.equal(ndims, 0) if known is None else bool(known == 0)
