# SPDX-License-Identifier: Apache-2.0
"""Every op that TensorFlow has too, and its gradient, against a real TensorFlow.

The reference and the compiled plan must give TensorFlow's values, dtypes, shapes, infinities and
NaN; what TensorFlow refuses must be refused.  TensorFlow runs beside the tests, once for all ops.
"""

from __future__ import annotations

import fnmatch
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.graph import registry
from numbaflow.engine.graph.build import build_op

from .samples import needs_more_than_arrays
from .tensorflow_cases import records
from .tensorflow_worker import evaluate, load, save

PYTHON = os.environ.get("NUMBAFLOW_TF_PYTHON")
WORKER = Path(__file__).with_name("tensorflow_worker.py")

# Relative (and, near zero, absolute) differences that the order of a sum or another algorithm for
# the same function may make.
TOLERANCE = {
    "float64": 1e-9,
    "complex128": 1e-9,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float16": 4e-3,
    "bfloat16": 3e-2,
}

# Random numbers: TensorFlow's own bits; normal ones within two units of the last place.
CLOSER = {"RandomUniform": 0.0, "RandomStandardNormal": 2.5e-7, "TruncatedNormal": 2.5e-7}

# Outputs after the first are matrices of columns whose signs (phases) are free.
FREE_SIGNS = ("Svd", "SelfAdjointEigV2")

# op/label (patterns) -> why the answers differ.
EXCEPT = {
    **dict.fromkeys(("Empty/*", "FakeParam/*"), "TensorFlow leaves open what it holds"),
    "TensorStridedSliceUpdate/*/gradient": "TensorFlow 1.15 has none",
    **dict.fromkeys(
        ["UnicodeEncode/parameter/*", "StringNGrams/parameter/*"],
        "TensorFlow 2 checks where rows begin and end, 1.15 does not",
    ),
    "ExtractVolumePatches/*/gradient": "TensorFlow has none where sizes are unknown",
    # TensorFlow 2 and 1.15 differ; the package follows 1.15.
    **dict.fromkeys(
        [
            *("Maximum/*", "Minimum/*", "Max/*/nan", "Min/*/nan", "SegmentM??/*/nan"),
            *("Sign/*", "Abs/*/gradient", "*Relu*Grad/special/*"),
        ],
        "TensorFlow 2 hands NaN on, 1.15 compares and drops it",
    ),
    **dict.fromkeys(
        ["EuclideanNorm/*/gradient", "SegmentProd/*/gradient"],
        "TensorFlow 1.15 has no gradient",
    ),
    **dict.fromkeys(
        [
            "Unique*/gradient",
            "ListDiff/*/gradient",
            "Lu/*/gradient",
            "Mod/*/gradient",
            "TruncateMod/*/gradient",
            "RandomShuffle/*/gradient",
            "LRNGrad/*/gradient",
            "ResizeBilinearGrad/*/gradient",
            "MaxPoolGradGradWithArgmax/*/gradient",
            "Snapshot/*/gradient",
            "Dilation2DBackprop*/gradient",
            "Fractional*PoolGrad/*/gradient",
            "FakeQuant*Gradient/*/gradient",
            "MatrixSolveLs/*/gradient",
        ],
        "no gradient: an error in one, none or None in the other",
    ),
    **dict.fromkeys(
        ["LSTMBlockCell*/gradient", "BlockLSTM*/gradient", "GRUBlockCell*/gradient"],
        "in 1.15 Python's contrib.rnn has the gradients, in TensorFlow 2 nobody has all",
    ),
    **dict.fromkeys(
        ["FusedBatchNorm/*/gradient", "FusedBatchNormV[23]/*/gradient"],
        "the unused inputs get an empty gradient or None",
    ),
    "FusedBatchNormGradV*/gradient": "TensorFlow 1.15 mixes dtypes in the second derivative too",
    "SparseSoftmaxCrossEntropyWithLogits/*/gradient": "1.15 does not differentiate output 1",
    "TensorSummary/*": "the name of the node is in the summary",
    "TopKV2/*/nan": "where NaN sorts is nobody's promise",
    "MaxPool*/*/nan": "whether a maximum hands NaN on depends on the vector width",
    "CumulativeLogsumexp/*/nan": "1.15 has no such kernel; TensorFlow 2 drops NaN",
    "MatrixDiagPartV2/*/gradient": "TensorFlow 2 differentiates it by an op of another layout",
    "ClipByValue/drawn/*": "complex numbers have no order",
    "Matrix*DiagV2/*": "TensorFlow 1.15 and 2 differ in when they broadcast a lone diagonal",
    "Round/special/int*": "TensorFlow's vectors give rounded integers as zero",
    "Exit/*": "TensorFlow refuses an Exit without Enter",
    "DebugGradientIdentity/*/gradient": "the table that its gradient looks in is Python's",
    **dict.fromkeys(
        ["AvgPool/drawn/*", "AvgPool/retyped/*/[12]", "MaxPool/drawn/*", "MaxPool/retyped/*/[12]"],
        "TensorFlow has data_format NCHW for GPUs only",
    ),
    **dict.fromkeys(["Svd/*/gradient", "SelfAdjointEigV2/*/gradient"], "the signs are free"),
    "TopKV2/parameter/1/0/gradient": "no columns: TensorFlow 1.15 raises an error too",
    "ComplexAbs/special/complex128/0": "Tout is float32, which TensorFlow refuses",
    "ComplexAbs/drawn/*": "the drawn Tout is not the real dtype of T, which TensorFlow wants",
    "FusedBatchNorm*/emptied/*": "the mean of nothing is NaN in 1.15, zero in TensorFlow 2",
    "SparseReduceMax*/nan": "TensorFlow 2 hands NaN on or drops it by its place",
    **dict.fromkeys(
        [
            "StringFormat/drawn/*bfloat16*",
            "StringFormat/drawn/*complex*",
            "StringFormat/special/bfloat16/*",
        ],
        "1.15 writes [?] for a complex scalar and ? for each bfloat16",
    ),
    "StringFormat/drawn/*bool*": "of truth values without elements TensorFlow 2 writes nothing",
    # Sounds and pictures.
    "EncodeWav/emptied/0": "TensorFlow 2 makes a file without samples, 1.15 refuses to",
    "AudioSpectrogram/hostile/0/*inf": "in which sums of a transform infinities become NaN",
    "EncodeJpegVariableQuality/parameter/1/-1": "TensorFlow 2 refuses it, 1.15 takes it for 0",
    **dict.fromkeys(
        [f"RGBToHSV/*{dtype}*/gradient" for dtype in ("float16", "bfloat16", "float64")],
        "TensorFlow 1.15 multiplies it by float32, and so refuses other dtypes",
    ),
    **dict.fromkeys(
        ["NonMaxSuppression*/parameter/2/-1", "CombinedNonMaxSuppression/parameter/2/0"],
        "TensorFlow 2 refuses such a number of boxes, 1.15 takes a negative one for no limit",
    ),
    **dict.fromkeys(
        ["NonMaxSuppressionV5/drawn/[23]/*", "NonMaxSuppressionV5/hostile/5/inf"],
        "where scores are lowered TensorFlow 2 keeps what overlaps, 1.15 drops it",
    ),
    "NonMaxSuppressionWithOverlaps/hostile/3/inf": "1.15 picks again what not even itself drops",
    # Inputs that the op does not define an answer for.
    **dict.fromkeys(
        ["FractionalMaxPoolGrad/hostile/[01]/*", "MaxPoolGradGrad*/hostile/[01]/*inf"],
        "an infinity or NaN put into one of input and maxima: they do not fit each other",
    ),
    "Fractional*Grad/parameter/*": "the cells do not fit the input",
    "CropAndResize/hostile/1/nan": "TensorFlow 2 refuses boxes of NaN, 1.15 does not",
    **dict.fromkeys(
        ["*/parameter/0/[019]", "SparseReshape/parameter/*", "SparseAdd/[hp]*"],
        "sizes and indices that fit nothing: TensorFlow checks some of them only",
    ),
    **dict.fromkeys(
        ["*Pool*/emptied/*", "Reverse/emptied/*", "UnravelIndex/emptied/*", "Sparse*/emptied/*"],
        "nothing at all: TensorFlow refuses it in some kernels and takes it in others",
    ),
    # Known differences of the package.
    **dict.fromkeys(
        [
            "AvgPool3DGrad/parameter/0/-1",
            "DepthwiseConv2dNativeBackpropInput/parameter/0/-1",
            "MaxPoolV2/parameter/2/-1",
            "MaxPoolGradGradV2/parameter/4/*",
            "SparseDenseCwise*/parameter/0/-1",
            "SparseSplit/parameter/1/*",
            "SparseSlice/parameter/2/-1",
            "SparseSliceGrad/parameter/*",
            "SerializeManySparse/parameter/*",
            "SerializeManySparse/emptied/0",
        ],
        "sizes and indices that fit nothing are taken, TensorFlow refuses them",
    ),
    **dict.fromkeys(
        ["SparseSegment*Grad/parameter/3/0", "UnravelIndex/parameter/0/-1"],
        "sizes and indices that fit nothing are refused, TensorFlow 2 takes them",
    ),
    **dict.fromkeys(
        ["SparseSparseM*/parameter/[03]/*", "SparseSoftmax/parameter/0/-1"],
        "indices out of order or out of range give another order, or an error in TensorFlow 2",
    ),
    **dict.fromkeys(
        ["SerializeManySparse/drawn/*", "SerializeManySparse/hostile/1/*"],
        "the same tensors, their numbers in the other field of the proto",
    ),
    # Numbers.
    **dict.fromkeys(
        ["Igamma*/special/*", "Zeta/special/*", "Betainc/hostile/*", "RandomGammaGrad/hostile/*"],
        "outside of the domain SciPy and Eigen answer differently",
    ),
    "FakeQuant*Gradient/hostile/*inf": "which integer an infinity becomes",
    "NearestNeighbors/hostile/*inf": "which of infinite distances is the least",
    "NearestNeighbors/hostile/*nan": "which of distances that are no numbers is the least",
    **dict.fromkeys(
        ["KmeansPlusPlusInitialization/hostile/*", "KmeansPlusPlusInitialization/emptied/*"],
        "which is drawn of points that are alike or infinitely far",
    ),
    "Polygamma/hostile/1/inf": "0 in TensorFlow 2, NaN in 1.15, whose series it is",
    "Erf/special/float64/*": "Eigen's erf of infinity is NaN in float64",
    "Rsqrt/special/float16/*/gradient": "overflows in float16, which Eigen computes in float32",
    "Conv2D/*float16/*/gradient": "TensorFlow sums 16-bit floats in 16 bits",
    "Conv2D/emptied/*": "TensorFlow leaves memory unset when there are no pixels or channels",
    **dict.fromkeys(
        ["Conv3D/drawn/*float16*", "Conv3D/retyped/*float16/*"],
        "TensorFlow sums 16-bit floats in 16 bits",
    ),
    **dict.fromkeys(
        ["CTCLoss/retyped/float64/*", "CTCBeamSearchDecoder/retyped/float64/*"],
        "TensorFlow adds probabilities of float64 in single precision",
    ),
    "DepthwiseConv2dNative*/*float16*": "TensorFlow sums 16-bit floats in 16 bits",
    "DepthwiseConv2dNativeBackpropInput/hostile/*": "TensorFlow multiplies the padding too",
    # Shapes.
    "DepthwiseConv2dNative/emptied/*": "TensorFlow leaves memory unset when a batch is empty",
}

NAMES = [d.name for d in registry.definitions() if not needs_more_than_arrays(d)]
# Compiled plans run on as many cases as fit in the time that the test may take.
COMPILED = 6

pytestmark = [
    pytest.mark.tf,
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON, reason="NUMBAFLOW_TF_PYTHON names no Python with TensorFlow"),
]


class TensorFlow:
    """The process that computes TensorFlow's answers; it is started again if an op aborts it."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self.folder, self.names = folder, names
        self.cases = {name: records(registry.lookup(name)) for name in names}
        for name, cases in self.cases.items():
            save(folder / f"{name}.in.npz", cases)
        (folder / "todo.json").write_text(json.dumps(names))
        self._start()

    def _start(self) -> None:
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
        with open(self.folder / "log.txt", "ab") as log:
            self.process = subprocess.Popen(
                [PYTHON, str(WORKER), str(self.folder)], env=environment, stdout=log, stderr=log
            )

    def answers(self, name: str) -> Any:
        """TensorFlow's results for an op, as soon as they are there."""
        path = self.folder / f"{name}.out.npz"
        while not path.exists():
            if self.process.poll() is not None and not path.exists():
                log = (self.folder / "log.txt").read_text(errors="replace")[-1500:]
                aborted = next(n for n in self.names if not self._path(n).exists())
                save(self._path(aborted), {"aborted": log})
                self._start()
            time.sleep(0.01)
        return load(path)

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.out.npz"


@pytest.fixture(scope="module")
def tensorflow(request, tmp_path_factory):
    chosen = {
        item.callspec.params.get("name")
        for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
    }
    process = TensorFlow(tmp_path_factory.mktemp("ops"), [n for n in NAMES if n in chosen])
    yield process
    process.process.kill()
    process.process.wait()


def answers(name: str, cases: list[Any], mode: str) -> list[Any]:
    """The package's own results."""
    definition = registry.lookup(name)
    keys = [arg.name for arg in definition.inputs]

    def apply(inputs: list[Any], attrs: dict[str, Any]) -> Any:
        op = build_op(name, dict(zip(keys, inputs, strict=True)), attrs, None)
        return op, op.outputs

    with settings.override(jit=mode):
        return evaluate(tf, apply, cases)


@pytest.mark.parametrize("name", NAMES)
def test_op_agrees_with_tensorflow(name, tensorflow):
    cases = tensorflow.cases[name]
    reference = answers(name, cases, "never")
    picked = to_compile(cases, reference)
    compiled = answers(name, [cases[i] for i in picked], "always")
    theirs = tensorflow.answers(name)
    assert "aborted" not in theirs, theirs["aborted"]
    if "missing" in theirs:
        pytest.skip("TensorFlow 2 has no such op any more")
    theirs = theirs["cases"]
    wrong = list(differences(name, cases, reference, theirs))
    wrong += [
        f"compiled {text}"
        for text in differences(
            name, [cases[i] for i in picked], compiled, [theirs[i] for i in picked]
        )
    ]
    assert not wrong, "\n".join(wrong)


def to_compile(cases: list[Any], reference: list[Any]) -> list[int]:
    """The first working case of each kind and dtype, up to the limit."""
    found: dict[Any, int] = {}
    for i, (case, result) in enumerate(zip(cases, reference, strict=True)):
        if "error" not in result:
            kinds = [str(value.dtype) for value in result["values"]]
            found.setdefault((case["label"].split("/")[0], str(kinds)), i)
    return sorted(found.values(), key=lambda i: "special" not in cases[i]["label"])[:COMPILED]


def differences(name: str, cases: list[Any], ours: list[Any], theirs: list[Any]) -> Any:
    """What differs, one text per case."""
    for case, our, their in zip(cases, ours, theirs, strict=True):
        label = f"{name}/{case['label']}"
        signed = aligned(our, their) if name in FREE_SIGNS else our
        problem = compare(signed, their, CLOSER.get(name))
        if problem and not is_excepted(label):
            yield f"{label}: {problem}"
        problem = "" if problem else compare_gradients(our, their)
        if problem and not is_excepted(f"{label}/gradient"):
            yield f"{label}/gradient: {problem}"


def aligned(our: Any, their: Any) -> Any:
    """Our result with the signs (phases) of their columns, in all outputs but the first."""
    if "error" in our or "error" in their:
        return our
    values = our["values"][:1]
    for ours, theirs in zip(our["values"][1:], their["values"][1:], strict=True):
        if ours.shape == theirs.shape and ours.size:
            along = np.sum(np.conj(ours) * theirs, axis=-2, keepdims=True)
            size = np.abs(along)
            unit = np.where(size > 0, along / np.where(size > 0, size, 1), 1)
            ours = (ours * unit).astype(ours.dtype)
        values.append(ours)
    return {**our, "values": values}


def is_excepted(label: str) -> bool:
    """Whether the table of exceptions names this case."""
    return any(fnmatch.fnmatchcase(label, pattern) for pattern in EXCEPT)


def compare(our: Any, their: Any, limit: float | None = None) -> str:
    """How the outputs of a case differ; empty if they do not."""
    if "error" in their:
        if their["unsupported"] or "error" in our:
            return ""
        return f"TensorFlow raises {their['error']} {their['message']}, here {our['values']}"
    if "error" in our:
        return f"raises {our['error']} {our['message']}, TensorFlow gives {their['values']}"
    if len(our["values"]) != len(their["values"]):
        return f"{len(our['values'])} outputs, TensorFlow has {len(their['values'])}"
    pairs = zip(our["values"], their["values"], strict=True)
    return next((text for text in (compare_arrays(*pair, limit) for pair in pairs) if text), "")


def compare_gradients(our: Any, their: Any) -> str:
    """How the gradients of a case differ."""
    if "error" in their:
        return ""
    if "gradient_error" in their:
        if their["unsupported"] or "gradient_error" in our:
            return ""
        text = f"{their['gradient_error']} {their['message']}"
        return f"TensorFlow raises {text}, here {our.get('gradients')}"
    if "gradient_error" in our:
        text = f"{our['gradient_error']} {our['message']}"
        return f"raises {text}, TensorFlow gives {their.get('gradients')}"
    for our_one, their_one in zip(
        our.get("gradients", []), their.get("gradients", []), strict=True
    ):
        if our_one is None or their_one is None:
            text = "" if our_one is their_one else f"{our_one}, TensorFlow gives {their_one}"
        else:
            text = compare_arrays(our_one, their_one)
        if text:
            return text
    return ""


def compare_arrays(our: np.ndarray, their: np.ndarray, limit: float | None = None) -> str:
    """How two arrays differ."""
    if our.dtype != their.dtype or our.shape != their.shape:
        return f"{our.dtype} {our.shape}, TensorFlow gives {their.dtype} {their.shape}"
    usual = TOLERANCE.get(our.dtype.name)
    limit = usual if limit is None or our.dtype.name != "float32" else limit
    if limit is None:
        equal = our == their
    else:
        wide = np.complex128 if our.dtype.kind == "c" else np.float64
        with np.errstate(all="ignore"):
            equal = np.isclose(
                our.astype(wide), their.astype(wide), rtol=limit, atol=limit, equal_nan=True
            )
    if np.all(equal):
        return ""
    places = np.argwhere(~np.asarray(equal))[:4]
    shown = [(tuple(map(int, p)), our[tuple(p)], their[tuple(p)]) for p in places]
    texts = ", ".join(f"{place}: {a} not {b}" for place, a, b in shown)
    return f"{our.dtype} {our.shape}, {int(np.sum(~np.asarray(equal)))} wrong: {texts}"
