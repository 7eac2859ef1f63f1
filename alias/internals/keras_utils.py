# SPDX-License-Identifier: Apache-2.0
"""Helpers of `tensorflow.python.keras.utils` and `.engine` that copied code goes on calling."""

from __future__ import annotations

import functools
import hashlib
from collections import deque
from collections.abc import Iterable
from typing import Any

from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.types import nest
from ...engine.types.shape import TensorShape
from ...train.variables.variable_kind import is_variable


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
