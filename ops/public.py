# SPDX-License-Identifier: Apache-2.0
"""Late access to public functions and raw ops, so that op families may use each other freely.

`tf.reduce_sum` is looked up in the table of public names when it is called, `raw.Prod` in the op
table; a family imports neither at import time and no import cycle can arise.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..engine import api
from ..engine.graph import registry
from ..engine.graph.build import OpFunction

_AXIS = {"reduction_indices": "axis"}
# Op type -> its arguments that TensorFlow's functions call differently.
_RENAMED = {
    **dict.fromkeys(("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"), _AXIS),
    "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
}


def _missing(op_type: str) -> str:
    from ..engine.interface import missing

    text = f"no op type {op_type!r}"
    if op_type.startswith("_"):
        return text
    if missing.is_known(f"raw_ops.{op_type}"):
        return f"{text}: tf.raw_ops.{op_type} {missing.NOT_YET}"
    return text + missing.suggestion(op_type, sorted(registry.known_types()))


class _Public:
    """Attribute access to the published functions of the top level."""

    def __getattr__(self, name: str) -> Any:
        try:
            return api.NAMES[name]
        except KeyError:
            raise AttributeError(f"no public name {name!r}") from None


class _Raw(ModuleType):
    """Attribute access to one function per op type, as TensorFlow's generated wrappers."""

    def __init__(self) -> None:
        super().__init__(f"{__name__.partition('.')[0]}.raw_ops")

    def __getattr__(self, op_type: str) -> Callable[..., Any]:
        definition = registry.find(op_type)
        if definition is None:
            raise AttributeError(_missing(op_type))
        function = OpFunction(op_type, definition.doc, renamed=_RENAMED.get(op_type))
        function.publish(__name__.partition(".")[0], f"raw_ops.{op_type}")
        setattr(self, op_type, function)
        return function

    def __dir__(self) -> list[str]:
        """The op types that TensorFlow has functions of, whether or not they were asked for."""
        from ..engine.interface import missing

        return [name for name in registry.known_types() if missing.is_known(f"raw_ops.{name}")]

    def __reduce__(self) -> str:
        return "raw"  # There is one, and its functions are pickled by name.


if TYPE_CHECKING:
    # For type checkers and editors: modules that say where every name is defined and what every
    # op takes; docs/stubs.py writes them.
    from . import public_names as tf
    from . import raw_ops as raw
else:
    tf = _Public()
    raw = _Raw()
api.constant("raw_ops", raw)
api.lazy("ops.flow.gradient_tape:GradientTape", "GradientTape")
for _module, _names in {
    "distribution": (
        "Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED ReparameterizationType"
    ),
    "divergence": "RegisterKL kl_divergence",
    "location_scale": "Laplace Normal StudentT Uniform",
    "positive_support": "Beta Dirichlet Exponential Gamma",
    "discrete": "Bernoulli Categorical DirichletMultinomial Multinomial",
}.items():
    for _name in _names.split():
        api.lazy(f"ops.distributions.{_module}:{_name}", f"distributions.{_name}")

# Module of `metrics` -> its names in `tf.metrics`.
_METRICS = {
    "at_k": (
        "average_precision_at_k precision_at_k precision_at_top_k recall_at_k recall_at_top_k "
        "sparse_average_precision_at_k sparse_precision_at_k"
    ),
    "classes": "mean_iou mean_per_class_accuracy",
    "counts": "false_negatives false_positives precision recall true_negatives true_positives",
    "auc": "auc sensitivity_at_specificity specificity_at_sensitivity",
    "means": (
        "accuracy mean mean_absolute_error mean_cosine_distance mean_relative_error "
        "mean_squared_error mean_tensor percentage_below root_mean_squared_error"
    ),
    "thresholds": (
        "false_negatives_at_thresholds false_positives_at_thresholds precision_at_thresholds "
        "recall_at_thresholds true_negatives_at_thresholds true_positives_at_thresholds"
    ),
}
for _module, _names in _METRICS.items():
    for _name in _names.split():
        api.lazy(f"ops.metrics.{_module}:{_name}", f"metrics.{_name}")
