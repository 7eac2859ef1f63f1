# SPDX-License-Identifier: Apache-2.0
"""`tf.GradientTape` in a graph: gradients through the ops that were made while it recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.gradients.autodiff import UnconnectedGradients, gradients
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.graph import Graph
from ...engine.graph.operation import Operation
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...engine.interface.log import warning
from ...engine.types import nest
from ..public import tf
from .turns import stacked_turns

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ..state.variables import Variable


def _is_variable(value: TensorLike) -> bool:
    return hasattr(value, "initializer") and hasattr(value, "trainable")


def _roots(value: Any) -> list[Tensor]:
    """The tensors by which ops get at a value: of a variable, its handle, or reference and read."""
    if not _is_variable(value):
        return [value]
    if getattr(value, "_should_act_as_resource_variable", False):
        return [get_default_graph().taken_in(value.handle)]
    return [value._ref(), value.value()]


class GradientTape:
    """Records the ops that are made in its context, for gradients through these and no others.

    persistent: whether `gradient` may be asked for more than once.  watch_accessed_variables:
    whether trainable variables count as watched.  Tensors are watched with `watch`; gradients
    flow through ops that were made, of something watched, while the tape was recording
    (tf.GradientTape).
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._is_recording = False
        self._is_spent = True
        self._clear()

    def _clear(self) -> None:
        # The stretches of ops recorded: graph, the ids after the first and up to the second.
        self._stretches: list[tuple[Graph, int, int | None]] = []
        # What is watched: tensor -> the last id of the ops before.
        self._watched: dict[Tensor, int] = {}
        self._variables: list[Any] = []

    def __enter__(self) -> GradientTape:
        self._push()
        return self

    def __exit__(self, *unused: object) -> None:
        if self._is_recording:
            self._pop()

    def _push(self) -> None:
        if self._is_recording:
            raise ValueError("Tape is already recording.")
        if self._is_spent:
            self._clear()
            self._is_spent = False
        graph = get_default_graph()
        self._stretches.append((graph, graph._last_id, None))
        self._is_recording = True

    def _pop(self) -> None:
        if not self._is_recording:
            raise ValueError("Tape is not recording.")
        graph, start, _ = self._stretches[-1]
        self._stretches[-1] = (graph, start, graph._last_id)
        self._is_recording = False

    def watch(self, tensor: TensorLike) -> None:
        """Lets gradients flow to a tensor or variable, or to all in a nested structure."""
        if self._is_spent:
            raise RuntimeError("Trying to watch with a tape which is not recording.")
        for value in nest.flatten(tensor):
            if not (isinstance(value, Tensor) or _is_variable(value)):
                raise ValueError(f"Passed in object of type {type(value)}, not tf.Tensor")
            if not value.dtype.is_floating:
                warning(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got "
                    f"{value.dtype!r}"
                )
            if _is_variable(value):
                self._variables.append(value)
            for root in _roots(value):
                self._watched.setdefault(root, root.graph._last_id)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A context whose ops are not recorded."""
        if self._is_spent:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._pop()
        try:
            yield
        finally:
            self._push()

    def reset(self) -> None:
        """Forgets everything, and goes on recording."""
        self._pop()
        self._is_spent = True
        self._push()

    def _has(self, op: Operation) -> bool:
        """Whether an op was made while the tape was recording."""
        return any(
            graph is op.graph and start < op._id and (end is None or op._id <= end)
            for graph, start, end in self._stretches
        )

    def _accessible(self) -> dict[Tensor, Any]:
        """The roots of the trainable variables that count as watched."""
        if not self._watch_accessed_variables:
            return {}
        graphs = dict.fromkeys(graph for graph, *_ in self._stretches)
        variables = [v for graph in graphs for v in _trainable_in(graph)]
        return {root: v for v in variables for root in _roots(v)}

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that are watched, in the order of their creation."""
        used = [v for x, v in self._accessible().items() if any(map(self._has, x.consumers()))]
        found = {id(v): v for v in (*self._variables, *used)}
        return tuple(sorted(found.values(), key=lambda v: v.op._id))

    def _recorded(self) -> set[Operation]:
        """The ops through which gradients flow."""
        accessible = self._accessible()
        roots = {**dict.fromkeys(accessible, 0), **self._watched}
        # What a reference variable is read by was made with the variable.
        variables = {id(v): v for v in (*self._variables, *accessible.values())}.values()
        found = {read.op for v in variables for read in _roots(v)[1:]}
        queue = [op for x, since in roots.items() for op in x.consumers() if since < op._id]
        while queue:
            op = queue.pop()
            if op not in found and self._has(op):
                found.add(op)
                queue.extend(user for x in op.outputs for user in x.consumers())
        return found

    def gradient(
        self,
        target: TensorLike,
        sources: object,
        output_gradients: Sequence[Tensor] | None = None,
        unconnected_gradients: object = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of the sum of the targets with respect to every source.

        Returns, in the structure of `sources`, Tensors, IndexedSlices, or None (zeros, if
        `unconnected_gradients` says so) where no recorded op connects them.  RuntimeError on the
        second call, unless the tape is persistent.
        """
        if self._is_spent:
            raise RuntimeError(
                "GradientTape.gradient can only be called once on non-persistent tapes."
            )
        if self._is_recording and not self._persistent:
            self._pop()
        targets = [self._read(t) if _is_variable(t) else t for t in nest.flatten(target)]
        given = None
        if output_gradients is not None:
            given = [g if g is None else _plain(g) for g in nest.flatten(output_gradients)]
        recorded, flat = self._recorded(), nest.flatten(sources)
        watched = {**self._watched, **self._accessible()}
        found = gradients(
            targets,
            [x if _is_watched(x, watched, recorded) else _nothing_like(x) for x in flat],
            given,
            stop_gradients=_borders(_values(targets), recorded),
            unconnected_gradients=unconnected_gradients,
        )
        self._is_spent = not self._persistent
        return nest.pack_sequence_as(sources, found)

    def _read(self, variable: Variable) -> Tensor:
        """A variable's value, read in a way that is recorded."""
        if self._is_recording:
            return convert_to_tensor(variable)
        with self:
            return convert_to_tensor(variable)

    def jacobian(
        self,
        target: Tensor,
        sources: Sequence[Tensor],
        unconnected_gradients: object = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivative of every element of `target` with respect to every one of each source.

        Returns tensors of the target's shape followed by the source's, in the structure of
        `sources`; None for sources without influence.  The rows are computed in a loop, whatever
        `experimental_use_pfor` says.
        """
        del experimental_use_pfor
        shape = tf.shape(target)
        flat = self._while_recording(lambda: tf.reshape(target, [-1]))
        found = self._rows(
            nest.flatten(sources),
            tf.size(flat),
            lambda i: tf.gather(flat, i),
            unconnected_gradients,
            parallel_iterations,
        )
        shaped = [
            rows if rows is None else tf.reshape(rows, tf.concat([shape, tf.shape(rows)[1:]], 0))
            for rows in found
        ]
        for rows, source in zip(shaped, nest.flatten(sources)):
            if rows is not None:
                rows.set_shape(target.shape.concatenate(source.shape))
        return nest.pack_sequence_as(sources, shaped)

    def batch_jacobian(
        self,
        target: Tensor,
        source: Tensor,
        unconnected_gradients: object = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Tensor | None:
        """The Jacobian of every row of `target` with respect to the same row of `source`.

        Both have rank 2 or more; the result has the shape of the target followed by that of a
        row of the source.  ValueError if the numbers of rows differ.
        """
        del experimental_use_pfor
        first = target.shape[0] if target.shape.ndims is not None else None
        target.shape.with_rank_at_least(2)
        source.shape.with_rank_at_least(2)
        if first is not None and not first.is_compatible_with(source.shape[0]):
            raise ValueError(
                f"Need first dimension of target shape ({target.shape}) and source shape "
                f"({source.shape}) to match."
            )
        shape, source_shape = tf.shape(target), tf.shape(source)
        width = target.shape[1:].num_elements()
        width = tf.size(target) // tf.maximum(shape[0], 1) if width is None else width
        flat = self._while_recording(lambda: tf.reshape(target, [shape[0], width]))
        (rows,) = self._rows(
            [source],
            width,
            lambda i: tf.gather(flat, i, axis=1),
            unconnected_gradients,
            parallel_iterations,
        )
        if rows is None:
            return None
        # One row per element of the target's rows: batch first.
        swapped = tf.reshape(tf.transpose(tf.reshape(rows, [width, shape[0], -1]), [1, 0, 2]), [-1])
        result = tf.reshape(swapped, tf.concat([shape, source_shape[1:]], 0))
        result.set_shape(target.shape.concatenate(source.shape[1:]))
        return result

    def _while_recording(self, make: Callable[..., Any]) -> Any:
        if self._is_recording:
            return make()
        with self:
            return make()

    def _rows(
        self,
        sources: list[Any],
        count: Tensor,
        part: Callable[..., Any],
        unconnected: object,
        parallel: int | None,
    ) -> list[Any]:
        """The gradients of each of `count` parts, stacked; None for sources without influence."""
        is_persistent, self._persistent = self._persistent, True

        def turn(i: Tensor) -> list[Any]:
            value = self._while_recording(lambda: part(i))
            found = self.gradient(value, sources, unconnected_gradients=unconnected)
            return [grad if grad is None else convert_to_tensor(grad) for grad in found]

        rows = stacked_turns(turn, count, parallel, "jacobian")
        self._persistent = is_persistent
        self._is_spent = not is_persistent
        return rows


def _trainable_in(graph: Any) -> list[Any]:
    """The trainable variables of a graph; those of loaded models are in one collection only."""
    known = [v for v in graph.get_collection("variables") if getattr(v, "trainable", False)]
    return [*known, *graph.get_collection("trainable_variables")]


def _is_watched(source: TensorLike, watched: dict[Any, Any], recorded: set[Operation]) -> bool:
    return any(x in watched or x.op in recorded for x in _roots(source))


def _nothing_like(source: TensorLike) -> Tensor:
    """What no target depends on, in place of a source that is not watched."""
    return tf.zeros_like(convert_to_tensor(source))


def _borders(targets: list[Tensor], recorded: set[Operation]) -> list[Tensor]:
    """Outputs of the first ops, going back from targets, that were not recorded."""
    borders = {}
    queue, seen = [x.op for x in targets], set()
    while queue:
        op = queue.pop()
        if op in seen:
            continue
        seen.add(op)
        if op in recorded:
            queue.extend(x.op for x in op.inputs)
        elif op.outputs:
            borders[op] = op.outputs[0]
    return list(borders.values())


def _plain(grad: Tensor) -> Any:
    return grad if isinstance(grad, IndexedSlices) else convert_to_tensor(grad)


def _values(targets: list[Any]) -> list[Tensor]:
    return [t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t) for t in targets]
