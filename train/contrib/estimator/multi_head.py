# SPDX-License-Identifier: Apache-2.0
"""Several heads as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.metrics.means import mean
from ....ops.public import tf
from ....ops.summaries.api import scalar
from ...estimator.export_output import PredictOutput
from ...estimator.heads import Head, LossSpec
from ...estimator.mode_keys import ModeKeys
from ...estimator.model_fn import LOSS_METRIC_KEY, EstimatorSpec
from ...variables.global_step import get_global_step

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor

_DEFAULT, _PREDICT = "serving_default", "predict"


def _nothing(loss: object) -> Operation:
    del loss
    return tf.no_op()


class MultiHead(Head):
    """Several heads, whose losses are added up.

    Args:
        heads: heads with names.
        head_weights: of their losses; 1 if there are none.
    """

    def __init__(self, heads: Sequence[Head], head_weights: Sequence[float] = ()) -> None:
        super().__init__(name="_".join(str(head.name) for head in heads))
        self._heads, self._head_weights = tuple(heads), tuple(head_weights)

    @property
    def logits_dimension(self) -> int:
        """The sum of the heads'."""
        return sum(head.logits_dimension for head in self._heads)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        raise NotImplementedError("each head makes its own")

    _exports = _metrics = _predictions  # type: ignore[assignment]

    def _merged(self, losses: Sequence[Any]) -> Any:
        with tf.name_scope("merge_losses", values=list(losses)):
            if self._head_weights:
                losses = [tf.multiply(*pair) for pair in zip(losses, self._head_weights)]
            return tf.add_n(list(losses))

    def _split(self, logits: object) -> dict[str | None, Any]:
        """The logits of each head, by name."""
        if isinstance(logits, dict):
            return logits
        with tf.name_scope(None, "split_logits", values=[logits]):
            logits = tf.convert_to_tensor(logits)
            sizes = [head.logits_dimension for head in self._heads]
            last = logits.shape.as_list()[-1]
            if last is not None and last != sum(sizes):
                raise ValueError(
                    f"Could not split logits of shape {logits.shape.as_list()!r} among the heads "
                    f"with individual logits dimensions: {sizes!r}. The last dimension of the "
                    f"logits tensor should equal {sum(sizes)} but is {last}."
                )
            parts = tf.split(logits, sizes, axis=-1)
            return {head.name: part for head, part in zip(self._heads, parts)}

    def create_loss(
        self, features: dict[str, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """The sum of the heads' losses; what it is made of by the heads' names."""
        parts = self._split(logits)
        specs = {
            head.name: head.create_loss(features, mode, parts[head.name], labels[head.name])
            for head in self._heads
        }
        weights = self._head_weights or (None,) * len(specs)
        scaled = [
            {
                name: value if weight is None else tf.multiply(value, weight)
                for (name, value), weight in zip(values, weights)
            }
            for values in (
                [(name, spec.unreduced_loss) for name, spec in specs.items()],
                [(name, spec.weights) for name, spec in specs.items()],
            )
        ]
        loss = self._merged([spec.training_loss for spec in specs.values()])
        labels = {name: spec.processed_labels for name, spec in specs.items()}
        return LossSpec(loss, scaled[0], scaled[1], labels)

    def create_estimator_spec(
        self,
        features: dict[str, Any],
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        """What a model function gives: arguments as of Head, labels by the heads' names."""
        if labels and not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        parts = self._split(logits)
        specs = [
            head.create_estimator_spec(
                features,
                mode,
                parts[head.name],
                labels[head.name] if labels else None,
                train_op_fn=_nothing if mode == ModeKeys.TRAIN else None,
            )
            for head in self._heads
        ]
        predictions = {
            (head.name, key): value
            for head, spec in zip(self._heads, specs)
            for key, value in spec.predictions.items()
        }
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions, export_outputs=self._outputs(specs))
        metrics = {key: value for spec in specs for key, value in spec.eval_metric_ops.items()}
        if mode == ModeKeys.EVAL:
            with tf.name_scope("merge_eval"):
                for head, spec in zip(self._heads, specs):
                    key = f"{LOSS_METRIC_KEY}/{head.name}"
                    metrics[key] = mean(spec.loss, name=key)
                loss = self._merged([spec.loss for spec in specs])
            return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
        if mode != ModeKeys.TRAIN:
            raise ValueError(f"mode={mode} unrecognized")
        loss = self._merged([spec.loss for spec in specs])
        if optimizer is not None and train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        if optimizer is not None:
            train_op = optimizer.minimize(loss, global_step=get_global_step())
        elif train_op_fn is not None:
            train_op = train_op_fn(loss)
        else:
            raise ValueError("train_op_fn and optimizer cannot both be None.")
        with tf.name_scope(""):
            scalar(LOSS_METRIC_KEY, loss)
        return EstimatorSpec(mode, predictions, loss, train_op, metrics)

    def _outputs(self, specs: Sequence[EstimatorSpec]) -> dict[str, Any]:
        """The exports of all heads; the first one's serve unless another is asked for."""
        first = specs[0].export_outputs
        if len(first) != 1 and _DEFAULT not in first:
            raise ValueError(
                f"{self._heads[0].name} did not specify default export_outputs. Given: {first} "
                "Suggested fix: Use one of the heads in tf.contrib.estimator, or include key "
                f"{_DEFAULT} in export_outputs."
            )
        found = {_DEFAULT: first.get(_DEFAULT, next(iter(first.values())))}
        merged: dict[str, Any] = {}
        for head, spec in zip(self._heads, specs):
            for key, output in spec.export_outputs.items():
                found[str(head.name) if key == _DEFAULT else f"{head.name}/{key}"] = output
                if key == _PREDICT and isinstance(output, PredictOutput):
                    merged.update({f"{head.name}/{k}": v for k, v in output.outputs.items()})
        found[_PREDICT] = PredictOutput(merged)
        return found


@export("contrib.estimator.multi_head")
def multi_head(heads: Sequence[Head], head_weights: Sequence[float] | None = None) -> MultiHead:
    """Several heads, whose losses are added up.

    Args:
        heads: heads with names; labels and logits are dicts by these, or logits side by side.
        head_weights: of their losses.

    Returns:
        A head.

    Raises:
        ValueError: there are no heads, one has no name, or there are other weights than heads.
    """
    if head_weights and len(head_weights) != len(heads):
        raise ValueError(
            "heads and head_weights must have the same size. Given len(heads): "
            f"{len(heads)}. Given len(head_weights): {len(head_weights)}."
        )
    if not heads:
        raise ValueError(f"Must specify heads. Given: {heads}")
    for head in heads:
        if not head.name:
            raise ValueError(f"All given heads must have name specified. Given: {head}")
    return MultiHead(heads, head_weights or ())
