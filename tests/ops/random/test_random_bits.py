# SPDX-License-Identifier: Apache-2.0
"""Normal numbers are TensorFlow's to the last bit: checksums recorded from TensorFlow 1.15.5."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.jit.kernel import glibc_float32

pytestmark = pytest.mark.cpu


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize(
    "make, seed, checksum",
    [(tf.truncated_normal, 3, 0x51F5B73D), (tf.random_normal, 4, 0x6BB3EAF1)],
)
def test_recorded_draws(make, seed, checksum, mode):
    with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
        drawn = session.run(make([20000], seed=seed))
    assert zlib.crc32(drawn.tobytes()) == checksum


def test_single_precision_functions_are_right_to_an_ulp():
    random = np.random.default_rng(0)
    x = random.random(100_000).astype(np.float32) + np.float32(1e-7)
    np.testing.assert_array_max_ulp(
        glibc_float32.logf(x), np.log(x.astype(np.float64)).astype("f4"), 1
    )
    angle = (random.random(100_000) * 2 * np.pi).astype(np.float32)
    sine, cosine = glibc_float32.sincosf(angle)
    wide = angle.astype(np.float64)
    np.testing.assert_array_max_ulp(sine, np.sin(wide).astype(np.float32), 1)
    np.testing.assert_array_max_ulp(cosine, np.cos(wide).astype(np.float32), 1)
