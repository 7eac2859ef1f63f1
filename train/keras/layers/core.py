# SPDX-License-Identifier: Apache-2.0
"""Dense, dropout, masks, and layers that change shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....engine.types import nest
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...layers import core
from ...layers.input_spec import InputSpec
from ...layers.nodes import as_shapes
from .. import activations
from ..backend.phase import known_or_cond, learning_phase
from ..backend.published import nn
from ..identifiers import Identifier
from ..serialization import function_config, function_of
from .style import KerasLayer, resolved, with_input_shape


class Dense(KerasLayer, core.Dense):
    """activation(inputs @ kernel + bias), over the inputs' last axis.

    Args:
        units: the size of the outputs' last axis.
        activation, *_initializer, *_regularizer, *_constraint: objects or their names.
        use_bias: whether there is a bias.
        input_dim, and as of all layers: name, trainable, dtype, input_shape.
    """

    _arguments = (
        *("units", "activation", "use_bias", "kernel_initializer", "bias_initializer"),
        *("kernel_regularizer", "bias_regularizer", "activity_regularizer"),
        *("kernel_constraint", "bias_constraint"),
    )

    def __init__(
        self,
        units: int,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        given = resolved(
            activation=activation,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
        )
        core.Dense.__init__(
            self, int(units), use_bias=use_bias, **given, **with_input_shape(kwargs)
        )


class Activation(KerasLayer):
    """Applies an activation, a function or its name."""

    _arguments = ("activation",)

    def __init__(self, activation: Identifier, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The activation of the inputs."""
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The inputs' shape."""
        return TensorShape(input_shape)


class Masking(KerasLayer):
    """Masks steps whose elements are all `mask_value`, and makes them zero."""

    _arguments = ("mask_value",)

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.mask_value = mask_value

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Which steps count."""
        del mask
        return tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The inputs, zero where they are masked."""
        kept = tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        outputs = inputs * tf.cast(kept, inputs.dtype)
        outputs._keras_mask = tf.squeeze(kept, axis=[-1])
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The inputs' shape."""
        return TensorShape(input_shape)


class Dropout(KerasLayer):
    """Zeroes elements at random when training, and scales up the others.

    Args:
        rate: the share of elements that become zero.
        noise_shape: the shape of the random mask; None in it stands for the inputs' size.
        seed: of the random numbers.
        name, trainable, dtype, input_shape: as of all layers.
    """

    _arguments = ("rate", "noise_shape", "seed")

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Any) -> Any:
        if self.noise_shape is None:
            return None
        sizes = tf.shape(inputs)
        shape = [sizes[i] if size is None else size for i, size in enumerate(self.noise_shape)]
        return tf.convert_to_tensor(shape)

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        """The inputs, with elements dropped when training."""
        if training is None:
            training = learning_phase()
        return known_or_cond(
            training,
            lambda: nn.dropout(
                inputs,
                noise_shape=self._get_noise_shape(inputs),
                seed=self.seed,
                rate=self.rate,
            ),
            lambda: tf.identity(inputs),
        )

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The inputs' shape."""
        return TensorShape(input_shape)


class _SpatialDropout(Dropout):
    """Drops whole channels."""

    _arguments = ("rate", "noise_shape", "seed")
    rank = 1

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(rate, **kwargs)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _first(self) -> bool:
        return False

    def _get_noise_shape(self, inputs: Any) -> Any:
        sizes, ones = tf.shape(inputs), (1,) * self.rank
        if self._first():
            return (sizes[0], sizes[1], *ones)
        return (sizes[0], *ones, sizes[self.rank + 1])


class SpatialDropout1D(_SpatialDropout):
    """Drops whole channels of sequences [batch, time, channels] at a rate."""


class _FormattedDropout(_SpatialDropout):
    def __init__(self, rate: float, data_format: str | None = None, **kwargs: Any) -> None:
        from ..backend.settings import image_data_format

        super().__init__(rate, **kwargs)
        data_format = data_format or image_data_format()
        if data_format not in ("channels_last", "channels_first"):
            raise ValueError(
                f'data_format must be in {{"channels_last", "channels_first"}}, not {data_format!r}'
            )
        self.data_format = data_format

    def _first(self) -> bool:
        return self.data_format == "channels_first"


class SpatialDropout2D(_FormattedDropout):
    """Drops whole channels of pictures at a rate."""

    rank = 2


class SpatialDropout3D(_FormattedDropout):
    """Drops whole channels of volumes at a rate."""

    rank = 3


class Reshape(KerasLayer):
    """Gives all axes but the first another shape; one size of it may be -1."""

    _arguments = ("target_shape",)

    def __init__(self, target_shape: Sequence[int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def _sizes(self, sizes: Sequence[Any]) -> list[int]:
        wanted = list(self.target_shape)
        known = math.prod(size for size in wanted if size != -1)
        whole = math.prod(sizes)
        error = ValueError("total size of new array must be unchanged")
        if wanted.count(-1) > 1:
            raise ValueError("Can only specify one unknown dimension.")
        if -1 not in wanted:
            if whole != known:
                raise error
            return wanted
        if known == 0 or whole % known:
            raise error
        wanted[wanted.index(-1)] = whole // known
        return wanted

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The first size and the target's; ValueError where that is of another size."""
        sizes = TensorShape(input_shape).as_list()
        if None in sizes[1:]:
            rest = [size if size != -1 else None for size in self.target_shape]
            return TensorShape([sizes[0], *rest])
        return TensorShape([sizes[0], *self._sizes(sizes[1:])])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The elements in the other shape."""
        return tf.reshape(inputs, (tf.shape(inputs)[0], *self.target_shape))


class Permute(KerasLayer):
    """Puts all axes but the first in another order, counted from 1."""

    _arguments = ("dims",)

    def __init__(self, dims: Sequence[int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in "
                "`dims` must be consecutive and start from 1."
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The sizes in the other order."""
        sizes = TensorShape(input_shape).as_list()
        return TensorShape([sizes[0], *(sizes[axis] for axis in self.dims)])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The axes in the other order."""
        return tf.transpose(inputs, perm=(0, *self.dims))


class Flatten(KerasLayer, core.Flatten):
    """Makes one axis of all but the first, as if channels were last."""

    _arguments = ("data_format",)

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        core.Flatten.__init__(self, data_format, **kwargs)


class RepeatVector(KerasLayer):
    """Repeats rows n times: [batch, n, size]."""

    _arguments = ("n",)

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """[batch, n, size]."""
        batch, size = TensorShape(input_shape).as_list()
        return TensorShape([batch, self.n, size])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The rows, repeated."""
        return tf.tile(tf.expand_dims(inputs, 1), tf.stack([1, self.n, 1]))


class ActivityRegularization(KerasLayer):
    """Gives the inputs, and costs of their amounts (l1) and squares (l2)."""

    _arguments = ("l1", "l2")

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        from ..regularizers import L1L2

        super().__init__(activity_regularizer=L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1, self.l2 = l1, l2

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The inputs' shape."""
        return TensorShape(input_shape)


class Lambda(KerasLayer):
    """Applies a function.

    Args:
        function: takes the inputs, and `mask` or `training` if it has such arguments.
        output_shape: the outputs' shape without the batch's axis, or a function of the inputs'.
        mask: the outputs' mask, or a function of the inputs and theirs.
        arguments: further arguments of the function.
        name, trainable, dtype, input_shape: as of all layers.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        vars(self)["function"] = function
        vars(self)["arguments"] = arguments or {}
        if mask is not None:
            self.supports_masking = True
        vars(self)["mask"] = mask
        vars(self)["_output_shape"] = output_shape
        # Name -> variable.
        vars(self)["_made"] = {}
        self._lambda_arguments = set(_parameters(function))
        self._expects_training_arg = "training" in self._lambda_arguments
        if "mask" in self._lambda_arguments:
            self._call_fn_args = [*self._call_fn_args, "mask"]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The output shapes that were given, or those of the function's results."""
        given = vars(self)["_output_shape"]
        shapes = as_shapes(input_shape)
        if given is None:
            with tf.Graph().as_default():
                dtype = self.dtype or tf.float32
                x = nest.map_structure(lambda s: tf.placeholder(dtype, s), shapes)
                return nest.map_structure(lambda y: y.shape, self.call(x))
        if callable(given):
            return as_shapes(given(input_shape))
        size = nest.flatten(shapes)[0].as_list()[0]
        return nest.map_structure(lambda s: TensorShape([size, *s.as_list()]), as_shapes(given))

    def _make_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        """A variable that the function makes: once for each name, and a weight of the layer."""
        made = vars(self)["_made"]
        name = kwargs.get("name")
        if name not in made:
            made[name] = next_creator(**kwargs)
            self._take_variables(made[name])
        return made[name]

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:  # type: ignore[override]
        """What the function gives."""
        given = dict(vars(self)["arguments"])
        if "mask" in self._lambda_arguments:
            given["mask"] = mask
        if "training" in self._lambda_arguments:
            given["training"] = training
        with tf.variable_creator_scope(self._make_variable):
            return vars(self)["function"](inputs, **given)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask that was given."""
        own = vars(self)["mask"]
        return own(inputs, mask) if callable(own) else own

    def get_config(self) -> dict[str, Any]:
        """The arguments; functions without a name as their code."""
        function, kind, module = function_config(vars(self)["function"])
        config = {
            **super().get_config(),
            "function": function,
            "function_type": kind,
            "module": module,
        }
        shape = vars(self)["_output_shape"]
        shape, kind, module = function_config(shape) if callable(shape) else (shape, "raw", None)
        config.update(output_shape=shape, output_shape_type=kind, output_shape_module=module)
        mask = vars(self)["mask"]
        if mask is not None:
            own, kind, module = function_config(mask) if callable(mask) else (mask, "raw", None)
            config.update(mask=own, mask_type=kind, mask_module=module)
        arguments = {
            key: {"type": "ndarray", "value": value.tolist()}
            if isinstance(value, np.ndarray)
            else value
            for key, value in vars(self)["arguments"].items()
        }
        return {**config, "arguments": arguments}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Lambda:
        """A layer of what `get_config` gave."""
        config = dict(config)
        for name in ("function", "output_shape", "mask"):
            prefix = "function" if name == "function" else name
            kind = config.pop(f"{prefix}_type", "raw")
            module = config.pop("module" if name == "function" else f"{name}_module", None)
            if name in config:
                config[name] = function_of(config[name], kind, module, custom_objects)
        config["arguments"] = {
            key: np.array(value["value"])
            if isinstance(value, dict) and value.get("type") == "ndarray"
            else value
            for key, value in config.get("arguments", {}).items()
        }
        return cls(**config)


def _parameters(function: Callable[..., Any]) -> Sequence[str]:
    import inspect

    try:
        return list(inspect.signature(function).parameters)
    except ValueError:
        return []
