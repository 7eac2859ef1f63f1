# SPDX-License-Identifier: Apache-2.0
"""The ops that share a pipeline among workers and devices."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.graph.build import define
from ....engine.session.state import handle_bytes
from ....engine.types.shape import TensorShape
from ...state.shared_state import kept
from ..runtime.dataset import Dataset, boxed, dataset_in
from ..runtime.iterators import require_shapes, require_types
from ..runtime.several_devices import DeviceIterators
from ..runtime.sharding import sharded
from .common import NONE, TYPES, element_types, scalar, scalars, stated_shapes
from .experimental import define_both
from .iterators import by_handle

if TYPE_CHECKING:
    from ....engine.graph.kernel_context import KernelContext

_TEST = {"needs": "a dataset"}
_HANDLE = "multi_device_iterator: resource"
_numbers = itertools.count()


def _auto_shard(c: KernelContext, source: np.ndarray, workers: Any, index: Any) -> Dataset:
    return sharded(dataset_in(source), scalar(workers, "num_workers"), scalar(index, "index"))


def _placed(c: KernelContext, iterators: DeviceIterators) -> DeviceIterators:
    """To be found by its string handle."""
    c.session_state.store(iterators.container, f"handle:{iterators.name}", iterators)
    return iterators


def _iterators(c: KernelContext) -> Any:
    types, shapes = element_types(c)
    container, count = c.attr("container"), len(c.attr("devices"))

    def make(name: str) -> DeviceIterators:
        return _placed(c, DeviceIterators(name, types, shapes, count, container))

    def verify(found: DeviceIterators) -> None:
        require_types(found.types, types)
        require_shapes(found.shapes, shapes)

    return kept(c, "multi_device_iterator", make, verify)


def _anonymous(c: KernelContext) -> Any:
    name = f"AnonymousMultiDeviceIterator{next(_numbers)}"
    made = DeviceIterators(name, *element_types(c), len(c.attr("devices")))
    return _placed(c, made), boxed(made)


def _begin(c: KernelContext, dataset: Any, iterators: DeviceIterators, size: Any) -> np.ndarray:
    if scalar(size, "max_buffer_size") < 1:
        raise errors.invalid("max_buffer_size must be >= 1")
    assert c.session is not None
    return np.asarray(iterators.begin(dataset_in(dataset), c.session), np.int64)


def _get_next(
    c: KernelContext, iterators: DeviceIterators, shard: np.ndarray, incarnation: np.ndarray
) -> Any:
    assert c.session is not None
    numbers = scalar(shard, "shard_num"), scalar(incarnation, "incarnation_id")
    element = iterators.next(*numbers, c.session)
    if element is None:
        raise errors.out_of_range("End of sequence")
    return element


def _to_string(c: KernelContext, iterators: Any) -> np.ndarray:
    return boxed(handle_bytes(iterators).tobytes())


def _from_string(c: KernelContext, handle: Any) -> DeviceIterators:
    return by_handle(c, handle, DeviceIterators)


def _delete(c: KernelContext, iterators: Any, parts: list[Any], deleter: Any) -> None:
    if isinstance(iterators, DeviceIterators):
        iterators.close()
        c.session_state.remove(iterators.container, f"handle:{iterators.name}")


def _device(c: KernelContext, resource: Any) -> np.ndarray:
    """(All iterators are the host's.)"""
    return boxed(b"/job:localhost/replica:0/task:0/device:CPU:0")


def _define(name: str, signature: str, attrs: str, kernel: Any, doc: str, **facts: Any) -> None:
    facts = {"shape": scalars(), "touches": (), "test": _TEST, **facts}
    define(name, signature, attrs, kernel=kernel, gradient=NONE, doc=doc, **facts)


define_both(
    "AutoShardDataset",
    "ExperimentalAutoShardDataset",
    "input_dataset: variant, num_workers: int64, index: int64",
    TYPES,
    _auto_shard,
    "The part of a dataset that one of several workers has: some of its files, or elements.",
)
_define(
    "MultiDeviceIterator",
    "-> handle: resource",
    f"devices: list(string) >= 1; shared_name: string; container: string; {TYPES}",
    _iterators,
    "An iterator whose elements go to several devices in turns, not begun.",
)
_define(
    "AnonymousMultiDeviceIterator",
    "-> handle: resource, deleter: variant",
    f"devices: list(string) >= 1; {TYPES}",
    _anonymous,
    "An iterator for several devices of no name, and what deletes it.",
    shape=lambda c: [TensorShape([]), TensorShape([])],
)
_define(
    "MultiDeviceIteratorInit",
    f"dataset: variant, {_HANDLE}, max_buffer_size: int64 -> incarnation_id: int64",
    "",
    _begin,
    "Has an iterator for several devices begin with a dataset.",
)
_define(
    "MultiDeviceIteratorGetNextFromShard",
    f"{_HANDLE}, shard_num: int32, incarnation_id: int64 -> components: output_types",
    TYPES,
    _get_next,
    "The next element of one device; OutOfRangeError at the end.",
    shape=stated_shapes,
    dynamic_shape=True,
    waits_for_data=True,
)
_define(
    "MultiDeviceIteratorToStringHandle",
    f"{_HANDLE} -> string_handle: string",
    "",
    _to_string,
    "A string that stands for an iterator for several devices.",
)
_define(
    "MultiDeviceIteratorFromStringHandle",
    f"string_handle: string -> {_HANDLE}",
    "output_types: list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []",
    _from_string,
    "The iterator for several devices that a string stands for.",
)
_define(
    "DeleteMultiDeviceIterator",
    f"{_HANDLE}, iterators: N * resource, deleter: variant ->",
    "N: int >= 0",
    _delete,
    "Ends an iterator for several devices.",
    shape=lambda c: [],
)
for _name in ("IteratorGetDevice", "ExperimentalIteratorGetDevice"):
    _define(
        _name,
        "resource: resource -> device: string",
        "",
        _device,
        "The device on which an iterator is.",
    )
