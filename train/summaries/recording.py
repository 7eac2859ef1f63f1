# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.summary`: operations that write summaries to a default writer when they run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys, add_to_collection, get_collection
from ...engine.graph.graph import (
    Graph,
    control_dependencies,
    device,
    get_name_scope,
    name_scope,
)
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...ops.flow.cond import smart_cond
from ...ops.public import raw, tf
from ...ops.summaries.api import summary_scope as v1_scope
from ..variables.global_step import get_or_create_global_step
from .graph_writers import INIT_COLLECTION, defaults

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.session.session import BaseSession

_NOT_IN_SCOPES = re.compile(r"[^-_/.A-Za-z0-9]")


def _should_record(default: bool) -> Tensor:
    condition = defaults.recording
    if callable(condition):
        condition = condition()
    if condition is None:
        condition = default
    # The first one is whether the replica of a distributed program writes; there is one replica.
    return tf.logical_and(True, condition)


def should_record_summaries() -> Tensor:
    """A bool tensor: whether summaries are written; not unless something says so."""
    return _should_record(default=False)


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Within it, summaries are written if the condition holds.

    Args:
        condition: a bool, a bool tensor, or a function that returns one.
    """
    before, defaults.recording = defaults.recording, condition
    try:
        yield
    finally:
        defaults.recording = before


def record_summaries_every_n_global_steps(n: int, global_step: Any = None) -> Any:
    """A context in which summaries are written when the global step is a multiple of n."""
    if global_step is None:
        global_step = get_or_create_global_step()
    with device("cpu:0"):
        is_due = tf.equal(global_step % n, 0)
    return record_if(is_due)


def always_record_summaries() -> Any:
    """A context in which summaries are written."""
    return record_if(True)


def never_record_summaries() -> Any:
    """A context in which none is."""
    return record_if(False)


def get_step() -> Any:
    """What `set_step` set in this thread; None: nothing."""
    return defaults.step


def set_step(step: Any) -> None:
    """Sets the step of summaries that are given none, in this thread."""
    defaults.step = step


def initialize(graph: Graph | None = None, session: BaseSession | None = None) -> None:
    """Opens the writers of the default graph.

    Args:
        graph: a Graph or GraphDef that is written to the default writer, too.
        session: runs this; the default one if it is None.

    Raises:
        RuntimeError: there is no default writer.
        ValueError: there is no session.
    """
    if defaults.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    if session is None:
        session = tf.get_default_session()
        if session is None:
            raise ValueError("session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        text = _serialized(graph)
        tensor = tf.placeholder(dtypes.string)
        session.run(_write_graph(tensor, 0), feed_dict={tensor: text})


def all_v2_summary_ops() -> list[Any]:
    """The operations of the default graph that write summaries (tf.contrib.summary's)."""
    return get_collection(GraphKeys._SUMMARY_COLLECTION)


def summary_writer_initializer_op() -> list[Any]:
    """The operations that open the writers of the default graph."""
    return get_collection(INIT_COLLECTION)


def _nothing() -> Tensor:
    return tf.constant(False)


@contextmanager
def summary_scope(
    name: str | None, default_name: str = "summary", values: Any = None
) -> Iterator[tuple[str, str]]:
    """A name scope with the tag of a summary: its name behind those of the scopes around it."""
    name = name or default_name
    around = get_name_scope()
    tag = f"{around}/{name}" if around else name
    with name_scope(_NOT_IN_SCOPES.sub("", name) or None, default_name, values) as scope:
        yield tag, scope


def _recorded(step: Any, make: Callable[[Any, Any, Any], Any], tensor: Any) -> Any:
    """What `write` and `write_raw_pb` return."""
    if defaults.writer is None:
        return tf.constant(False)
    step = get_step() if step is None else step
    if step is None:
        raise ValueError("No step set via 'step' argument or tf.summary.experimental.set_step()")

    def record() -> Tensor:
        with device("cpu:0"):
            done = make(defaults.writer._resource, step, tf.identity(tensor))
            with control_dependencies([done]):
                return tf.constant(True)

    with device("cpu:0"):
        result = smart_cond(_should_record(default=True), record, _nothing, name="summary_cond")
        add_to_collection(GraphKeys._SUMMARY_COLLECTION, result)
        return result


def write(
    tag: TensorLike,
    tensor: TensorLike,
    step: TensorLike | None = None,
    metadata: Any = None,
    name: str | None = None,
) -> Any:
    """Writes a tensor to the default writer.

    Args:
        tag: under which TensorBoard finds it.
        tensor: of any type.
        step: an integer; that of `set_step` by default.
        metadata: a SummaryMetadata, as a message or serialized.
        name: of the operation.

    Returns:
        A bool tensor: whether there was something to write to.

    Raises:
        ValueError: there is no step.
    """
    with name_scope(name, "write_summary") as scope:
        text = _metadata_text(metadata, b"")

        def make(writer: Any, step: Any, value: Any) -> Operation:
            return raw.WriteSummary(writer, step, value, tag, text, name=scope)

        return _recorded(step, make, tensor)


def _metadata_text(metadata: Any, nothing: Any) -> Any:
    if metadata is None:
        return nothing
    return getattr(metadata, "SerializeToString", lambda: metadata)()


def run_metadata(name: str, data: TensorLike, step: TensorLike | None = None) -> Any:
    """Writes a RunMetadata to the default writer."""
    return _write_message(name, data, step, "graph_run_metadata")


def run_metadata_graphs(name: str, data: Any, step: Any = None) -> Any:
    """Writes the graphs of a RunMetadata to the default writer."""
    from ...io.protos import RunMetadata

    graphs = RunMetadata(
        function_graphs=data.function_graphs, partition_graphs=data.partition_graphs
    )
    return _write_message(name, graphs, step, "graph_run_metadata_graph")


def _write_message(name: str, message: Any, step: Any, plugin: str) -> Any:
    from ...io.protos import SummaryMetadata

    data = SummaryMetadata.PluginData(plugin_name=plugin, content=b"1")
    with summary_scope(name, f"{plugin}_summary", [step]) as (tag, _):
        with device("cpu:0"):
            tensor = tf.constant(message.SerializeToString(), dtype=dtypes.string)
        return write(tag, tensor, step, metadata=SummaryMetadata(plugin_data=data))


def write_raw_pb(
    tensor: TensorLike, step: TensorLike | None = None, name: str | None = None
) -> Any:
    """Writes serialized tf.Summary messages, such as those of `tf.summary.merge_all()`."""
    with name_scope(name, "write_raw_pb") as scope:

        def make(writer: Any, step: Any, value: Any) -> Operation:
            return raw.WriteRawProtoSummary(writer, step, value, name=scope)

        return _recorded(step, make, tensor)


def summary_writer_function(
    name: str, tensor: TensorLike, function: Callable[[str, str], Any], family: str | None = None
) -> Any:
    """What all kinds of summaries do: write if that is wanted.

    Args:
        name: of the summary.
        tensor: what it tells of.
        function: is given a tag and a scope and makes the operation that writes.
        family: a prefix of the tag.

    Returns:
        A tensor or operation to run.
    """
    around = get_name_scope()

    def record() -> Tensor:
        with (
            name_scope(f"{around}/" if around else around),
            v1_scope(name, family, values=[tensor]) as (tag, scope),
            control_dependencies([function(tag, scope)]),
        ):
            return tf.constant(True)

    if defaults.writer is None:
        return tf.no_op()
    with device("cpu:0"):
        result = smart_cond(should_record_summaries(), record, _nothing, name="")
        add_to_collection(GraphKeys._SUMMARY_COLLECTION, result)
    return result


def generic(
    name: str,
    tensor: TensorLike,
    metadata: Any = None,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Any:
    """Writes a whole tensor to the default writer."""

    def function(tag: str, scope: str) -> Operation:
        text = metadata
        if metadata is None:
            text = tf.constant("")
        elif hasattr(metadata, "SerializeToString"):
            text = tf.constant(metadata.SerializeToString())
        writer, at = defaults.writer._resource, _chosen(step)
        return raw.WriteSummary(writer, at, tf.identity(tensor), tag, text, name=scope)

    return summary_writer_function(name, tensor, function, family=family)


def scalar(
    name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None
) -> Any:
    """Writes a number to the default writer.

    Args:
        name: what it is called, within the name scopes.
        tensor: a scalar of real numbers.
        family: a prefix of the name.
        step: an integer; the global step by default.

    Returns:
        A tensor or operation to run; `all_summary_ops` has it, too.
    """

    def function(tag: str, scope: str) -> Operation:
        writer, at = defaults.writer._resource, _chosen(step)
        return raw.WriteScalarSummary(writer, at, tag, tf.identity(tensor), name=scope)

    return summary_writer_function(name, tensor, function, family=family)


def histogram(
    name: str, tensor: TensorLike, family: str | None = None, step: TensorLike | None = None
) -> Any:
    """Writes how values are distributed to the default writer."""

    def function(tag: str, scope: str) -> Operation:
        writer, at = defaults.writer._resource, _chosen(step)
        return raw.WriteHistogramSummary(writer, at, tag, tf.identity(tensor), name=scope)

    return summary_writer_function(name, tensor, function, family=family)


def image(
    name: str,
    tensor: TensorLike,
    bad_color: TensorLike | None = None,
    max_images: int = 3,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Any:
    """Writes the first pictures of a batch to the default writer."""

    def function(tag: str, scope: str) -> Operation:
        color = bad_color
        if color is None:
            color = tf.constant([255, 0, 0, 255], dtype=dtypes.uint8)
        writer, at, value = defaults.writer._resource, _chosen(step), tf.identity(tensor)
        return raw.WriteImageSummary(writer, at, tag, value, color, max_images, name=scope)

    return summary_writer_function(name, tensor, function, family=family)


def audio(
    name: str,
    tensor: TensorLike,
    sample_rate: TensorLike,
    max_outputs: int,
    family: str | None = None,
    step: TensorLike | None = None,
) -> Any:
    """Writes the first sounds of a batch to the default writer."""

    def function(tag: str, scope: str) -> Operation:
        writer, at, value = defaults.writer._resource, _chosen(step), tf.identity(tensor)
        return raw.WriteAudioSummary(
            writer, at, tag, value, sample_rate=sample_rate, max_outputs=max_outputs, name=scope
        )

    return summary_writer_function(name, tensor, function, family=family)


def graph(param: Any, step: Any = None, name: str | None = None) -> Operation:
    """Writes a graph, a string tensor with a serialized GraphDef, to the default writer.

    Raises:
        TypeError: it is no tensor.
    """
    if not isinstance(param, Tensor):
        raise TypeError(
            f"graph() needs a tf.Tensor (e.g. tf.placeholder) in graph mode, but was: {type(param)}"
        )
    if defaults.writer is None:
        return tf.no_op()
    with device("cpu:0"):
        text = tf.identity(param)
        return raw.WriteGraphSummary(defaults.writer._resource, _chosen(step), text, name=name)


_write_graph = graph  # `initialize` has a parameter of that name


def import_event(tensor: TensorLike, name: str | None = None) -> Operation:
    """Writes a serialized tf.Event to the default writer."""
    return raw.ImportEvent(defaults.writer._resource, tensor, name=name)


def eval_dir(model_dir: str, name: str | None = None) -> str:
    """The folder for the summaries of an evaluation."""
    return os.path.join(model_dir, f"eval_{name}" if name else "eval")


def _serialized(given: Any) -> bytes:
    message = given.as_graph_def(add_shapes=True) if isinstance(given, Graph) else given
    return message.SerializeToString()


def _chosen(step: Any) -> Any:
    if step is None:
        return get_or_create_global_step()
    return step if isinstance(step, Tensor) else tf.convert_to_tensor(step, dtypes.int64)
