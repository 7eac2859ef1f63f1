# SPDX-License-Identifier: Apache-2.0
"""What ready-made estimators have besides: predictions by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...layers.feature_column_ops import parse_feature_columns_from_examples
from ..metric_spec import MetricSpec
from ..utils import export as exports
from .constants import PredictionKey
from .estimator import Estimator


class _Predicting(Estimator):
    """An estimator whose `predict` gives one kind of prediction unless told which."""

    _KEY: str
    # The prediction that is exported, and the function that makes the export's signature.
    _EXPORTED: tuple[str, Callable[..., Any]]

    def export(
        self,
        export_dir: str,
        input_fn: Callable[..., Any] | None = None,
        input_feature_key: str | None = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: Callable[..., Any] | None = None,
        default_batch_size: int | None = 1,
        exports_to_keep: int | None = None,
    ) -> bytes:
        """Writes an export, which reads the columns' features of examples; as of Estimator."""
        key, usual = self._EXPORTED
        return super().export(
            export_dir,
            input_fn=input_fn or self._parsed,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            signature_fn=signature_fn or usual,
            prediction_key=key,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )

    def _parsed(self, unused_estimator: object, examples: Any) -> dict[Any, Any]:
        names = ("feature_columns", "linear_feature_columns", "dnn_feature_columns")
        columns = [column for name in names for column in self.params.get(name) or ()]
        return parse_feature_columns_from_examples(examples, columns)

    def predict(
        self,
        x: object = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The predictions of examples; arguments as of Estimator."""
        if not outputs:
            return self._one(self._KEY, x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable, iterate_batches)

    def _one(
        self,
        key: str,
        x: object,
        input_fn: Callable[..., Any] | None,
        batch_size: int | None,
        as_iterable: bool,
    ) -> Any:
        found = super().predict(x, input_fn, batch_size, [key], as_iterable)
        return (one[key] for one in found) if as_iterable else found[key]


class Classifying(_Predicting):
    """An estimator of classes."""

    _KEY = PredictionKey.CLASSES
    _EXPORTED = (PredictionKey.PROBABILITIES, exports.classification_signature_fn_with_prob)

    def predict_classes(
        self,
        x: object = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The likeliest classes; arguments as of `predict`."""
        found = self._one(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)
        return found if as_iterable else found.reshape(-1)

    def predict_proba(
        self,
        x: object = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The probabilities of classes; arguments as of `predict`."""
        return self._one(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)


class Regressing(_Predicting):
    """An estimator of numbers."""

    _KEY = PredictionKey.SCORES
    _EXPORTED = (PredictionKey.SCORES, exports.regression_signature_fn)

    def predict_scores(
        self,
        x: object = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """The numbers; arguments as of `predict`."""
        return self._one(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)

    def evaluate(
        self,
        x: object = None,
        y: object = None,
        input_fn: Callable[[], Any] | None = None,
        feed_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: dict[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> Any:
        """The metrics; those that are functions by name take the numbers."""
        if isinstance(metrics, dict):
            metrics = {
                key
                if isinstance(metric, MetricSpec) or isinstance(key, tuple)
                else (key, PredictionKey.SCORES): metric
                for key, metric in metrics.items()
            }
        return super().evaluate(
            *(x, y, input_fn, feed_fn, batch_size, steps, metrics, name, checkpoint_path),
            *(hooks, log_progress),
        )
