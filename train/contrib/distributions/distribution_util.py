# SPDX-License-Identifier: Apache-2.0
"""Scales as linear operators, their shapes, and helpers of mixtures."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....engine.types.shape import broadcast_static, dimension_value
from ....ops.control import with_dependencies
from ....ops.distributions.checks import (
    assert_integer_form,
    embed_check_categorical_event_shape,
    embed_check_integer_casting_closed,
    embed_check_nonnegative_integer_form,
    gen_new_seed,
    get_logits_and_probs,
    log_combinations,
)
from ....ops.distributions.distribution import FULLY_REPARAMETERIZED
from ....ops.distributions.transformed_distribution import static_value
from ....ops.distributions.util import (
    AppendDocstring,
    assert_symmetric,
    dimension_size,
    fill_triangular,
    fill_triangular_inverse,
    matrix_diag_transform,
    maybe_get_static_value,
    pad,
    parent_frame_arguments,
    pick_vector,
    prefer_static_broadcast_shape,
    prefer_static_rank,
    prefer_static_shape,
    prefer_static_value,
    process_quadrature_grid_and_probs,
    reduce_weighted_logsumexp,
    rotate_transpose,
    same_dynamic_shape,
    softplus_inverse,
    tridiag,
)
from ....ops.linalg.operators.diagonal import LinearOperatorDiag, LinearOperatorLowerTriangular
from ....ops.linalg.operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from ....ops.linalg.operators.operator import LinearOperator
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.types.dtypes import DType
    from ....ops.distributions.distribution import Distribution

# What is defined in `ops`, for those who look for it here.
__all__ = [
    "AppendDocstring",
    "assert_integer_form",
    "assert_symmetric",
    "dimension_size",
    "embed_check_categorical_event_shape",
    "embed_check_integer_casting_closed",
    "embed_check_nonnegative_integer_form",
    "fill_triangular",
    "fill_triangular_inverse",
    "gen_new_seed",
    "get_logits_and_probs",
    "log_combinations",
    "matrix_diag_transform",
    "maybe_get_static_value",
    "pad",
    "parent_frame_arguments",
    "pick_vector",
    "prefer_static_broadcast_shape",
    "prefer_static_rank",
    "prefer_static_shape",
    "prefer_static_value",
    "process_quadrature_grid_and_probs",
    "reduce_weighted_logsumexp",
    "rotate_transpose",
    "same_dynamic_shape",
    "softplus_inverse",
    "static_value",
    "tridiag",
]


def optional_tensor(x: object, name: str) -> Any:
    """A tensor of something, None of None."""
    return None if x is None else convert_to_tensor(x, name=name)


# Scales


def _checked_scale(
    x: Tensor, of: Callable[[Tensor], Tensor], validate_args: bool, assert_positive: bool
) -> Tensor:
    """A scale whose diagonal is checked in the run to be positive, or not zero."""
    if not validate_args:
        return x
    if assert_positive:
        check = tf.assert_positive(of(x), message="diagonal part must be positive")
    else:
        text = "diagonal part must be non-zero"
        check = tf.assert_none_equal(of(x), tf.zeros([], x.dtype), message=text)
    return with_dependencies([check], x)


def make_tril_scale(
    loc: TensorLike | None = None,
    scale_tril: TensorLike | None = None,
    scale_diag: TensorLike | None = None,
    scale_identity_multiplier: TensorLike | None = None,
    shape_hint: object = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> LinearOperator:
    """A triangular scale with a diagonal added to it; a diagonal one if there is no triangle."""
    with name_scope(name, "make_tril_scale", values=[loc, scale_diag, scale_identity_multiplier]):
        loc = optional_tensor(loc, "loc")
        scale_tril = optional_tensor(scale_tril, "scale_tril")
        scale_diag = optional_tensor(scale_diag, "scale_diag")
        multiplier = optional_tensor(scale_identity_multiplier, "scale_identity_multiplier")
    if scale_tril is None:
        return make_diag_scale(
            loc, scale_diag, multiplier, shape_hint, validate_args, assert_positive, name
        )
    scale_tril = tf.matrix_band_part(scale_tril, -1, 0)
    diagonal = tf.matrix_diag_part(scale_tril)
    if scale_diag is not None:
        diagonal += scale_diag
    if multiplier is not None:
        diagonal += multiplier[..., None]
    scale_tril = tf.matrix_set_diag(scale_tril, diagonal)
    return LinearOperatorLowerTriangular(
        tril=_checked_scale(scale_tril, tf.matrix_diag_part, validate_args, assert_positive),
        is_non_singular=True,
        is_self_adjoint=False,
        is_positive_definite=assert_positive,
    )


def make_diag_scale(
    loc: TensorLike | None = None,
    scale_diag: TensorLike | None = None,
    scale_identity_multiplier: TensorLike | None = None,
    shape_hint: Any = None,
    validate_args: bool = False,
    assert_positive: bool = False,
    name: str | None = None,
) -> LinearOperator:
    """A diagonal scale; a multiple of the identity, as large as `loc`, if there is no diagonal."""

    def checked(x: Tensor) -> Tensor:
        return _checked_scale(x, lambda y: y, validate_args, assert_positive)

    with name_scope(name, "make_diag_scale", values=[loc, scale_diag, scale_identity_multiplier]):
        place = optional_tensor(loc, "loc")
        diagonal = optional_tensor(scale_diag, "scale_diag")
        multiplier = optional_tensor(scale_identity_multiplier, "scale_identity_multiplier")
        if diagonal is not None:
            if multiplier is not None:
                diagonal += multiplier[..., None]
            return LinearOperatorDiag(
                diag=checked(diagonal),
                is_non_singular=True,
                is_self_adjoint=True,
                is_positive_definite=assert_positive,
            )
        if place is None and shape_hint is None:
            raise ValueError(
                "Cannot infer `event_shape` unless `loc` or `shape_hint` is specified."
            )
        if shape_hint is None:
            shape_hint = dimension_value(place.shape[-1])
        if multiplier is None:
            return LinearOperatorIdentity(
                num_rows=shape_hint,
                dtype=place.dtype.base_dtype,
                is_self_adjoint=True,
                is_positive_definite=True,
                assert_proper_shapes=validate_args,
            )
        return LinearOperatorScaledIdentity(
            num_rows=shape_hint,
            multiplier=checked(multiplier),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=assert_positive,
            assert_proper_shapes=validate_args,
        )


def shapes_from_loc_and_scale(
    loc: Any, scale: LinearOperator, name: str = "shapes_from_loc_and_scale"
) -> tuple[Any, Any]:
    """The shapes of batch and event of a distribution with this place and scale."""
    with name_scope(name, values=[loc, *scale.graph_parents]):
        size = scale.range_dimension_tensor()
        known = constant_value(size)
        event_shape = size[None] if known is None else known.reshape([1])
        if loc is not None:
            loc_size = dimension_value(loc.shape[-1])
            if None not in (loc_size, known) and loc_size not in (1, known):
                raise ValueError(
                    f"Event size of 'scale' ({known}) could not be broadcast up to that of 'loc' "
                    f"({loc_size})."
                )
        batch_shape = scale.batch_shape_tensor()
        if loc is None:
            return prefer_static_value(batch_shape), event_shape
        loc_batch = loc.shape.with_rank_at_least(1)[:-1]
        if loc.shape.ndims is None or not loc_batch.is_fully_defined():
            loc_batch = tf.shape(loc)[:-1]
        else:
            loc_batch = convert_to_tensor(
                loc_batch.as_list(), dtype=dtypes.int32, name="loc_batch_shape"
            )
        return prefer_static_broadcast_shape(batch_shape, loc_batch), event_shape


def get_broadcast_shape(*tensors: Tensor) -> Any:
    """The shape that tensors broadcast to: a list if it is known, else a tensor."""
    known = functools.reduce(broadcast_static, [x.shape for x in tensors])
    if known.is_fully_defined():
        return known.as_list()
    return functools.reduce(tf.broadcast_dynamic_shape, [tf.shape(x) for x in tensors])


def is_diagonal_scale(scale: object) -> bool:
    """Whether an operator is a diagonal one; TypeError if it is none."""
    if not isinstance(scale, LinearOperator):
        text = "Expected argument 'scale' to be instance of LinearOperator."
        raise TypeError(f"{text} Found: {scale}")
    kinds = (LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorDiag)
    return isinstance(scale, kinds)


# Distributions


def maybe_check_scalar_distribution(
    distribution: Distribution, expected_base_dtype: Any, validate_args: bool
) -> list[Any]:
    """Checks in the run that a distribution is one of single numbers, as far as it is not known."""
    if distribution.dtype != expected_base_dtype:
        raise TypeError(
            f'dtype mismatch; distribution.dtype="{distribution.dtype.name}" is not '
            f'"{expected_base_dtype.name}"'
        )
    kind = distribution.reparameterization_type
    if validate_args and kind != FULLY_REPARAMETERIZED:
        raise ValueError(
            "Base distribution should be reparameterized or be a function of non-trainable "
            f'variables; distribution.reparameterization_type = "{kind}" != '
            '"FULLY_REPARAMETERIZED".'
        )
    checks = []
    with name_scope("check_distribution"):
        for name in ("is_scalar_event", "is_scalar_batch"):
            is_scalar = getattr(distribution, name)()
            known = static_value(is_scalar)
            text = f"distribution must be scalar; distribution.{name}=False is not True"
            if known is not None and not known:
                raise ValueError(text)
            if known is None and validate_args:
                checks.append(tf.assert_equal(is_scalar, True, message=text))
    return checks


def pad_mixture_dimensions(
    x: Tensor, mixture_distribution: Distribution, categorical_distribution: Any, event_ndims: int
) -> Tensor:
    """Weights of components with dimensions of 1 for those of the batch and the event."""
    with name_scope("pad_mix_dims", values=[x]):

        def rank_of(one: Any) -> Any:
            known = one.batch_shape.ndims
            return tf.shape(one.batch_shape_tensor())[0] if known is None else known

        own, others = rank_of(mixture_distribution), rank_of(categorical_distribution)
        missing = tf.where_v2(categorical_distribution.is_scalar_batch(), own, own - others)
        shape = tf.shape(x)
        parts = [
            shape[:-1],
            tf.ones([missing], dtype=dtypes.int32),
            shape[-1:],
            tf.ones([event_ndims], dtype=dtypes.int32),
        ]
        return tf.reshape(x, shape=tf.concat(parts, axis=0))


def mixture_stddev(
    mixture_weight_vector: Tensor, mean_vector: Tensor, stddev_vector: Tensor
) -> Tensor:
    """Standard deviations of mixtures, one a row of weights, means and standard deviations."""
    mixture_weight_vector.shape.assert_has_rank(2)
    if not mean_vector.shape.is_compatible_with(mixture_weight_vector.shape):
        raise ValueError("Expecting means to have same shape as mixture weights.")
    if not stddev_vector.shape.is_compatible_with(mixture_weight_vector.shape):
        raise ValueError("Expecting stddevs to have same shape as mixture weights.")
    weights = tf.expand_dims(mixture_weight_vector, axis=1)

    def averaged(x: Tensor) -> Tensor:
        return tf.reshape(tf.matmul(weights, tf.expand_dims(x, axis=2)), (-1,))

    mean = averaged(mean_vector)
    variance = averaged(tf.square(stddev_vector)) + averaged(tf.square(mean_vector))
    return tf.sqrt(variance - tf.square(mean))


def concat_vectors(*args: Any) -> Any:
    """Vectors one after the other: a list as soon as they are known."""
    known = [static_value(x) for x in args]
    if any(x is None for x in known):
        return tf.concat(args, axis=0)
    return [value for vector in known for value in vector]


def move_dimension(x: Tensor, source_idx: Any, dest_idx: Any) -> Tensor:
    """An axis moved to another place, the others staying in order."""
    rank = prefer_static_rank(x)
    source = rank + source_idx if source_idx < 0 else source_idx
    dest = rank + dest_idx if dest_idx < 0 else dest_idx
    if not any(isinstance(i, Tensor) for i in (rank, source, dest)):
        others = [i for i in range(int(rank)) if i != int(source)]
        others.insert(int(dest), int(source))
        return x if int(source) == int(dest) else tf.transpose(x, perm=others)
    # The axes without the one that moves, cut where it is to be.
    axes = tf.range(rank)
    rest = tf.boolean_mask(axes, tf.not_equal(axes, source))
    perm = tf.concat([rest[:dest], [source], rest[dest:]], axis=0)
    return tf.transpose(x, perm=perm)


def masked_sum(x: Tensor, mask: Tensor, axis: int) -> Tensor:
    """The sum of what a mask of ones and zeros chooses."""
    return tf.reduce_sum(x * mask, axis=axis)


def one_hot_mask(indices: Tensor, depth: int, dtype: DType) -> Tensor:
    """Ones where the components of a mixture were drawn."""
    kind = dtype.as_numpy_dtype
    return tf.one_hot(
        indices=indices, depth=depth, on_value=np.ones([], kind), off_value=np.zeros([], kind)
    )


def parents_of(*distributions: Any) -> Sequence[Any]:
    """The tensors that distributions are made of."""
    return [parent for one in distributions for parent in one._graph_parents]
