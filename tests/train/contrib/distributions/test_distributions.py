# SPDX-License-Identifier: Apache-2.0
"""Distributions and bijectors: draws, densities and losses of TensorFlow 1.15 (`programs.py`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

from . import programs

pytestmark = pytest.mark.cpu
RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    return programs.of_distributions(tf)


@pytest.mark.parametrize("name", programs.DISTRIBUTIONS)
def test_draws_densities_and_moments_are_those_of_tensorflow(
    found: dict[str, Any], name: str
) -> None:
    expected = RECORDED["distributions"][name]
    assert found[name].keys() == expected.keys()
    for what, value in expected.items():
        np.testing.assert_allclose(
            found[name][what], value, rtol=2e-4, atol=2e-5, err_msg=f"{name} {what}"
        )


def test_bijectors_give_what_tensorflow_gives() -> None:
    for name, values in programs.of_bijectors(tf).items():
        for what, value in RECORDED["bijectors"][name].items():
            np.testing.assert_allclose(
                values[what], value, rtol=1e-4, atol=1e-5, err_msg=f"{name} {what}"
            )


@pytest.mark.parametrize("name", programs.BIJECTORS)
def test_inverses_undo(name: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        one = programs.BIJECTORS[name](tf.contrib.distributions.bijectors)
        x = tf.constant(programs.POINTS)
        y = tf.identity(one.forward(x))
        rank = one.inverse_min_event_ndims - one.forward_min_event_ndims + 1
        back = one.inverse(y)
        logs = one.inverse_log_det_jacobian(y, rank), one.forward_log_det_jacobian(x, 1)
        found = session.run([back, *logs])
        np.testing.assert_allclose(found[0], programs.POINTS, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(found[1] + found[2] + 0 * found[1], 0, atol=1e-4)


def test_real_nvp_cuts_once_and_before_the_template_makes_its_nodes() -> None:
    """As in TensorFlow: seeds of the template's initializers count the nodes before them."""
    bijectors = tf.contrib.distributions.bijectors
    with tf.Graph().as_default() as graph:
        template = bijectors.real_nvp_default_template([3])
        one = bijectors.RealNVP(1, template)
        one.inverse(tf.identity(one.forward(tf.constant(programs.POINTS))))
        types = [op.type for op in graph.get_operations()]
        assert types.count("StridedSlice") == 4
        assert types[:10] == ["Const", *(["Const"] * 3 + ["StridedSlice"]) * 2, "Const"]


def test_losses_of_a_training_step_are_those_of_tensorflow_and_it_is_one_plan() -> None:
    np.testing.assert_allclose(programs.of_training(tf), RECORDED["training"], rtol=1e-4)
    with tf.Graph().as_default(), tf.Session() as session:
        loss = programs.step_loss(tf, tf.contrib.distributions)
        step = tf.train.AdamOptimizer(0.01).minimize(loss)
        session.run(tf.global_variables_initializer())
        report = str(session.explain([loss, step]))
        assert report.count("plan     ") == 1 and " host" not in report


def test_scores_flow_to_parameters_where_draws_are_reparameterized() -> None:
    d = tf.contrib.distributions
    with tf.Graph().as_default(), tf.Session() as session:
        place, width = tf.constant([0.5, 1.0]), tf.constant([1.0, 2.0])
        for make in (d.MultivariateNormalDiag, d.Logistic, d.Cauchy, d.VectorLaplaceDiag):
            slopes = tf.gradients(make(place, width).sample(4, seed=1), [place, width])
            assert session.run(slopes)[0].tolist() == [4.0, 4.0]
        relaxed = d.RelaxedOneHotCategorical(0.5, place).sample(seed=1)
        assert np.abs(session.run(tf.gradients(relaxed[0], place)[0])).max() > 0
        assert tf.gradients(d.OneHotCategorical(place, dtype=tf.float32).sample(), place) == [None]


def test_what_cannot_be_is_refused() -> None:
    d = tf.contrib.distributions
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="Missing required `scale`"):
            type(d.MultivariateNormalDiag([0.0], [1.0])).__mro__[1](loc=[0.0])
        with pytest.raises(TypeError, match="cat must be a Categorical"):
            d.Mixture(d.Normal(0.0, 1.0), [d.Normal(0.0, 1.0)])
        with pytest.raises(ValueError, match="does not correspond to a triangular matrix"):
            d.fill_triangular([1.0, 2.0])
        width = tf.placeholder_with_default(-1.0, [])
        checked = d.Logistic(0.0, width, validate_args=True).mean()
        with pytest.raises(tf.errors.InvalidArgumentError, match="x > 0"):
            session.run(checked)
        with pytest.raises(NotImplementedError, match="No KL"):
            d.kl_divergence(d.Normal(0.0, 1.0), d.Cauchy(0.0, 1.0))
