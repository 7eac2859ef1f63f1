# SPDX-License-Identifier: Apache-2.0
"""Embeddings and attention."""

from __future__ import annotations

from typing import Any

from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ..backend.published import nn
from ..backend.settings import floatx
from ..identifiers import Identifier
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
