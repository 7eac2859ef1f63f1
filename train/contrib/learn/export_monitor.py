# SPDX-License-Identifier: Apache-2.0
"""A monitor that exports the model while it is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.interface import log
from ...checkpoints.checkpoint_management import latest_checkpoint
from ...estimator.estimator import Estimator as CoreEstimator
from .monitor_base import EveryN

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession


@export("contrib.learn.monitors.ExportMonitor")
class ExportMonitor(EveryN):
    """Exports the last checkpoint every some steps and at the end (tf.contrib.learn.monitors).

    Args:
        every_n_steps: between exports.
        export_dir: the folder in which the exports' are made, named by the step.
        input_fn: gives features and labels; features are read from examples if None.
        input_feature_key: which of these features are the examples.
        exports_to_keep: how many exports stay.
        signature_fn: makes signatures, as of `Estimator.export`.
        default_batch_size: how many examples are read.
    """

    def __init__(
        self,
        every_n_steps: int,
        export_dir: str,
        input_fn: Callable[[], Any] | None = None,
        input_feature_key: str | None = None,
        exports_to_keep: int | None = 5,
        signature_fn: Callable[..., Any] | None = None,
        default_batch_size: int | None = 1,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._export_dir = export_dir
        self._input_fn = input_fn
        self._input_feature_key = input_feature_key
        self._exports_to_keep = exports_to_keep
        self._signature_fn = signature_fn
        self._default_batch_size = default_batch_size
        self._last_export_dir: bytes | None = None

    @property
    def export_dir(self) -> str:
        """The folder in which the exports' are made."""
        return self._export_dir

    @property
    def exports_to_keep(self) -> int | None:
        """How many exports stay."""
        return self._exports_to_keep

    @property
    def signature_fn(self) -> Callable[..., Any] | None:
        """What makes signatures."""
        return self._signature_fn

    @property
    def last_export_dir(self) -> bytes | None:
        """The folder of the last export; None before the first."""
        return self._last_export_dir

    def _export(self, skipping: str) -> None:
        if isinstance(self._estimator, CoreEstimator):
            raise ValueError(
                "ExportMonitor does not support `tf.estimator.Estimator. `. Please pass an "
                "ExportStrategy to Experiment instead."
            )
        estimator: Any = self._estimator
        try:
            self._last_export_dir = estimator.export(
                self._export_dir,
                exports_to_keep=self._exports_to_keep,
                signature_fn=self._signature_fn,
                input_fn=self._input_fn,
                default_batch_size=self._default_batch_size,
                input_feature_key=self._input_feature_key,
                use_deprecated_input_fn=self._input_fn is None,
            )
        except RuntimeError:  # There is an export of this step.
            log.info(skipping)

    def every_n_step_end(self, step: int, outputs: dict[Any, Any]) -> None:
        """Exports the last checkpoint."""
        super().every_n_step_end(step, outputs)
        self._export(
            "Skipping exporting because the existing checkpoint has already been exported. "
            "Consider exporting less frequently."
        )

    def end(self, session: BaseSession | None = None) -> None:
        """Exports the last checkpoint, if there is one."""
        super().end(session=session)
        if latest_checkpoint(self._estimator.model_dir) is None:
            log.info("Skipping export at the end since model has not been saved yet.")
            return
        self._export("Skipping exporting for the same step.")
