# SPDX-License-Identifier: Apache-2.0
"""What networks trained on ImageNet expect of pixels, and what their classes are called."""

from __future__ import annotations

import functools
import json
from typing import Any

import numpy as np

from ..backend.convolutions import bias_add
from ..backend.elements import cast, constant, dtype
from ..backend.settings import floatx, image_data_format
from ..utils.files import get_file

_CLASSES = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
# Mode -> the mean of each channel, and by what it is divided, after what all pixels are divided by.
_MEANS: dict[str, tuple[float, list[float], list[float] | None]] = {
    "caffe": (1.0, [103.939, 116.779, 123.68], None),
    "torch": (255.0, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
}


def preprocess_input(
    x: Any, data_format: str | None = None, mode: str = "caffe", **kwargs: Any
) -> Any:
    """Brings pixels between 0 and 255 into the form that a network was trained with.

    Args:
        x: an array, whose memory is written over if it is of floats, or a tensor; one image or a
            batch.
        data_format: "channels_last" or "channels_first"; that of settings if None.
        mode: "tf" (between -1 and 1), "caffe" (BGR without the mean) or "torch" (the channels'
            mean and deviation taken out).

    Returns:
        An array or a tensor.

    Raises:
        ValueError: the format is unknown.
    """
    del kwargs  # Keras's modules, which only one's own package needs
    form = image_data_format() if data_format is None else data_format
    if form not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format {form}")
    is_array = isinstance(x, np.ndarray)
    if is_array and not issubclass(x.dtype.type, np.floating):
        x = x.astype(floatx(), copy=False)
    if mode == "tf":
        x /= 127.5
        x -= 1.0
        return x
    scale, mean, deviation = _MEANS["torch" if mode == "torch" else "caffe"]
    rank = x.ndim if is_array else len(x.shape)
    # Channels first and a batch: an axis before them.
    before = (slice(None),) * (rank - 3) if form == "channels_first" else (...,)
    if scale != 1.0:
        x /= scale
    if deviation is None:
        x = x[(*before, slice(None, None, -1))]
    return (_shift_array if is_array else _shift_tensor)(x, mean, deviation, form)


def _shift_array(x: Any, mean: list[float], deviation: list[float] | None, form: str) -> Any:
    shape = (-1, 1, 1) if form == "channels_first" else (-1,)
    x -= np.array(mean, x.dtype).reshape(shape)
    if deviation is not None:
        x /= np.array(deviation, x.dtype).reshape(shape)
    return x


def _shift_tensor(x: Any, mean: list[float], deviation: list[float] | None, form: str) -> Any:
    offset = constant(-np.array(mean))
    if dtype(x) != dtype(offset):
        offset = cast(offset, dtype(x))
    x = bias_add(x, offset, data_format=form)
    return x if deviation is None else x / deviation


def preprocess_tf(x: Any, **kwargs: Any) -> Any:
    """`preprocess_input` for networks that expect pixels between -1 and 1."""
    return preprocess_input(x, mode="tf", **kwargs)


def preprocess_caffe(x: Any, **kwargs: Any) -> Any:
    """`preprocess_input` for networks that expect BGR without the mean."""
    return preprocess_input(x, mode="caffe", **kwargs)


def preprocess_torch(x: Any, data_format: str | None = None, **kwargs: Any) -> Any:
    """`preprocess_input` for networks that expect channels of mean 0 and deviation 1."""
    return preprocess_input(x, data_format, mode="torch", **kwargs)


@functools.cache
def _names() -> dict[str, list[str]]:
    path = get_file(
        "imagenet_class_index.json",
        _CLASSES,
        cache_subdir="models",
        file_hash="c2c37ea517e94d9795004a39431a14cb",
    )
    with open(path) as file:
        found: dict[str, list[str]] = json.load(file)
    return found


def decode_predictions(preds: Any, top: int = 5, **kwargs: Any) -> list[list[tuple[Any, ...]]]:
    """The names of the likeliest classes of ImageNet.

    Args:
        preds: an array [batch, 1000] of probabilities.
        top: how many classes per image.

    Returns:
        A list per image of (WordNet's id, name, probability), the likeliest first.

    Raises:
        ValueError: the shape is another one.
    """
    del kwargs
    if len(preds.shape) != 2 or preds.shape[1] != 1000:
        raise ValueError(
            "`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape "
            f"(samples, 1000)). Found array with shape: {preds.shape}"
        )
    names = _names()
    return [
        [(*names[str(place)], row[place]) for place in row.argsort(kind="stable")[::-1][:top]]
        for row in preds
    ]
