# SPDX-License-Identifier: Apache-2.0
"""`tf.estimator.export`: what exported models take."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.tensor import SparseTensor, Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ...ops.parsing.public import parse_example
from ...ops.public import tf
from .export_utils import (
    SINGLE_FEATURE_DEFAULT_NAME,
    SINGLE_LABEL_DEFAULT_NAME,
    SINGLE_RECEIVER_DEFAULT_NAME,
)
from .util import parse_input_fn_result

_DEFAULTS = {
    "feature": SINGLE_FEATURE_DEFAULT_NAME,
    "label": SINGLE_LABEL_DEFAULT_NAME,
    "receiver_tensor": SINGLE_RECEIVER_DEFAULT_NAME,
    "receiver_tensors_alternative": SINGLE_RECEIVER_DEFAULT_NAME,
}


def wrap_and_check_input_tensors(
    tensors: object, field_name: str, allow_int_keys: bool = False
) -> dict[Any, Any]:
    """A dict of tensors; one tensor gets the field's default name.

    Raises:
        ValueError: there are none, a key is no string or a value no tensor.
    """
    if tensors is None:
        raise ValueError(f"{field_name}s must be defined.")
    if not isinstance(tensors, dict):
        tensors = {_DEFAULTS[field_name]: tensors}
    for name, tensor in tensors.items():
        if not isinstance(name, (str, int) if allow_int_keys else str):
            kinds = "strings or ints" if allow_int_keys else "strings"
            raise ValueError(f"{field_name} keys must be {kinds}: {name}.")
        _check_tensor(tensor, f" {name}" if name else "", field_name)
    return tensors


def _check_tensor(tensor: object, name: str, field_name: str) -> None:
    if isinstance(tensor, (Tensor, SparseTensor)):
        return
    problem = f"{field_name}{name} must be a Tensor or SparseTensor."
    if not hasattr(tensor, "tensor"):
        raise ValueError(problem)
    try:
        convert_to_tensor(tensor)
    except TypeError:
        raise ValueError(problem) from None


@export("estimator.export.ServingInputReceiver")
class ServingInputReceiver(
    namedtuple(
        "ServingInputReceiver",
        ("features", "receiver_tensors", "receiver_tensors_alternatives"),
    )
):
    """What a served model takes, and the features that come of it.

    Args:
        features: tensors by key, for the model function.
        receiver_tensors: the tensors that are fed, by key.
        receiver_tensors_alternatives: further such dicts by name; each feeds all features.

    Raises:
        ValueError: a key is no string, or a value no tensor.
    """

    def __new__(
        cls,
        features: object,
        receiver_tensors: object,
        receiver_tensors_alternatives: object = None,
    ) -> ServingInputReceiver:
        features = wrap_and_check_input_tensors(features, "feature", allow_int_keys=True)
        receiver_tensors = wrap_and_check_input_tensors(receiver_tensors, "receiver_tensor")
        if receiver_tensors_alternatives is not None:
            if not isinstance(receiver_tensors_alternatives, dict):
                raise ValueError(
                    "receiver_tensors_alternatives must be a dict: "
                    f"{receiver_tensors_alternatives}."
                )
            for name, tensors in receiver_tensors_alternatives.items():
                receiver_tensors_alternatives[name] = wrap_and_check_input_tensors(
                    tensors, "receiver_tensors_alternative"
                )
        return super().__new__(cls, features, receiver_tensors, receiver_tensors_alternatives)


@export("estimator.export.TensorServingInputReceiver")
class TensorServingInputReceiver(
    namedtuple(
        "TensorServingInputReceiver",
        ("features", "receiver_tensors", "receiver_tensors_alternatives"),
    )
):
    """ServingInputReceiver of a model function whose features are one tensor.

    Args:
        features: the tensor.
        receiver_tensors, receiver_tensors_alternatives: as of ServingInputReceiver.

    Raises:
        ValueError: it is no tensor.
    """

    def __new__(
        cls,
        features: object,
        receiver_tensors: object,
        receiver_tensors_alternatives: object = None,
    ) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, "", "feature")
        receiver = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(
            cls,
            receiver.features[SINGLE_FEATURE_DEFAULT_NAME],
            receiver.receiver_tensors,
            receiver.receiver_tensors_alternatives,
        )


class UnsupervisedInputReceiver(ServingInputReceiver):
    """What an exported model without labels takes."""

    def __new__(cls, features: object, receiver_tensors: object) -> Any:
        return super().__new__(cls, features, receiver_tensors)


class SupervisedInputReceiver(
    namedtuple("SupervisedInputReceiver", ("features", "labels", "receiver_tensors"))
):
    """What an exported model with labels takes."""

    def __new__(
        cls, features: object, labels: object, receiver_tensors: object
    ) -> SupervisedInputReceiver:
        wrap_and_check_input_tensors(features, "feature", allow_int_keys=True)
        wrap_and_check_input_tensors(labels, "label", allow_int_keys=True)
        receiver_tensors = wrap_and_check_input_tensors(receiver_tensors, "receiver_tensor")
        return super().__new__(cls, features, labels, receiver_tensors)


@export("estimator.export.build_parsing_serving_input_receiver_fn")
def build_parsing_serving_input_receiver_fn(
    feature_spec: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], Any]:
    """A function for export_saved_model: the model takes serialized Examples.

    Args:
        feature_spec: how they are parsed, as of tf.io.parse_example.
        default_batch_size: the static size of batches; None for any.

    Returns:
        A function that makes the placeholder, and parses it.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = tf.placeholder(
            dtypes.string, shape=[default_batch_size], name="input_example_tensor"
        )
        return ServingInputReceiver(parse_example(examples, feature_spec), {"examples": examples})

    return serving_input_receiver_fn


def _placeholder_like(tensor: Any, batch_size: int | None) -> Tensor:
    shape = TensorShape([batch_size]).concatenate(tensor.get_shape()[1:])
    return tf.placeholder(tensor.dtype, shape=shape, name=tensor.op.name)


def _placeholders_like(tensors: dict[str, Any], batch_size: int | None) -> dict[str, Any]:
    return {name: _placeholder_like(tensor, batch_size) for name, tensor in tensors.items()}


@export("estimator.export.build_raw_serving_input_receiver_fn")
def build_raw_serving_input_receiver_fn(
    features: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], Any]:
    """A function for export_saved_model: the model takes the features themselves.

    Args:
        features: tensors whose dtypes and shapes the placeholders get, by key.
        default_batch_size: the static size of batches; None for any.

    Returns:
        A function that makes the placeholders.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        tensors = _placeholders_like(features, default_batch_size)
        return ServingInputReceiver(tensors, tensors)

    return serving_input_receiver_fn


@export("estimator.experimental.build_raw_supervised_input_receiver_fn")
def build_raw_supervised_input_receiver_fn(
    features: object, labels: object, default_batch_size: int | None = None
) -> Callable[[], Any]:
    """A function for experimental_export_all_saved_models: features and labels themselves.

    Args:
        features, labels: tensors whose dtypes and shapes the placeholders get: dicts, or one each.
        default_batch_size: the static size of batches; None for any.

    Returns:
        A function that makes the placeholders.

    Raises:
        ValueError: a key stands for a feature and a label.
    """

    def keys_of(tensors: object, default: str) -> set[str]:
        return set(tensors) if isinstance(tensors, dict) else {default}

    both = keys_of(features, SINGLE_RECEIVER_DEFAULT_NAME) & keys_of(
        labels, SINGLE_LABEL_DEFAULT_NAME
    )
    if both:
        raise ValueError(
            f"Features and labels must have distinct keys. Found overlapping keys: {both}"
        )

    def copied(tensors: object, default: str) -> tuple[Any, dict[str, Any]]:
        if isinstance(tensors, dict):
            made = _placeholders_like(tensors, default_batch_size)
            return made, made
        one = _placeholder_like(tensors, default_batch_size)
        return one, {default: one}

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        of_features, received = copied(features, SINGLE_RECEIVER_DEFAULT_NAME)
        of_labels, more = copied(labels, SINGLE_LABEL_DEFAULT_NAME)
        return SupervisedInputReceiver(of_features, of_labels, {**received, **more})

    return supervised_input_receiver_fn


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], Any]:
    """build_raw_supervised_input_receiver_fn for what an input function gives."""
    with tf.Graph().as_default():
        features, labels, _ = parse_input_fn_result(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)
