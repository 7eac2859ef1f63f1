# SPDX-License-Identifier: Apache-2.0
"""Every op has an oracle that is not its own kernel: what TensorFlow 1.15.5 made of a few cases.

record_oracles.py wrote oracles_1_15.json.gz.  What cannot be recorded so has its reason here, and
tests that hold it against something else.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from numbaflow.engine.graph import registry

from .record_oracles import recorded, unpacked
from .samples import needs_more_than_arrays
from .test_registry import NAMES
from .test_tensorflow import answers, differences

pytestmark = pytest.mark.programs

TESTS = Path(__file__).parent.parent
RECORDED = recorded()
INFINITE = "what a factorization makes of infinities is nobody's business"
XLA = "TensorFlow has no kernel of this type but on a device that tests do not compare with"
OUTSIDE = "TensorFlow reads or writes memory that is not the tensor's"
LATER = "as later versions of TensorFlow do"
# Op and case -> why it is not as recorded.
EXCEPT = {
    **dict.fromkeys(
        ("ApproximateEqual/*", "Round/special/complex128*", "TruncateDiv/special/complex128*"), XLA
    ),
    **dict.fromkeys(
        (
            *("Angle/special/complex128*", "Imag/special/complex128*", "Real/special/complex128*"),
            *("BoostedTreesMakeStatsSummary/parameter/*", "UnicodeEncode/emptied/*"),
            *("BoostedTreesSparseAggregateStats/parameter/*", "PeriodicResampleOpGrad/emptied/*"),
            *("SdcaOptimizer*/emptied/*", "WALSComputePartialLhsAndRhs/parameter/*"),
            "StringNGrams/drawn/*",
        ),
        OUTSIDE,
    ),
    **dict.fromkeys(
        (
            *("CholeskyGrad/hostile/*", "LogMatrixDeterminant/hostile/*", "Qr/hostile/*"),
            *("MatrixDeterminant/hostile/*", "SelfAdjointEigV2/hostile/*", "Lu/hostile/*"),
        ),
        INFINITE,
    ),
    **dict.fromkeys(("LRN/hostile/*", "LRNGrad/hostile/*", "LinSpace/hostile/*"), LATER),
    **dict.fromkeys(("DepthToSpace/drawn/*", "SpaceToDepth/drawn/*"), "all layouts run here"),
    "MatrixSolveLs/*/gradient": "TensorFlow's branches, for sizes that are unknown, give None",
    "LRNGrad/emptied/*": "nothing has any shape",
    "ImageConnectedComponents/*": "numbers of components are any numbers that differ",
    "NonMaxSuppressionV*/float16/*": "overlaps are computed in single precision, " + LATER,
    "SparseSplit/parameter/*": "dimensions count from the end, too, " + LATER,
}
OLD = "TensorFlow 1.15 refuses to make such nodes; they are other names of ops that are recorded"
# Op -> what it is held against instead, of those that arrays are enough for.
OTHERWISE = {
    **dict.fromkeys(
        "BatchCholesky BatchMatrixDeterminant BatchMatrixInverse BatchMatrixSolve "
        "BatchMatrixSolveLs BatchMatrixTriangularSolve BatchSelfAdjointEigV2 BatchSvd "
        "BatchMatrixBandPart BatchMatrixDiag BatchMatrixDiagPart BatchMatrixSetDiag BatchFFT "
        "BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D BatchIFFT3D BatchCholeskyGrad "
        "BatchNormWithGlobalNormalization BatchNormWithGlobalNormalizationGrad TopK "
        "MatrixExponential QuantizeAndDequantize TileGrad".split(),
        OLD,
    ),
    **dict.fromkeys(
        ("AdjustContrast", "RandomCrop"), "old GraphDefs have it: tests/ops/image/test_old.py"
    ),
    "TensorStridedSliceUpdate": "ends TensorFlow 1.15: tests/ops/test_plain.py",
    **dict.fromkeys(
        "MaxPoolGradGrad MaxPool3DGradGrad MaxPoolGradGradV2 MaxPoolGradGradWithArgmax".split(),
        "TensorFlow has kernels of it for GPUs: numeric derivatives, tests/ops/test_gradients.py",
    ),
    "CTCLossV2": "made after 1.15: tests/ops/nn/test_ctc.py",
    "SkipGramGenerateCandidates": "random: tests/train/contrib/test_text.py",
    "FakeParam": "any values are right: tests/ops/flow/test_numbered_loops.py",
    "RandomPoisson": "an old name of RandomPoissonV2, which is recorded",
    "AudioSummary": "summaries are recorded as bytes: tests/ops/summaries/test_summary.py",
    "SparseDenseCwiseAdd": "ends TensorFlow 1.15: tests/ops/sparse/test_sparse.py",
}
# Why arrays are not enough for an op -> tests that run such ops beside something else.
ELSEWHERE = {
    "works on variables": "ops/state/variables train/optimizers/test_optimizers.py",
    "works on handles": "ops/state/variables ops/test_kept.py ops/lookup/test_dense_table.py",
    "works on what a session keeps": "ops/test_kept.py ops/queues/test_mutex.py",
    "needs a dataset": "ops/data/test_exchange.py ops/data/test_datasets.py",
    "needs a list": "ops/flow/test_tensor_list.py ops/flow/test_tensor_array_old.py",
    "needs numbers that NumPy has as records": "ops/quantization/test_quantization.py",
    "needs the rest of a branch or loop": "parity/test_random_graphs.py",
    "needs a folder": "ops/summaries/test_summary.py",
    "needs TensorFlow on a GPU; see tests/ops/nn/test_cudnn.py": "ops/nn/test_cudnn.py",
    "needs files": "train/checkpoints/test_saver.py io/test_record.py",
    "needs a function": "io/test_functions.py ops/flow/test_graph_functions.py ops/test_plain.py",
    "needs a variable that holds the state": "ops/random/test_generator.py",
    "needs a group of operations on several devices": "ops/test_collective.py",
    "needs a task of a cluster": "train/distributed/test_server.py",
    "needs a Python function": "engine/session/test_host_calls.py",
    "has no kernel": "ops/test_refusals.py",
    "is fed, never run": "parity/test_random_graphs.py",
    "needs vectors of free signs": "ops/linalg/test_linalg.py",
    "needs variants": "ops/ragged/test_nodes.py",
    "needs serialized tensors": "ops/sparse/test_sparse.py",
    "needs a clock": "ops/test_touching.py",
    "needs a GPU": "jit/cuda/test_gpu.py",
    "needs a process to end": "ops/test_plain.py",
    "needs dots of the clock": "ops/image/test_image.py",
    "needs an equation": "ops/linalg/test_einsum_op.py",
}


def problems(name: str, record: dict[str, Any]) -> Iterator[str]:
    """Where an op gives something else than was recorded."""
    cases, results = unpacked(record["cases"]), unpacked(record["results"])
    # (There are gradients here that TensorFlow lacks.)
    for result in results:
        if result.get("gradient_error") == "LookupError":
            result["unsupported"] = True
    for text in differences(name, cases, answers(name, cases, "never"), results):
        if not any(fnmatch.fnmatchcase(text.split(": ")[0], pattern) for pattern in EXCEPT):
            yield text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(RECORDED))
def test_as_tensorflow_1_15_does(name: str) -> None:
    assert list(problems(name, RECORDED[name])) == []


def test_every_op_is_held_against_something() -> None:
    """An op is recorded, or it is said why not and what else tells right from wrong."""
    silent = []
    for name in NAMES:
        reason = needs_more_than_arrays(registry.lookup(name))
        if reason not in ELSEWHERE and not _results(name) and name not in OTHERWISE:
            silent.append((name, reason))
    assert silent == [], "record them: python -m numbaflow.tests.ops.record_oracles OP ..."


def _results(name: str) -> list[Any]:
    found = RECORDED.get(name, {"results": []})["results"]
    return [result for result in found if "error" not in result]


def test_reasons_are_needed_and_name_tests_that_there_are() -> None:
    assert [name for name in OTHERWISE if _results(name)] == []
    assert {*OTHERWISE} <= {*NAMES}
    reasons = {needs_more_than_arrays(registry.lookup(name)) for name in NAMES}
    assert [reason for reason in ELSEWHERE if reason not in reasons] == []
    files = [file for text in ELSEWHERE.values() for file in text.split()]
    files += [word for text in OTHERWISE.values() for word in text.split() if "/" in word]
    assert [file for file in files if not (TESTS / file.removeprefix("tests/")).exists()] == []
