# SPDX-License-Identifier: Apache-2.0
"""Layers that are not about images: Dense, Dropout and Flatten."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.tensor import SparseTensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...ops.nn.bias import bias_add
from ...ops.nn.dropout import dropout as drop
from ...ops.public import raw, tf
from . import base, named
from .functional import functional
from .input_spec import InputSpec
from .utils import normalize_data_format, smart_cond

if TYPE_CHECKING:
    from ...engine.graph.annotations import ShapeLike, TensorLike
    from ...engine.graph.tensor import Tensor


class Dense(base.Layer):
    """activation(inputs @ kernel + bias), of the inputs' last axis (tf.layers.Dense).

    Inputs are floating-point or complex, of two axes or more, or sparse; outputs have `units` in
    place of the last size.

    Args:
        units: the size of the outputs' last axis.
        activation: a function or its name; None for none.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: initializers or their names; None is the scope's.
        kernel_regularizer, bias_regularizer, activity_regularizer: functions that make losses.
        kernel_constraint, bias_constraint: functions that project variables after updates.
        trainable, name: as tf.layers.Layer.

    Raises:
        TypeError: the dtype is an integer.
        ValueError: the last size of the inputs is unknown.

    Example:
        >>> layer = tf.layers.Dense(4, activation=tf.nn.relu)
        >>> outputs = layer(tf.zeros([2, 3]))
        >>> print(outputs.shape, layer.kernel.shape, layer.bias.name)
        (2, 4) (3, 4) dense/bias:0
    """

    _arguments: tuple[str, ...] = (
        *("units", "activation", "use_bias", "kernel_initializer", "bias_initializer"),
        *("kernel_regularizer", "bias_regularizer", "activity_regularizer"),
        *("kernel_constraint", "bias_constraint"),
    )

    def __init__(
        self,
        units: int,
        activation: Callable[..., Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: Callable[..., Any] | None = None,
        bias_initializer: Callable[..., Any] | None = tf.zeros_initializer(),
        kernel_regularizer: Callable[..., Any] | None = None,
        bias_regularizer: object = None,
        activity_regularizer: Callable[..., Any] | None = None,
        kernel_constraint: Callable[..., Any] | None = None,
        bias_constraint: object = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs
        )
        self.units = int(units)
        self.activation = named.activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = named.initializer(kernel_initializer)
        self.bias_initializer = named.initializer(bias_initializer)
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: ShapeLike) -> None:
        """Makes the kernel [last size, units] and the bias [units]."""
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype}")
        last = TensorShape(input_shape).as_list()[-1]
        if last is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found `None`."
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: last})
        self.kernel = self.add_weight(
            "kernel",
            shape=[last, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            dtype=self.dtype,
            trainable=True,
        )
        self.bias = (
            self.add_weight(
                "bias",
                shape=[self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                dtype=self.dtype,
                trainable=True,
            )
            if self.use_bias
            else None
        )
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The product with the kernel, the bias and the activation."""
        rank = inputs.shape.ndims
        if rank > 2:
            outputs = tf.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            # tensordot forgets the sizes where some are unknown.
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            inputs = tf.cast(inputs, self._compute_dtype)
            if isinstance(inputs, SparseTensor):
                outputs = tf.sparse_tensor_dense_matmul(inputs, self.kernel)
            else:
                outputs = raw.MatMul(inputs, self.kernel)
        if self.use_bias:
            outputs = bias_add(outputs, self.bias)
        return self.activation(outputs)

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The input's shape with `units` as the last size."""
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape.as_list()[-1] is None:
            raise ValueError(
                f"The innermost dimension of input_shape must be defined, but saw: {input_shape}"
            )
        return TensorShape([*shape.as_list()[:-1], self.units])


class Dropout(base.Layer):
    """Zeroes elements at random when training, and scales up the others (tf.layers.Dropout).

    The call takes `training`, a bool or a tensor (False); without it the input is the output.

    Args:
        rate: the share of elements that become zero.
        noise_shape: the shape of the random mask; None in it stands for the input's size there.
        seed: of the random numbers.
        name: as tf.layers.Layer.

    Raises:
        ValueError: the rate is not in [0, 1), or the inputs are no floating-point numbers.
    """

    _arguments: tuple[str, ...] = ("rate", "noise_shape", "seed")

    def __init__(
        self,
        rate: float = 0.5,
        noise_shape: Sequence[int | None] | None = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Tensor) -> Any:
        if self.noise_shape is None:
            return None
        sizes = tf.shape(inputs)
        shape = [sizes[i] if size is None else size for i, size in enumerate(self.noise_shape)]
        return tf.convert_to_tensor(shape)

    def call(self, inputs: Any, training: Any = False) -> Any:  # type: ignore[override]
        """The input, with elements dropped when training."""
        return smart_cond(
            training,
            lambda: drop(
                inputs,
                noise_shape=self._get_noise_shape(inputs),
                seed=self.seed,
                rate=self.rate,
            ),
            lambda: tf.identity(inputs),
        )

    def compute_output_shape(self, input_shape: ShapeLike) -> Any:
        """The input's shape."""
        return input_shape


class Flatten(base.Layer):
    """All axes but the first as one (tf.layers.Flatten).

    Args:
        data_format: "channels_last" or "channels_first"; outputs are in the order of the former.
    """

    _arguments: tuple[str, ...] = ("data_format",)

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = normalize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The input as a matrix."""
        rank = inputs.shape.ndims
        if self.data_format == "channels_first" and rank > 1:
            # Flattened as if channels were last: weights behind it then fit either format.
            inputs = tf.transpose(inputs, perm=[0, *range(2, rank), 1])
        outputs = tf.reshape(inputs, (inputs.shape.as_list()[0] or tf.shape(inputs)[0], -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The first size and the product of the others."""
        first, *others = TensorShape(input_shape).as_list()
        return TensorShape([first, math.prod(others) if all(others) else None])


dense = functional(Dense, "dense", example=("tf.zeros([2, 3]), units=4", "(2, 4)"))
dropout = functional(
    Dropout,
    "dropout",
    "rate noise_shape seed training name",
    shared=False,
    example=("tf.zeros([2, 3]), rate=0.4, training=True", "(2, 3)"),
)


def flatten(inputs: TensorLike, name: str | None = None, data_format: str = "channels_last") -> Any:
    """All axes but the first as one.

    Args:
        inputs: a Tensor of any dtype.
        name: of the layer.
        data_format: "channels_last", or "channels_first", whose channels are put last before.

    Returns:
        A Tensor [batch, the product of the other sizes].

    Raises:
        ValueError: there is no such format.

    Example:
        >>> print(tf.layers.flatten(tf.zeros([2, 7, 7, 64])).shape)
        (2, 3136)
    """
    return Flatten(name=name, data_format=data_format).apply(inputs)


FullyConnected = Dense
fully_connected = dense
