# SPDX-License-Identifier: Apache-2.0
"""Graphs from files and programs, planned and compiled without being run: `numbaflow compile`.

Imports NumPy and the graph layer; protobuf and the compiler when a graph is loaded and planned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..engine.graph.graph import Graph
from ..engine.graph.operation import Operation
from ..engine.graph.tensor import Tensor
from ..engine.record_class import record
from ..engine.session.state import VariableStorage

# The size that stands for `?` in a feed: a batch, unlikely to equal another size of the graph.
BATCH = 37
_FEED = re.compile(r"(?P<name>[^:\[\]]+)(:(?P<index>\d+))?(:(?P<dtype>\w+))?(\[(?P<shape>.*)\])?\Z")


class UsageError(ValueError):
    """What was asked for does not fit the graph; the text says why."""


class ProgramError(Exception):
    """A program failed before it ran its graph; `trace` is the traceback."""

    def __init__(self, path: Path, error: BaseException) -> None:
        import traceback

        super().__init__(f"{path} failed before it ran its graph: {type(error).__name__}: {error}")
        frames = error.__traceback__
        while frames is not None and Path(frames.tb_frame.f_code.co_filename) != path.absolute():
            frames = frames.tb_next
        lines = traceback.format_exception(type(error), error, frames or error.__traceback__)
        self.trace = "".join(lines)


@record(frozen=True, slots=True)
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


def load_graph(path: Path, arguments: Sequence[str] = ()) -> Graph:
    """The graph in a MetaGraphDef or GraphDef file, binary or text, in the folder of a SavedModel
    (the graph that is for serving), or that of a program.

    arguments are the program's own.
    """
    if path.suffix == ".py":
        return graph_of_program(path, arguments)
    if arguments:
        raise UsageError(f"{path} is no program: it takes no arguments ({' '.join(arguments)})")
    message = _served(path) if path.is_dir() else _read(path)
    graph = Graph()
    with graph.as_default():
        if message.DESCRIPTOR.name == "MetaGraphDef":
            from ..io.meta_graph_import import import_scoped_meta_graph

            import_scoped_meta_graph(message, clear_devices=True)
        else:
            from ..io.graph_import import import_graph_def

            import_graph_def(message, name="")
    for op in graph.get_operations():
        op._frame = (str(path), 0, op.name)  # where errors and the cache say that it comes from
    return graph


def _served(folder: Path) -> Any:
    """The graph of a SavedModel that is tagged for serving, or the only one."""
    from ..train.saved_model.reading import parse_saved_model

    try:
        found = list(parse_saved_model(str(folder)).meta_graphs)
    except OSError as error:
        raise UsageError(f"{folder} holds no SavedModel: {error}") from None
    serving = [each for each in found if "serve" in each.meta_info_def.tags] or found
    if len(serving) != 1:
        tags = "; ".join(", ".join(each.meta_info_def.tags) for each in found)
        raise UsageError(f"{folder} has {len(found)} graphs ({tags}), and no one for serving")
    return serving[0]


def signature_outputs(path: Path) -> list[str]:
    """What each signature of a SavedModel gives: names of tensors, with commas; else nothing."""
    if not path.is_dir():
        return []
    signatures = _served(path).signature_def
    found = [signatures[name].outputs for name in sorted(signatures)]
    runs = [
        ",".join(dict.fromkeys(outputs[key].name for key in sorted(outputs))) for outputs in found
    ]
    return list(dict.fromkeys(run for run in runs if run.strip(",")))


def _read(path: Path) -> Any:
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    from ..io import protos

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


class _FirstRun(BaseException):
    """Ends a program that is about to run its graph; no Exception, which it might catch."""


def graph_of_program(path: Path, arguments: Sequence[str] = ()) -> Graph:
    """Runs a program up to its first `Session.run`; returns the graph that it has made by then.

    What the program prints goes to standard error.  Raises ProgramError where it fails.
    """
    import sys
    from contextlib import redirect_stdout

    from ..engine.graph import defaults
    from . import launcher

    if not path.is_file():
        raise UsageError(f"{path} cannot be read: there is no such file")
    try:
        with _stopping_at_run(), _as_main_program(), redirect_stdout(sys.stderr):
            launcher.execute([str(path), *arguments])
            graph = defaults.get_default_graph()
    except _FirstRun as reached:
        (graph,) = reached.args
    except SystemExit as error:
        raise UsageError(f"{path} ended (exit code {error.code}) before it ran its graph") from None
    except Exception as error:
        raise ProgramError(path, error) from error
    if not graph.get_operations():
        raise UsageError(f"{path} ended without a graph to run")
    return graph


@contextmanager
def _stopping_at_run() -> Iterator[None]:
    """Within it, running a session raises _FirstRun with its graph."""
    from ..engine.session.session import BaseSession

    def stop(session: BaseSession, *_: Any, **__: Any) -> None:
        raise _FirstRun(session.graph)

    names = ("run", "partial_run_setup")
    kept = {name: getattr(BaseSession, name) for name in names}
    for name in names:
        setattr(BaseSession, name, stop)
    try:
        yield
    finally:
        for name, method in kept.items():
            setattr(BaseSession, name, method)


@contextmanager
def _as_main_program() -> Iterator[None]:
    """Puts back what the launcher replaces for a program."""
    import sys

    from ..alias.restore import printing

    kept, main, path = sys.argv, sys.modules["__main__"], list(sys.path)
    try:
        with printing.as_before():
            yield
    finally:
        sys.argv, sys.path[:] = kept, path
        sys.modules["__main__"] = main


def candidates(graph: Graph) -> list[str]:
    """Names that are likely to be fetched: training operations, losses, what nothing reads."""
    found = [thing for key in ("train_op", "losses") for thing in graph.get_collection(key)]
    read = {tensor.op for op in graph.get_operations() for tensor in op._inputs_val}
    waited = {before for op in graph.get_operations() for before in op._control_inputs_val}
    for op in graph.get_operations():
        if op not in read and op not in waited and not _is_upkeep(op):
            found.append(op)
    return list(dict.fromkeys(thing.name.removesuffix(":0") for thing in found))


def _is_upkeep(op: Operation) -> bool:
    """Does an operation compute nothing, or only make, save or read variables?"""
    computes = bool(op._inputs_val or op._control_inputs_val)
    return (
        not computes
        or op.name.split("/")[0] in ("save", "init", "gradients")
        or op.type in ("Assign", "AssignVariableOp", "VarIsInitializedOp")
        or op.name.endswith(("/read", "/Read/ReadVariableOp"))
    )


def fetched(graph: Graph, name: str) -> Tensor | Operation:
    """The tensor or operation of a name; of an operation with a value, that value."""
    try:
        found = graph.as_graph_element(name)
    except (KeyError, ValueError) as error:
        raise UsageError(f"the graph has no {name!r}{_alike(graph, name)}") from error
    if isinstance(found, Operation) and found.outputs:
        value = found.outputs[0]
        return found if value.dtype._is_ref_dtype else value
    return found


def _alike(graph: Graph, name: str, kind: str = "") -> str:
    """What may have been meant by a name that is none, to be added to a message."""
    from difflib import get_close_matches

    names = [op.name for op in graph.get_operations() if not kind or op.type.startswith(kind)]
    near = get_close_matches(name, names, 3) or [n for n in names if n.endswith(f"/{name}")][:3]
    if kind and not near:
        near = names[:5]
    return f"; there is {', '.join(near)}" if near else ""


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
            hint = _alike(graph, spec.name.partition(":")[0], "Placeholder")
            raise UsageError(f"the graph has no {spec.name!r} to feed{hint}") from error
        found[tensor] = _zeros(tensor, spec, sizes)
    for tensor in _placeholders(fetches, found):
        found[tensor] = _zeros(tensor, FeedSpec(tensor.name), sizes)
    return found


def _placeholders(fetches: Sequence[Any], fed: dict[Tensor, Any]) -> list[Tensor]:
    from ..engine.session.run_order import needed_operations

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


@record(frozen=True, slots=True)
class Planned:
    """One planned run.  `report` is an explain.PlanReport; compiled counts the kernels that had to
    be compiled, in `seconds`, and known those that had not."""

    report: Any
    compiled: int
    known: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """The run as JSON has it."""
        return {**self.report.as_dict(), "compiled": self.compiled, "known": self.known}


def plan(
    graph: Graph,
    fetches: Sequence[Any],
    feeds: dict[Tensor, np.ndarray],
    timed: bool = False,
    estimated: bool = False,
) -> Planned:
    """Plans a run with these feeds and compiles its kernels; variables count as zeros.

    Nothing of the graph is run, apart from what makes variables; with `timed` its kernels are,
    one by one, to measure them, but not for their effects.  With `estimated` the report says what
    this machine could do, for which the machine is measured, but no kernel.
    """
    from ..engine import settings
    from ..engine.session.session import Session
    from ..jit.codegen import compile as compiler
    from ..jit.report import plan_report, roofline
    from ..jit.runtime import thread_pool
    from ..jit.schedule import size_code

    before = replace(compiler.STATS)
    with settings.override(jit="always"), Session(graph=graph) as session:
        make_variables(session, fetches, feeds)
        made, binding = session.prepared_plan(list(fetches), feeds)
        # Every program on several cores needs these, and at sizes that change.
        common = thread_pool.kernels() if thread_pool.is_supported() else ()
        for kernel in (*common, *size_code.closed()):
            compiler.compile_kernel(kernel)
        compiled = compiler.STATS.compiles - before.compiles
        seconds = compiler.STATS.seconds - before.seconds
        if timed:
            report = session.explain(list(fetches), feeds)
        else:
            machine = roofline.machine() if estimated else None
            report = plan_report.plan_report(
                made, binding, [0.0] * len(made.schedule.steps), machine
            )
        shown = (f"{tensor.name} {list(array.shape)}" for tensor, array in feeds.items())
        names = tuple(thing.name for thing in fetches)
        report = replace(report, fetches=names, feeds=tuple(shown))
        known = len({kernel.key for kernel in made.compiled}) - compiled
        return Planned(report, compiled, max(known, 0), seconds)


def execute(
    graph: Graph, fetches: Sequence[Any], feeds: dict[Tensor, np.ndarray], planned: Planned
) -> Planned:
    """Runs the fetches twice on zeros, so that parts that depend on data are compiled too.

    Returns what was planned with the plans that this came to, and the kernels that it compiled.
    """
    from ..engine import settings
    from ..engine.session.session import Session
    from ..jit.codegen import compile as compiler

    before = replace(compiler.STATS)
    with settings.override(jit="always"), Session(graph=graph) as session:
        make_variables(session, fetches, feeds)
        for _ in range(2):
            session.run(list(fetches), feeds)
        later = session.explain(list(fetches), feeds).plans
    return replace(
        planned,
        report=replace(planned.report, plans=later),
        compiled=planned.compiled + compiler.STATS.compiles - before.compiles,
        seconds=planned.seconds + compiler.STATS.seconds - before.seconds,
    )


def make_variables(session: Any, fetches: Sequence[Any], feeds: Iterable[Any]) -> None:
    """Makes the variables that the fetches need, full of zeros."""
    from ..engine.session.run_order import needed_operations
    from ..jit.runtime.evaluator import Evaluator
    from ..jit.trace.tracer import makes_handles

    tensors = [f for f in fetches if isinstance(f, Tensor)]
    targets = [f for f in fetches if isinstance(f, Operation)]
    evaluate = Evaluator(session)
    for op in needed_operations(tensors, targets, list(feeds)):
        if makes_handles(op):
            for thing in evaluate(op, []):
                if isinstance(thing, VariableStorage) and thing.value is None:
                    _fill(thing)


def _fill(cell: VariableStorage) -> None:
    if not cell.shape.is_fully_defined():
        raise UsageError(f"variable {cell.name} has no static shape: its code cannot be planned")
    cell.assign(
        np.zeros(cast("list[int]", cell.shape.as_list()), cell.dtype.base_dtype.as_numpy_dtype)
    )
