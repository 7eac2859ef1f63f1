# SPDX-License-Identifier: Apache-2.0
"""Updates of some rows of a variable: the Scatter*, ScatterNd* and ResourceScatter* ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.registry import NoGradient
from ...engine.session.shared_reads import Changing
from ...engine.session.state import VariableStorage
from ...engine.types.indices import first_outside, not_inside, place_text
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from .. import shape_inference
from ..array.nd_index import depth_of, places_and_outside
from ..public import raw, tf
from .reference import UPDATE, is_ref

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.kernel.scalar import Operand
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView
    from .variables import Variable

Update = Callable[[np.ndarray, Any, np.ndarray], None]


def _set(array: np.ndarray, where: Any, updates: np.ndarray) -> None:
    array[where] = updates


def _divide(array: np.ndarray, where: np.ndarray, updates: np.ndarray) -> None:
    if array.dtype.kind in "iu":
        if np.any(updates == 0):
            raise errors.invalid("updates must not contain 0")
        # In order: an index that occurs twice divides twice.
        flat = np.broadcast_to(updates, array[where].shape)
        for index in np.ndindex(*np.shape(where[0] if isinstance(where, tuple) else where)):
            place = tuple(w[index] for w in where) if isinstance(where, tuple) else where[index]
            array[place] = k.truncatediv(array[place], flat[index])
    else:
        np.divide.at(array, where, updates)


def _lesser(old: Operand, new: Operand) -> Operand:
    """As NumPy's minimum: of a number and NaN, NaN."""
    return k.select(k.logical_or(k.lt(old, new), k.ne(old, old)), old, new)


def _greater(old: Operand, new: Operand) -> Operand:
    return k.select(k.logical_or(k.gt(old, new), k.ne(old, old)), old, new)


class _Kind(NamedTuple):
    """One way to update: its ops on variables and on resource variables, and what these do."""

    name: str
    rows: tuple[str, str]
    slices: tuple[str, str] | None
    update: Update
    # What kernels do with a row, where that is the same to the last bit.
    body: Callable[..., Any] | None = None
    types: str = "numbertype"
    # TensorFlow declares that the ops on variables have none, but for some of rows.
    gradient: NoGradient = UPDATE.silently


_ORDERED = "{half, bfloat16, float32, float64, int32, int64}"
_KINDS = (
    _Kind(
        "Update",
        ("ScatterUpdate", "ResourceScatterUpdate"),
        ("ScatterNdUpdate", "ResourceScatterNdUpdate"),
        _set,
        lambda old, new: new,
        "type",
        UPDATE,
    ),
    _Kind(
        "Add",
        ("ScatterAdd", "ResourceScatterAdd"),
        ("ScatterNdAdd", "ResourceScatterNdAdd"),
        np.add.at,
        k.add,
    ),
    _Kind(
        "Sub",
        ("ScatterSub", "ResourceScatterSub"),
        ("ScatterNdSub", "ResourceScatterNdSub"),
        np.subtract.at,
        k.sub,
    ),
    _Kind("Mul", ("ScatterMul", "ResourceScatterMul"), None, np.multiply.at, k.mul),
    _Kind("Div", ("ScatterDiv", "ResourceScatterDiv"), None, _divide, k.div),
    _Kind(
        *("Min", ("ScatterMin", "ResourceScatterMin"), None, np.minimum.at, _lesser),
        types=_ORDERED,
        gradient=UPDATE,
    ),
    _Kind(
        *("Max", ("ScatterMax", "ResourceScatterMax"), None, np.maximum.at, _greater),
        types=_ORDERED,
        gradient=UPDATE,
    ),
)


def require_indices(indices: np.ndarray, size: int) -> None:
    """Raises TensorFlow's error for the first index outside of [0, size)."""
    if first_outside(indices, size) is not None:
        raise not_inside(indices, size)


def _scatter_kernel(update: Update) -> Callable[..., Any]:
    def kernel(
        c: KernelContext, cell: VariableStorage, indices: np.ndarray, updates: np.ndarray
    ) -> VariableStorage:
        with Changing(cell), np.errstate(all="ignore"):
            array = cell.looked_up()
            _require_rows(array, indices, updates)
            bad = first_outside(indices, array.shape[0])
            if bad is None:
                update(array, indices, updates)
            else:
                # What comes before the bad index is done all the same.
                rows = updates.reshape(-1, *array.shape[1:])[:bad] if updates.ndim else updates
                update(array, indices.reshape(-1)[:bad], rows)
                require_indices(indices, array.shape[0])
        return cell

    return kernel


def _require_rows(array: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> None:
    if array.ndim == 0:
        raise errors.invalid(f"params must be at least 1-D, got shape {shape_text(array.shape)}")
    if updates.ndim and updates.shape != indices.shape + array.shape[1:]:
        raise errors.invalid(
            "Must have updates.shape = indices.shape + params.shape[1:] or "
            f"updates.shape = [], got updates.shape {shape_text(updates.shape)}, "
            f"indices.shape {shape_text(indices.shape)}, params.shape {shape_text(array.shape)}"
        )


def _scatter_nd_kernel(update: Update) -> Callable[..., Any]:
    def kernel(
        c: KernelContext, cell: VariableStorage, indices: np.ndarray, updates: np.ndarray
    ) -> VariableStorage:
        with Changing(cell), np.errstate(all="ignore"):
            array = cell.looked_up()
            _require_slices(array.shape, indices, updates)
            where = indices if indices.ndim > 1 else indices[:, None]
            depth = where.shape[-1]
            limits = np.asarray(array.shape[:depth], np.int64)
            bad = np.flatnonzero(np.any((where < 0) | (where >= limits), axis=-1))
            done = int(bad[0]) if bad.size else None
            rows = updates.reshape(-1, *array.shape[depth:])[:done]
            update(array, tuple(where.reshape(-1, depth)[:done].T), rows)
            if done is not None:
                raise _slice_outside(where, array.shape, done)
        return cell

    return kernel


def _require_slices(shape: tuple[int, ...], indices: np.ndarray, updates: np.ndarray) -> None:
    if not shape:
        raise errors.invalid(f"Output must be at least 1-D, got shape: {shape_text(shape)}")
    if 0 in shape and (indices.size or updates.size):
        raise errors.invalid(
            "Indices and updates specified for empty output.  indices shape: "
            f"{shape_text(indices.shape)}"
        )
    if updates.shape[:1] != indices.shape[:1]:
        raise errors.invalid(
            "The outermost dimension of updates and indices must match. Got indices.shape "
            f"{shape_text(indices.shape)}, updates.shape {shape_text(updates.shape)}"
        )
    depth = indices.shape[-1] if indices.ndim > 1 else 1
    outer = indices.shape[:-1] if indices.ndim > 1 else indices.shape[:1]
    if depth > len(shape) or updates.shape != outer + shape[depth:]:
        raise errors.invalid(
            "Must have updates.shape = indices.shape[:batch_dim] + params_shape[slice_dim:], got "
            f"updates.shape: {shape_text(updates.shape)}, indices.shape: "
            f"{shape_text(indices.shape)}, params_shape: {shape_text(shape)}, slice_dim: {depth}, "
            f"and batch_dim: {len(outer)}"
        )


def _lowering(body: Callable[..., Any] | None, gives: bool) -> Callable[..., Any] | None:
    """In-place updates of rows, one index after the other."""
    if body is None:
        return None

    def lower(b: Builder, op: OpView, cell: Value, indices: Value, updates: Value) -> Any:
        from ...jit import library

        # Integers are divided on the host, which looks for zeros.
        if body is k.div and not updates.dtype.startswith(("float", "bfloat")):
            return NotImplemented
        after = library.update_rows(
            b, [cell], indices, lambda *x: (body(*x),), [updates], not_inside
        )
        return after if after is NotImplemented else after[0] if gives else ()

    return lower


def _lowering_nd(body: Callable[..., Any] | None, gives: bool) -> Callable[..., Any]:
    """In-place updates of slices, one vector of indices after the other."""

    def lower(b: Builder, op: OpView, cell: Value, indices: Value, updates: Value) -> Any:
        from ...jit import library

        shape = tuple(map(int, b.read(cell).shape))  # a variable has numbers
        vectors = indices if indices.ndim > 1 else b.reshape(indices, (*indices.shape, 1))
        depth = depth_of(b, vectors)
        if body is None or not 0 < depth <= len(shape) or 0 in shape or updates.dtype == "bool":
            return NotImplemented
        b.require_shape(updates, (*vectors.shape[:-1], *shape[depth:]))
        flat, outside = places_and_outside(b, shape, vectors)
        flat = b.map(lambda place, wrong: k.select(wrong, -1, place), flat, outside)

        def problem(where: np.ndarray, _: int) -> BaseException:
            flat = where.reshape(-1, depth)
            wrong = np.any((flat < 0) | (flat >= np.asarray(shape[:depth])), axis=-1)
            return _slice_outside(where, shape, int(np.argmax(wrong)))

        after = library.update_rows(
            *(b, [cell], flat, lambda *x: (body(*x),), [updates], problem), depth, vectors
        )
        return after if after is NotImplemented else after[0] if gives else ()

    return lower


def _slice_outside(
    where: np.ndarray, shape: Sequence[int], place: int
) -> errors.InvalidArgumentError:
    values = ", ".join(str(i) for i in where.reshape(-1, where.shape[-1])[place])
    return errors.invalid(
        f"indices{place_text(place, where.shape[:-1])} = [{values}] does not index into "
        f"shape {shape_text(shape)}"
    )


def _without_result(kernel: Callable[..., Any]) -> Callable[..., None]:
    def run(c: KernelContext, *inputs: Any) -> None:
        kernel(c, *inputs)

    return run


def _check_rows(var: TensorShape, indices: TensorShape, updates: TensorShape) -> None:
    if updates.ndims != 0:
        shape_inference.merge(updates, indices.concatenate(var[1:] if var.ndims else var))


def _scatter_shape(c: ShapeContext) -> TensorShape:
    _check_rows(*c.inputs)
    return c.inputs[0]


def _resource_scatter_shape(c: ShapeContext) -> None:
    from .resource import shape_behind

    _check_rows(shape_behind(c), *c.inputs[1:])


def _scatter_nd_shape(c: ShapeContext) -> TensorShape:
    _check_slices(c, c.inputs[0])
    return c.inputs[0]


def _resource_scatter_nd_shape(c: ShapeContext) -> None:
    from .resource import handle_shape

    _check_slices(c, handle_shape(c.tensor(0)))


def _check_slices(c: ShapeContext, var: TensorShape) -> None:
    from ..array.scatter import check_updates

    for given in c.inputs[1:]:
        shape_inference.ranked_at_least(given, 1)
    check_updates(c.inputs[1], c.inputs[2], var, "input")


def _define_all() -> None:
    for kind in _KINDS:
        # TensorFlow's defaults: only replacing rows is locked.
        lock = "true" if kind.name == "Update" else "false"
        define(
            kind.rows[0],
            "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)",
            f"T: {kind.types}; Tindices: index; use_locking: bool = {lock}",
            shape=_scatter_shape,
            kernel=_scatter_kernel(kind.update),
            lower=_lowering(kind.body, True),
            gradient=kind.gradient,
            doc=f"{kind.name} of the rows of a variable at `indices`.",
        )
        define(
            kind.rows[1],
            "resource: resource, indices: Tindices, updates: dtype ->",
            f"dtype: {'type' if kind.name == 'Update' else 'numbertype'}; Tindices: index",
            shape=_resource_scatter_shape,
            kernel=_without_result(_scatter_kernel(kind.update)),
            lower=_lowering(kind.body, False),
            gradient=UPDATE,
            stateful=True,
            doc=f"{kind.name} of the rows of a resource variable at `indices`.",
        )
        if kind.slices:
            _define_nd(kind, kind.slices, lock)


def _define_nd(kind: _Kind, names: tuple[str, str], lock: str) -> None:
    define(
        names[0],
        "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)",
        f"T: {'type' if kind.name == 'Update' else 'numbertype'}; Tindices: index; "
        f"use_locking: bool = {lock}",
        shape=_scatter_nd_shape,
        kernel=_scatter_nd_kernel(kind.update),
        lower=_lowering_nd(kind.body, True),
        gradient=UPDATE.silently,
        doc=f"{kind.name} of the slices of a variable that `indices` names.",
    )
    define(
        names[1],
        "ref: resource, indices: Tindices, updates: T ->",
        "T: type; Tindices: index; use_locking: bool = true",
        shape=_resource_scatter_nd_shape,
        kernel=_without_result(_scatter_nd_kernel(kind.update)),
        lower=_lowering_nd(kind.body, False),
        gradient=UPDATE,
        stateful=True,
        doc=f"{kind.name} of the slices of a resource variable that `indices` names.",
    )


_define_all()


def _public(name: str, op_type: str, on_resource: str, what: str) -> Callable[..., Any]:
    locked = what == "Update"

    def scatter(
        ref: Any,
        indices: Any,
        updates: TensorLike,
        use_locking: bool = locked,
        name: str | None = None,
    ) -> Any:
        if is_ref(ref):
            function = getattr(raw, op_type)
            return function(ref, indices, updates, use_locking=use_locking, name=name)
        function, read = getattr(raw, on_resource), ref._lazy_read
        values = convert_to_tensor(updates, ref.dtype)
        return read(function(ref.handle, indices, values, name=name))

    scatter.__name__ = scatter.__qualname__ = name
    scatter.__doc__ = f"{what} of the parts of a variable that `indices` names; the new value."
    return export(name)(scatter)


scatter_update = _public("scatter_update", "ScatterUpdate", "ResourceScatterUpdate", "Update")
scatter_add = _public("scatter_add", "ScatterAdd", "ResourceScatterAdd", "Add")
scatter_sub = _public("scatter_sub", "ScatterSub", "ResourceScatterSub", "Sub")
scatter_mul = _public("scatter_mul", "ScatterMul", "ResourceScatterMul", "Mul")
scatter_div = _public("scatter_div", "ScatterDiv", "ResourceScatterDiv", "Div")
scatter_min = _public("scatter_min", "ScatterMin", "ResourceScatterMin", "Min")
scatter_max = _public("scatter_max", "ScatterMax", "ResourceScatterMax", "Max")
scatter_nd_update = _public(
    "scatter_nd_update", "ScatterNdUpdate", "ResourceScatterNdUpdate", "Update"
)
scatter_nd_add = _public("scatter_nd_add", "ScatterNdAdd", "ResourceScatterNdAdd", "Add")
scatter_nd_sub = _public("scatter_nd_sub", "ScatterNdSub", "ResourceScatterNdSub", "Sub")


@export("batch_scatter_update")
def batch_scatter_update(
    ref: Variable,
    indices: TensorLike,
    updates: TensorLike,
    use_locking: bool = True,
    name: str | None = None,
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
            # Each index is preceded by its own place in the batch.
            positions = tf.reshape(raw.Range(0, size, 1), shape)
            if positions.dtype.base_dtype != last.dtype:
                positions = raw.Cast(positions, DstT=last.dtype)
            parts.append(positions * tf.ones_like(last))
        parts.append(last)
        where = tf.concat(parts, axis=-1)
        return scatter_nd_update(ref, where, updates, use_locking=use_locking)
