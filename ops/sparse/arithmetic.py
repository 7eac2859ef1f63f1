# SPDX-License-Identifier: Apache-2.0
"""Arithmetic between a SparseTensor and a dense tensor, and the confusion matrix made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import OpFunction, define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ..array.nd_index import lower_scatter
from ..control import with_dependencies
from ..elementwise import is_integer
from ..public import tf
from ..shape_inference import ranked
from ..sparse_checks import require_sparse, require_vectors
from .common import no_gradient_yet
from .compiled import lower_cwise

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _sample() -> list[Any]:
    return [
        np.array([[0, 1], [1, 0]], np.int64),
        np.array([1.5, -2.0]),
        np.array([2, 3], np.int64),
        np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ]


# Sparse times dense


def _values_shape(c: ShapeContext) -> TensorShape:
    c.value_as_shape(2)  # what becomes of the sparse tensor may ask for sizes
    return TensorShape([ranked(c.inputs[0], 2)[0]])


def _require_spread(indices: np.ndarray, shape: np.ndarray, dense_shape: np.ndarray) -> None:
    """Raises InvalidArgumentError unless a dense tensor spreads to all places of a sparse one."""
    target, sizes = shape.tolist(), dense_shape.tolist()
    behind = target[len(target) - len(sizes) :]
    # The dense side broadcasts to the sparse one, never the other way round.
    if len(sizes) > len(target) or any(n not in (1, m) for m, n in zip(behind, sizes, strict=True)):
        raise errors.invalid(
            "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible "
            f"shapes: {shape_text(target)} vs. {shape_text(sizes)}"
        )
    if not 1 <= len(target) <= 5:
        raise errors.invalid(
            "Only tensors with ranks between 1 and 5 are currently supported.  Tensor rank: "
            f"{len(target)}"
        )
    if ((indices < 0) | (indices >= shape)).any():
        raise errors.invalid(
            "Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape"
        )


def _cwise(
    name: str,
    compute: Callable[..., np.ndarray],
    scalar: Callable[[Any, Any], Any],
    gradient: object,
    doc: str,
) -> OpFunction:
    def kernel(
        c: KernelContext,
        indices: np.ndarray,
        values: np.ndarray,
        shape: np.ndarray,
        dense: np.ndarray,
    ) -> np.ndarray:
        if indices.ndim != 2:
            text = "Input sp_indices should be a matrix but received shape: "
            raise errors.invalid(f"{text}{shape_text(indices.shape)}")
        text = "Inputs sp_values and sp_shape should be vectors but received shapes:"
        require_vectors(text, values, shape)
        # (TensorFlow reads beyond what it was given.)
        require_sparse(indices, values, shape)
        _require_spread(indices, shape, np.array(dense.shape, np.int64))
        wide = np.broadcast_to(dense, tuple(shape.tolist()))
        with np.errstate(all="ignore"):
            return np.asarray(compute(values, wide[tuple(indices.T)])).astype(values.dtype)

    return define(
        name,
        "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T",
        "T: numbertype",
        shape=_values_shape,
        kernel=kernel,
        lower=lower_cwise(scalar, _require_spread),
        gradient=gradient,
        doc=doc,
        test=lambda: {"values": [_sample()]},
    )


def _scaled_gradient(op: Operation, grad: Tensor, is_mul: bool) -> tuple[None, Tensor, None, Any]:
    indices, values, shape, y = op.inputs
    y_shape = tf.cast(tf.shape(y), dtypes.int64)
    added = tf.expand_dims(tf.size(shape) - tf.size(y_shape), 0)
    wide_shape = tf.concat([tf.ones(added, dtypes.int64), y_shape], 0)
    # Where y has one element for several positions, the quotient of the sizes maps these to it.
    scaled = indices // (shape // wide_shape)
    scaled = tf.slice(scaled, tf.concat([[0], added], 0), [-1, -1])
    dense = tf.gather_nd(y, scaled)
    if is_mul:
        grad_x, along_y = grad * dense, grad * values
    else:
        grad_x, along_y = grad / dense, grad * (-values / tf.square(dense))
    # Several positions may share one element of y: their gradients are added.
    grad_y = sparse_tensor_dense_add(scaled, along_y, y_shape, tf.zeros_like(y))
    return None, grad_x, None, grad_y


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return k.truncatediv(x, y) if is_integer(x) else x / y


sparse_dense_cwise_mul = _cwise(
    "SparseDenseCwiseMul",
    np.multiply,
    k.mul,
    lambda op, grad: _scaled_gradient(op, grad, True),
    doc="The values of a sparse tensor times the dense ones at their places.",
)
sparse_dense_cwise_div = _cwise(
    "SparseDenseCwiseDiv",
    _quotient,
    lambda x, y: k.truncatediv(x, y) if is_integer(x) else k.div(x, y),
    lambda op, grad: _scaled_gradient(op, grad, False),
    doc="The values of a sparse tensor divided by the dense ones at their places.",
)
sparse_dense_cwise_add = _cwise(
    "SparseDenseCwiseAdd",
    np.add,
    k.add,
    no_gradient_yet("SparseDenseCwiseAdd"),
    doc="The values of a sparse tensor plus the dense ones at their places.",
)


# Sparse plus dense


def _require_places(sizes: Sequence[int], indices: np.ndarray) -> None:
    outside = ((indices < 0) | (indices >= np.array(sizes, np.int64))).any(axis=-1)
    if outside.any():
        place = ",".join(map(str, indices[int(np.argmax(outside))]))
        text = f"Sparse tensor has an invalid index: [{place}]"
        raise errors.invalid(text)


def _lower_dense_add(
    b: Builder, op: OpView, indices: Value, values: Value, shape: Value, dense: Value
) -> Any:
    known = b.known(shape)
    if known is None or known.shape != (dense.ndim,):
        return NotImplemented
    b.require_shape(dense, known.tolist())
    return _add_at_places(b, op, dense, indices, values)


_add_at_places = lower_scatter("add", _require_places)


def _dense_add_kernel(
    c: KernelContext, indices: np.ndarray, values: np.ndarray, shape: np.ndarray, dense: np.ndarray
) -> np.ndarray:
    if tuple(shape.tolist()) != dense.shape:
        raise errors.invalid(
            "Dimensions of the sparse and the dense tensor must be equal: "
            f"{shape_text(shape.tolist())} vs. {shape_text(dense.shape)}"
        )
    if values.ndim != 1:
        text = "Input a_values should be a vector but received shape "
        raise errors.invalid(f"{text}{shape_text(values.shape)}")
    require_sparse(indices, values, shape)
    _require_places(dense.shape, indices)
    total = np.array(dense)
    np.add.at(total, tuple(indices.T), values)
    return total


def _sparse_tensor_dense_add_gradient(
    op: Operation, grad: Tensor
) -> tuple[None, Tensor, None, Tensor]:
    return (None, tf.gather_nd(grad, op.inputs[0]), None, grad)


sparse_tensor_dense_add = define(
    "SparseTensorDenseAdd",
    "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T",
    "T: numbertype; Tindices: {int32, int64}",
    shape=lambda c: c.inputs[3],
    kernel=_dense_add_kernel,
    lower=_lower_dense_add,
    gradient=_sparse_tensor_dense_add_gradient,
    test=lambda: {"values": [_sample()]},
    doc="The sum of a sparse and a dense tensor, dense.",
)


# Confusion matrix


def remove_squeezable_dimensions(
    labels: Any,
    predictions: Any,
    expected_rank_diff: int = 0,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Squeezes the last dimension of whichever has one rank more than expected."""
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        ranks = predictions.shape.ndims, labels.shape.ndims
        if None not in ranks:
            difference = ranks[0] - ranks[1] - expected_rank_diff
            if difference == 1:
                predictions = tf.squeeze(predictions, [-1])
            elif difference == -1:
                labels = tf.squeeze(labels, [-1])
            return labels, predictions
        rank_diff = tf.rank(predictions) - tf.rank(labels)
        predictions = _maybe_squeeze(predictions, expected_rank_diff + 1, rank_diff)
        return _maybe_squeeze(labels, expected_rank_diff - 1, rank_diff), predictions


def _maybe_squeeze(x: Tensor, wanted: int, rank_diff: Tensor) -> Any:
    """Drops the last dimension at run time, unless it cannot be one."""
    if x.shape.ndims is not None and not x.shape[-1].is_compatible_with(1):
        return x
    return tf.cond(tf.equal(wanted, rank_diff), lambda: tf.squeeze(x, [-1]), lambda: x)


def _checked(tensor: Tensor, check: Callable[..., Any], *args: Any, message: str) -> Any:
    return with_dependencies([check(tensor, *args, message=message)], tensor)


@export("math.confusion_matrix", "confusion_matrix")
def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    weights: Any = None,
) -> Any:
    """How often (or with which weight) label i was predicted as j, at row i and column j."""
    with name_scope(name, "confusion_matrix", (predictions, labels, num_classes, weights)) as name:
        labels = convert_to_tensor(labels, name="labels")
        predictions = convert_to_tensor(predictions, name="predictions")
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions = tf.cast(predictions, dtypes.int64)
        labels = tf.cast(labels, dtypes.int64)
        check = tf.assert_non_negative
        labels = _checked(labels, check, message="`labels` contains negative values")
        predictions = _checked(predictions, check, message="`predictions` contains negative values")
        if num_classes is None:
            num_classes = tf.maximum(tf.reduce_max(predictions), tf.reduce_max(labels)) + 1
        else:
            limit = tf.cast(num_classes, dtypes.int64)
            check = tf.assert_less
            labels = _checked(labels, check, limit, message="`labels` out of bound")
            predictions = _checked(predictions, check, limit, message="`predictions` out of bound")
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            predictions.get_shape().assert_is_compatible_with(weights.get_shape())
            weights = tf.cast(weights, dtype)
        shape = tf.stack([num_classes, num_classes])
        indices = tf.stack([labels, predictions], axis=1)
        values = tf.ones_like(predictions, dtype) if weights is None else weights
        dense_shape = tf.cast(shape, dtypes.int64)
        zeros = tf.zeros(tf.cast(shape, dtypes.int32), dtype)
        return sparse_tensor_dense_add(indices, values, dense_shape, zeros)
