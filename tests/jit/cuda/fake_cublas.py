# SPDX-License-Identifier: Apache-2.0
"""The functions of cuBLASLt that `jit/cuda/cublas.py` calls, over the memory of a fake driver.

They are C functions, as those of the library, so what goes through ctypes is what a library would
get.  A product is computed by NumPy from what the descriptors say and nothing else: column by
column, within memory that was allocated, at addresses as aligned as was promised.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

import numpy as np

from numbaflow.jit.kernel import reference

from .fake_driver import FakeDriver

_P = c_void_p
# As the header has them.
PROTOTYPES: dict[str, list[Any]] = {
    "cublasLtCreate": [_P],
    "cublasLtMatmulDescCreate": [_P, c_int, c_int],
    "cublasLtMatmulDescSetAttribute": [_P, c_int, _P, c_size_t],
    "cublasLtMatmulDescDestroy": [_P],
    "cublasLtMatrixLayoutCreate": [_P, c_int, c_uint64, c_uint64, c_int64],
    "cublasLtMatrixLayoutSetAttribute": [_P, c_int, _P, c_size_t],
    "cublasLtMatrixLayoutDestroy": [_P],
    "cublasLtMatmulPreferenceCreate": [_P],
    "cublasLtMatmulPreferenceSetAttribute": [_P, c_int, _P, c_size_t],
    "cublasLtMatmulPreferenceDestroy": [_P],
    "cublasLtMatmulAlgoGetHeuristic": [_P, _P, _P, _P, _P, _P, _P, c_int, _P, _P],
    "cublasLtMatmul": [_P, _P, _P, _P, _P, _P, _P, _P, _P, _P, _P, _P, _P, _P, c_size_t, _P],
}
_TYPES = {0: "float32", 1: "float64", 2: "float16", 14: "bfloat16"}
_COMPUTED = {68: "float32", 77: "float32", 70: "float64"}
_PRODUCT = {3: c_int32, 4: c_int32, 7: c_uint32, 8: c_uint64}
_LAYOUT = {5: c_int32, 6: c_int64}
_PREFERENCE = {1: c_uint64, 3: c_uint32, **dict.fromkeys((5, 6, 7, 8), c_uint32)}
_HANDLE, _MAGIC = 0x4C54, 0xA160
OK, INVALID, NOT_SUPPORTED = 0, 7, 15


class FakeCublasLt:
    """The library; `products` are the descriptions of what was computed."""

    def __init__(self, driver: FakeDriver) -> None:
        self.driver = driver
        self.things: dict[int, dict[Any, Any]] = {}
        self.products: list[dict[str, Any]] = []
        self.heuristics = 0
        self.has_nothing = False
        for name, kinds in PROTOTYPES.items():
            prototype = ctypes.CFUNCTYPE(c_int, *kinds)
            setattr(self, name, prototype(self._checked(name)))

    def _checked(self, name: str) -> Any:
        function = getattr(self, f"_{name.removeprefix('cublasLt')}")

        def call(*arguments: Any) -> int:
            try:
                return int(function(*arguments))
            except Exception as error:  # a callback's error would be lost in C
                self.error = error
                return INVALID

        return call

    def _new(self, place: int, **facts: Any) -> int:
        number = 0x1000 + 16 * (len(self.things) + 1)
        while number in self.things:
            number += 16
        self.things[number] = facts
        c_void_p.from_address(place).value = number
        return OK

    def _set(self, kinds: dict[int, Any], one: int, which: int, place: int, count: int) -> int:
        kind = kinds[which]
        assert count == ctypes.sizeof(kind), f"attribute {which} has {ctypes.sizeof(kind)} bytes"
        self.things[one][which] = kind.from_address(place).value
        return OK

    def _destroy(self, one: int) -> int:
        del self.things[one]
        return OK

    def _Create(self, place: int) -> int:
        assert self.driver._context() is not None
        c_void_p.from_address(place).value = _HANDLE
        return OK

    def _MatmulDescCreate(self, place: int, compute: int, scale: int) -> int:
        assert _TYPES[scale] == _COMPUTED[compute]
        return self._new(place, compute=compute)

    def _MatmulDescSetAttribute(self, *arguments: Any) -> int:
        return self._set(_PRODUCT, *arguments)

    def _MatmulDescDestroy(self, one: int) -> int:
        return self._destroy(one)

    def _MatrixLayoutCreate(self, place: int, kind: int, rows: int, columns: int, ld: int) -> int:
        assert rows > 0 and columns > 0 and ld >= rows
        return self._new(place, dtype=_TYPES[kind], shape=(rows, columns), line=ld)

    def _MatrixLayoutSetAttribute(self, *arguments: Any) -> int:
        return self._set(_LAYOUT, *arguments)

    def _MatrixLayoutDestroy(self, one: int) -> int:
        return self._destroy(one)

    def _MatmulPreferenceCreate(self, place: int) -> int:
        return self._new(place)

    def _MatmulPreferenceSetAttribute(self, *arguments: Any) -> int:
        return self._set(_PREFERENCE, *arguments)

    def _MatmulPreferenceDestroy(self, one: int) -> int:
        return self._destroy(one)

    def _MatmulAlgoGetHeuristic(self, handle: int, product: int, *rest: int) -> int:
        *layouts, preference, wanted, results, found = rest
        assert handle == _HANDLE and wanted == 1
        wish = self.things[preference]
        left, right, base, result = (self.things[one] for one in layouts)
        assert base is result
        facts = self.things[product]
        shapes = [self._turned(facts, 3, left), self._turned(facts, 4, right), result["shape"]]
        (m, k), (inner, n), whole = shapes
        assert inner == k and whole == (m, n), shapes
        assert len({each["dtype"] for each in (left, right, result)}) == 1
        assert len({each[5] for each in (left, right, result)}) == 1
        # Sums in the result's type, or in place, would round on the way.
        assert wish[3] == 2 and wish[1] >= 1 << 20
        if facts.get(7, 1) & 4:
            assert facts[8] % min(wish[5], 256) == 0 and facts[8]
        self.heuristics += 1
        c_int.from_address(found).value = 0 if self.has_nothing else 1
        if self.has_nothing:
            return NOT_SUPPORTED
        algorithm = (c_uint64 * 8).from_address(results)
        algorithm[0], algorithm[1], algorithm[2] = _MAGIC, wish[5], m << 32 | n
        ctypes.memset(results + 64, 0, 32)
        c_uint64.from_address(results + 64).value = 1 << 16
        return OK

    @staticmethod
    def _turned(facts: dict[Any, Any], which: int, layout: dict[Any, Any]) -> tuple[int, int]:
        rows, columns = layout["shape"]
        return (columns, rows) if facts.get(which, 0) else (rows, columns)

    def _matrices(self, context: Any, address: int, layout: dict[Any, Any]) -> np.ndarray:
        dtype = reference.numpy_dtype(layout["dtype"])
        (rows, columns), line, count, apart = layout["shape"], layout["line"], layout[5], layout[6]
        last = (count - 1) * apart + (columns - 1) * line + rows
        count_of_bytes = last * dtype.itemsize
        assert self.driver._within(context, address, count_of_bytes), "outside of what is allocated"
        held = (ctypes.c_uint8 * (last * dtype.itemsize)).from_address(address)
        flat = np.frombuffer(held, dtype)
        strides = tuple(dtype.itemsize * step for step in (apart, 1, line))
        return np.lib.stride_tricks.as_strided(flat, (count, rows, columns), strides)

    def _Matmul(self, handle: int, product: int, *rest: int) -> int:
        alpha, a, at, b, bt, beta, c, ct, d, dt, algorithm, work, bytes_of_work, number = rest
        assert (handle, c, ct) == (_HANDLE, d, dt)
        stream, facts = self.driver.streams[number], dict(self.things[product])
        layouts = [dict(self.things[one]) for one in (at, bt, dt)]
        compute = np.dtype(_COMPUTED[facts["compute"]])
        scalar = ctypes.c_double if compute.itemsize == 8 else ctypes.c_float
        assert scalar.from_address(alpha).value == 1 and scalar.from_address(beta).value == 0
        magic, aligned, sizes = (c_uint64 * 8).from_address(algorithm)[:3]
        m, n = layouts[2]["shape"]
        assert magic == _MAGIC and sizes == m << 32 | n
        assert not any(place % aligned for place in (a, b, d)), "not aligned as promised"
        assert self.driver._within(stream.context, work, bytes_of_work)
        assert bytes_of_work >= 1 << 16 and facts.get(7, 1) in (1, 2, 4, 6)
        stream.begin(lambda: self._multiply(stream.context, (a, b, d), layouts, facts, compute))
        return OK

    def _multiply(
        self, context: Any, places: Any, layouts: Any, facts: dict[Any, Any], compute: Any
    ) -> None:
        """What the card does when its turn comes."""
        x, y, z = (self._matrices(context, *pair) for pair in zip(places, layouts))
        x, y = (each.astype(compute) for each in (x, y))
        x = x.transpose(0, 2, 1) if facts.get(3, 0) else x
        y = y.transpose(0, 2, 1) if facts.get(4, 0) else y
        total, epilogue = x @ y, facts.get(7, 1)
        m, n = layouts[2]["shape"]
        if epilogue & 4:
            column = {**layouts[2], "shape": (m, 1), "line": m, 5: 1}
            total = total + self._matrices(context, facts[8], column)[0].astype(compute)
        if epilogue & 2:
            total = np.maximum(total, 0)
        z[...] = total.astype(z.dtype)
        self.products.append({"sizes": (m, n, x.shape[2]), "dtype": layouts[0]["dtype"], **facts})
