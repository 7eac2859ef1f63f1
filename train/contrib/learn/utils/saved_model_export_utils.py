# SPDX-License-Identifier: Apache-2.0
"""Signatures of exported models, and strategies of exporting them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from .....engine.api import constant, export
from .....engine.interface import log
from .....engine.types import dtypes
from .....io import files
from .....io.events import summary_iterator
from ....checkpoints.checkpoint_management import latest_checkpoint
from ....estimator.estimator import Estimator as CoreEstimator
from ....estimator.export import build_parsing_serving_input_receiver_fn
from ....estimator.export_utils import get_temp_export_dir, get_timestamped_export_dir
from ....saved_model.signatures import (
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)
from ...layers.feature_column import create_feature_spec_for_parsing
from ..estimators.constants import MetricKey, PredictionKey, ProblemType
from ..export_strategy import ExportStrategy
from . import gc, input_fn_utils

_SPACE = "contrib.learn.utils.saved_model_export_utils"
constant(f"{_SPACE}.get_temp_export_dir", get_temp_export_dir)
constant(f"{_SPACE}.get_timestamped_export_dir", get_timestamped_export_dir)
DEFAULT_INPUT_ALTERNATIVE_KEY = "default_input_alternative"
FEATURES_INPUT_ALTERNATIVE_KEY = "features_input_alternative"
_FALLBACK_DEFAULT_OUTPUT_ALTERNATIVE_KEY = "default_output_alternative"
_SERVING = "serving_default"


def _scores(outputs: dict[str, Any]) -> Any:
    return outputs.get(PredictionKey.SCORES, outputs.get(PredictionKey.PROBABILITIES))


def _classes(outputs: dict[str, Any]) -> Any:
    classes = outputs.get(PredictionKey.CLASSES)
    return classes if classes is not None and classes.dtype == dtypes.string else None


@export(f"{_SPACE}.build_standardized_signature_def")
def build_standardized_signature_def(
    input_tensors: dict[str, Any], output_tensors: dict[str, Any], problem_type: object
) -> Any:
    """The signature for a problem: of classes, of a regression, or of predictions.

    Args:
        input_tensors, output_tensors: by name.
        problem_type: of ProblemType.

    Returns:
        A SignatureDef.

    Raises:
        ValueError: there are no tensors.
    """
    if not input_tensors:
        raise ValueError("input_tensors must be provided.")
    if not output_tensors:
        raise ValueError("output_tensors must be provided.")
    examples = next(iter(input_tensors.values()))
    if len(input_tensors) == 1 and problem_type in (
        ProblemType.CLASSIFICATION,
        ProblemType.LOGISTIC_REGRESSION,
    ):
        classes, scores = _classes(output_tensors), _scores(output_tensors)
        if classes is None and scores is None and len(output_tensors) == 1:
            only = next(iter(output_tensors.values()))
            classes, scores = (only, None) if only.dtype == dtypes.string else (None, only)
        if classes is not None or scores is not None:
            return classification_signature_def(examples, classes, scores)
    single = len(input_tensors) == len(output_tensors) == 1
    if single and problem_type == ProblemType.LINEAR_REGRESSION:
        return regression_signature_def(examples, next(iter(output_tensors.values())))
    return predict_signature_def(input_tensors, output_tensors)


@export(f"{_SPACE}.get_input_alternatives")
def get_input_alternatives(input_ops: Any) -> tuple[dict[str, Any], Any]:
    """What requests give, by name of the alternative, and the features; ValueError without some."""
    alternatives = {}
    if isinstance(input_ops, input_fn_utils.InputFnOps):
        alternatives[DEFAULT_INPUT_ALTERNATIVE_KEY] = input_ops.default_inputs
    if not input_ops[0]:
        raise ValueError("Features must be defined.")
    return alternatives, input_ops[0]


@export(f"{_SPACE}.get_output_alternatives")
def get_output_alternatives(
    model_fn_ops: Any, default_output_alternative_key: str | None = None
) -> tuple[dict[Any, Any], Any]:
    """What heads give, by their names, and the name of the one that serves.

    Args:
        model_fn_ops: ModelFnOps.
        default_output_alternative_key: the name, if there are several.

    Returns:
        The alternatives and the name.

    Raises:
        ValueError: there is no such head, or there are several and no name is given.
    """
    found, wanted = model_fn_ops.output_alternatives, default_output_alternative_key
    if not found:
        if wanted:
            raise ValueError(
                f"Requested default_output_alternative: {wanted}, but available "
                "output_alternatives are: []"
            )
        outputs = model_fn_ops.predictions
        if not isinstance(outputs, dict):
            outputs = {PredictionKey.GENERIC: outputs}
        key = _FALLBACK_DEFAULT_OUTPUT_ALTERNATIVE_KEY
        return {key: (ProblemType.UNSPECIFIED, outputs)}, key
    if wanted:
        if wanted not in found:
            raise ValueError(
                f"Requested default_output_alternative: {wanted}, but available "
                f"output_alternatives are: {sorted(found)}"
            )
        return found, wanted
    if len(found) == 1:
        return found, next(iter(found))
    raise ValueError(
        f"Please specify a default_output_alternative.  Available output_alternatives are: "
        f"{sorted(found)}"
    )


@export(f"{_SPACE}.build_all_signature_defs")
def build_all_signature_defs(
    input_alternatives: dict[str, Any],
    output_alternatives: dict[Any, Any],
    actual_default_output_alternative_key: object,
) -> dict[str, Any]:
    """Signatures of all pairs of inputs and heads, and of those that serve; ValueError without."""
    inputs = input_alternatives.get(DEFAULT_INPUT_ALTERNATIVE_KEY)
    if not inputs:
        raise ValueError("A default input_alternative must be provided.")
    made = {
        f"{input_key}:{output_key or 'None'}": build_standardized_signature_def(given, out, kind)
        for input_key, given in input_alternatives.items()
        for output_key, (kind, out) in output_alternatives.items()
    }
    kind, outputs = output_alternatives[actual_default_output_alternative_key]
    made[_SERVING] = build_standardized_signature_def(inputs, outputs, kind)
    return made


def _exports(export_dir_base: str) -> list[str]:
    """The folders of exported models, the oldest first."""
    if not files.is_directory(export_dir_base):
        return []
    names = [os.fsdecode(name).rstrip("/") for name in files.list_directory(export_dir_base)]
    return sorted(name for name in names if len(name) == 10 and name.isdigit())


def get_most_recent_export(export_dir_base: str | bytes) -> gc.Path | None:
    """The newest exported model of a folder, as (path, number); None if there is none."""
    base = os.fsdecode(export_dir_base)
    names = _exports(base)
    return gc.Path(os.path.join(base, names[-1]), int(names[-1])) if names else None


@export(f"{_SPACE}.garbage_collect_exports")
def garbage_collect_exports(export_dir_base: str | bytes, exports_to_keep: int | None) -> None:
    """Deletes all exported models but the newest; None keeps all."""
    if exports_to_keep is None:
        return
    base = os.fsdecode(export_dir_base)
    names = _exports(base)
    for name in names[: max(len(names) - exports_to_keep, 0)]:
        files.delete_recursively(os.path.join(base, name))


@export(
    "contrib.learn.make_export_strategy",
    "contrib.learn.utils.make_export_strategy",
    f"{_SPACE}.make_export_strategy",
)
def make_export_strategy(
    serving_input_fn: Callable[[], Any],
    default_output_alternative_key: str | None = None,
    assets_extra: dict[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """A strategy that exports a SavedModel and keeps the newest of them.

    Args:
        serving_input_fn: as `export_savedmodel` takes it.
        default_output_alternative_key: the head that serves, if there are several.
        assets_extra, as_text: as `export_savedmodel` takes them.
        exports_to_keep: how many are kept; None keeps all.
        strip_default_attrs: whether attributes with their defaults are left out.

    Returns:
        An ExportStrategy for Experiment.
    """

    def export_fn(
        estimator: Any,
        export_dir_base: str,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> Any:
        given: dict[str, Any] = dict(
            assets_extra=assets_extra,
            as_text=as_text,
            checkpoint_path=checkpoint_path,
            strip_default_attrs=strip_default_attrs,
        )
        if not isinstance(estimator, CoreEstimator):
            given["default_output_alternative_key"] = default_output_alternative_key
        elif default_output_alternative_key is not None:
            raise ValueError(
                "default_output_alternative_key is not supported in core Estimator. Given: "
                f"{default_output_alternative_key}"
            )
        result = estimator.export_savedmodel(export_dir_base, serving_input_fn, **given)
        garbage_collect_exports(export_dir_base, exports_to_keep)
        return result

    return ExportStrategy("Servo", export_fn, strip_default_attrs)


@export(f"{_SPACE}.make_parsing_export_strategy")
def make_parsing_export_strategy(
    feature_columns: Any,
    default_output_alternative_key: str | None = None,
    assets_extra: dict[str, str] | None = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    target_core: bool = False,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """make_export_strategy for Examples with the features of columns.

    Args:
        feature_columns: columns.
        target_core: whether the estimator is one of tf.estimator.
        default_output_alternative_key, assets_extra, as_text, exports_to_keep,
            strip_default_attrs: as of make_export_strategy.

    Returns:
        An ExportStrategy.
    """
    spec = create_feature_spec_for_parsing(feature_columns)
    if target_core:
        serving = build_parsing_serving_input_receiver_fn(spec)
    else:
        serving = input_fn_utils.build_parsing_serving_input_fn(spec)
    return make_export_strategy(
        *(serving, default_output_alternative_key, assets_extra, as_text, exports_to_keep),
        strip_default_attrs=strip_default_attrs,
    )


def _has_smaller_loss(best: dict[str, Any], candidate: dict[str, Any]) -> bool:
    for name, found in (("curr_best", best), ("cand", candidate)):
        if not found or MetricKey.LOSS not in found:
            raise ValueError(f"{name}_eval_result cannot be empty or no loss is found in it.")
    return bool(best[MetricKey.LOSS] > candidate[MetricKey.LOSS])


class BestModelSelector:
    """Remembers the best evaluation.

    Args:
        event_file_pattern: files with events of earlier evaluations.
        compare_fn: whether the second of two evaluations is better; by loss if None.
    """

    def __init__(
        self,
        event_file_pattern: str | None = None,
        compare_fn: Callable[[Any, Any], bool] | None = None,
    ) -> None:
        self._compare_fn = compare_fn or _has_smaller_loss
        self._best: Any = None
        for path in files.get_matching_files(event_file_pattern) if event_file_pattern else ():
            for event in summary_iterator(path):
                if event.HasField("summary"):
                    values = event.summary.value
                    found = {v.tag: v.simple_value for v in values if v.HasField("simple_value")}
                    if self._best is None or self._compare_fn(self._best, found):
                        self._best = found

    def update(self, checkpoint_path: str, eval_result: Any) -> tuple[str, Any]:
        """The checkpoint and its evaluation if that is the best, else "" and None."""
        if not checkpoint_path:
            raise ValueError("Checkpoint path is empty.")
        if eval_result is None:
            raise ValueError(f"{checkpoint_path} has empty evaluation results.")
        if self._best is not None and not self._compare_fn(self._best, eval_result):
            return "", None
        self._best = eval_result
        return checkpoint_path, eval_result


@export(f"{_SPACE}.make_best_model_export_strategy")
def make_best_model_export_strategy(
    serving_input_fn: Callable[[], Any],
    exports_to_keep: int | None = 1,
    model_dir: str | None = None,
    event_file_pattern: str | None = None,
    compare_fn: Callable[[Any, Any], bool] | None = None,
    default_output_alternative_key: str | None = None,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """A strategy that exports the model that was best.

    Args:
        model_dir, event_file_pattern: where events of earlier evaluations are.
        compare_fn: whether the second of two evaluations is better; by loss if None.
        serving_input_fn, exports_to_keep, default_output_alternative_key, strip_default_attrs: as
            of make_export_strategy.

    Returns:
        An ExportStrategy.
    """
    base = make_export_strategy(
        serving_input_fn,
        exports_to_keep=exports_to_keep,
        default_output_alternative_key=default_output_alternative_key,
        strip_default_attrs=strip_default_attrs,
    )
    named = model_dir and event_file_pattern
    selector = BestModelSelector(
        os.path.join(model_dir or "", event_file_pattern or "") if named else None, compare_fn
    )

    def export_fn(
        estimator: Any, export_dir_base: str, checkpoint_path: str, eval_result: Any = None
    ) -> Any:
        path = checkpoint_path or latest_checkpoint(estimator.model_dir)
        best, result = selector.update(path or "", eval_result)
        if not best:
            return ""
        folder = os.path.join(export_dir_base, os.path.basename(best))
        return base.export(estimator, folder, best, result)

    return ExportStrategy("best_model", export_fn)


@export(f"{_SPACE}.extend_export_strategy")
def extend_export_strategy(
    base_export_strategy: ExportStrategy,
    post_export_fn: Callable[[Any, str], str],
    post_export_name: str | None = None,
) -> ExportStrategy:
    """A strategy whose models another function makes of those of a first one.

    Args:
        base_export_strategy: the first one.
        post_export_fn: a function of the first model's folder and one to write below; gives the
            path of what it wrote.
        post_export_name: the strategy's name.

    Returns:
        An ExportStrategy.
    """

    def folder_in(base: str, name: str) -> str:
        path = os.path.join(base, f"temp-{name}-export-{int(time.time())}")
        if files.file_exists(path):
            raise RuntimeError(f"Failed to obtain {name} export directory")
        files.recursive_create_dir(path)
        return path

    def export_fn(
        estimator: object, export_dir_base: str, checkpoint_path: str | None = None
    ) -> str:
        first = folder_in(export_dir_base, "base")
        made = base_export_strategy.export(estimator, first, checkpoint_path)
        second = folder_in(export_dir_base, "post")
        last = post_export_fn(made, second)
        if not last.startswith(second):
            raise ValueError(f"post_export_fn must return a sub-directory of {second}")
        final = os.path.join(export_dir_base, os.path.relpath(last, second))
        if files.file_exists(final):
            raise RuntimeError("Failed to obtain final export directory")
        files.rename(last, final)
        files.delete_recursively(first)
        if files.file_exists(second):
            files.delete_recursively(second)
        log.info("Exported to %s", final)
        return final

    return ExportStrategy(post_export_name or base_export_strategy.name, export_fn)
