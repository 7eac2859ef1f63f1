# SPDX-License-Identifier: Apache-2.0
"""The per-thread stacks of default graphs and default sessions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..api import export
from ..hints import hinted

if TYPE_CHECKING:
    from ..session.session import BaseSession
    from .annotations import Feeds
    from .graph import Graph
    from .operation import Operation


class DefaultStack(threading.local):
    """What `with x.as_default()` pushes on; each thread has its own."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[Any] = []
        # For graphs: the device scopes that each had when it became the default one.
        self.devices: list[Any] = []
        self.enforce_nesting = True
        self.fallback: Any = None

    def get_default(self) -> Any:
        """The innermost entry, or None."""
        return self.stack[-1] if self.stack else None

    def is_cleared(self) -> bool:
        """Whether no context is open."""
        return not self.stack

    def reset(self) -> None:
        """Forgets everything."""
        self.stack = []
        self.fallback = None

    @contextmanager
    def get_controller(self, default: object) -> Iterator[Any]:
        """A context in which `default` is the innermost entry."""
        self.stack.append(default)
        try:
            yield default
        finally:
            # A reset inside of the context has emptied the stack already.
            if self.stack:
                if not self.enforce_nesting:
                    self.stack.remove(default)
                else:
                    if self.stack[-1] is not default:
                        raise AssertionError(
                            f"Nesting violated for default stack of {type(default)} objects"
                        )
                    self.stack.pop()


class Entered:
    """An entry of a default stack that may be left out of order."""

    __slots__ = ("_stack", "_thing")

    def __init__(self, stack: DefaultStack, thing: Any) -> None:
        self._stack = stack
        self._thing = thing
        stack.stack.append(thing)

    def leave(self) -> None:
        """Takes the entry away, wherever it is by now."""
        for i in range(len(self._stack.stack) - 1, -1, -1):
            if self._stack.stack[i] is self._thing:
                del self._stack.stack[i]
                return


graphs = DefaultStack()
sessions = DefaultStack()
# TensorFlow's own names for the two.
_default_graph_stack = graphs
_default_session_stack = sessions
_graph_factory: Callable[[], Any]


def set_graph_factory(factory: Callable[[], Any]) -> None:
    """States what makes the first default graph of a thread."""
    global _graph_factory
    _graph_factory = factory


@export("get_default_graph")
def get_default_graph() -> Any:
    """The graph that new operations go to in this thread.

    Returns:
        The Graph of the innermost `with graph.as_default()`, or the thread's own.

    Example:
        >>> tf.constant(1).graph is tf.get_default_graph()
        True
    """
    stack = graphs.stack
    return stack[-1] if stack else global_graph()


def global_graph() -> Any:
    """The graph of this thread when none was made the default."""
    if graphs.fallback is None:
        graphs.fallback = _graph_factory()
    return graphs.fallback


def has_default_graph() -> bool:
    """Whether a graph was made the default explicitly."""
    return bool(graphs.stack)


@export("reset_default_graph")
def reset_default_graph() -> None:
    """Starts this thread's default graph anew: what was made before is no longer in it.

    Sessions of the old graph go on with that.

    Raises:
        AssertionError: called inside of `with graph.as_default()`.

    Example:
        >>> with tf.Graph().as_default():
        ...     try:
        ...         tf.reset_default_graph()
        ...     except AssertionError:
        ...         print("not here")
        not here
    """
    if not graphs.is_cleared():
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared "
            "graph, exit the nesting and create a new graph."
        )
    graphs.reset()


@export("get_default_session")
def get_default_session() -> Any:
    """The innermost default session of this thread, or None."""
    return sessions.get_default()


def default_session(session: BaseSession) -> Any:
    """A context in which `session` is the default one."""
    return sessions.get_controller(session)


def _session_for(
    graph: Graph, session: BaseSession | None, what: str, thing: str, call: str
) -> Any:
    given = "given" if session is not None else "default"
    advice = ""
    if session is None:
        session = get_default_session()
        if session is None:
            scope = "`with sess.as_default():`" if call == "run" else "`with sess.as_default()`"
            raise hinted(
                ValueError,
                f"Cannot {what} using `{call}()`: No default session is registered. Use {scope} "
                f"or pass an explicit session to `{call}(session=sess)`",
            )
        explicit = "`eval(session=sess)`" if call == "eval" else "run(session=sess)"
        advice = f" Pass an explicit session to {explicit}."
    if session.graph is not graph:
        raise hinted(
            ValueError,
            f"Cannot use the {given} session to {what}: the {thing}'s graph is different from the "
            f"session's graph.{advice}",
        )
    return session


def eval_in_session(
    tensors: Any, feed_dict: Feeds | None, graph: Graph, session: BaseSession | None
) -> Any:
    """`Tensor.eval`: runs in the given or the default session."""
    return _session_for(graph, session, "evaluate tensor", "tensor", "eval").run(tensors, feed_dict)


def run_in_session(
    operation: Operation,
    feed_dict: dict[Any, Any] | None,
    graph: Graph,
    session: BaseSession | None,
) -> None:
    """`Operation.run`: runs in the given or the default session."""
    _session_for(graph, session, "execute operation", "operation", "run").run(operation, feed_dict)
