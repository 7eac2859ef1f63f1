# SPDX-License-Identifier: Apache-2.0
"""What evaluations export: the last model, the latest ones or the best."""

from __future__ import annotations

import abc
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.interface import log
from ...io import files
from ...io.events import summary_iterator
from .util import fn_args

if TYPE_CHECKING:
    from .estimator import Estimator


@export("estimator.Exporter")
class Exporter(abc.ABC):
    """Exports a model after evaluations."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the folder below the model's `export`."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: dict[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports a checkpoint, or does not.

        Args:
            estimator: the Estimator.
            export_path: the folder to export to.
            checkpoint_path: the checkpoint.
            eval_result: its metrics.
            is_the_final_export: whether training has come to its end.

        Returns:
            The folder of what was exported, or None.
        """


class _SavedModelExporter(Exporter):
    """Exports every checkpoint; keeps so many exports, or all if None."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[..., Any] | None,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = None,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(
                f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}"
            )
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text
        self._exports_to_keep = exports_to_keep

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self._name

    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: dict[str, Any],
        is_the_final_export: bool,
    ) -> bytes:
        """Exports the checkpoint, and deletes old exports."""
        folder = estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )
        if self._exports_to_keep is not None:
            for old in _versions(export_path)[: -self._exports_to_keep]:
                files.delete_recursively(os.path.join(export_path, old))
        return folder


def _versions(folder: str) -> list[str]:
    """The exports in a folder, which are named by ten digits, oldest first."""
    if not files.is_directory(folder):
        return []
    names = (name.rstrip("/") for name in files.list_directory(folder))
    return sorted(name for name in names if len(name) == 10 and name.isdigit())


@export("estimator.FinalExporter")
class FinalExporter(_SavedModelExporter):
    """Exports once, when training has come to its end.

    Args:
        name: the name of the folder below the model's `export`.
        serving_input_receiver_fn, assets_extra, as_text: as of Estimator.export_saved_model.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[..., Any] | None,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: dict[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports the checkpoint if it is the last one."""
        if not is_the_final_export:
            return None
        log.info("Performing the final export in the end of training.")
        return super().export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )


@export("estimator.LatestExporter")
class LatestExporter(_SavedModelExporter):
    """Exports after every evaluation.

    Args:
        name: the name of the folder below the model's `export`.
        serving_input_receiver_fn, assets_extra, as_text: as of Estimator.export_saved_model.
        exports_to_keep: how many exports are kept; None keeps all.

    Raises:
        ValueError: exports_to_keep is not positive.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[..., Any] | None,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)


def _loss_smaller(
    best_eval_result: dict[str, Any] | None, current_eval_result: dict[str, Any] | None
) -> bool:
    for name, found in (
        ("best_eval_result", best_eval_result),
        ("current_eval_result", current_eval_result),
    ):
        if not found or "loss" not in found:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    assert best_eval_result is not None and current_eval_result is not None, "checked above"
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


def _check_compare_fn(compare_fn: object) -> None:
    if compare_fn is None:
        raise ValueError("`compare_fn` must not be None.")
    taken, wanted = set(fn_args(compare_fn)), {"best_eval_result", "current_eval_result"}
    for name in sorted(wanted - taken):
        raise ValueError(f"compare_fn ({compare_fn}) must include {name} argument.")
    if taken - wanted:
        raise ValueError(
            f"compare_fn ({compare_fn}) has following not expected args: {list(taken - wanted)}"
        )


@export("estimator.BestExporter")
class BestExporter(_SavedModelExporter):
    """Exports after evaluations that are the best so far.

    Args:
        name: the name of the folder below the model's `export`.
        serving_input_receiver_fn, assets_extra, as_text: as of Estimator.export_saved_model.
        event_file_pattern: the events, below the model's folder, that tell of earlier evaluations.
        compare_fn: called as compare_fn(best_eval_result, current_eval_result), two dicts of
            metrics; whether the current one is better.  A smaller loss is, by default.
        exports_to_keep: how many exports are kept; None keeps all.

    Raises:
        ValueError: compare_fn takes other arguments, or exports_to_keep is not positive.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[..., Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = _loss_smaller,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        _check_compare_fn(compare_fn)
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        self._compare_fn = compare_fn
        self._event_file_pattern = event_file_pattern
        self._model_dir: str | None = None
        self._best_eval_result: dict[str, Any] | None = None

    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: dict[str, Any],
        is_the_final_export: bool,
    ) -> Any:
        """Exports the checkpoint if it is the best so far."""
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            log.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            pattern = os.path.join(estimator.model_dir, self._event_file_pattern)
            self._best_eval_result = self._get_best_eval_result(pattern)
        best = self._best_eval_result
        if best is not None and not self._compare_fn(
            best_eval_result=best, current_eval_result=eval_result
        ):
            return None
        log.info("Performing best model export.")
        self._best_eval_result = eval_result
        return super().export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )

    def _get_best_eval_result(self, event_files: str | None) -> dict[str, Any] | None:
        best = None
        for _, found in evaluations_in(event_files or ""):
            if best is None or self._compare_fn(best_eval_result=best, current_eval_result=found):
                best = found
        return best


def evaluations_in(pattern: str) -> list[tuple[int, dict[str, Any]]]:
    """The steps and numbers of the summaries in files that a pattern finds."""
    result = []
    for file in files.get_matching_files(pattern) if pattern else ():
        for event in summary_iterator(file):
            values = event.summary.value
            found = {v.tag: v.simple_value for v in values if v.HasField("simple_value")}
            if found:
                result.append((event.step, found))
    return result
