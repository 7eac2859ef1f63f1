# SPDX-License-Identifier: Apache-2.0
"""State space models compute what TensorFlow 1.15.5 does; estimators train them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.alias.finder import resolve
from numbaflow.engine import settings

from .state_space_programs import PROGRAMS, SPACE

pytestmark = pytest.mark.programs
ts = tf.contrib.timeseries
RECORDED = json.loads((Path(__file__).parent / "recorded_state_spaces_1_15.json").read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_tensorflow(name: str) -> None:
    with settings.override(jit="never"):
        found, expected = PROGRAMS[name](tf, resolve), RECORDED[name]
    assert found["names"] == expected["names"]
    assert len(found["values"]) == len(expected["values"])
    for mine, value in zip(found["values"], expected["values"]):
        np.testing.assert_allclose(mine, value, rtol=1e-6, atol=1e-8)


@pytest.mark.cpu
def test_an_estimator_learns_a_series_and_goes_on_with_it(tmp_path: Path) -> None:
    times = np.arange(60)
    reader = ts.NumpyReader({"times": times, "values": 0.1 * times})
    estimator = ts.StructuralEnsembleRegressor(
        periodicities=6,
        num_features=1,
        cycle_num_latent_values=3,
        moving_average_order=1,
        model_dir=str(tmp_path),
        config=tf.estimator.RunConfig(tf_random_seed=1),
    )
    windows = ts.RandomWindowInputFn(reader, 20, batch_size=2, shuffle_seed=2, num_threads=1)
    estimator.train(windows, steps=3)
    evaluation = estimator.evaluate(ts.WholeDatasetInputFn(reader), steps=1)
    later = ts.predict_continuation_input_fn(evaluation, steps=3)
    predicted = next(estimator.predict(later, yield_single_examples=False))
    # (The series has a mean of 3: few steps suffice to go on from where it ends.)
    np.testing.assert_allclose(predicted["mean"][0, :, 0], [6.0, 6.1, 6.2], atol=1.0)
    assert predicted["covariance"].shape == (1, 3, 1, 1)
    assert (predicted["covariance"] > 0).all()


def test_what_does_not_fit_is_refused() -> None:
    models = f"{SPACE}.state_space_models"
    state_space_model = resolve(f"{models}.state_space_model")
    configuration = state_space_model.StateSpaceModelConfiguration
    with pytest.raises(ValueError, match="Only odd numbers of latent values"):
        resolve(f"{models}.periodic").ResolutionCycleModel(4, 8)
    adder = resolve(f"{models}.level_trend").AdderStateSpaceModel()
    ensemble = state_space_model.StateSpaceCorrelatedFeaturesEnsemble
    with pytest.raises(ValueError, match="must equal the number of features"):
        ensemble([adder], configuration(num_features=2))
    of_two = resolve(f"{models}.varma").VARMA(1, 0, configuration(num_features=2))
    with pytest.raises(ValueError, match="components must be univariate"):
        ensemble([of_two], configuration())
    with pytest.raises(ValueError, match="Received length 2"):
        ts.StructuralEnsembleRegressor([3, 4, 5], 1, cycle_num_latent_values=[3, 5])
    estimators = resolve(f"{SPACE}.estimators")
    with pytest.raises(ValueError, match="only supports state space models"):
        estimators.StateSpaceRegressor(object())
