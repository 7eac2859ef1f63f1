# SPDX-License-Identifier: Apache-2.0
"""Updates of some rows of a variable: the Scatter*, ScatterNd* and ResourceScatter* ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.api import export
from ..engine.build import define
from ..engine.convert import convert_to_tensor
from ..engine.graph import name_scope
from ..engine.shape import TensorShape
from ..engine.state import Cell, shape_text
from .public import raw, tf
from .state import UPDATE, is_ref

Update = Callable[[np.ndarray, Any, np.ndarray], None]


def _set(array: np.ndarray, where: Any, updates: np.ndarray) -> None:
    array[where] = updates


def _divide(array: np.ndarray, where: Any, updates: np.ndarray) -> None:
    if array.dtype.kind in "iu":
        if np.any(updates == 0):
            raise errors.InvalidArgumentError(None, None, "updates must not contain 0")
        # C's division: towards zero.
        np_divide = np.frompyfunc(lambda x, y: int(x / y) if y else 0, 2, 1)
        flat = np.broadcast_to(updates, array[where].shape)
        for index in np.ndindex(*np.shape(where[0] if isinstance(where, tuple) else where)):
            place = tuple(w[index] for w in where) if isinstance(where, tuple) else where[index]
            array[place] = np_divide(array[place], flat[index])
    else:
        np.divide.at(array, where, updates)


UPDATES: dict[str, Update] = {
    "Update": _set,
    "Add": np.add.at,
    "Sub": np.subtract.at,
    "Mul": np.multiply.at,
    "Div": _divide,
    "Min": np.minimum.at,
    "Max": np.maximum.at,
}
_TYPES = {"Update": "type", "Min": "{half, bfloat16, float32, float64, int32, int64}"}
_TYPES["Max"] = _TYPES["Min"]


def require_indices(indices: np.ndarray, size: int) -> None:
    """Raises TensorFlow's error for the first index outside of [0, size)."""
    bad = np.flatnonzero((indices < 0) | (indices >= size))
    if bad.size:
        place = np.unravel_index(bad[0], indices.shape)
        at = "[" + ",".join(str(i) for i in place) + "]" if indices.ndim else ""
        raise errors.InvalidArgumentError(
            None, None, f"indices{at} = {indices.flat[bad[0]]} is not in [0, {size})"
        )


def _scatter_kernel(update: Update) -> Callable[..., Any]:
    def kernel(c: Any, cell: Cell, indices: np.ndarray, updates: np.ndarray) -> Any:
        with cell.lock, np.errstate(all="ignore"):
            array = cell.read()
            if array.ndim == 0:
                raise errors.InvalidArgumentError(
                    None, None, f"params must be at least 1-D, got shape {shape_text(array.shape)}"
                )
            if updates.ndim and updates.shape != indices.shape + array.shape[1:]:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    "Must have updates.shape = indices.shape + params.shape[1:] or "
                    f"updates.shape = [], got updates.shape {shape_text(updates.shape)}, "
                    f"indices.shape {shape_text(indices.shape)}, "
                    f"params.shape {shape_text(array.shape)}",
                )
            require_indices(indices, array.shape[0])
            update(array, indices, updates)
        return cell

    return kernel


def _scatter_nd_kernel(update: Update) -> Callable[..., Any]:
    def kernel(c: Any, cell: Cell, indices: np.ndarray, updates: np.ndarray) -> Any:
        with cell.lock, np.errstate(all="ignore"):
            array = cell.read()
            depth = indices.shape[-1]
            expected = indices.shape[:-1] + array.shape[depth:]
            if depth > array.ndim or updates.shape != expected:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    "Must have updates.shape = indices.shape[:-1] + "
                    "params.shape[indices.shape[-1]:]"
                    f", got updates.shape {shape_text(updates.shape)}, indices.shape "
                    f"{shape_text(indices.shape)}, params.shape {shape_text(array.shape)}",
                )
            _require_nd_indices(indices, array.shape)
            update(array, tuple(np.moveaxis(indices, -1, 0)), updates)
        return cell

    return kernel


def _require_nd_indices(indices: np.ndarray, shape: tuple[int, ...]) -> None:
    limits = np.asarray(shape[: indices.shape[-1]], indices.dtype)
    bad = np.any((indices < 0) | (indices >= limits), axis=-1)
    if bad.any():
        place = np.unravel_index(np.flatnonzero(bad)[0], bad.shape)
        at = ",".join(str(i) for i in place)
        values = ", ".join(str(i) for i in indices[place])
        raise errors.InvalidArgumentError(
            None, None, f"indices[{at}] = [{values}] does not index into shape {shape_text(shape)}"
        )


def _without_result(kernel: Callable[..., Any]) -> Callable[..., None]:
    def run(c: Any, *inputs: Any) -> None:
        kernel(c, *inputs)

    return run


def _scatter_shape(c: Any) -> TensorShape:
    var, indices, updates = c.inputs
    if var.ndims == 0:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if None not in (var.ndims, indices.ndims, updates.ndims) and updates.ndims:
        indices.concatenate(var[1:]).assert_is_compatible_with(updates)
    return var


def _resource_shape(c: Any) -> None:
    from .state_resource import handle_shape

    var, indices, updates = handle_shape(c.tensor(0)), c.inputs[1], c.inputs[2]
    if None not in (var.ndims, indices.ndims, updates.ndims) and updates.ndims:
        indices.concatenate(var[1:]).assert_is_compatible_with(updates)


def _define_all() -> None:
    for kind, update in UPDATES.items():
        types = _TYPES.get(kind, "numbertype")
        lock = "true" if kind == "Update" else "false"
        define(
            f"Scatter{kind}",
            "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)",
            f"T: {types}; Tindices: index; use_locking: bool = {lock}",
            shape=_scatter_shape,
            kernel=_scatter_kernel(update),
            gradient=UPDATE,
            doc=f"{kind} of the rows of a variable at `indices`.",
        )
        define(
            f"ResourceScatter{kind}",
            "resource: resource, indices: Tindices, updates: dtype ->",
            f"dtype: {'type' if kind == 'Update' else 'numbertype'}; Tindices: index",
            shape=_resource_shape,
            kernel=_without_result(_scatter_kernel(update)),
            gradient=UPDATE,
            stateful=True,
            doc=f"{kind} of the rows of a resource variable at `indices`.",
        )
        if kind in ("Update", "Add", "Sub"):
            _define_nd(kind, update, lock)


def _define_nd(kind: str, update: Update, lock: str) -> None:
    define(
        f"ScatterNd{kind}",
        "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)",
        f"T: {'type' if kind == 'Update' else 'numbertype'}; Tindices: index; "
        f"use_locking: bool = {lock}",
        shape=lambda c: c.inputs[0],
        kernel=_scatter_nd_kernel(update),
        gradient=UPDATE,
        doc=f"{kind} of the slices of a variable that `indices` names.",
    )
    define(
        f"ResourceScatterNd{kind}",
        "ref: resource, indices: Tindices, updates: T ->",
        "T: type; Tindices: index; use_locking: bool = true",
        kernel=_without_result(_scatter_nd_kernel(update)),
        gradient=UPDATE,
        stateful=True,
        doc=f"{kind} of the slices of a resource variable that `indices` names.",
    )


_define_all()


def _public(kind: str, nd: bool = False) -> Callable[..., Any]:
    op_type = f"Scatter{'Nd' if nd else ''}{kind}"
    name_of = f"scatter_{'nd_' if nd else ''}{kind.lower()}"
    locked = kind == "Update"

    def scatter(
        ref: Any, indices: Any, updates: Any, use_locking: bool = locked, name: str | None = None
    ) -> Any:
        if is_ref(ref):
            function = getattr(raw, op_type)
            return function(ref, indices, updates, use_locking=use_locking, name=name)
        function = getattr(raw, "Resource" + op_type)
        values = convert_to_tensor(updates, ref.dtype)
        return ref._lazy_read(function(ref.handle, indices, values, name=name))

    scatter.__name__ = scatter.__qualname__ = name_of
    scatter.__doc__ = f"{kind} of the parts of a variable that `indices` names; the new value."
    return export(name_of)(scatter)


scatter_update = _public("Update")
scatter_add = _public("Add")
scatter_sub = _public("Sub")
scatter_mul = _public("Mul")
scatter_div = _public("Div")
scatter_min = _public("Min")
scatter_max = _public("Max")
scatter_nd_update = _public("Update", nd=True)
scatter_nd_add = _public("Add", nd=True)
scatter_nd_sub = _public("Sub", nd=True)


@export("batch_scatter_update")
def batch_scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """Sets ref[i1, ..., indices[i1, ..., j]] = updates[i1, ..., j]."""
    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        sizes = tf.shape(indices)
        rank = indices.get_shape().ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        last = tf.expand_dims(indices, axis=-1)
        parts = []
        for axis in range(rank - 1):
            shape: list[Any] = [1] * (rank + 1)
            shape[axis] = size = sizes[axis]
            positions = tf.reshape(raw.Range(0, size, 1), shape)
            if positions.dtype.base_dtype != last.dtype:
                positions = raw.Cast(positions, DstT=last.dtype)
            parts.append(positions * tf.ones_like(last))
        parts.append(last)
        where = tf.concat(parts, axis=-1)
        return scatter_nd_update(ref, where, updates, use_locking=use_locking)
