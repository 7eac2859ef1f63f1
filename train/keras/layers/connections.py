# SPDX-License-Identifier: Apache-2.0
"""Which places of a convolution's input and output a weight connects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...layers.utils import conv_output_length
from ..identifiers import PerAxis


def conv_output_shape(
    input_shape: Sequence[int], kernel_shape: PerAxis, strides: PerAxis, padding: str
) -> tuple[int, ...]:
    """The sizes of a convolution's output, without batch and channels."""
    sizes = zip(input_shape, _each(kernel_shape, input_shape), _each(strides, input_shape))
    found = (conv_output_length(n, kernel, padding, step) for n, kernel, step in sizes)
    return tuple(0 if size is None or n == 0 else size for n, size in zip(input_shape, found))


def _each(value: PerAxis, like: Sequence[Any]) -> tuple[int, ...]:
    return (value,) * len(like) if isinstance(value, int) else tuple(value)


def conv_connected_inputs(
    input_shape: Sequence[int],
    kernel_shape: PerAxis,
    output_position: Sequence[int],
    strides: PerAxis,
    padding: str,
) -> list[range]:
    """The places of the input that a place of a convolution's output sees, along each axis."""
    found = []
    for size, kernel, step, place in zip(
        input_shape, _each(kernel_shape, input_shape), _each(strides, input_shape), output_position
    ):
        before = kernel // 2
        center = place * step + (before if padding == "valid" else 0)
        found.append(range(max(0, center - before), min(size, center + kernel - before)))
    return found


def conv_kernel_mask(
    input_shape: Sequence[int], kernel_shape: PerAxis, strides: PerAxis, padding: str
) -> np.ndarray:
    """Which places of a convolution's input and output a weight connects.

    Args:
        input_shape: the input's sizes, without batch and channels.
        kernel_shape, strides: of each axis, or one integer for all.
        padding: "same" or "valid".

    Returns:
        An array of bools, of the sizes of the input and those of the output.

    Raises:
        ValueError: the numbers of axes differ.
        NotImplementedError: the padding is another.
    """
    if padding not in ("same", "valid"):
        raise NotImplementedError(
            f'Padding type {padding} not supported. Only "valid" and "same" are implemented.'
        )
    rank = len(input_shape)
    kernel, steps = _each(kernel_shape, input_shape), _each(strides, input_shape)
    if len(kernel) != rank or len(steps) != rank:
        raise ValueError(
            "Number of strides, input and kernel dimensions must all match. Received: "
            f"{len(steps)}, {rank}, {len(kernel)}."
        )
    outputs = conv_output_shape(input_shape, kernel, steps, padding)
    # Axes do not depend on each other: the whole is the product of a mask for each.
    mask = np.ones((), bool)
    for size, count, width, step in zip(input_shape, outputs, kernel, steps):
        own = np.zeros((size, count), bool)
        for place in range(count):
            own[conv_connected_inputs([size], [width], [place], [step], padding)[0], place] = True
        mask = np.multiply.outer(mask, own)
    return mask.transpose([*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)])


def connected_entries(
    mask: np.ndarray, filters_in: int, filters_out: int, data_format: str
) -> np.ndarray:
    """The pairs of an output and an input that a weight connects, by their numbers, in order.

    Args:
        mask: what `conv_kernel_mask` gives.
        filters_in, filters_out: the channels of both sides.
        data_format: "channels_first" or "channels_last".

    Returns:
        An array of int64 [pairs, 2].
    """
    rank = mask.ndim // 2
    count_in, count_out = (int(np.prod(part)) for part in (mask.shape[:rank], mask.shape[rank:]))
    places_in, places_out = np.nonzero(mask.reshape(count_in, count_out))

    def numbers(places: np.ndarray, count: int, filters: int, axes: int) -> np.ndarray:
        channel = np.arange(filters)
        place = places[:, None]
        found = (
            channel * count + place
            if data_format == "channels_first"
            else place * filters + channel
        )
        return np.expand_dims(found, axes)

    inputs = numbers(places_in, count_in, filters_in, 2)
    outputs = numbers(places_out, count_out, filters_out, 1)
    pairs = np.stack(np.broadcast_arrays(outputs, inputs), -1).reshape(-1, 2)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].astype(np.int64)


def conv_kernel_idxs(
    input_shape: Sequence[int],
    kernel_shape: PerAxis,
    strides: PerAxis,
    padding: str,
    filters_in: int,
    filters_out: int,
    data_format: str,
) -> Iterator[tuple[int, int]]:
    """The numbers of an output and an input, for each pair that a weight connects.

    Args:
        input_shape, kernel_shape, strides, padding: as of conv_kernel_mask.
        filters_in, filters_out: the channels of both sides.
        data_format: "channels_first" or "channels_last".

    Raises:
        ValueError: the format is another, or numbers of axes differ.
        NotImplementedError: the padding is another.
    """
    mask = conv_kernel_mask(input_shape, kernel_shape, strides, padding)
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            f"Data format {data_format} not recignized."
            '`data_format` must be "channels_first" or "channels_last".'
        )
    pairs = connected_entries(mask, filters_in, filters_out, data_format)
    return ((output, place) for output, place in pairs.tolist())
