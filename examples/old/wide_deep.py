# SPDX-License-Identifier: Apache-2.0
"""Who buys?  A linear model of crossed features and a network, trained together by an estimator.

Expected: an area under the ROC curve of over 0.75 on customers that it has not seen.

    numbaflow run examples/old/wide_deep.py
"""

import argparse
import shutil
import tempfile

import numpy as np
import tensorflow as tf

TRADES = ["baker", "smith", "miller", "weaver"]
TOWNS = ["north", "south", "east", "west", "port"]


def customers(rng, count):
    """Features by name, and who bought: bakers of the south, and what is between two ages."""
    trades, towns = rng.randint(0, 4, count), rng.randint(0, 5, count)
    ages, incomes = rng.uniform(18, 80, count), rng.gamma(4.0, 10.0, count)
    taste = 2.0 * ((trades == 0) == (towns == 1)) + 3.0 * (abs(ages - 45) < 12)
    taste += 0.03 * incomes - 4.5
    bought = rng.uniform(size=count) < 1 / (1 + np.exp(-taste))
    features = {
        "age": ages.astype(np.float32),
        "income": incomes.astype(np.float32),
        "trade": np.array(TRADES)[trades],
        "town": np.array(TOWNS)[towns],
    }
    return features, bought.astype(np.int32)


def columns():
    """Columns of the linear model, and of the network."""
    age = tf.feature_column.numeric_column("age", normalizer_fn=lambda x: x / 80.0)
    income = tf.feature_column.numeric_column("income", normalizer_fn=lambda x: x / 100.0)
    trade = tf.feature_column.categorical_column_with_vocabulary_list("trade", TRADES)
    town = tf.feature_column.categorical_column_with_hash_bucket("town", 50)
    years = tf.feature_column.bucketized_column(
        tf.feature_column.numeric_column("age"), [25.0, 33.0, 41.0, 49.0, 57.0, 65.0]
    )
    crossed = tf.feature_column.crossed_column(["trade", "town"], 100)
    wide = [trade, town, years, crossed]
    embedded = tf.feature_column.embedding_column(town, 4)
    return wide, [age, income, tf.feature_column.indicator_column(trade), embedded]


class Losses(tf.train.SessionRunHook):
    """Prints the loss every so many steps."""

    def __init__(self, every):
        self._every, self._step = every, 0

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(tf.get_collection(tf.GraphKeys.LOSSES)[0])

    def after_run(self, run_context, run_values):
        self._step += 1
        if self._step % self._every == 0:
            print(f"step {self._step}: loss {run_values.results:.6f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--every", type=int, default=100, help="steps between printed losses")
    args = parser.parse_args()

    tf.logging.set_verbosity(tf.logging.ERROR)
    rng = np.random.RandomState(1)
    data, unseen = customers(rng, 4000), customers(rng, 1000)

    def batches():
        return tf.data.Dataset.from_tensor_slices(data).shuffle(4000, seed=1).repeat().batch(64)

    def once():
        return tf.data.Dataset.from_tensor_slices(unseen).batch(250)

    folder = tempfile.mkdtemp()
    wide, deep = columns()
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        folder,
        linear_feature_columns=wide,
        dnn_feature_columns=deep,
        dnn_hidden_units=[32, 16],
        config=tf.estimator.RunConfig(tf_random_seed=1, save_summary_steps=None),
    )
    estimator.train(batches, [Losses(args.every)], args.steps)
    results = estimator.evaluate(once)
    print("area under the curve: {:.3f}".format(results["auc"]))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
