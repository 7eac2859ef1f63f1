# SPDX-License-Identifier: Apache-2.0
"""Linear classifiers of features that stand for kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...engine.api import export
from ...engine.interface.log import warning
from ...ops.public import tf
from .kernel_methods import DenseKernelMapper
from .layers.columns.real_valued import _RealValuedColumn, real_valued_column
from .learn.estimators.canned_models import linear_model_fn
from .learn.estimators.constants import PredictionKey
from .learn.estimators.estimator import Estimator
from .learn.estimators.head import multi_class_head
from .learn.estimators.head_classes import BinaryLogisticHead, MultiClassHead

_Mappers = dict[Any, list[DenseKernelMapper]]


def _check_valid_kernel_mappers(kernel_mappers: _Mappers | None) -> bool:
    """Whether all mappers are such."""
    lists = (kernel_mappers or {}).values()
    return all(isinstance(mapper, DenseKernelMapper) for mappers in lists for mapper in mappers)


def _update_features_and_columns(
    features: dict[str, Any], feature_columns: Iterable[Any], kernel_mappers_dict: _Mappers | None
) -> tuple[dict[str, Any], Any]:
    """Features and columns, with those that mappers make."""
    if kernel_mappers_dict is None:
        return features, feature_columns
    mapped: dict[str, Any] = {}
    columns = set()
    for column, mappers in kernel_mappers_dict.items():
        if not isinstance(column, _RealValuedColumn):
            warning(
                "Updates are currently supported on RealValuedColumns only. Metadata for "
                "FeatureColumn %s will not be updated.",
                column.name,
            )
            continue
        name = f"{column.name}_MAPPED"
        columns.add(real_valued_column(name, sum(mapper.output_dim for mapper in mappers)))
        mapped[name] = tf.concat([mapper.map(features[column.name]) for mapper in mappers], 1)
    return {**features, **mapped}, {*feature_columns, *columns}


def _kernel_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> Any:
    """A linear model of columns and of what mappers make of some."""
    features, columns = _update_features_and_columns(
        features, params["feature_columns"], params["kernel_mappers"]
    )
    # TensorFlow's: who has the same dict sees the columns that were used.
    params["feature_columns"] = columns
    return linear_model_fn(features, labels, mode, params, config)


class _KernelEstimator(Estimator):
    """A linear model of columns and of what mappers make of some."""

    def __init__(
        self,
        feature_columns: Any = None,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        head: Any = None,
        optimizer: Any = None,
        kernel_mappers: _Mappers | None = None,
        config: Any = None,
    ) -> None:
        if not feature_columns and not kernel_mappers:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        if not _check_valid_kernel_mappers(kernel_mappers):
            raise ValueError("Invalid kernel mappers.")
        if not isinstance(head, (BinaryLogisticHead, MultiClassHead)):
            raise ValueError(
                f"head type: {type(head)} is not supported. Supported head types: "
                "_BinaryLogisticHead, _MultiClassHead."
            )
        params = {
            "head": head,
            "feature_columns": feature_columns or [],
            "optimizer": optimizer,
            "kernel_mappers": kernel_mappers,
        }
        super().__init__(_kernel_model_fn, model_dir, config, params)


@export("contrib.kernel_methods.KernelLinearClassifier")
class KernelLinearClassifier(_KernelEstimator):
    """A linear model of columns and of what mappers make of some, for classes.

    Args:
        feature_columns: columns of tf.contrib.layers.
        n_classes: how many classes there are.
        weight_column_name: the feature with examples' weights.
        optimizer: an Optimizer, a function that makes one, or a name; Ftrl if None.
        kernel_mappers: real-valued columns and lists of mappers, such as
            RandomFourierFeatureMapper.
        model_dir, config: as of Estimator.

    Raises:
        ValueError: there are neither columns nor mappers, or mappers that are none.
    """

    def __init__(
        self,
        feature_columns: Any = None,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        kernel_mappers: _Mappers | None = None,
        config: Any = None,
    ) -> None:
        head = multi_class_head(n_classes=n_classes, weight_column_name=weight_column_name)
        super().__init__(
            feature_columns=feature_columns,
            model_dir=model_dir,
            weight_column_name=weight_column_name,
            head=head,
            optimizer=optimizer,
            kernel_mappers=kernel_mappers,
            config=config,
        )

    def _one(self, key: str, input_fn: Callable[[], Any] | None) -> Iterator[Any]:
        found = self.predict(input_fn=input_fn, outputs=[key])
        return (one[key] for one in found)

    def predict_classes(self, input_fn: Callable[[], Any] | None = None) -> Iterator[Any]:
        """The likeliest class of each example."""
        return self._one(PredictionKey.CLASSES, input_fn)

    def predict_proba(self, input_fn: Callable[[], Any] | None = None) -> Iterator[Any]:
        """The probabilities of classes for each example."""
        return self._one(PredictionKey.PROBABILITIES, input_fn)
