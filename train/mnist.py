# SPDX-License-Identifier: Apache-2.0
"""The model of TensorFlow's MNIST tutorial (tensorflow.examples.tutorials.mnist.mnist).

Two hidden layers and a linear one, in as many steps as the tutorial has: `inference`, `loss`,
`training`, `evaluation`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..engine.graph.graph import name_scope
from ..engine.types import dtypes
from ..ops.nn.activation import relu
from ..ops.nn.losses import sparse_softmax_cross_entropy
from ..ops.nn.top_k import in_top_k
from ..ops.public import tf
from ..ops.summaries.api import scalar
from .optimizers.gradient_descent import GradientDescentOptimizer

if TYPE_CHECKING:
    from ..engine.graph.annotations import TensorLike
    from ..engine.graph.operation import Operation
    from ..engine.graph.tensor import Tensor

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _layer(inputs: Any, size: int, units: int) -> Any:
    """inputs @ weights + biases."""
    spread = 1.0 / math.sqrt(float(size))
    weights = tf.Variable(tf.truncated_normal([size, units], stddev=spread), name="weights")
    biases = tf.Variable(tf.zeros([units]), name="biases")
    return tf.matmul(inputs, weights) + biases


def inference(images: TensorLike, hidden1_units: int, hidden2_units: int) -> Tensor:
    """The model as far as one needs it to classify.

    Args:
        images: float32 [count, 784].
        hidden1_units: the size of the first hidden layer.
        hidden2_units: the size of the second.

    Returns:
        Logits [count, 10].
    """
    with name_scope("hidden1"):
        hidden1 = relu(_layer(images, IMAGE_PIXELS, hidden1_units))
    with name_scope("hidden2"):
        hidden2 = relu(_layer(hidden1, hidden1_units, hidden2_units))
    with name_scope("softmax_linear"):
        return _layer(hidden2, hidden2_units, NUM_CLASSES)


def loss(logits: TensorLike, labels: TensorLike) -> Tensor:
    """The mean cross entropy of logits [count, 10] and labels, integers [count]."""
    wanted = tf.cast(labels, dtype=dtypes.int64)
    return sparse_softmax_cross_entropy(labels=wanted, logits=logits)


def training(loss: Tensor, learning_rate: float) -> Operation:
    """The operation of a training step, with a summary of the loss.

    Args:
        loss: what `loss` returned.
        learning_rate: of gradient descent.

    Returns:
        An operation to run.
    """
    scalar("loss", loss)
    optimizer = GradientDescentOptimizer(learning_rate)
    global_step = tf.Variable(0, name="global_step", trainable=False)
    return optimizer.minimize(loss, global_step=global_step)


def evaluation(logits: TensorLike, labels: TensorLike) -> Tensor:
    """How many logits [count, 10] are largest where their labels, integers [count], say."""
    correct = in_top_k(predictions=logits, targets=labels, k=1)
    return tf.reduce_sum(tf.cast(correct, dtypes.int32))
