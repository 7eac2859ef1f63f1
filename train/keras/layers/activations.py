# SPDX-License-Identifier: Apache-2.0
"""Layers that are activations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import NAMES
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...layers.input_spec import InputSpec
from .. import constraints, initializers, regularizers
from ..backend.networks import relu
from ..backend.settings import floatx
from ..identifiers import Identifier
from .style import KerasLayer

if TYPE_CHECKING:
    from ....engine.graph.annotations import ShapeLike


class _Elementwise(KerasLayer):
    """A layer whose outputs are of its inputs' shape."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: ShapeLike) -> TensorShape:
        """The inputs' shape."""
        return TensorShape(input_shape)


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
        self.alpha = float(np.asarray(alpha, floatx()))

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The activation of the inputs."""
        return relu(inputs, self.alpha, None, 0.0)

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

    _arguments = ("alpha_initializer", "alpha_regularizer", "alpha_constraint", "shared_axes")

    def __init__(
        self,
        alpha_initializer: Identifier = "zeros",
        alpha_regularizer: Identifier = None,
        alpha_constraint: Identifier = None,
        shared_axes: int | Sequence[int] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.alpha_regularizer = regularizers.get(alpha_regularizer)
        self.alpha_constraint = constraints.get(alpha_constraint)
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
        self.alpha = float(np.asarray(alpha, floatx()))

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
        self.theta = float(np.asarray(theta, floatx()))

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
        return relu(inputs, self.negative_slope, self.max_value, self.threshold)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        names = ("max_value", "negative_slope", "threshold")
        return {**super().get_config(), **{name: getattr(self, name) for name in names}}
