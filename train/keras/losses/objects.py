# SPDX-License-Identifier: Apache-2.0
"""Losses as objects: they weigh examples, and sum up or take the mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....ops.nn.weights import broadcast_weights
from ....ops.public import tf
from ..backend.sessions import evaluated
from ..serialization import Family, by_name, serialize_keras_object
from . import functions
from .ranks import matched


class Reduction:
    """How losses of examples become one: the mean, unless a strategy says otherwise, if AUTO."""

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them."""
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises a ValueError for what is none of them."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


def compute_weighted_loss(
    losses: Any, sample_weight: Any = None, reduction: str = Reduction.SUM_OVER_BATCH_SIZE
) -> Any:
    """Losses of examples by their weights, as one number unless the reduction is NONE.

    Args:
        losses: a tensor.
        sample_weight: a number or a tensor that can be broadcast to the losses; 1 if None.
        reduction: one of `Reduction`.
    """
    Reduction.validate(reduction)
    with tf.name_scope("weighted_loss"):
        losses = tf.convert_to_tensor(losses)
        dtype = losses.dtype
        losses = tf.cast(losses, tf.float32)
        weights = tf.cast(1.0 if sample_weight is None else sample_weight, tf.float32)
        losses, _, weights = matched(losses, None, weights)
        weighted = tf.multiply(losses, broadcast_weights(weights, losses))
        return tf.cast(reduce_weighted_loss(weighted, reduction), dtype)


def reduce_weighted_loss(losses: Any, reduction: str = Reduction.SUM_OVER_BATCH_SIZE) -> Any:
    """The sum or the mean of weighted losses, or these."""
    if reduction == Reduction.NONE:
        return losses
    total = tf.reduce_sum(losses)
    if reduction == Reduction.SUM:
        return total
    with tf.name_scope("num_elements") as scope:
        count = tf.cast(tf.size(losses, name=scope), losses.dtype)
    return tf.div_no_nan(tf.reduce_sum(total), count, name="value")


class Loss:
    """A loss; classes define `call`, which gives a loss for each example.

    Args:
        reduction: how these become one: a member of `Reduction`.
        name: of the operations' scope.

    Raises:
        ValueError: there is no such reduction.
    """

    def __init__(self, reduction: str = Reduction.AUTO, name: str | None = None) -> None:
        Reduction.validate(reduction)
        self.reduction = reduction
        self.name = name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        name = "lambda" if self.name == "<lambda>" else self.name
        with tf.name_scope(name or type(self).__name__):
            return compute_weighted_loss(
                self.call(y_true, y_pred), sample_weight, self._chosen_reduction()
            )

    def _chosen_reduction(self) -> str:
        is_auto = self.reduction == Reduction.AUTO
        return Reduction.SUM_OVER_BATCH_SIZE if is_auto else self.reduction

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The loss of each example."""
        raise NotImplementedError("Must be implemented in subclasses.")

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Loss:
        """The loss of what `get_config` gave."""
        return cls(**config)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {"reduction": self.reduction, "name": self.name}


class LossFunctionWrapper(Loss):
    """A loss by a function, which is passed further arguments."""

    def __init__(
        self,
        fn: Callable[..., Any],
        reduction: str = Reduction.AUTO,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(reduction=reduction, name=name)
        self.fn = fn
        self._fn_kwargs = kwargs

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """What the function gives."""
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self) -> dict[str, Any]:
        """The arguments, those of the function among them."""
        own = {name: evaluated(value) for name, value in self._fn_kwargs.items()}
        return {**super().get_config(), **own}


def _of(function: Callable[..., Any], class_name: str, name: str) -> type[LossFunctionWrapper]:
    """A class of losses by a function without further arguments."""

    def begin(self: Any, reduction: str = Reduction.AUTO, name: str = name) -> None:
        LossFunctionWrapper.__init__(self, function, reduction=reduction, name=name)

    doc = f"{(function.__doc__ or '').splitlines()[0]}"
    return type(
        class_name,
        (LossFunctionWrapper,),
        {"__init__": begin, "__doc__": doc, "__module__": __name__},
    )


MeanSquaredError = _of(functions.mean_squared_error, "MeanSquaredError", "mean_squared_error")
MeanAbsoluteError = _of(functions.mean_absolute_error, "MeanAbsoluteError", "mean_absolute_error")
MeanAbsolutePercentageError = _of(
    functions.mean_absolute_percentage_error,
    "MeanAbsolutePercentageError",
    "mean_absolute_percentage_error",
)
MeanSquaredLogarithmicError = _of(
    functions.mean_squared_logarithmic_error,
    "MeanSquaredLogarithmicError",
    "mean_squared_logarithmic_error",
)
Hinge = _of(functions.hinge, "Hinge", "hinge")
SquaredHinge = _of(functions.squared_hinge, "SquaredHinge", "squared_hinge")
CategoricalHinge = _of(functions.categorical_hinge, "CategoricalHinge", "categorical_hinge")
LogCosh = _of(functions.logcosh, "LogCosh", "logcosh")
Poisson = _of(functions.poisson, "Poisson", "poisson")
KLDivergence = _of(
    functions.kullback_leibler_divergence, "KLDivergence", "kullback_leibler_divergence"
)


class BinaryCrossentropy(LossFunctionWrapper):
    """`binary_crossentropy` as an object."""

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0,
        reduction: str = Reduction.AUTO,
        name: str = "binary_crossentropy",
    ) -> None:
        super().__init__(
            functions.binary_crossentropy,
            name=name,
            reduction=reduction,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )
        self.from_logits = from_logits


class CategoricalCrossentropy(LossFunctionWrapper):
    """`categorical_crossentropy` as an object."""

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0,
        reduction: str = Reduction.AUTO,
        name: str = "categorical_crossentropy",
    ) -> None:
        super().__init__(
            functions.categorical_crossentropy,
            name=name,
            reduction=reduction,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


class SparseCategoricalCrossentropy(LossFunctionWrapper):
    """`sparse_categorical_crossentropy` as an object."""

    def __init__(
        self,
        from_logits: bool = False,
        reduction: str = Reduction.AUTO,
        name: str = "sparse_categorical_crossentropy",
    ) -> None:
        super().__init__(
            functions.sparse_categorical_crossentropy,
            name=name,
            reduction=reduction,
            from_logits=from_logits,
        )


class Huber(LossFunctionWrapper):
    """`huber_loss` as an object."""

    def __init__(
        self, delta: float = 1.0, reduction: str = Reduction.AUTO, name: str = "huber_loss"
    ) -> None:
        super().__init__(functions.huber_loss, name=name, reduction=reduction, delta=delta)


class CosineSimilarity(LossFunctionWrapper):
    """`cosine_similarity` as an object."""

    def __init__(
        self, axis: int = -1, reduction: str = Reduction.AUTO, name: str = "cosine_similarity"
    ) -> None:
        super().__init__(functions.cosine_proximity, reduction=reduction, name=name, axis=axis)


_FAMILY = Family(
    "loss function",
    {
        **functions.FUNCTIONS,
        **by_name(Loss, LossFunctionWrapper, MeanSquaredError, MeanAbsoluteError),
        **by_name(MeanAbsolutePercentageError, MeanSquaredLogarithmicError, Hinge, SquaredHinge),
        **by_name(CategoricalHinge, LogCosh, Poisson, KLDivergence, BinaryCrossentropy, Huber),
        **by_name(CategoricalCrossentropy, SparseCategoricalCrossentropy, CosineSimilarity),
    },
)
serialize = serialize_keras_object
deserialize = _FAMILY.deserialize


def get(identifier: Any) -> Any:
    """The loss that an argument means: its name, its description or itself; None is None.

    Raises:
        ValueError: it is something else.
    """
    return _FAMILY.get(identifier)


def loss_object(loss: Any) -> Any:
    """A loss of `compile` as an object: functions are wrapped, objects and None stay."""
    if loss is None or isinstance(loss, Loss):
        return loss
    if callable(loss) and not hasattr(loss, "__name__"):
        return loss
    found = get(loss)
    if isinstance(found, Loss):
        return found
    return LossFunctionWrapper(found, name=found.__name__, reduction=Reduction.SUM_OVER_BATCH_SIZE)


def is_by(loss: Any, name: str) -> bool:
    """Whether a loss is one of the functions here, or an object by it."""
    function = getattr(functions, name)
    return loss is function or getattr(loss, "fn", None) is function
