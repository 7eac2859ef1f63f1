# SPDX-License-Identifier: Apache-2.0
"""Prices a million European options and their sensitivities from one formula.

The Black-Scholes formula is written once; `tf.gradients` gives delta and theta.  Expected: call
minus put equals S - K exp(-r T) (put-call parity) to within rounding, and delta is in [0, 1].

    numbaflow run examples/black_scholes.py --options 1000000
"""

import argparse
import time

import numpy as np
import tensorflow as tf

RATE, VOLATILITY = 0.02, 0.3


def normal_cdf(z):
    return 0.5 * (1.0 + tf.erf(z * 0.7071067811865476))


def prices(spot, strike, years):
    """Call and put prices of options on a stock at `spot`, to buy or sell at `strike`."""
    spread = VOLATILITY * tf.sqrt(years)
    d1 = (tf.log(spot / strike) + (RATE + VOLATILITY**2 / 2) * years) / spread
    d2 = d1 - spread
    discounted = strike * tf.exp(-RATE * years)
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    put = discounted * normal_cdf(-d2) - spot * normal_cdf(-d1)
    return call, put


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--options", type=int, default=1_000_000)
    count = parser.parse_args().options

    random = np.random.RandomState(0)
    data = {
        "spot": random.uniform(10, 50, count).astype(np.float32),
        "strike": random.uniform(10, 50, count).astype(np.float32),
        "years": random.uniform(0.2, 2, count).astype(np.float32),
    }
    spot, strike, years = (tf.placeholder(tf.float32, [None], name=name) for name in data)
    call, put = prices(spot, strike, years)
    delta, theta = tf.gradients(call, [spot, years])
    parity = tf.reduce_max(tf.abs(call - put - (spot - strike * tf.exp(-RATE * years))))
    summary = [parity, tf.reduce_min(delta), tf.reduce_max(delta), tf.reduce_mean(theta)]

    with tf.Session() as sess:
        feed = {spot: data["spot"], strike: data["strike"], years: data["years"]}
        for attempt in ("first", "second", "third"):
            start = time.perf_counter()
            gap, low, high, slope = sess.run(summary, feed)
            print(f"{attempt} run: {1e3 * (time.perf_counter() - start):.1f} ms")
    print(f"put-call parity holds to {gap:.1e}")
    print(f"delta from {low:.4f} to {high:.4f}, mean price per year {slope:.3f}")


if __name__ == "__main__":
    main()
