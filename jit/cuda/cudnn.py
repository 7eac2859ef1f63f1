# SPDX-License-Identifier: Apache-2.0
"""Convolutions and their gradients by NVIDIA's cuDNN, the same bits in every run.

cuDNN is told of tensors, of an operation over them, and asked which engines it thinks the best for
that; the first counts that is deterministic and computes as precisely as is asked for.  All of this
is done once for sizes; a call is one function that gets the addresses.  Imports nothing heavy.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from ctypes import c_int, c_int64, c_void_p
from typing import TYPE_CHECKING, Any

from ...engine import settings
from ..library.computed import Convolution
from .device import Library, Memory
from .vendor import asked

if TYPE_CHECKING:
    from .card import Card

NAME = "cudnn"
FUNCTIONS = {
    "cudnnCreate": [c_void_p],
    "cudnnSetStream": [c_void_p, c_void_p],
    "cudnnBackendCreateDescriptor": [c_int, c_void_p],
    "cudnnBackendDestroyDescriptor": [c_void_p],
    "cudnnBackendSetAttribute": [c_void_p, c_int, c_int, c_int64, c_void_p],
    "cudnnBackendGetAttribute": [c_void_p, c_int, c_int, c_int64, c_void_p, c_void_p],
    "cudnnBackendFinalize": [c_void_p],
    "cudnnBackendExecute": [c_void_p, c_void_p, c_void_p],
}

# cudnnDataType_t
_TYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 9}
# cudnnBackendAttributeType_t, and what its elements are.
_HANDLE, _DATA_TYPE, _INT64, _FLOAT, _DOUBLE = 0, 1, 3, 4, 5
_POINTER, _MODE, _HEURISTIC, _NOTE, _DESCRIPTOR = 6, 7, 8, 11, 15
_ELEMENTS: dict[int, Any] = {
    **dict.fromkeys((_HANDLE, _POINTER, _DESCRIPTOR), c_void_p),
    **dict.fromkeys((_DATA_TYPE, _MODE, _HEURISTIC, _NOTE), c_int),
    _INT64: c_int64,
    _FLOAT: ctypes.c_float,
    _DOUBLE: ctypes.c_double,
}
# cudnnBackendDescriptorType_t
_CONVOLUTION, _ENGINE, _CONFIG, _HEURISTICS, _PLAN, _GRAPH, _PACK, _TENSOR = (
    *(1, 2, 3, 4, 5, 15, 16, 17),
)
# By way: the operation's descriptor, and its attributes: alpha, beta, convolution, tensors in the
# order of the arguments (images, filters, scores as they are among them).
_OPERATIONS = {
    "forward": (10, 700, 701, 702, (704, 703, 705)),
    "images": (12, 706, 707, 708, (709, 711, 710)),
    "filters": (11, 712, 713, 714, (716, 717, 715)),
}
# cudnnBackendAttributeName_t
_COMPUTED_IN, _KIND, _DILATIONS, _STEPS, _BEHIND, _BEFORE, _DIMENSIONS = range(100, 107)
_HOW, _OF_GRAPH, _RESULTS = 200, 201, 202
_ENGINE_OF = 300
_PLAN_HANDLE, _PLAN_CONFIG, _PLAN_WORKSPACE = 400, 401, 402
_GRAPH_HANDLE, _GRAPH_OPERATIONS = 800, 801
_ALIGNMENT, _ELEMENT, _SHAPE, _STRIDES, _NUMBER = 900, 901, 902, 903, 906
_PACK_NUMBERS, _PACK_POINTERS, _PACK_WORKSPACE = 1000, 1001, 1003
_NOTES = 1303
_CROSS_CORRELATION = 1  # as TensorFlow's convolutions are
_BEST, _ANY = 3, 2  # cudnnBackendHeurMode_t: A, FALLBACK
# cudnnBackendNumericalNote_t
_TENSOR_CORE, _NARROWED, _REDUCED, _RANDOM_ORDER = 0, 1, 2, 4
_MOST_NOTES = 16

_ALIGNED = 16  # bytes; all values begin at multiples of 64
_MOST_WORKSPACE = 1 << 30  # bytes


class Math(Library):
    """cuDNN on one card."""

    kind, name = Convolution.kind, NAME

    def __init__(self, card: Card, names: Any) -> None:
        super().__init__()
        self._card, self._names = card, names
        self._handle: c_void_p | None = None
        # A handle is for one thread at a time.
        self._lock = threading.Lock()
        self._workspace: Memory | None = None
        self._stream = 0
        self._plans: dict[tuple[object, ...], _Plan | None] = {}

    def takes(self, computes: Convolution) -> bool:
        """See Library."""
        is_bare = not computes.bias and not computes.relu and computes.parts == 1
        return is_bare and computes.dtype in _TYPES

    def prepared(self, computes: Convolution, words: Any) -> Callable[[], None] | None:
        """See Library."""
        sizes = tuple(words[computes.buffers : computes.buffers + 11])
        is_fast = computes.dtype == "float32" and bool(settings.get("tf32"))
        key = (computes, sizes, is_fast)
        with self._lock:
            self._open()
            if key not in self._plans:
                self._plans[key] = self._plan(computes, sizes, is_fast)
            plan = self._plans[key]
            if plan is None:
                self.declined.add((computes, sizes))
                return None
            if self._workspace is None or self._workspace.count < plan.workspace:
                # (What was prepared before keeps the one that it has.)
                self._workspace = Memory(self._card, max(plan.workspace, 1))
            call = _Call(self._names, plan, self._workspace)

        def launch() -> None:
            with self._lock:
                self._follow()
                call.run(self._handle, words[0], words[1], words[2])

        return launch

    def _open(self) -> None:
        self._card.stream_handle()
        if self._handle is None:
            handle = c_void_p()
            asked("cudnnCreate", self._names.cudnnCreate)(ctypes.byref(handle))
            self._handle = handle

    def _follow(self) -> None:
        """Has the library work in the card's stream."""
        stream = self._card.stream_handle()
        if stream != self._stream:
            asked("cudnnSetStream", self._names.cudnnSetStream)(self._handle, stream)
            self._stream = stream

    def _plan(self, computes: Convolution, sizes: Sequence[int], is_fast: bool) -> _Plan | None:
        """The first plan that does what is wanted, of those that the library thinks the best."""
        behind = _behind(computes, sizes)
        if behind is None:
            return None
        graph = _graph(self._names, self._handle, computes, sizes, behind)
        unwanted = {_REDUCED, _RANDOM_ORDER} | (set() if is_fast else {_NARROWED})
        if computes.dtype == "float32" and not is_fast:
            unwanted.add(_TENSOR_CORE)
        for config in _configs(self._names, graph):
            if _notes(self._names, config).isdisjoint(unwanted):
                plan = _Plan.of(self._names, self._handle, config)
                if plan is not None and plan.workspace <= _MOST_WORKSPACE:
                    return plan
        return None


def _behind(computes: Convolution, sizes: Sequence[int]) -> list[int] | None:
    """The padding behind images, as much as before them; None if that gives other sizes."""
    _, height, width, _, high, wide, _, rows, columns, above, before = sizes
    found = []
    for size, taps, out, pad, step, apart in zip(
        *((height, width), (high, wide), (rows, columns), (above, before)),
        *(computes.steps, computes.dilations),
    ):
        if (size + 2 * pad - (taps - 1) * apart - 1) // step + 1 != out:
            return None
        found.append(pad)
    return found


class _Descriptor:
    """One of the library's descriptors; those that it is made of stay as long as it does."""

    def __init__(self, names: Any, kind: int, *parts: _Descriptor) -> None:
        self.names, self.pointer = names, c_void_p()
        self._parts = [*parts]
        create = asked("cudnnBackendCreateDescriptor", names.cudnnBackendCreateDescriptor)
        create(kind, ctypes.byref(self.pointer))

    def __del__(self) -> None:
        if self.pointer:
            self.names.cudnnBackendDestroyDescriptor(self.pointer)

    def set(self, attribute: int, kind: int, *values: Any) -> None:
        """Gives an attribute its elements."""
        element = _ELEMENTS[kind]
        self._parts += [value for value in values if isinstance(value, _Descriptor)]
        plain = [
            value.pointer.value if isinstance(value, _Descriptor) else value for value in values
        ]
        held = (element * len(plain))(*plain)
        put = asked("cudnnBackendSetAttribute", self.names.cudnnBackendSetAttribute)
        put(self.pointer, attribute, kind, len(plain), ctypes.addressof(held))

    def get(self, attribute: int, kind: int, held: Any, most: int) -> int:
        """Fills an array with an attribute's elements; how many there are."""
        count = c_int64()
        take = asked("cudnnBackendGetAttribute", self.names.cudnnBackendGetAttribute)
        place = None if held is None else ctypes.addressof(held)
        take(self.pointer, attribute, kind, most, ctypes.byref(count), place)
        return count.value

    def is_finished(self) -> bool:
        """Makes it what was said; whether the library can."""
        return self.names.cudnnBackendFinalize(self.pointer) == 0

    def finished(self) -> _Descriptor:
        """Makes it what was said."""
        asked("cudnnBackendFinalize", self.names.cudnnBackendFinalize)(self.pointer)
        return self


def _graph(
    names: Any, handle: Any, computes: Convolution, sizes: Sequence[int], behind: Sequence[int]
) -> _Descriptor:
    """The operation, as a graph of one."""
    graph = _Descriptor(names, _GRAPH)
    graph.set(_GRAPH_HANDLE, _HANDLE, handle.value)
    operation = _operation(names, computes, sizes, behind)
    graph.set(_GRAPH_OPERATIONS, _DESCRIPTOR, operation)
    return graph.finished()


def _operation(
    names: Any, computes: Convolution, sizes: Sequence[int], behind: Sequence[int]
) -> _Descriptor:
    """One convolution over tensors, which have the numbers 1, 2 and 3 in the order of arguments."""
    n, height, width, channels, high, wide, features, rows, columns, above, before = sizes
    images, filters = (n, channels, height, width), (features, channels, high, wide)
    scores = (n, features, rows, columns)
    shapes = {
        "forward": (images, filters, scores),
        "images": (filters, scores, images),
        "filters": (images, scores, filters),
    }[computes.way]
    number, is_double = _TYPES[computes.dtype], computes.dtype == "float64"
    how = _Descriptor(names, _CONVOLUTION)
    how.set(_COMPUTED_IN, _DATA_TYPE, _TYPES["float64" if is_double else "float32"])
    how.set(_KIND, _MODE, _CROSS_CORRELATION)
    how.set(_DIMENSIONS, _INT64, 2)
    how.set(_DILATIONS, _INT64, *computes.dilations)
    how.set(_STEPS, _INT64, *computes.steps)
    how.set(_BEFORE, _INT64, above, before)
    how.set(_BEHIND, _INT64, *behind)
    how.finished()
    kind, alpha, beta, convolution, places = _OPERATIONS[computes.way]
    operation = _Descriptor(names, kind)
    operation.set(convolution, _DESCRIPTOR, how)
    scale = _DOUBLE if is_double else _FLOAT
    operation.set(alpha, scale, 1.0)
    operation.set(beta, scale, 0.0)
    for position, (place, shape) in enumerate(zip(places, shapes)):
        tensor = _tensor(names, number, position + 1, shape)
        operation.set(place, _DESCRIPTOR, tensor)
    return operation.finished()


def _tensor(names: Any, kind: int, number: int, shape: Sequence[int]) -> _Descriptor:
    """A tensor [images, channels, height, width], whose channels lie innermost in memory."""
    tensor = _Descriptor(names, _TENSOR)
    _, channels, height, width = shape
    tensor.set(_ELEMENT, _DATA_TYPE, kind)
    tensor.set(_SHAPE, _INT64, *shape)
    tensor.set(_STRIDES, _INT64, height * width * channels, 1, width * channels, channels)
    tensor.set(_NUMBER, _INT64, number)
    tensor.set(_ALIGNMENT, _INT64, _ALIGNED)
    return tensor.finished()


def _configs(names: Any, graph: _Descriptor) -> Iterator[_Descriptor]:
    """What could compute a graph, the best first, and in the end what always can."""
    for mode in (_BEST, _ANY):
        heuristics = _Descriptor(names, _HEURISTICS)
        heuristics.set(_OF_GRAPH, _DESCRIPTOR, graph)
        heuristics.set(_HOW, _HEURISTIC, mode)
        if not heuristics.is_finished():
            continue
        count = heuristics.get(_RESULTS, _DESCRIPTOR, None, 0)
        made = [_Descriptor(names, _CONFIG, graph) for _ in range(count)]
        held = (c_void_p * count)(*(each.pointer.value for each in made))
        yield from made[: heuristics.get(_RESULTS, _DESCRIPTOR, held, count)]


def _notes(names: Any, config: _Descriptor) -> set[int]:
    """What is to be said of how a configuration's engine computes."""
    engine = _Descriptor(names, _ENGINE)
    config.get(_ENGINE_OF, _DESCRIPTOR, (c_void_p * 1)(engine.pointer.value), 1)
    held = (c_int * _MOST_NOTES)()
    return set(held[: engine.get(_NOTES, _NOTE, held, _MOST_NOTES)])


class _Plan:
    """What computes an operation.  workspace: how many bytes it needs."""

    def __init__(self, names: Any, handle: Any, config: _Descriptor) -> None:
        self.descriptor, self.workspace = _Descriptor(names, _PLAN), 0
        self.descriptor.set(_PLAN_HANDLE, _HANDLE, handle.value)
        self.descriptor.set(_PLAN_CONFIG, _DESCRIPTOR, config)

    @classmethod
    def of(cls, names: Any, handle: Any, config: _Descriptor) -> _Plan | None:
        """The plan of a configuration, if the library can run it on this card."""
        plan = cls(names, handle, config)
        if not plan.descriptor.is_finished():
            return None
        held = (c_int64 * 1)()
        plan.descriptor.get(_PLAN_WORKSPACE, _INT64, held, 1)
        plan.workspace = held[0]
        return plan


class _Call:
    """A plan and where its tensors are."""

    def __init__(self, names: Any, plan: _Plan, workspace: Memory) -> None:
        self._names, self._plan, self._workspace = names, plan, workspace
        self._places: tuple[int, ...] = ()
        self._pack: _Descriptor | None = None

    def run(self, handle: Any, *places: int) -> None:
        """Begins the operation on what lies at these addresses."""
        if places != self._places or self._pack is None:
            self._pack, self._places = self._packed(places), places
        status = self._names.cudnnBackendExecute(
            handle, self._plan.descriptor.pointer, self._pack.pointer
        )
        if status:
            asked("cudnnBackendExecute", lambda: status)()

    def _packed(self, places: tuple[int, ...]) -> _Descriptor:
        pack = _Descriptor(self._names, _PACK)
        pack.set(_PACK_NUMBERS, _INT64, *range(1, len(places) + 1))
        pack.set(_PACK_POINTERS, _POINTER, *places)
        pack.set(_PACK_WORKSPACE, _POINTER, self._workspace.address)
        return pack.finished()
