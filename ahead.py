# SPDX-License-Identifier: Apache-2.0
"""Graphs from files, planned and compiled without being run: what `numbaflow compile` does.

Imports NumPy and the graph layer; protobuf and the compiler when a graph is loaded and planned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .engine.graph import Graph
from .engine.operation import Operation
from .engine.state import Cell
from .engine.tensor import Tensor

# The size that stands for `?` in a feed: a batch, unlikely to equal another size of the graph.
BATCH = 37
_FEED = re.compile(r"(?P<name>[^:\[\]]+)(:(?P<index>\d+))?(:(?P<dtype>\w+))?(\[(?P<shape>.*)\])?\Z")


class UsageError(ValueError):
    """What was asked for does not fit the graph; the text says why."""


@dataclass(frozen=True, slots=True)
class FeedSpec:
    """`x:float32[?,784]`: a tensor, and, where given, its dtype and the sizes of its shape.

    A size is a number, `?` (the batch) or a word, one number for each distinct word.
    """

    name: str
    dtype: str | None = None
    shape: tuple[str, ...] | None = None


def parse_feed(text: str) -> FeedSpec:
    """Reads name[:index][:dtype][[size,…]]."""
    match = _FEED.match(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is no feed; write name, name:dtype or name:dtype[?,784]")
    shape = match["shape"]
    sizes = None if shape is None else tuple(s.strip() for s in shape.split(",") if s.strip())
    return FeedSpec(f"{match['name']}:{match['index'] or 0}", match["dtype"], sizes)


def load_graph(path: Path) -> Graph:
    """The graph in a MetaGraphDef or GraphDef file, binary or text."""
    message = _read(path)
    graph = Graph()
    with graph.as_default():
        if message.DESCRIPTOR.name == "MetaGraphDef":
            from .io.meta_graph_import import import_scoped_meta_graph

            import_scoped_meta_graph(message, clear_devices=True)
        else:
            from .io.graph_import import import_graph_def

            import_graph_def(message, name="")
    for op in graph.get_operations():
        op._frame = (str(path), 0, op.name)  # where errors and the cache say that it comes from
    return graph


def _read(path: Path) -> Any:
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    from .io import protos

    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    kinds = [protos.GraphDef, protos.MetaGraphDef]
    for kind in reversed(kinds) if path.suffix == ".meta" else kinds:
        try:
            message = kind.FromString(content)
        except DecodeError:
            try:
                message = text_format.Parse(content.decode(), kind())
            except (text_format.ParseError, UnicodeDecodeError):
                continue
        if len(getattr(message, "graph_def", message).node):
            return message
    raise UsageError(f"{path} is neither a MetaGraphDef nor a GraphDef with nodes")


def fetched(graph: Graph, name: str) -> Tensor | Operation:
    """The tensor or operation of a name; of an operation with a value, that value."""
    try:
        found = graph.as_graph_element(name)
    except (KeyError, ValueError) as error:
        raise UsageError(f"the graph has no {name!r}") from error
    if isinstance(found, Operation) and found.outputs:
        value = found.outputs[0]
        return found if value.dtype._is_ref_dtype else value
    return found


def feeds_of(
    graph: Graph, fetches: Sequence[Any], specs: Sequence[FeedSpec], batch: int = BATCH
) -> dict[Tensor, np.ndarray]:
    """Zeros for the feeds of a run: those specified, and placeholders that the fetches need."""
    sizes = {"?": batch}
    found = {}
    for spec in specs:
        try:
            tensor = graph.get_tensor_by_name(spec.name)
        except (KeyError, ValueError) as error:
            raise UsageError(f"the graph has no {spec.name!r} to feed") from error
        found[tensor] = _zeros(tensor, spec, sizes)
    for tensor in _placeholders(fetches, found):
        found[tensor] = _zeros(tensor, FeedSpec(tensor.name), sizes)
    return found


def _placeholders(fetches: Sequence[Any], fed: dict[Tensor, Any]) -> list[Tensor]:
    from .engine.interpreter import needed_operations

    tensors = [f for f in fetches if isinstance(f, Tensor)]
    targets = [f for f in fetches if isinstance(f, Operation)]
    needed = needed_operations(tensors, targets, list(fed))
    return [op.outputs[0] for op in needed if op.type == "Placeholder"]


def _zeros(tensor: Tensor, spec: FeedSpec, sizes: dict[str, int]) -> np.ndarray:
    dtype = tensor.dtype.base_dtype
    if spec.dtype not in (None, dtype.name):
        raise UsageError(f"{tensor.name} has dtype {dtype.name}, not {spec.dtype}")
    known = tensor.shape.sizes
    if spec.shape is not None:
        words = spec.shape
    elif known is None:
        raise UsageError(f"{tensor.name} has no static shape; write {spec.name}[size,…]")
    else:
        words = tuple("?" if size is None else str(size) for size in known)
    shape = tuple(_size(word, sizes) for word in words)
    if not tensor.shape.is_compatible_with(shape):
        raise UsageError(f"{tensor.name} has shape {tensor.shape}, not [{', '.join(words)}]")
    if dtype.name == "string":
        return np.full(shape, b"", object)
    return np.zeros(shape, dtype.as_numpy_dtype)


def _size(word: str, sizes: dict[str, int]) -> int:
    if word.isdigit():
        return int(word)
    if word != "?" and not word.isidentifier():
        raise UsageError(f"{word!r} is no size; write a number, ? or a name")
    # Distinct words are distinct sizes, and so is everything computed from them.
    return sizes.setdefault(word, BATCH + 4 + 6 * len(sizes))


@dataclass(frozen=True, slots=True)
class Planned:
    """One planned run; `report` is a jit PlanReport without measured times.

    sources are texts of kernels by key; compiled counts the kernels that had to be compiled, in
    `seconds`, and `known` those that had not.  `rest` says what is left uncompiled because it
    depends on data.
    """

    fetches: tuple[str, ...]
    feeds: tuple[str, ...]
    report: Any
    sources: dict[str, str]
    compiled: int
    known: int
    seconds: float
    rest: str


def plan(graph: Graph, fetches: Sequence[Any], feeds: dict[Tensor, np.ndarray]) -> Planned:
    """Plans a run with these feeds and compiles its kernels; variables count as zeros.

    Nothing of the graph is run, apart from what makes variables.
    """
    from .engine.session import Session
    from .jit import compile as compiler
    from .jit import explain, settings

    before = replace(compiler.STATS)
    with settings.override(jit="always"), Session(graph=graph) as session:
        _make_variables(session, fetches, feeds)
        made, binding = session.prepared_plan(list(fetches), feeds)
        steps = explain.plan_report(made, binding, [0.0] * len(made.schedule.steps))
        compiled = compiler.STATS.compiles - before.compiles
        keys = {kernel.key: kernel.source for kernel in made.kernels}
        return Planned(
            tuple(thing.name for thing in fetches),
            tuple(f"{tensor.name} {list(array.shape)}" for tensor, array in feeds.items()),
            steps,
            keys,
            compiled,
            max(len(keys) - compiled, 0),
            compiler.STATS.seconds - before.seconds,
            "" if made.complete else steps.follows or "a part behind a host operation",
        )


def execute(graph: Graph, fetches: Sequence[Any], feeds: dict[Tensor, np.ndarray]) -> None:
    """Runs the fetches twice on zeros, so that parts that depend on data are compiled too."""
    from .engine.session import Session
    from .jit import settings

    with settings.override(jit="always"), Session(graph=graph) as session:
        _make_variables(session, fetches, feeds)
        for _ in range(2):
            session.run(list(fetches), feeds)


def _make_variables(session: Any, fetches: Sequence[Any], feeds: Iterable[Any]) -> None:
    """Makes the variables that the fetches need, full of zeros."""
    from .engine.interpreter import needed_operations
    from .jit.runner import Evaluator
    from .jit.trace import makes_handles

    tensors = [f for f in fetches if isinstance(f, Tensor)]
    targets = [f for f in fetches if isinstance(f, Operation)]
    evaluate = Evaluator(session)
    for op in needed_operations(tensors, targets, list(feeds)):
        if makes_handles(op):
            for thing in evaluate(op, []):
                if isinstance(thing, Cell) and thing.value is None:
                    _fill(thing)


def _fill(cell: Cell) -> None:
    if not cell.shape.is_fully_defined():
        raise UsageError(f"variable {cell.name} has no static shape: its code cannot be planned")
    cell.assign(np.zeros(cell.shape.as_list(), cell.dtype.base_dtype.as_numpy_dtype))
