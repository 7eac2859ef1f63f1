# SPDX-License-Identifier: Apache-2.0
"""Embeddings, layers with weights of their own at each place, and attention."""

from __future__ import annotations

import math
from typing import Any

from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...layers.input_spec import InputSpec
from ...layers.utils import conv_output_length, normalize_data_format, normalize_tuple
from ..backend import convolutions
from ..backend.published import nn
from ..backend.settings import floatx, image_data_format
from ..identifiers import Identifier, PerAxis
from .style import KerasLayer, resolved


class Embedding(KerasLayer):
    """Rows of a table by their numbers.

    Args:
        input_dim: the number of rows.
        output_dim: the rows' size.
        embeddings_initializer, embeddings_regularizer, activity_regularizer,
            embeddings_constraint: objects or their names.
        mask_zero: whether the number 0 is masked.
        input_length: the number of inputs, where it is always the same.
        name, trainable, dtype, input_shape: as of all layers.
    """

    _arguments = (
        *("input_dim", "output_dim", "embeddings_initializer", "embeddings_regularizer"),
        *("activity_regularizer", "embeddings_constraint", "mask_zero", "input_length"),
    )

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Identifier = "uniform",
        embeddings_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        embeddings_constraint: Identifier = None,
        mask_zero: bool = False,
        input_length: Any = None,
        **kwargs: Any,
    ) -> None:
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs:
            kwargs["input_shape"] = (input_length,) if input_length else (None,)
        dtype = kwargs.pop("dtype", None) or floatx()
        given = resolved(
            embeddings_initializer=embeddings_initializer,
            embeddings_regularizer=embeddings_regularizer,
            embeddings_constraint=embeddings_constraint,
            activity_regularizer=activity_regularizer,
        )
        super().__init__(dtype=dtype, **kwargs)
        self.input_dim, self.output_dim = input_dim, output_dim
        for name, value in given.items():
            setattr(self, name, value)
        self.mask_zero = mask_zero
        self.supports_masking = mask_zero
        self.input_length = input_length

    def build(self, input_shape: Any) -> None:
        """Makes the table."""
        self.embeddings = self.add_weight(
            shape=(self.input_dim, self.output_dim),
            initializer=self.embeddings_initializer,
            name="embeddings",
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
        )
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Where the number is not 0, if 0 is masked."""
        return tf.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The inputs' shape and the rows' size; ValueError where the length is another."""
        sizes = TensorShape(input_shape).as_list()
        if self.input_length is None:
            return TensorShape([*sizes, self.output_dim])
        given = self.input_length
        lengths = list(given) if isinstance(given, (list, tuple)) else [given]
        error = ValueError(f'"input_length" is {given}, but received input has shape {sizes}')
        if len(lengths) != len(sizes) - 1:
            raise error
        for i, (length, size) in enumerate(zip(lengths, sizes[1:])):
            if None not in (length, size) and length != size:
                raise error
            lengths[i] = size if length is None else length
        return TensorShape([sizes[0], *lengths, self.output_dim])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The rows."""
        if inputs.dtype.base_dtype not in (tf.int32, tf.int64):
            inputs = tf.cast(inputs, tf.int32)
        return nn.embedding_lookup(self.embeddings, inputs)


class _Local(KerasLayer):
    """A convolution whose weights are others at each place.

    Args:
        filters: the number of channels of the outputs.
        kernel_size, strides: an integer, or one per axis.
        padding: "valid" only.
        data_format: "channels_last" or "channels_first"; that of settings if None.
        activation, *_initializer, *_regularizer, *_constraint: objects or their names.
        use_bias: whether there is a bias at each place.
        implementation: accepted; there is one.
        name, trainable, dtype, input_shape: as of all layers.

    Raises:
        ValueError: an argument is none of these, or sizes of the inputs are unknown.
    """

    rank = 0
    _arguments = (
        *("filters", "kernel_size", "strides", "padding", "data_format", "activation"),
        *("use_bias", "kernel_initializer", "bias_initializer", "kernel_regularizer"),
        *("bias_regularizer", "activity_regularizer", "kernel_constraint", "bias_constraint"),
        "implementation",
    )

    def __init__(
        self,
        filters: int,
        kernel_size: PerAxis,
        strides: PerAxis = 1,
        padding: str = "valid",
        data_format: str | None = None,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        implementation: int = 1,
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
        super().__init__(**kwargs)
        self.filters = filters
        self.kernel_size = normalize_tuple(kernel_size, self.rank, "kernel_size")
        self.strides = normalize_tuple(strides, self.rank, "strides")
        self.padding = padding.lower()
        if self.padding != "valid" and implementation == 1:
            raise ValueError(
                f"Invalid border mode for {type(self).__name__} (only 'valid' is supported if "
                f"implementation is 1): {padding}"
            )
        default = None if self.rank == 1 else image_data_format()
        self.data_format = normalize_data_format(data_format or default)
        for name, value in given.items():
            setattr(self, name, value)
        self.use_bias = use_bias
        self.implementation = implementation
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _first(self) -> bool:
        return self.data_format == "channels_first"

    def _places(self, sizes: list[Any]) -> list[Any]:
        space = sizes[2:] if self._first else sizes[1:-1]
        axes = zip(space, self.kernel_size, self.strides)
        return [conv_output_length(n, k, self.padding, stride) for n, k, stride in axes]

    def build(self, input_shape: Any) -> None:
        """Makes the kernel [places, window, filters] and the bias."""
        sizes = TensorShape(input_shape).as_list()
        channels = sizes[1] if self._first else sizes[-1]
        if None in sizes[1:]:
            raise ValueError(
                f"The spatial dimensions of the inputs to {type(self).__name__} should be fully-"
                f"defined, but layer received the inputs shape {sizes}"
            )
        places = self._places(sizes)
        window = math.prod(self.kernel_size) * channels
        self.kernel = self.add_weight(
            shape=(math.prod(places), window, self.filters),
            initializer=self.kernel_initializer,
            name="kernel",
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(*places, self.filters),
                initializer=self.bias_initializer,
                name="bias",
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        axis = 1 if self._first else -1
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        self.built = True

    def _padded(self, inputs: Any) -> Any:
        """The inputs with zeros around them, so that windows at the ends are whole."""
        if self.padding == "valid":
            return inputs
        sizes = inputs.shape.as_list()
        space = sizes[2:] if self._first else sizes[1:-1]
        around = []
        for size, kernel, stride, count in zip(
            space, self.kernel_size, self.strides, self._places(sizes)
        ):
            missing = max((count - 1) * stride + kernel - size, 0)
            around.append([missing // 2, missing - missing // 2])
        return tf.pad(
            inputs, [[0, 0], [0, 0], *around] if self._first else [[0, 0], *around, [0, 0]]
        )

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The products at each place, the bias and the activation."""
        outputs = convolutions.local_conv(
            self._padded(inputs),
            self.kernel,
            self.kernel_size,
            self.strides,
            self._places(inputs.shape.as_list()),
            self.data_format,
        )
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        if self.use_bias:
            outputs = convolutions.bias_add(outputs, self.bias, data_format=self.data_format)
        return self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the output for a shape of the input."""
        sizes = TensorShape(input_shape).as_list()
        places = self._places(sizes)
        rest = [self.filters, *places] if self._first else [*places, self.filters]
        return TensorShape([sizes[0], *rest])


class LocallyConnected1D(_Local):
    __doc__ = _Local.__doc__
    rank = 1


class LocallyConnected2D(_Local):
    __doc__ = _Local.__doc__
    rank = 2


class BaseDenseAttention(KerasLayer):
    """What a query finds among values: their mean by the scores of keys.

    The call takes [query, value] or [query, value, key], each [batch, time, size], and `mask`, one
    of the query and one of the values.

    Args:
        causal: whether a place of the query sees no later values.
    """

    _arguments: tuple[str, ...] = ("causal",)

    def __init__(self, causal: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.causal = causal
        self.supports_masking = True

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        raise NotImplementedError

    def _apply_scores(self, scores: Any, value: Any, scores_mask: Any = None) -> Any:
        """The means of values [batch, values, size] by scores [batch, query, values]."""
        if scores_mask is not None:
            # So far below all others that nothing of them is left.
            scores -= 1.0e9 * tf.cast(tf.logical_not(scores_mask), dtype=floatx())
        return tf.matmul(nn.softmax(scores), value)

    def call(self, inputs: Any, mask: Any = None) -> Any:  # type: ignore[override]
        """The means; ValueError for another number of inputs or masks."""
        self._validate_call_args(inputs, mask)
        query, value, *rest = inputs
        of_query, of_value = (mask[0], mask[1]) if mask else (None, None)
        scores = self._calculate_scores(query=query, key=rest[0] if rest else value)
        kept = None if of_value is None else tf.expand_dims(of_value, axis=-2)
        if self.causal:
            sizes = tf.shape(scores)
            earlier = _lower_triangular_mask(
                tf.concat([tf.ones_like(sizes[:-2]), sizes[-2:]], axis=0)
            )
            kept = earlier if kept is None else tf.logical_and(kept, earlier)
        found = self._apply_scores(scores=scores, value=value, scores_mask=kept)
        if of_query is not None:
            found *= tf.cast(tf.expand_dims(of_query, axis=-1), dtype=found.dtype)
        return found

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The query's mask."""
        self._validate_call_args(inputs, mask)
        return tf.convert_to_tensor(mask[0]) if mask and mask[0] is not None else None

    def _validate_call_args(self, inputs: Any, mask: Any) -> None:
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(
                f"{name} layer must be called on a list of inputs, namely [query, value] or "
                f"[query, value, key], not {inputs}"
            )
        if len(inputs) not in (2, 3):
            raise ValueError(
                f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or "
                f"[query, value, key]. Given length: {len(inputs)}"
            )
        if mask is None:
            return
        if not isinstance(mask, list):
            raise ValueError(
                f"{name} layer mask must be a list, namely [query_mask, value_mask], not {mask}"
            )
        if len(mask) not in (0, 2):
            raise ValueError(
                f"{name} layer mask must be a list of length 2, namely [query_mask, value_mask]. "
                f"Given length: {len(mask)}"
            )


def _lower_triangular_mask(shape: Any) -> Any:
    """Where the last but one place is not before the last one."""
    rows, columns = (tf.cumsum(tf.ones(shape, tf.int32), axis) for axis in (-2, -1))
    return tf.greater_equal(rows, columns)


class Attention(BaseDenseAttention):
    """Attention by products of query and keys; with `use_scale` times a variable."""

    _arguments = ("causal", "use_scale")

    def __init__(self, use_scale: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        """Makes the scale if there is one."""
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight(
                name="scale", shape=(), initializer="ones", dtype=self.dtype, trainable=True
            )
        self.built = True

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        scores = tf.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale


class AdditiveAttention(BaseDenseAttention):
    """Attention by sums of query and keys, the tanh of which is weighed if `use_scale`."""

    _arguments = ("causal", "use_scale")

    def __init__(self, use_scale: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape: Any) -> None:
        """Makes the scale if there is one."""
        self.scale = None
        if self.use_scale:
            size = TensorShape(input_shape[1]).as_list()[-1]
            self.scale = self.add_weight(
                name="scale",
                shape=[size],
                initializer="glorot_uniform",
                dtype=self.dtype,
                trainable=True,
            )
        self.built = True

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        both = tf.tanh(tf.expand_dims(query, axis=-2) + tf.expand_dims(key, axis=-3))
        return tf.reduce_sum(both if self.scale is None else self.scale * both, axis=-1)
