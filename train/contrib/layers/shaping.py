# SPDX-License-Identifier: Apache-2.0
"""Layers without weights: shapes, one-hot vectors, dropout, maxima and norms; layers in a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import SparseTensor
from ....engine.types import dtypes
from ....ops.flow.function_library import Defun
from ....ops.nn.softmax import softmax as softmax_of
from ....ops.public import tf
from ...layers import core
from ..framework.arg_scope import add_arg_scope
from . import utils
from .model_variables import model_variable_getter, parameter
from .pooling import channels_of

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor
    from .annotations import Collections, Scope, VariableCollections


@export("contrib.layers.dropout")
@add_arg_scope
def dropout(
    inputs: TensorLike,
    keep_prob: Any = 0.5,
    noise_shape: TensorLike | None = None,
    is_training: TensorLike = True,
    outputs_collections: Collections | None = None,
    scope: Scope | None = None,
    seed: int | None = None,
) -> Any:
    """Zeros some elements at random, and scales the others up, when training.

    Args:
        inputs: a tensor.
        keep_prob: how likely an element stays.
        noise_shape: the shape of what is drawn, which broadcasts; the inputs' if None.
        is_training: whether anything is done; a bool or a scalar tensor.
        outputs_collections: names of collections that get the result.
        scope: the variable scope, "Dropout" if None.
        seed: the seed of the operation.

    Returns:
        A tensor of the inputs' shape.
    """
    with tf.variable_scope(
        scope, "Dropout", [inputs], custom_getter=model_variable_getter
    ) as opened:
        inputs = tf.convert_to_tensor(inputs)
        options: Any = dict(rate=1 - keep_prob, noise_shape=noise_shape)
        layer = core.Dropout(
            **options,
            seed=seed,
            name=opened.name,
            _scope=opened,
        )
        outputs = layer.apply(inputs, training=is_training)
        return utils.collect_named_outputs(outputs_collections, opened.name, outputs)


@export("contrib.layers.flatten")
@add_arg_scope
def flatten(
    inputs: TensorLike, outputs_collections: Collections | None = None, scope: str | None = None
) -> Any:
    """All axes but the first as one.

    Args:
        inputs: a tensor of one axis or more.
        outputs_collections: names of collections that get the result.
        scope: the name scope, "Flatten" if None.

    Returns:
        A matrix.

    Example:
        >>> print(tf.contrib.layers.flatten(tf.zeros([2, 3, 4])).shape)
        (2, 12)
    """
    with tf.name_scope(scope, "Flatten", [inputs]) as opened:
        outputs = core.flatten(tf.convert_to_tensor(inputs))
        return utils.collect_named_outputs(outputs_collections, opened, outputs)


@add_arg_scope
def inner_flatten(
    inputs: TensorLike,
    new_rank: int,
    output_collections: Collections | None = None,
    scope: str | None = None,
) -> Any:
    """All axes from the one before `new_rank` on as one, of dense and of sparse tensors.

    Raises:
        ValueError: there are fewer axes.
    """
    with tf.name_scope(scope, "InnerFlatten", [inputs, new_rank]) as opened:
        if isinstance(inputs, SparseTensor):
            outputs = _sparse_inner_flatten(inputs, new_rank)
        else:
            outputs = _dense_inner_flatten(tf.convert_to_tensor(inputs), new_rank)
    return utils.collect_named_outputs(output_collections, opened, outputs)


def _sparse_inner_flatten(inputs: SparseTensor, new_rank: int) -> Any:
    rank = inputs.dense_shape.shape.as_list()[0]
    if rank is not None and rank < new_rank:
        raise ValueError(
            f"Inputs has rank less than new_rank. {inputs} must have rank at least {new_rank}. "
            f"Received rank {rank}, shape {inputs.get_shape()}"
        )
    outer, inner = inputs.dense_shape[: new_rank - 1], inputs.dense_shape[new_rank - 1 :]
    return tf.sparse_reshape(inputs, tf.concat((outer, [tf.reduce_prod(inner)]), 0))


def _dense_inner_flatten(inputs: Tensor, new_rank: int) -> Any:
    check = tf.assert_rank_at_least(inputs, new_rank, message="inputs has rank less than new_rank")
    with tf.control_dependencies([check]):
        outer = tf.strided_slice(tf.shape(inputs), [0], [new_rank - 1])
        outputs = tf.reshape(inputs, tf.concat((outer, [-1]), 0))
    if isinstance(new_rank, int) and inputs.shape.ndims is not None:
        inner = inputs.shape[new_rank - 1 :]
        outputs.set_shape([*inputs.shape.as_list()[: new_rank - 1], inner.num_elements()])
    return outputs


@export("contrib.layers.one_hot_encoding")
@add_arg_scope
def one_hot_encoding(
    labels: TensorLike,
    num_classes: TensorLike,
    on_value: TensorLike = 1.0,
    off_value: TensorLike = 0.0,
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> Any:
    """Rows of `num_classes` numbers, of which that of the label is another than the rest.

    Args:
        labels: integers.
        num_classes: the number of classes.
        on_value, off_value: the numbers.
        outputs_collections: names of collections that get the result.
        scope: the name scope.

    Returns:
        A tensor.

    Example:
        >>> print(tf.Session().run(tf.contrib.layers.one_hot_encoding([1, 0], 3)))
        [[0. 1. 0.]
         [1. 0. 0.]]
    """
    with tf.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as opened:
        labels = tf.convert_to_tensor(labels)
        labels = tf.to_int64(labels) if labels.dtype == dtypes.int32 else labels
        outputs = tf.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return utils.collect_named_outputs(outputs_collections, opened, outputs)


@export("contrib.layers.dense_to_sparse")
@add_arg_scope
def dense_to_sparse(
    tensor: TensorLike,
    eos_token: int = 0,
    outputs_collections: Collections | None = None,
    scope: Scope | None = None,
) -> Any:
    """A sparse tensor of the elements that are not the end of a sequence.

    Args:
        tensor: a tensor.
        eos_token: the element that stands for the end.
        outputs_collections: names of collections that get the result.
        scope: the variable scope.

    Returns:
        A SparseTensor.
    """
    with tf.variable_scope(scope, "dense_to_sparse", [tensor]) as opened:
        tensor = tf.convert_to_tensor(tensor)
        indices = tf.where(tf.not_equal(tensor, tf.constant(eos_token, tensor.dtype)))
        values = tf.gather_nd(tensor, indices)
        outputs = SparseTensor(indices, values, tf.shape(tensor, out_type=dtypes.int64))
        return utils.collect_named_outputs(outputs_collections, opened.name, outputs)


@export("contrib.layers.images_to_sequence")
@add_arg_scope
def images_to_sequence(
    inputs: TensorLike,
    data_format: str = "NHWC",
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> Any:
    """Pictures as sequences of their columns: [width, batch * height, channels].

    Args:
        inputs: [batch, height, width, channels], or as `data_format` says.
        data_format: "NHWC" or "NCHW".
        outputs_collections: names of collections that get the result.
        scope: the name scope.

    Raises:
        ValueError: the format is another.
    """
    is_first = channels_of(data_format, "NCHW", "NHWC") == "channels_first"
    with tf.name_scope(scope, "ImagesToSequence", [inputs]) as opened:
        inputs = tf.convert_to_tensor(inputs)
        inputs = tf.transpose(inputs, [0, 2, 3, 1]) if is_first else inputs
        _, _, width, depth = inputs.shape.as_list()
        shape = tf.shape(inputs)
        batch, height = shape[0], shape[1]
        columns = tf.transpose(inputs, [2, 0, 1, 3])
        outputs = tf.reshape(columns, [width, batch * height, depth])
        return utils.collect_named_outputs(outputs_collections, opened, outputs)


@export("contrib.layers.sequence_to_images")
@add_arg_scope
def sequence_to_images(
    inputs: TensorLike,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> Any:
    """What `images_to_sequence` made of pictures, as pictures.

    Args:
        inputs: [width, batch * height, channels].
        height: the pictures' height.
        output_data_format: "channels_first" or "channels_last".
        outputs_collections: names of collections that get the result.
        scope: the name scope.
    """
    with tf.name_scope(scope, "SequenceToImages", [inputs]) as opened:
        inputs = tf.convert_to_tensor(inputs)
        width, rows, depth = inputs.shape.as_list()
        batch = -1 if rows is None else rows // height
        pictures = tf.reshape(inputs, [width, batch, height, depth])
        is_first = output_data_format == "channels_first"
        outputs = tf.transpose(pictures, [1, 3, 2, 0] if is_first else [1, 2, 0, 3])
        return utils.collect_named_outputs(outputs_collections, opened, outputs)


@export("contrib.layers.softmax")
@add_arg_scope
def softmax(logits: Tensor, scope: Scope | None = None) -> Tensor:
    """The softmax over the last axis.

    Args:
        logits: a tensor of two axes or more, whose last size is known.
        scope: the variable scope.
    """
    with tf.variable_scope(scope, "softmax", [logits]):
        size = utils.last_dimension(logits.shape, min_rank=2)
        rows = softmax_of(tf.reshape(logits, [-1, size]))
        predictions = tf.reshape(rows, tf.shape(logits))
        predictions.set_shape(logits.shape)
        return predictions


@export("contrib.layers.spatial_softmax")
@add_arg_scope
def spatial_softmax(
    features: Tensor,
    temperature: float | None = None,
    name: Scope | None = None,
    variables_collections: VariableCollections | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Tensor:
    """Where in the picture each channel is, by the softmax of its points.

    Args:
        features: [batch, height, width, channels], or as `data_format` says.
        temperature: what features are divided by, at the beginning; 1 if None.
        name: the variable scope.
        variables_collections: collections for the temperature.
        trainable: whether the temperature is to be trained.
        data_format: "NHWC" or "NCHW".

    Returns:
        [batch, 2 * channels]: x and y of each channel, from -1 to 1.

    Raises:
        ValueError: the format is another, or the number of channels is unknown.
    """
    with tf.variable_scope(name, "spatial_softmax"):
        is_first = channels_of(data_format, "NCHW", "NHWC") == "channels_first"
        features = tf.convert_to_tensor(features)
        shape = tf.shape(features)
        height, width = (shape[2], shape[3]) if is_first else (shape[1], shape[2])
        channels = features.shape.as_list()[1 if is_first else 3]
        if channels is None:
            raise ValueError(
                "The num_channels dimension of the inputs to `spatial_softmax` should be defined. "
                "Found `None`."
            )
        with tf.name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            lines = (tf.lin_space(-1.0, 1.0, num=height), tf.lin_space(-1.0, 1.0, num=width))
            pos_x, pos_y = tf.meshgrid(*lines, indexing="ij")
            pos_x = tf.reshape(pos_x, [height * width])
            pos_y = tf.reshape(pos_y, [height * width])
            start: Any = tf.ones_initializer()
            if temperature is not None:
                start = tf.constant_initializer(temperature)
            divisor = parameter(
                "temperature",
                (),
                variables_collections if trainable else None,
                dtype=dtypes.float32,
                initializer=start,
                trainable=trainable,
            )
            points = features if is_first else tf.transpose(features, [0, 3, 1, 2])
            points = tf.reshape(points, [-1, height * width])
            attention = softmax_of(points / divisor)
            expected = [tf.reduce_sum(p * attention, [1], keepdims=True) for p in (pos_x, pos_y)]
            places = tf.reshape(tf.concat(expected, 1), [-1, channels * 2])
            places.set_shape([None, channels * 2])
    return places


@export("contrib.layers.unit_norm")
@add_arg_scope
def unit_norm(inputs: Tensor, dim: int, epsilon: float = 1e-7, scope: Scope | None = None) -> Any:
    """The inputs divided by their Euclidean norms along an axis.

    Args:
        inputs: a tensor of known rank.
        dim: the axis.
        epsilon: what is added to squares of norms.
        scope: the variable scope.

    Raises:
        ValueError: the rank is unknown, or it has no such axis.
    """
    with tf.variable_scope(scope, "UnitNorm", [inputs]):
        rank = inputs.shape.ndims
        if not rank:
            raise ValueError("The input rank must be known.")
        if dim < 0 or dim >= rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        norms = tf.sqrt(epsilon + tf.reduce_sum(tf.square(inputs), dim, True))
        times = [tf.ones([dim], dtypes.int32)] if dim > 0 else []
        times.append(tf.strided_slice(tf.shape(inputs), [dim], [dim + 1]))
        if dim < rank - 1:
            times.append(tf.ones([rank - 1 - dim], dtypes.int32))
        return tf.div(inputs, tf.tile(norms, tf.concat(times, 0)))


@export("contrib.layers.maxout")
@add_arg_scope
def maxout(inputs: TensorLike, num_units: int, axis: int = -1, scope: Scope | None = None) -> Any:
    """The maxima of groups of features: as many groups as there are to be units.

    Args:
        inputs: a tensor, whose size of the axis is known.
        num_units: the number of groups.
        axis: the axis of the features.
        scope: the variable scope.

    Raises:
        ValueError: the number of features is no multiple of that of units.
    """
    with tf.variable_scope(scope, "MaxOut", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        shape: list[Any] = inputs.shape.as_list()
        features = shape[axis]
        if features % num_units:
            raise ValueError(
                f"number of features({features}) is not a multiple of num_units({num_units})"
            )
        shape[axis] = num_units
        shape.append(features // num_units)
        sizes = [tf.shape(inputs)[i] if size is None else size for i, size in enumerate(shape)]
        return tf.reduce_max(tf.reshape(inputs, sizes), -1, keepdims=False)


def poincare_normalize(
    x: TensorLike, axis: int = 1, epsilon: float = 1e-5, name: str | None = None
) -> Any:
    """Vectors whose norm is a little less than one at most, along an axis.

    Args:
        x: a tensor.
        axis: the axis, or axes.
        epsilon: how much less than one.
        name: the name of the result.
    """
    with tf.name_scope(name, "poincare_normalize", [x]) as scope:
        x = tf.convert_to_tensor(x, name="x")
        squares = tf.reduce_sum(tf.square(x), axis, keepdims=True)
        factor = tf.minimum((1.0 - epsilon) * tf.rsqrt(squares), 1.0)
        return tf.multiply(x, factor, name=scope)


def _scale_gradient_shape(op: Operation) -> list[Any]:
    return [op.inputs[0].shape]


def _scale_gradient_gradient(op: Operation, grad: Tensor) -> list[Any]:
    return [grad * op.inputs[1], None]


@export("contrib.layers.scale_gradient")
@Defun(python_grad_func=_scale_gradient_gradient, shape_func=_scale_gradient_shape)
def scale_gradient(inputs: Tensor, gradient_multiplier: Tensor) -> Tensor:
    """The inputs; what comes back as their gradient is multiplied."""
    del gradient_multiplier
    return inputs


def _scope_of(layer: Callable[..., Any], otherwise: str) -> str:
    """The name for a layer's scopes."""
    function = layer if hasattr(layer, "__name__") else getattr(layer, "func", None)
    return getattr(function, "__name__", otherwise)


@export("contrib.layers.repeat")
def repeat(
    inputs: TensorLike, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Tensor:
    """Applies a layer several times, each with variables of its own.

    Args:
        inputs: a tensor.
        repetitions: how many times.
        layer: a function of a tensor, with an argument `scope`.
        *args, **kwargs: its other arguments; `scope` names the scopes, which are numbered.

    Returns:
        What the last gives.

    Example:
        >>> layers = tf.contrib.layers
        >>> net = layers.repeat(tf.zeros([1, 8, 8, 3]), 2, layers.conv2d, 3, [3, 3], scope="conv1")
        >>> print([v.op.name for v in tf.trainable_variables() if "weights" in v.name])
        ['conv1/conv1_1/weights', 'conv1/conv1_2/weights']
    """
    scope = kwargs.pop("scope", None)
    with tf.variable_scope(scope, "Repeat", [inputs]):
        outputs = tf.convert_to_tensor(inputs)
        name = _scope_of(layer, "repeat") if scope is None else scope
        for i in range(repetitions):
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{name}_{i + 1}"})
        return outputs


@export("contrib.layers.stack")
def stack(
    inputs: TensorLike, layer: Callable[..., Any], stack_args: Sequence[Any], **kwargs: Any
) -> Tensor:
    """Applies a layer several times, each with arguments of its own.

    Args:
        inputs: a tensor.
        layer: a function of a tensor, with an argument `scope`.
        stack_args: for each time the layer's arguments by position, a list or a single one.
        **kwargs: its other arguments; `scope` names the scopes, which are numbered.

    Returns:
        What the last gives.

    Raises:
        ValueError: `stack_args` is no list or tuple.

    Example:
        >>> layers = tf.contrib.layers
        >>> net = layers.stack(tf.zeros([1, 8]), layers.fully_connected, [16, 4], scope="fc")
        >>> print(net.shape, tf.trainable_variables()[0].op.name)
        (1, 4) fc/fc_1/weights
    """
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with tf.variable_scope(scope, "Stack", [inputs]):
        outputs = tf.convert_to_tensor(inputs)
        name = _scope_of(layer, "stack") if scope is None else scope
        for i, args in enumerate(stack_args):
            args = args if isinstance(args, (list, tuple)) else [args]
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{name}_{i + 1}"})
        return outputs
