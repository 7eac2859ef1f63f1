# SPDX-License-Identifier: Apache-2.0
"""Classes that the package tensorflow-estimator must have in common with this one.

In TensorFlow 1.15 `tf.estimator` is that package, and its classes are known by `isinstance`.  Here
it is this package's own, so that settings or a result of a model function that a program makes by
`tf.estimator` would be strangers there.  Where the package is imported, these names become those of
`tf.estimator`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_PACKAGE = __package__.rpartition(".")[0]
_BELOW = "tensorflow_estimator.python.estimator."
# Module of that package -> name there: where the class is here.
_SHARED: dict[str, dict[str, str]] = {
    "run_config": {
        "RunConfig": "train.estimator.run_config:RunConfig",
        "TaskType": "train.estimator.run_config:TaskType",
    },
    "model_fn": {"EstimatorSpec": "train.estimator.model_fn:EstimatorSpec"},
    "training": {
        "EvalSpec": "train.estimator.training:EvalSpec",
        "TrainSpec": "train.estimator.training:TrainSpec",
    },
    "exporter": {"Exporter": "train.estimator.exporter:Exporter"},
    "export.export_output": {
        name: f"train.estimator.export_output:{name}"
        for name in (
            "ClassificationOutput",
            "EvalOutput",
            "ExportOutput",
            "PredictOutput",
            "RegressionOutput",
            "TrainOutput",
        )
    },
}


class SharedClasses(MetaPathFinder):
    """Finds the modules of the table where others do, and puts the classes in once they ran."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of the table, or None."""
        if not fullname.startswith(_BELOW) or fullname.removeprefix(_BELOW) not in _SHARED:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                _share_after(spec.loader, _SHARED[fullname.removeprefix(_BELOW)])
                return spec
        return None


def _share_after(loader: Any, names: dict[str, str]) -> None:
    run = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        run(module)
        for name, home in names.items():
            place, _, attribute = home.partition(":")
            found = getattr(importlib.import_module(f"{_PACKAGE}.{place}"), attribute)
            setattr(module, name, found)

    loader.exec_module = exec_module
