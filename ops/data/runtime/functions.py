# SPDX-License-Identifier: Apache-2.0
"""Calls of graph functions from datasets: bodies compiled once, called with arrays.

Where the facts of all ops of a body allow it, one call computes a block of elements.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....engine import errors
from ....engine.types import dtypes
from ....engine.types.texts import unpacked
from .dataset import Block, Dataset, Element, Stream, as_array
from .ragged import Ragged

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.rowwise import Rows
    from ....engine.graph.tensor import Tensor
    from ....engine.session.function_inlining import Body
    from .context import FunctionView


class Captured:
    """A function of a graph's library, with the values of the tensors that it took from outside."""

    def __init__(self, function: Any, library: Mapping[str, Any], values: Sequence[Any]) -> None:
        """function: the NameAttrList that names it."""
        self.name: str = function.name
        self.values = list(values)
        found = library.get(self.name)
        if found is None:
            raise errors.not_found(f"Function {self.name} is not defined.")
        self.function = found
        self._attrs = function.attr

    @property
    def has_attrs(self) -> bool:
        """Whether the function is made for attributes, and so is another one for others."""
        return bool(self._attrs)

    def body(self) -> Body:
        """The function's operations."""
        return self.function.body(self._attrs)  # type: ignore[no-any-return]

    def called_by(self, op: Operation) -> list[Captured]:
        """The functions that attributes of an operation of the body name."""
        attrs, library = op._attrs, op.graph._functions
        named = [attrs[attr.name] for attr in op.definition.attrs if attr.type == "func"]
        return [Captured(each, library, []) for each in named if each.name in library]


# Ops with state of which nothing is left when a call of a function is over, or which say nothing of
# the elements.
_HARMLESS = re.compile(
    r"Assert|CheckNumerics|Print(V2)?|Timestamp|LookupTable(Find|Size)(V2)?|TensorArray.*|Stack.*V2|"
    r".*Dataset(V\d)?|Placeholder|If|While"
)


def require_stateless(dataset: Dataset, allowed: Container[str] = ()) -> None:
    """FailedPreconditionError for functions whose results depend on more than their arguments.

    Of a dataset and all that it reads; what they depend on is no part of an iterator's state.
    Operations of `allowed` types are passed over.
    """
    todo, seen = [dataset], set()
    while todo:
        item: Any = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Captured):
            _require_stateless(item, allowed)
        elif isinstance(item, Dataset):
            todo += vars(item).values()
        elif isinstance(item, (list, tuple)):
            todo += item
        elif isinstance(item, dict):
            todo += item.values()


def is_stateless(captured: Captured) -> bool:
    """Do the results of a function, and of all that it calls, depend on its arguments alone?"""
    try:
        _require_stateless(captured, ())
    except errors.FailedPreconditionError:
        return False
    return True


def _require_stateless(captured: Captured, allowed: Container[str]) -> None:
    """The same of a function and all that it calls."""
    called, seen = [captured], {captured.name}
    while called:
        function = called.pop()
        for op in function.body().operations:
            if op.type in allowed:
                continue
            if op._is_stateful and not _HARMLESS.fullmatch(op.type):
                raise errors.failed_precondition(f"{op.type} is stateful.")
            # (An operation without state may call a function with it, as one that makes a dataset.)
            for inner in function.called_by(op):
                if inner.name not in seen:
                    seen.add(inner.name)
                    called.append(inner)


class FunctionRun:
    """A function, ready to be called from any thread."""

    def __init__(
        self,
        captured: Captured,
        view: FunctionView,
        kept: Callable[[Callable[[FunctionView], Caller]], Caller] | None = None,
    ) -> None:
        """kept: gives what calls the function, made as it is told if there is none yet."""
        self.captured = captured
        self.view = view
        self._kept = kept
        self._lock = threading.Lock()
        self._body: Body | None = None
        self._call: Caller | None = None
        # By static shapes of elements.
        self._blocks: dict[tuple[str, ...], BlockRun | None] = {}

    @property
    def body(self) -> Body:
        """The function's operations."""
        if self._body is None:
            body = self.captured.body()
            given, taken = len(body.parameters), len(self.captured.values)
            if given < taken:
                raise errors.invalid(
                    f"Function {self.captured.name} takes {given} arguments, but {taken} are "
                    "captured"
                )
            self._body = body
        return self._body

    def __call__(self, arguments: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """The results for one element."""
        return (self._call or self._prepare()).run(arguments)

    @property
    def packed(self) -> Collection[int]:
        """The numbers of the arguments that may be `PackedTexts`."""
        return (self._call or self._prepare()).packed

    @property
    def holds_lock(self) -> bool:
        """Whether calls in several threads would only wait for each other."""
        return (self._call or self._prepare()).holds_lock

    def next_of(self, source: Stream) -> Element | None:
        """The next element of a stream as the function takes it."""
        packed = self.packed
        if not packed:
            return source.next()
        element = source.next_packed()
        if element is None:
            return None
        return tuple([x if i in packed else unpacked(x) for i, x in enumerate(element)])

    def _prepare(self) -> Caller:
        with self._lock:
            if self._call is None:
                self._call = self._kept(self._made) if self._kept else self._made(self.view)
            return self._call

    def _made(self, view: FunctionView) -> Caller:
        body, values = self.body, self.captured.values
        first = len(body.parameters) - len(values)
        parameters = body.parameters[:first], body.parameters[first:]
        return caller(view, parameters, values, body.results, body.effects, is_of_one=True)

    def on_blocks(self, shapes: Sequence[Any]) -> BlockRun | None:
        """What computes blocks of elements of these static shapes; None where facts forbid it."""
        from .vectorizing import vectorized

        key = tuple(map(str, shapes))
        with self._lock:
            if key not in self._blocks:
                found = None
                if all(map(_is_fixed, self.captured.values)):
                    found = vectorized(self.body, shapes, len(self.captured.values))
                self._blocks[key] = None if found is None else BlockRun(self, self.view, *found)
        return self._blocks[key]


class BlockRun:
    """Computes the results for many elements at once, bit by bit what they are one by one."""

    def __init__(
        self,
        single: FunctionRun,
        view: FunctionView,
        parameters: list[Tensor],
        results: list[Rows],
    ) -> None:
        self.single = single
        self.is_dense = all(rows.places is None for rows in results)
        self._places = [i for i, rows in enumerate(results) if rows.places is not None]
        wanted = [rows.tensor for rows in results]
        wanted += [rows.places for rows in results if rows.places is not None]
        values = single.captured.values
        first = len(parameters) - len(values)
        self._call = caller(view, (parameters[:first], parameters[first:]), values, wanted, [])

    def next_of(self, source: Stream, count: int) -> Block | None:
        """The next block of a stream as it is taken."""
        packed = self._call.packed
        if not packed:
            return source.next_block(count)
        block = source.next_packed_block(count)
        return block and [x if i in packed else unpacked(x) for i, x in enumerate(block)]

    def __call__(self, block: Block) -> Block:
        """The results' rows; errors are of the first element that has one."""
        count = len(block[0])
        # One row would be another plan: sizes of one broadcast.
        rows = block
        if count == 1:
            rows = [np.repeat(unpacked(column), 2, axis=0) for column in block]
        try:
            found: list[Any] = list(self._call.run(rows))
        except (errors.CancelledError, errors.DeadlineExceededError):
            raise
        except errors.OpError:
            raise BlockError(self.single) from None
        for i, places in zip(self._places, found[len(found) - len(self._places) :]):
            found[i] = Ragged.placed(found[i], places, len(rows[0]))
        found = found[: len(found) - len(self._places)]
        return [column[:1] for column in found] if count == 1 else found


class BlockError(Exception):
    """Some element of a block cannot be computed: its elements are to be computed one by one."""

    def __init__(self, single: FunctionRun) -> None:
        super().__init__()
        self.single = single


class Caller(NamedTuple):
    """What calls a function with arrays, and the numbers of those that may be packed texts."""

    run: Callable[[Sequence[Any]], tuple[np.ndarray, ...]]
    packed: Collection[int]
    # Whether the interpreter's lock is held as long as it runs.
    holds_lock: bool


def caller(
    view: FunctionView,
    parameters: tuple[Sequence[Tensor], Sequence[Tensor]],
    captured: Sequence[Any],
    results: Sequence[Tensor],
    effects: Sequence[Operation],
    is_of_one: bool = False,
) -> Caller:
    """A function from arrays for the first parameters to arrays of the results.

    The second parameters are always what is captured: values, and resources that handles mean.
    is_of_one: arrays are those of one element.
    """
    from ....engine.session.host_calls import HostCalls
    from ....engine.session.runner_choice import runner_of

    first, second = parameters
    pairs = list(zip(second, captured))
    handles = {t: value for t, value in pairs if t.dtype == dtypes.resource}
    feeds = [*first, *(t for t in second if t not in handles)]
    constant = [value for t, value in pairs if t not in handles]
    given = {tensor: i for i, tensor in enumerate(feeds)}
    computed = list(dict.fromkeys(t for t in results if t not in given))
    run: Any = _nothing
    if computed or effects:
        graph = (computed[0].op if computed else effects[0]).graph
        cells = {tensor: _resource(value) for tensor, value in handles.items()}
        run = runner_of(
            view,  # type: ignore[arg-type]
            *(graph, computed, effects, feeds, cells),
            is_called_often=True,
            is_of_one=is_of_one,
        )
    is_hosted = isinstance(run, HostCalls)
    packed, holds_lock = (run.packed, run.holds_lock) if is_hosted else (frozenset(), False)
    kinds = [tensor.dtype.base_dtype.np_dtype for tensor in computed]
    if list(results) == computed:
        return Caller(
            lambda arrays: tuple(map(as_array, run([*arrays, *constant]), kinds)),
            packed,
            holds_lock,
        )
    slots = {tensor: i for i, tensor in enumerate(computed)}
    sources = [(t in given, given[t] if t in given else slots[t]) for t in results]

    def call(arrays: Sequence[Any]) -> tuple[np.ndarray, ...]:
        values = [*arrays, *constant]
        found = list(map(as_array, run(values), kinds))
        return tuple([values[i] if is_given else found[i] for is_given, i in sources])

    # (What is a result as it is given is none that a kernel takes.)
    return Caller(call, packed - {given[t] for t in results if t in given}, holds_lock)


def _resource(value: Any) -> Any:
    """The resource that a captured handle means."""
    return value.item() if isinstance(value, np.ndarray) else value


def _is_fixed(value: Any) -> bool:
    """Whether what a function captured is the same for all elements of an iteration."""
    if not isinstance(value, np.ndarray):
        return getattr(value, "is_fixed", False)
    return not value.dtype.hasobject or all(_is_fixed_object(each) for each in value.flat)


def _is_fixed_object(value: object) -> bool:
    return isinstance(value, bytes) or bool(getattr(value, "is_fixed", False))


def _nothing(arrays: Sequence[Any]) -> list[Any]:
    del arrays
    return []


def require_scalar_bool(results: Sequence[np.ndarray]) -> bool:
    """The answer of a predicate; InvalidArgumentError for what is none."""
    if len(results) != 1 or results[0].dtype != np.bool_ or results[0].ndim:
        raise errors.invalid("Filter predicate `f` must return a scalar bool.")
    return bool(results[0])
