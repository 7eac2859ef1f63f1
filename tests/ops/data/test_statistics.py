# SPDX-License-Identifier: Apache-2.0
"""What datasets tell an aggregator: names and numbers are those of TensorFlow 1.15."""

from __future__ import annotations

import re
from typing import Any

import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


def _told(dataset: Any, prefix: str = "") -> dict[str, Any]:
    """By tag what an aggregator has been told when all elements were read."""
    with tf.Graph().as_default(), tf.Session() as session:
        aggregator = tf.data.experimental.StatsAggregator()
        options = tf.data.Options()
        options.experimental_stats.aggregator = aggregator
        options.experimental_stats.prefix = prefix
        options.experimental_stats.latency_all_edges = False
        iterator = tf.data.make_initializable_iterator(dataset().with_options(options))
        element, summary = iterator.get_next(), aggregator.get_summary()
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                session.run(element)
        found = tf.Summary.FromString(session.run(summary))
    return {value.tag: value for value in found.value}


def test_filters_and_buffers() -> None:
    def dataset() -> Any:
        numbers = tf.data.Dataset.range(10).prefetch(2)
        return numbers.filter(lambda x: tf.equal(x % 3, 0)).prefetch(1)

    told = _told(dataset, "mine")
    assert told["mine::FilterDataset/_6::filtered_elements"].simple_value == 4
    assert told["mine::FilterDataset/_6::dropped_elements"].simple_value == 6
    assert told["mine::PrefetchDataset/_5::buffer_capacity"].simple_value == 2
    assert told["mine::PrefetchDataset/_8::buffer_capacity"].simple_value == 1
    assert told["mine::PrefetchDataset/_8::buffer_size"].simple_value == 1
    used = told["mine::PrefetchDataset/_8::buffer_utilization"].histo
    assert (used.num, used.min, used.max) == (4, 1, 1)


@pytest.mark.parametrize("kind", ["ParallelMap", "MapAndBatch"])
def test_functions(kind: str) -> None:
    def dataset() -> Any:
        numbers = tf.data.Dataset.range(20)
        if kind == "ParallelMap":
            return numbers.map(lambda x: x * 2, num_parallel_calls=2)
        return numbers.apply(tf.data.experimental.map_and_batch(lambda x: x * 2, 4))

    told = _told(dataset)
    (time,) = (told[tag] for tag in told if re.fullmatch(rf"{kind}::.+::execution_time", tag))
    assert time.histo.num == 20 and time.histo.min > 0
    (used,) = (told[tag] for tag in told if re.fullmatch(rf"{kind}Dataset/_\d+::thread_.*", tag))
    assert 0 <= used.simple_value <= 1


def test_features_of_examples() -> None:
    features = {
        "x": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2, 3])),
        "y": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5])),
        "other": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5] * 9)),
    }
    record = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    wanted = {"x": tf.VarLenFeature(tf.int64), "y": tf.FixedLenFeature([], tf.float32)}

    def dataset() -> Any:
        records = tf.data.Dataset.from_tensors([record]).repeat(5)
        return records.apply(tf.data.experimental.parse_example_dataset(wanted))

    told = {tag.partition("::")[2]: value for tag, value in _told(dataset).items()}
    assert told["features_count"].histo.num == 5 and told["features_count"].histo.sum == 15
    assert told["feature_values_count"].histo.sum == 20
