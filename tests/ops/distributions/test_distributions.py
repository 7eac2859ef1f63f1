# SPDX-License-Identifier: Apache-2.0
"""`tf.distributions` against SciPy: densities, moments, samples; divergences and checks."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu
stats = pytest.importorskip("scipy.stats")
d = tf.distributions
double = np.float64


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        yield graph


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


X = np.array([0.1, 0.4, 0.9])
CONTINUOUS = {
    "Normal": (lambda: d.Normal(double(0.5), double(2.0)), stats.norm(0.5, 2)),
    "Laplace": (lambda: d.Laplace(double(0.5), double(2.0)), stats.laplace(0.5, 2)),
    "StudentT": (lambda: d.StudentT(double(5), double(0.5), double(2.0)), stats.t(5, 0.5, 2)),
    "Uniform": (lambda: d.Uniform(double(-1), double(3.0)), stats.uniform(-1, 4)),
    "Gamma": (lambda: d.Gamma(double(2.5), double(3.0)), stats.gamma(2.5, scale=1 / 3)),
    "Exponential": (lambda: d.Exponential(double(3)), stats.expon(scale=1 / 3)),
    "Beta": (lambda: d.Beta(double(2.5), double(3.0)), stats.beta(2.5, 3)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_densities_and_moments(name):
    make, true = CONTINUOUS[name]
    one = make()
    assert one.batch_shape.as_list() == [] and one.event_shape.as_list() == []
    names = "prob log_prob cdf log_cdf survival_function log_survival_function"
    found = run([getattr(one, name)(X) for name in names.split()])
    survival = 1 - true.cdf(X)
    known = [true.pdf(X), true.logpdf(X), true.cdf(X), true.logcdf(X), survival, np.log(survival)]
    for mine, expected in zip(found, known):
        np.testing.assert_allclose(mine, expected, rtol=1e-9, atol=1e-12)
    moments = run([one.mean(), one.variance(), one.stddev(), one.entropy()])
    expected = [true.mean(), true.var(), true.std(), true.entropy()]
    np.testing.assert_allclose(moments, expected, rtol=1e-9)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_follow_the_distribution(name):
    make, true = CONTINUOUS[name]
    drawn = make().sample([50, 40], seed=11)
    assert drawn.shape.as_list() == [50, 40]
    assert stats.kstest(run(drawn).reshape(-1), true.cdf).pvalue > 1e-3


def test_quantiles_of_the_normal_distribution():
    p = np.array([0.0, 1e-20, 1e-4, 0.1, 0.5, 0.8, 0.999, 1.0])
    np.testing.assert_allclose(run(d.Normal(double(0), double(1.0)).quantile(p)), stats.norm.ppf(p))
    x = np.array([-40.0, -25.0, -15.0, -1.0, 2.0, 9.0])
    logs = run(d.Normal(double(0), double(1.0)).log_cdf(x))
    np.testing.assert_allclose(logs, stats.norm.logcdf(x), rtol=2e-6)


def test_batches():
    one = d.Normal(loc=[[0.0], [1.0]], scale=tf.placeholder_with_default([1.0, 2.0, 3.0], [None]))
    assert one.batch_shape.as_list() == [2, None]
    drawn = one.sample(5)
    assert drawn.shape.as_list() == [5, 2, None]
    found = run([drawn, one.batch_shape_tensor(), one.is_scalar_batch(), one.is_scalar_event()])
    assert found[0].shape == (5, 2, 3) and list(found[1]) == [2, 3]
    assert not found[2] and found[3]
    other = one.copy(loc=7.0)
    assert run(other.mean()).tolist() == [7, 7, 7]
    assert other.parameters["loc"] == 7.0


def test_bernoulli():
    one = d.Bernoulli(probs=[0.2, 0.7])
    np.testing.assert_allclose(run(one.prob([1, 0])), [0.2, 0.3], rtol=1e-6)
    found = run([one.mean(), one.variance(), one.entropy(), one.mode()])
    for mine, expected in zip(found, [[0.2, 0.7], [0.16, 0.21], [0.500402, 0.610864], [0, 1]]):
        np.testing.assert_allclose(mine, expected, rtol=1e-5)
    np.testing.assert_allclose(run(one.sample(4000, seed=1)).mean(0), [0.2, 0.7], atol=0.04)


def test_categorical():
    probs = [[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]]
    one = d.Categorical(probs=probs)
    np.testing.assert_allclose(run(one.prob([1, 2])), [0.5, 0.1], rtol=1e-6)
    np.testing.assert_allclose(run(one.cdf([2, 1])), [0.7, 0.6], rtol=1e-6)
    np.testing.assert_allclose(run(one.entropy()), stats.entropy(probs, axis=1), rtol=1e-6)
    assert run(one.mode()).tolist() == [1, 0]
    drawn = run(one.sample(4000, seed=1))
    assert drawn.shape == (4000, 2)
    shares = [np.mean(drawn[:, i] == k) for i in (0, 1) for k in (0, 1, 2)]
    np.testing.assert_allclose(shares, np.ravel(probs), atol=0.04)


def test_multinomial():
    probs = np.array([0.2, 0.5, 0.3])
    one, true = d.Multinomial(double(4), probs=probs), stats.multinomial(4, probs)
    assert one.event_shape.as_list() == [3]
    np.testing.assert_allclose(run(one.prob([1.0, 2.0, 1.0])), true.pmf([1, 2, 1]), rtol=1e-9)
    np.testing.assert_allclose(run(one.covariance()), true.cov(), rtol=1e-9)
    drawn = run(one.sample(2000, seed=2))
    assert (drawn.sum(-1) == 4).all()
    np.testing.assert_allclose(drawn.mean(0), 4 * probs, atol=0.1)


def test_dirichlet_and_its_multinomial():
    alpha = np.array([1.5, 2.0, 3.0])
    one, true = d.Dirichlet(alpha), stats.dirichlet(alpha)
    x = np.array([0.2, 0.5, 0.3])
    np.testing.assert_allclose(run(one.prob(x)), true.pdf(x), rtol=1e-9)
    np.testing.assert_allclose(run(one.entropy()), true.entropy(), rtol=1e-9)
    np.testing.assert_allclose(run(one.covariance()), true.cov(), rtol=1e-9)
    np.testing.assert_allclose(run(one.mode()), (alpha - 1) / (6.5 - 3), rtol=1e-9)
    np.testing.assert_allclose(run(one.sample(4000, seed=1)).mean(0), alpha / 6.5, atol=0.02)
    counted, truth = d.DirichletMultinomial(double(4), alpha), stats.dirichlet_multinomial
    known = truth(alpha, 4)
    np.testing.assert_allclose(run(counted.prob([1.0, 2.0, 1.0])), known.pmf([1, 2, 1]), rtol=1e-9)
    np.testing.assert_allclose(run(counted.covariance()), known.cov(), rtol=1e-9)
    drawn = run(counted.sample(3000, seed=1))
    np.testing.assert_allclose(drawn.mean(0), known.mean(), atol=0.1)


PAIRS = {
    "normal": (lambda: d.Normal(0.5, 2.0), lambda: d.Normal(-0.5, 1.0)),
    "gamma": (lambda: d.Gamma(2.0, 3.0), lambda: d.Gamma(4.0, 1.5)),
    "exponential": (lambda: d.Exponential(2.0), lambda: d.Exponential(3.0)),
    "beta": (lambda: d.Beta(2.0, 3.0), lambda: d.Beta(4.0, 1.5)),
    "dirichlet": (lambda: d.Dirichlet([2.0, 3.0]), lambda: d.Dirichlet([4.0, 1.5])),
    "bernoulli": (lambda: d.Bernoulli(probs=0.3), lambda: d.Bernoulli(probs=0.6)),
    "categorical": (lambda: d.Categorical([0.1, 1.0]), lambda: d.Categorical([0.0, 0.2])),
}


@pytest.mark.parametrize("name", PAIRS)
def test_divergences(name):
    a, b = (make() for make in PAIRS[name])
    drawn = a.sample(20000, seed=5)
    estimate = tf.reduce_mean(a.log_prob(drawn) - b.log_prob(drawn))
    crossed = a.cross_entropy(b) - a.entropy()
    exact, other, estimate, itself = run(
        [d.kl_divergence(a, b), crossed, estimate, a.kl_divergence(a)]
    )
    np.testing.assert_allclose(exact, estimate, rtol=0.1)
    np.testing.assert_allclose(other, exact, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(itself, 0, atol=1e-6)


def test_divergences_are_registered_by_class():
    class Mine(d.Normal):
        pass

    d.RegisterKL(Mine, d.Gamma)(lambda a, b, name=None: tf.constant(4.0))
    mine = Mine(0.0, 1.0)
    assert run(d.kl_divergence(mine, d.Exponential(1.0))) == 4
    assert run(d.kl_divergence(mine, d.Normal(0.0, 1.0))) == 0
    with pytest.raises(NotImplementedError, match="No KL"):
        d.kl_divergence(d.Uniform(), mine)
    with pytest.raises(ValueError, match="already been registered"):
        d.RegisterKL(d.Normal, d.Normal)(lambda a, b, name=None: None)


def test_gradients_flow_through_samples():
    loc = tf.constant([1.0, 2.0])
    for one in (d.Normal(loc, 1.0), d.Laplace(loc, 1.0), d.Uniform(loc, 5.0), d.Beta(loc, 1.0)):
        assert one.reparameterization_type is d.FULLY_REPARAMETERIZED
        assert tf.gradients(one.sample(3), loc)[0] is not None
    assert d.Bernoulli(0.0).reparameterization_type is d.NOT_REPARAMETERIZED


def test_arguments_are_checked_when_asked_for():
    fed = tf.placeholder_with_default(-1.0, [])
    for one in (
        lambda: d.Normal(0.0, fed, validate_args=True).mean(),
        lambda: d.Gamma(fed, 1.0, validate_args=True).mean(),
        lambda: d.Uniform(0.0, fed, validate_args=True).mean(),
        lambda: d.Beta(1.0, 1.0, validate_args=True).prob(fed),
        lambda: d.Beta(0.5, 1.0, allow_nan_stats=False).mode(),
        lambda: d.StudentT(1.0, 0.0, 1.0, allow_nan_stats=False).mean(),
        lambda: d.Multinomial(2.0, probs=[0.5, 0.5], validate_args=True).prob([1.5, fed + 1.5]),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(one())
    assert np.isnan(run(d.StudentT(1.0, 0.0, 1.0).mean()))
    with pytest.raises(ValueError, match="Must pass probs or logits"):
        d.Bernoulli()
    with pytest.raises(NotImplementedError, match="quantile is not implemented: Gamma"):
        d.Gamma(1.0, 1.0).quantile(0.5)
