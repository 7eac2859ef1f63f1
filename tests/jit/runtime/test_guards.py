# SPDX-License-Identifier: Apache-2.0
"""Kernels stay within their memory, and the guards notice one that does not, by a single byte."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.codegen import clock
from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.runtime import driver, guards
from numbaflow.jit.runtime.execution import Run
from numbaflow.jit.runtime.plan import Plan
from numbaflow.jit.schedule.argument_blocks import make_template
from numbaflow.jit.schedule.bind import bind
from numbaflow.jit.schedule.frame import Arena
from numbaflow.jit.trace.segment import Segment, Traced

from ...drawing import examples
from ..programs import Sample, samples, scheduled

pytestmark = pytest.mark.cpu

NUMBERS = np.arange(15, dtype=np.int32).reshape(3, 5)


def whole_product(mode: str) -> np.ndarray:
    """A product of whole numbers, of three rows and five columns."""
    with guards.among(mode), settings.override(jit="always"):
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.int32, [None, 5])
            return session.run(tf.matmul(x, tf.eye(5, dtype=tf.int32)), {x: NUMBERS})


@pytest.fixture
def plant(monkeypatch):
    """Adds a line to the kernel of the product, which has factors in args[0] and args[1]."""

    def plant(line: str) -> None:
        # (Its package has a function of the module's name.)
        module = import_module("numbaflow.jit.library.matmul")
        kernel = module._integer_kernel

        def planted(*turned):
            found = kernel(*turned)
            return replace(found, source=f"{found.text.rstrip()}\n    {line}\n", dtypes=None)

        monkeypatch.setattr(module, "_integer_kernel", planted)

    return plant


@pytest.mark.parametrize("mode", ["bytes", "pages"])
def test_a_kernel_that_stays_within_its_memory_runs(mode):
    np.testing.assert_array_equal(whole_product(mode), NUMBERS)


@pytest.mark.parametrize("place, side", [("-1", "before"), ("60", "behind")])
def test_one_byte_that_is_written_outside_is_noticed(plant, place, side):
    plant(f"pointer(as_bytes(args[2]) + {place})[0] = uint8(7)")
    message = rf"kernel matmul_integer \(MatMul\) wrote 1 bytes {side} buffer 2 .*, 1 bytes from it"
    with pytest.raises(guards.Unguarded, match=message):
        whole_product("bytes")


@pytest.mark.parametrize("place", ["-1", "60"])
def test_one_byte_that_is_written_outside_faults(plant, place):
    plant(f"pointer(as_bytes(args[2]) + {place})[0] = uint8(7)")
    with pytest.raises(guards.Unguarded, match="faults beside buffer 2"):
        whole_product("pages")


@pytest.mark.parametrize("place", ["-1", "15"])
def test_a_result_that_depends_on_what_lies_outside_is_noticed(plant, place):
    plant(f"pointer(args[2])[0] = pointer(args[0] + {place})[0]")
    with pytest.raises(guards.Unguarded, match="makes buffer 2 .* of what lies outside"):
        whole_product("bytes")


@pytest.mark.parametrize("place", ["-1", "15"])
def test_reading_outside_faults(plant, place):
    plant(f"pointer(args[2])[0] = pointer(args[0] + {place})[0]")
    with pytest.raises(guards.Unguarded, match="faults beside buffer 0"):
        whole_product("pages")


def test_writing_to_what_is_only_read_is_noticed(plant):
    plant("pointer(args[0])[2] = 5")
    with pytest.raises(guards.Unguarded, match="wrote to buffer 0 .*, which it only reads"):
        whole_product("bytes")


def compiled(sample: Sample) -> Run:
    """A run of a sample's program."""
    schedule = scheduled(sample)
    kernels = compiler.compile_kernels([(step.kernel, None) for step in schedule.steps])
    parts = [compiler.compiled_parts(step.kernel) for step in schedule.steps]
    addresses = [(k.address, *(part.address for part in p)) for k, p in zip(kernels, parts)]
    template = make_template(schedule, sample.program, sample.scope, addresses)
    segment = Segment((), 0, (), lambda stop: (), SimpleNamespace(threads=1, session=None))
    traced = Traced(segment, sample.program, sample.scope, 0, False, {}, {}, (), 0.0, {})
    plan = Plan(traced, schedule, kernels, (), template, {}, 0.0)
    run = Run(plan, bind(template, sample.symbols), Arena(1), sample.arrays)
    return run


@pytest.mark.parametrize("is_behind_python", [False, True])
def test_a_loop_goes_on_where_it_let_python_look(is_behind_python):
    def run(mode: str, jit: str) -> list[np.ndarray]:
        with guards.among(mode), settings.override(jit=jit):
            with tf.Graph().as_default(), tf.Session() as session:
                x, n = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
                added = tf.Variable([0.0, 0.0, 0.0]).assign_add(x)
                y = tf.string_to_number(tf.as_string(added)) if is_behind_python else added
                turn = lambda i, a: (i + 1, a * 0.5 + tf.reverse(x, [0]))  # noqa: E731
                end = tf.while_loop(lambda i, _: i < n, turn, [0, y])[1]
                session.run(tf.global_variables_initializer())
                feed = {x: [1.0, 2.0, 3.0], n: 2 * guards.TURNS + 50}
                return session.run([added, end, end + tf.reverse(end, [0])], feed)

    for got, want in zip(run("bytes", "always"), run("", "never"), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.fixture
def impatient_walker(monkeypatch):
    """Has walks pause behind every tile, as they do when tiles take long."""
    monkeypatch.setattr(clock, "SLICE", -1)
    driver.serial_walkers.cache_clear()
    yield
    driver.serial_walkers.cache_clear()


@pytest.mark.usefixtures("impatient_walker")
@pytest.mark.parametrize("mode", ["bytes", "pages"])
def test_a_kernel_that_pauses_runs_to_its_end(mode):
    x = np.linspace(-1.0, 1.0, 1 << 19, dtype=np.float32)
    with guards.among(mode), settings.override(jit="always"):
        with tf.Graph().as_default(), tf.Session() as session:
            fed = tf.placeholder(tf.float32, [None])
            got = session.run(tf.sqrt(tf.abs(fed)) * 2.0 + 1.0 / (2.0 + fed), {fed: x})
    want = np.sqrt(np.abs(x)) * np.float32(2) + np.float32(1) / (np.float32(2) + x)
    np.testing.assert_array_equal(got, want)


@given(samples(steps=6))
@examples(25)
def test_random_programs_stay_within_their_memory(sample):
    with guards.among("bytes"):
        found = compiled(sample)(sample.arrays)
    for got, want in zip(found, sample.expected, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("mode", ["bytes", "pages"])
def test_nothing_is_read_of_a_dimension_without_elements(mode):
    """Neither where that is known beforehand, nor where it turns out in a later run."""

    def run(mode: str, jit: str) -> list[Any]:
        found: list[Any] = []
        with guards.among(mode), settings.override(jit=jit):
            with tf.Graph().as_default(), tf.Session() as session:
                x, rows = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
                fetches = [tf.gather(x, rows) * 2.0, tf.gather(x[2:], rows) * 2.0]
                for fetch, count, wanted in product(fetches, (0, 4, 2), ([], [0, 1], [0, 2])):
                    feed = {x: np.ones((count, 3), np.float32), rows: wanted}
                    try:
                        found.append(session.run(fetch, feed).tolist())
                    except tf.errors.InvalidArgumentError as error:
                        found.append(error.message)
        return found

    found = run(mode, "always")
    assert found == run("", "never")
    assert any("is not in" in str(each) for each in found)


EDGES = {
    "a product": lambda x: tf.matmul(x, tf.transpose(x)),
    "a product of few columns": lambda x: tf.matmul(x, x[:, :3], transpose_a=True),
    "a convolution": lambda x: tf.nn.conv2d(
        tf.reshape(x, [1, -1, 37, 1]), tf.ones([3, 5, 1, 3]), [1, 2, 1, 1], "SAME"
    ),
    "a gradient of a convolution": lambda x: tf.gradients(
        tf.nn.conv2d(tf.reshape(x, [1, -1, 37, 1]), tf.ones([3, 5, 1, 3]), [1, 2, 2, 1], "VALID"),
        x,
    )[0],
    "max pooling": lambda x: tf.nn.max_pool(
        tf.reshape(x, [1, -1, 37, 1]), [1, 3, 3, 1], [1, 2, 2, 1], "SAME"
    ),
    "sums of rows": lambda x: tf.nn.softmax(x),
    "sums of columns": lambda x: tf.argmax(x, 0, output_type=tf.int32),
    "a transpose": lambda x: tf.transpose(x) + 0.0,
    "sorted rows added up": lambda x: tf.unsorted_segment_sum(x, tf.zeros([13], tf.int32), 2),
    "random numbers": lambda x: tf.random_normal(tf.shape(x)) * 0.0 + x,
}


@pytest.mark.parametrize("name", EDGES)
def test_nothing_is_read_or_written_beyond_the_last_vector(name):
    def run(mode: str, jit: str) -> np.ndarray:
        with guards.among(mode), settings.override(jit=jit):
            with tf.Graph().as_default(), tf.Session() as session:
                x = tf.placeholder(tf.float32, [None, 37])
                feed = np.random.default_rng(0).standard_normal((13, 37)).astype(np.float32)
                return session.run(EDGES[name](x), {x: feed})

    np.testing.assert_allclose(run("pages", "always"), run("", "never"), rtol=1e-4, atol=1e-5)
