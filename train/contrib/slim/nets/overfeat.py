# SPDX-License-Identifier: Apache-2.0
"""OverFeat, the fast one (Sermanet et al., "OverFeat: Integrated Recognition, Localization and
Detection using Convolutional Networks", 2014).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .....engine.graph.tensor import Tensor
from .....ops.public import tf
from ...framework.arg_scope import Scope, arg_scope
from ...layers.convolutions import conv2d
from ...layers.pooling import max_pool2d
from .plain import Outputs, classifier, image_size, network, plain_arg_scope

if TYPE_CHECKING:
    from .....engine.graph.annotations import TensorLike


def overfeat_arg_scope(weight_decay: float = 0.0005) -> Scope:
    """The scope in which the network is made."""
    return plain_arg_scope(weight_decay, tf.zeros_initializer(), "VALID")


@image_size(231)
def overfeat(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: TensorLike = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str = "overfeat",
) -> Outputs:
    """OverFeat.

    Args:
        inputs: pictures, [batch, height, width, channels], 231 pixels a side for one score each.
        num_classes: the number of scores.
        is_training: whether outputs are dropped.
        dropout_keep_prob: the share that is kept.
        spatial_squeeze: whether the two spatial dimensions of the scores, of size one, go away.
        scope: the variable scope.

    Returns:
        The scores before softmax, and the outputs of all layers by name.
    """

    def build(net: Tensor) -> Tensor:
        net = conv2d(net, 64, [11, 11], 4, padding="VALID", scope="conv1")
        net = max_pool2d(net, [2, 2], scope="pool1")
        net = conv2d(net, 256, [5, 5], padding="VALID", scope="conv2")
        net = max_pool2d(net, [2, 2], scope="pool2")
        for i, depth in ((3, 512), (4, 1024), (5, 1024)):
            net = conv2d(net, depth, [3, 3], scope=f"conv{i}")
        net = max_pool2d(net, [2, 2], scope="pool5")
        with arg_scope(
            [conv2d],
            weights_initializer=tf.truncated_normal_initializer(0.0, 0.005),
            biases_initializer=tf.constant_initializer(0.1),
        ):
            return classifier(
                net,
                (3072, 4096),
                [6, 6],
                num_classes,
                is_training,
                dropout_keep_prob,
                tf.zeros_initializer(),
            )

    return network(inputs, scope, build, spatial_squeeze)
