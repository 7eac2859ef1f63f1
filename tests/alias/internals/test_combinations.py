# SPDX-License-Identifier: Apache-2.0
"""Tests of strategies, as TensorFlow's are written: one test for each combination of arguments."""

from __future__ import annotations

import unittest
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.alias.internals import combinations, device_parts, strategy_combinations

pytestmark = pytest.mark.programs


def outcomes(case: type) -> dict[str, str]:
    """What becomes of each test of a class."""
    result = unittest.TestResult()
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    names = [test._testMethodName for test in suite]
    suite.run(result)
    found = dict.fromkeys(names, "passed")
    for kind in ("failures", "errors", "skipped"):
        for test, text in getattr(result, kind):
            found[test._testMethodName] = f"{kind}: {text}"
    return found


def test_combinations_are_products_in_order() -> None:
    pairs = combinations.combine(b=[1, 2], a="x")
    assert [list(one.items()) for one in pairs] == [[("a", "x"), ("b", 1)], [("a", "x"), ("b", 2)]]
    assert len(combinations.times(pairs, combinations.combine(c=[3, 4]))) == 4
    with pytest.raises(ValueError, match="Keys need to not overlap"):
        combinations.times(pairs, pairs)


def test_each_combination_is_a_test_in_a_graph_of_its_own() -> None:
    seen: list[Any] = []
    strategies = [
        strategy_combinations.default_strategy,
        strategy_combinations.one_device_strategy,
        strategy_combinations.mirrored_strategy_with_two_gpus,
        strategy_combinations.tpu_strategy,
    ]

    class Case(unittest.TestCase):
        @combinations.generate(
            combinations.combine(distribution=strategies, mode=["graph", "eager"])
        )
        def testScope(self, distribution: Any) -> None:
            self.assertFalse(tf.get_default_graph().get_operations())
            with distribution.scope():
                seen.append(tf.distribute.get_strategy())
                self.assertIs(seen[-1], distribution)
                tf.Variable(1.0)

        @combinations.generate(combinations.combine(unknown=1))
        def testArguments(self) -> None:
            self.fail("is not called")

    found = outcomes(Case)
    assert len(found) == 9 and len(seen) == 2
    passed = [name for name, text in found.items() if text == "passed"]
    assert passed == [
        "testScope_test_distribution_Default_mode_graph",
        "testScope_test_distribution_OneDeviceCPU_mode_graph",
    ]
    assert "eager mode" in found["testScope_test_distribution_Default_mode_eager"]
    assert "0 of 2 required GPUs" in found["testScope_test_distribution_Mirrored2GPUs_mode_graph"]
    assert "requires a TPU" in found["testScope_test_distribution_TPU_mode_graph"]
    assert "does not take parameters" in found["testArguments_test_unknown_1"]


def test_a_class_of_tests_is_generated_at_once() -> None:
    @combinations.generate(combinations.combine(x=[1, 2]))
    class Case(unittest.TestCase):
        def testOne(self, x: int) -> None:
            self.assertEqual(x, 1)

    found = outcomes(Case)
    assert found["testOne_test_x_1"] == "passed"
    assert found["testOne_test_x_2"].startswith("failures")


def test_devices_by_their_whole_names() -> None:
    with tf.Graph().as_default(), tf.device("/job:worker/task:3"):
        assert device_parts.resolve("/cpu:1") == "/job:worker/replica:0/task:3/device:CPU:1"
    assert device_parts.get_host_for_device("/job:ps/task:1/device:GPU:2").endswith("CPU:0")
    assert device_parts.local_devices_from_num_gpus(0) == ("/device:CPU:0",)


@pytest.mark.cpu
def test_gradients_of_several_devices() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        slices = tf.IndexedSlices(tf.constant([[2.0, 4.0]]), tf.constant([1]), tf.constant([3, 2]))
        total = device_parts.aggregate_tensors_or_indexed_slices([slices, slices])
        half = device_parts.divide_by_n_tensors_or_indexed_slices(total, 4)
        assert device_parts.contains_indexed_slices([1, (half,)])
        assert not device_parts.contains_indexed_slices([tf.constant(1.0)])
        want = [[0, 0], [1, 2], [0, 0]]
        assert session.run(tf.convert_to_tensor(half)).tolist() == want
