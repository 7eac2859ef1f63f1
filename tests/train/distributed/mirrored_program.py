# SPDX-License-Identifier: Apache-2.0
"""Programs of two replicas on two devices of one process.

They run with this package and with TensorFlow 1.15, whose answers `mirrored_1_15.json` keeps:
`python mirrored_program.py mirrored_1_15.json` in an environment with it writes them again.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

DEVICES = ["/cpu:0", "/cpu:1"]
OPTIMIZERS = ("GradientDescent", "Momentum", "Adagrad", "Adam", "RMSProp", "Adadelta")
X = np.linspace(-1, 1, 32, dtype=np.float32).reshape(-1, 1)


def _config(tf: Any) -> Any:
    return tf.ConfigProto(device_count={"CPU": 2})


def _data(tf: Any, size: int) -> Any:
    rows = np.arange(32) % 5
    return tf.data.Dataset.from_tensor_slices((X, rows, 2 * X + 1)).repeat().batch(size)


def trained(tf: Any, name: str) -> dict[str, Any]:
    """Losses of steps, and all variables by name, where an optimizer trains dense and sparse."""
    with tf.Graph().as_default():
        strategy = tf.distribute.MirroredStrategy(DEVICES)
        with strategy.scope():
            iterator = strategy.make_dataset_iterator(_data(tf, 8))
            step = tf.train.get_or_create_global_step()
            optimizer = getattr(tf.train, f"{name}Optimizer")(
                0.05, *((0.9,) * (name == "Momentum"))
            )

            def replica(element: Any) -> Any:
                x, rows, y = element
                ones = tf.ones_initializer()
                table = tf.get_variable("table", [5, 2], initializer=ones)
                hidden = tf.layers.dense(x, 2, tf.nn.tanh, kernel_initializer=ones, name="dense")
                hidden = tf.layers.batch_normalization(hidden, training=True)
                hidden += tf.nn.embedding_lookup(table, rows)
                scale = tf.Variable([0.5, 1.0], name="scale")
                guess = tf.reduce_sum(hidden * scale, 1, keepdims=True)
                loss = tf.reduce_mean(tf.square(guess - y))
                with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
                    done = optimizer.minimize(loss, global_step=step)
                with tf.control_dependencies([done]):
                    return tf.identity(loss)

            losses = strategy.experimental_run(replica, iterator)
            mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)
            found = strategy.experimental_local_results(losses)
            with tf.Session(config=_config(tf)) as session:
                session.run(iterator.initialize())
                session.run(tf.global_variables_initializer())
                steps = [float(session.run(mean)) for _ in range(5)]
                values = {
                    part.name: session.run(part).tolist()
                    for variable in tf.global_variables()
                    for part in strategy.experimental_local_results(variable)
                }
            return {
                "losses": steps,
                "variables": values,
                "devices": [one.device for one in found],
                "kinds": [type(v).__name__ for v in tf.global_variables()],
                "trainable": [v.name for v in tf.trainable_variables()],
            }


def estimated(tf: Any, which: str) -> dict[str, Any]:
    """Losses, variables and metrics of an Estimator whose replicas train and evaluate."""
    seen: list[Any] = []

    def inputs() -> Any:
        return _data(tf, 4).map(lambda x, rows, y: ({"x": x}, y)).take(8)

    def model(features: Any, labels: Any, mode: str) -> Any:
        guess = tf.layers.dense(features["x"], 1, kernel_initializer=tf.ones_initializer())
        loss = tf.losses.mean_squared_error(labels, guess)
        metrics = {
            "mae": tf.metrics.mean_absolute_error(labels, guess),
            "rmse": tf.metrics.root_mean_squared_error(labels, guess),
            "auc": tf.metrics.auc(labels > 0, tf.sigmoid(guess)),
            "hits": tf.metrics.true_positives(labels > 0, guess > 0.5),
        }
        optimizer = tf.train.AdamOptimizer(0.1)
        train = optimizer.minimize(loss, global_step=tf.train.get_global_step())
        given = {"eval_metric_ops": metrics} if mode == tf.estimator.ModeKeys.EVAL else {}
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, **given)

    class Losses(tf.train.SessionRunHook):
        """Keeps losses."""

        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs(tf.get_collection(tf.GraphKeys.LOSSES))

        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append([float(loss) for loss in run_values.results])

    package = tf.distribute if which == "distribute" else tf.contrib.distribute
    strategy = package.MirroredStrategy(DEVICES)
    with tempfile.TemporaryDirectory() as folder:
        config = tf.estimator.RunConfig(
            model_dir=folder,
            train_distribute=strategy,
            eval_distribute=strategy,
            session_config=_config(tf),
        )
        estimator = tf.estimator.Estimator(model, config=config)
        estimator.train(inputs, steps=4, hooks=[Losses()])
        metrics = {name: float(value) for name, value in estimator.evaluate(inputs).items()}
        names = estimator.get_variable_names()
        values = {name: estimator.get_variable_value(name).tolist() for name in sorted(names)}
    return {"losses": seen, "metrics": metrics, "variables": values}


def stated(tf: Any, unused: str) -> dict[str, Any]:
    """What variables, reductions and assignments of replicas are."""
    with tf.Graph().as_default():
        strategy = tf.distribute.MirroredStrategy(DEVICES)
        local = strategy.experimental_local_results
        mean, sums = tf.VariableAggregation.MEAN, tf.VariableAggregation.SUM
        on_read = tf.VariableSynchronization.ON_READ
        with strategy.scope():
            ones = tf.ones_initializer()
            w = tf.get_variable("w", [2], aggregation=mean, initializer=ones)
            r = tf.get_variable(
                "r", [], initializer=ones, synchronization=on_read, aggregation=sums
            )

            def replica() -> Any:
                context = tf.distribute.get_replica_context()
                number = tf.cast(context.replica_id_in_sync_group, tf.float32)
                total = context.all_reduce(tf.distribute.ReduceOp.SUM, number + 1.0)
                by_w = tf.gradients(w * number, [w])[0]
                updates = w.assign_add(tf.stack([number + 1.0, number])), r.assign_add(number)
                return {"n": number, "total": total, "by_w": by_w, "updates": updates}

            found = strategy.experimental_run_v2(replica)
            assigned = w.assign([5.0, 6.0])
            updated = strategy.extended.update(
                w, lambda v, x: v.assign(x * 2.0), args=(tf.constant([1.0, 2.0]),)
            )
            reduced = [strategy.reduce(op, found["n"], axis=None) for op in ("SUM", "MEAN")]
            read = tf.identity(r)
            saver = tf.train.Saver()

        def parts(*values: Any) -> list[Any]:
            return [part for value in values for part in local(value)]

        with tf.Session(config=_config(tf)) as session, tempfile.TemporaryDirectory() as folder:

            def seen(*values: Any) -> list[Any]:
                return [np.asarray(value).tolist() for value in session.run(parts(*values))]

            session.run(tf.global_variables_initializer())
            answers = [seen(found["total"], found["by_w"], *reduced)]
            session.run(parts(*found["updates"]))
            answers += [seen(w, r), seen(read)]
            session.run(assigned)
            answers.append(seen(w))
            session.run(updated)
            answers.append(seen(w))
            path = saver.save(session, f"{folder}/model")
            names = [name for name, _ in tf.train.list_variables(path)]
            kept = [tf.train.load_variable(path, name).tolist() for name in names]
            session.run(tf.global_variables_initializer())
            saver.restore(session, path)
            answers.append(seen(w, r))
        return {"answers": answers, "names": names, "kept": kept}


def fed(tf: Any, unused: str) -> dict[str, Any]:
    """What each replica gets of input, and what loops of steps give."""
    with tf.Graph().as_default():
        strategy = tf.distribute.MirroredStrategy(DEVICES)
        local, numbers = strategy.experimental_local_results, tf.data.Dataset.range
        asked = []

        def of(context: Any) -> Any:
            asked.append(
                [context.num_input_pipelines, context.input_pipeline_id]
                + [context.num_replicas_in_sync, context.get_per_replica_batch_size(8)]
            )
            return numbers(7).batch(2)

        def step(context: Any, x: Any) -> Any:
            total = strategy.extended.call_for_each_replica(tf.reduce_sum, args=(x,))
            context.set_last_step_output("mean", total, tf.distribute.ReduceOp.MEAN)
            return strategy.group(total)

        with strategy.scope():
            iterators = [
                strategy.make_input_fn_iterator(of),
                strategy.make_dataset_iterator(numbers(11).batch(4)),
            ]
            elements = [local(iterator.get_next()) for iterator in iterators]
            floats = numbers(40).map(lambda i: tf.cast(i, tf.float32)).batch(4)
            iterator = strategy.make_dataset_iterator(floats)
            loop = strategy.extended.experimental_run_steps_on_iterator(
                step, iterator, 3, initial_loop_values={"mean": tf.constant(0.0)}
            )
        taken: list[Any] = []
        with tf.Session(config=_config(tf)) as session:
            session.run([one.initialize() for one in (*iterators, iterator)])
            for element in elements:
                try:
                    while True:
                        taken.append([part.tolist() for part in session.run(list(element))])
                except tf.errors.OutOfRangeError:
                    taken.append("end")
            steps = session.run([loop.run_op, loop.last_step_outputs["mean"]])[1]
        return {"asked": asked, "taken": taken, "steps": float(steps)}


CASES: dict[str, tuple[Callable[..., Any], str]] = {
    **{f"trained by {name}": (trained, name) for name in OPTIMIZERS},
    "estimated by distribute": (estimated, "distribute"),
    "estimated by contrib": (estimated, "contrib"),
    "stated": (stated, ""),
    "fed": (fed, ""),
}


def result(tf: Any, case: str) -> dict[str, Any]:
    """The answers of one case."""
    function, argument = CASES[case]
    return function(tf, argument)


def _main(path: str) -> None:
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    with open(path, "w") as file:
        json.dump({case: result(tf, case) for case in CASES}, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    _main(sys.argv[1])
