# SPDX-License-Identifier: Apache-2.0
"""`tf.cond` and `tf.switch_case` as one node, whose branches are functions of the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....engine.compat import forward_compatible
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.defaults import get_default_graph
from ....engine.graph.operation import Operation
from ....engine.graph.scope_functions import control_dependencies, name_scope
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....engine.types import dtypes, nest
from ....engine.types.shape import TensorShape
from ...public import raw, tf
from .graphs import BodyGraph, as_function, build, is_stateful, pack, unique_fn_name


def cond_v2(
    pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str = "cond"
) -> Any:
    """`tf.cond`, as one `If` node.

    Args:
        pred: a bool scalar tensor, or one that can be squeezed to a scalar.
        true_fn, false_fn: build the branches; they return alike structures.
        name: the node's scope.

    Returns:
        Tensors in the structure that the branches return.

    Raises:
        TypeError: `pred` is a Python bool, or the branches return different structures or dtypes.
        ValueError: one branch uses a tensor of the other one.
    """
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    with name_scope(name or "cond", "cond") as scope:
        names = [unique_fn_name(scope, each) for each in ("true", "false")]
        pred = convert_to_tensor(pred)
        if pred.shape.rank != 0:
            pred = tf.squeeze(pred)
        branches = _built(names, [true_fn, false_fn], pred)
        _refuse_shared(branches, ["true_fn", "false_fn"])
        inputs = [branch.external_captures for branch in branches]
        return build_if(pred, branches, inputs, scope)


def indexed_case(branch_index: Any, branch_fns: Sequence[Any], name: str = "indexed_case") -> Any:
    """`tf.switch_case`, as one `Case` node.

    Args:
        branch_index: an int32 scalar tensor; out of range it means the last branch.
        branch_fns: build the branches; they return alike structures.
        name: the node's scope.

    Returns:
        Tensors in the structure that the branches return.

    Raises:
        TypeError: the index is a Python int, or the branches return different structures or dtypes.
    """
    if isinstance(branch_index, int):
        raise TypeError("branch_index must not be a Python int", branch_index)
    with name_scope(name, "indexed_case") as scope:
        names = [unique_fn_name(scope, f"branch{n}") for n in range(len(branch_fns))]
        index = convert_to_tensor(branch_index, name="branch_index")
        branches = _built(names, branch_fns, index)
        _refuse_shared(branches, [f"branch {n}" for n in range(len(branches))])
        inputs = [branch.external_captures for branch in branches]
        return build_case(index, branches, inputs, scope)


def _built(names: Sequence[str], functions: Sequence[Any], done: Tensor) -> list[BodyGraph]:
    branches = []
    for name, function in zip(names, functions, strict=True):
        branch = BodyGraph(name, get_default_graph())
        build(branch, function, [], done)
        branches.append(branch)
    return branches


def _refuse_shared(branches: list[BodyGraph], names: list[str]) -> None:
    """ValueError where one branch uses a tensor of another."""
    for branch, name in zip(branches, names, strict=True):
        for tensor in branch.external_captures:
            if tensor.graph in branches:
                other = names[branches.index(tensor.graph)]
                raise ValueError(f"Tensor {tensor.name} in {other} is accessed from {name}.")


def build_if(
    pred: Tensor, branches: list[BodyGraph], inputs: Sequence[Sequence[Tensor]], name: str | None
) -> Any:
    """An `If` node (a `StatelessIf` where TensorFlow would make one), and what the branches return.

    Args:
        pred: the condition.
        branches: for true and for false; they get the same parameters.
        inputs: what their parameters stand for.
        name: of the node.
    """

    def make(given: list[Tensor], shapes: list[TensorShape]) -> Any:
        # (TensorFlow 1.15 makes stateful nodes, of which more runs than is needed, of everything
        # unless programs ask for what came after its date.)
        stateless = _prunes(branches, 7, 22)
        return (raw.StatelessIf if stateless else raw.If)(
            *(pred, given),
            then_branch=as_function(branches[0]),
            else_branch=as_function(branches[1]),
            Tout=[x.dtype.base_dtype for x in branches[0].outputs],
            output_shapes=shapes,
            name=name,
        )

    return _made("cond", branches, inputs, make)


def build_case(
    index: Tensor, branches: list[BodyGraph], inputs: Sequence[Sequence[Tensor]], name: str | None
) -> Any:
    """A `Case` node, and what its branches return; see `build_if`."""

    def make(given: list[Tensor], shapes: list[TensorShape]) -> Any:
        return raw.Case(
            *(index, given),
            branches=[as_function(branch) for branch in branches],
            Tout=[x.dtype.base_dtype for x in branches[0].outputs],
            output_shapes=shapes,
            name=name,
        )

    return _made("switch_case", branches, inputs, make)


def _prunes(bodies: Sequence[BodyGraph], month: int, day: int) -> bool:
    return not any(map(is_stateful, bodies)) and forward_compatible(2019, month, day)


def _made(
    kind: str,
    branches: list[BodyGraph],
    inputs: Sequence[Sequence[Tensor]],
    make: Callable[[list[Tensor], list[TensorShape]], Any],
) -> Any:
    _one_index_type(kind, branches)
    _require_same(kind, branches)
    given = _same_parameters(branches, inputs)
    with control_dependencies([op for branch in branches for op in branch.control_captures]):
        shapes = _common_shapes([branch.outputs for branch in branches])
        found = make(given, shapes)
    if isinstance(found, Operation):
        mark_lowered(found)
        return found
    mark_lowered(found[0].op)
    # Each result by itself, so that a run needs no more of the branch than is fetched.
    results = [tf.identity(x) for x in found]
    found[0].op.graph.prevent_fetching(found[0].op)
    return pack(branches[0].structured_outputs, results)


def mark_lowered(op: Operation) -> None:
    """Says of a branch or loop that it may become Switch and Merge, as 1.15 and 2 do."""
    op._set_attr("_lower_using_switch_merge", True)  # type: ignore[arg-type]


def _common_shapes(outputs: Sequence[Sequence[Tensor]]) -> list[TensorShape]:
    shapes = []
    for each in zip(*outputs, strict=True):
        shape = each[0].shape
        for other in each[1:]:
            shape = shape.most_specific_compatible_shape(other.shape)
        shapes.append(shape)
    return shapes


def _same_parameters(branches: list[BodyGraph], inputs: Sequence[Sequence[Tensor]]) -> list[Tensor]:
    """Gives all branches parameters for what any of them is given; returns that."""
    given = list(dict.fromkeys(x for each in inputs for x in each))
    for branch, own in zip(branches, inputs, strict=True):
        known = dict(zip(own, branch.inputs, strict=True))
        branch.inputs = []
        for tensor in given:
            if tensor in known:
                branch.inputs.append(known[tensor])
                continue
            with branch.as_default(), control_dependencies(None):
                branch.inputs.append(tf.placeholder(tensor.dtype.base_dtype, tensor.shape))
        branch._captured = dict(zip(given, branch.inputs, strict=True))
    return given


def _require_same(kind: str, branches: list[BodyGraph]) -> None:
    """TypeError where branches differ in what they return."""
    names = ["true_fn", "false_fn"]
    if kind != "cond":
        names = [f"branches[{n}]" for n in range(len(branches))]
    first = branches[0]

    def refuse(n: int, detail: str) -> TypeError:
        return TypeError(
            f"{names[0]} and {names[n]} arguments to tf.{kind} must have the same number, type, "
            f"and overall structure of return values.\n\n{names[0]} output: "
            f"{first.structured_outputs}\n{names[n]} output: {branches[n].structured_outputs}\n\n"
            f"Error details:\n{detail}"
        )

    for n, branch in enumerate(branches[1:], 1):
        try:
            nest.assert_same_structure(
                first.structured_outputs, branch.structured_outputs, expand_composites=True
            )
        except (ValueError, TypeError) as error:
            raise refuse(n, str(error)) from None
        if len(first.outputs) != len(branch.outputs):
            raise ValueError(
                f"Lengths of branch outputs of {kind} must match: {len(first.outputs)} and "
                f"{len(branch.outputs)}"
            )
        for x, y in zip(first.outputs, branch.outputs):
            if x.dtype.base_dtype != y.dtype.base_dtype:
                raise refuse(n, f"{x} and {y} have different types")


def _one_index_type(kind: str, branches: list[BodyGraph]) -> None:
    """Gives IndexedSlices that only one branch has with int32 indices such with int64 ones."""
    flat = [nest.flatten(branch.structured_outputs) for branch in branches]
    if len({len(each) for each in flat}) != 1 or not any(
        isinstance(x, IndexedSlices) for each in flat for x in each
    ):
        return
    place = 0
    for each in zip(*flat, strict=True):
        slices = [isinstance(x, IndexedSlices) for x in each]
        if any(slices) and not all(slices):
            raise TypeError(f"Cannot reconcile tf.{kind} outputs:\n  branches returned: {each}")
        if all(slices):
            _widen(branches, place + 1)
        place += len(nest.flatten(each[0], expand_composites=True))
    for branch in branches:
        branch.structured_outputs = pack(branch.structured_outputs, branch.outputs)


def _widen(branches: list[BodyGraph], place: int) -> None:
    if len({branch.outputs[place].dtype for branch in branches}) == 1:
        return
    for branch in branches:
        with branch.as_default():
            branch.outputs[place] = tf.cast(branch.outputs[place], dtypes.int64)
