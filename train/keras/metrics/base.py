# SPDX-License-Identifier: Apache-2.0
"""`Metric`, and metrics that are sums or means."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.types import dtypes
from ....ops.nn.weights import broadcast_weights
from ....ops.public import tf
from ...layers.base_layer import Layer
from ..backend.sessions import batch_set_value, evaluated, initialize, plain_session
from ..backend.settings import floatx
from ..identifiers import Identifier
from ..losses.ranks import matched
from ..serialization import serialized
from .ragged import flat_values

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike


_ROOT = __name__.partition(".")[0]


class Metric(Layer):
    """Variables that each batch is added to, and a result from them.

    Classes define `update_state`, which gives the operation that adds a batch, and `result`.

    Args:
        name: the metric's name; made from the class's if None.
        dtype: of the variables and the result; that of settings if None.
    """

    _arguments: tuple[str, ...] = ()

    def __init__(
        self, name: str | None = None, dtype: DTypeLike | None = None, **kwargs: Any
    ) -> None:
        super().__init__(name=name, dtype=dtypes.as_dtype(dtype or floatx()), **kwargs)
        self.stateful = True
        self.built = True
        vars(self)["update_state"] = types.MethodType(_updating(self._effects()), self)
        vars(self)["result"] = types.MethodType(_resulting(type(self).result), self)

    def _effects(self) -> Callable[..., Any]:
        """`update_state`; a program's own as a function, whose changes are one operation in order.

        Such a method need not return what it does.
        """
        found = type(self).update_state
        if found.__module__.partition(".")[0] == _ROOT:
            return found
        return lambda self, *args, **kwargs: tf.function(types.MethodType(found, self))(
            *args, **kwargs
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch; returns the result behind it, a tensor."""
        update = self.update_state(*args, **kwargs)
        with tf.control_dependencies([update]):
            result = self.result()
        result._metric_obj = self
        return result

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """The operation that adds a batch."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def result(self) -> Any:
        """The metric of all batches so far, a tensor."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def reset_states(self) -> None:
        """Begins anew."""
        batch_set_value([(v, np.zeros(v.shape.as_list())) for v in self.variables])

    def add_weight(  # type: ignore[override]
        self,
        name: str,
        shape: Any = (),
        aggregation: Any = tf.VariableAggregation.SUM,
        synchronization: Any = tf.VariableSynchronization.ON_READ,
        initializer: Identifier = None,
        dtype: DTypeLike | None = None,
    ) -> Any:
        """Makes a variable of the metric, which begins at zero if no initializer is given."""
        with tf.init_scope():
            return super().add_weight(
                name=name,
                shape=shape,
                dtype=dtype or self.dtype,
                trainable=False,
                initializer="zeros" if initializer is None else initializer,
                collections=[],
                synchronization=synchronization,
                aggregation=aggregation,
            )

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        own = serialized(self, self._arguments)
        return {"name": self.name, "dtype": self.dtype, **own}


def _updating(update_state: Callable[..., Any]) -> Callable[..., Any]:
    """An `update_state` whose operation is one of the metric's updates."""

    def update(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = update_state(self, *args, **kwargs)
        if made is not None:
            self.add_update(made)
        return made

    return update


def _resulting(result: Callable[..., Any]) -> Callable[..., Any]:
    """A `result` whose tensor models fetch."""

    def found(self: Any, *args: Any) -> Any:
        made = tf.identity(result(self, *args))
        self._call_result = made
        return made

    return found


def weighted(values: Any, weights: Any, *, mean: bool = True) -> tuple[Any, Any]:
    """Values by weights, and the weights in their shape; values' further axes are reduced first."""
    values, _, weights = matched(values, None, weights)
    try:
        weights = broadcast_weights(weights, values)
    except ValueError:
        axes = list(range(weights.shape.ndims, values.shape.ndims))
        values = (tf.reduce_mean if mean else tf.reduce_sum)(values, axis=axes)
    return tf.multiply(values, weights), weights


class Reduce(Metric):
    """The sum of values, or their mean by weights."""

    _is_mean = True

    def __init__(self, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.total = self.add_weight("total")
        if self._is_mean:
            self.count = self.add_weight("count")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """The operation that adds values, by weights if there are any."""
        values, sample_weight = flat_values(values, sample_weight)
        values = tf.cast(values, self.dtype)
        weights = None
        if sample_weight is not None:
            weights = tf.cast(sample_weight, self.dtype)
            values, weights = weighted(values, weights, mean=self._is_mean)
        total = tf.reduce_sum(values)
        with tf.control_dependencies([total]):
            update = self.total.assign_add(total)
        if not self._is_mean:
            return update
        counted = tf.size(values) if weights is None else tf.reduce_sum(weights)
        with tf.control_dependencies([update]):
            return self.count.assign_add(tf.cast(counted, self.dtype))

    def result(self) -> Any:
        """The sum or the mean; zero for no values."""
        if self._is_mean:
            return tf.div_no_nan(self.total, self.count)
        return tf.identity(self.total)


class Sum(Reduce):
    """The sum of values."""

    _is_mean = False

    def __init__(self, name: str = "sum", dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)


class Mean(Reduce):
    """The mean of values, by weights if there are any."""

    def __init__(self, name: str | None = "mean", dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)


class MeanMetricWrapper(Mean):
    """The mean of a function of labels and predictions; further arguments are passed to it."""

    def __init__(
        self,
        fn: Callable[..., Any],
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self._fn = fn
        self._fn_kwargs = kwargs

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """The operation that adds labels and predictions, by weights if there are any."""
        y_true, y_pred = tf.cast(y_true, self.dtype), tf.cast(y_pred, self.dtype)
        (y_true, y_pred), sample_weight = flat_values([y_true, y_pred], sample_weight)
        y_pred, y_true, _ = matched(y_pred, y_true)
        values = self._fn(y_true, y_pred, **self._fn_kwargs)
        return super().update_state(values, sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        """The arguments, those of the function among them."""
        own = {name: evaluated(value) for name, value in self._fn_kwargs.items()}
        return {**super().get_config(), **own}


class MeanTensor(Metric):
    """The mean of each element of tensors of one shape, by weights if there are any."""

    def __init__(self, name: str = "mean_tensor", dtype: DTypeLike | None = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self._shape: Any = None

    @property
    def total(self) -> Any:
        """The variable of sums; None before the first values."""
        return vars(self).get("_total")

    @property
    def count(self) -> Any:
        """The variable of weights; None before the first values."""
        return vars(self).get("_count")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """The operation that adds values; ValueError for another shape than the first's."""
        values = tf.cast(values, self.dtype)
        if self.total is None:
            self._shape = values.shape
            self._total = self.add_weight("total", shape=values.shape)
            self._count = self.add_weight("count", shape=values.shape)
            # (They are made late: what initializes a program's variables may have run.)
            with tf.init_scope():
                initialize(plain_session())
        elif values.shape.as_list() != self._shape.as_list():
            raise ValueError(
                "MeanTensor input values must always have the same shape. Expected shape (set "
                f"during the first call): {self._shape}. Got: {values.shape}"
            )
        counted = tf.ones_like(values)
        if sample_weight is not None:
            values, weights = weighted(values, tf.cast(sample_weight, self.dtype))
            counted = tf.multiply(counted, weights)
        update = self.total.assign_add(values)
        with tf.control_dependencies([update]):
            return self.count.assign_add(counted)

    def result(self) -> Any:
        """The means; ValueError before the first values."""
        if self.total is None:
            raise ValueError(
                "MeanTensor does not have any result yet. Please call the MeanTensor instance or "
                "use `.update_state(value)` before retrieving the result."
            )
        return tf.div_no_nan(self.total, self.count)
