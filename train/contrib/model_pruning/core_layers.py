# SPDX-License-Identifier: Apache-2.0
"""Masks of weights: variables and collections, and layers that compute with masked kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....ops.public import tf
from ...layers.base import Layer
from ...layers.convolutional import Conv2D
from ...layers.core import Dense

MASK_COLLECTION = "masks"
THRESHOLD_COLLECTION = "thresholds"
MASKED_WEIGHT_COLLECTION = "masked_weights"
WEIGHT_COLLECTION = "kernel"
MASKED_WEIGHT_NAME = "weights/masked_weight"


def masked(weights: Any, make: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """A mask, a threshold and masked weights, in the collections that pruning reads.

    Args:
        weights: a variable.
        make: makes a variable of a name, a shape, an initializer, trainable and dtype.
    """
    given: dict[str, Any] = {"trainable": False, "dtype": weights.dtype.base_dtype}
    shape = weights.get_shape().as_list()
    mask = make("mask", shape=shape, initializer=tf.ones_initializer(), **given)
    threshold = make("threshold", shape=[], initializer=tf.zeros_initializer(), **given)
    product = tf.multiply(mask, weights, MASKED_WEIGHT_NAME)
    # Weights that are reused are pruned once.
    if not any(mask is known for known in tf.get_collection(MASK_COLLECTION)):
        tf.add_to_collection(THRESHOLD_COLLECTION, threshold)
        tf.add_to_collection(MASK_COLLECTION, mask)
        tf.add_to_collection(MASKED_WEIGHT_COLLECTION, product)
        tf.add_to_collection(WEIGHT_COLLECTION, weights)
    return mask, threshold, product


class _Masked(Layer):
    """What a layer does whose kernel has a mask, in front of the layer's class."""

    kernel: Any

    def build(self, input_shape: Any) -> None:
        """Makes the variables, those of the mask too."""
        super().build(input_shape)
        self.built = False  # Or variables would be looked for, not made.
        self.mask, self.threshold, self.masked_kernel = masked(self.kernel, self.add_weight)
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The layer's outputs, of the masked kernel."""
        weights, self.kernel = self.kernel, self.masked_kernel
        try:
            return super().call(inputs)
        finally:
            self.kernel = weights


class MaskedConv2D(_Masked, Conv2D):
    """tf.layers.Conv2D with a mask on its kernel."""


class MaskedFullyConnected(_Masked, Dense):
    """tf.layers.Dense with a mask on its kernel."""
