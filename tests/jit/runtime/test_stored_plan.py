# SPDX-License-Identifier: Apache-2.0
"""Plans of the cache: a later process runs them untraced, to the same bits, or not at all."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.cache import checked_files, store
from numbaflow.jit.cache.plan_files import PLANS
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.kernel import verify_kernel
from numbaflow.jit.kernel.ir import Kernel
from numbaflow.jit.runtime import (
    interpreted,
    plan,
    plan_encoding,
    plan_key,
    segment_plans,
    stored_plan,
)
from numbaflow.ops.flow import library_calls
from numbaflow.ops.flow.function_library import Defun

from ...checkout import HAS_LIBRARY
from .stored import Traces, bits, results

pytestmark = pytest.mark.cpu

NUMBERS = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache of plans, which tests otherwise do without."""
    monkeypatch.setattr(verify_kernel, "enabled", False)
    monkeypatch.setattr(verify_kernel, "guards", "")
    with settings.override(jit="always"):
        monkeypatch.setattr(checked_files.Folder, "path", lambda self: tmp_path / self.name)
        yield


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> Traces:
    return Traces(monkeypatch)


def dense() -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.layers.dense(tf.layers.dense(x, 5, tf.nn.relu), 2)
    loss = tf.reduce_mean(tf.square(y))
    return loss, y, tf.train.AdamOptimizer(0.1).minimize(loss)


def windows() -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    image = tf.reshape(x, [-1, 2, 3, 1])
    y = tf.layers.conv2d(image, 4, 2, padding="same", activation=tf.nn.relu)
    y = tf.layers.max_pooling2d(y, 2, 1)
    return tf.gradients(tf.reduce_sum(y**2), tf.trainable_variables()), y


def random() -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    return tf.nn.dropout(tf.exp(x), 0.5, seed=4), tf.random_normal(tf.shape(x), seed=5) + x


def measured() -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    chosen = tf.boolean_mask(x, x[:, 0] > 0)
    return tf.matmul(chosen, chosen, transpose_b=True), tf.shape(chosen), tf.reduce_sum(chosen)


def looped() -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", [3, 3])

    def body(i: Any, h: Any, kept: Any) -> Any:
        h = tf.tanh(tf.matmul(h, w))
        return i + 1, h, kept.write(i, tf.reduce_sum(h))

    array = tf.TensorArray(tf.float32, 4)
    _, h, kept = tf.while_loop(lambda i, *_: i < 4, body, (0, x, array))
    return h, kept.stack(), tf.gradients(tf.reduce_sum(h), w)


def chosen_in_turns() -> Any:
    """A loop each of whose turns has sizes of its own, and its gradient."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", [3])

    def body(row: Any) -> Any:
        return tf.reduce_sum(tf.square(tf.boolean_mask(row * w, row > 0)))

    y = tf.map_fn(body, tf.reshape(x, [-1, 3]), parallel_iterations=1)
    return y, tf.gradients(y, w)


def branched() -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    total = tf.reduce_sum(x)
    noise = lambda: tf.random_uniform(tf.shape(x), seed=1)  # noqa: E731
    return tf.cond(total > 0, lambda: x * 2 + noise(), lambda: tf.exp(x) - 1)


def hosted() -> Any:
    x = tf.placeholder(tf.float32, [4, 3], name="x")
    texts = tf.as_string(tf.exp(x), precision=3)
    return tf.exp(tf.string_to_number(texts)) + x, tf.reduce_sum(x, 0), texts


def counted() -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    steps = tf.get_variable("steps", [], tf.int32, tf.zeros_initializer(), trainable=False)
    total = tf.get_variable("total", [3], initializer=tf.zeros_initializer())
    added = tf.assign_add(total, tf.reduce_sum(x, 0), use_locking=True)
    with tf.control_dependencies([added, tf.assign_add(steps, 1)]):
        return total.read_value() / tf.cast(steps.read_value(), tf.float32), added


def filled() -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    zeros = tf.constant(-0.0, shape=[600, 700])
    rows = tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3))
    return tf.exp(x[0, 0]) * zeros, tf.matmul(x, rows, transpose_b=True), zeros[:2], rows


def called() -> Any:
    """Functions of the graph's library: a call, a branch and a loop of them."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", [3, 3])

    @Defun(tf.float32, tf.float32)
    def layer(x: Any, w: Any) -> Any:
        return tf.tanh(tf.matmul(x, w))

    @Defun(tf.float32)
    def halved(x: Any) -> Any:
        return tf.exp(x) / 2

    @Defun(tf.float32)
    def kept(x: Any) -> Any:
        return x * 1.5

    @Defun(tf.float32)
    def is_small(x: Any) -> Any:
        return tf.reduce_sum(x) < 20

    y = layer(x, w)
    chosen = library_calls.If(tf.reduce_sum(x) > 0, [y], halved, kept)[0]
    grown = library_calls.While([tf.abs(chosen) + 1], is_small, kept)[0]
    return y, grown, tf.gradients(y, w)


def halved() -> Any:
    x = tf.cast(tf.placeholder(tf.float32, [None, 3], name="x"), tf.bfloat16)
    rows = tf.constant([[0.5, 1.0, 3.0]], tf.bfloat16)
    return tf.exp(x) * rows, rows, tf.constant(2.5, tf.bfloat16, [600]) + tf.reduce_sum(x)


def narrow() -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    numbers = [tf.constant([1, 2, 3], t) for t in (tf.int8, tf.uint16, tf.complex64, tf.float16)]
    return (
        [tf.cast(tf.exp(x), k.dtype) + k for k in numbers if k.dtype != tf.uint16],
        numbers,
        x > 0,
    )


PROGRAMS = [
    halved,
    narrow,
    filled,
    called,
    dense,
    windows,
    random,
    measured,
    looped,
    chosen_in_turns,
    branched,
    counted,
]


@pytest.mark.parametrize("build", PROGRAMS, ids=lambda build: build.__name__)
def test_a_stored_plan_gives_the_bits_of_the_traced_one(
    build: Callable[[], Any], traces: Traces
) -> None:
    feeds = [{"x:0": NUMBERS}, {"x:0": -NUMBERS}, {"x:0": np.tile(NUMBERS, (3, 1))}]
    want = results(build, feeds)
    assert traces.count and PLANS.items()
    traces.count = 0
    got = results(build, feeds)
    assert traces.count == 0
    assert bits(want) == bits(got)


class Absent:
    """Sees to it that what can be bytecode is not compiled yet, here and in processes to come."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_on, begun = True, set[str]()
        known, is_ready = compiler.stored_kernels, interpreted.is_ready

        def begins(kernel: Kernel) -> bool:
            if is_ready(kernel):
                begun.add(compiler.content_of(kernel))
                return True
            return False

        def found(named: Sequence[tuple[str, str]]) -> list[Any]:
            is_new = [self.is_on and content in begun for _, content in named]
            return [None if new else one for new, one in zip(is_new, known(named))]

        monkeypatch.setattr(compiler, "stored_kernels", found)
        monkeypatch.setattr(interpreted, "is_ready", begins)
        monkeypatch.setattr(interpreted, "new", list)
        monkeypatch.setattr(interpreted, "_PATIENCE", 1e9)


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Absent]:
    monkeypatch.setattr(interpreted, "_worth", lambda count: 1e9)
    monkeypatch.setattr(segment_plans, "_QUICK_TO_TRACE", 0)
    with settings.override(jit="auto"):
        yield Absent(monkeypatch)


def first_plans(monkeypatch: pytest.MonkeyPatch) -> list[plan.FirstPlan]:
    """The plans that are found from here on and that have bytecode."""
    made: list[plan.FirstPlan] = []

    def noted(*given: Any) -> plan.FirstPlan:
        made.append(plan.FirstPlan(*given))
        return made[-1]

    monkeypatch.setattr(stored_plan, "FirstPlan", noted)
    return made


@pytest.mark.parametrize("build", PROGRAMS, ids=lambda build: build.__name__)
def test_what_is_not_compiled_yet_is_bytecode_in_a_stored_plan_too(
    build: Callable[[], Any], absent: Absent, traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    feeds = [{"x:0": NUMBERS}, {"x:0": -NUMBERS}, {"x:0": np.tile(NUMBERS, (3, 1))}] * 2
    want = results(build, feeds)
    assert traces.count and PLANS.items()
    traces.count, found = 0, first_plans(monkeypatch)
    begun = bits(results(build, feeds))
    # One whose kernels have taken long enough is compiled, between two runs.
    monkeypatch.setattr(interpreted, "_worth", lambda count: 0.0)
    settled = bits(results(build, feeds))
    absent.is_on = False
    count = len(found)
    compiled = bits(results(build, feeds))
    assert traces.count == 0 and count and len(found) == count
    assert begun == settled == compiled == bits(want)


def test_bytecode_of_another_kernel_is_refused(absent: Absent, traces: Traces) -> None:
    results(other, [{"x:0": NUMBERS}])
    (item,) = PLANS.items()
    content = item.place.read_bytes()
    text = PLANS._key_text(content)
    stored = plan_encoding.from_bytes(PLANS._checked(content, text))
    assert stored.tables["bytecode"]
    for entry in stored.tables["bytecode"]:
        entry[1] = entry[1].replace("exp", "tanh")
    body = plan_encoding.to_bytes(stored)
    item.place.write_bytes(b"\n".join([PLANS._head(text, body), body]))
    traces.count = 0
    with pytest.warns(RuntimeWarning, match="another kernel's bytecode"):
        results(other, [{"x:0": NUMBERS}])
    assert traces.count == 1


def test_reference_kernels_among_the_steps_are_called_as_before(traces: Traces) -> None:
    feeds = [{"x:0": NUMBERS}, {"x:0": -NUMBERS}]
    want = results(hosted, feeds)
    traces.count = 0
    got = results(hosted, feeds)
    assert traces.count == 0
    for a, b in zip(want, got, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)


def other(factor: float = 2.0, width: int = 3, stated: int | None = None, axis: int = 0) -> Any:
    x = tf.placeholder(tf.float32, [stated, width], name="x")
    v = tf.get_variable("v", [width], initializer=tf.ones_initializer())
    return tf.reduce_sum(tf.exp(x * v) * tf.constant([factor] * width), axis) + 1.0


@pytest.mark.parametrize(
    "change",
    [{"factor": 3.0}, {"stated": 4}, {"axis": 1}],
    ids=["a constant", "a shape", "an attribute"],
)
def test_any_difference_is_another_plan(change: dict[str, Any], traces: Traces) -> None:
    feeds = [{"x:0": NUMBERS}]
    results(other, feeds)
    traces.count = 0
    (got,) = results(lambda: other(**change), feeds)
    assert traces.count > 0
    with settings.override(jit="never"):
        (want,) = results(lambda: other(**change), feeds)
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_sizes_are_of_the_key(traces: Traces) -> None:
    results(other, [{"x:0": NUMBERS}])
    traces.count = 0
    results(other, [{"x:0": NUMBERS[:3]}])
    assert traces.count == 1
    assert len(PLANS.items()) == 2


def test_another_version_of_the_package_is_another_key(
    traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    results(other, [{"x:0": NUMBERS}])
    monkeypatch.setattr(plan_key, "version_labels", lambda: (("package", "other"),))
    traces.count = 0
    results(other, [{"x:0": NUMBERS}])
    assert traces.count == 1


def test_the_version_changes_with_any_module(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    module = tmp_path / "deep" / "module.py"
    module.write_text("a = 1")
    before = list(plan_key._modules(str(tmp_path)))
    module.write_text("a = 12")
    assert list(plan_key._modules(str(tmp_path))) != before


def test_a_variable_of_another_shape_is_another_plan(traces: Traces) -> None:
    def build() -> Any:
        v = tf.Variable(np.ones(2, np.float32), validate_shape=False, name="v")
        size = tf.placeholder(tf.int32, [], name="size")
        grow = tf.assign(v, tf.ones([size + 1]), validate_shape=False)
        return grow, tf.reduce_sum(tf.exp(v.read_value() * 2.0) + 1.0)

    def run(size: int) -> Any:
        with tf.Graph().as_default():
            grow, total = build()
            start = tf.global_variables_initializer()
            with tf.Session() as session:
                session.run(start)
                first = session.run(total)
                session.run(grow, {"size:0": size})
                return first, session.run(total)

    assert run(4) == run(4)
    assert run(6) == pytest.approx((2 * (np.exp(2) + 1), 7 * (np.exp(2) + 1)), rel=1e-6)


def checked() -> Any:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    at = tf.placeholder(tf.int32, [2], name="at")
    v = tf.get_variable("v", [4, 3], initializer=tf.ones_initializer())
    update = tf.scatter_add(v, at, tf.exp(x[:2]))
    return update, tf.reduce_sum(tf.gather(x, at) * 2.0)


def test_errors_of_a_stored_plan_are_those_of_the_traced_one() -> None:
    good, bad = {"x:0": NUMBERS, "at:0": [0, 3]}, {"x:0": NUMBERS, "at:0": [0, 7]}

    def told() -> str:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            results(checked, [good, bad])
        return str(caught.value.message)

    assert told() == told()


def test_a_plan_that_is_not_its_program_s_has_no_errors_to_give(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    good, bad = {"x:0": NUMBERS, "at:0": [0, 3]}, {"x:0": NUMBERS, "at:0": [0, 7]}
    results(checked, [good])
    monkeypatch.setattr(stored_plan, "all_checks", lambda schedule: [])
    with pytest.raises(tf.errors.InternalError, match="not that of its program"):
        results(checked, [good, bad])


def test_a_report_of_a_stored_plan_has_all_its_kernels() -> None:
    def report() -> str:
        with tf.Graph().as_default():
            fetches = dense()
            start = tf.global_variables_initializer()
            with tf.Session() as session:
                session.run(start)
                session.run(fetches, {"x:0": NUMBERS})
                found = session.explain(fetches, {"x:0": NUMBERS})
                session.run(fetches, {"x:0": NUMBERS})
                return [(kernel.name, kernel.ops) for kernel in found.kernels]

    first = report()
    assert first and report() == first


def _damaged(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def _of_other_data(content: bytes) -> bytes:
    """A file that is whole, but says what no plan says."""
    text = PLANS._key_text(content)
    stored = plan_encoding.from_bytes(PLANS._checked(content, text))
    stored.tables["values"] = [["float32"]]
    body = plan_encoding.to_bytes(stored)
    return b"\n".join([PLANS._head(text, body), body])


def _of_a_program(content: bytes) -> bytes:
    """A file whose sizes are no arithmetic."""
    text = PLANS._key_text(content)
    stored = plan_encoding.from_bytes(PLANS._checked(content, text))
    stored.tables["guards"] = {"s0.__class__": True}
    body = plan_encoding.to_bytes(stored)
    return b"\n".join([PLANS._head(text, body), body])


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


@pytest.mark.parametrize("change", [_damaged, _cut, _of_other_data, _of_a_program, lambda _: b""])
def test_a_damaged_plan_is_told_of_and_made_anew(
    change: Callable[[bytes], bytes], traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_WARNED", set())
    feeds = [{"x:0": NUMBERS}]
    (want,) = results(other, feeds)
    (item,) = PLANS.items()
    item.place.write_bytes(change(item.place.read_bytes()))
    traces.count = 0
    with pytest.warns(RuntimeWarning, match=f"cached plan {item.key} is not used"):
        (got,) = results(other, feeds)
    np.testing.assert_array_equal(got, want)
    assert traces.count == 1 and [PLANS.fault(item) for item in PLANS.items()] == [""]


def test_a_plan_whose_kernels_are_gone_is_made_anew(
    traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    results(other, [{"x:0": NUMBERS}])
    monkeypatch.setattr(compiler, "stored_kernels", lambda named: [None] * len(named))
    traces.count = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results(other, [{"x:0": NUMBERS}])
    assert traces.count == 1


def test_operations_with_a_meaning_of_their_own_are_in_no_plan() -> None:
    def build() -> Any:
        fetch = other()
        definition = fetch.op.definition
        fetch.op.definition = dataclasses.replace(definition, lower=lambda b, op, x, y: x)
        return fetch

    results(build, [{"x:0": NUMBERS}])
    assert PLANS.items() == []


def test_what_a_process_left_that_died_is_removed() -> None:
    results(other, [{"x:0": NUMBERS}])
    left = PLANS.path() / ".new-0"
    left.write_bytes(b"")
    os.utime(left, (0, 0))
    results(other, [{"x:0": NUMBERS[:2]}])
    assert not left.exists() and len(PLANS.items()) == 2


def test_plans_used_longest_ago_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_plan, "PLANS", dataclasses.replace(PLANS, most=2))
    for rows in (2, 3, 4):
        results(other, [{"x:0": NUMBERS[:rows]}])
    assert len(PLANS.items()) == 2


def test_small_programs_and_what_is_looked_at_are_not_kept() -> None:
    results(lambda: tf.placeholder(tf.float32, [None], name="x") * 2, [{"x:0": [1.0, 2.0]}])
    with settings.override(debug="timing"):
        results(other, [{"x:0": NUMBERS}])
    assert PLANS.items() == []


def test_a_first_run_by_reference_kernels_does_not_trace_again(
    traces: Traces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_plans, "_QUICK_TO_TRACE", 0)
    monkeypatch.setattr(interpreted, "_worth", lambda count: 0.0)

    def build() -> Any:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        return tf.concat([x * 2 + 1, tf.abs(x) - 3, x / 4], 0)

    feeds = [{"x:0": NUMBERS}] * 6  # so that its kernels are compiled
    with settings.override(jit="auto"):
        want = results(build, feeds)
        traces.count = 0
        got = results(build, feeds)
    assert traces.count == 0
    for a, b in zip(want, got, strict=True):
        np.testing.assert_array_equal(a, b)


_BEGINS = """
import numpy as np, numbaflow as tf
from numbaflow.jit.codegen import machine
from numbaflow.jit.codegen.compile import STATS
from numbaflow.jit.runtime import interpreted, plan, segment_plans
segment_plans._MOST_TRACED_TWICE = 0
interpreted._worth = lambda count: 0.0
machine.absent = lambda kernels: []
plan._waits_for_library = lambda native: False
weights = np.random.RandomState(1).standard_normal((70, 50)).astype("f")
x = tf.placeholder(tf.float32, [None, 70])
y = tf.exp(tf.matmul(x, weights) / 971.0)
total = tf.reduce_sum(tf.matmul(y * 0.375, weights, transpose_b=True) - 0.125, 0)
with tf.Session() as sess:
    found = {sess.run(total, {x: np.ones((40, 70), "f")}).tobytes() for _ in range(4)}
(one,) = found
print(one.hex(), STATS.compiles, interpreted.seconds())
"""


@pytest.mark.process
def test_plans_that_began_as_bytecode_are_found_by_other_processes(tmp_path: Path) -> None:
    """The kernels that a product calls stand in front of what bytecode has in front of a block."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBAFLOW")}
    environment |= {"NUMBAFLOW_CACHE": str(tmp_path), "NUMBAFLOW_WARM": "0"}
    told = [
        subprocess.run(
            [sys.executable, "-c", _BEGINS],
            env=environment,
            check=True,
            text=True,
            capture_output=True,
            cwd=tmp_path,
        ).stdout.split()
        for _ in range(2)
    ]
    (one, compiled, _), (other, later, began) = told
    assert one == other and int(compiled) > 0
    assert int(later) == 0 and float(began) == 0.0


def test_a_small_program_of_reference_kernels_asks_for_no_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def asked(*_: object) -> None:
        raise AssertionError("a plan was asked for")

    def build() -> Any:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        return tf.concat([x * 2 + 1, tf.abs(x) - 3, x / 4], 0)

    monkeypatch.setattr(stored_plan, "slot_of", asked)
    with settings.override(jit="auto"):
        assert results(build, [{"x:0": NUMBERS}])[0].shape == (12, 3)


_PROGRAM = """
import numpy as np, numbaflow as tf
from numbaflow.jit.library import template
x = tf.placeholder(tf.float32, [None, 3])
y = tf.layers.dense(x, 4, tf.nn.tanh, kernel_initializer=tf.ones_initializer())
train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(y ** 2))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        loss, _ = session.run([y, train], {x: np.ones((5, 3), np.float32) / 7})
print(loss.tobytes().hex(), sorted(map(str, template._TEXTS)))
"""


def test_a_second_process_writes_no_kernel_s_text(tmp_path: Path) -> None:
    place = {"NUMBAFLOW_CACHE": str(tmp_path / "kernels"), "NUMBAFLOW_JIT": "always"}
    place |= {"NUMBAFLOW_THREADS": "2", "NUMBAFLOW_WARM": "0"}

    def printed() -> list[str]:
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-c", _PROGRAM],
            env={**os.environ, **place},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.split(maxsplit=1)

    loss, made = printed()
    # (What the package brings is known without.)
    assert HAS_LIBRARY or "walk" in made
    assert printed() == [loss, "[]\n"]
