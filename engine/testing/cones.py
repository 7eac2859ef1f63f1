# SPDX-License-Identifier: Apache-2.0
"""The ops between inputs and outputs, and copies of them that compute in another precision.

A copy in double precision tells what a function of single or half precision approximates; a copy in
complex numbers has exact derivatives, as long as all ops are analytic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..gradients.autodiff_registry import registered
from ..gradients.autodiff_sums import public
from ..graph.graph import Graph, name_scope
from ..graph.operation import Operation
from ..graph.registry import Arg, NoGradient, OpDef
from ..graph.tensor import Tensor
from ..types import dtypes
from ..types.dtypes import DType

TypeMap = Callable[[DType], DType]
# What goes round or waits: not copied, for a copy would need a frame of its own.
_CYCLIC = ("enter", "exit", "next", "condition", "trigger", "step", "wait")


def is_number(tensor: Tensor) -> bool:
    """Whether derivatives by, or of, this tensor mean anything."""
    return tensor.dtype.base_dtype.is_floating or tensor.dtype.base_dtype.is_complex


def double(kind: DType) -> DType:
    """The double precision of a number's type; other types as they are."""
    kind = kind.base_dtype
    if kind.is_complex:
        return dtypes.complex128
    return dtypes.float64 if kind.is_floating else kind


def complex_(kind: DType) -> DType:
    """complex128 for numbers; other types as they are."""
    kind = kind.base_dtype
    return dtypes.complex128 if kind.is_complex or kind.is_floating else kind


def between(
    xs: Iterable[Tensor], ys: Iterable[Tensor], cuts: Iterable[Tensor] = ()
) -> list[Operation]:
    """All ops through which ys get to know values of xs, each after those that it needs.

    (In a loop something comes first.)  What only looks at shapes is none of them, nor what makes
    the tensors `cuts`.
    """
    behind = _reached(xs, set(cuts))
    cut = set(cuts)
    return _in_order((y for y in ys if y not in cut), cut, lambda op: op in behind)


def ancestors(ys: Iterable[Tensor]) -> list[Operation]:
    """All ops that ys are computed from, each after those that it needs."""
    return _in_order(ys, set(), lambda op: True)


def _in_order(
    ys: Iterable[Tensor], cuts: set[Tensor], wanted: Callable[[Operation], bool]
) -> list[Operation]:
    # The numbers of nodes do not say what comes first: branches move inputs.
    order: list[Operation] = []
    seen: set[Operation] = set()
    waiting = [(y.op, False) for y in ys]
    while waiting:
        op, inputs_done = waiting.pop()
        if inputs_done:
            order.append(op)
        elif op not in seen and wanted(op):
            seen.add(op)
            waiting.append((op, True))
            waiting += [(x.op, False) for x in op.inputs if x not in cuts]
    return order


def _reached(xs: Iterable[Tensor], cuts: set[Tensor]) -> set[Operation]:
    reached: set[Operation] = set()
    waiting = list(xs)
    while waiting:
        tensor = waiting.pop()
        for op in tensor.consumers():
            # The sizes are the same wherever the values have moved to.
            if op in reached or op.definition.folding.from_shapes is not None:
                continue
            reached.add(op)
            waiting += [y for y in op.outputs if y not in cuts]
    return reached


def is_loop(op: Operation) -> bool:
    """Whether the op takes a loop to its next turn."""
    return op.definition.control_flow_role == "next"


def is_constant_by_declaration(op: Operation) -> bool:
    """Whether nothing flows back through the op, for it was said so, as of `tf.stop_gradient`."""
    override = op._attrs.get("_gradient_op_type")
    name = op.type if override is None else override.decode()
    if name in registered():
        return registered()[name] is None
    gradient = op.definition.gradient
    return isinstance(gradient, NoGradient) and gradient.silent


def reads_of(handle: Tensor) -> list[Tensor] | None:
    """The tensors that hold a resource variable's value; None where it is used in another way."""
    reads = []
    for op in handle.consumers():
        if op.definition.transfer == "write":
            continue  # its initializer, or training that this run does not ask for
        if op.definition.transfer != "value" or len(op.outputs) != 1 or len(op.inputs) != 1:
            return None
        reads += op.outputs
    return reads


class CannotCopy(Exception):
    """Why there is no copy in another precision."""


def twin(
    graph: Graph, seeds: dict[Tensor, Tensor], ys: Sequence[Tensor], kinds: TypeMap, ops: Any
) -> list[Tensor]:
    """Copies of ys that are computed from other tensors in place of some.

    Args:
      graph: where the copies go.
      seeds: the tensors in place of xs, of the types that `kinds` says.
      ys: what is copied, with all of `ops`.
      kinds: the type in place of a type.
      ops: the ops between, as they were made.

    Raises:
      CannotCopy: an op does not take such types, or belongs to a loop.
    """
    for op in ops:
        _check(op, seeds)
    copies = _Copies(seeds, kinds)
    with graph.as_default(), graph.control_dependencies(None), name_scope("check_gradients/twin"):
        for op in ops:
            if not all(y in copies.tensors for y in op.outputs):
                copies.add(graph, op)
        return [copies.tensors.get(y, y) for y in ys]


class _Copies:
    """The tensors that have been copied, by those that they stand for."""

    def __init__(self, seeds: dict[Tensor, Tensor], kinds: TypeMap) -> None:
        self.tensors = dict(seeds)
        self._ops: dict[Operation, Operation] = {}
        self._kinds = kinds

    def add(self, graph: Graph, op: Operation) -> None:
        """Copies an op whose inputs have been copied."""
        attrs = {name: self._attr(op, name, value) for name, value in op._attrs.items()}
        attrs.pop("_class", None)
        inputs = list(self._inputs(op, attrs))
        before = [self._ops.get(other, other) for other in op.control_inputs]
        with graph.control_dependencies(before):
            try:
                copy = graph._create(op.definition, op.name.rpartition("/")[2], inputs, attrs)
            except (TypeError, ValueError) as error:
                raise CannotCopy(f"{op.type} '{op.name}': {error}") from error
        self._ops[op] = copy
        if self._kinds is complex_:
            _check_analytic(op, copy)
        self.tensors.update(
            {y: copied for y, copied in zip(op.outputs, copy.outputs) if y not in self.tensors}
        )

    def _attr(self, op: Operation, name: str, value: Any) -> Any:
        if isinstance(value, DType):
            return self._allowed(op, name, value)
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], DType):
            return [self._allowed(op, name, kind) for kind in value]
        return value

    def _allowed(self, op: Operation, name: str, kind: DType) -> DType:
        wanted = self._kinds(kind)
        attr = next((attr for attr in op.definition.attrs if attr.name == name), None)
        if wanted != kind and attr is not None and attr.allowed and wanted not in attr.allowed:
            raise CannotCopy(f"{op.type} '{op.name}' does not compute in {wanted.name}")
        return wanted

    def _inputs(self, op: Operation, attrs: dict[str, Any]) -> Iterable[Tensor]:
        kinds = list(input_types(op.definition, attrs))
        for x, kind in zip(op.inputs, kinds, strict=True):
            copied = self.tensors.get(x, x)
            if copied.dtype.base_dtype != kind:
                if copied is not x:
                    raise CannotCopy(f"{op.type} '{op.name}' takes {kind.name} only")
                copied = public("cast")(x, kind)
            yield copied


def _check(op: Operation, seeds: dict[Tensor, Tensor]) -> None:
    definition = op.definition
    if definition.control_flow_role in _CYCLIC or definition.expand is not None:
        raise CannotCopy(f"{op.type} '{op.name}' is control flow")
    if any(attr.type == "func" for attr in definition.attrs):
        raise CannotCopy(f"{op.type} '{op.name}' calls a function")
    for tensor in (*op.inputs, *op.outputs):
        if tensor in seeds:
            continue  # a variable's reference, whose value is put in its place
        if tensor.dtype._is_ref_dtype or tensor.dtype.base_dtype in _OPAQUE:
            raise CannotCopy(f"{op.type} '{op.name}' works on what a session keeps")
    if definition.touches:
        raise CannotCopy(f"{op.type} '{op.name}' is not of numbers alone")


def flows(ops: Iterable[Operation]) -> set[Tensor]:
    """The flows of tensor arrays among what ops give: they hold no numbers of the program's."""
    found: set[Tensor] = set()
    stack = [y for op in ops for y, arg in _outputs(op) if arg.is_flow]
    while stack:
        flow = stack.pop()
        if flow in found:
            continue
        found.add(flow)
        # Loops, branches and sums hand them on.
        for reader in flow.consumers():
            takes = next(a for x, a in _inputs(reader) if x is flow)
            stack += [y for y, arg in _outputs(reader) if arg.type_attr and _alike(arg, takes)]
    return found


def _alike(one: Arg, other: Arg) -> bool:
    return one.type_attr == other.type_attr


def _inputs(op: Operation) -> Iterable[tuple[Tensor, Arg]]:
    return zip(op.inputs, _each(op, op.definition.inputs))


def _outputs(op: Operation) -> Iterable[tuple[Tensor, Arg]]:
    return zip(op.outputs, _each(op, op.definition.outputs))


def _each(op: Operation, args: Iterable[Arg]) -> Iterable[Arg]:
    """The definition's argument of each tensor."""
    for arg in args:
        yield from [arg] * len(_types_of(arg, op._attrs))


_OPAQUE = (dtypes.resource, dtypes.variant, dtypes.string)


def _check_analytic(op: Operation, copy: Operation) -> None:
    """An op is analytic unless its definition says otherwise or it tells parts of numbers."""
    fact = op.definition.analytic
    if fact is False or (callable(fact) and not fact(op)):
        raise CannotCopy(f"{op.type} '{op.name}' is not analytic")
    if not all(y.dtype.base_dtype.is_complex for y in copy.outputs):
        raise CannotCopy(f"{op.type} '{op.name}' gives what is no complex number")


def input_types(definition: OpDef, attrs: dict[str, Any]) -> Iterable[DType]:
    """The types of an op's inputs, one by one, as its attributes say."""
    for arg in definition.inputs:
        yield from _types_of(arg, attrs)


def _types_of(arg: Arg, attrs: dict[str, Any]) -> list[DType]:
    if arg.type_list_attr:
        return list(attrs[arg.type_list_attr])
    kind = arg.dtype if arg.dtype is not None else attrs[arg.type_attr or ""]
    return [kind] * (attrs[arg.number_attr] if arg.number_attr else 1)
