# SPDX-License-Identifier: Apache-2.0
"""Iterators whose elements go to several devices in turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.graph.graph import device as on_device
from ..public import raw, tf
from . import structure
from .dataset_v1 import make_initializable_iterator
from .iterators import get_next_as_optional
from .sources import _GeneratorDataset


class MultiDeviceIterator:
    """What gives the elements of a dataset to several devices: element i to device i % count.

    Args:
      dataset: A dataset.
      devices: The names of devices; one may stand there several times.
      max_buffer_size: How many elements for other devices may wait in TensorFlow.
      prefetch_buffer_size: So many elements of each device are read ahead; 0: none.
      source_device: Where the dataset is read.

    Example:
        >>> dataset = tf.data.Dataset.range(4)
        >>> iterator = MultiDeviceIterator(dataset, ["/cpu:0", "/cpu:0"])
        >>> elements = iterator.get_next()
        >>> sess = tf.Session()
        >>> sess.run(iterator.initializer)
        >>> sess.run(elements)
        [0, 1]
    """

    def __init__(
        self,
        dataset: Any,
        devices: Sequence[str],
        max_buffer_size: int = 1,
        prefetch_buffer_size: int = 1,
        source_device: str = "/cpu:0",
    ) -> None:
        self._dataset = dataset._apply_options()
        self._devices = list(devices)
        flat = self._dataset._flat_structure
        with on_device(source_device):
            self._multi_device_iterator_resource = raw.MultiDeviceIterator(
                devices=self._devices, shared_name="", container="", **flat
            )
            # Readers of each device must know how often the iterator was begun.
            self._incarnation_id = raw.MultiDeviceIteratorInit(
                self._dataset._variant_tensor,
                self._multi_device_iterator_resource,
                max_buffer_size=max(max_buffer_size, prefetch_buffer_size),
            )
        self._device_iterators = [
            self._of_device(i, name, prefetch_buffer_size) for i, name in enumerate(self._devices)
        ]
        initializers = [iterator.initializer for iterator in self._device_iterators]
        self._initializer = tf.group(*initializers)

    def _of_device(self, number: int, name: str, ahead: int) -> Any:
        """The iterator over the elements of one device."""
        spec, flat = self._dataset.element_spec, self._dataset._flat_structure

        def begin(dummy: Any) -> Any:
            return raw.MultiDeviceIteratorToStringHandle(self._multi_device_iterator_resource)

        def following(handle: Any) -> Any:
            found = raw.MultiDeviceIteratorFromStringHandle(handle, **flat)
            parts = raw.MultiDeviceIteratorGetNextFromShard(
                found, shard_num=number, incarnation_id=self._incarnation_id, **flat
            )
            return structure.from_compatible_tensor_list(spec, parts)

        def end(handle: Any) -> Any:
            return tf.constant(0, tf.int64)

        with on_device(name):
            dataset: Any = _GeneratorDataset(tf.constant(0), begin, following, end)
            if ahead > 0:
                dataset = dataset.prefetch(ahead)
            return make_initializable_iterator(dataset)

    def get_next(self, device: str | None = None) -> Any:
        """The next element of a device; of all, as a list, if none is named."""
        if device is not None:
            return self._device_iterators[self._devices.index(device)].get_next()
        found = []
        for name, iterator in zip(self._devices, self._device_iterators):
            with on_device(name):
                found.append(iterator.get_next())
        return found

    def get_next_as_optional(self) -> list[Any]:
        """For each device an optional: its next element, or nothing at the end."""
        found = []
        for name, iterator in zip(self._devices, self._device_iterators):
            with on_device(name):
                found.append(get_next_as_optional(iterator))
        return found

    @property
    def initializer(self) -> Any:
        """The operation that begins to read the dataset."""
        return self._initializer

    @property
    def element_spec(self) -> Any:
        """The types of an element's components, in its structure."""
        return self._dataset.element_spec
