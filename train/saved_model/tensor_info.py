# SPDX-License-Identifier: Apache-2.0
"""TensorInfo messages: how a signature names a tensor, and the tensor that one names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.graph import Graph, get_default_graph
from ...engine.graph.scope_functions import prepend_name_scope
from ...engine.graph.tensor import IndexedSlices, SparseTensor
from ...engine.interface.specs import type_spec_from_value
from ...engine.types import dtypes, nest
from ...io import protos
from ...io.tensor_proto import shape_proto
from .structures import decode_structure, encode_structure

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


def build_tensor_info(tensor: Any) -> Any:
    """The TensorInfo of a tensor: its name, dtype and static shape (`tf.saved_model.utils`).

    A SparseTensor is told by the names of its three tensors, other values of several tensors
    (IndexedSlices, a RaggedTensor) by their type and the TensorInfos of their parts.
    """
    if isinstance(tensor, IndexedSlices) or hasattr(tensor, "_type_spec"):
        return _of_composite(tensor)
    info = protos.TensorInfo(
        dtype=dtypes.as_dtype(tensor.dtype).as_datatype_enum,
        tensor_shape=shape_proto(tensor.get_shape()),
    )
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def _of_composite(value: Any) -> Any:
    spec = type_spec_from_value(value)
    info = protos.TensorInfo()
    info.composite_tensor.type_spec.CopyFrom(encode_structure(spec).type_spec_value)
    for component in nest.flatten(spec._to_components(value)):
        info.composite_tensor.components.add().CopyFrom(build_tensor_info(component))
    return info


def build_tensor_info_from_op(op: Operation | Tensor) -> Any:
    """A TensorInfo that names an operation: it has no dtype and no shape."""
    return protos.TensorInfo(
        # By this a reader tells it from a tensor's (TensorFlow 1.15, saved_model/utils_impl.py).
        dtype=protos.DT_INVALID,
        tensor_shape=protos.TensorShapeProto(unknown_rank=True),
        name=op.name,
    )


def get_tensor_from_tensor_info(
    tensor_info: Any, graph: Graph | None = None, import_scope: str | None = None
) -> Any:
    """The tensor that a TensorInfo names in a graph (`tf.saved_model.utils`).

    Args:
      tensor_info: The TensorInfo.
      graph: The graph to look in; the default graph unless given.
      import_scope: The scope that the names in the message are to be prefixed with.

    Returns:
      A Tensor, SparseTensor or other composite, as `build_tensor_info` was given.

    Raises:
      KeyError: The graph has no such tensor.
      ValueError: The message names nothing.
    """
    graph = graph or get_default_graph()

    def find(name: str) -> Any:
        return graph.get_tensor_by_name(prepend_name_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return find(tensor_info.name)
    if encoding == "coo_sparse":
        names = tensor_info.coo_sparse
        return SparseTensor(
            find(names.indices_tensor_name),
            find(names.values_tensor_name),
            find(names.dense_shape_tensor_name),
        )
    if encoding == "composite_tensor":
        composite = tensor_info.composite_tensor
        spec = decode_structure(protos.StructuredValue(type_spec_value=composite.type_spec))
        parts = [find(component.name) for component in composite.components]
        return spec._from_components(nest.pack_sequence_as(spec._component_specs, parts))
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


def get_element_from_tensor_info(
    tensor_info: Any, graph: Graph | None = None, import_scope: str | None = None
) -> Any:
    """The operation or tensor that a TensorInfo names; KeyError if the graph has none."""
    graph = graph or get_default_graph()
    return graph.as_graph_element(prepend_name_scope(tensor_info.name, import_scope))
