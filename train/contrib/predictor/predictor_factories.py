# SPDX-License-Identifier: Apache-2.0
"""Predictors of saved models and of estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ...estimator.estimator import Estimator
from .core_estimator_predictor import CoreEstimatorPredictor
from .saved_model_predictor import SavedModelPredictor

if TYPE_CHECKING:
    from ....engine.graph.graph import Graph
    from ....io.protos import ConfigProto, SignatureDef
    from .predictor import Predictor


@export("contrib.predictor.from_saved_model")
def from_saved_model(
    export_dir: str,
    signature_def_key: str | None = None,
    signature_def: SignatureDef | None = None,
    input_names: dict[str, str] | None = None,
    output_names: dict[str, str] | None = None,
    tags: str | None = None,
    graph: Graph | None = None,
    config: ConfigProto | None = None,
) -> Predictor:
    """A SavedModel as a function from a dictionary of arrays to a dictionary of arrays.

    Args:
        export_dir: its folder.
        signature_def_key: the name of the signature, "serving_default" if None.
        signature_def: a SignatureDef instead.
        input_names, output_names: names of tensors by keys, instead of a signature.
        tags: which of its graphs, with commas between tags; "serve" if None.
        graph: the graph to load it into; a new one if None.
        config: of the session.

    Returns:
        A predictor: called with inputs by name it gives the results by name.

    Raises:
        ValueError: there is no such signature, or more than one is given.
        RuntimeError: there is no graph with these tags.

    Example:
        >>> x = tf.placeholder(tf.float32, [], name="x")
        >>> with tf.Session() as sess:
        ...     tf.saved_model.simple_save(sess, "./doubled", {"x": x}, {"y": 2 * x})
        >>> predict = tf.contrib.predictor.from_saved_model("./doubled")
        >>> predict({"x": 4.0})
        {'y': np.float32(8.0)}
    """
    return SavedModelPredictor(
        *(export_dir, signature_def_key, signature_def, input_names, output_names),
        *(tags, graph, config),
    )


@export("contrib.predictor.from_estimator")
def from_estimator(
    estimator: Estimator,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: Graph | None = None,
    config: ConfigProto | None = None,
) -> Predictor:
    """An estimator as a function, with the variables of its last checkpoint.

    Args:
        estimator: a tf.estimator.Estimator.
        serving_input_receiver_fn: a function that makes a ServingInputReceiver.
        output_key: which of the model's export outputs, "serving_default" if None.
        graph: the graph to build it in; a new one if None.
        config: of the session.

    Returns:
        A predictor.

    Raises:
        TypeError: the estimator is one of tf.contrib.learn.
        KeyError: there is no such output.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            "Expected estimator to be of type tf.python.estimator.Estimator, but got type "
            "tf.contrib.learn.Estimator. You likely want to call from_contrib_estimator."
        )
    return CoreEstimatorPredictor(estimator, serving_input_receiver_fn, output_key, graph, config)


@export("contrib.predictor.from_contrib_estimator")
def from_contrib_estimator(
    estimator: object,
    prediction_input_fn: Callable[[], Any],
    input_alternative_key: str | None = None,
    output_alternative_key: str | None = None,
    graph: Graph | None = None,
    config: ConfigProto | None = None,
) -> Predictor:
    """An estimator of tf.contrib.learn as a function.

    Raises:
        TypeError: the estimator is one of tf.estimator.
        NotImplementedError: it is none.
    """
    if isinstance(estimator, Estimator):
        raise TypeError(
            "Expected estimator to be of type tf.contrib.learn.Estimator, but got type "
            "tf.python.estimator.Estimator. You likely want to call from_estimator."
        )
    raise NotImplementedError(
        "tf.contrib.predictor.from_contrib_estimator: predictors of tf.contrib.learn estimators "
        "are not here; export the model and call tf.contrib.predictor.from_saved_model"
    )
