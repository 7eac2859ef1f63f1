# SPDX-License-Identifier: Apache-2.0
"""Scheduled sampling: which inputs are taken from the decoder itself (helpers and samplers)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes, nest
from ....ops.public import tf
from .sampling import bernoulli_sample, categorical_sample

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure


def check_probability(probability: TensorLike) -> Tensor:
    """The probability of sampling as a tensor; ValueError if it is neither scalar nor vector."""
    converted = convert_to_tensor(probability, name="sampling_probability")
    shape = converted.get_shape()
    if shape.ndims not in (0, 1):
        raise ValueError(
            f"sampling_probability must be either a scalar or a vector. saw shape: {shape}"
        )
    return converted


def _where(which: Any) -> Any:
    return tf.cast(tf.where(which), dtypes.int32)


def mixed(
    at: Tensor, not_at: Tensor, base: Tensor, source: Any, made: Callable[..., Any]
) -> Tensor:
    """What is made of `source` at the first indices, and `base` at the others."""
    taken, kept = tf.gather_nd(source, at), tf.gather_nd(base, not_at)
    new, shape = made(taken), tf.shape(base)
    return tf.scatter_nd(indices=at, updates=new, shape=shape) + tf.scatter_nd(
        indices=not_at, updates=kept, shape=shape
    )


def scheduled_ids(
    outputs: Structure,
    probability: Tensor,
    batch_size: TensorLike,
    scheduling_seed: int | None,
    seed: int | None,
) -> Tensor:
    """A drawn id for each sequence whose next input is sampled, -1 for others."""
    chosen = bernoulli_sample(
        probs=probability, dtype=dtypes.bool, sample_shape=batch_size, seed=scheduling_seed
    )
    ids = categorical_sample(logits=outputs, seed=seed)  # type: ignore[arg-type]
    return tf.where(chosen, ids, tf.fill([batch_size], -1))


def with_embedded(
    finished: Tensor, base: Tensor, ids: Structure, embedding_fn: Callable[..., Any]
) -> Any:
    """The next inputs: embeddings where there is an id, `base` where there is -1."""

    return tf.cond(
        tf.reduce_all(finished),
        lambda: base,
        lambda: mixed(_where(ids > -1), _where(ids <= -1), base, ids, embedding_fn),
    )


class Outputs:
    """What a cell gave at a step, as inputs of the next one.

    Args:
        outputs: [batch, ...].
        time: the number of the step.
        auxiliary: arrays of what each input has behind it; None for nothing.
    """

    def __init__(self, outputs: Any, time: Any, auxiliary: Any) -> None:
        self._outputs, self._time, self._auxiliary = outputs, time, auxiliary

    def _completed(self, outputs: Any, at: Tensor | None = None) -> Any:
        if self._auxiliary is None:
            return outputs
        following = self._time + 1
        more = nest.map_structure(lambda array: array.read(following), self._auxiliary)
        if at is not None:
            more = tf.gather_nd(more, at)
        return nest.map_structure(lambda x, y: tf.concat((x, y), -1), outputs, more)

    def among(
        self,
        finished: Tensor,
        base: Tensor,
        sample_ids: Structure,
        next_inputs_fn: Callable[..., Any] | None,
    ) -> Any:
        """The next inputs: what next_inputs_fn makes of outputs that are sampled, else `base`."""
        chosen = tf.cast(sample_ids, dtypes.bool)

        def either() -> Tensor:
            if next_inputs_fn is None:
                return tf.where(chosen, self._completed(self._outputs), base)

            at, not_at = _where(chosen), _where(tf.logical_not(chosen))

            def made(taken: Tensor) -> Any:
                return self._completed(next_inputs_fn(taken), at)

            return mixed(at, not_at, base, self._outputs, made)

        ended, none = tf.reduce_all(finished), tf.logical_not(tf.reduce_any(chosen))
        return tf.cond(tf.logical_or(ended, none), lambda: base, either)
