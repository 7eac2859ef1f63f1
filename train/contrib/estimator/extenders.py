# SPDX-License-Identifier: Apache-2.0
"""Estimators and optimizers that do something besides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor_or_sparse_tensor
from ....engine.graph.tensor import SparseTensor, Tensor
from ....ops.public import tf
from ...estimator.estimator import Estimator
from ...estimator.export_output import PredictOutput
from ...optimizers.optimizer import Optimizer

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation

Pairs = list[tuple[Any, Any]]


class _TransformGradients(Optimizer):
    """An optimizer whose gradients a function changes."""

    def __init__(
        self,
        optimizer: Optimizer,
        transform_grads_fn: Callable[[Pairs], Pairs],
        name: str | None = None,
    ) -> None:
        super().__init__(False, name or optimizer.get_name())
        self._optimizer, self._transform_grads_fn = optimizer, transform_grads_fn

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's gradients."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None
    ) -> Operation:
        """The optimizer's step with what the function makes of gradients."""
        pairs = self._transform_grads_fn(list(grads_and_vars))
        return self._optimizer.apply_gradients(pairs, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's slot."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """The names of the optimizer's slots."""
        return self._optimizer.get_slot_names(*args, **kwargs)


@export("contrib.estimator.clip_gradients_by_norm")
def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: float) -> Optimizer:
    """An optimizer whose gradients together have at most a norm.

    Args:
        optimizer: an Optimizer.
        clip_norm: the norm.

    Returns:
        An Optimizer.
    """

    def clipped(pairs: Pairs) -> Pairs:
        gradients, variables = zip(*pairs)
        return list(zip(tf.clip_by_global_norm(gradients, clip_norm)[0], variables))

    return _TransformGradients(optimizer, clipped, f"ClipByNorm{optimizer.get_name()}")


def _checked_keys(keys: Any) -> list[str] | None:
    if keys is None:
        return None
    if isinstance(keys, str):
        return [keys]
    if not isinstance(keys, (list, tuple)):
        raise TypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(
                "All items in the given keys list should be a string. There exist an item with "
                f"type: {type(key)}"
            )
    return list(keys)


def _forwarded(features: dict[str, Any], key: str, defaults: dict[str, Any]) -> Tensor:
    feature = convert_to_tensor_or_sparse_tensor(features[key])
    if key in defaults:
        if not isinstance(feature, SparseTensor):
            raise ValueError(f"Feature ({key}) is expected to be a `SparseTensor`.")
        feature = tf.sparse_tensor_to_dense(feature, default_value=defaults[key])
    if not isinstance(feature, Tensor):
        raise ValueError(
            f"Feature ({key}) should be a Tensor. Please use `keys` argument of forward_features "
            "to filter unwanted features, oradd key to argument `sparse_default_values`.Type of "
            f"features[{key}] is {type(feature)}."
        )
    return feature


@export("contrib.estimator.forward_features")
def forward_features(
    estimator: Estimator, keys: Any = None, sparse_default_values: dict[str, Any] | None = None
) -> Estimator:
    """A new Estimator, in the same folder, whose predictions have features beside them.

    Args:
        estimator: the Estimator to extend; its predictions are a dict.
        keys: which features; all if None.
        sparse_default_values: what fills those up that are SparseTensors, by key.

    Returns:
        An Estimator.

    Raises:
        TypeError: keys are no strings.
    """
    wanted, defaults = _checked_keys(keys), sparse_default_values or {}

    def new_model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        predictions = spec.predictions
        if predictions is None:
            return spec
        if not isinstance(predictions, dict):
            raise ValueError(
                "Predictions should be a dict to be able to forward features. Given: "
                f"{type(predictions)}"
            )
        chosen = list(features) if wanted is None else wanted
        for key in chosen:
            if key not in features:
                raise ValueError(
                    f'keys should be exist in features. Key "{key}" is not in features dict. '
                    f"features dict has following keys: {features.keys()}. Please check arguments "
                    "of forward_features."
                )
            if key in predictions:
                raise ValueError(
                    f"Cannot forward feature key ({key}). Since it does exist in predictions. "
                    f"Existing prediction keys: {predictions.keys()}. Please check arguments of "
                    "forward_features."
                )
        found = {key: _forwarded(features, key, defaults) for key in chosen}
        predictions.update(found)
        for key in ("predict", "serving_default"):
            output = (spec.export_outputs or {}).get(key)
            if isinstance(output, PredictOutput):
                output.outputs.update(found)
        return spec._replace(predictions=predictions)

    return Estimator(new_model_fn, estimator.model_dir, estimator.config)


@export("contrib.estimator.replicate_model_fn")
def replicate_model_fn(
    model_fn: Callable[..., Any],
    loss_reduction: str = "weighted_sum_by_nonzero_weights",
    devices: Any = None,
) -> Callable[..., Any]:
    """The model function: there is one device.

    Args:
        model_fn: a model function.
        loss_reduction: how losses of several would become one.
        devices: one device, or None.

    Returns:
        The function.

    Raises:
        ValueError: the reduction is none.
        NotImplementedError: there are more devices.
    """
    if loss_reduction == "none":
        raise ValueError(
            "Tower losses need to be reduced in some way, yet none reduction is specified."
        )
    if devices is not None and len(devices) > 1:
        raise NotImplementedError(
            f"a model on {len(devices)} devices ({', '.join(devices)}): numbaflow computes on this "
            "machine's processor alone"
        )
    return model_fn


@export("contrib.estimator.TowerOptimizer")
class TowerOptimizer(Optimizer):
    """The optimizer that it is given: there is one tower.

    Args:
        optimizer_or_optimizer_fn: an Optimizer, or a function that makes one.
    """

    def __init__(self, optimizer_or_optimizer_fn: Any) -> None:
        self._given = optimizer_or_optimizer_fn

    def _optimizer(self) -> Any:
        if callable(self._given):
            self._given = self._given()
        return self._given

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's gradients."""
        return self._optimizer().compute_gradients(loss, *args, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """The optimizer's step."""
        return self._optimizer().apply_gradients(grads_and_vars, global_step, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's slot."""
        return self._optimizer().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The names of the optimizer's slots."""
        return self._optimizer().get_slot_names(*args, **kwargs)

    def get_name(self) -> Any:
        """The optimizer's name."""
        return self._optimizer().get_name()

    def variables(self) -> Any:
        """The optimizer's variables."""
        return self._optimizer().variables()
