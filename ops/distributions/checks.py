# SPDX-License-Identifier: Apache-2.0
"""Checks of parameters and values, and small functions that several distributions use."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..control import with_dependencies
from ..nn.softmax import softmax
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.types.dtypes import DType

_INTEGERS = {"float16": dtypes.int16, "float32": dtypes.int32, "float64": dtypes.int64}


def gen_new_seed(seed: int | None, salt: str) -> int | None:
    """A seed that belongs to a seed and a word."""
    if seed is None:
        return None
    digest = hashlib.md5((str(seed) + salt).encode(), usedforsecurity=False).hexdigest()
    # TensorFlow's, so that the same seed gives the same samples.
    return int(digest[:8], 16) & 0x7FFFFFFF


def assert_integer_form(
    x: TensorLike,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    int_dtype: DTypeLike | None = None,
    name: str = "assert_integer_form",
) -> Any:
    """An op that checks that floats are whole; nothing is checked of integers."""
    with name_scope(name, values=[x, data]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return tf.no_op()
        wanted = int_dtype or _INTEGERS.get(x.dtype.base_dtype.name)
        if wanted is None:
            raise TypeError(f"Unrecognized type {x.dtype.name}")
        return tf.assert_equal(
            x,
            tf.cast(tf.cast(x, wanted), x.dtype),
            data=data,
            summarize=summarize,
            message=message or f"{x} has non-integer components",
            name=name,
        )


def embed_check_nonnegative_integer_form(
    x: TensorLike, name: str = "embed_check_nonnegative_integer_form"
) -> Tensor:
    """`x`, checked in the run to be whole and not negative."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        checks = [tf.assert_non_negative(x, message=f"'{x}' must be non-negative.")]
        if not x.dtype.is_integer:
            text = f"'{x}' cannot contain fractional components."
            checks.append(assert_integer_form(x, message=text))
        return with_dependencies(checks, x)


def _largest(dtype: DType) -> int:
    """Up to what all whole numbers are numbers of a type."""
    if dtype.is_floating:
        return int(2 ** (np.finfo(dtype.as_numpy_dtype).nmant + 1))
    return 1 if dtype == dtypes.bool else int(dtype.max)


def _smallest(dtype: DType) -> int:
    return 0 if dtype == dtypes.bool or dtype.is_unsigned else -_largest(dtype)


def embed_check_integer_casting_closed(
    x: TensorLike,
    target_dtype: Any,
    assert_nonnegative: bool = True,
    name: str = "embed_check_casting_closed",
) -> Tensor:
    """`x`, checked in the run to be numbers that another type holds, and not negative."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        whole = [kind.is_integer or kind == dtypes.bool for kind in (x.dtype, target_dtype)]
        if not whole[0] and not x.dtype.is_floating:
            raise TypeError(f"{x.dtype.name}.dtype must be floating- or integer-type.")
        if not whole[1] and not target_dtype.is_floating:
            raise TypeError(
                f"target_dtype ({target_dtype.name}) must be floating- or integer-type."
            )
        if not any(whole):
            raise TypeError(
                f"At least one of {x}.dtype ({x.dtype.name}) and target_dtype "
                f"({target_dtype.name}) must be integer-type."
            )
        checks = []
        if assert_nonnegative:
            checks.append(tf.assert_non_negative(x, message="Elements must be non-negative."))
        if x.dtype.is_floating:
            text = f"Elements must be {target_dtype.name}-equivalent."
            checks.append(assert_integer_form(x, message=text, int_dtype=target_dtype))
        else:
            most, least = _largest(target_dtype), _smallest(target_dtype)
            if _largest(x.dtype) > most:
                text = f"Elements cannot exceed {most}."
                checks.append(tf.assert_less_equal(x, tf.cast(most, x.dtype), message=text))
            if not assert_nonnegative and _smallest(x.dtype) < least:
                text = f"Elements cannot be smaller than {least}."
                checks.append(tf.assert_greater_equal(x, tf.cast(least, x.dtype), message=text))
        return with_dependencies(checks, x) if checks else x


def embed_check_categorical_event_shape(
    categorical_param: TensorLike, name: str = "embed_check_categorical_event_shape"
) -> Tensor:
    """A parameter with one entry per class, checked to have two or more, as far as is known."""
    ranked = "A categorical-distribution parameter must have at least 1 dimension."
    few = "A categorical-distribution parameter must have at least 2 events."
    with name_scope(name, values=[categorical_param]):
        x = convert_to_tensor(categorical_param, name="categorical_param")
        if not x.dtype.is_floating:
            raise TypeError(
                f"Unable to validate size of unrecognized dtype ({x.dtype.base_dtype.name})."
            )
        if x.shape.ndims == 0:
            raise ValueError(ranked)
        # Class numbers beyond that are not all numbers of the type.
        most, kind = _largest(x.dtype), x.dtype.base_dtype.name
        count = None if x.shape.ndims is None else x.shape.as_list()[-1]
        many = f"Number of classes exceeds `dtype` precision, i.e., {kind}"
        if count is None:
            size = tf.shape(x, name="x_shape")[-1]
            text = f"{many} dtype cannot exceed {most} shape."
            checks = [
                tf.assert_rank_at_least(x, 1, message=ranked),
                tf.assert_greater_equal(tf.shape(x)[-1], 2, message=few),
                tf.assert_less_equal(size, most, message=text),
            ]
            return with_dependencies(checks, x)
        if count < 2:
            raise ValueError(few)
        if count > most:
            raise ValueError(f"{many} implies shape ({count}) cannot exceed {most}.")
        return x


def get_logits_and_probs(
    logits: TensorLike | None = None,
    probs: TensorLike | None = None,
    multidimensional: bool = False,
    validate_args: bool = False,
    name: str = "get_logits_and_probs",
    dtype: DTypeLike | None = None,
) -> tuple[Tensor, Tensor]:
    """Both ways to state probabilities, from one of them.

    multidimensional: whether the last dimension is that of classes.  ValueError unless there is
    one of the two, TypeError unless it is floating.
    """
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = convert_to_tensor(logits, name="logits", dtype=dtype)
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            if multidimensional and validate_args:
                logits = embed_check_categorical_event_shape(logits)
            return logits, (softmax if multidimensional else tf.sigmoid)(logits, name="probs")
        probs = convert_to_tensor(probs, name="probs", dtype=dtype)
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        if validate_args:
            probs = _checked_probabilities(probs, multidimensional)
        with name_scope("logits"):
            odds = tf.log(probs)
            # log(p / (1 - p)); of several classes log(p), up to a constant.
            return (odds if multidimensional else odds - tf.log1p(-1.0 * probs)), probs


def _checked_probabilities(probs: Tensor, multidimensional: bool) -> Tensor:
    with name_scope("validate_probs"):
        one = tf.constant(1.0, probs.dtype)
        checks = [tf.assert_non_negative(probs)]
        if multidimensional:
            probs = embed_check_categorical_event_shape(probs)
            total = tf.reduce_sum(probs, -1)
            checks.append(tf.assert_near(total, one, message="probs does not sum to 1."))
        else:
            text = "probs has components greater than 1."
            checks.append(tf.assert_less_equal(probs, one, message=text))
        return with_dependencies(checks, probs)


def log_combinations(n: TensorLike, counts: TensorLike, name: str = "log_combinations") -> Tensor:
    """The logarithm of the number of ways to divide n things into groups of such sizes."""
    with name_scope(name, values=[n, counts]):
        n = convert_to_tensor(n, name="n")
        counts = convert_to_tensor(counts, name="counts")
        # log(n! / (k1! k2! ...)), as gamma(n + 1) = n!.
        return tf.lgamma(n + 1) - tf.reduce_sum(tf.lgamma(counts + 1), axis=[-1])
