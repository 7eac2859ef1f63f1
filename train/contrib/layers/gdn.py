# SPDX-License-Identifier: Apache-2.0
"""Generalized divisive normalization (https://arxiv.org/abs/1511.06281)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.gradients.autodiff_registry import RegisterGradient
from ....engine.types.shape import TensorShape
from ....ops.nn.atrous import convolution
from ....ops.nn.bias import bias_add
from ....ops.public import tf
from ...layers import base
from ...layers.input_spec import InputSpec

if TYPE_CHECKING:
    from ....engine.graph.annotations import ShapeLike, TensorLike
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor

_AXES = {"channels_first": 1, "channels_last": -1}


def _lower_bound_gradient(op: Operation, grad: Tensor) -> list[Any]:
    """Gradients pass where the bound is kept, and where they lead back to it."""
    inputs, bound = op.inputs
    passes = tf.logical_or(inputs >= bound, grad < 0)
    return [tf.cast(passes, grad.dtype) * grad, None]


@functools.cache
def _register() -> None:
    # When the first layer is made: an import registers nothing.
    RegisterGradient("GDNLowerBound")(_lower_bound_gradient)


@export("contrib.layers.GDN")
class GDN(base.Layer):
    """y[i] = x[i] / sqrt(beta[i] + sum over j of gamma[j, i] * x[j]^2), of channels.

    Args:
        inverse: whether to multiply instead.
        beta_min: the least value of beta.
        gamma_init: the diagonal of gamma, at the beginning.
        reparam_offset: keeps gradients of the variables, which are roots, from vanishing.
        data_format: "channels_first" or "channels_last".
        activity_regularizer: a function of the outputs that makes a loss.
        trainable: whether the variables are to be trained.
        name: the layer's name.

    Raises:
        ValueError: the format is another, or the number of channels is unknown.
    """

    def __init__(
        self,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        reparam_offset: float = 2**-18,
        data_format: str = "channels_last",
        activity_regularizer: Callable[..., Any] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs
        )
        self.inverse = inverse
        self._beta_min = beta_min
        self._gamma_init = gamma_init
        self._reparam_offset = reparam_offset
        self.data_format = data_format
        self._channel_axis()
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5)

    def _channel_axis(self) -> int:
        if self.data_format not in _AXES:
            raise ValueError(f"Unsupported `data_format` for GDN layer: {self.data_format}.")
        return _AXES[self.data_format]

    @staticmethod
    def _lower_bound(inputs: TensorLike, bound: TensorLike, name: str | None = None) -> Tensor:
        _register()
        with tf.name_scope(name, "GDNLowerBound", [inputs, bound]) as scope:
            inputs = tf.convert_to_tensor(inputs, name="inputs")
            bound = tf.convert_to_tensor(bound, name="bound")
            graph = tf.get_default_graph()
            with graph.gradient_override_map({"Maximum": "GDNLowerBound"}):
                return tf.maximum(inputs, bound, name=scope)

    def _pedestal(self) -> Tensor:
        return tf.constant(self._reparam_offset**2, dtype=self.dtype)

    def build(self, input_shape: ShapeLike) -> None:
        """Makes the variables."""
        axis, shape = self._channel_axis(), TensorShape(input_shape)
        channels = shape.as_list()[axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        self._input_rank = len(shape.as_list())
        self.input_spec = InputSpec(ndim=shape.ndims, axes={axis: channels})
        pedestal = self._pedestal()
        beta_bound = (self._beta_min + self._reparam_offset**2) ** 0.5
        bounds = [tf.constant(b, dtype=self.dtype) for b in (beta_bound, self._reparam_offset)]

        def of_beta(shape: Any, dtype: Any = None, partition_info: object = None) -> Any:
            added = self._pedestal()
            return tf.sqrt(tf.ones(shape, dtype=dtype) + added)

        def of_gamma(shape: Any, dtype: Any = None, partition_info: object = None) -> Any:
            unit, added = tf.eye(shape[0], dtype=dtype), self._pedestal()
            return tf.sqrt(self._gamma_init * unit + added)

        def bounded(name: str, shape: list[int], initializer: Any, bound: Any) -> Any:
            root = self.add_variable(
                name, shape=shape, initializer=initializer, dtype=self.dtype, trainable=True
            )
            return tf.square(self._lower_bound(root, bound)) - pedestal

        self.beta = bounded("reparam_beta", [channels], of_beta, bounds[0])
        self.gamma = bounded("reparam_gamma", [channels, channels], of_gamma, bounds[1])
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The normalized inputs."""
        inputs = tf.convert_to_tensor(inputs, dtype=self.dtype)
        rank = self._input_rank
        gamma = tf.reshape(self.gamma, (rank - 2) * [1] + self.gamma.shape.as_list())
        squares = tf.square(inputs)
        if self.data_format == "channels_first":
            layout = "NC" + "DHW"[-(rank - 2) :]
            norms = self._with_beta(convolution(squares, gamma, "VALID", data_format=layout), rank)
        else:
            norms = bias_add(convolution(squares, gamma, "VALID"), self.beta, data_format="NHWC")
        norms = tf.sqrt(norms)
        outputs = inputs * norms if self.inverse else inputs / norms
        outputs.set_shape(inputs.shape)
        return outputs

    def _with_beta(self, norms: Any, rank: int) -> Tensor:
        """Adds beta to channels in front, for which there must be four axes."""
        if rank == 3:
            added = bias_add(tf.expand_dims(norms, 2), self.beta, data_format="NCHW")
            return tf.squeeze(added, [2])
        if rank == 5:
            shape = tf.shape(norms)
            flat = tf.reshape(norms, tf.concat([shape[:3], [-1]], 0))
            return tf.reshape(bias_add(flat, self.beta, data_format="NCHW"), shape)
        return bias_add(norms, self.beta, data_format="NCHW")

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The input's shape."""
        axis, shape = self._channel_axis(), TensorShape(input_shape)
        if shape.ndims is None or not 3 <= shape.ndims <= 5:
            raise ValueError("`input_shape` must be of rank 3 to 5, inclusive.")
        if shape.as_list()[axis] is None:
            raise ValueError("The channel dimension of `input_shape` must be defined.")
        return shape


@export("contrib.layers.gdn")
def gdn(
    inputs: Tensor,
    inverse: bool = False,
    beta_min: float = 1e-6,
    gamma_init: float = 0.1,
    reparam_offset: float = 2**-18,
    data_format: str = "channels_last",
    activity_regularizer: Callable[..., Any] | None = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: bool | None = None,
) -> Any:
    """What a new layer `GDN` makes of the inputs.

    Args:
        inputs: a tensor of three to five axes.
        reuse: whether variables are found instead of made; `name` is their scope.
        inverse: as `GDN`, like the rest.
    """
    layer = GDN(
        inverse=inverse,
        beta_min=beta_min,
        gamma_init=gamma_init,
        reparam_offset=reparam_offset,
        data_format=data_format,
        activity_regularizer=activity_regularizer,
        trainable=trainable,
        name=name,
        dtype=inputs.dtype.base_dtype,
        _scope=name,
        _reuse=reuse,
    )
    return layer.apply(inputs)
