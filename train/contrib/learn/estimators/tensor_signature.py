# SPDX-License-Identifier: Apache-2.0
"""What is known of tensors beforehand: dtype, shape, and whether they are sparse."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from .....engine.graph.tensor import SparseTensor
from .....engine.types import dtypes
from .....ops.public import tf

_PARSED_AS = {dtypes.int32: dtypes.int64, dtypes.float64: dtypes.float32}


class TensorSignature(collections.namedtuple("TensorSignature", ["dtype", "shape", "is_sparse"])):
    """What is known of a tensor.

    Args:
        tensor: the tensor.
    """

    def __new__(cls, tensor: Any) -> TensorSignature:
        if isinstance(tensor, SparseTensor):
            return super().__new__(cls, tensor.values.dtype, None, True)
        return super().__new__(cls, tensor.dtype, tensor.get_shape(), False)

    def is_compatible_with(self, other: TensorSignature) -> bool:
        """Whether tensors of both could be one batch and another."""
        if not self.dtype.is_compatible_with(other.dtype) or self.is_sparse != other.is_sparse:
            return False
        if self.is_sparse or self.shape.ndims is None or other.shape.ndims is None:
            return True
        if self.shape.ndims != other.shape.ndims:
            return False
        return self.shape.ndims == 0 or bool(self.shape[1:].is_compatible_with(other.shape[1:]))

    def get_placeholder(self) -> Any:
        """A placeholder for such tensors, of batches of any size."""
        if self.is_sparse:
            return tf.sparse_placeholder(dtype=self.dtype)
        return tf.placeholder(dtype=self.dtype, shape=[None, *self.shape[1:]])

    def get_feature_spec(self) -> Any:
        """How such tensors are read from Examples."""
        dtype = _PARSED_AS.get(self.dtype, self.dtype)
        if self.is_sparse:
            return tf.VarLenFeature(dtype=dtype)
        return tf.FixedLenFeature(shape=self.shape[1:], dtype=dtype)


def _each(call: Callable[[Any], Any], thing: object) -> Any:
    if thing is None:
        return None
    if isinstance(thing, dict):
        return {key: call(value) for key, value in thing.items()}
    return call(thing)


def tensors_compatible(tensors: Any, signatures: Any) -> bool:
    """Whether tensors, by key or one, are as signatures say."""
    if tensors is None or signatures is None:
        return tensors is None and signatures is None
    if isinstance(tensors, dict) != isinstance(signatures, dict):
        return False
    if not isinstance(tensors, dict):
        return bool(TensorSignature(tensors).is_compatible_with(signatures))
    return all(
        key in tensors and TensorSignature(tensors[key]).is_compatible_with(signature)
        for key, signature in signatures.items()
    )


def create_signatures(tensors: object) -> Any:
    """The signatures of tensors, by key or one."""
    return _each(TensorSignature, tensors)


def create_placeholders_from_signatures(signatures: object) -> Any:
    """Placeholders for signatures, by key or one."""
    return _each(lambda signature: signature.get_placeholder(), signatures)


def create_example_parser_from_signatures(
    signatures: Any, examples_batch: Any, single_feature_name: str = "feature"
) -> Any:
    """Tensors as signatures say, by key or one, from serialized Examples."""
    by_key = signatures if isinstance(signatures, dict) else {single_feature_name: signatures}
    spec = {key: signature.get_feature_spec() for key, signature in by_key.items()}
    features = tf.parse_example(examples_batch, spec)
    for key, signature in by_key.items():
        if not signature.dtype.is_compatible_with(features[key].dtype):
            features[key] = tf.cast(features[key], signature.dtype)
    return features if isinstance(signatures, dict) else features[single_feature_name]
