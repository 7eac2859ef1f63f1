# SPDX-License-Identifier: Apache-2.0
"""First runs, whose new kernels are evaluated: the bits of compiled ones, whatever happens."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.benchmarks.models.catalog import MODELS
from numbaflow.engine import settings
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen import compile_workers, machine
from numbaflow.jit.codegen.bytecode import program
from numbaflow.jit.codegen.machine import address_of
from numbaflow.jit.codegen.signature import SIGNATURE
from numbaflow.jit.kernel.ir import Kernel, postorder
from numbaflow.jit.runtime import interpreted, left_over, plan

from ..bytecode import Bytecode

pytestmark = pytest.mark.cpu
DTYPES = ("float32", "float64", "float16", "bfloat16", "int32", "int64")


class Noted(list[interpreted.Interpreted]):
    """What was bytecode, in the order of plans."""

    @property
    def kernels(self) -> set[Kernel]:
        """Those of which anything was run."""
        return {one.kernel for one in self if one.seconds}

    @property
    def seconds(self) -> float:
        """What running all of it took, as it is estimated."""
        return sum(one.seconds for one in self)


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> Iterator[Noted]:
    """Kernels count as new, whatever the cache holds; those that were bytecode."""
    found = Noted()

    class One(interpreted.Interpreted):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            found.append(self)

    # All of a first run is bytecode, however quick the compiler is.
    monkeypatch.setattr(compiler, "compile_ahead", lambda kernels: None)
    monkeypatch.setattr(interpreted, "new", lambda kernels: list(kernels))
    # Instructions that are not there are compiled.
    monkeypatch.setattr(machine, "absent", lambda kernels: [])
    # Only first runs are: what comes later is compared with them.
    monkeypatch.setattr(interpreted, "_worth", lambda count: 0.0)
    monkeypatch.setattr(interpreted, "_PATIENCE", 1e6)
    # Nor does it matter whether the library is there.
    monkeypatch.setattr(plan, "_waits_for_library", lambda native: False)
    monkeypatch.setattr(interpreted, "Interpreted", One)
    yield found


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Numbers of both signs whose sums depend on their order."""
    drawn = np.random.RandomState(sum(shape)).standard_normal(shape) * 3
    return drawn.astype(tf.as_dtype(dtype).as_numpy_dtype)


def both(make: Callable[[], Any], feeds: dict[Any, Any] | None = None) -> tuple[Any, Any]:
    """What the first run gives, and a later one."""
    fetches = make()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        first = sess.run(fetches, feeds)
        sess.run(tf.global_variables_initializer())
        return first, sess.run(fetches, feeds)


def same(first: Any, later: Any) -> None:
    for one, other in zip(
        tf.contrib.framework.nest.flatten(first), tf.contrib.framework.nest.flatten(later)
    ):
        one, other = np.asarray(one), np.asarray(other)
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_array_equal(one.astype(np.float64), other.astype(np.float64))


# Rows whose length is short, is not whole vectors, is some of all lanes and is cut into pieces.
LENGTHS = (1, 3, 5, 12, 16, 17, 40, 64, 129, 1000, 70_000)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_totals_of_rows_are_added_in_one_order(length, dtype, evaluated):
    x = tf.placeholder(dtype, [None, length if length < 20 else None])
    array = numbers(7, length, dtype=dtype)

    def make() -> list[Any]:
        wide = tf.cast(x, tf.float32)
        return [
            tf.reduce_sum(x, 1),
            tf.reduce_sum(tf.exp(wide), 1),
            tf.reduce_prod(1 + wide / 1000, 1),
            tf.nn.softmax(wide),
            tf.nn.moments(wide, [1]),
            tf.reduce_sum(tf.cast(x, tf.float64) * 3, 1),
            tf.reduce_sum(tf.tanh(wide)),
            tf.argmax(x, 1),
            tf.reduce_max(x, 1),
        ]

    same(*both(make, {x: array}))
    assert {kernel.form for kernel in evaluated.kernels} >= {"row"}


@pytest.mark.parametrize("shape", [(5, 3, 40), (300, 2, 17), (2, 50, 1), (9, 1, 130)])
@pytest.mark.parametrize("axes", [[0], [1], [0, 1], [0, 2], [1, 2], [0, 1, 2]])
def test_reductions_over_any_axes(shape, axes, evaluated):
    x = tf.placeholder(tf.float32, [None, None, None])

    def make() -> list[Any]:
        y = tf.transpose(x, [2, 0, 1]) * 2
        return [
            *(tf.reduce_sum(v * v, axes) for v in (x, y)),
            tf.reduce_min(x, axes),
            tf.reduce_any(x > 2, axes),
            x - tf.reduce_mean(x, axes, keepdims=True),
            tf.argmin(x, axes[0]),
        ]

    same(*both(make, {x: numbers(*shape)}))
    assert evaluated


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_every_kind(dtype, evaluated):
    array = numbers(6, 70, dtype=dtype)
    x = tf.placeholder(dtype, [None, None])
    at = tf.placeholder(tf.int64, [None])

    def make() -> list[Any]:
        found = [
            x * x + x,
            tf.maximum(x, x[::-1]) - x[:, ::-1],
            tf.transpose(x) + tf.transpose(x)[0],
            tf.gather(x, at) * 2,
            tf.where(x > 1, x, tf.zeros_like(x)),
            tf.concat([x[1:], x[:2]], 0),
            tf.pad(x, [[1, 2], [3, 0]]),
            tf.cast(x, tf.int32) // 3,
            tf.cast(x, tf.float16),
            tf.tile(x, [2, 1]),
        ]
        if tf.as_dtype(dtype).is_floating:
            found += [tf.exp(x), tf.sigmoid(x) * tf.tanh(x), tf.log(tf.abs(x)), x / 3, tf.sqrt(x)]
            found += [tf.floormod(x, 2), tf.erf(x), x**3.0, tf.sin(x), tf.rsqrt(x * x + 1)]
        return found

    same(*both(make, {x: array, at: [3, 0, 5, 3]}))
    # (Whole numbers are what reference kernels give, too, which need no plan.)
    assert evaluated or not tf.as_dtype(dtype).is_floating


def test_special_numbers(evaluated):
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-42, -1e-42, 3e38, -3e38, 1.0]
    x = tf.placeholder(tf.float32, [None])

    def make() -> list[Any]:
        pairs = x[:, None], x[None]
        return [
            *(f(*pairs) for f in (tf.add, tf.multiply, tf.divide, tf.maximum, tf.minimum, tf.pow)),
            *(f(x) for f in (tf.exp, tf.log, tf.tanh, tf.sign, tf.floor, tf.nn.relu, tf.nn.elu)),
            *(f(x) for f in (tf.reduce_max, tf.reduce_min, tf.argmax, tf.argmin, tf.reduce_sum)),
            tf.cast(x, tf.int32),
            tf.cast(x, tf.int64),
            tf.cast(x, tf.bool),
            tf.cast(x, tf.uint8),
        ]

    same(*both(make, {x: np.array(special, np.float32)}))


@pytest.mark.parametrize("rows", [0, 1])
def test_nothing_and_little(rows, evaluated):
    x = tf.placeholder(tf.float32, [None, None])
    same(
        *both(
            lambda: [tf.exp(x), tf.reduce_sum(x, 0), tf.reduce_sum(x, 1), tf.nn.softmax(x + 1)],
            {x: numbers(rows, 5)},
        )
    )


def test_training_with_loops_takes_the_same_steps(evaluated):
    tf.set_random_seed(1)
    x = tf.constant(numbers(4, 9, 5))
    cell = tf.nn.rnn_cell.LSTMCell(6)
    outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    loss = tf.reduce_sum(tf.square(outputs - 0.5))
    step = tf.train.AdamOptimizer(0.1).minimize(loss)
    found = []
    for mode in ("auto", "always"):
        with settings.override(jit=mode), tf.Session() as sess:
            sess.run(tf.global_variables_initializer(), None)
            found.append([sess.run([loss, step])[0] for _ in range(3)])
            found[-1] += sess.run(tf.trainable_variables())
    same(*found)
    assert evaluated


def test_a_kernel_with_much_to_do_is_compiled_in_the_middle(evaluated, monkeypatch):
    monkeypatch.setattr(interpreted, "_PATIENCE", 1e-7)
    monkeypatch.setattr(interpreted, "_LOADING", 0.0)
    x = tf.placeholder(tf.float32, [None, None])
    found = both(lambda: tf.reduce_sum(tf.exp(x) + 0.25, 0), {x: numbers(3000, 200)})
    same(*found)
    assert any(one.seconds and not one.is_bytecode for one in evaluated)


def test_the_first_tile_tells_how_much_there_is_to_do(evaluated, monkeypatch):
    x = tf.placeholder(tf.float32, [None, None])
    monkeypatch.setattr(interpreted, "_LOADING", 0.0)
    seconds = []
    for patience in (60.0, 0.001):
        monkeypatch.setattr(interpreted, "_PATIENCE", patience)
        evaluated.clear()
        same(*both(lambda: tf.sin(x) * 1.75, {x: numbers(4000, 700)}))
        seconds.append(evaluated.seconds)
    every, first = seconds
    # (Threads may have begun with one tile each, and the first counts for more than its own.)
    assert 0 < first < every / 1.5


TWO = np.float32([[1.0], [2.0]])  # so that rows on two axes are not those of one
# Kernels of all forms, with rows on several axes, that are cut into tiles.
IN_TILES = {
    "few rows on the last axis": ((40_000, 2, 4), lambda x: tf.reduce_sum(tf.sin(x * TWO), 2)),
    "few rows on two axes": ((9000, 3, 2, 4), lambda x: tf.reduce_max(tf.sin(x * TWO), 3)),
    "softmax": ((9000, 2, 5), lambda x: tf.nn.softmax(x)),
    "long rows": ((300, 7, 200), lambda x: tf.reduce_mean(tf.cos(x), 2)),
    "sums down": ((50, 40, 300), lambda x: tf.reduce_sum(tf.sin(x), 1)),
    "squares": ((900, 700), lambda x: tf.transpose(x) + 0.5),
    "squares of three axes": ((60, 90, 110), lambda x: tf.transpose(x, [2, 1, 0]) * 2.0),
    "short rows": ((2, 60_000, 3), lambda x: tf.transpose(x, [1, 0, 2]) * 2.0),
    "short rows across": ((3, 2, 60_000), lambda x: tf.transpose(x, [2, 1, 0]) * 2.0),
    "pixels": ((8, 90, 80, 3), lambda x: tf.transpose(x, [0, 3, 1, 2]) - 1.0),
    "pixels back": ((30, 3, 90, 80), lambda x: tf.transpose(x, [0, 2, 3, 1]) - 1.0),
    "broadcast": ((500, 1, 30), lambda x: tf.sin(x) + tf.reshape(x[:40, 0, 0], [40, 1])),
}


@pytest.mark.parametrize("name", IN_TILES)
def test_evaluated_and_compiled_tiles_go_together(name, evaluated, monkeypatch):
    """Both mean the same rows: every other tile of a run is bytecode, the rest is compiled."""
    count, kept = itertools.count(), []

    def mix(self):
        made = compiler.compile_kernel(self.kernel, self.origin)
        code, bytecode = SIGNATURE(made.address), Bytecode(self.kernel)

        def mixed(args, *tile):
            (code if next(count) % 2 else bytecode.run)(args, *tile)

        kept.append(SIGNATURE(mixed))
        self._desk.give_way(address_of(kept[-1]))

    first_kernels = interpreted.first_kernels

    def begun(kernels, first):
        found = first_kernels(kernels, first)
        for one in first.kernels:
            mix(one)
        return found

    monkeypatch.setattr(plan, "first_kernels", begun)
    shape, function = IN_TILES[name]
    x = tf.placeholder(tf.float32, [None, *shape[1:]])
    same(*both(lambda: function(x), {x: numbers(*shape)}))
    assert kept and next(count) > 3


def test_runs_go_on_until_their_kernels_are_compiled(evaluated, monkeypatch):
    """By threads meanwhile: no run waits for them."""
    monkeypatch.setattr(interpreted, "_worth", lambda count: 100.0 * count)
    x = tf.placeholder(tf.float32, [None, None])
    y = [tf.exp(x) * 2 + 0.375, tf.reduce_sum(x * 0.375, 1)]
    feeds = {x: numbers(3, 70)}
    with tf.Session() as sess:
        found = [sess.run(y, feeds) for _ in range(4)]
        before = evaluated.seconds
        assert len(evaluated.kernels) == 2 and all(one.is_bytecode for one in evaluated)
        # Had there been threads: one kernel is there after a run, another after the next.
        for number, kernel in enumerate(evaluated.kernels):
            job = compiler._job(kernel, compiler.labels_of(compiler.content_of(kernel)))
            made = job, compiler.machine_code(job), 0.1
            monkeypatch.setitem(compile_workers.here()._made, job.symbol, made)
            found += [sess.run(y, feeds) for _ in range(2)]
            assert sum(not one.is_bytecode for one in evaluated) == number + 1
        seconds = evaluated.seconds
        found += [sess.run(y, feeds) for _ in range(2)]
    for later in found:
        same(found[0], later)
    assert before < seconds == evaluated.seconds


@pytest.mark.parametrize("worth", [0.0, 1e-7])
def test_what_runs_often_is_compiled(evaluated, monkeypatch, worth):
    """Be there threads for it or not."""
    monkeypatch.setattr(interpreted, "_worth", lambda count: worth * count)
    x = tf.placeholder(tf.float32, [None])
    y = tf.exp(x) * 2 + 0.625
    with tf.Session() as sess:
        seconds = [0.0]
        for _ in range(20):
            sess.run(y, {x: [1.0]})
            seconds.append(evaluated.seconds)
    assert 0 < seconds[1] <= seconds[2] == seconds[-1] if not worth else seconds[2] < seconds[-1]
    assert seconds[-2] == seconds[-1]


def test_rows_that_meet_are_added_in_order(evaluated):
    """A row that is there twice reads what the first one wrote."""
    table = tf.Variable(numbers(6, 70))
    rows = tf.placeholder(tf.int64, [None])
    made = tf.train.AdagradOptimizer(0.5).minimize(
        tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, rows)))
    )
    added = tf.scatter_add(table, rows, tf.exp(tf.gather(table, rows)))
    found = []
    for mode in ("auto", "always"):
        with settings.override(jit=mode), tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in (made, added):
                sess.run(step, {rows: [3, 1, 3, 3, 0, 1]})
            found.append(sess.run(table))
    same(*found)


def test_a_session_that_runs_small_work_twice_waits_for_no_kernel(evaluated):
    """Its first run is that of reference kernels, its second the first of a plan."""
    x = tf.placeholder(tf.float32, [3])
    y = tf.reduce_max(x * 2.5 + 1.0)
    with tf.Session() as sess:
        found = [sess.run(y, {x: [1.0, 2.0, -3.0]}) for _ in range(2)]
    assert found == [6.0, 6.0] and evaluated


def test_where_the_library_is_missing_all_is_compiled_with_it(tmp_path, monkeypatch):
    """As what is left would save little."""

    def never(*_: Any) -> list[None]:
        raise AssertionError("a kernel would be evaluated")

    monkeypatch.setattr(plan, "first_kernels", never)
    x = tf.placeholder(tf.float32, [1, 9, 9, 16])
    y = tf.exp(tf.nn.conv2d(x, numbers(3, 3, 16, 24) / 50, 1, "SAME"))
    with tf.Session() as sess:
        with settings.override(cache=tmp_path / "empty"):
            first = sess.run(y, {x: np.ones(x.shape)})
        same(first, sess.run(y, {x: np.ones(x.shape)}))


def test_a_session_that_always_compiles_evaluates_nothing(evaluated):
    with settings.override(jit="always"), tf.Session() as sess:
        sess.run(tf.exp(tf.Variable([1.0, 2.0]).initial_value) * 7)
    assert not evaluated


def test_totals_of_negated_products_are_evaluated(evaluated):
    """LLVM would fuse the product with the sum, if the sum let it."""
    x = tf.placeholder(tf.float32, [None, 200])
    totals = [tf.reduce_sum(-(x * x * x), 1), tf.reduce_sum(-(x * x), 1), tf.reduce_sum(-x * x)]
    same(*both(lambda: totals, {x: numbers(30, 200)}))
    sums = [r for kernel in evaluated.kernels for r in kernel.reductions]
    assert any(getattr(n, "fn", "") == "neg" for r in sums for n in postorder(r.value))


def test_an_interrupt_is_an_exception_once_the_run_is_over(evaluated, monkeypatch):
    variable = tf.Variable(numbers(40))
    changed = tf.assign(variable, tf.exp(variable) + 1)
    compile_kernel = compiler.compile_kernel

    def interrupted(*given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return compile_kernel(*given)

    with tf.Session() as sess:
        sess.run(variable.initializer)
        monkeypatch.setattr(interpreted, "_PATIENCE", -1.0)
        monkeypatch.setattr(interpreted, "_LOADING", 0.0)
        monkeypatch.setattr(compiler, "compile_kernel", interrupted)
        # (What a shell starts in the background ignores interrupts.)
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt):
                sess.run(changed)
        finally:
            signal.signal(signal.SIGINT, before)
        monkeypatch.undo()
        np.testing.assert_allclose(sess.run(variable), np.exp(numbers(40)) + 1, rtol=1e-6)


def test_what_goes_wrong_in_a_run_is_an_exception_of_it(evaluated, monkeypatch):
    def wrong(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(interpreted, "_PATIENCE", -1.0)
    monkeypatch.setattr(interpreted, "_LOADING", 0.0)
    x = tf.placeholder(tf.float32, [None])
    with tf.Session() as sess:
        with monkeypatch.context() as patch:
            patch.setattr(compiler, "compile_kernel", wrong)
            with pytest.raises(tf.errors.ResourceExhaustedError):
                sess.run(tf.exp(x) * 2 + 0.625, {x: [1.0]})


def test_threads_may_have_their_first_runs_at_once(evaluated):
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.exp(x) * 2 + 0.875)
    results: list[Any] = []
    with tf.Session() as sess:
        threads = [
            threading.Thread(target=lambda: results.append(sess.run(y, {x: numbers(5000)})))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(results) == 4 and len(set(results)) == 1


def test_a_report_is_of_compiled_kernels(evaluated):
    x = tf.placeholder(tf.float32, [None])
    y = tf.exp(x) * 2 + 0.125
    with tf.Session() as sess:
        sess.run(y, {x: [1.0]})
        text = str(sess.explain(y, {x: [1.0]}))
    assert "Exp" in text and "compiled" not in text.splitlines()[0]


PROGRAM = """
import numpy as np, numbaflow as tf
x = tf.placeholder(tf.float32, [None, None])
print(tf.Session().run(tf.reduce_sum(tf.exp(x) + 1, 0), {x: np.ones((3, 5))})[0])
"""


def test_what_was_bytecode_is_compiled_when_the_process_has_ended(tmp_path, evaluated):
    x = tf.placeholder(tf.float32, [None, None])
    tf.Session().run(tf.reduce_sum(tf.exp(x) + 1, 0), {x: np.ones((3, 5))})
    programs = [program(kernel) for kernel in evaluated.kernels]
    names = ("PYTEST", "CI", "NUMBAFLOW")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(names)}
    environment["NUMBAFLOW_CACHE"] = str(tmp_path / "cache")
    with settings.override(cache=tmp_path / "cache"):
        compiler.store_kernels({part for one in programs for part in (one.machine, *one.kernels)})
    run = [sys.executable, "-c", PROGRAM]
    subprocess.run(run, env=environment, check=True, cwd=tmp_path, timeout=120)
    end = time.monotonic() + 300  # it takes what others leave
    while not any("sum of" in text for text in _kernels(tmp_path / "cache")):
        assert time.monotonic() < end, "nobody compiled it"
        time.sleep(0.1)


def _kernels(folder: Path) -> list[str]:
    return [path.read_text(encoding="utf-8") for path in folder.glob("*/kernel.py")]


def test_many_kernels_are_no_more_than_a_pipe_holds():
    entries = [[[["a", str(n)]], "x" * 500, "y" * 3000, {}] for n in range(64)]
    assert len(left_over.pack(entries)) < left_over._MOST_BYTES


_STEPS = """
import sys
from numbaflow.benchmarks.models.session import module_of, steps_of
from numbaflow.jit.runtime import interpreted, plan
interpreted.new = list
plan._waits_for_library = lambda native: False
steps = steps_of("numbaflow", module_of("numbaflow"), sys.argv[1], 2, {})
for _ in range(5):
    steps.run()
"""


def _begins(model: str, folder: Path) -> None:
    """Runs a model's first steps with all of its own kernels evaluated."""
    names = ("PYTEST", "CI", "NUMBAFLOW")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(names)}
    environment |= {"NUMBAFLOW_CACHE": str(folder), "NUMBAFLOW_WARM": "0"}
    run = [sys.executable, "-c", _STEPS, model]
    subprocess.run(run, env=environment, check=True, timeout=300, cwd=folder)


def test_threads_evaluate_tiles_of_loops_whose_last_walk_was_short(tmp_path):
    """A short walk keeps Python's lock the next time, but not from threads that need it."""
    _begins("seq2seq", tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("model", MODELS)
def test_no_model_stands_still_while_kernels_are_evaluated(model, tmp_path):
    _begins(model, tmp_path)
