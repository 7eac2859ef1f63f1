# SPDX-License-Identifier: Apache-2.0
"""State space models with given variables.

TensorFlow 1.15.5 wrote recorded_state_spaces_1_15.json where it is:
`python state_space_programs.py recorded_state_spaces_1_15.json`.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

# With gaps, and two series that begin at other times.
TIMES = np.array([[3, 4, 5, 8, 9, 10, 14, 15], [5, 6, 8, 9, 10, 11, 12, 30]])
VALUES = np.sin(TIMES * 0.7)[..., None] + np.array([0.5, -0.25])
SPACE = "tensorflow.contrib.timeseries.python.timeseries"
MODELS = f"{SPACE}.state_space_models"


def _filled(tf: Any, session: Any) -> list[str]:
    """Gives all variables values by their numbers in the order of their names; their names."""
    session.run(tf.global_variables_initializer())
    variables = sorted(tf.global_variables(), key=lambda v: v.op.name)
    for i, variable in enumerate(variables):
        if variable.dtype.base_dtype.is_floating and "statistics" not in variable.op.name:
            size = variable.shape.num_elements()
            values = np.sin(np.arange(size) + i).reshape(variable.shape.as_list()) * 0.1
            variable.load(values, session)
    return [variable.op.name for variable in variables]


def _ran(
    tf: Any, module: Callable[[str], Any], make: Callable[..., Any], size: int, **more: Any
) -> Any:
    """The losses, gradients and predictions of a model that `make` makes of a configuration."""
    configuration = module(f"{MODELS}.state_space_model").StateSpaceModelConfiguration
    managers = module(f"{SPACE}.state_management")
    statistics = module(f"{SPACE}.math_utils").InputStatisticsFromMiniBatch(size, tf.float64)
    with tf.Graph().as_default(), tf.Session() as session:
        features = {"times": tf.constant(TIMES), "values": tf.constant(VALUES[..., :size])}
        features.update(more.pop("features", lambda tf: {})(tf))
        later = more.pop("later", lambda tf: {})(tf)
        made = make(module, configuration(num_features=size, dtype=tf.float64, **more))
        found = statistics.initialize_graph({k: features[k] for k in ("times", "values")})
        made.initialize_graph(input_statistics=found)
        manager = managers.FilteringOnlyStateManager()
        manager.initialize_graph(made)
        with tf.variable_scope("model"):
            trained = manager.define_loss(made, dict(features), "train")
        with tf.variable_scope("model", reuse=True):
            evaluated = manager.define_loss(made, dict(features), "eval")
            times = tf.constant(TIMES[:, -1:] + np.array([1, 3, 4]))
            given = {"times": times, "start_tuple": evaluated.end_state, **later}
            predicted = made.predict(given)
        learned = sorted(tf.trainable_variables(), key=lambda v: v.op.name)
        gradients = [g for g in tf.gradients(trained.loss, learned) if g is not None]
        names = _filled(tf, session)
        tensors = [trained.loss, evaluated.loss, *gradients]
        tensors += [evaluated.predictions["mean"], evaluated.predictions["covariance"]]
        tensors += [predicted["mean"], predicted["covariance"]]
        if "anomaly_score" in evaluated.predictions:
            tensors.append(evaluated.predictions["anomaly_score"])
        values = session.run(tensors)
        drawn = {}
        if size == 1:
            drawn = made.generate(2, 5, made.random_model_parameters(seed=3), seed=4)
        values += [drawn[name] for name in sorted(drawn)]
        return {"names": names, "values": [np.asarray(value).tolist() for value in values]}


def _adder(module: Callable[[str], Any], configuration: Any) -> Any:
    return module(f"{MODELS}.level_trend").AdderStateSpaceModel(configuration=configuration)


def _varma(module: Callable[[str], Any], configuration: Any) -> Any:
    return module(f"{MODELS}.varma").VARMA(2, 3, configuration=configuration)


def _cycles(module: Callable[[str], Any], configuration: Any) -> Any:
    return module(f"{MODELS}.structural_ensemble").StructuralEnsemble(
        periodicities=[3, 4],
        moving_average_order=1,
        autoregressive_order=2,
        configuration=configuration,
    )


def _resolutions(module: Callable[[str], Any], configuration: Any) -> Any:
    return module(f"{MODELS}.structural_ensemble").MultiResolutionStructuralEnsemble(
        cycle_num_latent_values=[5, 3],
        periodicities=[9, 2.5],
        moving_average_order=2,
        autoregressive_order=0,
        configuration=configuration,
    )


def _known(tf: Any, module: Callable[[str], Any]) -> Any:
    """What is known of times changes the state, and anomalies do not."""
    detector = module(f"{MODELS}.filtering_postprocessor").StateInterpolatingAnomalyDetector()
    return _ran(
        *(tf, module, _adder, 1),
        filtering_postprocessor=detector,
        exogenous_feature_columns=[tf.feature_column.numeric_column("known")],
        exogenous_noise_decreases=True,
        exogenous_update_condition=lambda times, features: tf.equal(times % 2, 0),
        trainable_start_state=True,
        bayesian_prior_weighting=False,
        features=lambda tf: {"known": tf.constant(np.cos(TIMES)[..., None])},
        later=lambda tf: {"known": tf.constant(np.ones([2, 3, 1]))},
    )


PROGRAMS: dict[str, Callable[..., Any]] = {
    "level and trend": lambda tf, module: _ran(tf, module, _adder, 1),
    "vectors": lambda tf, module: _ran(tf, module, _varma, 2),
    "cycles": lambda tf, module: _ran(tf, module, _cycles, 2),
    "cycles of other lengths": lambda tf, module: _ran(tf, module, _resolutions, 1),
    "loops that are unrolled": lambda tf, module: _ran(
        *(tf, module, _adder, 1), static_unrolling_window_size_threshold=20
    ),
    "known": _known,
}


if __name__ == "__main__":
    import tensorflow

    with open(sys.argv[1], "w") as file:
        lines = [
            f"{json.dumps(name)}: {json.dumps(program(tensorflow, importlib.import_module))}"
            for name, program in PROGRAMS.items()
        ]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")
