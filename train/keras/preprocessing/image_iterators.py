# SPDX-License-Identifier: Apache-2.0
"""Batches of pictures, by numbers of examples, and those of an array."""

from __future__ import annotations

import os
import threading
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend.settings import floatx, image_data_format
from ..utils.sequences import Sequence
from .image_arrays import array_to_img

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from .image_generator import ImageDataGenerator


class Iterator(Sequence):
    """Batches by numbers of examples; classes say what a batch of numbers is.

    Args:
        n: the number of examples.
        batch_size: examples of a batch.
        shuffle: whether they come in another order in each epoch.
        seed: of the order.
    """

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        self.n, self.batch_size, self.shuffle, self.seed = n, batch_size, shuffle, seed
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()
        self.index_array: Any = None
        self.index_generator = self._flow_index()

    def _set_index_array(self) -> None:
        self.index_array = np.arange(self.n)
        if self.shuffle:
            self.index_array = np.random.permutation(self.n)

    def __getitem__(self, idx: int) -> Any:
        if idx >= len(self):
            raise ValueError(
                f"Asked to retrieve element {idx}, but the Sequence has length {len(self)}"
            )
        if self.seed is not None:
            np.random.seed(self.seed + self.total_batches_seen)
        self.total_batches_seen += 1
        if self.index_array is None:
            self._set_index_array()
        rows = self.index_array[self.batch_size * idx : self.batch_size * (idx + 1)]
        return self._get_batches_of_transformed_samples(rows)

    def __len__(self) -> int:
        return (self.n + self.batch_size - 1) // self.batch_size

    def on_epoch_end(self) -> None:
        """Draws another order."""
        self._set_index_array()

    def reset(self) -> None:
        """Begins with the first batch."""
        self.batch_index = 0

    def _flow_index(self) -> Any:
        self.reset()
        while True:
            if self.seed is not None:
                np.random.seed(self.seed + self.total_batches_seen)
            if self.batch_index == 0:
                self._set_index_array()
            current = self.batch_index * self.batch_size % self.n if self.n else 0
            is_last = self.n <= current + self.batch_size
            self.batch_index = 0 if is_last else self.batch_index + 1
            self.total_batches_seen += 1
            yield self.index_array[current : current + self.batch_size]

    def __iter__(self) -> Any:
        return self

    def __next__(self, *args: Any) -> Any:
        with self.lock:
            rows = next(self.index_generator)
        return self._get_batches_of_transformed_samples(rows)

    next = __next__

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        raise NotImplementedError


def warn_of_channels(begin: str, shape: tuple[int, ...], data_format: str) -> None:
    """Warns of pictures whose axis of channels, by their format, is of no picture's size."""
    axis = 3 if data_format == "channels_last" else 1
    if shape[axis] in (1, 3, 4):
        return
    warnings.warn(
        f'{begin} the data format convention "{data_format}" (channels on axis {axis}), i.e. '
        f"expected either 1, 3, or 4 channels on axis {axis}. However, it was passed an array with "
        f"shape {shape} ({shape[axis]} channels).",
        stacklevel=4,
    )


def _check_lengths(x: Any, more: list[Any], y: Any, sample_weight: Any) -> None:
    for part in more:
        if len(part) != len(x):
            raise ValueError(
                "All of the arrays in `x` should have the same length. Found a pair with: "
                f"len(x[0]) = {len(x)}, len(x[?]) = {len(part)}"
            )
    for name, what, part in (
        ("y", "`y` (labels)", y),
        ("sample_weight", "`sample_weight`", sample_weight),
    ):
        if part is not None and len(part) != len(x):
            raise ValueError(
                f"`x` (images tensor) and {what} should have the same length. Found: "
                f"x.shape = {np.shape(x)}, {name}.shape = {np.shape(part)}"
            )


def _part(arrays: list[Any], y: Any, subset: str, share: float) -> list[Any]:
    """What of each array is the subset's, whose labels must be all that there are."""
    if subset not in ("training", "validation"):
        raise ValueError("Invalid subset name:", subset, '; expected "training" or "validation".')
    at = int(len(arrays[0]) * share)
    if y is not None and not np.array_equal(np.unique(y[:at]), np.unique(y[at:])):
        raise ValueError(
            "Training and validation subsets have different number of classes after the split. If "
            "your numpy arrays are sorted by the label, you might want to shuffle them."
        )
    cut = slice(None, at) if subset == "validation" else slice(at, None)
    # Weights stay whole, as Keras-Preprocessing has it: those of the first examples are taken.
    return [*(None if part is None else part[cut] for part in arrays[:-1]), arrays[-1]]


class NumpyArrayIterator(Iterator):
    """Batches of an array of pictures, changed at random by a generator.

    Args:
        x: the pictures, or them and further arrays.
        y: their labels; None for none.
        image_data_generator: the ImageDataGenerator.
        batch_size, shuffle, seed: as of Iterator.
        sample_weight: weights of examples.
        data_format: "channels_last" or "channels_first"; that of settings if None.
        save_to_dir, save_prefix, save_format: where changed pictures are written.
        subset: "training" or "validation".
        dtype: of the batches.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        image_data_generator: ImageDataGenerator,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        more: list[Any] = []
        if type(x) in (tuple, list):
            x, rest = x[0], x[1]
            more = [np.asarray(part) for part in (rest if type(rest) is list else [rest])]
        _check_lengths(x, more, y, sample_weight)
        arrays = [x, *more, y, sample_weight]
        if subset is not None:
            arrays = _part(arrays, y, subset, image_data_generator._validation_split)
        self.x = np.asarray(arrays[0], dtype=dtype or floatx())
        self.x_misc = [np.asarray(part) for part in arrays[1:-2]]
        self.y, self.sample_weight = (
            None if part is None else np.asarray(part) for part in arrays[-2:]
        )
        if self.x.ndim != 4:
            raise ValueError(
                "Input data in `NumpyArrayIterator` should have rank 4. You passed an array with "
                "shape",
                self.x.shape,
            )
        self.dtype = dtype or floatx()
        self.image_data_generator = image_data_generator
        self.data_format = data_format or image_data_format()
        self.save_to_dir, self.save_prefix = save_to_dir, save_prefix
        self.save_format = save_format
        warn_of_channels("NumpyArrayIterator is set to use", self.x.shape, self.data_format)
        super().__init__(len(self.x), batch_size, shuffle, seed)

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        batch = np.zeros((len(index_array), *self.x.shape[1:]), dtype=self.dtype)
        for i, j in enumerate(index_array):
            batch[i] = self.image_data_generator.changed(self.x[j].astype(self.dtype))
        if self.save_to_dir:
            write_pictures(self, batch, index_array, 10**4)
        found: Any = [batch, *(part[index_array] for part in self.x_misc)]
        found = found if self.x_misc else batch
        if self.y is None:
            return found
        parts = (found, self.y[index_array])
        if self.sample_weight is None:
            return parts
        return (*parts, self.sample_weight[index_array])


def write_pictures(iterator: Any, batch: np.ndarray, index_array: np.ndarray, names: int) -> None:
    """Writes a batch where the iterator says, a number below `names` ending each name."""
    for picture, index in zip(batch, index_array):
        image = array_to_img(picture, iterator.data_format, scale=True)
        name = f"{iterator.save_prefix}_{index}_{np.random.randint(names)}.{iterator.save_format}"
        image.save(os.path.join(iterator.save_to_dir, name))
