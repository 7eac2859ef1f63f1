# SPDX-License-Identifier: Apache-2.0
"""Sequences as examples: windows of time series, and pairs of words near each other."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence as Sized
from typing import Any

import numpy as np

from ..utils.arrays import pad_sequences
from ..utils.sequences import Sequence

__all__ = ["TimeseriesGenerator", "make_sampling_table", "pad_sequences", "skipgrams"]


class TimeseriesGenerator(Sequence):
    """Windows of a series and the targets behind them, in batches.

    Args:
        data, targets: arrays of one length.
        length: steps of a window.
        sampling_rate: distance of the elements of a window.
        stride: distance of windows.
        start_index, end_index: the part that is used.
        shuffle: whether windows are drawn at random.
        reverse: whether each window is given backwards.
        batch_size: windows of a batch.

    Raises:
        ValueError: the lengths differ, or the part is too short.
    """

    def __init__(
        self,
        data: Any,
        targets: Any,
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: int | None = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
    ) -> None:
        if len(data) != len(targets):
            raise ValueError(
                "Data and targets have to be of same length. Data length is "
                f"{len(data)} while target length is {len(targets)}"
            )
        self.data, self.targets, self.length = data, targets, length
        self.sampling_rate, self.stride = sampling_rate, stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse, self.batch_size = shuffle, reverse, batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is "
                "disallowed, as no part of the sequence would be left to be used as current step."
            )

    def __len__(self) -> int:
        whole = self.batch_size * self.stride
        return (self.end_index - self.start_index + whole) // whole

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            first = self.start_index + self.batch_size * self.stride * index
            last = min(first + self.batch_size * self.stride, self.end_index + 1)
            rows = np.arange(first, last, self.stride)
        windows = np.array(
            [self.data[row - self.length : row : self.sampling_rate] for row in rows]
        )
        targets = np.array([self.targets[row] for row in rows])
        return (windows[:, ::-1, ...] if self.reverse else windows), targets

    def get_config(self) -> dict[str, Any]:
        """The arguments by name, the series and the targets as JSON.

        `start_index` is where the first window ends, as in Keras.

        Raises:
            TypeError: the series or the targets cannot be written so.
        """
        return {
            "data": _as_json("Data", self.data),
            "targets": _as_json("Targets", self.targets),
            **{
                name: getattr(self, name)
                for name in (
                    "length sampling_rate stride start_index end_index shuffle reverse batch_size"
                ).split()
            },
        }

    def to_json(self, **kwargs: Any) -> str:
        """The configuration as JSON; arguments as of json.dumps."""
        config = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps(config, **kwargs)


def timeseries_generator_from_json(json_string: str) -> TimeseriesGenerator:
    """The generator of what `to_json` gave."""
    config = json.loads(json_string)["config"]
    series = {name: json.loads(config.pop(name)) for name in ("data", "targets")}
    return TimeseriesGenerator(**series, **config)


def _as_json(name: str, values: Any) -> str:
    try:
        return json.dumps(values.tolist() if isinstance(values, np.ndarray) else values)
    except TypeError as error:
        raise TypeError(f"{name} not JSON Serializable:", values) from error


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> Any:
    """How probably words are kept, by their rank in a language, so that rare ones count more."""
    rank = np.arange(size)
    rank[0] = 1
    # Zipf's law, by which the i-th word's frequency is about 1 / (i * (log(i) + gamma) + 1/2 - …).
    inverse = rank * (np.log(rank) + 0.577) + 0.5 - 1.0 / (12.0 * rank)
    f = sampling_factor * inverse
    return np.minimum(1.0, f / np.sqrt(f))


def skipgrams(
    sequence: Sized[int],
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Any = None,
    seed: int | None = None,
) -> tuple[list[list[int]], list[Any]]:
    """Pairs of a word and one near it, labelled 1, and of a word and one at random, labelled 0.

    Args:
        sequence: numbers of words; 0 is none.
        vocabulary_size: above all numbers.
        window_size: how far words of a pair are apart at most.
        negative_samples: the number of random pairs for each of the others.
        shuffle: whether the pairs are shuffled.
        categorical: whether labels are [0, 1] and [1, 0].
        sampling_table: the probability of each word to be kept.
        seed: of the shuffling.

    Returns:
        The pairs and the labels.
    """
    couples: list[list[int]] = []
    labels: list[Any] = []
    for i, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        first, last = max(0, i - window_size), min(len(sequence), i + window_size + 1)
        for j in range(first, last):
            if j != i and sequence[j]:
                couples.append([word, sequence[j]])
                labels.append([0, 1] if categorical else 1)
    if negative_samples > 0:
        count = int(len(labels) * negative_samples)
        words = [pair[0] for pair in couples]
        random.shuffle(words)
        couples += [
            [words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)
        ]
        labels += [[1, 0] if categorical else 0] * count
    if shuffle:
        seed = random.randint(0, 10_000_000) if seed is None else seed
        for values in (couples, labels):
            random.seed(seed)
            random.shuffle(values)
    return couples, labels
