# SPDX-License-Identifier: Apache-2.0
"""Large inputs of ops whose sizes mean something: op type -> what makes (inputs, attributes).

A third item names the inputs that are variables.  Types among attributes are {"type": name}.
Where the cost is cubic, or where TensorFlow is slow too, there are fewer elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Random = np.random.Generator
Made = tuple[Any, ...]
TABLE: dict[str, Callable[[Random], Made]] = {}
_VALID2 = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
_SAME3 = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
_CONV2 = {"strides": [1, 1, 1, 1], "padding": "SAME"}
_CONV3 = {"strides": [1, 1, 1, 1, 1], "padding": "SAME"}


def words(r: Random, shape: Sequence[int], size: int = 8) -> np.ndarray:
    """Random words of small letters, at most 100000 of them."""
    count = min(int(np.prod(shape, dtype=np.int64)), 100000)
    letters = r.integers(97, 123, (count, size)).astype(np.uint8)
    found = np.empty(count, object)
    found[:] = [row.tobytes() for row in letters]
    return found


def _f(r: Random, *shape: int, low: float = -3, high: float = 3) -> np.ndarray:
    return r.uniform(low, high, shape).astype(np.float32)


def _d(r: Random, *shape: int) -> np.ndarray:
    return r.uniform(-1, 1, shape)


def _i(r: Random, high: int, *shape: int) -> np.ndarray:
    return r.integers(0, high, shape).astype(np.int32)


def _n(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def _s(number: float, kind: Any = np.int32) -> np.ndarray:
    return np.array(number, kind)


def _c(r: Random, *shape: int) -> np.ndarray:
    return (r.uniform(-1, 1, shape) + 1j * r.uniform(-1, 1, shape)).astype(np.complex64)


def _square(r: Random, batch: int, n: int) -> np.ndarray:
    """Matrices that are far from singular."""
    return (r.uniform(-1, 1, (batch, n, n)) + n * np.eye(n)).astype(np.float32)


def _positive(r: Random, batch: int, n: int) -> np.ndarray:
    a = r.uniform(-1, 1, (batch, n, n))
    return (a @ a.transpose(0, 2, 1) + n * np.eye(n)).astype(np.float32)


def _sorted(r: Random, high: int, count: int) -> np.ndarray:
    found: np.ndarray = np.sort(r.integers(0, high, count)).astype(np.int32)
    found[0] = 0
    return found


def sparse(r: Random, count: int, rows: int, columns: int) -> list[np.ndarray]:
    """Indices in order without repetition, values, and shape of a sparse matrix."""
    flat = np.sort(r.choice(rows * columns, count, replace=False))
    indices = np.stack([flat // columns, flat % columns], 1).astype(np.int64)
    return [indices, _f(r, count), np.array([rows, columns], np.int64)]


def _boxes(r: Random, count: int) -> np.ndarray:
    corner = r.uniform(0, 0.8, (count, 2))
    return np.concatenate([corner, corner + r.uniform(0.05, 0.2, (count, 2))], 1).astype(np.float32)


def _op(*names: str) -> Callable[..., Any]:
    def keep(make: Callable[[Random], Made]) -> None:
        TABLE.update(dict.fromkeys(names, make))

    return keep


# Arrays

_op("Const")(lambda r: ([], {"value": _f(r, 1000, 1000), "dtype": {"type": "float32"}}))
_op("Fill")(lambda r: ([_n(1000, 1000), _s(2.0, np.float32)], {}))
_op("Shape", "Size", "Rank")(lambda r: ([_f(r, 1000, 1000)], {}))
_op("ShapeN", "IdentityN")(lambda r: ([[_f(r, 1000, 1000), _f(r, 1000, 1000)]], {}))
_op("Reshape")(lambda r: ([_f(r, 1000, 1000), _n(500, 2000)], {}))
_op("ExpandDims")(lambda r: ([_f(r, 1000, 1000), _s(1)], {}))
_op("Squeeze")(lambda r: ([_f(r, 1000, 1, 1000)], {}))
_op("EnsureShape")(lambda r: ([_f(r, 1000, 1000)], {"shape": {"shape": [None, 1000]}}))
_op("Bitcast")(lambda r: ([_f(r, 1000, 1000)], {"type": {"type": "int32"}}))
_op("Concat")(lambda r: ([_s(1), [_f(r, 1000, 500), _f(r, 1000, 500)]], {}))
_op("ConcatV2")(lambda r: ([[_f(r, 1000, 500), _f(r, 1000, 500)], _s(1)], {}))
_op("Split")(lambda r: ([_s(1), _f(r, 1000, 1000)], {"num_split": 4}))
_op("SplitV")(lambda r: ([_f(r, 1000, 1000), _n(200, 300, 500), _s(1)], {"num_split": 3}))
_op("Pack")(lambda r: ([[_f(r, 1000, 500), _f(r, 1000, 500)]], {"axis": 1}))
_op("Unpack")(lambda r: ([_f(r, 1000, 4, 250)], {"num": 4, "axis": 1}))
_op("ParallelConcat")(
    lambda r: ([[_f(r, 1, 500000), _f(r, 1, 500000)]], {"shape": {"shape": [2, 500000]}})
)
_op("StridedSlice")(lambda r: ([_f(r, 1000, 2000), _n(0, 3), _n(1000, 1999), _n(1, 2)], {}))
_op("StridedSliceGrad")(
    lambda r: ([_n(1000, 2000), _n(0, 3), _n(1000, 1999), _n(1, 2), _f(r, 1000, 998)], {})
)
_op("StridedSliceAssign", "ResourceStridedSliceAssign")(
    lambda r: ([_f(r, 1000, 2000), _n(0, 3), _n(1000, 1999), _n(1, 2), _f(r, 1000, 998)], {}, (0,))
)
_op("Slice")(lambda r: ([_f(r, 1000, 2000), _n(0, 500), _n(1000, 1000)], {}))
_op("SpaceToDepth")(lambda r: ([_f(r, 16, 64, 64, 16)], {"block_size": 2}))
_op("DepthToSpace")(lambda r: ([_f(r, 16, 32, 32, 64)], {"block_size": 2}))
_op("SpaceToBatchND")(lambda r: ([_f(r, 16, 64, 64, 16), _n(2, 2), np.zeros((2, 2), np.int32)], {}))
_op("BatchToSpaceND")(lambda r: ([_f(r, 64, 32, 32, 16), _n(2, 2), np.zeros((2, 2), np.int32)], {}))
_op("SpaceToBatch")(
    lambda r: ([_f(r, 16, 64, 64, 16), np.zeros((2, 2), np.int32)], {"block_size": 2})
)
_op("BatchToSpace")(
    lambda r: ([_f(r, 64, 32, 32, 16), np.zeros((2, 2), np.int32)], {"block_size": 2})
)
_op("BroadcastTo")(lambda r: ([_f(r, 1000, 1), _n(1000, 1000)], {}))
_op("Transpose")(lambda r: ([_f(r, 1000, 1000), _n(1, 0)], {}))
_op("ConjugateTranspose")(lambda r: ([_c(r, 1000, 1000), _n(1, 0)], {}))
_op("InvertPermutation")(lambda r: ([r.permutation(1000000).astype(np.int32)], {}))
_op("Reverse")(lambda r: ([_f(r, 1000, 1000), np.array([False, True])], {}))
_op("ReverseV2")(lambda r: ([_f(r, 1000, 1000), _n(1)], {}))
_op("ReverseSequence")(
    lambda r: ([_f(r, 100, 100, 100), r.integers(0, 101, 100)], {"seq_dim": 1, "batch_dim": 0})
)
_op("Roll")(lambda r: ([_f(r, 1000, 1000), _n(3, -7), _n(0, 1)], {}))
_op("Pad")(lambda r: ([_f(r, 1000, 1000), np.ones((2, 2), np.int32)], {}))
_op("PadV2")(lambda r: ([_f(r, 1000, 1000), np.ones((2, 2), np.int32), _s(1, np.float32)], {}))
_op("MirrorPad")(lambda r: ([_f(r, 1000, 1000), np.ones((2, 2), np.int32)], {"mode": "REFLECT"}))
_op("MirrorPadGrad")(
    lambda r: ([_f(r, 1002, 1002), np.ones((2, 2), np.int32)], {"mode": "REFLECT"})
)
_op("Tile")(lambda r: ([_f(r, 250, 1000), _n(4, 1)], {}))
_op("Gather")(lambda r: ([_f(r, 10000, 100), _i(r, 10000, 10000)], {}))
_op("GatherV2")(lambda r: ([_f(r, 10000, 100), _i(r, 10000, 10000), _s(0)], {}))
_op("GatherNd")(lambda r: ([_f(r, 100, 100, 100), _i(r, 100, 10000, 2)], {}))
_op("ResourceGather")(
    lambda r: ([_f(r, 10000, 100), _i(r, 10000, 10000)], {"dtype": {"type": "float32"}}, (0,))
)
_op("ResourceGatherNd")(
    lambda r: (
        [_f(r, 100, 100, 100), _i(r, 100, 10000, 2)],
        {"dtype": {"type": "float32"}},
        (0,),
    )
)
_op("Diag")(lambda r: ([_f(r, 1000)], {}))
_op("DiagPart", "MatrixDiagPart")(lambda r: ([_f(r, 1000, 1000)], {}))
_op("MatrixDiag")(lambda r: ([_f(r, 100, 100)], {}))
_op("MatrixSetDiag")(lambda r: ([_f(r, 10, 300, 300), _f(r, 10, 300)], {}))
_op("MatrixBandPart")(lambda r: ([_f(r, 1000, 1000), _s(3, np.int64), _s(-1, np.int64)], {}))
_op("MatrixDiagV2")(lambda r: ([_f(r, 100, 100), _n(1), _s(-1), _s(-1), _s(0, np.float32)], {}))
_op("MatrixDiagPartV2")(lambda r: ([_f(r, 10, 300, 300), _n(1), _s(0, np.float32)], {}))
_op("MatrixSetDiagV2")(lambda r: ([_f(r, 10, 300, 300), _f(r, 10, 299), _n(1)], {}))
_op("ExtractImagePatches")(
    lambda r: (
        [_f(r, 8, 64, 64, 8)],
        {"ksizes": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1], "padding": "SAME"},
    )
)
_op("ScatterNd")(lambda r: ([_i(r, 10000, 10000, 1), _f(r, 10000, 100), _n(10000, 100)], {}))
_op("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "ScatterNdNonAliasingAdd")(
    lambda r: (
        [_f(r, 10000, 100), r.permutation(10000)[:5000, None].astype(np.int32), _f(r, 5000, 100)],
        {},
    )
)
_op(
    "ScatterNdUpdate",
    "ScatterNdAdd",
    "ScatterNdSub",
    "ResourceScatterNdUpdate",
    "ResourceScatterNdAdd",
    "ResourceScatterNdSub",
)(
    lambda r: (
        [_f(r, 10000, 100), r.permutation(10000)[:5000, None].astype(np.int32), _f(r, 5000, 100)],
        {},
        (0,),
    )
)
_op("Where")(lambda r: ([r.integers(0, 2, (1000, 1000)).astype(bool)], {}))
_op("OneHot")(lambda r: ([_i(r, 100, 10000), _s(100), _s(1, np.float32), _s(0, np.float32)], {}))
_op("Unique", "UniqueWithCounts")(lambda r: ([_i(r, 10000, 1000000)], {}))
_op("UniqueV2", "UniqueWithCountsV2")(
    lambda r: ([_i(r, 10000, 1000000), np.array([0], np.int64)], {})
)
_op("ListDiff")(lambda r: ([_i(r, 100000, 1000000), _i(r, 100000, 50000)], {}))
_op("DynamicPartition")(lambda r: ([_f(r, 100000, 10), _i(r, 4, 100000)], {"num_partitions": 4}))
_op("DynamicStitch", "ParallelDynamicStitch")(
    lambda r: (
        [
            np.array_split(r.permutation(100000).astype(np.int32), 2),
            [_f(r, 50000, 10), _f(r, 50000, 10)],
        ],
        {},
    )
)
_op("LowerBound", "UpperBound")(
    lambda r: ([np.sort(_f(r, 10, 10000), axis=1), _f(r, 10, 100000)], {})
)
_op("UnravelIndex")(lambda r: ([_i(r, 1000000, 1000000), _n(1000, 1000)], {}))


def _sets(r: Random, count: int) -> np.ndarray:
    rows = [np.sort(r.choice(100, count, replace=False)) for _ in range(2000)]
    return np.stack(rows).astype(np.int32)


_op("DenseToDenseSetOperation")(lambda r: ([_sets(r, 50), _sets(r, 40)], {"set_operation": "a-b"}))


def _sparse_set(r: Random) -> list[np.ndarray]:
    indices, values, shape = sparse(r, 100000, 1000, 1000)
    return [indices, values.astype(np.int32), shape]


_op("SetSize")(lambda r: (_sparse_set(r), {}))

# Images

_op("NonMaxSuppression")(lambda r: ([_boxes(r, 2000), _f(r, 2000, low=0), _s(100)], {}))
_op("NonMaxSuppressionV2")(
    lambda r: ([_boxes(r, 2000), _f(r, 2000, low=0), _s(100), _s(0.5, np.float32)], {})
)
_op("NonMaxSuppressionV3")(
    lambda r: (
        [_boxes(r, 2000), _f(r, 2000, low=0), _s(100), _s(0.5, np.float32), _s(0, np.float32)],
        {},
    )
)
_op("CropAndResize")(
    lambda r: ([_f(r, 8, 64, 64, 32), _boxes(r, 100), _i(r, 8, 100), _n(14, 14)], {})
)
_op("CropAndResizeGradImage")(
    lambda r: (
        [_f(r, 100, 14, 14, 32), _boxes(r, 100), _i(r, 8, 100), _n(8, 64, 64, 32)],
        {"T": {"type": "float32"}},
    )
)
_op("CropAndResizeGradBoxes")(
    lambda r: ([_f(r, 100, 14, 14, 32), _f(r, 8, 64, 64, 32), _boxes(r, 100), _i(r, 8, 100)], {})
)
_op("ResizeBilinear", "ResizeNearestNeighbor")(lambda r: ([_f(r, 8, 64, 64, 8), _n(128, 128)], {}))
_op("ResizeBilinearGrad")(lambda r: ([_f(r, 8, 128, 128, 8), _f(r, 8, 64, 64, 8)], {}))
_op("ResizeNearestNeighborGrad")(lambda r: ([_f(r, 8, 128, 128, 8), _n(64, 64)], {}))

# Linear algebra

_op("MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant")(
    lambda r: ([_square(r, 100, 32)], {})
)
_op("Cholesky", "SelfAdjointEigV2")(lambda r: ([_positive(r, 100, 32)], {}))
_op("MatrixSolve")(lambda r: ([_square(r, 100, 32), _f(r, 100, 32, 8)], {}))
_op("MatrixTriangularSolve")(
    lambda r: ([np.tril(_square(r, 100, 32)), _f(r, 100, 32, 8)], {"lower": True})
)
_op("MatrixSolveLs")(
    lambda r: ([_f(r, 100, 40, 16), _f(r, 100, 40, 4), _s(0.1, np.float64)], {"fast": True})
)
_op("Qr", "Svd")(lambda r: ([_f(r, 100, 32, 16)], {}))
_op("Lu", "MatrixSquareRoot", "MatrixLogarithm", "MatrixExponential")(
    lambda r: ([(_square(r, 20, 16) / 16).astype(np.complex64)], {})
)
_op("MatMul")(lambda r: ([_f(r, 512, 512), _f(r, 512, 512)], {}))
_op("BatchMatMul", "BatchMatMulV2")(lambda r: ([_f(r, 64, 64, 64), _f(r, 64, 64, 64)], {}))
_op("SparseMatMul")(
    lambda r: ([_f(r, 256, 256) * (_f(r, 256, 256) > 2), _f(r, 256, 256)], {"a_is_sparse": True})
)

# Cells of recurrent networks: 512 rows of 256 numbers, 256 cells

_op("GRUBlockCell")(
    lambda r: (
        [
            *(_f(r, 512, 256), _f(r, 512, 256), _f(r, 512, 512), _f(r, 512, 256)),
            *(_f(r, 512), _f(r, 256)),
        ],
        {},
    )
)
_op("LSTMBlockCell")(
    lambda r: (
        [
            *(_f(r, 512, 256), _f(r, 512, 256), _f(r, 512, 256), _f(r, 512, 1024)),
            *(_f(r, 256), _f(r, 256), _f(r, 256), _f(r, 1024)),
        ],
        {},
    )
)

# Text

_op("StringToHashBucketFast", "StringToHashBucket")(
    lambda r: ([words(r, [100000])], {"num_buckets": 1000})
)
_op("StringToHashBucketStrong")(
    lambda r: ([words(r, [100000])], {"num_buckets": 1000, "key": [3, 5]})
)


def _sentences(r: Random, count: int) -> np.ndarray:
    every = words(r, [count * 10])
    found = np.empty(count, object)
    found[:] = [b" ".join(every[i * 10 : i * 10 + 10]) for i in range(count)]
    return found


_op("StringSplit", "StringSplitV2")(lambda r: ([_sentences(r, 10000), np.array(b" ", object)], {}))
_op("StringLower", "StringUpper", "StringStrip", "StringLength", "EncodeBase64")(
    lambda r: ([words(r, [100000])], {})
)
_op("DecodeBase64")(lambda r: ([words(r, [100000])], {}))
_op("Substr")(lambda r: ([words(r, [100000]), _s(1), _s(3)], {}))
_op("StringJoin")(lambda r: ([[words(r, [100000]), words(r, [100000])]], {"separator": "-"}))
_op("ReduceJoin")(lambda r: ([words(r, [100000]).reshape(-1, 10), _n(1)], {}))
_op("UnsortedSegmentJoin")(lambda r: ([words(r, [100000]), _i(r, 1000, 100000), _s(1000)], {}))
_op("RegexFullMatch")(lambda r: ([words(r, [100000]), np.array(b"a+b?.*", object)], {}))
_op("StaticRegexFullMatch")(lambda r: ([words(r, [100000])], {"pattern": "a+b?.*"}))
_op("RegexReplace")(
    lambda r: ([words(r, [100000]), np.array(b"a+", object), np.array(b"bc", object)], {})
)
_op("StaticRegexReplace")(lambda r: ([words(r, [100000])], {"pattern": "a+", "rewrite": "bc"}))


def _texts(numbers: np.ndarray) -> np.ndarray:
    found = np.empty(numbers.size, object)
    found[:] = [b"%.4f" % number for number in numbers.ravel().tolist()]
    return found


_op("StringToNumber")(lambda r: ([_texts(_f(r, 100000))], {}))
_op("AsString")(lambda r: ([_i(r, 100000, 100000)], {}))
_op("DecodeRaw")(lambda r: ([words(r, [100000])], {"out_type": {"type": "int16"}}))


def _lines(r: Random) -> np.ndarray:
    found = np.empty(10000, object)
    found[:] = [b"%d,%d,%.3f" % (i, i % 7, i / 9) for i in range(10000)]
    return found


_op("DecodeCSV")(lambda r: ([_lines(r), [_n(), _n(1), np.array([0], np.float32)]], {}))

# Arithmetic

_op("Cast")(lambda r: ([_f(r, 1000, 1000)], {"DstT": {"type": "float64"}}))
_op("ClipByValue")(lambda r: ([_f(r, 1000, 1000), _s(-1, np.float32), _s(1, np.float32)], {}))
_op("Select", "SelectV2")(
    lambda r: ([_f(r, 1000, 1000) > 0, _f(r, 1000, 1000), _f(r, 1000, 1000)], {})
)
_op("FFT", "IFFT")(lambda r: ([_c(r, 1000, 1024)], {}))
_op("FFT2D", "IFFT2D")(lambda r: ([_c(r, 16, 256, 256)], {}))
_op("FFT3D", "IFFT3D")(lambda r: ([_c(r, 8, 32, 64, 64)], {}))
_op("RFFT")(lambda r: ([_f(r, 1000, 1024), _n(1024)], {}))
_op("IRFFT")(lambda r: ([_c(r, 1000, 513), _n(1024)], {}))
_op("HistogramFixedWidth")(lambda r: ([_f(r, 1000000), np.array([-3, 3], np.float32), _s(100)], {}))
_op("Range")(lambda r: ([_s(0), _s(1000000), _s(1)], {}))
_op("LinSpace")(lambda r: ([_s(0, np.float32), _s(1, np.float32), _s(1000000)], {}))
_op("Bucketize")(
    lambda r: ([_f(r, 1000, 1000)], {"boundaries": [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]})
)
_op("Sum", "Mean", "Max", "Min", "Prod", "EuclideanNorm")(
    lambda r: ([_f(r, 1000, 1000, low=0.9, high=1.1), _n(1)], {})
)
_op("All", "Any")(lambda r: ([_f(r, 1000, 1000) > -9, _n(1)], {}))
_op("ArgMax", "ArgMin")(lambda r: ([_f(r, 1000, 1000), _s(1)], {}))
_op("Cumsum", "Cumprod", "CumulativeLogsumexp")(
    lambda r: ([_f(r, 1000, 1000, low=0.9, high=1.1), _s(1)], {})
)
_op("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin")(
    lambda r: ([_f(r, 10000, 100, low=0.9, high=1.1), _sorted(r, 2000, 10000)], {})
)
_op("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin")(
    lambda r: ([_f(r, 10000, 100, low=0.9, high=1.1), _i(r, 2000, 10000), _s(2000)], {})
)
_op("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN")(
    lambda r: ([_f(r, 10000, 100), _i(r, 10000, 10000), _sorted(r, 2000, 10000)], {})
)
_op(
    "SparseSegmentSumWithNumSegments",
    "SparseSegmentMeanWithNumSegments",
    "SparseSegmentSqrtNWithNumSegments",
)(lambda r: ([_f(r, 10000, 100), _i(r, 10000, 10000), _sorted(r, 2000, 10000), _s(2000)], {}))
_op("SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad")(
    lambda r: (
        [
            _f(r, 2000, 100),
            _i(r, 10000, 10000),
            np.minimum(_sorted(r, 2000, 10000), 1999),
            _s(10000),
        ],
        {},
    )
)
_op("AddN")(lambda r: ([[_f(r, 1000, 1000) for _ in range(3)]], {}))
_op("AccumulateNV2")(
    lambda r: ([[_f(r, 1000, 1000) for _ in range(3)]], {"shape": {"shape": [1000, 1000]}})
)
_op("Cross")(lambda r: ([_f(r, 300000, 3), _f(r, 300000, 3)], {}))
_op("Bincount")(lambda r: ([_i(r, 1000, 1000000), _s(1000), np.zeros(0, np.float32)], {}))
_op("Polygamma")(lambda r: ([_i(r, 4, 10000) + 1.0, r.uniform(0.5, 4, 10000)], {}))
_op("Zeta")(lambda r: ([r.uniform(1.5, 4, 10000), r.uniform(0.5, 4, 10000)], {}))
_op("Betainc")(
    lambda r: ([_f(r, 10000, low=a, high=b) for a, b in ((0.5, 4), (0.5, 4), (0.1, 0.9))], {})
)
_op("Igamma", "Igammac", "IgammaGradA")(
    lambda r: ([_f(r, 10000, low=0.5, high=4), _f(r, 10000, low=0.5, high=4)], {})
)

# Networks

_op("BiasAdd", "BiasAddV1")(lambda r: ([_f(r, 32, 32, 32, 32), _f(r, 32)], {}))
_op("BiasAddGrad")(lambda r: ([_f(r, 32, 32, 32, 32)], {}))
_SAMPLED = {"num_true": 1, "num_sampled": 1000, "unique": True, "range_max": 10000, "seed": 3}
_op(
    "UniformCandidateSampler",
    "LogUniformCandidateSampler",
    "LearnedUnigramCandidateSampler",
    "ThreadUnsafeUnigramCandidateSampler",
)(lambda r: ([r.integers(0, 10000, (1000, 1))], _SAMPLED))
_op("ComputeAccidentalHits")(
    lambda r: ([r.integers(0, 10000, (1000, 1)), r.integers(0, 10000, 1000)], {"num_true": 1})
)
_op("Conv2D")(lambda r: ([_f(r, 16, 32, 32, 32), _f(r, 3, 3, 32, 32)], _CONV2))
_op("Conv2DBackpropInput")(
    lambda r: ([_n(16, 32, 32, 32), _f(r, 3, 3, 32, 32), _f(r, 16, 32, 32, 32)], _CONV2)
)
_op("Conv2DBackpropFilter")(
    lambda r: ([_f(r, 16, 32, 32, 32), _n(3, 3, 32, 32), _f(r, 16, 32, 32, 32)], _CONV2)
)
_op("Conv3D")(lambda r: ([_f(r, 2, 16, 32, 32, 16), _f(r, 3, 3, 3, 16, 16)], _CONV3))
_op("Conv3DBackpropInputV2")(
    lambda r: ([_n(2, 16, 32, 32, 16), _f(r, 3, 3, 3, 16, 16), _f(r, 2, 16, 32, 32, 16)], _CONV3)
)
_op("Conv3DBackpropFilterV2")(
    lambda r: ([_f(r, 2, 16, 32, 32, 16), _n(3, 3, 3, 16, 16), _f(r, 2, 16, 32, 32, 16)], _CONV3)
)
_op("DepthwiseConv2dNative")(lambda r: ([_f(r, 16, 32, 32, 32), _f(r, 3, 3, 32, 1)], _CONV2))
_op("DepthwiseConv2dNativeBackpropInput")(
    lambda r: ([_n(16, 32, 32, 32), _f(r, 3, 3, 32, 1), _f(r, 16, 32, 32, 32)], _CONV2)
)
_op("DepthwiseConv2dNativeBackpropFilter")(
    lambda r: ([_f(r, 16, 32, 32, 32), _n(3, 3, 32, 1), _f(r, 16, 32, 32, 32)], _CONV2)
)
_DILATION = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}
_op("Dilation2D")(lambda r: ([_f(r, 8, 32, 32, 16), _f(r, 3, 3, 16)], _DILATION))
_op("Dilation2DBackpropInput", "Dilation2DBackpropFilter")(
    lambda r: ([_f(r, 8, 32, 32, 16), _f(r, 3, 3, 16), _f(r, 8, 32, 32, 16)], _DILATION)
)
_FRACTIONAL = {
    "pooling_ratio": [1.0, 1.5, 1.3, 1.0],
    "deterministic": True,
    "seed": 5,
    "seed2": 6,
    "overlapping": False,
    "pseudo_random": True,
}
_op("FractionalMaxPool", "FractionalAvgPool")(lambda r: ([_f(r, 8, 64, 64, 16)], _FRACTIONAL))


def _norm(r: Random, kind: Any = np.float32) -> list[np.ndarray]:
    return [_f(r, 32, 32, 32, 32), _f(r, 32), _f(r, 32), _f(r, 0), _f(r, 0)]


def _norm_gradient(r: Random) -> list[np.ndarray]:
    x = [_f(r, 32, 32, 32, 32), _f(r, 32, 32, 32, 32)]
    return [*x, _f(r, 32), _f(r, 32), _f(r, 32, low=0.5, high=2)]


_EPSILON = {"epsilon": 0.01, "is_training": True}
_op("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")(lambda r: (_norm(r), _EPSILON))
_op("FusedBatchNormGrad", "FusedBatchNormGradV2")(lambda r: (_norm_gradient(r), _EPSILON))
_op("FusedBatchNormGradV3")(lambda r: ([*_norm_gradient(r), _f(r, 32)], _EPSILON))
_op("LRN")(lambda r: ([_f(r, 16, 32, 32, 64)], {"depth_radius": 2}))
_op("LRNGrad")(lambda r: ([_f(r, 16, 32, 32, 64) for _ in range(3)], {"depth_radius": 2}))
_op("BatchNormWithGlobalNormalization")(
    lambda r: (
        [_f(r, 32, 32, 32, 32), _f(r, 32), _f(r, 32, low=0.5), _f(r, 32), _f(r, 32)],
        {"variance_epsilon": 0.01, "scale_after_normalization": True},
    )
)
_op("BatchNormWithGlobalNormalizationGrad")(
    lambda r: (
        [_f(r, 32, 32, 32, 32), _f(r, 32), _f(r, 32, low=0.5), _f(r, 32), _f(r, 32, 32, 32, 32)],
        {"variance_epsilon": 0.01, "scale_after_normalization": True},
    )
)
_op("SparseDenseCwiseMul", "SparseDenseCwiseDiv", "SparseDenseCwiseAdd", "SparseTensorDenseAdd")(
    lambda r: ([*sparse(r, 100000, 1000, 1000), _f(r, 1000, 1000, low=1)], {})
)


def _pooled(x: np.ndarray) -> np.ndarray:
    """The greatest of windows of two, along all dimensions but the first and the last."""
    for axis in range(1, x.ndim - 1):
        x = np.maximum(
            np.take(x, range(0, x.shape[axis], 2), axis),
            np.take(x, range(1, x.shape[axis], 2), axis),
        )
    return x


def _pool_gradient(r: Random, shape: Sequence[int], whole: bool) -> list[np.ndarray]:
    x = _f(r, *shape)
    y = _pooled(x)
    return [x, y, _f(r, *(shape if whole else y.shape))]


_2D, _3D = (32, 32, 32, 32), (4, 16, 32, 32, 16)
_op("AvgPool", "MaxPool", "MaxPoolWithArgmax")(lambda r: ([_f(r, *_2D)], _VALID2))
_op("AvgPoolGrad")(lambda r: ([_n(*_2D), _f(r, 32, 16, 16, 32)], _VALID2))
_op("MaxPoolGrad")(lambda r: (_pool_gradient(r, _2D, False), _VALID2))
_op("MaxPoolGradGrad")(lambda r: (_pool_gradient(r, _2D, True), _VALID2))
_op("AvgPool3D", "MaxPool3D")(lambda r: ([_f(r, *_3D)], _SAME3))
_op("AvgPool3DGrad")(lambda r: ([_n(*_3D), _f(r, 4, 8, 16, 16, 16)], _SAME3))
_op("MaxPool3DGrad")(lambda r: (_pool_gradient(r, _3D, False), _SAME3))
_op("MaxPool3DGradGrad")(lambda r: (_pool_gradient(r, _3D, True), _SAME3))
_WINDOW = [_n(1, 2, 2, 1), _n(1, 2, 2, 1)]
_op("MaxPoolV2")(lambda r: ([_f(r, *_2D), *_WINDOW], {"padding": "VALID"}))
_op("MaxPoolGradV2")(lambda r: ([*_pool_gradient(r, _2D, False), *_WINDOW], {"padding": "VALID"}))
_op("MaxPoolGradGradV2")(
    lambda r: ([*_pool_gradient(r, _2D, True), *_WINDOW], {"padding": "VALID"})
)


def _argmax(r: Random) -> np.ndarray:
    """A place in every window of an image of _2D without its batch."""
    y, x, channel = np.ogrid[:16, :16, :32]
    shift = r.integers(0, 2, (2, 32, 16, 16, 32))
    return np.asarray(((2 * y + shift[0]) * 32 + 2 * x + shift[1]) * 32 + channel, np.int64)


_op("MaxPoolGradWithArgmax")(lambda r: ([_f(r, *_2D), _f(r, 32, 16, 16, 32), _argmax(r)], _VALID2))
_op("MaxPoolGradGradWithArgmax")(lambda r: ([_f(r, *_2D), _f(r, *_2D), _argmax(r)], _VALID2))
_op("Softmax", "LogSoftmax")(lambda r: ([_f(r, 1000, 1000)], {}))


def _probabilities(r: Random, rows: int, columns: int) -> np.ndarray:
    found = r.uniform(0, 1, (rows, columns))
    return (found / found.sum(1, keepdims=True)).astype(np.float32)


_op("SoftmaxCrossEntropyWithLogits")(
    lambda r: ([_f(r, 1000, 1000), _probabilities(r, 1000, 1000)], {})
)
_op("SparseSoftmaxCrossEntropyWithLogits")(
    lambda r: ([_f(r, 1000, 1000), r.integers(0, 1000, 1000)], {})
)
_op("TopK")(lambda r: ([_f(r, 1000, 1000)], {"k": 10}))
_op("TopKV2")(lambda r: ([_f(r, 1000, 1000), _s(10)], {}))
_op("InTopK")(lambda r: ([_f(r, 1000, 1000), _i(r, 1000, 1000)], {"k": 5}))
_op("InTopKV2")(lambda r: ([_f(r, 1000, 1000), _i(r, 1000, 1000), _s(5)], {}))
_op("NthElement")(lambda r: ([_f(r, 1000, 1000), _s(500)], {}))

# Random numbers

_FLOAT = {"seed": 1, "dtype": {"type": "float32"}}
_op("RandomUniform", "RandomStandardNormal", "TruncatedNormal")(
    lambda r: ([_n(1000, 1000)], _FLOAT)
)
_op("RandomUniformInt")(lambda r: ([_n(1000, 1000), _s(0), _s(100)], {"seed": 1}))
_op("RandomShuffle")(lambda r: ([_f(r, 10000, 100)], {"seed": 3}))
_op("Multinomial")(lambda r: ([_f(r, 1000, 100), _s(100)], {"seed": 1}))
_op("StatelessMultinomial")(lambda r: ([_f(r, 1000, 100), _s(100), np.array([1, 2], np.int64)], {}))
_op("ParameterizedTruncatedNormal")(
    lambda r: ([_n(100000), *(_s(x, np.float32) for x in (0, 1, -2, 2))], {"seed": 1})
)
_op("RandomGamma")(lambda r: ([_n(10000), _f(r, 10, low=0.5)], {"seed": 1}))
_op("RandomGammaGrad")(lambda r: ([_f(r, 10000, low=0.5), _f(r, 10000, low=0.5)], {}))
_op("RandomPoisson", "RandomPoissonV2")(lambda r: ([_n(10000), _f(r, 10, low=0.5)], {"seed": 1}))
_op("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal")(
    lambda r: ([_n(1000, 1000), np.array([1, 2], np.int64)], {})
)
_op("StatelessRandomUniformInt")(
    lambda r: ([_n(1000, 1000), np.array([1, 2], np.int64), _s(0), _s(100)], {})
)

# Sparse tensors


def _pair(r: Random) -> list[np.ndarray]:
    return [*sparse(r, 100000, 1000, 1000), *sparse(r, 100000, 1000, 1000)]


def _shuffled(r: Random) -> list[np.ndarray]:
    indices, values, shape = sparse(r, 100000, 1000, 1000)
    order = r.permutation(len(indices))
    return [indices[order], values[order], shape]


_op("SparseReorder")(lambda r: (_shuffled(r), {}))
_op("SparseReshape")(
    lambda r: ([(s := sparse(r, 100000, 1000, 1000))[0], s[2], np.array([500, 2000], np.int64)], {})
)
_op("SparseConcat")(
    lambda r: (
        [list(pair) for pair in zip(*(sparse(r, 50000, 1000, 500) for _ in range(2)))],
        {"concat_dim": 1},
    )
)
_op("SparseSplit")(lambda r: ([_s(1, np.int64), *sparse(r, 100000, 1000, 1000)], {"num_split": 4}))
_op("SparseSlice")(
    lambda r: (
        [
            *sparse(r, 100000, 1000, 1000),
            np.array([100, 0], np.int64),
            np.array([800, 900], np.int64),
        ],
        {},
    )
)
_op("SparseToDense")(
    lambda r: ([(s := sparse(r, 100000, 1000, 1000))[0], s[2], s[1], _s(0, np.float32)], {})
)
_op("SparseTensorDenseMatMul")(lambda r: ([*sparse(r, 50000, 5000, 5000), _f(r, 5000, 64)], {}))
_op("SparseAdd")(lambda r: ([*_pair(r), _s(0.1, np.float32)], {}))
_op("SparseSparseMaximum", "SparseSparseMinimum")(lambda r: (_pair(r), {}))
_op("SparseReduceSum", "SparseReduceSumSparse", "SparseReduceMax", "SparseReduceMaxSparse")(
    lambda r: ([*sparse(r, 100000, 1000, 1000), _n(1)], {})
)
_op("SparseSoftmax")(lambda r: (sparse(r, 100000, 1000, 1000), {}))
_op("SparseFillEmptyRows")(lambda r: ([*sparse(r, 100000, 100000, 10), _s(1, np.float32)], {}))
_op("SparseFillEmptyRowsGrad")(lambda r: ([np.arange(100000, dtype=np.int64), _f(r, 150000)], {}))
_op("SerializeManySparse")(lambda r: (sparse(r, 10000, 1000, 100), {}))
_op("SerializeSparse")(lambda r: (sparse(r, 100000, 1000, 1000), {}))
