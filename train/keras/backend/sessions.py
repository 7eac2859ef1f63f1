# SPDX-License-Identifier: Apache-2.0
"""The session of Keras, values of variables, and functions that run parts of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....engine.graph.tensor import SparseTensor, Tensor
from ....engine.types import nest
from ....ops.public import tf
from ...layers import names
from ...layers.weights import tracked
from ...variables.variable_kind import is_variable
from . import phase

_own: list[Any] = []
_manual: list[bool] = []


def get_session(op_input_list: Sequence[Any] = ()) -> Any:
    """The default session, or else the one that was set or made here for the default graph.

    Variables of layers that have no value yet get their initial values.

    Args:
        op_input_list: tensors, the first of which tells the graph that is meant.
    """
    session = plain_session(op_input_list)
    if not _manual:
        with session.graph.as_default():
            initialize(session)
    return session


def plain_session(op_input_list: Sequence[Any] = ()) -> Any:
    """As `get_session`, without initial values."""
    default = tf.get_default_session()
    if default is not None:
        return default
    graph = op_input_list[0].graph if op_input_list else tf.get_default_graph()
    if not _own or _own[0].graph is not graph:
        _own[:] = [tf.Session(graph=graph)]
    return _own[0]


def set_session(session: Any) -> None:
    """Sets the session that `get_session` gives where none is the default one."""
    _own[:] = [session]


def clear_session() -> None:
    """Begins a new default graph, and forgets the session and all names.

    The graph holds a placeholder `keras_learning_phase`, False by default, as TensorFlow's does.
    """
    tf.reset_default_graph()
    phase.reset_uids()
    names.forget()
    _own.clear()
    phase.learning_phase()


def manual_variable_initialization(value: bool) -> None:
    """Whether variables are left to the program to initialize; they are not by default."""
    _manual[:] = [True] if value else []


def initialize(session: Any) -> None:
    """Gives values to variables of layers that were never looked at and have none."""
    unseen = [v for v in tracked(session.graph) if not getattr(v, "_keras_initialized", False)]
    if not unseen:
        return
    given = session.run([tf.is_variable_initialized(v) for v in unseen])
    empty = [v for v, is_given in zip(unseen, given) if not is_given]
    for variable in unseen:
        variable._keras_initialized = True
    if empty:
        session.run(tf.variables_initializer(empty))


def get_value(x: Any) -> Any:
    """The value of a variable or a tensor, an array."""
    return get_session((x,)).run(x)


def evaluated(x: Any) -> Any:
    """The value of a tensor or a variable, other things as they are."""
    return get_value(x) if _is_tensor(x) else x


def batch_get_value(tensors: Sequence[Any]) -> list[Any]:
    """The values of several variables or tensors."""
    return get_session(tensors).run(list(tensors)) if tensors else []


def set_value(x: Any, value: Any) -> None:
    """Gives a variable a value, which may be of another shape if the variable's shape is open."""
    batch_set_value([(x, value)])


def batch_set_value(tuples: Sequence[tuple[Any, Any]]) -> None:
    """Gives several variables values.

    Args:
        tuples: of a variable and an array each.
    """
    feeds, assignments = {}, []
    for variable, given in tuples:
        dtype = variable.dtype.base_dtype
        value = np.asarray(given, dtype=dtype.as_numpy_dtype)
        if not hasattr(variable, "_assign_placeholder"):
            # Sizes are left open, for variables whose shape may change.
            with variable.graph.as_default():
                variable._assign_placeholder = tf.placeholder(dtype, shape=[None] * value.ndim)
                variable._assign_op = variable.assign(variable._assign_placeholder)
        assignments.append(variable._assign_op)
        feeds[variable._assign_placeholder] = value
    if assignments:
        get_session().run(assignments, feed_dict=feeds)


class Function:
    """Runs a part of the graph: `K.function(inputs, outputs)([array, …])`.

    Args:
        inputs: placeholders.
        outputs: tensors, variables; a structure.
        updates: operations, or pairs of a variable and its new value, made behind the first output.
        name: of no effect.
        feed_dict: feeds beside the inputs.
        fetches: tensors that are computed, too.
        options, run_metadata: as of tf.Session.run.

    Raises:
        TypeError: the updates are no list.
        ValueError: another argument is given.
    """

    def __init__(
        self,
        inputs: Any,
        outputs: Any,
        updates: Sequence[Any] | None = None,
        name: str | None = None,
        feed_dict: dict[Any, Any] | None = None,
        fetches: Any = None,
        options: Any = None,
        run_metadata: Any = None,
        **session_kwargs: Any,
    ) -> None:
        if not isinstance(updates or [], (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        if session_kwargs:
            raise ValueError(
                "Some keys in session_kwargs are not supported at this time: "
                f"{list(session_kwargs)}"
            )
        self.name = name
        self.inputs = nest.flatten(inputs)
        self._structure = outputs
        self.outputs = [tf.identity(x) if is_variable(x) else x for x in nest.flatten(outputs)]
        with tf.control_dependencies(nest.flatten(self.outputs[:1], expand_composites=True)):
            made = [tf.assign(*u) if isinstance(u, tuple) else u for u in updates or []]
            self.updates_op = tf.group(*made)
        self.feed_dict = feed_dict
        self.fetches = [] if fetches is None else list(nest.flatten(fetches))
        self.fetch_callbacks: dict[Any, Any] = {}
        self.run_options = options
        self.run_metadata = run_metadata

    def __call__(self, inputs: Any) -> Any:
        """The outputs' values for those of the inputs; None leaves out an input.

        Tensors are taken for what they are in a run of their own.
        """
        session = get_session(nest.flatten(self.inputs or self.outputs, expand_composites=True))
        feeds = dict(self.feed_dict or {})
        given = _flat_values(inputs)
        if any(_is_tensor(value) for value in given):
            given = [session.run(x) if _is_tensor(x) else x for x in given]
        # (As in TensorFlow, fewer values leave out the last inputs, which the run asks for.)
        for tensor, value in zip(self.inputs, given):
            if value is not None:
                feeds[tensor] = _fed(tensor, value)
        fetched = session.run(
            (self.outputs, self.fetches, self.updates_op),
            feeds,
            options=self.run_options,
            run_metadata=self.run_metadata,
        )
        for tensor, value in zip(self.fetches, fetched[1]):
            if tensor in self.fetch_callbacks:
                self.fetch_callbacks[tensor](value)
        return nest.pack_sequence_as(self._structure, fetched[0])


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or nest.is_composite(value) or is_variable(value)


def _flat_values(inputs: Any) -> list[Any]:
    return list(inputs) if isinstance(inputs, (list, tuple)) else nest.flatten(inputs)


def _fed(tensor: Any, value: Any) -> Any:
    if isinstance(tensor, SparseTensor) and hasattr(value, "tocoo"):
        entries = value.tocoo()
        places = np.stack([entries.row, entries.col], 1).astype(np.int64)
        return tf.SparseTensorValue(places, entries.data, entries.shape)
    return value


def function(
    inputs: Any,
    outputs: Any,
    updates: Sequence[Any] | None = None,
    name: str | None = None,
    **kwargs: Any,
) -> Function:
    """A `Function` from placeholders to outputs; its arguments."""
    return Function(inputs, outputs, updates=updates, name=name, **kwargs)
