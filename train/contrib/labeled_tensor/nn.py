# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.labeled_tensor.nn`: functions of `tf.nn` for labeled tensors."""

from __future__ import annotations

from ....engine.api import constant
from ....ops.nn import activation, loss
from ....ops.nn import softmax as softmaxes
from ..nn import cross_entropy
from .core import define_binary_op, define_unary_op

relu = define_unary_op("relu", activation.relu)
relu6 = define_unary_op("relu6", activation.relu6)
crelu = define_unary_op("crelu", activation.crelu)
elu = define_unary_op("elu", activation.elu)
softplus = define_unary_op("softplus", activation.softplus)
l2_loss = define_unary_op("l2_loss", loss.l2_loss)
softmax = define_unary_op("softmax", softmaxes.softmax)
log_softmax = define_unary_op("log_softmax", softmaxes.log_softmax)
sigmoid_cross_entropy_with_logits = define_binary_op(
    "sigmoid_cross_entropy_with_logits",
    cross_entropy.deprecated_flipped_sigmoid_cross_entropy_with_logits,
)
softmax_cross_entropy_with_logits = define_binary_op(
    "softmax_cross_entropy_with_logits",
    cross_entropy.deprecated_flipped_softmax_cross_entropy_with_logits,
)
sparse_softmax_cross_entropy_with_logits = define_binary_op(
    "sparse_softmax_cross_entropy_with_logits",
    cross_entropy.deprecated_flipped_sparse_softmax_cross_entropy_with_logits,
)
for _op in (
    *(relu, relu6, crelu, elu, softplus, l2_loss, softmax, log_softmax),
    *(sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits),
    sparse_softmax_cross_entropy_with_logits,
):
    constant(f"contrib.labeled_tensor.nn.{_op.__name__}", _op)
