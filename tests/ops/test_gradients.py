# SPDX-License-Identifier: Apache-2.0
"""The gradients of every op of the registry: two orders, reverse and forward mode."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import numbaflow as tf
from numbaflow import testing
from numbaflow.engine.graph import registry

from ..drawing import examples
from .samples import Case, call, cases, needs_more_than_arrays
from .test_registry import NAMES, widened

pytestmark = pytest.mark.programs

# Op -> what is wrong with its derivatives, here as in TensorFlow; a test fails that finds it right.
SILENT = "its gradient is declared to have none, silently"
EMPTY = "second derivatives divide by the size of an empty segment"
STRAIGHT = "its gradient is that of the values before they are rounded, as training wants it"
FUSED = "its gradient tells nothing of results that are there for the gradient alone"
WRONG_AS_IN_TENSORFLOW = {
    **dict.fromkeys(("PadV2", "MatrixDiagV2", "MatrixDiagPartV2"), "none by what is put in"),
    "Resampler": SILENT,
    **dict.fromkeys(("SegmentMean", "SegmentMax", "SegmentMin"), EMPTY),
    **dict.fromkeys(("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"), STRAIGHT),
    **dict.fromkeys(("QuantizeAndDequantize", "QuantizeAndDequantizeV2"), STRAIGHT),
    "QuantizeAndDequantizeV3": STRAIGHT,
    **dict.fromkeys(("GRUBlockCell", "LSTMBlockCell", "BlockLSTM", "BlockLSTMV2"), FUSED),
    **dict.fromkeys(("FusedBatchNormGrad", "FusedBatchNormGradV2"), FUSED),
    **dict.fromkeys(("SparseSoftmaxCrossEntropyWithLogits", "CTCLoss", "CTCLossV2"), FUSED),
    "SoftmaxCrossEntropyWithLogits": "the labels count as numbers that add up to one",
    "Zeta": "has no derivative by its first argument",
    "Betainc": "has no derivatives by its parameters",
    "Cholesky": "its gradient is that of a symmetric matrix, of which the kernel reads half",
    "CumulativeLogsumexp": "second derivatives are not numbers where the sum is empty",
    "MaxPoolGradGrad": "its gradient is that of the maxima's places only",
    "SparseAdd": SILENT,
    "ImageProjectiveTransformV2": "its gradient is the image moved back, which is near to it only",
    "ScaleAndTranslate": "none by scale and translation",
}
# Op -> why its derivatives are not looked at here.
NOT_CHECKED = {
    "PreventGradient": "to be differentiated is an error",
    "RGBToHSV": "its gradient is made of single precision",
    **dict.fromkeys(
        ("SparseDenseCwiseAdd", "SparseSparseMaximum", "SparseSparseMinimum"),
        "its gradient has to be written, as TensorFlow says of it",
    ),
    "ClipByValue": "has none of complex numbers, which it takes",
}


def _has_gradient(name: str) -> bool:
    definition = registry.lookup(name)
    return callable(definition.gradient) and not needs_more_than_arrays(definition)


CHECKED = [name for name in NAMES if _has_gradient(name) and name not in NOT_CHECKED]


def report_of(name: str, case: Case) -> testing.Report | None:
    """What `gradient_report` says of one call of an op; None where nothing is to differentiate."""
    try:
        return _report(name, widened(registry.lookup(name), case))
    except TypeError:  # some inputs are of single precision only
        return _report(name, case)


def _report(name: str, case: Case) -> testing.Report | None:
    if any(array.size == 0 for array in case.arrays()):
        return None
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        outputs, feeds = call(registry.lookup(name), case, static=True)
        ys = [y for y in outputs if y.dtype.is_floating or y.dtype.is_complex]
        xs = [x for x in feeds if x.dtype.is_floating or x.dtype.is_complex]
        if not ys or not xs:
            return None
        options = testing.Options(find_op=False, directions=1)
        return testing.gradient_report(ys, *xs, feed_dict=feeds, options=options)


@pytest.mark.parametrize("name", CHECKED)
def test_gradients_of_both_orders_and_modes(name: str) -> None:
    found: list[testing.Report | None] = []

    @examples(2, deep=20)
    @given(cases(registry.lookup(name)))
    def check(case: Case) -> None:
        found.append(report_of(name, case))

    check()
    wrong = [str(report) for report in found if report is not None and not report.passed]
    if name not in WRONG_AS_IN_TENSORFLOW:
        assert not wrong, wrong[0]
    else:
        assert wrong, f"{name} is right: take it from the table"


def test_what_is_not_checked_has_a_reason() -> None:
    """An op that has a gradient is checked above, or it is said why it cannot be."""
    others = {
        name: NOT_CHECKED.get(name) or needs_more_than_arrays(registry.lookup(name))
        for name in NAMES
        if callable(registry.lookup(name).gradient) and name not in CHECKED
    }
    assert all(others.values()), others
    # (Those of calls, branches and loops of functions are in flow/test_function_gradients.py and
    # flow/test_control_flow_v2.py.)
    assert len(others) <= 70, sorted(others.items())
    assert {*WRONG_AS_IN_TENSORFLOW} <= {*CHECKED} and not {*NOT_CHECKED} & {*CHECKED}


@pytest.mark.parametrize("adjoint", [False, True])
def test_the_inverse_of_the_adjoint(adjoint: bool) -> None:
    """Of which the second derivatives of determinants are made."""
    x = np.random.default_rng(0).standard_normal((3, 3)) + 3 * np.eye(3)
    z = x + 1j * np.random.default_rng(1).standard_normal((3, 3))
    for matrix in (x, z):
        testing.check_gradients(lambda m: tf.matrix_inverse(m, adjoint=adjoint), matrix)
    testing.check_gradients(tf.matrix_determinant, x)
    testing.check_gradients(lambda m: tf.linalg.slogdet(m)[1], x)
