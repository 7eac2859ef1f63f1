# SPDX-License-Identifier: Apache-2.0
"""Arrays as networks want them: classes as rows, unit norms, sequences of one length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def to_categorical(y: Any, num_classes: int | None = None, dtype: str = "float32") -> Any:
    """Rows with a one at the place of each class (tf.keras.utils.to_categorical).

    Args:
        y: whole numbers, any shape; a last axis of size 1 is dropped.
        num_classes: how many classes there are; by default one more than the greatest in `y`.
        dtype: the type of what it gives.

    Returns:
        An array of `y`'s shape and one more axis, the classes.
    """
    classes = np.array(y, dtype=int)
    shape = classes.shape
    if len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    flat = classes.ravel()
    width = num_classes or int(flat.max()) + 1
    rows = np.zeros((flat.size, width), dtype=dtype)
    rows[np.arange(flat.size), flat] = 1
    return rows.reshape((*shape, width))


def normalize(x: Any, axis: int = -1, order: float = 2) -> Any:
    """An array over its norms along an axis, unless these are zero (tf.keras.utils.normalize)."""
    norms = np.atleast_1d(np.linalg.norm(x, order, axis))
    norms[norms == 0] = 1
    return x / np.expand_dims(norms, axis)


def pad_sequences(
    sequences: Sequence[Any],
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> Any:
    """Sequences as rows of one array (tf.keras.preprocessing.sequence.pad_sequences).

    Args:
        sequences: one sequence for each row; their items may be arrays of one shape.
        maxlen: the rows' length; by default that of the longest.
        dtype: the array's type.
        padding: "pre" or "post": where what is missing is filled in.
        truncating: "pre" or "post": where what is too much is cut off.
        value: what is filled in.

    Raises:
        ValueError: something is no sequence, items' shapes differ, `padding` or `truncating`
            is neither of the two, or text is filled into numbers.
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    if not all(hasattr(one, "__len__") for one in sequences):
        bad = next(one for one in sequences if not hasattr(one, "__len__"))
        raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {bad}")
    width = max(map(len, sequences), default=0) if maxlen is None else maxlen
    takes_text = np.dtype(dtype).kind in "OU"
    if isinstance(value, str) and not takes_text:
        raise ValueError(
            f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\n"
            "You should set `dtype=object` for variable length strings."
        )
    item = next((np.shape(one)[1:] for one in sequences if len(one)), ())
    rows = np.full((len(sequences), width, *item), value, dtype=dtype)
    for position, (row, one) in enumerate(zip(rows, sequences, strict=True)):
        if not len(one):
            continue
        kept = np.asarray(_cut(one, width, truncating), dtype=dtype)
        if kept.shape[1:] != item:
            raise ValueError(
                f"Shape of sample {kept.shape[1:]} of sequence at position {position} "
                f"is different from expected shape {item}"
            )
        row[_place(len(kept), width, padding)] = kept
    return rows


def _cut(sequence: Any, width: int, truncating: str) -> Any:
    if truncating not in ("pre", "post"):
        raise ValueError(f'Truncating type "{truncating}" not understood')
    return sequence[-width:] if truncating == "pre" else sequence[:width]


def _place(length: int, width: int, padding: str) -> slice:
    if padding not in ("pre", "post"):
        raise ValueError(f'Padding type "{padding}" not understood')
    return slice(width - length, width) if padding == "pre" else slice(0, length)
