# SPDX-License-Identifier: Apache-2.0
"""Layers of `tf.keras` that are activations: they need none of its models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import NAMES
from ...engine.types.shape import TensorShape
from ...ops.public import tf
from ...train.layers import named
from ...train.layers.base_layer import Layer
from ...train.layers.input_spec import InputSpec

if TYPE_CHECKING:
    from ...engine.graph.annotations import ShapeLike
    from ...engine.graph.tensor import Tensor


def _rectified(x: Tensor, slope: float, limit: float | None, threshold: float) -> Tensor:
    """x above a threshold, up to a limit; below it, the distance to it by a slope."""
    if slope and limit is None and threshold == 0:
        return NAMES["nn.leaky_relu"](x, alpha=slope)
    below = NAMES["nn.relu"](-x + threshold if threshold else -x) if slope else None
    if threshold:
        above = x * tf.cast(tf.greater(x, threshold), x.dtype)
    else:
        above = NAMES["nn.relu6"](x) if limit == 6 else NAMES["nn.relu"](x)
    if limit is not None and (threshold or limit != 6):
        above = tf.clip_by_value(above, 0.0, limit)
    return above if below is None else above - slope * below


class _Elementwise(Layer):
    """A layer whose outputs are of its inputs' shape."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The inputs' shape."""
        return TensorShape(input_shape)


class Activation(_Elementwise):
    """Applies an activation.

    Args:
        activation: a function or its name.
        name, dtype, trainable: as of all layers.

    Example:
        >>> print(Activation("relu")(tf.zeros([2, 3])).shape)
        (2, 3)
    """

    def __init__(self, activation: str | Callable[..., Any] | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = named.activation(activation)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The activation of the inputs."""
        return self.activation(inputs)


class LeakyReLU(_Elementwise):
    """The inputs, of which negative ones are multiplied by a slope.

    Args:
        alpha: the slope.
        name, dtype, trainable: as of all layers.

    Example:
        >>> tf.Session().run(LeakyReLU(0.5)(tf.constant([-2.0, 2.0]))).tolist()
        [-1.0, 2.0]
    """

    def __init__(self, alpha: float = 0.3, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = float(alpha)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The activation of the inputs."""
        return _rectified(inputs, self.alpha, None, 0.0)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {**super().get_config(), "alpha": self.alpha}


class PReLU(_Elementwise):
    """The inputs, of which negative ones are multiplied by slopes that are learnt.

    Args:
        alpha_initializer: an initializer of the slopes or its name.
        alpha_regularizer: a function that makes a loss of them.
        alpha_constraint: a function that projects them after updates.
        shared_axes: axes whose elements share a slope; the first axis after the batch is 1.
        name, dtype, trainable: as of all layers.

    Example:
        >>> layer = PReLU(shared_axes=[1])
        >>> print(layer(tf.zeros([2, 3, 4])).shape, layer.alpha.shape)
        (2, 3, 4) (1, 4)
    """

    def __init__(
        self,
        alpha_initializer: Any = "zeros",
        alpha_regularizer: Any = None,
        alpha_constraint: Any = None,
        shared_axes: int | Sequence[int] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.alpha_initializer = named.initializer(alpha_initializer)
        self.alpha_regularizer, self.alpha_constraint = alpha_regularizer, alpha_constraint
        shared = [shared_axes] if isinstance(shared_axes, int) else shared_axes
        self.shared_axes = None if shared is None else list(shared)

    def build(self, input_shape: ShapeLike) -> None:
        """Makes the slopes, of the shape of one input."""
        sizes = TensorShape(input_shape).as_list()
        shared = self.shared_axes or []
        axes = range(1, len(sizes))
        self.alpha = self.add_weight(
            "alpha",
            shape=[1 if axis in shared else sizes[axis] for axis in axes],
            initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )
        own = {axis: sizes[axis] for axis in axes if axis not in shared} if shared else {}
        self.input_spec = InputSpec(ndim=len(sizes), axes=own)
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The activation of the inputs."""
        positive = NAMES["nn.relu"](inputs)
        return positive + -self.alpha * NAMES["nn.relu"](-inputs)


class ELU(_Elementwise):
    """The inputs, of which negative ones become alpha * (exp(x) - 1).

    Args:
        alpha: the factor.
        name, dtype, trainable: as of all layers.

    Example:
        >>> tf.Session().run(ELU()(tf.constant([2.0]))).tolist()
        [2.0]
    """

    def __init__(self, alpha: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = float(alpha)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The activation of the inputs."""
        found = NAMES["nn.elu"](inputs)
        return found if self.alpha == 1 else tf.where(inputs > 0, found, self.alpha * found)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {**super().get_config(), "alpha": self.alpha}


class ThresholdedReLU(_Elementwise):
    """The inputs above a threshold, 0 elsewhere.

    Args:
        theta: the threshold.
        name, dtype, trainable: as of all layers.

    Example:
        >>> tf.Session().run(ThresholdedReLU()(tf.constant([0.5, 2.0]))).tolist()
        [0.0, 2.0]
    """

    def __init__(self, theta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.theta = float(theta)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The activation of the inputs."""
        return inputs * tf.cast(tf.greater(inputs, self.theta), inputs.dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {**super().get_config(), "theta": self.theta}


class Softmax(_Elementwise):
    """Positive values whose sum along an axis is 1.

    Args:
        axis: the axis.
        name, dtype, trainable: as of all layers.

    Example:
        >>> tf.Session().run(Softmax()(tf.zeros([1, 2]))).tolist()
        [[0.5, 0.5]]
    """

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The activation of the inputs."""
        return NAMES["nn.softmax"](inputs, axis=self.axis)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {**super().get_config(), "axis": self.axis}


class ReLU(_Elementwise):
    """The inputs above a threshold and up to a limit.

    Args:
        max_value: the limit; None for none.
        negative_slope: what the distance below the threshold is multiplied by.
        threshold: the threshold.
        name, dtype, trainable: as of all layers.

    Raises:
        ValueError: max_value or negative_slope is negative.

    Example:
        >>> tf.Session().run(ReLU(max_value=1.0)(tf.constant([-2.0, 0.5, 2.0]))).tolist()
        [0.0, 0.5, 1.0]
    """

    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0,
        threshold: float = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        for name, value in (("max_value", max_value), ("negative_slope", negative_slope)):
            if value is not None and value < 0:
                raise ValueError(f"{name} of Relu layer cannot be negative value: {value}")
        self.max_value = None if max_value is None else float(max_value)
        self.negative_slope, self.threshold = float(negative_slope), float(threshold)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The activation of the inputs."""
        return _rectified(inputs, self.negative_slope, self.max_value, self.threshold)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        names = ("max_value", "negative_slope", "threshold")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
