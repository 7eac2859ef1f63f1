# SPDX-License-Identifier: Apache-2.0
"""Calls of graph functions from datasets: bodies compiled once, called with arrays.

Where the facts of all ops of a body allow it, one call computes a block of elements.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....engine import errors
from ....engine.session.host_calls import MOST_OTHERS, HostCalls
from ....engine.session.runner_choice import runner_of
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

    def part(self, key: object, make: Callable[[Body], Any]) -> Any:
        """What is made once of the function's operations, for a key."""
        return self.function.made_of_body(key, self._attrs, make)

    def called_by(self, op: Operation) -> list[Captured]:
        """The functions that attributes of an operation of the body name."""
        attrs, library = op._attrs, op.graph._functions
        named = [attrs[attr.name] for attr in op.definition.attrs if attr.type == "func"]
        return [Captured(each, library, []) for each in named if each.name in library]


# Functions of blocks whose sizes are others in each call do as much on the host.
_MOST_OF_BLOCKS = 64

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

    def begun(self, many: Sequence[Sequence[np.ndarray]]) -> list[Ending]:
        """Begins calls for several elements; what ends each of them."""
        call = self._call or self._prepare()
        ends = call.begun(many) if call.begun is not None and len(many) > 1 else None
        return ends or [partial(call.run, arguments) for arguments in many]

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
        return caller(view, parameters, values, body.results, body.effects, varies=True)

    def on_blocks(self, shapes: Sequence[Any], is_ragged: bool = False) -> BlockRun | None:
        """What computes blocks of elements of these static shapes; None where facts forbid it.

        is_ragged: elements may differ in a first size that is not known.
        """
        from .vectorizing import vectorized

        key = (str(is_ragged), *map(str, shapes))
        with self._lock:
            if key not in self._blocks:
                found = None
                if all(map(is_fixed, self.captured.values)):
                    found = vectorized(self.body, shapes, len(self.captured.values), is_ragged)
                self._blocks[key] = None if found is None else BlockRun(self, self.view, *found)
        return self._blocks[key]


class BlockRun:
    """Computes the results for many elements at once, bit by bit what they are one by one."""

    def __init__(
        self,
        single: FunctionRun,
        view: FunctionView,
        parameters: list[Rows],
        results: list[Rows],
    ) -> None:
        self.single = single
        # Those of results that differ in size: their number, and what tells how.
        told = [
            (i, rows.places if rows.lengths is None else rows.lengths)
            for i, rows in enumerate(results)
            if rows.places is not None
        ]
        self._ragged = [(i, results[i].lengths is not None) for i, _ in told]
        self.is_dense = not told
        wanted = [rows.tensor for rows in results] + [tensor for _, tensor in told]
        values = single.captured.values
        count = len(parameters) - len(values)
        given, fixed = parameters[:count], [rows.tensor for rows in parameters[count:]]
        self._takes_ragged = [rows.places is not None for rows in given]
        # By feed the number of the argument, and which part of it (see `_parts`).
        self._feeds, feeds = [], []
        for i, rows in enumerate(given):
            for part, tensor in enumerate((rows.tensor, rows.lengths, rows.places)):
                if tensor is not None and (not part or tensor.consumers() or tensor in wanted):
                    self._feeds.append((i, part))
                    feeds.append(tensor)
        varies = any(self._takes_ragged)
        self._call = caller(view, (feeds, fixed), values, wanted, [], varies, _MOST_OF_BLOCKS)
        self._packed = {self._feeds[i][0] for i in self._call.packed}

    def next_of(self, source: Stream, count: int) -> Block | None:
        """The next block of a stream as it is taken."""
        packed = self._packed
        if not packed:
            return source.next_block(count)
        block = source.next_packed_block(count)
        return block and [x if i in packed else unpacked(x) for i, x in enumerate(block)]

    def __call__(self, block: Block) -> Block:
        """The results' rows; errors are of the first element that has one."""
        count = len(block[0])
        # One row would be another plan: sizes of one broadcast.
        rows = [_twice(column) for column in block] if count == 1 else block
        try:
            found: list[Any] = list(self._call.run(self._fed(rows)))
        except (errors.CancelledError, errors.DeadlineExceededError):
            raise
        except errors.OpError:
            raise BlockError(self.single) from None
        first = len(found) - len(self._ragged)
        for (i, are_lengths), told in zip(self._ragged, found[first:]):
            if are_lengths:
                found[i] = Ragged.of_lengths(found[i], told)
            else:
                found[i] = Ragged.placed(found[i], told, len(rows[0]))
        return [column[:count] for column in found[:first]] if count == 1 else found[:first]

    def _fed(self, rows: Block) -> Block:
        """What the parameters take."""
        if not any(self._takes_ragged):
            return [self._dense(column) for column in rows]
        arguments = [
            _parts(column) if is_ragged else [self._dense(column)]
            for column, is_ragged in zip(rows, self._takes_ragged)
        ]
        return [arguments[i][part] for i, part in self._feeds]

    def _dense(self, column: Any) -> np.ndarray:
        """A component whose elements are said to be of one size."""
        if not isinstance(column, Ragged):
            return column  # type: ignore[no-any-return]
        sizes = set(column.lengths.tolist())
        if len(sizes) > 1:
            raise BlockError(self.single)
        return column.flat.reshape(len(column), *sizes, *column.flat.shape[1:])


def _parts(column: np.ndarray | Ragged) -> list[np.ndarray]:
    """The rows of all elements, how many each has, and of which element each is."""
    ragged = Ragged.of_rows(column)
    lengths = ragged.lengths
    return [ragged.flat, lengths, np.repeat(np.arange(len(ragged)), lengths)]


def _twice(column: Any) -> Any:
    """A component of one element as one of two."""
    if isinstance(column, Ragged):
        return Ragged(
            np.concatenate([column.flat] * 2), np.concatenate([column.stops, 2 * column.stops])
        )
    return np.repeat(unpacked(column), 2, axis=0)


class BlockError(Exception):
    """Some element of a block cannot be computed: its elements are to be computed one by one."""

    def __init__(self, single: FunctionRun) -> None:
        super().__init__()
        self.single = single


# What ends a call that was begun; the results.
Ending = Callable[[], tuple[np.ndarray, ...]]


class Caller(NamedTuple):
    """What calls a function with arrays, and the numbers of those that may be packed texts."""

    run: Callable[[Sequence[Any]], tuple[np.ndarray, ...]]
    packed: Collection[int]
    # Whether the interpreter's lock is held as long as it runs.
    holds_lock: bool
    # What begins several calls at once, and gives what ends each; None where nothing does.
    begun: Callable[[Sequence[Sequence[Any]]], list[Ending] | None] | None = None


def caller(
    view: FunctionView,
    parameters: tuple[Sequence[Tensor], Sequence[Tensor]],
    captured: Sequence[Any],
    results: Sequence[Tensor],
    effects: Sequence[Operation],
    varies: bool = False,
    others: int = MOST_OTHERS,
) -> Caller:
    """A function from arrays for the first parameters to arrays of the results.

    The second parameters are always what is captured: values, and resources that handles mean.
    varies: arrays are of other sizes in each call.  others: see `runner_of`.
    """
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
            varies=varies,
            others=others,
        )
    is_hosted = isinstance(run, HostCalls)
    packed, holds_lock = (run.packed, run.holds_lock) if is_hosted else (frozenset(), False)
    kinds = [tensor.dtype.base_dtype.np_dtype for tensor in computed]
    if list(results) == computed:

        def begun(many: Sequence[Sequence[Any]]) -> list[Ending] | None:
            ends = run.begun([[*arrays, *constant] for arrays in many])
            return ends and [lambda end=end: tuple(map(as_array, end(), kinds)) for end in ends]

        return Caller(
            lambda arrays: tuple(map(as_array, run([*arrays, *constant]), kinds)),
            packed,
            holds_lock,
            begun if hasattr(run, "begun") else None,
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


def is_fixed(value: Any) -> bool:
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
