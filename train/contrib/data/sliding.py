# SPDX-License-Identifier: Apache-2.0
"""Batches that overlap: a window that slides over a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.deprecation import deprecated, deprecated_args
from ....ops.data import nest
from ....ops.data.unary import UnaryDataset, int64
from ....ops.public import raw
from .batching import Apply

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


class _SlideDataset(UnaryDataset):
    """Neighbouring elements as batches."""

    def __init__(self, input_dataset: Any, size: Any, shift: Any, stride: Any) -> None:
        # TensorFlow gives both the same name.
        numbers = [int64(size, "window_stride"), int64(stride, "window_stride")]
        numbers.insert(1, int64(shift, "window_shift"))
        self._structure = nest.map_structure(
            lambda spec: spec._batch(None), input_dataset.element_spec
        )
        variant = raw.SlidingWindowDataset(
            input_dataset._variant_tensor, *numbers, **self._flat_structure
        )
        super().__init__(input_dataset, variant)


@export("contrib.data.sliding_window_batch")
@deprecated_args(None, "stride is deprecated, use window_shift instead", "stride")
@deprecated(
    None,
    "Use `tf.data.Dataset.window(size=window_size, shift=window_shift, "
    "stride=window_stride).flat_map(lambda x: x.batch(window_size))` instead.",
)
def sliding_window_batch(
    window_size: TensorLike,
    stride: TensorLike | None = None,
    window_shift: TensorLike | None = None,
    window_stride: TensorLike = 1,
) -> Apply:
    """A transformation that gives batches of neighbouring elements.

    Args:
        window_size: how many elements a batch has; what is left at the end is dropped.
        stride: what `window_shift` was called before.
        window_shift: how far batches begin behind each other; 1 if not given.
        window_stride: how far the elements of a batch are apart.

    Returns:
        A function for `Dataset.apply`.

    Raises:
        ValueError: `stride` and `window_shift` are given.

    Example:
        >>> windows = tf.data.Dataset.range(6).apply(
        ...     tf.contrib.data.sliding_window_batch(window_size=3, window_shift=2))
        >>> window, sess = tf.data.make_one_shot_iterator(windows).get_next(), tf.Session()
        >>> sess.run(window), sess.run(window)
        (array([0, 1, 2]), array([2, 3, 4]))
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    given = stride if window_shift is None else window_shift
    shift = 1 if given is None else given
    return lambda dataset: _SlideDataset(dataset, window_size, shift, window_stride)
