# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.python.distribute.input_ops`: datasets of which each worker reads a part."""

from __future__ import annotations

from typing import Any

from ...engine.graph.defaults import get_default_graph
from ...ops.data.dataset import DatasetV2, _VariantDataset
from ...ops.data.dataset_v1 import DatasetV1, DatasetV1Adapter, obtain_all_variant_tensor_ops
from ...ops.data.experimental.adjusting import _AutoShardDataset


def auto_shard_dataset(dataset: DatasetV2, num_shards: int, index: int) -> DatasetV2:
    """The part of a dataset that worker `index` of `num_shards` has.

    The dataset as it is where its options say that all workers read all of it.
    """
    if not dataset.options().experimental_distribute.auto_shard:
        return dataset
    part = _AutoShardDataset(dataset, num_shards, index)
    return DatasetV1Adapter(part) if isinstance(dataset, DatasetV1) else part


def _clone_dataset(dataset: DatasetV2) -> DatasetV2:
    """A dataset of its own that is made in the same way, by operations of the default graph."""
    graph = get_default_graph()
    copies: dict[Any, Any] = {}
    for op in reversed(obtain_all_variant_tensor_ops(dataset)):
        copies[op] = graph.create_op(
            op.type,
            [copies[x.op].outputs[x.value_index] if x.op in copies else x for x in op.inputs],
            [output.dtype for output in op.outputs],
            name=op.name,
            attrs=dict(op.node_def.attr),
        )
    variant = copies[dataset._variant_tensor.op].outputs[0]
    return _VariantDataset(variant, dataset.element_spec)
