# SPDX-License-Identifier: Apache-2.0
"""Where datasets come from, and the graphs that make them anew."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....engine import errors
from ....engine.session.state import handle_bytes
from ....engine.types import dtypes
from ....engine.types.dtypes import DType
from .dataset import Dataset, as_array

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation

# The consumers that know of functions, as TensorFlow has it.
_FUNCTIONS_CONSUMER = 12


class Origin(NamedTuple):
    """The operation that made a dataset, and its inputs, by argument."""

    op: Operation
    inputs: Sequence[Any]


def made_by(op: Operation, inputs: Sequence[Any], dataset: Dataset) -> Dataset:
    """The dataset that an operation made; nobody changes the inputs afterwards."""
    if dataset.origin is not None:
        # One of the inputs, perhaps: it remains what it is.
        dataset = copy.copy(dataset)
    dataset.origin = Origin(op, inputs)
    return dataset


def graph_of(dataset: Dataset) -> Any:
    """The GraphDef of a dataset, as TensorFlow writes it: its node is the input of `dataset`.

    Raises:
      FailedPreconditionError: Something of it cannot be written.
    """
    from ....io import protos

    writer = _Writer()
    made = writer.written(dataset)
    message = writer.message
    last = message.node.add(name="dataset", op="_Retval", input=[made])
    last.attr["T"].type = dtypes.variant.as_datatype_enum
    last.attr["index"].i = 0
    message.library.SetInParent()
    message.versions.CopyFrom(protos.VersionDef(producer=dataset_producer(dataset)))
    if message.library.function:
        message.versions.min_consumer = _FUNCTIONS_CONSUMER
    return message


def node_names(dataset: Dataset) -> dict[Dataset, str]:
    """What the nodes of a dataset and of all that it reads are called in its graph.

    A dataset that no operation made has the name of the one that reads it.
    """
    names: dict[Dataset, str] = {}
    _name(dataset, 0, names)
    return names


def _name(dataset: Dataset, count: int, names: dict[Dataset, str]) -> int:
    """The same; count: how many nodes come before.  How many there are then."""
    for source in dataset.inputs:
        count = _name(source, count, names)
    if dataset.origin is None:
        return count
    op = dataset.origin.op._stands_for or dataset.origin.op
    # Everything else that it reads is a constant.
    kinds = [tensor.dtype.base_dtype for tensor in op.inputs]
    count += sum(kind != dtypes.variant for kind in kinds)
    names[dataset] = f"{op.type}/_{count}"
    for source in dataset.inputs:
        names.setdefault(source, names[dataset])
    return count + 1


def dataset_producer(dataset: Dataset) -> int:
    """The version of the graph that a dataset is from."""
    assert dataset.origin is not None
    return dataset.origin.op.graph._producer


class _Writer:
    """Writes the nodes of datasets, each after those that it reads."""

    def __init__(self) -> None:
        from ....io import protos

        self.message = protos.GraphDef()
        self._functions: set[str] = set()

    def _added(self, kind: str) -> Any:
        return self.message.node.add(name=f"{kind}/_{len(self.message.node)}", op=kind)

    def written(self, dataset: Dataset) -> str:
        """The name of a dataset's node."""
        from ....io.graph_def import node_def

        if dataset.origin is None:
            raise errors.failed_precondition(f"{dataset!r} cannot be written as a graph.")
        op = dataset.origin.op._stands_for or dataset.origin.op
        kinds = [tensor.dtype.base_dtype for tensor in op.inputs]
        inputs = [self._input(*each) for each in zip(_flat(dataset.origin.inputs), kinds)]
        node = self._added(op.type)
        node.input.extend(inputs)
        for key, value in node_def(op).attr.items():
            if not key.startswith("_"):
                node.attr[key].CopyFrom(value)
                names = [value.func.name] if value.HasField("func") else []
                self._add_functions([*names, *(f.name for f in value.list.func)], op)
        return str(node.name)

    def _input(self, value: Any, kind: DType) -> str:
        if kind == dtypes.variant:
            found = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
            if not isinstance(found, Dataset):
                raise errors.failed_precondition(f"{found!r} cannot be written as a graph.")
            return self.written(found)
        node = self._added("Const")
        node.attr["dtype"].type = kind.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(_constant(value, kind))
        return str(node.name)

    def _add_functions(self, names: Sequence[str], op: Operation) -> None:
        """Adds functions to the library, with those that they call."""
        functions = op.graph._functions
        todo = [name for name in names if name in functions]
        while todo:
            name = todo.pop(0)
            if name not in self._functions:
                self._functions.add(name)
                self.message.library.function.add().CopyFrom(functions[name].definition)
                todo += [each for calls in functions[name].calls for each in calls]


def _flat(inputs: Sequence[Any]) -> Iterator[Any]:
    for value in inputs:
        yield from value if isinstance(value, list) else [value]


def _constant(value: Any, kind: DType) -> Any:
    from ....io import protos
    from ....io.raw_tensors import runtime_tensor_proto

    if kind != dtypes.resource:
        return runtime_tensor_proto(as_array(value, kind.np_dtype), kind)
    message = protos.TensorProto(dtype=kind.as_datatype_enum)
    message.tensor_shape.SetInParent()
    message.resource_handle_val.add().ParseFromString(handle_bytes(value).tobytes())
    return message
