# SPDX-License-Identifier: Apache-2.0
"""Batch and layer normalization, and noise."""

from __future__ import annotations

from typing import Any

from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...layers import normalization
from ..backend.phase import in_train_phase, learning_phase
from ..backend.published import nn
from ..identifiers import Identifier
from .style import KerasLayer, resolved


class BatchNormalization(KerasLayer, normalization.BatchNormalization):
    """gamma * (inputs - mean) / sqrt(variance + epsilon) + beta.

    Mean and variance are the batch's when training, and moving averages otherwise.

    Args:
        axis: the axis, or the list of axes, with parameters of their own.
        momentum: how much of a moving average an update keeps.
        epsilon: is added to variances.
        center, scale: whether there are beta and gamma.
        *_initializer, *_regularizer, *_constraint: objects or their names.
        renorm, renorm_clipping, renorm_momentum, fused, virtual_batch_size, adjustment: as of
            tf.layers.BatchNormalization.
        trainable, name, dtype, input_shape: as of all layers.
    """

    _arguments = (
        *("axis", "momentum", "epsilon", "center", "scale", "beta_initializer"),
        *("gamma_initializer", "moving_mean_initializer", "moving_variance_initializer"),
        *("beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint"),
    )

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Identifier = "zeros",
        gamma_initializer: Identifier = "ones",
        moving_mean_initializer: Identifier = "zeros",
        moving_variance_initializer: Identifier = "ones",
        beta_regularizer: Identifier = None,
        gamma_regularizer: Identifier = None,
        beta_constraint: Identifier = None,
        gamma_constraint: Identifier = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        given = resolved(
            beta_initializer=beta_initializer,
            gamma_initializer=gamma_initializer,
            moving_mean_initializer=moving_mean_initializer,
            moving_variance_initializer=moving_variance_initializer,
            beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer,
            beta_constraint=beta_constraint,
            gamma_constraint=gamma_constraint,
        )
        normalization.BatchNormalization.__init__(
            self,
            axis=list(axis) if isinstance(axis, tuple) else axis,
            momentum=momentum,
            epsilon=epsilon,
            center=center,
            scale=scale,
            renorm=renorm,
            renorm_clipping=renorm_clipping,
            renorm_momentum=renorm_momentum,
            fused=fused,
            trainable=trainable,
            virtual_batch_size=virtual_batch_size,
            adjustment=adjustment,
            name=name,
            **given,
            **kwargs,
        )

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        """The normalized inputs."""
        if training is None:
            training = learning_phase()
        if isinstance(training, int):
            training = bool(training)
        return super().call(inputs, training=training)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        config = super().get_config()
        if self.renorm:
            config["renorm"] = True
            config["renorm_clipping"] = self.renorm_clipping
            config["renorm_momentum"] = self.renorm_momentum
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        return config


class LayerNormalization(KerasLayer):
    """Each example less its mean over its deviation, along some axes, then scaled and shifted.

    Args:
        axis: the axis, or the list of axes.
        epsilon: is added to variances.
        center, scale: whether there are beta and gamma.
        *_initializer, *_regularizer, *_constraint: objects or their names.
        trainable, name, dtype, input_shape: as of all layers.
    """

    _arguments = (
        *("axis", "epsilon", "center", "scale", "beta_initializer", "gamma_initializer"),
        *("beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint"),
    )
    beta: Any
    gamma: Any

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Identifier = "zeros",
        gamma_initializer: Identifier = "ones",
        beta_regularizer: Identifier = None,
        gamma_regularizer: Identifier = None,
        beta_constraint: Identifier = None,
        gamma_constraint: Identifier = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise ValueError(f"Expected an int or a list/tuple of ints for `axis`, not {axis!r}")
        self.axis: Any = axis if isinstance(axis, int) else list(axis)
        self.epsilon, self.center, self.scale = epsilon, center, scale
        given = resolved(
            beta_initializer=beta_initializer,
            gamma_initializer=gamma_initializer,
            beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer,
            beta_constraint=beta_constraint,
            gamma_constraint=gamma_constraint,
        )
        for key, value in given.items():
            setattr(self, key, value)
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        """Makes gamma and beta; ValueError for axes that are not there or come twice."""
        shape: Any = TensorShape(input_shape)
        axes = [self.axis] if isinstance(self.axis, int) else list(self.axis)
        axes = [axis + shape.ndims if axis < 0 else axis for axis in axes]
        for axis in axes:
            if not 0 <= axis < shape.ndims:
                raise ValueError(f"Invalid axis: {axis}")
        if len(set(axes)) < len(axes):
            raise ValueError(f"Duplicate axis: {tuple(axes)}")
        self.axis = axes
        sizes = [shape.as_list()[axis] for axis in axes]
        for name, wanted in (("gamma", self.scale), ("beta", self.center)):
            made = None
            if wanted:
                made = self.add_weight(
                    name=name,
                    shape=sizes,
                    initializer=getattr(self, f"{name}_initializer"),
                    regularizer=getattr(self, f"{name}_regularizer"),
                    constraint=getattr(self, f"{name}_constraint"),
                    trainable=True,
                )
            setattr(self, name, made)
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The normalized inputs."""
        shape = inputs.shape
        mean, variance = nn.moments(inputs, self.axis, keep_dims=True)
        sizes = [size if i in self.axis else 1 for i, size in enumerate(shape.as_list())]

        def broadcast(v: Any) -> Any:
            if v is None or self.axis == [shape.ndims - 1]:
                return v
            return tf.reshape(v, sizes)

        outputs = nn.batch_normalization(
            inputs,
            mean,
            variance,
            offset=broadcast(self.beta),
            scale=broadcast(self.gamma),
            variance_epsilon=self.epsilon,
        )
        outputs.set_shape(shape)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The inputs' shape."""
        return input_shape


class _Noise(KerasLayer):
    """A random change of the inputs when training."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def _changed(self, inputs: Any) -> Any:
        raise NotImplementedError

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        """The inputs, changed when training."""
        return in_train_phase(lambda: self._changed(inputs), inputs, training=training)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The inputs' shape."""
        return input_shape


class GaussianNoise(_Noise):
    """Adds normally distributed numbers of a standard deviation when training."""

    _arguments = ("stddev",)

    def __init__(self, stddev: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stddev = stddev

    def _changed(self, inputs: Any) -> Any:
        from ..backend.random import random_normal

        return inputs + random_normal(tf.shape(inputs), mean=0.0, stddev=self.stddev)


class GaussianDropout(_Noise):
    """Multiplies by normally distributed numbers around 1 when training, as wide as dropout's."""

    _arguments = ("rate",)

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        """The inputs, changed when training if the rate is within 0 and 1."""
        return super().call(inputs, training) if 0 < self.rate < 1 else inputs

    def _changed(self, inputs: Any) -> Any:
        from ..backend.random import random_normal

        stddev = (self.rate / (1.0 - self.rate)) ** 0.5
        return inputs * random_normal(tf.shape(inputs), mean=1.0, stddev=stddev)


class AlphaDropout(_Noise):
    """Dropout that keeps mean and variance of what selu gives.

    Args:
        rate: the share of elements that are dropped.
        noise_shape: the shape of the random mask.
        seed: of the random numbers.
        name, trainable, dtype, input_shape: as of all layers.
    """

    _arguments = ("rate",)

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        """The inputs, changed when training if the rate is within 0 and 1."""
        if not 0.0 < self.rate < 1.0:
            return inputs
        # (Outside of the branch, as in TensorFlow: seeds depend on how many nodes there are.)
        shape = self.noise_shape if self.noise_shape else tf.shape(inputs)
        return in_train_phase(lambda: self._dropped(inputs, shape), inputs, training)

    def _dropped(self, inputs: Any, shape: Any) -> Any:
        from ..backend.random import random_uniform

        # Dropped elements become the value that selu has far below zero.
        lowest = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946
        kept = tf.greater_equal(random_uniform(shape, seed=self.seed), self.rate)
        kept = tf.cast(kept, inputs.dtype)
        a = ((1 - self.rate) * (1 + self.rate * lowest**2)) ** -0.5
        b = -a * lowest * self.rate
        return a * (inputs * kept + lowest * (1 - kept)) + b
