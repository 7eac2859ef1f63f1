# SPDX-License-Identifier: Apache-2.0
"""How experiments export models."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from ....engine.api import export
from ...estimator.util import fn_args


@export("contrib.learn.ExportStrategy")
class ExportStrategy(
    collections.namedtuple("ExportStrategy", ["name", "export_fn", "strip_default_attrs"])
):
    """How a model is exported.

    Args:
        name: of the folder with the exported models.
        export_fn: a function of an estimator and a folder, and, as it takes them,
            checkpoint_path, eval_result and strip_default_attrs.
        strip_default_attrs: whether attributes with their defaults are left out.
    """

    def __new__(
        cls, name: str, export_fn: Callable[..., Any], strip_default_attrs: bool | None = None
    ) -> ExportStrategy:
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(
        self,
        estimator: object,
        export_path: str | bytes,
        checkpoint_path: str | None = None,
        eval_result: object = None,
    ) -> Any:
        """Exports.

        Args:
            estimator: an estimator.
            export_path: the folder.
            checkpoint_path: the checkpoint; the last one if None.
            eval_result: its evaluation.

        Returns:
            What the function gives: the model's folder.

        Raises:
            ValueError: the function takes the evaluation, and not the checkpoint.
        """
        taken = fn_args(self.export_fn)
        if "eval_result" in taken and "checkpoint_path" not in taken:
            raise ValueError("An export_fn accepting eval_result must also accept checkpoint_path.")
        offered = dict(
            checkpoint_path=checkpoint_path,
            eval_result=eval_result,
            strip_default_attrs=self.strip_default_attrs,
        )
        given = {name: value for name, value in offered.items() if name in taken}
        return self.export_fn(estimator, export_path, **given)
