# SPDX-License-Identifier: Apache-2.0
"""All layers, as TensorFlow's module of this name has them."""

from __future__ import annotations

from ..framework.arg_scope import add_arg_scope
from . import initializers, model_variables, utils
from .batch_norm import batch_norm
from .convolutions import (
    conv1d,
    conv2d,
    conv2d_in_plane,
    conv3d,
    convolution,
    convolution1d,
    convolution2d,
    convolution2d_in_plane,
    convolution3d,
)
from .dense import (
    bias_add,
    elu,
    fully_connected,
    legacy_fully_connected,
    legacy_linear,
    legacy_relu,
    linear,
    relu,
    relu6,
)
from .gdn import GDN, gdn
from .normalization import group_norm, instance_norm, layer_norm
from .other_convolutions import (
    conv2d_transpose,
    conv3d_transpose,
    convolution2d_transpose,
    convolution3d_transpose,
    separable_conv2d,
    separable_convolution2d,
)
from .pooling import avg_pool2d, avg_pool3d, max_pool2d, max_pool3d, pool
from .shaping import (
    dense_to_sparse,
    dropout,
    flatten,
    images_to_sequence,
    inner_flatten,
    maxout,
    one_hot_encoding,
    poincare_normalize,
    repeat,
    scale_gradient,
    sequence_to_images,
    softmax,
    spatial_softmax,
    stack,
    unit_norm,
)

DATA_FORMAT_NCHW, DATA_FORMAT_NHWC = "NCHW", "NHWC"
DATA_FORMAT_NCDHW, DATA_FORMAT_NDHWC = "NCDHW", "NDHWC"
_inner_flatten = inner_flatten
_model_variable_getter = model_variables.model_variable_getter
_build_variable_getter = model_variables.variable_getter
_add_variable_to_collections = model_variables.add_to_collections

__all__ = [
    "DATA_FORMAT_NCDHW",
    "DATA_FORMAT_NCHW",
    "DATA_FORMAT_NDHWC",
    "DATA_FORMAT_NHWC",
    "GDN",
    "_add_variable_to_collections",
    "_build_variable_getter",
    "_inner_flatten",
    "_model_variable_getter",
    "add_arg_scope",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bias_add",
    "conv1d",
    "conv2d",
    "conv2d_in_plane",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "convolution",
    "convolution1d",
    "convolution2d",
    "convolution2d_in_plane",
    "convolution2d_transpose",
    "convolution3d",
    "convolution3d_transpose",
    "dense_to_sparse",
    "dropout",
    "elu",
    "flatten",
    "fully_connected",
    "gdn",
    "group_norm",
    "images_to_sequence",
    "initializers",
    "inner_flatten",
    "instance_norm",
    "layer_norm",
    "legacy_fully_connected",
    "legacy_linear",
    "legacy_relu",
    "linear",
    "max_pool2d",
    "max_pool3d",
    "maxout",
    "one_hot_encoding",
    "poincare_normalize",
    "pool",
    "relu",
    "relu6",
    "repeat",
    "scale_gradient",
    "separable_conv2d",
    "separable_convolution2d",
    "sequence_to_images",
    "softmax",
    "spatial_softmax",
    "stack",
    "unit_norm",
    "utils",
]
