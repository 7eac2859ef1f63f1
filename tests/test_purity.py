# SPDX-License-Identifier: Apache-2.0
"""Tests marked `pure` run, start and compile nothing: whoever does is told."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

from . import purity

pytestmark = pytest.mark.cpu


def compiled() -> None:
    with tf.Graph().as_default(), tf.Session() as session, settings.override(jit="always"):
        session.run(tf.sin(tf.placeholder(tf.float32, [None])), {"Placeholder:0": np.ones(3)})


def started() -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


@pytest.mark.parametrize(
    "work, told",
    [
        (compiled, r"wants machine code \(.*\): mark it cpu"),
        (started, "starts a process .*: mark it process"),
        (lambda: os.system("true"), "starts a process .*: mark it process"),
    ],
    ids=["compiles", "starts", "shell"],
)
def test_what_is_not_pure_is_told(work: Callable[[], object], told: str) -> None:
    work()  # what is compiled already is refused, too
    with pytest.raises(pytest.fail.Exception, match=f"a test .*{told}"):
        with purity.kept_quiet("a test", "programs"), suppress(Exception):
            work()
    work()


def interpreted() -> None:
    with settings.override(jit="never"), tf.Graph().as_default():
        assert tf.Session().run(tf.constant(2.0) + 3.0) == 5.0


def test_interpreted_runs_are_so_marked() -> None:
    with purity.kept_quiet("a test", "programs"):
        interpreted()
    with pytest.raises(pytest.fail.Exception, match="a test .*runs a session: mark it programs"):
        with purity.kept_quiet("a test", "pure"), suppress(purity.Impure):
            interpreted()


def test_every_test_says_what_it_needs(request: pytest.FixtureRequest) -> None:
    for item in request.session.items:
        needs = {mark.name for mark in item.iter_markers()} & set(purity.NEEDS)
        assert needs and (len(needs) == 1 or not needs & set(purity.QUIET)), item.nodeid
