# SPDX-License-Identifier: Apache-2.0
"""Heads of estimators of tf.contrib.learn whose labels have a distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....ops.public import tf
from ..learn.estimators.head_classes import RegressionHead
from ..learn.estimators.head_losses import weighted

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor


class _DistributionRegressionHead(RegressionHead):
    """Numbers that are drawn from a distribution, which logits say; the loss is its -log_prob."""

    def __init__(
        self,
        make_distribution_fn: Callable[[Tensor], Any],
        label_dimension: int,
        logits_dimension: int | None = None,
        label_name: str | None = None,
        weight_column_name: str | None = None,
        enable_centered_bias: bool = False,
        head_name: str | None = None,
    ) -> None:
        if not callable(make_distribution_fn):
            raise TypeError("`make_distribution_fn` must be a callable function.")
        self._distributions: dict[Tensor, Any] = {}
        self._make_distribution_fn = make_distribution_fn
        super().__init__(
            logits_dimension or label_dimension,
            self._negative_log_prob,
            lambda logits: self.distribution(logits).mean(),
            *(label_name, weight_column_name, enable_centered_bias, head_name),
        )

    def _negative_log_prob(
        self, labels: Tensor, logits: Tensor, weights: Any = None
    ) -> tuple[Any, Any]:
        made = self.distribution(logits)
        batch = labels.shape.with_rank_at_least(1)[:-1]
        sizes = batch.as_list() if batch.is_fully_defined() else tf.shape(labels)[:-1]
        parts = [convert_to_tensor(part) for part in (sizes, made.event_shape_tensor())]
        known = [constant_value(part) for part in parts]
        shape: Any = tf.concat(parts, axis=0)
        if all(part is not None for part in known):
            shape = [int(size) for part in known for size in part]
        return weighted(-made.log_prob(tf.reshape(labels, shape)), weights)

    @property
    def distributions(self) -> dict[Tensor, Any]:
        """The distributions that were made, by their logits."""
        return self._distributions

    def distribution(self, logits: Tensor, name: str | None = None) -> Any:
        """The distribution of some logits, made when they are first asked for."""
        with tf.name_scope(name, "distribution", [logits]):
            if logits not in self._distributions:
                self._distributions[logits] = self._make_distribution_fn(logits)
            return self._distributions[logits]


@export("contrib.distributions.estimator_head_distribution_regression")
def estimator_head_distribution_regression(
    make_distribution_fn: Callable[[Tensor], Any],
    label_dimension: int = 1,
    logits_dimension: int | None = None,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> _DistributionRegressionHead:
    """A head whose labels are drawn from a distribution that the logits say.

    Args:
        make_distribution_fn: a function of logits that returns a distribution.
        label_dimension: how many numbers a label has.
        logits_dimension: how many logits an example has; as many if None.
        label_name: the key of the labels, if these are a dict.
        weight_column_name: the key of the examples' weights.
        enable_centered_bias: whether a bias is learned for each logit.
        head_name: the end of names of metrics and summaries, and the variable scope.

    Returns:
        A head for estimators of `tf.contrib.learn`, with the `distributions` it made by logits.

    Raises:
        TypeError: `make_distribution_fn` is no function.

    Example:
        >>> head = tf.contrib.distributions.estimator_head_distribution_regression(
        ...     lambda logits: tf.distributions.Normal(logits[..., 0], tf.exp(logits[..., 1])),
        ...     logits_dimension=2)
        >>> estimator = tf.contrib.learn.DNNEstimator(
        ...     head, [4], [tf.contrib.layers.real_valued_column("x")])
    """
    return _DistributionRegressionHead(
        make_distribution_fn,
        *(label_dimension, logits_dimension, label_name, weight_column_name),
        *(enable_centered_bias, head_name),
    )
