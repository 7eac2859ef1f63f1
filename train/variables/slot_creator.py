# SPDX-License-Identifier: Apache-2.0
"""Slots: the variables that an optimizer keeps for each variable that it trains.

A slot is named after its primary (`w/Adam`), shares its kind, and sits on its device.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...ops.public import tf
from .replicas import colocation
from .variable_kind import is_reference, is_resource, is_variable, value_to_start_from

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.types.dtypes import DType
    from ...engine.types.shape import TensorShape
    from ...ops.state.variables import Variable


def create_slot(primary: Variable, val: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """A slot that starts as the tensor `val`."""
    validate = val.get_shape().is_fully_defined()
    with _slot_scope(primary, name, colocate_with_primary):
        return _create_slot_var(primary, val, validate, None, None)


def create_slot_with_initializer(
    primary: Any,
    initializer: Any,
    shape: Any,
    dtype: Any,
    name: str,
    colocate_with_primary: bool = True,
) -> Any:
    """A slot of the given shape that starts as `initializer` says."""
    validate = shape.is_fully_defined()
    with _slot_scope(primary, name, colocate_with_primary):
        return _create_slot_var(primary, initializer, validate, shape, dtype)


def create_zeros_slot(
    primary: Any,
    name: str,
    dtype: DTypeLike | None = None,
    colocate_with_primary: bool = True,
) -> Any:
    """A slot of the primary's shape that starts as zeros."""
    dtype = primary.dtype if dtype is None else dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(
            primary, tf.zeros_initializer(), shape, dtype, name, colocate_with_primary
        )
    like = value_to_start_from(primary) if is_variable(primary) else primary
    val = tf.zeros(tf.shape(like), dtype=dtype)
    return create_slot(primary, val, name, colocate_with_primary)


class _Reuse:
    """Whether a scope that reuses variables has slots reused, too, which then must be there.

    Before TensorFlow 1.0 it had not (alias/restore/before_1.py).
    """

    is_of_slots = True


REUSE = _Reuse()


@contextmanager
def _slot_scope(primary: Any, name: str, colocate: bool) -> Iterator[None]:
    with tf.variable_scope(None, primary.op.name + "/" + name) as scope:
        if not REUSE.is_of_slots:
            scope._reuse = False
        if colocate:
            with colocation(primary):
                yield
        else:
            yield


def _create_slot_var(
    primary: Any, val: object, validate: bool, shape: TensorShape | None, dtype: DType | None
) -> Any:
    # The scope's partitioner must not cut the slot: it is shaped like its primary, cut or not.
    scope = tf.get_variable_scope()
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    slot = tf.get_variable(
        "",
        initializer=val,
        trainable=False,
        use_resource=_use_resource(primary),
        shape=shape if callable(val) else None,
        dtype=dtype,
        validate_shape=validate,
    )
    scope.set_partitioner(partitioner)
    part = getattr(primary, "_save_slice_info", None)
    if part is not None:
        # Checkpoints hold the whole slot under a name derived from the whole variable's.
        suffix = slot.name[len(primary.op.name + "/") : -2]
        slot._set_save_slice_info(
            tf.Variable.SaveSliceInfo(
                f"{part.full_name}/{suffix}",
                part.full_shape[:],
                part.var_offset[:],
                part.var_shape[:],
            )
        )
    return slot


def _use_resource(primary: TensorLike) -> bool | None:
    if is_resource(primary):
        return True
    return False if is_reference(primary) else None
