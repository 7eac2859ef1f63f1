# SPDX-License-Identifier: Apache-2.0
"""Exports of estimators as before SavedModels: tensorflow.contrib.session_bundle's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .....engine.graph.collections import GraphKeys
from .....engine.interface import log
from .....engine.types import dtypes
from .....ops.public import tf
from ....checkpoints.checkpoint_management import latest_checkpoint
from ....checkpoints.saver import Saver
from ....variables.global_step import create_global_step, get_global_step
from ...session_bundle import exporter
from ...structures import Structure
from . import gc

if TYPE_CHECKING:
    from .....engine.graph.graph import Graph

# Makes the default signature, and others by name, of examples, features and predictions.
_SignatureFn = Callable[[Any, Any, Any], tuple[Any, dict[str, Any]]]


def _get_saver() -> Any:
    """The graph's saver; one of all variables, if there is none and they are some."""
    savers = tf.get_collection(GraphKeys.SAVERS)
    if not savers and tf.global_variables():
        savers = [Saver()]
        tf.add_to_collection(GraphKeys.SAVERS, savers[0])
    return savers[0] if savers else None


def _export_graph(
    graph: Graph,
    saver: Saver,
    checkpoint_path: str,
    export_dir: str,
    default_graph_signature: Any,
    named_graph_signatures: dict[str, Any],
    exports_to_keep: Any,
) -> bytes:
    """Exports a graph with the variables of a checkpoint."""
    with graph.as_default(), tf.Session() as session:
        saver.restore(session, checkpoint_path)
        export = exporter.Exporter(saver)
        export.init(
            init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer()),
            default_graph_signature=default_graph_signature,
            named_graph_signatures=named_graph_signatures,
            assets_collection=tf.get_collection(GraphKeys.ASSET_FILEPATHS),
        )
        step = get_global_step()
        return export.export(export_dir, step, session, exports_to_keep=exports_to_keep)


def _require_examples(examples: Structure) -> None:
    if examples is None:
        raise ValueError("examples cannot be None when using this signature fn.")


def generic_signature_fn(
    examples: Structure, unused_features: Structure, predictions: Structure
) -> tuple[Any, dict[str, Any]]:
    """The signature that names examples "inputs", and predictions as they are named."""
    _require_examples(examples)
    named = predictions if isinstance(predictions, dict) else {"outputs": predictions}
    return exporter.generic_signature({"inputs": examples, **named}), {}


def classification_signature_fn(
    examples: Structure, unused_features: Structure, predictions: Structure
) -> tuple[Any, dict[str, Any]]:
    """The signature of a classifier that predicts "classes"."""
    _require_examples(examples)
    classes = predictions["classes"] if isinstance(predictions, dict) else predictions
    return exporter.classification_signature(examples, classes_tensor=classes), {}


def classification_signature_fn_with_prob(
    examples: Structure, unused_features: Structure, predictions: Structure
) -> tuple[Any, dict[str, Any]]:
    """The signature of a classifier that predicts "probabilities"."""
    _require_examples(examples)
    scores = predictions["probabilities"] if isinstance(predictions, dict) else predictions
    return exporter.classification_signature(examples, scores_tensor=scores), {}


def regression_signature_fn(
    examples: Structure, unused_features: Structure, predictions: Structure
) -> tuple[Any, dict[str, Any]]:
    """The signature of what predicts one number."""
    _require_examples(examples)
    return exporter.regression_signature(input_tensor=examples, output_tensor=predictions), {}


def logistic_regression_signature_fn(
    examples: Structure, unused_features: Structure, predictions: Structure
) -> tuple[Any, dict[str, Any]]:
    """The signature of what predicts the probability of the second of two classes."""
    _require_examples(examples)
    found = predictions["probabilities"] if isinstance(predictions, dict) else predictions
    rank = len(found.shape)
    if rank != 2:
        log.fatal(
            "Expected predictions to have rank 2, but received predictions with rank: %s and "
            "shape: %s",
            *(rank, found.shape),
        )
    if found.shape[1] != 2:
        log.fatal(
            "Expected predictions to have 2nd dimension: 2, but received predictions with 2nd "
            "dimension: %s and shape: %s. Did you mean to use regression_signature_fn or "
            "classification_signature_fn_with_prob instead?",
            *(found.shape[1], found.shape),
        )
    positive = found[:, 1]
    return exporter.regression_signature(input_tensor=examples, output_tensor=positive), {}


def _default_input_fn(estimator: Any, examples: Structure) -> Any:
    """Features of serialized examples, as training had them."""
    return estimator._get_feature_ops_from_example(examples)


def export_estimator(
    estimator: Any,
    export_dir: str,
    signature_fn: _SignatureFn | None = None,
    input_fn: Callable[[Any, Any], Any] = _default_input_fn,
    default_batch_size: int | None = 1,
    exports_to_keep: int | None = None,
) -> None:
    """Exports an estimator's last checkpoint.

    Args:
        estimator: of tf.contrib.learn.
        export_dir: the folder in which the export's is made, named by the step.
        signature_fn: makes the default signature, and others by name, of examples, features and
            predictions; `generic_signature_fn` if None.
        input_fn: makes features of the estimator and of examples.
        default_batch_size: how many examples are read; any number if None.
        exports_to_keep: how many exports stay; all do if None.
    """
    _export_estimator(
        estimator, export_dir, signature_fn, input_fn, default_batch_size, exports_to_keep
    )


def _inputs(
    estimator: Any, input_fn: Any, batch_size: int | None, key: str | None, is_old: bool
) -> tuple[Any, Any]:
    """The features that a graph reads, and the examples that they come from."""
    if is_old:
        examples: Structure = tf.placeholder(
            dtypes.string, [batch_size], name="input_example_tensor"
        )
        features = (input_fn or _default_input_fn)(estimator, examples)
    else:
        features, _ = input_fn()
        examples = None if key is None else features.pop(key)
    if not features and examples is None:
        raise ValueError("Either features or examples must be defined.")
    return features, examples


def _export_estimator(
    estimator: Any,
    export_dir: str,
    signature_fn: _SignatureFn | None,
    input_fn: Any,
    default_batch_size: int | None,
    exports_to_keep: int | None,
    input_feature_key: str | None = None,
    use_deprecated_input_fn: bool = True,
    prediction_key: str | None = None,
    checkpoint_path: str | None = None,
) -> bytes:
    """Exports an estimator; arguments as of its method `export`."""
    if not use_deprecated_input_fn and input_fn is None:
        raise ValueError("input_fn must be defined.")
    checkpoint_path = checkpoint_path or latest_checkpoint(estimator._model_dir)
    with tf.Graph().as_default() as graph:
        create_global_step(graph)
        features, examples = _inputs(
            *(estimator, input_fn, default_batch_size, input_feature_key),
            is_old=use_deprecated_input_fn,
        )
        predictions = estimator._get_predict_ops(features).predictions
        if prediction_key is not None:
            predictions = predictions[prediction_key]
        if signature_fn is None:
            own = getattr(estimator, "_create_signature_fn", None)
            signature_fn = own() if own else generic_signature_fn
        default, named = signature_fn(examples, features, predictions)
        keep = None if exports_to_keep is None else gc.largest_export_versions(exports_to_keep)
        return _export_graph(
            graph,
            _get_saver(),
            checkpoint_path or estimator._require_checkpoint(),
            export_dir,
            default_graph_signature=default,
            named_graph_signatures=named,
            exports_to_keep=keep,
        )
