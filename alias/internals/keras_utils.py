# SPDX-License-Identifier: Apache-2.0
"""Helpers of `tensorflow.python.keras.utils` and `.engine` that copied code goes on calling."""

from __future__ import annotations

import functools
import hashlib
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.types import nest
from ...engine.types.shape import TensorShape
from ...train.layers.utils import conv_output_length
from ...train.variables.variable_kind import is_variable


def conv_output_shape(
    input_shape: Sequence[int], kernel_shape: Any, strides: Any, padding: str
) -> tuple[int, ...]:
    """The sizes of a convolution's output, without batch and channels."""
    sizes = zip(input_shape, _each(kernel_shape, input_shape), _each(strides, input_shape))
    found = (conv_output_length(n, kernel, padding, step) for n, kernel, step in sizes)
    return tuple(0 if size is None or n == 0 else size for n, size in zip(input_shape, found))


def _each(value: Any, like: Sequence[Any]) -> tuple[int, ...]:
    return (value,) * len(like) if isinstance(value, int) else tuple(value)


def conv_connected_inputs(
    input_shape: Sequence[int],
    kernel_shape: Any,
    output_position: Sequence[int],
    strides: Any,
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
    input_shape: Sequence[int], kernel_shape: Any, strides: Any, padding: str
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


def deconv_output_length(
    input_length: int | None,
    filter_size: int,
    padding: str,
    output_padding: int | None = None,
    stride: int = 0,
    dilation: int = 1,
) -> int | None:
    """The size of a transposed convolution's output along one axis; None for an unknown one."""
    if input_length is None:
        return None
    width = filter_size + (filter_size - 1) * (dilation - 1)
    if output_padding is None:
        more = {"valid": max(width - stride, 0), "full": 2 - stride - width, "same": 0}
        return input_length * stride + more[padding]
    cut = {"same": width // 2, "valid": 0, "full": width - 1}[padding]
    return (input_length - 1) * stride + width - 2 * cut + output_padding


def is_symbolic_tensor(tensor: Any) -> bool:
    """Whether it is a tensor or a variable of a graph."""
    return isinstance(tensor, (Tensor, SparseTensor)) or is_variable(tensor)


def get_reachable_from_inputs(inputs: Any, targets: Any = None) -> set[Any]:
    """The tensors and operations that depend on some, which are among them.

    Args:
        inputs: tensors, operations or variables.
        targets: where it is enough to have found all of these.
    """
    found = set(nest.flatten(inputs))
    wanted = set(nest.flatten(targets)) if targets is not None else None
    waiting = deque(found)
    while waiting and not (wanted is not None and wanted <= found):
        x = waiting.popleft()
        if is_variable(x):
            x = getattr(x, "handle", x.op.outputs[0])
        following: Iterable[Any] = x.consumers() if isinstance(x, Tensor) else x.outputs
        for one in following:
            if one not in found:
                found.add(one)
                waiting.append(one)
    return found


def to_tensor_shape(spec: Any) -> TensorShape:
    """The shape that an InputSpec demands, with unknown sizes where it demands none."""
    if spec.ndim is None and spec.shape is None:
        return TensorShape(None)
    if spec.shape is not None:
        return TensorShape(spec.shape)
    sizes: list[int | None] = [None] * spec.ndim
    for axis, size in (spec.axes or {}).items():
        sizes[int(axis)] = size
    return TensorShape(sizes)


def ask_to_proceed_with_overwrite(filepath: str) -> bool:
    """Asks at the console whether a file may be written over."""
    question = f"[WARNING] {filepath} already exists - overwrite? [y/n]"
    answer = input(question).strip().lower()
    while answer not in ("y", "n"):
        answer = input('Enter "y" (overwrite) or "n" (cancel).').strip().lower()
    if answer == "y":
        print("[TIP] Next time specify overwrite=True!")
    return answer == "y"


def _hash_file(fpath: str, algorithm: str = "sha256", chunk_size: int = 65535) -> str:
    """The checksum of a file, as hexadecimal digits."""
    is_long = algorithm == "sha256" or (algorithm == "auto" and chunk_size == 64)
    hasher = hashlib.sha256() if is_long else hashlib.md5()
    with open(fpath, "rb") as file:
        for chunk in iter(functools.partial(file.read, chunk_size), b""):
            hasher.update(chunk)
    return hasher.hexdigest()
