# SPDX-License-Identifier: Apache-2.0
"""The functions of cuDNN that `jit/cuda/cudnn.py` calls, over the memory of a fake driver.

They are C functions, as those of the library.  Descriptors are finished once, with everything that
the library wants to know of them, in the types that it wants; a convolution is computed by NumPy
from what they say and nothing else.  Of the engines that it thinks the best the first ones add up
in any order, narrow their inputs, or do not run on this card.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int, c_int64, c_void_p
from typing import Any

import numpy as np

from numbaflow.jit.kernel import reference

from .fake_driver import FakeDriver

_P = c_void_p
PROTOTYPES: dict[str, list[Any]] = {
    "cudnnCreate": [_P],
    "cudnnSetStream": [_P, _P],
    "cudnnBackendCreateDescriptor": [c_int, _P],
    "cudnnBackendDestroyDescriptor": [_P],
    "cudnnBackendSetAttribute": [_P, c_int, c_int, c_int64, _P],
    "cudnnBackendGetAttribute": [_P, c_int, c_int, c_int64, _P, _P],
    "cudnnBackendFinalize": [_P],
    "cudnnBackendExecute": [_P, _P, _P],
}
_ELEMENTS = {0: c_void_p, 1: c_int, 3: c_int64, 4: ctypes.c_float, 5: ctypes.c_double}
_ELEMENTS |= {6: c_void_p, 7: c_int, 8: c_int, 11: c_int, 15: c_void_p}
_TYPES = {0: "float32", 1: "float64", 2: "float16", 9: "bfloat16"}
# Of every kind of descriptor the attributes that it must have, and their types.
_CONVOLUTION, _ENGINE, _CONFIG, _HEURISTICS, _PLAN, _GRAPH, _PACK, _TENSOR = (
    1,
    2,
    3,
    4,
    5,
    15,
    16,
    17,
)
_WANTED = {
    _CONVOLUTION: {100: 1, 101: 7, 102: 3, 103: 3, 104: 3, 105: 3, 106: 3},
    _TENSOR: {900: 3, 901: 1, 902: 3, 903: 3, 906: 3},
    10: {702: 15, 703: 15, 704: 15, 705: 15, 700: None, 701: None},
    12: {708: 15, 709: 15, 710: 15, 711: 15, 706: None, 707: None},
    11: {714: 15, 715: 15, 716: 15, 717: 15, 712: None, 713: None},
    _GRAPH: {800: 0, 801: 15},
    _HEURISTICS: {200: 8, 201: 15},
    _PLAN: {400: 0, 401: 15},
    _PACK: {1000: 3, 1001: 6, 1003: 6},
}
# What engines are like, the "best" first: their notes, and whether they run on this card.
ENGINES: list[tuple[tuple[int, ...], bool]] = [((4,), True), ((0, 1), True), ((0,), True)]
ALWAYS: list[tuple[tuple[int, ...], bool]] = [((2,), True), ((), False), ((9,), True)]
WORKSPACE = 1 << 12
_HANDLE = 0xD44
OK, BAD, NOT_SUPPORTED = 0, 2000, 3000
_IMAGES, _FILTERS, _SCORES = "images", "filters", "scores"
_ROLES = {10: {704: _IMAGES, 703: _FILTERS, 705: _SCORES}}
_ROLES[12] = {710: _IMAGES, 709: _FILTERS, 711: _SCORES}
_ROLES[11] = {716: _IMAGES, 715: _FILTERS, 717: _SCORES}
_HOW = {10: 702, 12: 708, 11: 714}
_RESULT = {10: _SCORES, 12: _IMAGES, 11: _FILTERS}


class FakeCudnn:
    """The library; `convolutions` are the notes of the engines that computed."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver
        self.things: dict[int, dict[Any, Any]] = {}
        self.convolutions: list[tuple[int, ...]] = []
        self.engines = (ENGINES, ALWAYS)
        self.stream = 0
        self.made = 0
        for name, kinds in PROTOTYPES.items():
            function = getattr(self, f"_{name.removeprefix('cudnn').removeprefix('Backend')}")
            setattr(self, name, ctypes.CFUNCTYPE(c_int, *kinds)(self._checked(function)))

    def _checked(self, function: Any) -> Any:
        def call(*arguments: Any) -> int:
            try:
                return int(function(*arguments))
            except Exception as error:  # a callback's error would be lost in C
                self.error = error
                return BAD

        return call

    def _Create(self, place: int) -> int:
        assert self.driver._context() is not None
        c_void_p.from_address(place).value = _HANDLE
        return OK

    def _SetStream(self, handle: int, stream: int) -> int:
        assert handle == _HANDLE
        self.stream = stream
        return OK

    def _CreateDescriptor(self, kind: int, place: int) -> int:
        self.made += 1
        number = 0x2000 + 16 * self.made
        self.things[number] = {"kind": kind, "done": False}
        c_void_p.from_address(place).value = number
        return OK

    def _DestroyDescriptor(self, one: int) -> int:
        del self.things[one]
        return OK

    def _SetAttribute(self, one: int, which: int, kind: int, count: int, place: int) -> int:
        thing = self.things[one]
        wanted = _WANTED[thing["kind"]]
        assert not thing["done"] and which in wanted
        assert wanted[which] in (kind, None), f"attribute {which} is of another type"
        values = list((_ELEMENTS[kind] * count).from_address(place))
        if kind == 15:
            assert all(self.things[value]["done"] for value in values)
        if kind == 0:
            assert values == [_HANDLE]
        thing[which] = values
        return OK

    def _Finalize(self, one: int) -> int:
        thing = self.things[one]
        kind = thing["kind"]
        assert not thing["done"]
        missing = _WANTED[kind].keys() - thing.keys()
        assert not missing, f"a descriptor of kind {kind} has no {missing}"
        if kind == _PLAN and not self._engine(thing[401][0])[1]:
            return NOT_SUPPORTED
        if kind in _ROLES:
            self._look(thing)
        thing["done"] = True
        return OK

    def _engine(self, config: int) -> tuple[tuple[int, ...], bool]:
        found = self.things[config]["engine"]
        assert isinstance(found, tuple)
        return found  # type: ignore[return-value]

    def _look(self, operation: dict[Any, Any]) -> None:
        """Looks whether the sizes of an operation fit each other."""
        kind = operation["kind"]
        parts = {role: self.things[operation[w][0]] for w, role in _ROLES[kind].items()}
        how = self.things[operation[_HOW[kind]][0]]
        (n, c, *size), (f, d, *taps), (many, g, *out) = (
            parts[role][902] for role in (_IMAGES, _FILTERS, _SCORES)
        )
        assert (n, c, f) == (many, d, g) and how[106] == [2] and how[101] == [1]
        for number in range(2):
            room = size[number] + how[105][number] + how[104][number]
            reach = (taps[number] - 1) * how[102][number] + 1
            assert (room - reach) // how[103][number] + 1 == out[number]
        assert how[105] == how[104], "few engines pad unevenly"
        dtype = {part[901][0] for part in parts.values()}
        assert len(dtype) == 1 and how[100] == [1 if dtype == {1} else 0]
        assert sorted(part[906][0] for part in parts.values()) == [1, 2, 3]
        alpha, beta = sorted(operation.keys() & {700, 701, 706, 707, 712, 713})
        assert (operation[alpha], operation[beta]) == ([1.0], [0.0])

    def _GetAttribute(
        self, one: int, which: int, kind: int, most: int, count: int, place: int | None
    ) -> int:
        thing = self.things[one]
        number = c_int64.from_address(count)
        if (thing["kind"], which, kind) == (_HEURISTICS, 202, 15):
            assert thing["done"] and thing[200][0] in (2, 3)
            found = self.engines[0 if thing[200] == [3] else 1]
            number.value = len(found)
            if place is not None:
                for config, engine in zip((c_void_p * most).from_address(place), found):
                    self.things[config].update(engine=engine, done=True, graph=thing[201][0])
            return OK
        if (thing["kind"], which, kind) == (_CONFIG, 300, 15):
            assert place is not None and most == 1
            (engine,) = (c_void_p * 1).from_address(place)
            self.things[engine].update(notes=self._engine(one)[0], done=True)
            number.value = 1
            return OK
        if (thing["kind"], which, kind) == (_ENGINE, 1303, 11):
            assert place is not None
            number.value = len(thing["notes"])
            (c_int * most).from_address(place)[: number.value] = thing["notes"]
            return OK
        assert (thing["kind"], which, kind, most) == (_PLAN, 402, 3, 1) and thing["done"]
        assert place is not None
        c_int64.from_address(place).value, number.value = WORKSPACE, 1
        return OK

    def _array(self, context: Any, tensor: dict[Any, Any], address: int) -> np.ndarray:
        dtype = reference.numpy_dtype(_TYPES[tensor[901][0]])
        last = sum((n - 1) * s for n, s in zip(tensor[902], tensor[903])) + 1
        count = last * dtype.itemsize
        assert self.driver._within(context, address, count), "outside of what is allocated"
        assert address % tensor[900][0] == 0, "not aligned as promised"
        flat = np.frombuffer((ctypes.c_uint8 * count).from_address(address), dtype)
        strides = [dtype.itemsize * step for step in tensor[903]]
        return np.lib.stride_tricks.as_strided(flat, tensor[902], strides)

    def _Execute(self, handle: int, plan: int, pack: int) -> int:
        assert handle == _HANDLE
        stream = self.driver.streams[self.stream]
        thing, packed = self.things[plan], self.things[pack]
        assert thing["done"] and packed["done"]
        assert self.driver._within(stream.context, packed[1003][0], WORKSPACE)
        graph = self.things[self.things[thing[401][0]]["graph"]]
        operation = self.things[graph[801][0]]
        kind = operation["kind"]
        places = dict(zip(packed[1000], packed[1001]))
        tensors = {role: self.things[operation[which][0]] for which, role in _ROLES[kind].items()}
        how, engine = self.things[operation[_HOW[kind]][0]], self._engine(thing[401][0])[0]

        def work() -> None:
            """What the card does when its turn comes."""
            arrays = {
                role: self._array(stream.context, tensor, places[tensor[906][0]])
                for role, tensor in tensors.items()
            }
            result = arrays[_RESULT[kind]]
            result[...] = self._convolved(kind, arrays, how)
            self.convolutions.append(engine)

        stream.begin(work)
        return OK

    @staticmethod
    def _convolved(kind: int, arrays: dict[str, np.ndarray], how: dict[Any, Any]) -> np.ndarray:
        """A product for each tap, in float64."""
        wide = {role: np.zeros(array.shape) for role, array in arrays.items()}
        for role in arrays.keys() - {_RESULT[kind]}:
            wide[role][...] = arrays[role]
        images, filters, scores = (wide[role] for role in (_IMAGES, _FILTERS, _SCORES))
        ends = list(zip(how[105], how[104]))
        padded = np.pad(images, [(0, 0), (0, 0), *ends])
        for i, j in np.ndindex(*filters.shape[2:]):
            taps = [slice(None), slice(None)]
            for at, apart, step, out in zip((i, j), how[102], how[103], scores.shape[2:]):
                taps.append(slice(at * apart, at * apart + (out - 1) * step + 1, step))
            part, weights = padded[tuple(taps)], filters[:, :, i, j]
            if kind == 10:
                scores += np.einsum("nchw,fc->nfhw", part, weights)
            elif kind == 12:
                part += np.einsum("nfhw,fc->nchw", scores, weights)
            else:
                weights += np.einsum("nfhw,nchw->fc", scores, part)
        (top, bottom), (left, right) = ends
        high, broad = padded.shape[2:]
        inside = padded[:, :, top : high - bottom, left : broad - right]
        found = {10: scores, 12: inside, 11: filters}[kind]
        return found.astype(arrays[_RESULT[kind]].dtype)
