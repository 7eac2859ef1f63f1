# SPDX-License-Identifier: Apache-2.0
"""On which task of a cluster operations are, and how their graph is cut there."""

from __future__ import annotations

import itertools

import pytest

import numbaflow as tf
from numbaflow.engine.session import run_order
from numbaflow.train.cluster.partition import Partitioner
from numbaflow.train.cluster.placement import Placer

pytestmark = pytest.mark.pure

PS, WORKER, OTHER = (
    f"/job:{job}/replica:0/task:{task}" for job, task in (("ps", 0), ("worker", 0), ("worker", 1))
)
DEVICES = [f"{task}/device:CPU:0" for task in (PS, WORKER, OTHER)]


def placed(*operations, is_soft=False):
    """The tasks of operations, for a master at the first worker."""
    placer = Placer(tf.get_default_graph(), DEVICES, WORKER, is_soft)
    found = placer.devices_of(operations)
    return [found[op].removesuffix("/device:CPU:0") for op in operations]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as found:
        yield found


def test_what_asks_for_nothing_is_at_the_master():
    assert placed(tf.constant(1).op) == [WORKER]


def test_devices_may_be_said_in_part():
    with tf.device("/job:ps"):
        a = tf.constant(1)
    with tf.device("/job:worker"):
        b = tf.constant(1)
    with tf.device("/job:worker/task:1/cpu:0"):
        c = tf.constant(1)
    assert placed(a.op, b.op, c.op) == [PS, WORKER, OTHER]


@pytest.mark.parametrize("use_resource", [False, True])
def test_changes_of_a_variable_are_where_it_is(use_resource):
    with tf.device("/job:ps"):
        v = tf.get_variable("v", [], use_resource=use_resource)
    with tf.device("/job:worker/task:1"):
        change = v.assign_add(1.0)
    assert placed(change if isinstance(change, tf.Operation) else change.op) == [PS]


def test_colocation_holds_and_contradictions_are_refused():
    with tf.device("/job:ps"):
        a = tf.constant(1)
    with tf.colocate_with(a):
        b = tf.constant(2)
    assert placed(b.op) == [PS]
    with tf.device("/job:worker"):
        c = tf.constant(3)
    c.op._set_attr("_class", tf.AttrValue(list=tf.AttrValue.ListValue(s=[b"loc:@Const"])))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot colocate nodes .*jobs"):
        placed(c.op)


def test_devices_that_are_not_there_are_refused():
    with tf.device("/job:nowhere"):
        a = tf.constant(1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device .*nowhere"):
        placed(a.op)


def test_another_processor_of_the_task_only_with_soft_placement():
    with tf.device("/job:ps/device:GPU:0"):
        a = tf.constant(1)
    assert placed(a.op, is_soft=True) == [PS]
    with pytest.raises(tf.errors.InvalidArgumentError, match="GPU"):
        placed(a.op)


def test_a_conditional_is_on_one_task():
    with tf.device("/job:ps"):
        x = tf.constant(1.0)
        y = tf.cond(x > 0, lambda: x + 1, lambda: x - 1)
    inside = [op for op in tf.get_default_graph().get_operations() if "cond" in op.name]
    assert set(placed(*inside)) == {PS}
    assert placed(y.op) == [PS]


def cut(fetches, feeds=()):
    """The parts of a run by task: their nodes by op type."""
    graph = tf.get_default_graph()
    placer = Placer(graph, DEVICES, WORKER, False)
    operations = run_order.needed_operations(fetches, [], feeds)
    incarnations = {device: number for number, device in enumerate(DEVICES, 1 << 63)}
    devices = placer.devices_of(operations)
    work = Partitioner(graph, devices, incarnations, feeds, itertools.count())
    return {part.task: part for part in work.cut(fetches)}


def nodes(part, kind):
    return [node for node in part.graph_def.node if node.op == kind]


def test_a_tensor_crosses_once_to_each_task():
    with tf.device("/job:ps"):
        a = tf.constant([1.0, 2.0])
    with tf.device("/job:worker/task:0"):
        b = a + a * 2
    with tf.device("/job:worker/task:1"):
        c = a * 3
    parts = cut([b, c])
    assert len(nodes(parts[PS], "_Send")) == 2
    [taken] = nodes(parts[WORKER], "_Recv")
    [sent] = [
        n for n in nodes(parts[PS], "_Send") if n.attr["recv_device"] == taken.attr["recv_device"]
    ]
    for attr in ("tensor_name", "send_device", "send_device_incarnation"):
        assert sent.attr[attr] == taken.attr[attr]
    assert sent.attr["send_device_incarnation"].i == -(1 << 63)
    assert not sent.attr["client_terminated"].b
    assert set(parts[WORKER].fetches) == {b.name}


def test_feeds_come_to_each_task_that_takes_them():
    x = tf.placeholder(tf.float32)
    with tf.device("/job:ps"):
        a = x * 2
    b = x + a
    parts = cut([b], [x])
    assert set(parts[PS].feeds) == set(parts[WORKER].feeds) == {"Placeholder:0"}
    assert not nodes(parts[WORKER], "Placeholder")


def test_control_edges_cross_as_empty_constants():
    with tf.device("/job:ps"):
        first = tf.no_op(name="first")
    with tf.control_dependencies([first]):
        a = tf.constant(1)
    parts = cut([a])
    [token] = nodes(parts[PS], "Const")
    assert list(token.input) == ["^first"]
    assert token.attr["value"].tensor.tensor_shape.dim[0].size == 0
    [taken] = nodes(parts[WORKER], "_Recv")
    assert f"^{taken.name}" in nodes(parts[WORKER], "Const")[0].input


def test_nodes_that_are_added_have_names_of_their_own_in_all_runs():
    """TensorFlow's workers keep a kernel by its node's name for as long as a session."""
    with tf.device("/job:ps"):
        a = tf.constant(1.0, name="a")
    b, c = a + 1, a + 2
    graph, numbers = tf.get_default_graph(), itertools.count()
    names = []
    for fetch in (b, c):
        devices = Placer(graph, DEVICES, WORKER, False).devices_of(
            [a.op, fetch.op, fetch.op.inputs[1].op]
        )
        parts = Partitioner(graph, devices, dict.fromkeys(DEVICES, 1), [], numbers).cut([fetch])
        names += [
            node.name
            for part in parts
            for node in part.graph_def.node
            if node.op in ("_Send", "_Recv")
        ]
    assert len(set(names)) == len(names) == 6


def test_what_a_branch_makes_may_be_dead_elsewhere():
    x = tf.placeholder(tf.float32, [])
    with tf.device("/job:worker/task:0"):

        def branch():
            with tf.device("/job:worker/task:1"):
                return x * 2.0

        y = tf.cond(x > 0, branch, lambda: x)
    parts = cut([y], [x])
    other = next(part for task, part in parts.items() if "task:1" in task)
    takes = [n for n in nodes(other, "_Recv") if not n.attr["client_terminated"].b]
    assert takes and all(node.attr["_may_be_dead"].b for node in takes)
    assert not any(nodes(part, "Enter") for part in parts.values())


def test_tasks_that_take_tensors_within_a_loop_have_its_frame():
    def body(i):
        with tf.device("/job:ps"):
            one = i * 2
        return one + 1

    with tf.device("/job:worker/task:0"):
        y = tf.while_loop(lambda i: i < 9, body, [0])
    parts = cut([y])
    for part in (parts[PS], parts[WORKER]):
        frames = {node.attr["frame_name"].s for node in nodes(part, "Enter")}
        assert frames == {b"while/while_context"}
        [trigger] = [n.name for n in nodes(part, "Merge") if n.name.startswith("_cloop")]
        for taken in nodes(part, "_Recv"):
            assert list(taken.input) == [f"^{trigger}"]
    # Each iteration is begun by the loop's condition, and by it alone.
    assert len(nodes(parts[PS], "NextIteration")) == 1
    assert [n for n in nodes(parts[PS], "_Recv") if n.name.startswith("while/LoopCond")]


def test_a_loop_on_several_tasks_has_a_condition():
    with tf.device("/job:ps"):
        x = tf.negative(tf.raw_ops.Enter(data=tf.constant(1.0), frame_name="f"))
    with tf.device("/job:worker/task:0"):
        y = tf.raw_ops.Exit(data=tf.negative(x))
    with pytest.raises(tf.errors.InvalidArgumentError, match="pivot predicate: f"):
        cut([y])
