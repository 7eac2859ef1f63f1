# SPDX-License-Identifier: Apache-2.0
"""Products of matrices by NVIDIA's cuBLASLt, in full precision, the same bits in every run.

cuBLASLt takes matrices column by column.  Read so, a matrix that lies row by row is its transpose,
and z = x @ y is z' = y' @ x': y is the first factor and x the second one, rows of x and columns of
y are where they were, and nothing is copied.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine import errors, settings
from ..library.computed import MatrixProduct
from .device import Library, Memory
from .vendor import asked

if TYPE_CHECKING:
    from .card import Card

NAME = "cublasLt"
FUNCTIONS = {
    "cublasLtCreate": [c_void_p],
    "cublasLtMatmulDescCreate": [c_void_p, c_int, c_int],
    "cublasLtMatmulDescSetAttribute": [c_void_p, c_int, c_void_p, c_size_t],
    "cublasLtMatmulDescDestroy": [c_void_p],
    "cublasLtMatrixLayoutCreate": [c_void_p, c_int, c_uint64, c_uint64, c_int64],
    "cublasLtMatrixLayoutSetAttribute": [c_void_p, c_int, c_void_p, c_size_t],
    "cublasLtMatrixLayoutDestroy": [c_void_p],
    "cublasLtMatmulPreferenceCreate": [c_void_p],
    "cublasLtMatmulPreferenceSetAttribute": [c_void_p, c_int, c_void_p, c_size_t],
    "cublasLtMatmulPreferenceDestroy": [c_void_p],
    # handle, product, layouts of A, B, C and D, preference, wanted, results, found
    "cublasLtMatmulAlgoGetHeuristic": [*[c_void_p] * 7, c_int, c_void_p, c_void_p],
    # handle, product, alpha, A, layout, B, layout, beta, C, layout, D, layout, algorithm,
    # workspace, its bytes, stream
    "cublasLtMatmul": [*[c_void_p] * 14, c_size_t, c_void_p],
}

# cudaDataType_t, cublasComputeType_t
_TYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 14}
_FLOAT32, _FLOAT64, _FAST_TF32 = 68, 70, 77
# cublasLtMatmulDescAttributes_t, cublasLtEpilogue_t
_TRANSPOSE_A, _TRANSPOSE_B, _EPILOGUE, _BIAS = 3, 4, 7, 8
_PLAIN, _WITH_RELU, _WITH_BIAS = 1, 2, 4
# cublasLtMatrixLayoutAttribute_t
_BATCH_COUNT, _BATCH_STRIDE = 5, 6
# cublasLtMatmulPreferenceAttributes_t
_MOST_WORKSPACE, _REDUCTIONS, _ALIGNMENTS = 1, 3, (5, 6, 7, 8)
# cublasLtReductionScheme_t: what is cut along the inner axis is added up in memory of its own, in
# the type that is computed with, in one order.
_IN_WORKSPACE = 2

_WORKSPACE = 32 << 20  # bytes, which is what NVIDIA recommends for its newer cards
_ALIGNED = 256  # bytes; nothing gains from more
_SUCCESS, _NOT_SUPPORTED = 0, 15  # cublasStatus_t


class _Found(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = [
        ("algorithm", c_uint64 * 8),
        ("workspace", c_size_t),
        ("state", c_int),
        ("waves", ctypes.c_float),
        ("reserved", c_int * 4),
    ]


class _Matrix(NamedTuple):
    """A stack of matrices as cuBLASLt sees it: column by column, `line` elements apart."""

    rows: int
    columns: int
    line: int
    apart: int
    turned: bool = False

    @classmethod
    def of(cls, rows: int, columns: int, apart: int, by_row: int, by_column: int) -> _Matrix:
        """The transpose of matrices [rows, columns], whose neighbours are so far apart."""
        if by_column == 1:
            # A single row may be any length apart from the next, but not less than its own.
            return cls(columns, rows, max(by_row, columns), apart)
        return cls(rows, columns, max(by_column, rows), apart, turned=True)


class Math(Library):
    """cuBLASLt on one card."""

    kind, name = MatrixProduct.kind, NAME

    def __init__(self, card: Card, names: Any) -> None:
        super().__init__()
        self._card, self._names = card, names
        self._handle: c_void_p | None = None
        self._workspace: Memory | None = None
        self._found: dict[tuple[object, ...], _Found] = {}

    def takes(self, computes: MatrixProduct) -> bool:
        """See Library."""
        return computes.dtype in _TYPES

    def prepared(self, computes: MatrixProduct, words: Any) -> Callable[[], None] | None:
        """See Library."""
        self._open()
        sizes = tuple(words[computes.buffers : computes.buffers + 10])
        is_fast = bool(settings.get("tf32")) and computes.dtype == "float32"
        known: dict[int, _Call | None] = {}

        def call_at(x: int, y: int, z: int, bias: int) -> _Call | None:
            every = x | y | z | bias | _ALIGNED
            aligned = every & -every
            if aligned not in known:
                known[aligned] = self._call(computes, sizes, aligned, is_fast)
            return known[aligned]

        card, bias = self._card, computes.bias

        def launch() -> None:
            x, y, z, added = words[0], words[1], words[2 + bias], words[2] if bias else 0
            call = call_at(x, y, z, added)
            if call is None:
                raise errors.internal(f"{NAME} has no product of {sizes} for where they lie")
            call.run(y, x, z, added, card.stream_handle())

        # (Addresses that are not known yet are 0.)
        first = call_at(words[0], words[1], words[2 + bias], words[2] if bias else 0)
        if first is None:
            self.declined.add((computes, sizes))
            return None
        return launch

    def _open(self) -> None:
        if self._handle is None:
            self._card.stream_handle()
            handle = c_void_p()
            asked("cublasLtCreate", self._names.cublasLtCreate)(ctypes.byref(handle))
            self._workspace = Memory(self._card, _WORKSPACE)
            self._handle = handle

    def _call(
        self, computes: MatrixProduct, sizes: tuple[int, ...], aligned: int, is_fast: bool
    ) -> _Call | None:
        """What computes a product of these sizes; None if the library has nothing.

        Which algorithm is the best is asked once, so that all that are alike give the same bits.
        """
        assert self._handle is not None and self._workspace is not None
        key = (computes, sizes, aligned, is_fast)
        made = _Call(self._names, self._handle, self._workspace, computes, sizes, aligned, is_fast)
        if key not in self._found:
            self._found[key] = made.best()
        made.algorithm = self._found[key]
        return made if made.algorithm.state == _SUCCESS else None


class _Call:
    """One product, its descriptors and its algorithm."""

    def __init__(
        self,
        names: Any,
        handle: c_void_p,
        workspace: Memory,
        computes: MatrixProduct,
        sizes: Sequence[int],
        aligned: int,
        is_fast: bool,
    ) -> None:
        self._names, self._handle = names, handle
        self._workspace, self._aligned = workspace, aligned
        m, n, k, lead, x_next, x_row, x_column, y_next, y_row, y_column = sizes
        number = _TYPES[computes.dtype]
        is_double = computes.dtype == "float64"
        how = _FLOAT64 if is_double else _FAST_TF32 if is_fast else _FLOAT32
        scalar = ctypes.c_double if is_double else ctypes.c_float
        self._one, self._zero = scalar(1), scalar(0)
        left = _Matrix.of(k, n, y_next, y_row, y_column)
        right = _Matrix.of(m, k, x_next, x_row, x_column)
        result = _Matrix(n, m, n, m * n)
        self._layouts: list[c_void_p] = []
        self._product = self._made("MatmulDesc", how, _TYPES["float64" if is_double else "float32"])
        self._set("MatmulDesc", self._product, _TRANSPOSE_A, c_int32(left.turned))
        self._set("MatmulDesc", self._product, _TRANSPOSE_B, c_int32(right.turned))
        epilogue = _WITH_RELU * computes.relu + _WITH_BIAS * computes.bias or _PLAIN
        self._set("MatmulDesc", self._product, _EPILOGUE, c_uint32(epilogue))
        for each in (left, right, result):
            self._layouts.append(self._layout(number, each, lead))
        self._bias = 0
        if computes.bias:
            # By its alignment the library says what is best.
            self._point_at(workspace.address + aligned % _ALIGNED)
        self.algorithm = _Found()

    def _made(self, what: str, *numbers: int) -> c_void_p:
        made, name = c_void_p(), f"cublasLt{what}Create"
        asked(name, getattr(self._names, name))(ctypes.byref(made), *numbers)
        return made

    def _set(self, what: str, one: c_void_p, attribute: int, value: Any) -> None:
        name = f"cublasLt{what}SetAttribute"
        place, count = ctypes.addressof(value), ctypes.sizeof(value)
        asked(name, getattr(self._names, name))(one, attribute, place, count)

    def _layout(self, number: int, matrix: _Matrix, lead: int) -> c_void_p:
        sizes = matrix.rows, matrix.columns, matrix.line
        made = self._made("MatrixLayout", number, *sizes)
        self._set("MatrixLayout", made, _BATCH_COUNT, c_int32(lead))
        self._set("MatrixLayout", made, _BATCH_STRIDE, c_int64(matrix.apart))
        return made

    def __del__(self) -> None:
        for layout in self._layouts:
            self._names.cublasLtMatrixLayoutDestroy(layout)
        self._names.cublasLtMatmulDescDestroy(self._product)

    def best(self) -> _Found:
        """The algorithm that the library thinks the best; its state says whether there is one."""
        wanted = self._made("MatmulPreference")
        self._set("MatmulPreference", wanted, _MOST_WORKSPACE, c_uint64(self._workspace.count))
        self._set("MatmulPreference", wanted, _REDUCTIONS, c_uint32(_IN_WORKSPACE))
        for attribute in _ALIGNMENTS:
            self._set("MatmulPreference", wanted, attribute, c_uint32(self._aligned))
        found, count = _Found(), c_int()
        left, right, result = self._layouts
        status = self._names.cublasLtMatmulAlgoGetHeuristic(
            *(self._handle, self._product, left, right, result, result, wanted, 1),
            *(ctypes.byref(found), ctypes.byref(count)),
        )
        self._names.cublasLtMatmulPreferenceDestroy(wanted)
        if status or not count.value:
            found.state = status or _NOT_SUPPORTED
        return found

    def _point_at(self, bias: int) -> None:
        self._set("MatmulDesc", self._product, _BIAS, c_uint64(bias))
        self._bias = bias

    def run(self, left: int, right: int, result: int, bias: int, stream: int) -> None:
        """Begins the product of what lies at these addresses."""
        if bias != self._bias:
            self._point_at(bias)
        a, b, d = self._layouts
        status = self._names.cublasLtMatmul(
            *(self._handle, self._product, ctypes.addressof(self._one), left, a, right, b),
            *(ctypes.addressof(self._zero), result, d, result, d),
            *(ctypes.addressof(self.algorithm), self._workspace.address),
            *(self._workspace.count, stream),
        )
        if status:
            asked("cublasLtMatmul", lambda: status)()
