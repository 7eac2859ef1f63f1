# SPDX-License-Identifier: Apache-2.0
"""Ops that TensorFlow has no Python function for, held against other ops or NumPy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf

ATTRS = {"strides": [1, 1, 1, 1, 1], "padding": "VALID"}
X = np.arange(2 * 27 * 2).reshape(2, 3, 3, 3, 2) % 7 - 3.0
W = np.arange(8 * 2 * 3).reshape(2, 2, 2, 2, 3) % 5 - 2.0
DY = np.arange(2 * 8 * 3).reshape(2, 2, 2, 2, 3) % 3 - 1.0


@pytest.mark.cpu
def test_old_gradients_of_volumes_are_those_of_today() -> None:
    raw = tf.raw_ops
    with tf.Graph().as_default(), tf.Session() as session:
        given = {"input": tf.constant(X), "filter": tf.constant(W), "out_backprop": DY}
        makers = (raw.Conv3DBackpropInput, raw.Conv3DBackpropFilter)
        old = tuple(make(**given, **ATTRS) for make in makers)
        new = tf.gradients(
            tf.nn.conv3d(given["input"], given["filter"], **ATTRS),
            [given["input"], given["filter"]],
            grad_ys=tf.constant(DY),
        )
        assert [node.shape for node in old] == [list(X.shape), list(W.shape)]
        for _ in range(2):
            for mine, theirs in zip(*session.run([old, tuple(new)]), strict=True):
                np.testing.assert_array_equal(mine, theirs)
        with pytest.raises(LookupError):
            tf.gradients(old[0], given["filter"])


@pytest.mark.programs
def test_a_slice_of_a_tensor_is_replaced() -> None:
    x = np.arange(12.0).reshape(3, 4)
    with tf.Graph().as_default(), tf.Session() as session:

        def updated(value: np.ndarray) -> np.ndarray:
            places = {"begin": [0, 1], "end": [2, 4], "strides": [1, 2]}
            node = tf.raw_ops.TensorStridedSliceUpdate(input=x, value=value, **places)
            return session.run(node)

        expected = x.copy()
        expected[0:2, 1:4:2] = [[0.5, 1.5], [2.5, 3.5]]
        np.testing.assert_array_equal(updated(np.array([[0.5, 1.5], [2.5, 3.5]])), expected)
        assert x[0, 1] == 1.0
        with pytest.raises(tf.errors.UnimplementedError, match="does not match r-value shape"):
            updated(np.zeros(2))


@pytest.mark.programs
def test_a_marked_variable_is_the_variable() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(1.0, use_resource=False)
        marked = tf.raw_ops.DebugGradientRefIdentity(input=variable._ref())
        session.run(variable.initializer)
        session.run(tf.raw_ops.AssignAdd(ref=marked, value=2.0))
        assert session.run(variable) == 3.0


@pytest.mark.programs
def test_a_tensor_lies_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    file.write_bytes(np.arange(7, dtype=np.float32).tobytes())

    def tensor(shape: list[int], name: Path = file) -> np.ndarray:
        with tf.Graph().as_default(), tf.Session() as session:
            return session.run(
                tf.raw_ops.ImmutableConst(
                    dtype=tf.float32, shape=shape, memory_region_name=str(name)
                )
            )

    np.testing.assert_array_equal(tensor([2, 3]), [[0, 1, 2], [3, 4, 5]])
    with pytest.raises(tf.errors.InternalError, match="wrong length .28. when allocating 36"):
        tensor([3, 3])
    with pytest.raises(tf.errors.NotFoundError, match="no_such; No such file"):
        tensor([1], tmp_path / "no_such")


@pytest.mark.process
@pytest.mark.parametrize("quietly", [False, True])
def test_a_process_ends(quietly: bool) -> None:
    program = (
        "import numbaflow as tf\n"
        f"node = tf.raw_ops.Abort(error_msg='enough', exit_without_error={quietly})\n"
        "tf.Session().run(node)\nprint('went on')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == (0 if quietly else -6)
    assert "enough" in done.stderr and "went on" not in done.stdout


@pytest.mark.programs
def test_boundaries_must_be_sorted() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([-5, 0, 9])
        fine = tf.raw_ops.Bucketize(input=x, boundaries=[0.0, 3.0, 3.0, 8.0])
        assert session.run(fine).tolist() == [0, 1, 4]
        wrong = tf.raw_ops.Bucketize(input=x, boundaries=[0.0, 8.0, 3.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected sorted boundaries"):
            session.run(wrong)


@pytest.mark.programs
def test_axes_that_are_no_scalars() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        axis = tf.placeholder(tf.int32)
        for name, node in (
            ("axis", tf.raw_ops.ConcatV2(values=[[1.0], [2.0]], axis=axis)),
            ("concat_dim", tf.raw_ops.Concat(concat_dim=axis, values=[[1.0], [2.0]])),
        ):
            text = f"{name} tensor should be a scalar integer, but got shape .1."
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                session.run(node, {axis: [0]})


@pytest.mark.pure
def test_numbers_are_no_functions() -> None:
    text = "Don't know how to convert 3 to a func for argument f"
    with tf.Graph().as_default(), pytest.raises(TypeError, match=text):
        tf.raw_ops.PartitionedCall(args=[1.0], Tout=[tf.float32], f=3)
