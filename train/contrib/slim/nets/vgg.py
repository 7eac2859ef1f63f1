# SPDX-License-Identifier: Apache-2.0
"""VGG networks (Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image
Recognition", 2014): configurations A, D and E.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....engine.graph.tensor import Tensor
from .....ops.public import tf
from ...framework.arg_scope import Scope
from .plain import Outputs, classifier, image_size, network, plain_arg_scope, stages

if TYPE_CHECKING:
    from .....engine.graph.annotations import TensorLike

_DEPTHS = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay: float = 0.0005) -> Scope:
    """The scope in which VGG networks are made."""
    return plain_arg_scope(weight_decay, tf.zeros_initializer(), None)


def _vgg(
    repeats: tuple[int, ...],
    inputs: Tensor,
    num_classes: int,
    is_training: Any,
    dropout_keep_prob: float,
    spatial_squeeze: bool,
    scope: str,
) -> Outputs:
    return network(
        inputs,
        scope,
        lambda net: classifier(
            stages(net, _DEPTHS, repeats),
            (4096, 4096),
            [7, 7],
            num_classes,
            is_training,
            dropout_keep_prob,
        ),
        spatial_squeeze,
    )


@image_size(224)
def vgg_a(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: TensorLike = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str = "vgg_a",
) -> Outputs:
    """VGG with 11 layers that have weights.

    Args:
        inputs: pictures, [batch, height, width, channels], 224 pixels a side for one score each.
        num_classes: the number of scores.
        is_training: whether outputs are dropped.
        dropout_keep_prob: the share that is kept.
        spatial_squeeze: whether the two spatial dimensions of the scores, of size one, go away.
        scope: the variable scope.

    Returns:
        The scores before softmax, and the outputs of all layers by name.
    """
    return _vgg(
        (1, 1, 2, 2, 2), inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope
    )


@image_size(224)
def vgg_16(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: TensorLike = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str = "vgg_16",
) -> Outputs:
    """VGG with 16 layers that have weights; see `vgg_a`."""
    return _vgg(
        (2, 2, 3, 3, 3), inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope
    )


@image_size(224)
def vgg_19(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: TensorLike = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str = "vgg_19",
) -> Outputs:
    """VGG with 19 layers that have weights; see `vgg_a`."""
    return _vgg(
        (2, 2, 4, 4, 4), inputs, num_classes, is_training, dropout_keep_prob, spatial_squeeze, scope
    )


vgg_d = vgg_16
vgg_e = vgg_19
