# SPDX-License-Identifier: Apache-2.0
"""Why some ops are slower than TensorFlow's: what holds them up, and which they are.

An entry names op types, or "type, gradient" where only that is meant.
"""

from __future__ import annotations

_REASONS = {
    "results are texts, which are Python objects, made one by one": (
        "AsString DecodeBase64 DecodeCSV DecodeRaw EncodeBase64 ReduceJoin RegexFullMatch "
        "RegexReplace SerializeManySparse SerializeSparse StaticRegexFullMatch StaticRegexReplace "
        "StringFormat StringJoin StringLength StringLower StringSplit StringSplitV2 StringStrip "
        "StringToHashBucket StringToHashBucketFast StringToHashBucketStrong StringToNumber "
        "StringUpper Substr UnsortedSegmentJoin"
    ),
    "elements of all sets are sorted, in several passes of NumPy": (
        "DenseToDenseSetOperation SetSize"
    ),
    "LAPACK is called for each of many small (complex) matrices": (
        "Lu MatrixLogarithm MatrixSolveLs MatrixSquareRoot Svd"
    ),
    "its series is added up in double precision, one number after another": (
        "Betainc Digamma Igamma Igammac IgammaGradA Polygamma RandomGamma RandomGammaGrad Zeta"
    ),
    "it is computed in double precision, to be right near its zeros": "Lgamma",
    "it is computed in double precision, to be right to the last bit": "Acos Asin",
    "candidates are drawn in NumPy, whose calls take longer than so few draws": (
        "ComputeAccidentalHits LearnedUnigramCandidateSampler LogUniformCandidateSampler "
        "ThreadUnsafeUnigramCandidateSampler UniformCandidateSampler"
    ),
    "numbers are drawn and rejected in NumPy": "ParameterizedTruncatedNormal",
    "the planes that a window meets are copied side by side first": (
        "Conv3D Conv3DBackpropFilterV2 Conv3DBackpropInputV2"
    ),
    "what it gives depends on data, and NumPy finds it in several passes": (
        "DynamicPartition DynamicStitch ListDiff ParallelDynamicStitch SparseAdd SparseConcat "
        "SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul SparseFillEmptyRows "
        "SparseFillEmptyRowsGrad SparseReorder SparseReshape SparseSlice SparseSparseMaximum "
        "SparseSparseMinimum SparseSplit SparseTensorDenseAdd SparseToDense Unique UniqueV2 "
        "UniqueWithCounts UniqueWithCountsV2"
    ),
    "a search's branches are not foreseen, which takes as long as all else": (
        "LowerBound UpperBound"
    ),
    "what it is given is checked in a pass of its own": "InvertPermutation",
    "the fill is fed, so that a second pass puts it in": "PadV2",
}
SLOW_BECAUSE = {op: reason for reason, ops in _REASONS.items() for op in ops.split()}
