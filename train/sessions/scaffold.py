# SPDX-License-Identifier: Apache-2.0
"""`Scaffold`: the operations around a model that a training session needs, with defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys, add_to_collection, get_collection
from ...engine.graph.defaults import get_default_graph
from ...engine.interface import log
from ...ops.public import tf
from ...ops.state import resources
from ...ops.summaries.api import merge_all
from ..checkpoints.saver import Saver, _get_saver_or_default
from ..objects.object_graph import ObjectGraph

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


class Scaffold:
    """Initializers, readiness checks, summaries and saver of a graph (tf.train.Scaffold).

    What is not given is taken from the graph's collections or made by `finalize`.
    """

    def __init__(
        self,
        init_op: Operation | None = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Scaffold, Any], Any] | None = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Operation | None = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Scaffold | None = None,
    ) -> None:
        """init_fn(scaffold, session) is called after `init_op`."""
        if copy_from_scaffold is not None:
            if not isinstance(copy_from_scaffold, Scaffold):
                raise TypeError("copy_from_scaffold is not a Scaffold instance.")
            other = copy_from_scaffold
            init_op = _first(init_op, other.init_op)
            init_feed_dict = _first(init_feed_dict, other.init_feed_dict)
            # The user's function, not the one made of it, which calls it with the other scaffold.
            init_fn = _first(init_fn, other._user_init_fn)
            ready_op = _first(ready_op, other.ready_op)
            ready_for_local_init_op = _first(ready_for_local_init_op, other.ready_for_local_init_op)
            local_init_op = _first(local_init_op, other.local_init_op)
            summary_op = _first(summary_op, other.summary_op)
            saver = _first(saver, other.saver)
        self._user_init_fn: Any = init_fn
        self._init_fn = (lambda session: init_fn(self, session)) if init_fn else None
        self._init_op = init_op
        self._init_feed_dict = init_feed_dict
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._local_init_op = local_init_op
        self._summary_op = summary_op
        self._saver = saver

    def finalize(self) -> Scaffold:
        """Makes what is missing, and finishes the graph."""
        self._init_op = self._settled(self._init_op, "init_op", GraphKeys.INIT_OP, _init_op)
        self._ready_op = self._settled(self._ready_op, "ready_op", GraphKeys.READY_OP, _ready_op)
        self._ready_for_local_init_op = self._settled(
            self._ready_for_local_init_op,
            "ready_for_local_init_op",
            GraphKeys.READY_FOR_LOCAL_INIT_OP,
            _ready_for_local_init_op,
        )
        self._local_init_op = self._settled(
            self._local_init_op,
            "local_init_op",
            GraphKeys.LOCAL_INIT_OP,
            Scaffold.default_local_init_op,
        )
        self._summary_op = self._settled(
            self._summary_op, "summary_op", GraphKeys.SUMMARY_OP, merge_all
        )
        if self._saver is None:
            self._saver = _get_saver_or_default()
        if hasattr(self._saver, "build"):
            self._saver.build()
        else:
            # A tf.train.Checkpoint: its objects are saved under their paths.
            saveables = ObjectGraph(self._saver).frozen()
            self._saver = Saver(var_list=saveables, sharded=True)
        get_default_graph().finalize()
        log.info("Graph was finalized.")
        return self

    @staticmethod
    def _settled(given: Any, name: str, key: str, make: Callable[[], Any]) -> Any:
        return Scaffold.get_or_default(name, key, make) if given is None else given

    @property
    def init_fn(self) -> Any:
        """A function of a session, called after `init_op`, or None."""
        return self._init_fn

    @property
    def init_op(self) -> Any:
        """Initializes the model."""
        return self._init_op

    @property
    def ready_op(self) -> Any:
        """The names of what is not initialized."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """The names of what must be initialized before `local_init_op`."""
        return self._ready_for_local_init_op

    @property
    def local_init_op(self) -> Any:
        """Initializes what belongs to this process."""
        return self._local_init_op

    @property
    def summary_op(self) -> Any:
        """All summaries in one, or None."""
        return self._summary_op

    @property
    def saver(self) -> Any:
        """The saver."""
        return self._saver

    @property
    def init_feed_dict(self) -> Any:
        """What `init_op` is fed."""
        return self._init_feed_dict

    @staticmethod
    def get_or_default(
        arg_name: str, collection_key: str, default_constructor: Callable[[], Any]
    ) -> Any:
        """The one member of a collection, made where there is none.

        RuntimeError where there are several.
        """
        elements = get_collection(collection_key)
        if len(elements) > 1:
            raise RuntimeError(
                'More than one item in the collection "%s". Please indicate which one to use by '
                "passing it to the tf.Scaffold constructor as:  tf.Scaffold(%s=item to use)",
                collection_key,
                arg_name,
            )
        if elements:
            return elements[0]
        op = default_constructor()
        if op is not None:
            add_to_collection(collection_key, op)
        return op

    @staticmethod
    def default_local_init_op() -> Operation:
        """Initializes local variables, tables and local resources."""
        return tf.group(
            tf.local_variables_initializer(),
            tf.tables_initializer(),
            resources.initialize_resources(resources.local_resources()),
        )


def _first(given: Any, other: object) -> Any:
    return other if given is None else given


def _init_op() -> Operation:
    return tf.group(
        tf.global_variables_initializer(),
        resources.initialize_resources(resources.shared_resources()),
    )


def _ready_op() -> Tensor:
    missing = tf.report_uninitialized_variables()
    return tf.concat([missing, resources.report_uninitialized_resources()], 0)


def _ready_for_local_init_op() -> Tensor:
    missing = tf.report_uninitialized_variables(tf.global_variables())
    shared = resources.report_uninitialized_resources(resources.shared_resources())
    return tf.concat([missing, shared], 0)
