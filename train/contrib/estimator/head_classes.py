# SPDX-License-Identifier: Apache-2.0
"""`tf.estimator.BinaryClassHead` and the like: heads as classes, whose losses are means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import constant, export
from ....ops.nn.loss import log_poisson_loss, sigmoid_cross_entropy_with_logits
from ....ops.nn.losses_reduction import Reduction
from ....ops.public import tf
from ...estimator import heads
from ...estimator.head_checks import in_range
from ...estimator.mode_keys import ModeKeys
from .multi_head import MultiHead as _MultiHead
from .multi_label import MultiLabelHead as _MultiLabelHead
from .multi_label import multi_label_arguments

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor
    from ...estimator.model_fn import EstimatorSpec

constant("estimator.Head", heads.Head)
# What TensorFlow 2 calls the reductions.
_REDUCTIONS = {
    "auto": Reduction.SUM_OVER_BATCH_SIZE,
    "sum_over_batch_size": Reduction.SUM_OVER_BATCH_SIZE,
    "sum": Reduction.SUM,
}
_MEAN = "sum_over_batch_size"


class _Api(heads.Head):
    """What these have besides `create_estimator_spec`."""

    @property
    def loss_reduction(self) -> str:
        """How losses become one."""
        return self._loss_reduction

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[str, Any]:
        """What is predicted from logits, by key; all of it if there are no keys.

        Raises:
            ValueError: there is no such prediction.
        """
        found = self._predictions(tf.convert_to_tensor(logits))
        for key in keys or ():
            if key not in found:
                raise ValueError(
                    f"Prediction key must be in PredictionKeys, given: {key}.Valid prediction keys "
                    f"include {list(found)}."
                )
        return {key: found[key] for key in keys} if keys else found

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: dict[str, Any] | None = None,
        mode: str | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """The loss that is trained: a scalar, with what regularization adds."""
        spec = self.create_loss(features or {}, mode or ModeKeys.TRAIN, logits, labels)
        if regularization_losses:
            return spec.training_loss + tf.add_n(regularization_losses)
        return spec.training_loss

    def create_estimator_spec(  # type: ignore[override]
        self,
        features: dict[str, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        """What a model function gives.

        Args:
            features: tensors by key.
            mode: a value of ModeKeys.
            logits: a tensor [..., logits_dimension].
            labels: a tensor; None for prediction.
            optimizer: an Optimizer that minimizes the loss, or
            trainable_variables: of optimizers of Keras; not used by others.
            train_op_fn: a function from the loss to what a step runs.
            update_ops: what a step runs besides.
            regularization_losses: scalars that are added to the loss.

        Returns:
            An EstimatorSpec.

        Raises:
            ValueError: for training both or neither of optimizer and function are given.
        """
        if update_ops is not None and not isinstance(update_ops, (list, tuple)):
            raise ValueError(
                f"update_ops should be a list or a tuple. Given type: {type(update_ops)}."
            )
        spec = super().create_estimator_spec(
            features, mode, logits, labels, optimizer, train_op_fn, regularization_losses
        )
        if mode == ModeKeys.TRAIN and update_ops:
            return spec._replace(  # type: ignore[no-any-return]
                train_op=tf.group(spec.train_op, *update_ops)
            )
        return spec


@export("estimator.BinaryClassHead")
class BinaryClassHead(_Api, heads.BinaryClassHead):
    """One of two classes, by one logit.

    Args:
        weight_column: the key or column of examples' weights.
        thresholds: probabilities between 0 and 1 at which more metrics are taken.
        label_vocabulary: the names of the two, if labels are strings.
        loss_reduction: "sum_over_batch_size" or "sum".
        loss_fn: another loss.
        name: of the head, which summaries and metrics carry.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        weight_column: object = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = _MEAN,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        reduction = _REDUCTIONS.get(loss_reduction, loss_reduction)
        super().__init__(weight_column, thresholds, label_vocabulary, reduction, loss_fn, name)


@export("estimator.MultiClassHead")
class MultiClassHead(_Api, heads.MultiClassHead):
    """One of three classes or more, by softmax.

    Args:
        n_classes: how many.
        weight_column, label_vocabulary, loss_reduction, loss_fn, name: as of BinaryClassHead.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: object = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = _MEAN,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        reduction = _REDUCTIONS.get(loss_reduction, loss_reduction)
        super().__init__(n_classes, weight_column, label_vocabulary, reduction, loss_fn, name)


@export("estimator.RegressionHead")
class RegressionHead(_Api, heads.RegressionHead):
    """Numbers, by squared error.

    Args:
        label_dimension: how many an example has.
        weight_column, loss_reduction, loss_fn, name: as of BinaryClassHead.
        inverse_link_fn: a function from logits to predictions; the logits themselves if None.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: object = None,
        loss_reduction: str = _MEAN,
        loss_fn: Callable[..., Any] | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        reduction = _REDUCTIONS.get(loss_reduction, loss_reduction)
        super().__init__(label_dimension, weight_column, reduction, loss_fn, inverse_link_fn, name)


@export("estimator.PoissonRegressionHead")
class PoissonRegressionHead(RegressionHead):
    """Counts, whose logarithms logits are.

    Args:
        label_dimension, weight_column, loss_reduction, name: as of RegressionHead.
        compute_full_loss: whether to add what labels alone make of the loss.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: object = None,
        loss_reduction: str = _MEAN,
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        def loss_fn(labels: Any, logits: Any) -> Tensor:
            return log_poisson_loss(labels, logits, compute_full_loss=compute_full_loss)

        super().__init__(label_dimension, weight_column, loss_reduction, loss_fn, tf.exp, name)


@export("estimator.LogisticRegressionHead")
class LogisticRegressionHead(RegressionHead):
    """Probabilities, by cross entropy.

    Args:
        weight_column, loss_reduction, name: as of RegressionHead.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        weight_column: object = None,
        loss_reduction: str = _MEAN,
        name: str | None = None,
    ) -> None:
        def loss_fn(labels: Any, logits: Any) -> Tensor:
            return sigmoid_cross_entropy_with_logits(labels=in_range(labels, 2), logits=logits)

        super().__init__(1, weight_column, loss_reduction, loss_fn, tf.sigmoid, name)


@export("estimator.MultiLabelHead")
class MultiLabelHead(_Api, _MultiLabelHead):
    """Classes of which an example may have several, by one logit each.

    Args:
        n_classes: how many there are.
        weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name: as of
            BinaryClassHead; names of all classes.
        classes_for_class_based_metrics: classes, by number or name, with metrics of their own.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: object = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = _MEAN,
        loss_fn: Callable[..., Any] | None = None,
        classes_for_class_based_metrics: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> None:
        classes = multi_label_arguments(
            n_classes, thresholds, label_vocabulary, classes_for_class_based_metrics
        )
        super().__init__(
            *(n_classes, weight_column, thresholds or (), label_vocabulary),
            *(_REDUCTIONS.get(loss_reduction, loss_reduction), loss_fn, classes, name),
        )


@export("estimator.MultiHead")
class MultiHead(_Api, _MultiHead):  # type: ignore[misc]
    """Several heads, whose losses are added up.

    Args:
        heads: heads with names; serving answers with the first one's outputs by default.
        head_weights: of their losses.

    Raises:
        ValueError: there are no heads, one has no name, or there are not as many weights.
    """

    def __init__(
        self, heads: Sequence[heads.Head], head_weights: Sequence[float] | None = None
    ) -> None:
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(
                "heads and head_weights must have the same size. Given len(heads): "
                f"{len(heads)}. Given len(head_weights): {len(head_weights)}."
            )
        for head in heads:
            if head.name is None:
                raise ValueError(f"All given heads must have name specified. Given: {head}")
        super().__init__(heads, head_weights or ())

    @property
    def loss_reduction(self) -> str:
        """How losses become one, in all heads.

        Raises:
            ValueError: heads have different ones.
        """
        found = [head._loss_reduction for head in self._heads]
        if len(set(found)) > 1:
            raise ValueError(
                f"The loss_reduction must be the same for different heads. Given: {found}"
            )
        return found[0]

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, Any]:
        """What the heads predict, by their names and keys."""
        parts = self._split(logits)
        with tf.name_scope("merge_pred"):
            return {
                (head.name, key): value
                for head in self._heads
                for key, value in head._predictions(tf.convert_to_tensor(parts[head.name])).items()
            }
