# SPDX-License-Identifier: Apache-2.0
"""What `tf.contrib.slim` shares with `tf.contrib.layers` and `tf.contrib.framework`, by name."""

from __future__ import annotations

import importlib
import sys
from typing import Any

_PACKAGE = __name__.partition(".train.")[0]
_SHARED = ("contrib.layers", "contrib.framework")
# Modules that have what is not public in either.
_INNER = {
    "train.contrib.framework.arg_scope": "arg_scope_func_key",
    "train.contrib.framework.experimental": "experimental",
    "train.contrib.layers.bucketization_op": "bucketize",
    "train.contrib.layers.embedding_ops": (
        "embedding_lookup_sparse_with_distributed_aggregation scattered_embedding_lookup "
        "scattered_embedding_lookup_sparse"
    ),
    "train.contrib.layers.feature_column": "DataFrameColumn InputLayer",
    "train.contrib.layers.optimizers": "adaptive_clipping_fn",
    "train.contrib.layers.pooling": "pool",
    "train.contrib.layers.sparse_feature_cross_op": "sparse_feature_cross",
    "train.contrib.layers.target_column": (
        "ProblemType binary_svm_target get_default_binary_metrics_for_eval"
    ),
}
_MODULES = {name: module for module, names in _INNER.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(importlib.import_module(f"{_PACKAGE}.{_MODULES[name]}"), name)
    for shared in _SHARED:
        # Namespaces are made when the package is imported.
        found = getattr(sys.modules[f"{_PACKAGE}.{shared}"], name, None)
        if found is not None:
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
