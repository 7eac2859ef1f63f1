# SPDX-License-Identifier: Apache-2.0
"""Lists of operations and tensors, what they belong to, and placeholders in their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ....engine.api import export
from ....engine.graph.collections import GraphKeys
from ....engine.graph.graph import Graph
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, ShapeLike

_PREFIX = "geph"
Item = TypeVar("Item")


def concatenate_unique(la: list[Item], lb: Iterable[Item]) -> list[Item]:
    """Adds to a list what of another it has not."""
    known = set(la)
    for item in lb:
        if item not in known:
            la.append(item)
            known.add(item)
    return la


class ListView:
    """A list that is only read."""

    def __init__(self, list_: list[Any]) -> None:
        if not isinstance(list_, list):
            raise TypeError(f"Expected a list, got: {type(list_)}.")
        self._list = list_

    def __iter__(self) -> Iterator[Any]:
        return iter(self._list)

    def __len__(self) -> int:
        return len(self._list)

    def __bool__(self) -> bool:
        return bool(self._list)

    def __getitem__(self, i: Any) -> Any:
        return self._list[i]

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return list(self) + list(other)


def is_iterable(obj: Any) -> bool:
    """Whether something is many things; a tensor is one."""
    if isinstance(obj, Tensor):
        return False
    try:
        iter(obj)
    except (TypeError, ValueError):
        return False
    return True


def flatten_tree(tree: Any, leaves: list[Any] | None = None) -> list[Any]:
    """All that is no list or dict in nested ones, in order."""
    leaves = [] if leaves is None else leaves
    if isinstance(tree, dict):
        tree = tree.values()
    if is_iterable(tree):
        for child in tree:
            flatten_tree(child, leaves)
    else:
        leaves.append(tree)
    return leaves


def transform_tree(
    tree: Any, fn: Callable[[Any], Any], iterable_type: Callable[..., Any] = tuple
) -> Any:
    """The same nested lists and dicts of what a function gives for each leaf."""
    if not is_iterable(tree):
        return fn(tree)
    if isinstance(tree, dict):
        return type(tree)((key, transform_tree(child, fn)) for key, child in tree.items())
    if isinstance(tree, tuple) and hasattr(tree, "_asdict"):
        return type(tree)(**transform_tree(tree._asdict(), fn))
    children = (transform_tree(child, fn) for child in tree)
    kind: Any = type(tree) if isinstance(tree, Sequence) else iterable_type
    return kind(children)


def check_graphs(*args: Any) -> None:
    """Raises ValueError unless all views are of one graph."""
    graph = None
    for i, view in enumerate(args):
        if graph is None:
            graph = view.graph
        elif view.graph is not None and view.graph is not graph:
            raise ValueError(f"Argument[{i}]: Wrong graph!")


def get_unique_graph(tops: Any, check_types: Any = None, none_if_empty: bool = False) -> Any:
    """The graph that all operations and tensors of a list belong to.

    Raises:
        TypeError: something is neither.
        ValueError: there are two graphs, or none.
    """
    if isinstance(tops, Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"{type(tops)} is not iterable")
    kinds = (Operation, Tensor) if check_types is None else check_types
    kinds = tuple(kinds) if is_iterable(kinds) else (kinds,)
    graph = None
    for item in tops:
        if not isinstance(item, kinds):
            names = ", ".join(str(kind) for kind in kinds)
            raise TypeError(f"Expected a type in ({names}), got: {type(item)}")
        if graph is None:
            graph = item.graph
        elif graph is not item.graph:
            raise ValueError(f"Operation {item} does not belong to given graph")
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def _listed(items: Any, kind: Any, check_graph: bool, ignore_others: bool) -> list[Any]:
    items = items if is_iterable(items) else [items]
    if not items:
        return []
    if check_graph:
        get_unique_graph(items, check_types=None if ignore_others else kind)
    return [item for item in items if isinstance(item, kind)]


@export("contrib.graph_editor.make_list_of_op")
def make_list_of_op(
    ops: object, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False
) -> list[Operation]:
    """Operations as a list: those of a graph, of a list, or one.

    Args:
        ops: a Graph, Operations or one.
        check_graph: whether all must be of one graph.
        allow_graph: whether a Graph may be given.
        ignore_ts: whether Tensors among them are passed over.

    Raises:
        TypeError: something is no operation.
        ValueError: they are of several graphs.
    """
    if isinstance(ops, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return ops.get_operations()
    return _listed(ops, Operation, check_graph, ignore_ts)


@export("contrib.graph_editor.get_tensors")
def get_tensors(graph: Graph) -> list[Tensor]:
    """All tensors of a graph.

    Raises:
        TypeError: it is no graph.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [t for op in graph.get_operations() for t in op.outputs]


@export("contrib.graph_editor.make_list_of_t")
def make_list_of_t(
    ts: object, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False
) -> list[Tensor]:
    """Tensors as a list: those of a graph, of a list, or one.

    Args:
        ts: a Graph, Tensors or one.
        check_graph: whether all must be of one graph.
        allow_graph: whether a Graph may be given.
        ignore_ops: whether Operations among them are passed over.

    Raises:
        TypeError: something is no tensor.
        ValueError: they are of several graphs.
    """
    if isinstance(ts, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return get_tensors(ts)
    return _listed(ts, Tensor, check_graph, ignore_ops)


@export("contrib.graph_editor.get_generating_ops")
def get_generating_ops(ts: object) -> list[Operation]:
    """The operations that make tensors."""
    return [t.op for t in make_list_of_t(ts, allow_graph=False)]


@export("contrib.graph_editor.get_consuming_ops")
def get_consuming_ops(ts: object) -> list[Operation]:
    """The operations that take tensors, each once."""
    found: list[Operation] = []
    for t in make_list_of_t(ts, allow_graph=False):
        concatenate_unique(found, t.consumers())
    return found


@export("contrib.graph_editor.ControlOutputs")
class ControlOutputs:
    """Which operations wait for which, of a graph.

    Args:
        graph: the Graph.
    """

    def __init__(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph
        self._build()

    def update(self) -> ControlOutputs:
        """Looks again, if the graph has grown."""
        if self._version != self._graph.version:
            self._build()
        return self

    def _build(self) -> None:
        self._control_outputs: dict[Operation, list[Operation]] = {}
        for op in self._graph.get_operations():
            for before in op.control_inputs:
                concatenate_unique(self._control_outputs.setdefault(before, []), [op])
        self._version = self._graph.version

    def get_all(self) -> dict[Operation, list[Operation]]:
        """Those that wait for each."""
        return self._control_outputs

    def get(self, op: Operation) -> Sequence[Operation]:
        """Those that wait for one."""
        return self._control_outputs.get(op, ())

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph


def scope_finalize(scope: str) -> str:
    """A scope with a slash at its end."""
    return f"{scope}/" if scope and scope[-1] != "/" else scope


def scope_dirname(scope: str) -> str:
    """What of a name is its scope, with the slash."""
    return scope[: scope.rfind("/") + 1]


def scope_basename(scope: str) -> str:
    """A name without its scope."""
    return scope[scope.rfind("/") + 1 :]


@export("contrib.graph_editor.placeholder_name")
def placeholder_name(t: object = None, scope: str | None = None, prefix: str = _PREFIX) -> str:
    """The name of a placeholder that stands for a tensor.

    Args:
        t: the Tensor, or None.
        scope: where it lies; where the tensor is made unless given.
        prefix: what its name begins with.

    Raises:
        TypeError: `t` is no tensor.
    """
    if scope is not None:
        scope = scope_finalize(scope)
    if t is None:
        return f"{scope or ''}{prefix}"
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
    base = scope_basename(t.op.name)
    scope = scope_dirname(t.op.name) if scope is None else scope
    is_one = base.startswith(f"{prefix}__")
    return scope + (base if is_one else f"{prefix}__{base}_{t.value_index}")


@export("contrib.graph_editor.make_placeholder_from_tensor")
def make_placeholder_from_tensor(
    t: Tensor, scope: str | None = None, prefix: str = _PREFIX
) -> Tensor:
    """A placeholder of the dtype and shape of a tensor.

    Args:
        t: the Tensor.
        scope: where it lies.
        prefix: what its name begins with.
    """
    name = placeholder_name(t, scope=scope, prefix=prefix)
    return tf.placeholder(dtype=t.dtype, shape=t.get_shape(), name=name)


@export("contrib.graph_editor.make_placeholder_from_dtype_and_shape", "contrib.graph_editor.ph")
def make_placeholder_from_dtype_and_shape(
    dtype: DTypeLike,
    shape: ShapeLike | None = None,
    scope: str | None = None,
    prefix: str = _PREFIX,
) -> Tensor:
    """A placeholder called "geph".

    Args:
        dtype: of the placeholder.
        shape: of the placeholder.
        scope: where it lies.
        prefix: its name.
    """
    name = placeholder_name(scope=scope, prefix=prefix)
    return tf.placeholder(dtype=dtype, shape=shape, name=name)


def get_predefined_collection_names() -> list[str]:
    """The names of TensorFlow's own collections."""
    names = [name for name in dir(GraphKeys) if not re.match(r"^__\w+__$", name)]
    return [getattr(GraphKeys, name) for name in names]


def find_corresponding_elem(
    target: Any, dst_graph: Graph, dst_scope: str = "", src_scope: str = ""
) -> Any:
    """What has the name of a tensor or operation in another graph or scope.

    Raises:
        ValueError: the name does not begin with `src_scope`.
        TypeError: the target is neither.
    """
    name, source = target.name, scope_finalize(src_scope)
    if not name.startswith(source):
        raise ValueError(f"{name} does not start with {source}")
    name = scope_finalize(dst_scope) + name[len(source) :]
    if isinstance(target, Tensor):
        return dst_graph.get_tensor_by_name(name)
    if isinstance(target, Operation):
        return dst_graph.get_operation_by_name(name)
    raise TypeError(f"Expected tf.Tensor or tf.Operation, got: {type(target)}")


def find_corresponding(
    targets: object, dst_graph: Graph, dst_scope: str = "", src_scope: str = ""
) -> Any:
    """What has the names of tensors and operations in another graph or scope."""
    return transform_tree(
        targets, lambda top: find_corresponding_elem(top, dst_graph, dst_scope, src_scope)
    )
