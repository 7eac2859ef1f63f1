# SPDX-License-Identifier: Apache-2.0
"""Models of time series with given variables.

TensorFlow 1.15.5 wrote recorded_1_15.json: `python programs.py recorded_1_15.json` where it is.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

TIMES = np.arange(24)[None, :] + np.array([[3], [5]])
VALUES = np.sin(TIMES * 0.7)[..., None] + np.array([0.5, -0.25])
SPACE = "tensorflow.contrib.timeseries.python.timeseries"
MODES = ("eval", "train")


def results(tf: Any, module: Callable[[str], Any]) -> dict[str, Any]:
    """Names of variables, and values, by program; `module` finds modules by name."""
    return {name: program(tf, module) for name, program in PROGRAMS.items()}


def fill(session: Any, tf: Any) -> list[str]:
    """Gives all variables values by their shapes; their names."""
    variables = sorted(tf.global_variables(), key=lambda v: v.op.name)
    session.run(tf.local_variables_initializer())
    session.run(tf.global_variables_initializer())
    for i, variable in enumerate(variables):
        if variable.dtype.base_dtype.is_floating:
            size = variable.shape.num_elements()
            values = np.sin(np.arange(size) + i).reshape(variable.shape.as_list()) * 0.1
            variable.load(values, session)
    return [variable.op.name for variable in variables]


def autoregressive(tf: Any, module: Callable[[str], Any], name: str, **settings: Any) -> Any:
    ar = module(f"{SPACE}.ar_model")
    shared: dict[str, Any] = {"input_window_size": 6, "output_window_size": 3, "num_features": 2}
    made = getattr(ar, name)(**{**shared, **settings})
    with tf.Graph().as_default(), tf.Session() as session:
        made.initialize_graph()
        features = {"times": tf.constant(TIMES), "values": tf.constant(VALUES, tf.float32)}
        with tf.variable_scope("model", use_resource=True):
            outputs = made.define_loss(dict(features), "eval")
        later = tf.constant(TIMES[:, -1:] + 1 + np.arange(7))
        with tf.variable_scope("model", reuse=True):
            predicted = made.predict({"times": later, "start_tuple": outputs.end_state})
        names = fill(session, tf)
        tensors = [outputs.loss, outputs.predictions["mean"], outputs.predictions["covariance"]]
        tensors += [outputs.prediction_times, predicted["mean"], predicted["covariance"]]
        values = session.run(tensors)
        return {"names": names, "values": [np.asarray(value).tolist() for value in values]}


def sequential(tf: Any, module: Callable[[str], Any]) -> Any:
    """A level that follows the values, by a weight that is learned."""
    model = module(f"{SPACE}.model")
    managers = module(f"{SPACE}.state_management")
    statistics = module(f"{SPACE}.math_utils").InputStatisticsFromMiniBatch(2, tf.float32)

    class Level(model.SequentialTimeSeriesModel):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(["mean"], ["mean"], 2, normalize_features=True)

        def initialize_graph(self, input_statistics: Any = None) -> None:
            super().initialize_graph(input_statistics=input_statistics)
            with tf.variable_scope("", use_resource=True):
                self.weight = tf.get_variable("weight", [])

        def get_start_state(self) -> Any:
            return tf.zeros([], tf.int64), tf.zeros([2])

        def _filtering_step(self, times: Any, values: Any, state: Any, predictions: Any) -> Any:
            level = state[1] + self.weight * (values - state[1])
            loss = tf.reduce_sum((predictions["mean"] - values) ** 2, axis=-1)
            return (times, level), {"loss": loss, "mean": predictions["mean"]}

        def _prediction_step(self, times: Any, state: Any) -> Any:
            return (times, state[1] * 0.9), {"mean": state[1] * 0.9}

        def _imputation_step(self, current_times: Any, state: Any) -> Any:
            return state

        def _exogenous_input_step(self, times: Any, regressors: Any, state: Any) -> Any:
            return state

        def _scale_back_predictions(self, predictions: Any) -> Any:
            return {**predictions, "mean": self._scale_back_data(predictions["mean"])}

    # The base class calls its methods with TensorFlow's names of arguments.
    names = ("current_times", "current_values", "state", "predictions")
    step, predict = Level._filtering_step, Level._prediction_step
    Level._filtering_step = lambda self, **given: step(self, *[given[n] for n in names])
    Level._prediction_step = lambda self, **given: predict(self, *[given[n] for n in names[::2]])
    with tf.Graph().as_default(), tf.Session() as session:
        features = {"times": tf.constant(TIMES), "values": tf.constant(VALUES, tf.float32)}
        found = statistics.initialize_graph(features)
        made = Level()
        made.initialize_graph(input_statistics=found)
        manager = managers.FilteringOnlyStateManager()
        manager.initialize_graph(made)
        outputs = manager.define_loss(made, dict(features), "train")
        gradient = tf.gradients(outputs.loss, made.weight)[0]
        later = tf.constant(TIMES[:, -1:] + 1 + np.arange(3))
        predicted = made.predict({"times": later, "start_tuple": outputs.end_state})
        session.run(tf.global_variables_initializer())
        made.weight.load(0.3, session)
        tensors = [outputs.loss, gradient, outputs.predictions["mean"], predicted["mean"], *found]
        values = tf.contrib.framework.nest.flatten(session.run(tensors))
        names_ = sorted(variable.op.name for variable in tf.global_variables())
        return {"names": names_, "values": [np.asarray(value).tolist() for value in values]}


PROGRAMS: dict[str, Callable[..., Any]] = {
    "dense layers": lambda tf, module: autoregressive(
        *(tf, module, "ARModel"),
        periodicities=[9, 4],
        prediction_model_factory=lambda **given: module(f"{SPACE}.ar_model").FlatPredictionModel(
            **given, hidden_layer_sizes=[4, 3]
        ),
    ),
    "squares, by time alone": lambda tf, module: autoregressive(
        *(tf, module, "ARModel"),
        periodicities=9,
        input_window_size=0,
        output_window_size=8,
        loss="squared_loss",
        num_time_buckets=3,
    ),
    "anomalies": lambda tf, module: autoregressive(
        *(tf, module, "AnomalyMixtureARModel"),
        periodicities=None,
        anomaly_prior_probability=0.1,
        anomaly_distribution="cauchy",
    ),
    "LSTM": lambda tf, module: autoregressive(
        *(tf, module, "ARModel"),
        periodicities=5,
        prediction_model_factory=lambda **given: module(f"{SPACE}.ar_model").LSTMPredictionModel(
            **given, num_units=3
        ),
    ),
    "a level": sequential,
}


if __name__ == "__main__":
    import tensorflow

    with open(sys.argv[1], "w") as file:
        found = results(tensorflow, importlib.import_module)
        lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
