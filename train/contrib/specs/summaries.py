# SPDX-License-Identifier: Apache-2.0
"""What networks are made of: their ops in order, and how many numbers their variables have."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ....engine.api import constant, export
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.public import tf
from . import specs

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike

SHORT_NAMES = {
    "BiasAdd": "biasadd",
    "Const": "_",
    "Conv2D": "conv",
    "MatMul": "dot",
    "Placeholder": "_",
    "Sigmoid": "sig",
    "Variable": "var",
}
SHORT_NAMES_SRC = [word for pair in SHORT_NAMES.items() for word in pair]
constant("contrib.specs.SHORT_NAMES", SHORT_NAMES)
constant("contrib.specs.SHORT_NAMES_SRC", SHORT_NAMES_SRC)


def _truncate_structure(x: Operation) -> bool:
    """Whether what is before an operation is of no interest."""
    return "/HorizontalLstm/" in x.name


def _operation(x: Tensor | Operation, otherwise: Any) -> tuple[Operation, Any]:
    """The operation, and the tensor's shape."""
    if isinstance(x, Tensor):
        return x.op, x.shape.as_list()
    return x, otherwise


@export("contrib.specs.tf_structure")
def tf_structure(
    x: Tensor | Operation, include_shapes: bool = False, finished: set[Any] | None = None
) -> str:
    """The ops that a tensor is computed by, in order, under short names.

    Args:
        x: the tensor, or an operation.
        include_shapes: whether shapes are shown, too.
        finished: the operations that were shown, of which "<>" says that they were.

    Returns:
        Words, each after a space.
    """
    finished = set() if finished is None else finished
    op, shape = _operation(x, [])
    if op in finished:
        return " <>"
    finished.add(op)
    result = ""
    if not _truncate_structure(op):
        result = "".join(tf_structure(given, include_shapes, finished) for given in op.inputs)
    if include_shapes:
        result += f" {shape}"
    if op.type != "Identity":
        result += f" {SHORT_NAMES.get(op.type, op.type.lower())}"
    return result


@export("contrib.specs.tf_print")
def tf_print(
    x: Tensor | Operation,
    depth: int = 0,
    finished: set[Any] | None = None,
    printer: Callable[[str], Any] = print,
) -> None:
    """Prints the ops that a tensor is computed by, a line each, indented.

    Args:
        x: the tensor, or an operation.
        depth: how far the line is indented.
        finished: the operations that were printed.
        printer: is called with each line.
    """
    finished = set() if finished is None else finished
    op, shape = _operation(x, "")
    if op.type == "Identity":
        op = op.inputs[0].op
    indent = "  " * depth
    if op in finished:
        printer(f"{indent}<{op.name}> {op.type} {shape}")
        return
    finished.add(op)
    printer(f"{indent}{op.name} {op.type} {shape}")
    if not _truncate_structure(op):
        for given in op.inputs:
            tf_print(given, depth + 1, finished, printer=printer)


@export("contrib.specs.tf_num_params")
def tf_num_params(x: Tensor | Operation) -> int:
    """How many numbers have the variables that a tensor is computed from."""
    op = x.op if isinstance(x, Tensor) else x
    if op.type in ("Variable", "VariableV2"):
        return op.outputs[0].shape.num_elements() or 0
    return sum(map(tf_num_params, op.inputs))


@export("contrib.specs.tf_left_split")
def tf_left_split(op: Operation) -> tuple[Any, list[Any]]:
    """The input that leads on to the network's, and the others."""
    inputs = list(op.inputs)
    if not inputs:
        return None, []
    if op.type == "Concat":  # Whose first input is the axis.
        return inputs[1], inputs[2:]
    return inputs[0], inputs[1:]


@export("contrib.specs.tf_parameter_iter")
def tf_parameter_iter(x: Any) -> Iterator[tuple[str, int, Any]]:
    """(name, numbers in variables, shape) of ops from a tensor to the network's input."""
    while x is not None:
        op, shape = _operation(x, "")
        x, others = tf_left_split(op)
        yield op.name, sum(map(tf_num_params, others)), shape


def _combine_filter(rows: Iterable[tuple[str, int, Any]]) -> Iterator[tuple[str, int, Any]]:
    """Rows of the same outermost scope as one, with the shape of the first."""
    for name, group in itertools.groupby(rows, key=lambda row: row[0].partition("/")[0]):
        found = list(group)
        yield name, sum(total for _, total, _ in found), found[0][2]


@export("contrib.specs.tf_parameter_summary")
def tf_parameter_summary(
    x: TensorLike, printer: Callable[[str], Any] = print, combine: bool = True
) -> None:
    """Prints how many numbers the variables of each layer have.

    Args:
        x: the network's output.
        printer: is called with each line.
        combine: whether ops of a scope are one line.
    """
    rows = tf_parameter_iter(x)
    for name, total, shape in reversed(list(_combine_filter(rows) if combine else rows)):
        printer(f"{total:10d} {name:<20} {shape}")


def _made(spec: str, inputs: Any, shape: Any, dtype: DTypeLike) -> Any:
    return specs.create_net(spec, tf.placeholder(dtype, shape) if inputs is None else inputs)


@export("contrib.specs.tf_spec_structure")
def tf_spec_structure(
    spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = dtypes.float32
) -> str:
    """The ops of a spec's network, as of `tf_structure`.

    Args:
        spec: as of `create_net`.
        inputs: the input; a placeholder if None.
        input_shape: the placeholder's shape.
        input_type: its type.

    Returns:
        Words.
    """
    return tf_structure(_made(spec, inputs, input_shape, input_type)).strip()


@export("contrib.specs.tf_spec_summary")
def tf_spec_summary(
    spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = dtypes.float32
) -> None:
    """Prints how many numbers a spec's layers have; arguments as of `tf_spec_structure`."""
    tf_parameter_summary(_made(spec, inputs, input_shape, input_type))


@export("contrib.specs.tf_spec_print")
def tf_spec_print(
    spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = dtypes.float32
) -> None:
    """Prints the ops of a spec's network; arguments as of `tf_spec_structure`."""
    tf_print(_made(spec, inputs, input_shape, input_type))
