# SPDX-License-Identifier: Apache-2.0
"""Calls of functions: before anything runs, a copy of the graph has the functions' bodies instead.

A graph keeps the nodes that call functions and its library as they are.  What runs is the
`InlinedGraph`: copies of the needed operations, in their order, where an operation whose definition
has `expand` is replaced by what that makes.  Calls may be nested as deep as one likes: what copies
bodies are generators that yield one another (engine/trampoline.py).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from .. import errors, stopping, trampoline
from ..graph import trust
from ..graph.graph import Graph
from ..graph.operation import Frame, Operation
from ..graph.scope_functions import control_dependencies
from ..graph.tensor import Tensor
from ..trampoline import Steps
from . import call_sizes
from .call_sizes import CallSizes
from .run_order import needed_operations

# What runs in place of each graph that calls functions.
_expansions: weakref.WeakKeyDictionary[Graph, InlinedGraph] = weakref.WeakKeyDictionary()
# The roles in control flow after which an operation may not run, and after which it does again.
_BRANCHING = ("switch", "enter")
_JOINING = ("merge", "exit")
# Why a call cannot be replaced; another run may do without it.
_REASONS = (
    *(errors.NotFoundError, errors.UnimplementedError, errors.ResourceExhaustedError),
    NotImplementedError,
)
# Operations made for one of a body, at most: what joins branches and effects, and gradients.
_MADE_PER_OPERATION = 4
# Operations made in place of one are numbered behind it, before its successor.
# As many as call_sizes.LIMIT times _MADE_PER_OPERATION, so that they never meet the successor's.
_NUMBERS = 20


class Body(NamedTuple):
    """What a function consists of: operations in order, its parameters, results, and effects."""

    operations: list[Operation]
    parameters: list[Tensor]
    results: list[Tensor]
    # What must run whether or not a result needs it.
    effects: list[Operation]
    # Where the program made the operations, by their names; of others it is where the call is.
    frames: Mapping[str, Frame] = {}


class Inlined(NamedTuple):
    """A function's body in the graph that runs."""

    outputs: list[Tensor]
    # What must run, and runs whenever the body does: not those within a branch of it.
    effects: list[Operation]


def without_calls(
    graph: Graph,
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: Sequence[Tensor],
) -> tuple[list[Tensor], list[Operation], list[Tensor]]:
    """What to fetch, run and feed in place of the given, where functions are called."""
    unchanged = list(fetches), list(targets), list(feeds)
    if not graph._has_calls:
        return unchanged
    if not any(op.definition.expand for op in needed_operations(fetches, targets, feeds)):
        return unchanged
    with graph._lock:
        expansion = _expansions.get(graph)
        if expansion is None or expansion.mutation != graph.mutation:
            expansion = _expansions[graph] = InlinedGraph(graph)
        try:
            return expansion.of(fetches, targets, feeds)
        except BaseException:
            # What was copied half way is of no use.
            _expansions.pop(graph, None)
            raise


class InlinedGraph:
    """The copy of one graph that runs; it grows as more of the graph is needed."""

    def __init__(self, graph: Graph) -> None:
        self.mutation = graph.mutation
        self._graph = graph
        self._expander = Inliner(graph._functions)
        self._tensors: dict[Tensor, Tensor] = {}
        self._after: dict[Operation, Operation] = {}

    def of(
        self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]
    ) -> tuple[list[Tensor], list[Operation], list[Tensor]]:
        """What stands for fetches, targets and feeds."""
        # What only feeds cut off is copied too: another run may need it.
        needed = needed_operations([*fetches, *feeds], targets, [])
        new = [op for op in needed if op not in self._after]
        expander = self._expander
        expander.has_flow |= any(op.definition.control_flow_role in _BRANCHING for op in new)
        with expander.target.as_default():
            expander.copy(new, self._tensors, self._after)
        found = [self._tensors[tensor] for tensor in fetches]
        fed = [self._tensors[tensor] for tensor in feeds]
        wanted = expander.with_effects(found, [self._after[op] for op in targets], fed)
        return found, wanted, fed


def attributes(function: Any) -> Mapping[str, Any]:
    """The attributes that a function is called with; graph functions of Python have none."""
    return getattr(function, "attr", {})


class Inliner:
    """Copies operations to a graph, `target`; those that call functions become the bodies."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self.functions = functions
        self._sizes = CallSizes(functions)
        self.target = Graph()
        # Whether operations may lie in branches and loops that are not functions.
        self.has_flow = False
        # Calls that could not be replaced, and why.
        self._failures: dict[Operation, Exception] = {}
        # Operations that stand for a call -> what must run if one of them does.
        self._implied: dict[Operation, list[Operation]] = {}
        # Effects within branches of the bodies of the current call.
        self._loose: list[Operation] = []
        # What new nodes without inputs wait for, to be of the frame or branch of the call.
        self._anchor: list[Operation] = []
        self._caller: Operation | None = None
        # Where the operations of the body were made that is being copied.
        self._frames: Mapping[str, Frame] = {}
        # What the callers are permitted if they are from outside: their functions' nodes are, too.
        self._permitted: trust.Permissions | None = None
        # What loops keep for others besides their lists (ops/flow/function_loops.py): by the list
        # and the loop that takes from it.
        self.stacks: dict[tuple[Tensor, Operation], Any] = {}
        self._prefix = ""
        # The functions whose bodies are being copied, each within the one before, and how many
        # operations stand for the outermost call so far.
        self._within: list[str] = []
        self._count = 0

    def with_effects(
        self, fetches: list[Tensor], targets: list[Operation], feeds: list[Tensor]
    ) -> list[Operation]:
        """The targets, and the effects of all calls that these and the fetches need."""
        wanted = list(targets)
        seen: set[Operation] = set()
        while True:
            stopping.check()
            needed = [op for op in needed_operations(fetches, wanted, feeds) if op not in seen]
            if not needed:
                return wanted
            seen.update(needed)
            for op in needed:
                if op in self._failures:
                    raise self._failures[op]
                wanted += self._implied.get(op, ())

    def copy(
        self,
        operations: Iterable[Operation],
        tensors: dict[Tensor, Tensor],
        after: dict[Operation, Operation],
    ) -> None:
        """Copies operations, whose inputs come first but for what loops send back.

        `tensors` tells what stands for each tensor, `after` what runs last of what stands for
        each operation; both grow.
        """
        trampoline.run(self._copying(operations, tensors, after))

    def _copying(
        self,
        operations: Iterable[Operation],
        tensors: dict[Tensor, Tensor],
        after: dict[Operation, Operation],
    ) -> Steps:
        back = []
        for op in operations:
            stopping.check()
            if self._caller is None:
                self._count = 0
                # Operations run in order of their numbers: what stands for one runs where it would
                # have.
                self.target._next_id_counter = op._id << _NUMBERS
            inputs = [tensors.get(tensor) for tensor in op._inputs_val]
            waits = [after[other] for other in op._control_inputs_val if other in after]
            present = [tensor for tensor in inputs if tensor is not None]
            back += [(op, i) for i, tensor in enumerate(inputs) if tensor is None]
            # What a loop sends back is not there yet: another input holds its place until it is.
            full = [present[0] if tensor is None else tensor for tensor in inputs]
            if op.definition.expand is None:
                outputs, last = self._plain(op, full, waits)
            else:
                outputs, last = yield self._expanded(op, full, waits)
            tensors.update(zip(op.outputs, outputs))
            after[op] = last
        for op, i in back:
            # The second input of a merge may be of another shape than the first.
            after[op].outputs[0]._shape_val = op.outputs[0].shape
            after[op]._update_input(i, tensors[op._inputs_val[i]])

    def _plain(
        self, op: Operation, inputs: list[Tensor], waits: list[Operation]
    ) -> tuple[list[Tensor], Operation]:
        self._note()
        before = waits if op._inputs_val or waits else self._anchor
        with control_dependencies(before):
            copy = self.target._create(
                op.definition,
                self.unique(op.name) + "/",
                inputs,
                dict(op._attrs),
                list(op._input_types_val),
                compute_device=False,
            )
        permitted = trust.both(self._permitted, trust.permitted_to(op))
        if permitted is not None:
            copy._attrs[trust.MARK] = permitted
        copy._device = op._device
        copy._explicit_elements, copy._raw_elements = op._explicit_elements, op._raw_elements
        copy._stands_for = self._caller or op
        copy._frame = self._frames.get(op.name, copy._stands_for._frame)
        for mine, theirs in zip(copy.outputs, op.outputs):
            if theirs.shape.is_compatible_with(mine.shape):
                mine.set_shape(theirs.shape)
        return copy.outputs, copy

    def _expanded(self, op: Operation, inputs: list[Tensor], waits: list[Operation]) -> Steps:
        """What an operation's definition puts in its place."""
        before = self._caller, self._prefix, self._loose, self._permitted, self._anchor
        self._caller = self._caller or op
        self._permitted = trust.both(self._permitted, trust.permitted_to(op))
        self._prefix = f"{self.unique(op.name)}/"
        self._loose = []
        try:
            with control_dependencies(waits):
                self._anchor = self._anchor_at(inputs)
                made = op.definition.expand(self, op, inputs)  # type: ignore[misc]
                outputs, effects = (yield made) if isinstance(made, Generator) else made
                return self._standing(outputs, effects)
        except _REASONS as error:
            # (What has become too large must go with everything.)
            if before[0] is not None or self._count > _most():
                raise
            self._prefix = ""
            result = self._plain(op, inputs, waits)
            self._failures[result[1]] = error
            return result
        finally:
            self._caller, self._prefix, self._loose, self._permitted, self._anchor = before

    def _anchor_at(self, inputs: Sequence[Tensor]) -> list[Operation]:
        """What new nodes without inputs wait for, to be where the first of these inputs is."""
        if not inputs or not self.has_flow:
            return self._anchor
        return [self.node("Identity", inputs[:1], "anchor").op]

    def _standing(
        self, outputs: list[Tensor], effects: list[Operation]
    ) -> tuple[list[Tensor], Operation]:
        """What stands for a call: its outputs, and the operation that runs after it."""
        implied = [*effects, *self._loose]
        if implied:
            # New nodes to hang the effects on: an output may be a value from outside, which others
            # need too.
            outputs = [self.node("Identity", [output], "output") for output in outputs]
        with control_dependencies([*effects, *(output.op for output in outputs)]):
            last = self.node("NoOp", [], "done")
        if implied:
            self._implied.update((op, implied) for op in (last, *(x.op for x in outputs)))
        return outputs, last

    # For what stands in place of a call

    def function(self, name: str) -> Any:
        """The function of that name; NotFoundError when the library has none."""
        found = self.functions.get(name)
        if found is None:
            raise errors.NotFoundError(
                None, self._caller, f"Function {name} is not defined in the graph's library"
            )
        return found

    def require(self, op: Operation, name: str) -> None:
        """ResourceExhaustedError if a function becomes too large that the graph itself calls."""
        if not self._within:
            self._sizes.require(op, name)

    def call(
        self, op: Operation, function: Any, inputs: Sequence[Tensor], label: str = ""
    ) -> Steps:
        """Puts the body of a function in place, of the name and attributes that `function` has.

        Generators of an `Inlined`, as `place` is: to be yielded.
        """
        self.require(op, function.name)
        body = self.function(function.name).body(attributes(function))
        if len(body.parameters) != len(inputs):
            raise errors.InvalidArgumentError(
                None,
                self._caller,
                f"Function {function.name} expects {len(body.parameters)} arguments, but "
                f"{len(inputs)} are given by node '{op.name}'",
            )
        return (yield self.place(function.name, body, inputs, label))

    def place(
        self, name: str, body: Body, inputs: Sequence[Tensor], label: str = ""
    ) -> Generator[Any, Any, Inlined]:
        """Puts a body in place; `name` says whose it is."""
        if name in self._within:
            cycle = [*self._within[self._within.index(name) :], name]
            raise errors.UnimplementedError(
                None,
                self._caller,
                f"Function {name} calls itself ({' -> '.join(cycle)}).  Functions are put in place "
                "of their calls before anything runs; state the repetition as a loop.",
            )
        tensors = dict(zip(body.parameters, inputs))
        after = {p.op: tensor.op for p, tensor in zip(body.parameters, inputs)}
        before = self._prefix, self._anchor, self._frames
        self._frames = body.frames
        self._within.append(name)
        self._prefix += label
        self._anchor = self._anchor_at(inputs)
        try:
            yield self._copying(body.operations, tensors, after)
        finally:
            self._prefix, self._anchor, self._frames = before
            self._within.pop()
        within = _conditional(body.operations)
        self._loose += [after[effect] for effect in body.effects if effect in within]
        effects = [after[effect] for effect in body.effects if effect not in within]
        return Inlined([tensors[result] for result in body.results], effects)

    def settled(self, outputs: list[Tensor], effects: list[Operation]) -> list[Tensor]:
        """The outputs, for use after the effects."""
        if not effects:
            return outputs
        with control_dependencies(effects):
            return [self.node("Identity", [output], "output") for output in outputs]

    def node(self, op_type: str, inputs: Sequence[Tensor], name: str, **attrs: Any) -> Any:
        """A new node: its output, the list of its outputs, or the operation if there are none."""
        self._note()
        alone = not inputs and not self.target._current_control_dependencies()
        with control_dependencies(self._anchor if alone else []):
            op = self.target.create_op(
                op_type, list(inputs), name=f"{self.unique(name)}/", attrs=attrs
            )
        op._stands_for = self._caller
        if self._caller is not None:
            op._frame = self._caller._frame
        if not op.outputs:
            return op
        return op.outputs[0] if len(op.outputs) == 1 else op.outputs

    def _note(self) -> None:
        """Counts an operation.  Gradients of functions can be larger than was known before."""
        self._count += 1
        if self._caller is not None and self._count > _most():
            subject = f"Operation {self._caller.type}"
            text = f"has become {self._count} operations"
            raise call_sizes.too_large(self._caller, subject, text, _most())

    def unique(self, name: str) -> str:
        """A name for a node in place of the current call."""
        name = full = f"{self._prefix}{name}"
        count = 0
        while full in self.target._nodes_by_name:
            count += 1
            full = f"{name}_{count}"
        return full

    @contextmanager
    def after(self, operations: Sequence[Operation]) -> Iterator[None]:
        """A context in which new nodes wait for operations."""
        with control_dependencies(list(operations)):
            yield

    @contextmanager
    def within(self, operations: Sequence[Operation]) -> Iterator[None]:
        """A context in which new nodes wait for operations of a loop, and for none around it.

        (What leads into the loop has waited for these, and no such edge may lead into a frame.)
        """
        with control_dependencies(None), self.after(operations):
            yield


def _most() -> int:
    return call_sizes.LIMIT * _MADE_PER_OPERATION


def _conditional(operations: list[Operation]) -> set[Operation]:
    """The operations that lie in a branch, and may not run."""
    found: set[Operation] = set()
    for op in operations:
        flow = op.definition.control_flow_role
        before = [*(tensor.op for tensor in op._inputs_val), *op._control_inputs_val]
        if flow == "switch" or (flow not in _JOINING and any(other in found for other in before)):
            found.add(op)
    return found


Replaced = tuple[list[Tensor], list[Operation]]
# Returns what stands in place of an operation, or a generator of it where functions are called.
Expand = Callable[[Inliner, Operation, list[Tensor]], Replaced | Generator[Any, Any, Replaced]]
