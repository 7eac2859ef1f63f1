# SPDX-License-Identifier: Apache-2.0
"""Large tensors that processes of one machine map, and send where they cannot."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine.types import dtypes
from numbaflow.io import protos
from numbaflow.train.cluster import shared_memory
from numbaflow.train.cluster.tensor_messages import received

pytestmark = [
    pytest.mark.pure,
    pytest.mark.skipif(not shared_memory.machine(), reason="memory cannot be mapped here"),
]

ARRAY = np.arange(3 << 18, dtype=np.float32).reshape(3, -1)


def asked():
    request = protos.RecvTensorRequest(step_id=1)
    shared_memory.ask(request)
    return request


def test_arrays_are_mapped_and_last():
    shared = shared_memory.SharedArray(ARRAY, dtypes.float32)
    response = shared.response(asked())
    assert len(response) < 250
    found = shared_memory.mapped(response)
    del shared
    assert np.array_equal(found, ARRAY) and found.dtype == np.float32
    assert not found.flags.writeable


def test_others_get_all_of_it():
    shared = shared_memory.SharedArray(ARRAY, dtypes.float32)
    elsewhere = asked()
    elsewhere.transport_options.value = b"another machine"
    for request in (protos.RecvTensorRequest(), elsewhere):
        response = shared.response(request)
        assert shared_memory.mapped(response) is None
        assert np.array_equal(received(response), ARRAY)


def test_senders_that_are_gone():
    shared = shared_memory.SharedArray(ARRAY, dtypes.float32)
    response = shared.response(asked())
    del shared
    other = shared_memory.SharedArray(ARRAY, dtypes.float32)
    with pytest.raises(tf.errors.UnavailableError, match="sender"):
        shared_memory.mapped(response)
    del other


def test_small_arrays_and_texts_are_sent():
    assert shared_memory.is_worth_it(ARRAY)
    assert not shared_memory.is_worth_it(ARRAY[:1, :10])
    assert not shared_memory.is_worth_it(np.full(1 << 20, b"", object))
