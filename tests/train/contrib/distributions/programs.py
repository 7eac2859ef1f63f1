# SPDX-License-Identifier: Apache-2.0
"""Distributions, bijectors and what is computed of them: with this package and TensorFlow 1.15.

`python programs.py recorded.json` in an environment with TensorFlow 1.15 writes its results.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

ROWS = [[0.5, -1.0, 2.0], [1.0, 0.3, -0.2]]
DISTRIBUTIONS: dict[str, Callable[[Any], Any]] = {
    "Normal": lambda d: d.Normal([0.5, 1.0], [1.0, 2.0]),
    "NormalWithSoftplusScale": lambda d: d.NormalWithSoftplusScale([0.5, 1.0], [1.0, 2.0]),
    "Laplace": lambda d: d.Laplace([0.5, 1.0], [1.0, 2.0]),
    "LaplaceWithSoftplusScale": lambda d: d.LaplaceWithSoftplusScale([0.5, 1.0], [1.0, 2.0]),
    "StudentT": lambda d: d.StudentT(5.0, [0.5, 1.0], [1.0, 2.0]),
    "Uniform": lambda d: d.Uniform([0.5, 1.0], [1.0, 2.0]),
    "Gamma": lambda d: d.Gamma([1.5, 4.0], [1.0, 2.0]),
    "GammaSoftplus": lambda d: d.GammaWithSoftplusConcentrationRate([1.5, 4.0], [1.0, 2.0]),
    "Exponential": lambda d: d.Exponential([1.5, 4.0]),
    "Beta": lambda d: d.Beta([1.5, 4.0], [2.0, 3.0]),
    "Dirichlet": lambda d: d.Dirichlet([[1.5, 4.0, 2.0]]),
    "Bernoulli": lambda d: d.Bernoulli([1.5, -4.0, 0.2]),
    "Categorical": lambda d: d.Categorical(ROWS),
    "Cauchy": lambda d: d.Cauchy([0.5, 1.0], [1.0, 2.0]),
    "Logistic": lambda d: d.Logistic([0.5, 1.0], [1.0, 2.0]),
    "HalfNormal": lambda d: d.HalfNormal([1.0, 2.0]),
    "Chi2": lambda d: d.Chi2([3.0, 4.5]),
    "InverseGamma": lambda d: d.InverseGamma([3.0, 4.5], [1.0, 2.0]),
    "Kumaraswamy": lambda d: d.Kumaraswamy([3.0, 4.5], [1.0, 2.0]),
    "Poisson": lambda d: d.Poisson([3.0, 4.5]),
    "Geometric": lambda d: d.Geometric(probs=[0.3, 0.5]),
    "NegativeBinomial": lambda d: d.NegativeBinomial([3.0, 4.5], probs=[0.3, 0.5]),
    "MultivariateNormalDiag": lambda d: d.MultivariateNormalDiag([0.5, 1.0], [[1.0, 2.0]]),
    "MultivariateNormalTriL": lambda d: d.MultivariateNormalTriL(
        [0.5, 1.0], [[1.0, 0.0], [0.5, 2.0]]
    ),
    "MultivariateNormalFullCovariance": lambda d: d.MultivariateNormalFullCovariance(
        [0.5, 1.0], [[1.0, 0.5], [0.5, 2.0]]
    ),
    "MultivariateNormalDiagPlusLowRank": lambda d: d.MultivariateNormalDiagPlusLowRank(
        [0.5, 1.0], [1.0, 2.0], scale_perturb_factor=[[0.5], [1.0]]
    ),
    "VectorExponentialDiag": lambda d: d.VectorExponentialDiag([0.5, 1.0], [1.0, 2.0]),
    "VectorLaplaceDiag": lambda d: d.VectorLaplaceDiag([0.5, 1.0], [1.0, 2.0]),
    "SinhArcsinh": lambda d: d.SinhArcsinh([0.5, 1.0], 2.0, skewness=0.3, tailweight=1.2),
    "VectorSinhArcsinhDiag": lambda d: d.VectorSinhArcsinhDiag(
        [0.5, 1.0], [1.0, 2.0], skewness=0.3
    ),
    "OneHotCategorical": lambda d: d.OneHotCategorical(ROWS),
    "ExpRelaxedOneHotCategorical": lambda d: d.ExpRelaxedOneHotCategorical(0.7, ROWS),
    "RelaxedOneHotCategorical": lambda d: d.RelaxedOneHotCategorical(0.7, ROWS),
    "RelaxedBernoulli": lambda d: d.RelaxedBernoulli(0.7, [0.5, 1.0]),
    "Mixture": lambda d: d.Mixture(
        d.Categorical([0.3, 0.5]), [d.Normal(0.5, 1.0), d.Laplace(1.0, 2.0)]
    ),
    "MixtureStatic": lambda d: d.Mixture(
        d.Categorical([0.3, 0.5]), [d.Normal(0.5, 1.0), d.Laplace(1.0, 2.0)], use_static_graph=True
    ),
    "Independent": lambda d: d.Independent(d.Normal([[0.5, 1.0]], [1.0, 2.0]), 1),
    "BatchReshape": lambda d: d.BatchReshape(d.Normal([0.5, 1.0], [1.0, 2.0]), [2, 1]),
    "Deterministic": lambda d: d.Deterministic([0.5, 1.0]),
    "QuantizedDistribution": lambda d: d.QuantizedDistribution(d.Normal(0.5, 3.0), -3.0, 3.0),
    "WishartCholesky": lambda d: d.WishartCholesky(4.0, [[1.0, 0.0], [0.5, 2.0]]),
    "WishartFull": lambda d: d.WishartFull(4.0, [[1.0, 0.5], [0.5, 2.0]]),
    "PoissonLogNormal": lambda d: d.PoissonLogNormalQuadratureCompound([0.5, 1.0], [0.3, 0.5]),
}
POINTS = [[0.2, 0.5, 0.7], [0.1, 0.3, 0.9]]
BIJECTORS: dict[str, Callable[[Any], Any]] = {
    "Exp": lambda b: b.Exp(),
    "PowerTransform": lambda b: b.PowerTransform(0.3),
    "Sigmoid": lambda b: b.Sigmoid(),
    "Softplus": lambda b: b.Softplus(),
    "Softsign": lambda b: b.Softsign(),
    "Square": lambda b: b.Square(),
    "SinhArcsinh": lambda b: b.SinhArcsinh(0.3, 1.2),
    "Gumbel": lambda b: b.Gumbel(0.3, 1.2),
    "Kumaraswamy": lambda b: b.Kumaraswamy(0.3, 1.2),
    "AffineScalar": lambda b: b.AffineScalar(0.3, 1.2),
    "Affine": lambda b: b.Affine([0.3, 0.1, 0.2], scale_diag=[1.0, 2.0, 3.0]),
    "AffineTriL": lambda b: b.Affine(
        scale_tril=[[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [0.1, 0.2, 3.0]]
    ),
    "SoftmaxCentered": lambda b: b.SoftmaxCentered(),
    "Ordered": lambda b: b.Ordered(),
    "Permute": lambda b: b.Permute([2, 0, 1]),
    "Chain": lambda b: b.Chain([b.Exp(), b.AffineScalar(0.3, 1.2)]),
    "Invert": lambda b: b.Invert(b.Sigmoid()),
    "FillTriangular": lambda b: b.FillTriangular(),
    "ScaleTriL": lambda b: b.ScaleTriL(),
}


def of_distributions(tf: Any) -> dict[str, Any]:
    """Draws of a seed, the logarithms of their densities, means and standard deviations."""
    d, found = tf.contrib.distributions, {}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(7)
        for name, make in DISTRIBUTIONS.items():
            one = make(d)
            draws = one.sample(3, seed=11)
            found[name] = {"draws": draws, "log_prob": one.log_prob(draws)}
            for what in ("mean", "stddev", "entropy"):
                try:
                    found[name][what] = getattr(one, what)()
                except (NotImplementedError, ValueError):
                    continue
        return _plain(session.run(found))


def of_bijectors(tf: Any) -> dict[str, Any]:
    """Results, and the logarithms of the Jacobians' determinants."""
    b, found = tf.contrib.distributions.bijectors, {}
    with tf.Graph().as_default(), tf.Session() as session:
        for name, make in BIJECTORS.items():
            one = make(b)
            x = tf.constant(POINTS)
            found[name] = {
                "forward": one.forward(x),
                "log_det": one.forward_log_det_jacobian(x, event_ndims=1),
            }
        return _plain(session.run(found))


def of_training(tf: Any) -> list[float]:
    """The losses of a variational autoencoder, a flow and a mixture, trained together."""
    d = tf.contrib.distributions
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(7)
        loss = step_loss(tf, d)
        step = tf.train.AdamOptimizer(0.01).minimize(loss)
        session.run(tf.global_variables_initializer())
        return [float(session.run([loss, step])[0]) for _ in range(6)]


def step_loss(tf: Any, d: Any) -> Any:
    """The sum of the three losses."""
    b = d.bijectors
    # Initial values do not depend on how many operations there are.
    normal = tf.truncated_normal_initializer(stddev=0.3, seed=5)
    with tf.variable_scope("model", initializer=normal):
        return _losses(tf, d, b, normal)


def _losses(tf: Any, d: Any, b: Any, normal: Any) -> Any:
    x = tf.constant(np.random.RandomState(0).uniform(size=[16, 6]).astype(np.float32))
    hidden = tf.layers.dense(x, 8, tf.nn.tanh)
    code = d.MultivariateNormalDiag(
        tf.layers.dense(hidden, 2), tf.nn.softplus(tf.layers.dense(hidden, 2))
    )
    z = code.sample(seed=3)
    prior = d.MultivariateNormalDiag(tf.zeros([2]), tf.ones([2]))
    decoded = tf.layers.dense(tf.layers.dense(z, 8, tf.nn.tanh), 6)
    likely = d.Independent(d.Bernoulli(logits=decoded), 1).log_prob(x)
    vae = tf.reduce_mean(d.kl_divergence(code, prior) - likely)
    flow = d.TransformedDistribution(
        d.Normal(0.0, 1.0),
        b.MaskedAutoregressiveFlow(
            b.masked_autoregressive_default_template([12], kernel_initializer=normal)
        ),
        event_shape=[6],
    )
    places = tf.get_variable("places", initializer=tf.linspace(-1.0, 1.0, 3))
    mixture = d.MixtureSameFamily(
        d.Categorical(logits=tf.get_variable("logits", [3])), d.Normal(places, tf.ones([3]))
    )
    return vae - tf.reduce_mean(flow.log_prob(x)) - tf.reduce_mean(mixture.log_prob(x))


def _plain(found: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {key: np.asarray(value).astype(float).tolist() for key, value in values.items()}
        for name, values in found.items()
    }


def everything(tf: Any) -> dict[str, Any]:
    """All results."""
    return {
        "distributions": of_distributions(tf),
        "bijectors": of_bijectors(tf),
        "training": of_training(tf),
    }


if __name__ == "__main__":
    import tensorflow

    with open(sys.argv[1], "w") as file:
        json.dump(everything(tensorflow), file)
