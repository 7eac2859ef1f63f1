# SPDX-License-Identifier: Apache-2.0
"""Models of time series compute what TensorFlow 1.15.5 does; estimators train and serve them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.alias.finder import resolve

from .programs import PROGRAMS

pytestmark = pytest.mark.cpu
ts = tf.contrib.timeseries
RECORDED = json.loads((Path(__file__).parent / "recorded_1_15.json").read_text())
TIMES = np.arange(80)
SERIES = {"times": TIMES, "values": np.sin(TIMES * np.pi / 5)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_tensorflow(name: str) -> None:
    found, expected = PROGRAMS[name](tf, resolve), RECORDED[name]
    assert found["names"] == expected["names"]
    assert len(found["values"]) == len(expected["values"])
    for mine, value in zip(found["values"], expected["values"]):
        np.testing.assert_allclose(mine, value, rtol=1e-4, atol=1e-5)


def test_a_regressor_learns_predicts_and_is_served(tmp_path: Path) -> None:
    reader = ts.NumpyReader(SERIES)
    config = tf.estimator.RunConfig(tf_random_seed=1)
    regressor = ts.ARRegressor(10, 10, 5, num_features=1, loss="squared_loss", config=config)
    windows = ts.RandomWindowInputFn(reader, 15, batch_size=8, shuffle_seed=2, num_threads=1)
    regressor.train(windows, steps=40)
    evaluation = regressor.evaluate(ts.WholeDatasetInputFn(reader), steps=1)
    assert evaluation["loss"] < 0.05
    assert evaluation["times"].shape == (1, 70) and evaluation["mean"].shape == (1, 70, 1)
    input_fn = ts.predict_continuation_input_fn(evaluation, steps=10)
    predicted = next(regressor.predict(input_fn, yield_single_examples=False))
    np.testing.assert_array_equal(predicted["times"], [np.arange(80, 90)])
    folder = regressor.export_saved_model(
        str(tmp_path), regressor.build_raw_serving_input_receiver_fn()
    )
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.loader.load(session, ["serve"], folder.decode())
        utils = ts.saved_model_utils
        state = utils.cold_start_filter(signatures, session, SERIES)
        served = utils.predict_continuation(state, signatures, session, steps=10)
        more = utils.filter_continuation(
            state, signatures, session, {"times": 80 + TIMES, "values": SERIES["values"]}
        )
    np.testing.assert_allclose(served["mean"], predicted["mean"], rtol=1e-4, atol=1e-5)
    assert more["model_state_00"].tolist() == [list(range(150, 160))]


def test_series_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "series.csv"
    path.write_text("time,a,b\n" + "".join(f"{i},{i / 2},{-i}\n" for i in range(6)))
    names = ("times", "values", "values")
    with tf.Graph().as_default(), tf.Session() as session:
        reader = ts.CSVReader(str(path), names, skip_header_lines=1)
        features, _ = ts.WholeDatasetInputFn(reader)()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = session.run(features)
        coordinator.request_stop()
        coordinator.join(threads)
    np.testing.assert_array_equal(found["times"], [np.arange(6)])
    expected = np.stack([np.arange(6) / 2, -np.arange(6.0)], 1)
    np.testing.assert_array_equal(found["values"], expected[None])


def test_wrong_series_are_refused() -> None:
    with pytest.raises(ValueError, match="are required features"):
        ts.NumpyReader({"times": TIMES})
    with pytest.raises(ValueError, match="only 80 records were available"):
        ts.RandomWindowInputFn(ts.NumpyReader(SERIES), 81, 1)
    with pytest.raises(ValueError, match="is a required column"):
        ts.CSVReader("file", ("times", "a"))
    with pytest.raises(ValueError, match="must be after"):
        evaluation = {"times": TIMES[None], "start_tuple": ()}
        ts.predict_continuation_input_fn(evaluation, times=[3])
    with pytest.raises(ValueError, match="anomaly_prior_probability is required"):
        ts.ARRegressor(10, 10, 5, 1, anomaly_distribution="cauchy")
    with pytest.raises(ValueError, match="Only odd numbers of latent values"):
        ts.StructuralEnsembleRegressor(10, 1, cycle_num_latent_values=4)


def test_tables_of_states() -> None:
    space = "tensorflow.contrib.timeseries.python.timeseries"
    tables = resolve(f"{space}.math_utils")
    with tf.Graph().as_default(), tf.Session() as session:
        table = tables.TupleOfTensorsLookup(
            key_dtype=tf.int64,
            default_values=(tf.constant(1.5), tf.ones([2, 3])),
            empty_key=-1,
            deleted_key=-2,
            name="states",
        )
        insert = table.insert([[7, 8]], (tf.constant([[2.0, 3.0]]), tf.zeros([1, 2, 2, 3])))
        found = table.lookup(tf.constant([7, 9], tf.int64))
        session.run(insert)
        scalars, matrices = session.run(found)
    assert scalars.tolist() == [2.0, 1.5]
    assert matrices.shape == (2, 2, 3) and not matrices[0].any() and (matrices[1] == 1.0).all()
    manager = resolve(f"{space}.state_management").ChainingStateManager()
    with pytest.raises(ValueError, match="requires initialize_graph"):
        manager.define_loss(None, {}, "train")
