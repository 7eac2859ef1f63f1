# SPDX-License-Identifier: Apache-2.0
"""Elements with sparse components as plain tensors and back: TensorFlow's data.util.sparse."""

from __future__ import annotations

from typing import Any

from ...engine import api
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.interface.specs import SparseTensorSpec
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from . import nest


def any_sparse(classes: Any) -> bool:
    """Whether any component is a SparseTensor."""
    return any(kind is SparseTensor for kind in nest.flatten(classes))


def _replaced(values: Any, classes: Any, other: Any) -> Any:
    pairs = zip(nest.flatten(values), nest.flatten(classes))
    return nest.pack_sequence_as(values, [other if k is SparseTensor else v for v, k in pairs])


def as_dense_shapes(shapes: Any, classes: Any) -> Any:
    """The shapes with unknown ones for sparse components."""
    return _replaced(shapes, classes, TensorShape(None))


def as_dense_types(types: Any, classes: Any) -> Any:
    """The dtypes with variant for sparse components."""
    return _replaced(types, classes, dtypes.variant)


def deserialize_sparse_tensors(tensors: Any, types: Any, shapes: Any, classes: Any) -> Any:
    """The components with sparse tensors of the variants that stand for them."""
    flat = zip(*map(nest.flatten, (tensors, types, shapes, classes)))
    found = [
        SparseTensorSpec(shape, kind)._from_compatible_tensor_list([tensor])
        if which is SparseTensor
        else tensor
        for tensor, kind, shape, which in flat
    ]
    return nest.pack_sequence_as(types, found)


def get_classes(tensors: Any) -> Any:
    """SparseTensor or Tensor for each component."""
    found = [SparseTensor if isinstance(t, SparseTensor) else Tensor for t in nest.flatten(tensors)]
    return nest.pack_sequence_as(tensors, found)


def _serialized(tensors: Any, function: str) -> Any:
    make = api.NAMES[f"io.{function}"]
    found = [
        make(t, out_type=dtypes.variant) if isinstance(t, SparseTensor) else t
        for t in nest.flatten(tensors)
    ]
    return nest.pack_sequence_as(tensors, found)


def serialize_many_sparse_tensors(tensors: Any) -> Any:
    """The components with a variant for each row of sparse ones."""
    return _serialized(tensors, "serialize_many_sparse")


def serialize_sparse_tensors(tensors: Any) -> Any:
    """The components with variants for sparse ones."""
    return _serialized(tensors, "serialize_sparse")
