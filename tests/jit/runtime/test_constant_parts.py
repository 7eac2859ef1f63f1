# SPDX-License-Identifier: Apache-2.0
"""What follows from constants alone has the bits that it has where the same numbers are fed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.runtime.runner import make_runner
from numbaflow.jit.trace.folding import rounds

pytestmark = pytest.mark.cpu

NUMBERS = np.random.default_rng(0).standard_normal((8, 10)).astype(np.float32)
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "tanh": tf.tanh,
    "softmax": tf.nn.softmax,
    "chain": lambda x: tf.sigmoid(tf.tanh(x) * 3) * tf.sin(x) + tf.cast(x > 0, tf.float32),
    "mean": lambda x: tf.reduce_mean(tf.exp(x), 0),
    "product": lambda x: tf.nn.relu(tf.matmul(x, tf.tanh(x), transpose_b=True)),
    "complex": lambda x: tf.exp(tf.complex(x, x)),
    "half": lambda x: tf.tanh(tf.cast(x, tf.float16)),
    "branch": lambda x: tf.cond(x[0, 0] > -9, lambda: tf.tanh(tf.exp(x)), lambda: x),
    "loop": lambda x: tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(y) + tf.exp(tf.constant(NUMBERS))), [0, x]
    )[1],
}


@pytest.mark.parametrize("mode", ["always", "auto"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_stated_and_fed_numbers_give_the_same_bits(name: str, mode: str) -> None:
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        fed = tf.placeholder(tf.float32, NUMBERS.shape)
        stated = PROGRAMS[name](tf.constant(NUMBERS))
        variable = tf.get_variable("v", initializer=tf.zeros(stated.shape, stated.dtype))
        wanted = session.run(PROGRAMS[name](fed), {fed: NUMBERS})
        for _ in range(2):
            found = session.run(stated)
            assert found.tobytes() == wanted.tobytes()
            # Beside what is fed, and where it goes to a variable at once.
            beside, _ = session.run([stated, fed * 2], {fed: NUMBERS})
            assert beside.tobytes() == wanted.tobytes()
            session.run(tf.assign(variable, stated))
            assert session.run(variable).tobytes() == wanted.tobytes()


def test_initial_values_have_the_bits_of_steps() -> None:
    with tf.Graph().as_default(), settings.override(jit="auto"), tf.Session() as session:
        fed = tf.placeholder(tf.float32, NUMBERS.shape)
        variable = tf.get_variable("v", initializer=tf.tanh(tf.constant(NUMBERS)))
        session.run(variable.initializer)
        wanted = session.run(tf.tanh(fed), {fed: NUMBERS})
        assert session.run(variable).tobytes() == wanted.tobytes()


def test_steps_do_not_compute_what_is_constant() -> None:
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        fed = tf.placeholder(tf.float32, NUMBERS.shape)
        result = fed + tf.tanh(tf.exp(tf.constant(NUMBERS)))
        runner = make_runner(session, session.graph, [result], [], [fed])
        plan, _ = runner.prepare([NUMBERS])
        texts = [str(step.kernel) for step in plan.schedule.steps]
        assert len(texts) == 1
        assert "tanh" not in texts[0]


def test_a_constant_that_is_fed_is_what_is_fed() -> None:
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        constant = tf.constant(NUMBERS)
        result = tf.tanh(constant)
        before = session.run(result)
        zeros = session.run(result, {constant: np.zeros_like(NUMBERS)})
        assert not zeros.any()
        assert session.run(result).tobytes() == before.tobytes()


def test_what_is_exact_is_left_to_reference_kernels() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(NUMBERS)
        exact = [x + 1.0, x * x, tf.transpose(x), tf.reduce_max(x, 0), tf.sqrt(abs(x)), x > 0]
        other = [tf.tanh(x), tf.reduce_sum(x), tf.matmul(x, x, transpose_b=True), x**x]
        runner = make_runner(session, session.graph, [*exact, *other], [], [])
        evaluate = runner.runner.evaluate
        for tensors, is_free in ((exact, False), (other, True)):
            for tensor in tensors:
                known = session.run(list(tensor.op.inputs))
                assert rounds(tensor.op, list(map(np.asarray, known)), evaluate) is is_free, tensor


def test_code_for_other_processors_takes_what_this_one_computes() -> None:
    def constants(target: str) -> bytes:
        with tf.Graph().as_default(), tf.Session() as session:
            fed = tf.placeholder(tf.float32, NUMBERS.shape)
            result = fed + tf.tanh(tf.constant(NUMBERS))
            with settings.override(jit="always", target=target):
                runner = make_runner(session, session.graph, [result], [], [fed])
                traced = runner.trace([NUMBERS])
            known = [node.outputs[0].known for node in traced.program if node.outputs]
            stated, computed = [x for x in known if x is not None and x.size > 1]
            np.testing.assert_allclose(computed, np.tanh(stated), rtol=1e-5)
            return computed.tobytes()

    assert constants("aarch64") == constants("")


@pytest.mark.parametrize("mode", ["always", "auto"])
@pytest.mark.parametrize("use_resource", [True, False])
def test_what_lasts_is_no_constant(mode: str, use_resource: bool) -> None:
    """Elements of a dataset, variables, random numbers, queues: a run takes of each once."""
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        rows = tf.data.Dataset.from_tensor_slices(np.arange(4, dtype=np.float32))
        row = tf.data.make_one_shot_iterator(rows).get_next()
        queue = tf.FIFOQueue(9, tf.float32, [()])
        session.run(queue.enqueue_many([np.arange(9, dtype=np.float32)]))
        calls: list[int] = []
        called = tf.py_func(lambda: np.float32(calls.append(1) or len(calls)), [], tf.float32)
        variable = tf.get_variable("v", initializer=1.0, use_resource=use_resource)
        drawn = tf.random_uniform([], seed=3)
        constant = tf.reduce_sum(tf.exp(tf.constant(NUMBERS)))
        taken = [row, queue.dequeue(), called, variable + 0.0, drawn]
        others = [tf.tanh(x) * constant for x in taken]
        session.run(variable.initializer)
        before = []
        for number in range(4):
            found = session.run([*taken, *others])
            assert found[:4] == [number, number, number + 1, number + 1]
            before.append(found[4])
            session.run(tf.assign_add(variable, 1.0))
        assert len(set(before)) == 4
