# SPDX-License-Identifier: Apache-2.0
"""What a plan's report says: work, buffers and their lives, times, why steps are apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit import target
from numbaflow.jit.report import plan_report, plan_text, roofline

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    with settings.override(jit="always"), tf.Graph().as_default():
        yield


def explained(fetches: Any, feeds: Any = None) -> plan_report.PlanReport:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.explain(fetches, feeds)


def training() -> plan_report.PlanReport:
    """Two layers, a softmax, Adam: convolution-free, but with all kinds of buffers."""
    x = tf.placeholder(tf.float32, [None, 20], "x")
    labels = tf.placeholder(tf.int64, [None], "labels")
    with tf.variable_scope("net"):
        w = tf.get_variable("w", [20, 16])
        v = tf.get_variable("v", [16, 4])
    hidden = tf.tanh(tf.matmul(x, w))
    logits = tf.matmul(hidden, v)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="loss"
    )
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    feeds = {x: np.random.default_rng(0).random((50, 20)), labels: np.arange(50) % 4}
    return explained([train, loss], feeds)


def test_buffers_never_share_memory_while_both_live() -> None:
    report = training()
    placed = [b for b in report.buffers if b.offset is not None]
    assert len(placed) > 8
    for number, one in enumerate(placed):
        assert one.offset + one.bytes <= report.arena_bytes
        for other in placed[number + 1 :]:
            live = one.first <= other.last and other.first <= one.last
            meet = one.offset < other.offset + other.bytes and other.offset < one.offset + one.bytes
            assert not (live and meet), (one, other)
    assert report.between_bytes == sum(b.bytes for b in placed)
    assert report.arena_bytes < report.between_bytes + 64 * len(placed)


def test_buffers_have_names_and_kinds() -> None:
    report = training()
    by_name = {(b.name, b.kind): b for b in report.buffers}
    assert by_name["x:0", "fed"].shape == (50, 20) and by_name["labels:0", "fed"].dtype == "int64"
    assert by_name["net/w", "variable"].bytes == 20 * 16 * 4
    (loss,) = [b for b in report.buffers if b.fetched]
    assert loss.name == "loss" and loss.shape == () and loss.last == len(report.kernels) - 1
    for number, kernel in enumerate(report.kernels):
        for used in {*kernel.reads, *kernel.writes}:
            assert report.buffers[used].first <= number <= report.buffers[used].last
    written = {n for kernel in report.kernels for n in kernel.writes}
    assert {report.buffers[n].kind for n in written} == {"between", "variable"}


def test_work_is_counted() -> None:
    x = tf.placeholder(tf.float32, [None, 30], "x")
    y = tf.placeholder(tf.float32, [30, 8], "y")
    feeds = {x: np.ones((40, 30)), y: np.ones((30, 8))}
    (product,) = explained(tf.matmul(x, y), feeds).kernels
    assert product.operations == 2 * 40 * 30 * 8
    assert product.bytes == 4 * (40 * 30 + 30 * 8 + 40 * 8)
    (chain,) = explained(tf.exp(x) * 2.0 + 1.0, feeds).kernels
    assert chain.operations == 3 * 40 * 30 and chain.bytes == 2 * 4 * 40 * 30
    # An exponential per element and a sum; a division per row would be a product per element.
    (softmax,) = explained(tf.nn.softmax(x), feeds).kernels
    assert 4 * 40 * 30 <= softmax.operations <= 6 * 40 * 30
    # Of a slice only what is read counts.
    (part,) = explained(x[:, :2] + 1.0, feeds).kernels
    assert part.bytes == 2 * 4 * 40 * 2 and part.operations == 40 * 2
    images = tf.placeholder(tf.float32, [None, 9, 9, 3])
    filters = tf.placeholder(tf.float32, [3, 3, 3, 5])
    report = explained(
        tf.nn.conv2d(images, filters, [1, 2, 2, 1], "VALID"),
        {images: np.ones((2, 9, 9, 3)), filters: np.ones((3, 3, 3, 5))},
    )
    assert sum(kernel.operations for kernel in report.kernels) == 2 * 2 * 4 * 4 * 5 * 27


def test_reasons_why_steps_are_apart() -> None:
    x = tf.placeholder(tf.float32, [None, 40], "x")
    feeds = {x: np.ones((30, 40))}

    def reasons(fetch: Any) -> list[str]:
        kernels = explained(fetch, feeds).kernels
        return [boundary.reason for kernel in kernels for boundary in kernel.boundaries]

    assert reasons(tf.exp(x) + 1.0) == []
    assert reasons(tf.tanh(tf.matmul(x, tf.ones([40, 5])))) == [
        "matmul is a kernel of the library, complete in itself"
    ]
    assert reasons(tf.reduce_sum(tf.reduce_max(x, 1) * 2.0, 0)) == [
        "Sum reduces what is reduced already",
        "a long reduction: first its pieces, then their results",
    ]
    both = reasons(tf.add(tf.reduce_sum(x, 0), tf.reduce_sum(x[:, :1] * 0.0), name="both"))
    assert "both runs over other positions" in both
    transposed = reasons(tf.matmul(tf.exp(x), tf.exp(x), transpose_b=True))
    assert transposed and all("library" in reason for reason in transposed)


def test_plans_that_a_run_came_to_are_shown_behind_the_first() -> None:
    x = tf.placeholder(tf.float32, [None])
    # What is left, and how much, only the host knows.
    kept = tf.setdiff1d(x * 2.0, tf.constant([2.0]), name="kept").out
    y, feeds = tf.reduce_sum(tf.exp(kept, name="after")), {x: np.arange(6, dtype=np.float32)}
    with settings.override(jit="always"), tf.Session() as session:
        assert not session.explain(y, feeds).plans
        session.run(y, feeds)
        report = session.explain(y, feeds)
    starts = [plan.start for plan in report.plans]
    assert starts and starts[-1].startswith("after")
    assert f"starts   with {starts[0]}" in str(report)
    assert len(report.as_dict()["plans"]) == len(starts) and report.html("all")


def test_what_runs_in_python_says_so() -> None:
    x = tf.placeholder(tf.float32, [3, 3], "x")
    report = explained(tf.linalg.sqrtm(x * 2.0) * 3.0, {x: np.eye(3)})
    before, host, after = report.kernels
    assert (host.kind, host.name, host.reason) == ("host", "MatrixSquareRoot", "has no lowering")
    assert not host.key and not host.seconds and host.ops == ("MatrixSquareRoot",)
    assert [b.reason for b in host.boundaries + after.boundaries] == [
        "MatrixSquareRoot runs in Python"
    ] * 2
    assert host.reads == before.writes and host.writes == after.reads
    assert "MatrixSquareRoot: has no lowering" in str(report)


def test_times_and_what_is_possible() -> None:
    report = training()
    assert report.machine is roofline.machine()
    kernels = [kernel for kernel in report.kernels if kernel.kind != "flow"]
    for kernel in kernels:
        assert kernel.seconds > 0 and kernel.at_best > 0
        assert kernel.limit in ("memory", "compute")
    assert report.seconds == pytest.approx(sum(kernel.seconds for kernel in report.kernels))
    assert "of best" in str(report) and "at best" in str(report)


def test_the_machine_is_bounded_sensibly() -> None:
    machine = roofline.machine()
    sizes = [0, 1, 1000, 10**5, 10**6, 10**7, 10**9]
    times = [machine.memory_seconds(size) for size in sizes]
    assert times == sorted(times) and times[0] > 0
    assert times[-1] == pytest.approx(10**9 / machine.memory_rate)
    assert machine.cache_rate >= machine.memory_rate
    assert machine.compute_seconds(1e9, 1) >= machine.compute_seconds(1e9, 1000) > 0
    assert roofline.bound(None, 10, 10, 1) == (0.0, "")
    time, limit = roofline.bound(machine, 4, 1e12, 1)
    assert limit == "compute" and time == machine.compute_seconds(1e12, 1)


def test_explaining_changes_nothing() -> None:
    v = tf.get_variable("v", [3], initializer=tf.zeros_initializer())
    grow = tf.assign_add(v, [1.0, 2.0, 3.0])
    with tf.Session() as session:
        session.run(v.initializer)
        for _ in range(3):
            session.explain(grow)
        assert session.run(v).tolist() == [0.0, 0.0, 0.0]
        assert session.run(grow).tolist() == [1.0, 2.0, 3.0]


def test_code_that_this_processor_cannot_run_is_not_run() -> None:
    x = tf.placeholder(tf.float32, [None])
    with settings.override(target="generic:+imaginary"):
        assert target.lacking(target.current()) == ("+imaginary",)
        with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError) as caught:
            session.run(x + 41.5, {x: [1.0]})
    assert "+imaginary" in str(caught.value) and "NUMBAFLOW_TARGET" in str(caught.value)


def test_numbers_as_people_read_them() -> None:
    assert plan_text.size_text(0) == "0 B" and plan_text.size_text(999.96) == "1.0 kB"
    assert plan_text.size_text(1_234_567) == "1.2 MB" and plan_text.size_text(5e15) == "5000.0 TB"
    assert plan_text.count_text(12) == "12" and plan_text.count_text(3.2e9) == "3.2 G"
    assert plan_text.seconds_text(2.5) == "2.50 s" and plan_text.seconds_text(1e-7) == "0.1 µs"
    assert plan_text.seconds_text(0.0012) == "1.20 ms"


def test_a_variable_that_is_gone_is_measured_by_what_kernels_expect_of_it():
    with settings.override(jit="always"), tf.Graph().as_default() as graph, tf.Session() as session:
        v = tf.get_variable("v", [1 << 16], use_resource=True, initializer=tf.zeros_initializer())
        x = tf.placeholder(tf.float32, [1 << 16])
        added = v.assign_add(x)
        session.run(v.initializer)
        feed = {x: np.ones(1 << 16, np.float32)}
        session.run(added, feed)
        session.run(graph.create_op("DestroyResourceOp", [v.handle], [], name="destroy"))
        assert "AssignAddVariableOp" in str(session.explain(added, feed))
