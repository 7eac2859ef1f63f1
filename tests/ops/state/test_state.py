# SPDX-License-Identifier: Apache-2.0
"""Variables: nodes and names, sharing by scope, storage, updates."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.session.state import ALIGNMENT, Resources, VariableStorage

pytestmark = pytest.mark.programs


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default(), settings.override(jit="never"):
        yield


def _types():
    return [(op.name, op.type) for op in tf.get_default_graph().get_operations()]


@pytest.mark.pure
def test_nodes_of_a_variable():
    tf.Variable(1.0, name="v")
    assert _types() == [
        ("v/initial_value", "Const"),
        ("v", "VariableV2"),
        ("v/Assign", "Assign"),
        ("v/read", "Identity"),
    ]


@pytest.mark.pure
def test_nodes_of_a_resource_variable():
    tf.Variable(1.0, name="v", use_resource=True)
    assert _types() == [
        ("v/Initializer/initial_value", "Const"),
        ("v", "VarHandleOp"),
        ("v/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp"),
        ("v/Assign", "AssignVariableOp"),
        ("v/Read/ReadVariableOp", "ReadVariableOp"),
    ]


@pytest.mark.parametrize("use_resource", [False, True])
def test_assignments_keep_their_order(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    with tf.control_dependencies([tf.assign_add(v, [1.0, 1.0])]):
        with tf.control_dependencies([tf.assign_sub(v, [0.5, 0.0])]):
            read = v.read_value()
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(read), [1.5, 3.0])
        np.testing.assert_array_equal(session.run(v), [1.5, 3.0])


@pytest.mark.pure
def test_a_scope_makes_a_variable_once_and_then_finds_it():
    with tf.variable_scope("a"):
        first = tf.get_variable("w", [2])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("w", [2]) is first
        with pytest.raises(ValueError, match="Variable a/x does not exist"):
            tf.get_variable("x", [2])
    with tf.variable_scope("a"), pytest.raises(ValueError, match="already exists, disallowed"):
        tf.get_variable("w", [2])
    with tf.variable_scope("a", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("w", [2]) is first
        with pytest.raises(ValueError, match=r"specified shape \(3,\) and found shape \(2,\)"):
            tf.get_variable("w", [3])


@pytest.mark.pure
def test_default_names_of_scopes_are_unique():
    names = []
    for _ in range(2):
        with tf.variable_scope(None, default_name="layer"):
            names.append(tf.get_variable("w", [1]).op.name)
    assert names == ["layer/w", "layer_1/w"]


def test_use_before_initialization_is_refused():
    v = tf.Variable(1.0, name="v")
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            session.run(v)
        assert list(session.run(tf.report_uninitialized_variables())) == [b"v"]
        session.run(tf.global_variables_initializer())
        assert list(session.run(tf.report_uninitialized_variables())) == []


def test_rows_are_updated_one_after_the_other():
    v = tf.Variable(np.zeros((3, 2), np.float32))
    update = tf.scatter_add(v, [0, 0, 2], np.ones((3, 2), np.float32))
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(update), [[2, 2], [0, 0], [1, 1]])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 3 is not in"):
            session.run(tf.scatter_add(v, [3], [[1.0, 1.0]]))


def test_a_fetched_value_does_not_change_later():
    v = tf.Variable([1.0])
    add = tf.assign_add(v, [1.0])
    with tf.Session() as session:
        session.run(v.initializer)
        before = session.run(v)
        session.run(add)
        assert before[0] == 1.0


def test_rows_of_large_integers_divide_exactly():
    large = 2**53 + 1
    v = tf.Variable(np.array([large, -7], np.int64))
    divided = tf.scatter_div(v, [0, 1, 1], np.array([1, 2, 2], np.int64))
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(divided).tolist() == [large, -1]


@pytest.mark.pure
def test_cells_are_aligned_and_keep_their_array():
    cell = VariableStorage("v", tf.float32, tf.TensorShape([3]))
    cell.assign(np.ones(3, np.float32))
    array = cell.read()
    assert array.ctypes.data % ALIGNMENT == 0
    cell.assign(np.zeros(3, np.float32))
    assert cell.read() is array
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[3\] rhs shape= \[2\]"):
        cell.assign(np.zeros(2, np.float32))


@pytest.mark.pure
def test_resources_are_made_once_and_cleared_by_container():
    resources = Resources()
    cell = resources.cell("", "v", tf.float32, tf.TensorShape([]))
    assert resources.cell("", "v", tf.float32, tf.TensorShape([])) is cell
    resources.cell("box", "w", tf.float32, tf.TensorShape([]))
    resources.clear(["box"])
    assert [name for (_, name), _ in resources] == ["v"]


def test_partitioned_variables_concatenate():
    def two(shape, dtype):
        return [2, 1]

    v = tf.get_variable("v", [3, 2], initializer=tf.ones_initializer(), partitioner=two)
    assert [part.op.name for part in v] == ["v/part_0", "v/part_1"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(tf.convert_to_tensor(v)), np.ones((3, 2)))


def test_equal_indices_of_a_sparse_update_count_twice():
    v = tf.Variable(np.zeros(2, np.float32))
    accum = tf.Variable(np.zeros(2, np.float32))
    update = tf.raw_ops.SparseApplyMomentum(
        var=v._ref(), accum=accum._ref(), lr=1.0, grad=[1.0, 1.0], indices=[1, 1], momentum=0.5
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(update), [0.0, -2.5])
        np.testing.assert_allclose(session.run(accum), [0.0, 1.5])


@pytest.mark.parametrize(
    ("indices", "expected"),
    [([[1], [1]], [[0, 0], [4, 4]]), ([[1, 0], [0, 1]], [[0, 1], [1, 0]])],
)
def test_gathered_slices_have_gradients(indices, expected):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True)
    found = tf.gradients(v.gather_nd(indices) * (2.0 if len(indices[0]) == 1 else 1.0), v)[0]
    assert isinstance(found, tf.IndexedSlices) == (len(indices[0]) == 1)
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(tf.convert_to_tensor(found)), expected)
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not index into"):
            session.run(v.gather_nd([[-1]]))


def test_stubs_of_resources_are_created_once():
    from numbaflow.ops.checks import testing  # noqa: F401  defines the ops
    from numbaflow.ops.public import raw

    handles = [raw.StubResourceHandleOp(shared_name=name) for name in "ab"]
    with tf.Session() as session:
        assert not session.run(raw.ResourceInitializedOp(handles[0]))
        session.run(raw.ResourceCreateOp(tf.stack(handles)[0]))
        assert session.run(raw.ResourceInitializedOp(handles[0]))
        with pytest.raises(tf.errors.AlreadyExistsError):
            session.run(raw.ResourceCreateOp(handles[0]))


@pytest.mark.parametrize("use_resource", [False, True])
def test_assignments_to_empty_slices_change_nothing(use_resource):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=use_resource)
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(v[1:0, :1].assign(tf.zeros([1, 0])))
        np.testing.assert_array_equal(session.run(v), [[1, 2], [3, 4]])
        with pytest.raises(tf.errors.UnimplementedError, match="does not match r-value shape"):
            session.run(v[1:, :1].assign(tf.zeros([1, 0])))
