# SPDX-License-Identifier: Apache-2.0
"""Wrong uses of ops fail with the errors that TensorFlow 1.15.5 has, at the same time, by name.

record_wrong_uses.py wrote wrong_uses_1_15.json.gz.
"""

from __future__ import annotations

import fnmatch
import gzip
import json
from collections.abc import Iterator

import pytest

import numbaflow as tf
from numbaflow.engine import settings

from . import wrong_uses
from .record_oracles import recorded
from .record_wrong_uses import FILE, cases

pytestmark = pytest.mark.programs

EXPECTED = json.loads(gzip.decompress(FILE.read_bytes()))
WAYS = "known", "unknown"
# Use and way -> why it does not fail as in TensorFlow.
EXCEPT = {
    **dict.fromkeys(
        (
            *("*Bincount/weights: one more row/*", "BlockLSTM*/seq_len_max: one more dimension/*"),
            *("BoostedTreesMakeQuantileSummaries/*", "DataFormatDimMap/x: */*"),
            *("DrawBoundingBoxes*/boxes: one more column/*", "EditDistance/*: a negative number/*"),
            *("FractionalAvgPoolGrad/*", "FractionalMaxPoolGrad/*", "LSTMBlockCell/wc?: */*"),
            *("LowerBound/*: one more dimension/*", "UpperBound/*: one more dimension/*"),
            *("RaggedTensorToSparse/*: one more dimension/*", "ResizeBilinearGrad/*"),
            *("SparseAdd/?_indices: one more column/*", "SparseDenseCwise*/sp_*"),
            *("SparseFillEmptyRows/*/unknown", "SparseReduce*/*: a negative number/*"),
            *("SparseReshape/*: one more*", "SparseSparseM*/?_indices: one more column/*"),
            *("SparseTensorDenseAdd/*rows/*", "SparseTensorDenseAdd/*: one more row/*"),
            *("UnravelIndex/indices: a*", "UnravelIndex/dims: *"),
        ),
        "TensorFlow reads what is not the tensor's, or passes over part of it",
    ),
    **dict.fromkeys(
        (
            *("FakeQuantWithMinMaxVars*/m*: one more dimension/unknown",),
            *("MatrixDiagV2/num_*: one more dimension/unknown",),
            *("QuantizeAndDequantizeV3/num_bits: one more dimension/unknown",),
            *("UnsortedSegmentJoin/num_segments: one more dimension/unknown",),
        ),
        "TensorFlow takes a vector of one number for that number",
    ),
    **dict.fromkeys(
        (
            *("CholeskyGrad/l: one more column/known", "EditDistance/*/known"),
            *("MatrixDiagPartV2/*/known", "StridedSliceGrad/shape: one more dimension/known"),
        ),
        "a run finds it",
    ),
    **dict.fromkeys(
        ("ClipByValue/*: one more dimension/*", "Fingerprint/method: one more dimension/unknown"),
        "a vector of one number is taken for that number",
    ),
}


def differences(name: str) -> Iterator[str]:
    """Where an op does otherwise than was recorded."""
    uses = cases(name, recorded()[name])
    for use, pair in EXPECTED[name].items():
        for way, expected in zip(WAYS, pair, strict=True):
            if expected is None:
                continue
            found = wrong_uses.outcome(tf, name, uses[use], way == "known")
            label = f"{name}/{use}/{way}"
            if _agree(expected, found):
                continue
            if not any(fnmatch.fnmatchcase(label, pattern) for pattern in EXCEPT):
                yield f"{label}: {expected} {found}"


def _agree(expected: list[str], found: list[str]) -> bool:
    """Whether both fail alike; what TensorFlow finds in a run, a graph may know before."""
    if expected == ["run", "InvalidArgumentError"] and found[:2] == ["made", "ValueError"]:
        return True
    return expected == found[:2] and found[2] != "its node is not named"


def test_exceptions_are_of_uses_that_there_are() -> None:
    labels = [f"{name}/{use}/{way}" for name in EXPECTED for use in EXPECTED[name] for way in WAYS]
    assert [pattern for pattern in EXCEPT if not fnmatch.filter(labels, pattern)] == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_wrong_uses_fail_as_in_tensorflow(name: str) -> None:
    with settings.override(jit="never"):
        assert list(differences(name)) == []
