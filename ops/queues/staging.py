# SPDX-License-Identifier: Apache-2.0
"""`StagingArea` and `MapStagingArea`: values kept between runs, for pipelines of one step ahead.

Areas have no handle: operations find them by their shared name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import colocate_with, get_default_graph, name_scope
from ...engine.graph.registry import NoGradient
from ...engine.types.shape import TensorShape, shape_text, unknown_shape
from .. import shape_inference
from ..public import raw, tf
from ..state.shared_state import kept
from .staging_store import Buffer, Map

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType

_STATE = NoGradient("moves values between runs")
_LIMITS = "capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; "
_SHARING = "container: string = ''; shared_name: string = ''"
_ATTRS = f"{_LIMITS}dtypes: list(type) >= 1; {_SHARING}"
# Of what concerns the whole area: its types may be left open.
_WHOLE = f"{_LIMITS}dtypes: list(type); {_SHARING}"


def _buffer(c: KernelContext) -> Buffer:
    def make(name: str) -> Buffer:
        return Buffer(c.attr("capacity"), c.attr("memory_limit"))

    return kept(c, "staging area", make, shares_node_name=True)


def _map(c: KernelContext) -> Map:
    def make(name: str) -> Map:
        limits = c.attr("capacity"), c.attr("memory_limit")
        return Map(len(c.op._attrs["dtypes"]), *limits, ordered=ordered)

    ordered = c.type.startswith("Ordered")
    kind = "ordered staging map" if ordered else "staging map"
    return kept(c, kind, make, shares_node_name=True)


def _key(key: np.ndarray) -> int:
    if not key.size:
        raise errors.invalid("key must not be empty")
    if key.size != 1:
        raise errors.invalid(
            f"key must be an int64 scalar, got tensor with shape: {shape_text(key.shape)}"
        )
    return int(key.item())


def _list(indices: np.ndarray) -> list[int]:
    return indices.reshape(-1).tolist()


def _count(value: int) -> np.ndarray:
    return np.asarray(value, np.int32)


def _scalar(c: ShapeContext) -> list[TensorShape]:
    return [TensorShape([]) for _ in c.op.outputs]


def _define(
    name: str,
    signature: str,
    kernel: Callable[..., Any],
    doc: str,
    waits: bool,
    attrs: str = _ATTRS,
) -> None:
    define(
        name,
        signature,
        attrs,
        shape=_scalar if "size:" in signature else shape_inference.all_unknown,
        kernel=kernel,
        gradient=_STATE,
        stateful=True,
        control_flow_role="wait" if waits else "",
        doc=doc,
        test={"session_only": True},
    )


_define(
    *("Stage", "values: dtypes ->", lambda c, values: _buffer(c).put(values)),
    *("Puts a tuple into a staging area.", True),
)
_define(
    *("Unstage", "-> values: dtypes", lambda c: _buffer(c).get(len(c.op.outputs))),
    *("Takes the first tuple of a staging area.", True),
)
_define(
    *("StagePeek", "index: int32 -> values: dtypes"),
    lambda c, index: _buffer(c).peek(int(index), len(c.op.outputs)),
    *("A tuple of a staging area.", True),
)
_define(
    *("StageSize", "-> size: int32", lambda c: _count(_buffer(c).size())),
    *("The number of tuples in a staging area.", False),
    attrs=_WHOLE,
)
_define(
    *("StageClear", "->", lambda c: _buffer(c).clear()),
    *("Forgets the tuples of a staging area.", False),
    attrs=_WHOLE,
)
_PUT = f"{_LIMITS}dtypes: list(type); fake_dtypes: list(type) >= 1; {_SHARING}"
for _is_ordered in (False, True):
    _define(
        ("MapStage", "OrderedMapStage")[_is_ordered],
        "key: int64, indices: int32, values: fake_dtypes ->",
        lambda c, key, indices, values: _map(c).put(_key(key), _list(indices), values),
        doc="Puts components of a tuple under a key.",
        waits=True,
        attrs=_PUT,
    )
    _define(
        ("MapPeek", "OrderedMapPeek")[_is_ordered],
        "key: int64, indices: int32 -> values: dtypes",
        lambda c, key, indices: _map(c).peek(_key(key), _list(indices)),
        *("Components of the tuple under a key.", True),
    )
    _define(
        ("MapUnstage", "OrderedMapUnstage")[_is_ordered],
        "key: int64, indices: int32 -> values: dtypes",
        lambda c, key, indices: _map(c).pop(_key(key), _list(indices)),
        *("Takes components of the tuple under a key.", True),
    )
    _define(
        ("MapUnstageNoKey", "OrderedMapUnstageNoKey")[_is_ordered],
        "indices: int32 -> key: int64, values: dtypes",
        lambda c, indices: _map(c).pop_any(_list(indices)),
        *("Takes components of any tuple (the least key's, if ordered).", True),
    )
    _define(
        ("MapSize", "OrderedMapSize")[_is_ordered],
        "-> size: int32",
        lambda c: _count(_map(c).size()),
        *("The number of complete tuples.", False),
        attrs=_WHOLE,
    )
    _define(
        *(("MapIncompleteSize", "OrderedMapIncompleteSize")[_is_ordered], "-> size: int32"),
        lambda c: _count(_map(c).incomplete_size()),
        *("The number of incomplete tuples.", False),
        attrs=_WHOLE,
    )
    _define(
        *(("MapClear", "OrderedMapClear")[_is_ordered], "->", lambda c: _map(c).clear()),
        *("Forgets all tuples.", False),
        attrs=_WHOLE,
    )


class BaseStagingArea:
    """What both areas share."""

    def __init__(
        self,
        dtypes: Sequence[DType],
        shapes: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        """capacity, memory_limit (bytes): 0 for no limit; names: for dictionaries of values."""
        if shared_name is None:
            self._name = get_default_graph().unique_name(type(self).__name__)
        elif isinstance(shared_name, str):
            self._name = shared_name
        else:
            raise ValueError("shared_name must be a string")
        self._dtypes = dtypes
        if shapes is not None:
            if len(shapes) != len(dtypes):
                raise ValueError("StagingArea shapes must be the same length as dtypes")
            self._shapes = [TensorShape(shape) for shape in shapes]
        else:
            self._shapes = [unknown_shape() for _ in dtypes]
        if names is not None and len(names) != len(dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = names
        self._capacity, self._memory_limit = capacity, memory_limit
        # All operations of the area are on one device.
        with name_scope(f"{self._name}_root"):
            self._coloc_op = tf.no_op()

    @property
    def name(self) -> str:
        """The name that the operations share."""
        return self._name

    @property
    def dtypes(self) -> Any:
        """The types of the components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of the components."""
        return self._shapes

    @property
    def names(self) -> Any:
        """The names of the components, if they have any."""
        return self._names

    @property
    def capacity(self) -> int:
        """How many tuples there may be; 0 for any number."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """How many bytes there may be; 0 for any number."""
        return self._memory_limit

    def _settings(self) -> dict[str, Any]:
        limits = {"capacity": self._capacity, "memory_limit": self._memory_limit}
        return {"shared_name": self._name, **limits}

    def _called(self, what: str, name: str | None) -> str:
        return f"{self._name}_{what}" if name is None else name

    def _check_put_dtypes(self, vals: Any, indices: Any = None) -> tuple[list[Any], Any]:
        """What is to be put, as tensors, and which components they are."""
        if isinstance(vals, dict):
            vals, indices = self._of_dictionary(vals)
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a staging area with names")
            if indices is None:
                raise ValueError("Indices must be supplied when inserting a list of tensors")
            if len(indices) != len(vals):
                raise ValueError("Number of indices '%s' doesn't match number of values '%s'")
            if not isinstance(vals, (list, tuple)):
                vals, indices = [vals], [0]
        if len(vals) > len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(vals)}' vs '{len(self._dtypes)}'")
        tensors = []
        for value, i in zip(vals, indices):
            dtype = self._dtypes[i]
            if value.dtype != dtype:
                raise ValueError(f"Datatypes do not match. '{value.dtype}' != '{dtype}'")
            value.get_shape().assert_is_compatible_with(self._shapes[i])
            tensors.append(convert_to_tensor(value, dtype=dtype, name=f"component_{i}"))
        return tensors, indices

    def _of_dictionary(self, vals: dict[str, Any]) -> tuple[Any, Any]:
        if not self._names:
            raise ValueError("Staging areas must have names to enqueue a dictionary")
        if not set(vals).issubset(self._names):
            raise ValueError(
                "Keys in dictionary to put do not match names of staging area. Dictionary: "
                f"({sorted(vals)}), Queue: ({sorted(self._names)})"
            )
        given = [(vals[name], i) for i, name in enumerate(self._names) if name in vals]
        return [value for value, _ in given], [i for _, i in given]

    def _create_device_transfers(self, tensors: Any) -> list[Any]:
        if not isinstance(tensors, (tuple, list)):
            tensors = [tensors]
        # What is taken on another device is carried there.
        if tf.no_op().device != self._coloc_op.device:
            tensors = [tf.identity(tensor) for tensor in tensors]
        return tensors

    def _get_return_value(self, tensors: Sequence[Tensor], indices: Sequence[int]) -> Any:
        tensors = self._create_device_transfers(tensors)
        for output, i in zip(tensors, indices):
            output.set_shape(self._shapes[i])
        if self._names:
            return {self._names[i]: tensor for tensor, i in zip(tensors, indices)}
        return tensors

    @staticmethod
    def _scope_vals(vals: object) -> Any:
        if isinstance(vals, dict):
            return list(vals.values())
        return vals if isinstance(vals, (list, tuple)) else [vals]


@export("contrib.staging.StagingArea")
class StagingArea(BaseStagingArea):
    """Tuples that a run puts and a later (or the same) run gets, in order."""

    def put(self, values: dict[Any, Any], name: str | None = None) -> Operation:
        """An operation that puts a tuple; waits while the area is full."""
        with name_scope(name, f"{self._name}_put", self._scope_vals(values)) as scope:
            if not isinstance(values, (list, tuple, dict)):
                values = [values]
            tensors, _ = self._check_put_dtypes(values, list(range(len(values))))
            with colocate_with(self._coloc_op):
                return raw.Stage(values=tensors, name=scope, **self._settings())

    def _taken(self, make: Callable[..., Any], *inputs: Any, name: str) -> Any:
        with colocate_with(self._coloc_op):
            found = make(*inputs, dtypes=self._dtypes, name=name, **self._settings())
        return self._get_return_value(found, list(range(len(self._dtypes))))

    def get(self, name: str | None = None) -> Any:
        """The first tuple, taken; waits while there is none."""
        return self._taken(raw.Unstage, name=self._called("get", name))

    def peek(self, index: int, name: str | None = None) -> Any:
        """The tuple at a place, which stays; waits until there is one."""
        return self._taken(raw.StagePeek, index, name=self._called("peek", name))

    def size(self, name: str | None = None) -> Tensor:
        """The number of tuples, a tensor."""
        name = self._called("size", name)
        return raw.StageSize(name=name, dtypes=self._dtypes, **self._settings())

    def clear(self, name: str | None = None) -> Operation:
        """An operation that forgets all tuples."""
        name = self._called("clear", name)
        return raw.StageClear(name=name, dtypes=self._dtypes, **self._settings())


@export("contrib.staging.MapStagingArea")
class MapStagingArea(BaseStagingArea):
    """Tuples under int64 keys; with `ordered` the least key is taken first."""

    def __init__(
        self,
        dtypes: Sequence[DType],
        shapes: Sequence[Any] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        ordered: bool = False,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._ordered = ordered

    def _raw(self, unordered: str, ordered: str) -> Callable[..., Any]:
        return getattr(raw, ordered if self._ordered else unordered)

    def put(
        self,
        key: TensorLike,
        vals: Sequence[Tensor],
        indices: Sequence[int] | None = None,
        name: str | None = None,
    ) -> Any:
        """An operation that puts a tuple, or the components `indices` of it, under a key."""
        with name_scope(name, f"{self._name}_put", self._scope_vals(vals)) as scope:
            tensors, indices = self._check_put_dtypes(vals, indices)
            with colocate_with(self._coloc_op):
                return self._raw("MapStage", "OrderedMapStage")(
                    key, indices, tensors, dtypes=self._dtypes, name=scope, **self._settings()
                )

    def _get_indices_and_dtypes(
        self, indices: Sequence[int] | None = None
    ) -> tuple[list[int], list[Any]]:
        if indices is None:
            indices = list(range(len(self._dtypes)))
        if not isinstance(indices, (tuple, list)):
            raise TypeError(f"Invalid indices type '{type(indices)}'")
        if not indices:
            raise ValueError("Empty indices")
        if all(isinstance(i, str) for i in indices):
            if self._names is None:
                raise ValueError(
                    f"String indices provided '{indices}', but this Staging Area was not created "
                    "with names."
                )
            for name in indices:
                if name not in self._names:
                    raise ValueError(
                        f"Named index '{name}' not in Staging Area names '{self._names}'"
                    )
            indices = [self._names.index(name) for name in indices]
        elif not all(isinstance(i, int) for i in indices):
            raise TypeError(f"Mixed types in indices '{indices}'. May only be str or int")
        return list(indices), [self._dtypes[i] for i in indices]

    def peek(
        self, key: TensorLike, indices: Sequence[int] | None = None, name: str | None = None
    ) -> Any:
        """Components of the tuple under a key, which stay; waits for it."""
        indices, kinds = self._get_indices_and_dtypes(indices)
        name = self._called("pop", name)
        with colocate_with(self._coloc_op):
            found = self._raw("MapPeek", "OrderedMapPeek")(
                key, indices, dtypes=kinds, name=name, **self._settings()
            )
        return self._get_return_value(found, indices)

    def get(
        self,
        key: TensorLike | None = None,
        indices: Sequence[int] | None = None,
        name: str | None = None,
    ) -> Any:
        """Key and components, taken, of the tuple under a key (or of any); waits for it."""
        indices, kinds = self._get_indices_and_dtypes(indices)
        settings = {"dtypes": kinds, **self._settings()}
        with colocate_with(self._coloc_op):
            if key is not None:
                name = self._called("get", name)
                found = self._raw("MapUnstage", "OrderedMapUnstage")(
                    key, indices, name=name, **settings
                )
            else:
                name = self._called("get_nokey", name)
                key, found = self._raw("MapUnstageNoKey", "OrderedMapUnstageNoKey")(
                    indices, name=name, **settings
                )
                key = self._create_device_transfers(key)[0]
        return key, self._get_return_value(found, indices)

    def _measured(self, unordered: str, ordered: str, name: str) -> Any:
        return self._raw(unordered, ordered)(name=name, dtypes=self._dtypes, **self._settings())

    def size(self, name: str | None = None) -> Any:
        """The number of complete tuples, a tensor."""
        return self._measured("MapSize", "OrderedMapSize", self._called("size", name))

    def incomplete_size(self, name: str | None = None) -> Any:
        """The number of incomplete tuples, a tensor."""
        return self._measured(
            "MapIncompleteSize", "OrderedMapIncompleteSize", self._called("incomplete_size", name)
        )

    def clear(self, name: str | None = None) -> Any:
        """An operation that forgets all tuples."""
        return self._measured("MapClear", "OrderedMapClear", self._called("clear", name))
