# SPDX-License-Identifier: Apache-2.0
"""What only a card can tell: run by `make test-gpu`, left out where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.engine.session.device_placement import gpus

from . import programs

pytestmark = [pytest.mark.cpu, pytest.mark.cuda]


@pytest.fixture(autouse=True)
def card() -> Any:
    with settings.override(gpu="auto", jit="always"), tf.Graph().as_default():
        if not gpus():
            pytest.skip("this machine has no GPU that CUDA knows")
        yield gpus()[0]


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_programs_give_what_the_processor_gives(name: str) -> None:
    found, gpu = programs.results(name)
    with settings.override(gpu="none"):
        wanted, _ = programs.results(name)
    assert gpu is not None
    programs.assert_alike(found, wanted)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_two_runs_give_the_same_bits(name: str) -> None:
    one, other = (tf.nest.flatten(programs.results(name)[0]) for _ in range(2))
    for mine, theirs in zip(one, other, strict=True):
        assert np.asarray(mine).tobytes() == np.asarray(theirs).tobytes()


@pytest.mark.parametrize("shape", [(3, 5), (33, 1000), (7, 40_000), (5000, 3)])
def test_sums_of_all_shapes(shape: tuple[int, int]) -> None:
    x = tf.placeholder(tf.float32, [None, None])
    wanted = [tf.reduce_sum(x, 1), tf.reduce_max(x, 0), tf.nn.softmax(x), tf.argmax(x, 1)]
    values = np.random.default_rng(0).standard_normal(shape, np.float32)
    with tf.Session() as session:
        found = session.run(wanted, {x: values})
    with settings.override(gpu="none"), tf.Session() as session:
        programs.assert_alike(found, session.run(wanted, {x: values}))
