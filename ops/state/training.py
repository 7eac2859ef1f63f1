# SPDX-License-Identifier: Apache-2.0
"""The optimizers' update ops: each stated by one scalar body.

`update_op` makes of a body the op on reference variables, the one on resource variables and their
sparse forms; from the same body come the NumPy kernels and the fused compiled update.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.session.shared_reads import Changing
from ...engine.types.indices import first_outside
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from .. import shape_inference
from .reference import UPDATE
from .resource import handle_shape

if TYPE_CHECKING:
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.kernel.scalar import Operand
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# The ops on reference and on resource variables, where there are such.
Forms = tuple[str | None, str | None]
# body(op) -> update(*variables, *other inputs) -> the new values of the variables
Body = Callable[[Any], Callable[..., tuple[Any, ...]]]


def _one_minus(x: Operand) -> Any:
    return k.sub(k.const_like(1, x), x)


# Inputs that have the shape of the variable; others are scalars.
_LIKE_VARIABLE = ("grad", "delta")


def _require(names: Sequence[str], arrays: Sequence[np.ndarray], refs: int) -> None:
    """Checks that slots and gradient have the variable's shape and the rest are scalars."""
    first = arrays[0]
    for name, array in zip(names[1:], arrays[1:], strict=True):
        if name in _LIKE_VARIABLE or name in names[:refs]:
            if array.shape != first.shape:
                raise errors.invalid(
                    f"{names[0]} and {name} do not have the same shape"
                    f"{shape_text(first.shape)} {shape_text(array.shape)}"
                )
        elif array.ndim:
            raise errors.invalid(f"{name} is not a scalar: {shape_text(array.shape)}")


def _dense_kernel(names: Sequence[str], refs: int, body: Body, gives: bool) -> Callable[..., Any]:
    def kernel(c: KernelContext, *inputs: Any) -> Any:
        cells = inputs[:refs]
        with np.errstate(all="ignore"), Changing(*cells):
            arrays = [cell.read() for cell in cells]
            _require(names, [*arrays, *inputs[refs:]], refs)
            for array, value in zip(arrays, body(c)(*arrays, *inputs[refs:]), strict=True):
                # A body that leaves a slot as it is gives the slot itself back.
                if value is not array:
                    array[...] = value
        return cells[0] if gives else None

    return kernel


def _lowering(names: Sequence[str], refs: int, body: Body, gives: bool) -> Callable[..., Any]:
    def lower(b: Builder, op: OpView, *values: Any) -> Any:
        cells = values[:refs]
        present = [b.read(cell) for cell in cells]
        if any(v.shape != present[0].shape for v in present):
            return NotImplemented
        for name, given in zip(names[refs:], values[refs:], strict=True):
            fits = b.same_shape(given, present[0]) if name in _LIKE_VARIABLE else not given.ndim
            if not fits:
                return NotImplemented  # The kernel says what is wrong.
        # One map, and so one pass over memory, for all variables of the update.  Rates are loaded,
        # whatever they are: programs that differ in them have one kernel.
        results = b.map(body(op), *present, *values[refs:], literals=False)
        results = results if isinstance(results, tuple) else (results,)
        after = [b.write(cell, new) for cell, new in zip(cells, results, strict=True)]
        return after[0] if gives else ()

    return lower


def _require_rows(names: Sequence[str], arrays: Sequence[np.ndarray], refs: int) -> None:
    """Checks that slots are like the variable, and that there is a row of it for every index."""
    _require(names[:refs], arrays[:refs], refs)
    stated, first = dict(zip(names, arrays, strict=True)), arrays[0]
    if not first.ndim:
        raise errors.invalid(f"{names[0]} must be at least 1 dimensional")
    for name, array in zip(names[refs:], arrays[refs:], strict=True):
        # TensorFlow takes vectors of one element for scalars here.
        if name not in (*_LIKE_VARIABLE, "indices") and array.shape not in ((), (1,)):
            raise errors.invalid(f"{name} is not a scalar: {shape_text(array.shape)}")
    if stated["indices"].ndim != 1:
        raise errors.invalid("indices must be one-dimensional")
    grad = stated["grad"].shape
    for place, size in enumerate(first.shape[1:], 1):
        if place >= len(grad) or grad[place] != size:
            raise errors.invalid(f"{names[0]} and grad must match in dimension {place}")
    if len(grad) != first.ndim or grad[0] != len(stated["indices"]):
        raise errors.invalid("grad must be the same size as indices in the first dimension.")


def _outside(indices: np.ndarray, size: int) -> errors.InvalidArgumentError:
    bad = first_outside(indices, size) or 0
    return errors.invalid(f"Index {indices[bad]} at offset {bad} in indices is out of range")


def _sparse_kernel(names: Sequence[str], refs: int, body: Body, gives: bool) -> Callable[..., Any]:
    grad_at, indices_at = names.index("grad"), names.index("indices")

    def kernel(c: KernelContext, *inputs: Any) -> Any:
        cells = inputs[:refs]
        indices, grad = inputs[indices_at], inputs[grad_at]
        with np.errstate(all="ignore"), Changing(*cells):
            arrays = [cell.read() for cell in cells]
            _require_rows(names, [*arrays, *inputs[refs:]], refs)
            bad = first_outside(indices, arrays[0].shape[0])
            update = body(c)
            # Equal indices are applied one after the other: each batch holds an index once.
            # What comes before a bad index is done all the same.
            for batch in _batches(indices[:bad]):
                rows = indices[batch]
                given = [
                    grad[batch] if i == grad_at else value
                    for i, value in enumerate(inputs)
                    if i >= refs and i != indices_at
                ]
                news = update(*(array[rows] for array in arrays), *given)
                for array, new in zip(arrays, news, strict=True):
                    array[rows] = new
            if bad is not None:
                raise _outside(indices, arrays[0].shape[0])
        return cells[0] if gives else None

    return kernel


def _sparse_lowering(
    names: Sequence[str], refs: int, body: Body, gives: bool
) -> Callable[..., Any]:
    at = names.index("indices")

    def lower(b: Builder, op: OpView, *values: Any) -> Any:
        from ...jit import library

        for name, value in zip(names[refs:], values[refs:], strict=True):
            if name not in (*_LIKE_VARIABLE, "indices") and value.ndim:
                return NotImplemented  # The kernel says what is wrong.
        if values[at].ndim != 1:
            return NotImplemented
        given = [value for i, value in enumerate(values) if i >= refs and i != at]
        after = library.update_rows(b, values[:refs], values[at], body(op), given, _outside)
        return after if after is NotImplemented else after[0] if gives else ()

    return lower


def _batches(indices: np.ndarray) -> list[np.ndarray]:
    """Positions in groups that hold every index at most once, in order of occurrence."""
    # Stable: the first group holds the first occurrence of each index, the second one the second.
    order = np.argsort(indices, kind="stable")
    ordered = indices[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(indices) else order
    counts = np.diff(np.r_[starts, len(indices)])
    occurrence = np.empty(len(indices), np.int64)
    occurrence[order] = np.arange(len(indices)) - np.repeat(starts, counts)
    return [np.flatnonzero(occurrence == i) for i in range(int(occurrence.max(initial=-1)) + 1)]


def _text(parts: Sequence[str], refs: int, resource: bool) -> str:
    kinds = {"global_step": "int64", "indices": "Tindices"}
    held = "resource" if resource else "Ref(T)"
    inputs = ", ".join(
        f"{name}: {held if i < refs else kinds.get(name, 'T')}" for i, name in enumerate(parts)
    )
    return f"{inputs} ->" if resource else f"{inputs} -> out: Ref(T)"


def update_op(
    op_types: Forms,
    variables: str,
    inputs: str,
    body: Body,
    *,
    attrs: str = "",
    sparse: Forms = (None, None),
    sparse_inputs: str = "",
    doc: str,
) -> None:
    """Defines the ops of one update: on reference and on resource variables, dense and sparse.

    body(op) is a function of the variables and then the other inputs, in the given order (sparse:
    without the indices); it returns the variables' new values.
    """
    held = variables.split()
    extra = "; use_locking: bool = false" + (f"; {attrs}" if attrs else "")
    for is_sparse, forms, given in ((False, op_types, inputs), (True, sparse, sparse_inputs)):
        names = held + given.split()
        kernel_of = _sparse_kernel if is_sparse else _dense_kernel
        lowering_of = _sparse_lowering if is_sparse else _lowering
        index = "; Tindices: index" if is_sparse else ""
        for resource, op_type in zip((False, True), forms, strict=True):
            if op_type is None:
                continue
            define(
                op_type,
                _text(names, len(held), resource),
                f"T: numbertype{index}{extra}",
                shape=_shape_rule(names, len(held), resource),
                kernel=kernel_of(names, len(held), body, not resource),
                lower=lowering_of(names, len(held), body, not resource),
                gradient=UPDATE,
                stateful=resource,
                doc=f"{doc}{' Of some rows.' if is_sparse else ''}",
            )


def _shape_rule(names: Sequence[str], refs: int, resource: bool) -> Callable[..., Any]:
    """Slots and gradient are shaped like the variable, indices like its rows; the rest scalars."""
    sparse = "indices" in names

    def rule(c: ShapeContext) -> Any:
        given = [handle_shape(c.tensor(i)) if resource else c.inputs[i] for i in range(refs)]
        shape = given[0]
        for i, name in enumerate(names):
            if 0 < i < refs:
                shape = shape_inference.merge(shape, given[i])
            elif name in ("grad", "delta"):
                shape = _merged_gradient(shape, c.inputs[i], c.inputs[i + 1] if sparse else None)
            elif i >= refs and name != "indices":
                shape_inference.ranked(c.inputs[i], 0)
        return None if resource else shape

    return rule


def _merged_gradient(
    shape: TensorShape, grad: TensorShape, indices: TensorShape | None
) -> TensorShape:
    if indices is None or grad.ndims == 0:
        return shape_inference.merge(shape, grad)
    rows = shape_inference.ranked(indices, 1)
    if grad.ndims is None:
        return shape
    shape_inference.merge_dim(rows[0] if rows else None, grad.as_list()[0])
    return shape_inference.merge(shape, TensorShape([None, *grad.as_list()[1:]]))


def _descent(op: Operation) -> Any:
    return lambda var, rate, delta: (k.sub(var, k.mul(delta, rate)),)


update_op(
    ("ApplyGradientDescent", "ResourceApplyGradientDescent"),
    "var",
    "alpha delta",
    _descent,
    doc="var -= alpha * delta.",
)


def _shrunk(x: Operand, rate: Operand, l1: Operand, l2: Operand) -> Any:
    """The proximal step: towards zero by l1, scaled down by l2."""
    # argmin over y of (y - x)**2 / (2 * rate) + l1 * |y| + l2 * y**2 / 2: forward and backward
    # splitting, after Duchi and Singer (2009).
    scale = k.add(k.const_like(1, x), k.mul(l2, rate))
    zero = k.const_like(0, x)
    shrunk = k.mul(k.sign(x), k.maximum(k.sub(k.abs(x), k.mul(rate, l1)), zero))
    # As TensorFlow decides: without l1 the value itself is scaled.
    return k.div(k.select(k.gt(l1, zero), shrunk, x), scale)


def _proximal_descent(op: Operation) -> Any:
    return lambda var, rate, l1, l2, grad: (_shrunk(k.sub(var, k.mul(grad, rate)), rate, l1, l2),)


update_op(
    ("ApplyProximalGradientDescent", "ResourceApplyProximalGradientDescent"),
    "var",
    "alpha l1 l2 delta",
    _proximal_descent,
    sparse=("SparseApplyProximalGradientDescent", "ResourceSparseApplyProximalGradientDescent"),
    sparse_inputs="alpha l1 l2 grad indices",
    doc="A proximal step of gradient descent.",
)


def _momentum(op: Operation) -> Any:
    nesterov = op.attr("use_nesterov")

    def update(
        var: Operand, accum: Operand, rate: Operand, grad: Operand, momentum: Operand
    ) -> Any:
        accum = k.add(k.mul(accum, momentum), grad)
        if nesterov:
            # Nesterov's step: the gradient itself, and what the momentum carries on from here.
            ahead = k.mul(k.mul(accum, momentum), rate)
            return k.sub(var, k.add(k.mul(grad, rate), ahead)), accum
        return k.sub(var, k.mul(accum, rate)), accum

    return update


def _keras_momentum(op: Operation) -> Any:
    nesterov = op.attr("use_nesterov")

    def update(
        var: Operand, accum: Operand, rate: Operand, grad: Operand, momentum: Operand
    ) -> Any:
        step = k.mul(grad, rate)
        accum = k.sub(k.mul(accum, momentum), step)
        move = k.sub(k.mul(accum, momentum), step) if nesterov else accum
        return k.add(var, move), accum

    return update


update_op(
    ("ApplyMomentum", "ResourceApplyMomentum"),
    "var accum",
    "lr grad momentum",
    _momentum,
    attrs="use_nesterov: bool = false",
    sparse=("SparseApplyMomentum", "ResourceSparseApplyMomentum"),
    sparse_inputs="lr grad indices momentum",
    doc="accum = accum * momentum + grad; var -= lr * accum.",
)
update_op(
    (None, "ResourceApplyKerasMomentum"),
    "var accum",
    "lr grad momentum",
    _keras_momentum,
    attrs="use_nesterov: bool = false",
    sparse=(None, "ResourceSparseApplyKerasMomentum"),
    sparse_inputs="lr grad indices momentum",
    doc="accum = accum * momentum - lr * grad; var += accum.",
)


def _adagrad(op: Operation) -> Any:
    slots = op.attr("update_slots")

    def update(var: Operand, accum: Operand, rate: Operand, grad: Operand) -> Any:
        accum = k.add(accum, k.square(grad)) if slots else accum
        return k.sub(var, k.mul(k.mul(grad, rate), k.rsqrt(accum))), accum

    return update


def _adagrad_v2(op: Operation) -> Any:
    slots = op.attr("update_slots")

    def update(var: Operand, accum: Operand, rate: Operand, epsilon: Operand, grad: Operand) -> Any:
        accum = k.add(accum, k.square(grad)) if slots else accum
        return k.sub(var, k.div(k.mul(grad, rate), k.add(k.sqrt(accum), epsilon))), accum

    return update


update_op(
    ("ApplyAdagrad", "ResourceApplyAdagrad"),
    "var accum",
    "lr grad",
    _adagrad,
    attrs="update_slots: bool = true",
    sparse=("SparseApplyAdagrad", "ResourceSparseApplyAdagrad"),
    sparse_inputs="lr grad indices",
    doc="accum += grad * grad; var -= lr * grad / sqrt(accum).",
)
update_op(
    ("ApplyAdagradV2", "ResourceApplyAdagradV2"),
    "var accum",
    "lr epsilon grad",
    _adagrad_v2,
    attrs="update_slots: bool = true",
    sparse=("SparseApplyAdagradV2", "ResourceSparseApplyAdagradV2"),
    sparse_inputs="lr epsilon grad indices",
    doc="Adagrad with epsilon added to the root.",
)


def _proximal_adagrad(op: Operation) -> Any:
    def update(
        var: Operand, accum: Operand, rate: Operand, l1: Operand, l2: Operand, grad: Operand
    ) -> Any:
        accum = k.add(accum, k.square(grad))
        rate = k.mul(rate, k.rsqrt(accum))
        return _shrunk(k.sub(var, k.mul(grad, rate)), rate, l1, l2), accum

    return update


update_op(
    ("ApplyProximalAdagrad", "ResourceApplyProximalAdagrad"),
    "var accum",
    "lr l1 l2 grad",
    _proximal_adagrad,
    sparse=("SparseApplyProximalAdagrad", "ResourceSparseApplyProximalAdagrad"),
    sparse_inputs="lr l1 l2 grad indices",
    doc="A proximal step of Adagrad.",
)


def _adagrad_da(op: Operation) -> Any:
    def update(
        var: Operand,
        total: Operand,
        squares: Operand,
        grad: Operand,
        rate: Operand,
        l1: Operand,
        l2: Operand,
        step: Operand,
    ) -> Any:
        total, squares = k.add(total, grad), k.add(squares, k.square(grad))
        steps, zero = k.cast(step, total.dtype), k.const_like(0, total)
        # Duchi, Hazan and Singer (2011): the variable is computed anew from the sum of all
        # gradients, which is pulled towards zero by l1 for every step so far.
        reach = k.maximum(k.sub(k.abs(total), k.mul(steps, l1)), zero)
        pull = k.select(k.gt(l1, zero), k.mul(k.sign(total), reach), total)
        scale = k.add(k.mul(l2, k.mul(steps, rate)), k.sqrt(squares))
        return k.div(k.neg(k.mul(rate, pull)), scale), total, squares

    return update


update_op(
    ("ApplyAdagradDA", "ResourceApplyAdagradDA"),
    "var gradient_accumulator gradient_squared_accumulator",
    "grad lr l1 l2 global_step",
    _adagrad_da,
    sparse=("SparseApplyAdagradDA", "ResourceSparseApplyAdagradDA"),
    sparse_inputs="grad indices lr l1 l2 global_step",
    doc="Adagrad with dual averaging.",
)
