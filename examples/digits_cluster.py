# SPDX-License-Identifier: Apache-2.0
"""Several processes learn to read handwritten digits, in each of the styles of TensorFlow 1.x.

Workers share a perceptron on a parameter server. `--style` says how they do:

    monitored   each worker trains in a MonitoredTrainingSession, as fast as it can
    sync        SyncReplicasOptimizer applies the mean of all workers' gradients, with a Supervisor
    in-graph    the first worker's session has all others compute a part of each batch

    numbaflow cluster run --local --ps 1 --workers 2 examples/digits_cluster.py -- --style sync
"""

import numpy as np
import tensorflow as tf

tf.flags.DEFINE_string("job_name", "", "ps or worker")
tf.flags.DEFINE_integer("task_index", 0, "which of its job")
tf.flags.DEFINE_list("ps_hosts", [], "the parameter servers' addresses")
tf.flags.DEFINE_list("worker_hosts", [], "the workers' addresses")
tf.flags.DEFINE_enum("style", "monitored", ["monitored", "sync", "in-graph"], "how they train")
tf.flags.DEFINE_integer("steps", 400, "steps of all workers")
tf.flags.DEFINE_integer("batch", 64, "images of a step")
tf.flags.DEFINE_string("folder", None, "where checkpoints go")
FLAGS = tf.flags.FLAGS


def load():
    """Training and test images and labels."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images, labels = (digits.data / 16.0).astype(np.float32), digits.target.astype(np.int64)
    order = np.random.RandomState(1).permutation(len(images))
    return images[order[360:]], labels[order[360:]], images[order[:360]], labels[order[:360]]


def network(images):
    """Logits of the ten digits."""
    with tf.variable_scope("network", reuse=tf.AUTO_REUSE):
        draw = tf.glorot_uniform_initializer(seed=1)
        hidden = tf.nn.relu(tf.layers.dense(images, 100, kernel_initializer=draw, name="hidden"))
        return tf.layers.dense(hidden, 10, kernel_initializer=draw, name="logits")


def loss_of(images, labels):
    """The mean cross entropy."""
    return tf.losses.sparse_softmax_cross_entropy(labels, network(images))


def inputs():
    """Placeholders of a batch."""
    return tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int64, [None])


class Batches:
    """Draws batches, and says how many test images are right."""

    def __init__(self, images, labels, logits):
        self.images, self.labels = images, labels
        self.x, self.y, self.test_x, self.test_y = load()
        self.right = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), labels)))
        self.draws = np.random.RandomState(FLAGS.task_index)

    def next(self):
        """The feeds of a step."""
        chosen = self.draws.randint(0, len(self.x), FLAGS.batch)
        return {self.images: self.x[chosen], self.labels: self.y[chosen]}

    def report(self, session):
        """Prints how good the network is."""
        fed = {self.images: self.test_x, self.labels: self.test_y}
        print(f"test accuracy {session.run(self.right, fed):.3f}", flush=True)


def placed(cluster):
    """Variables go to the parameter servers, all else to this worker."""
    return tf.device(
        tf.train.replica_device_setter(
            worker_device=f"/job:worker/task:{FLAGS.task_index}", cluster=cluster
        )
    )


def monitored(server, cluster, config):
    """Each worker by itself."""
    with placed(cluster):
        images, labels = inputs()
        loss = loss_of(images, labels)
        batches = Batches(images, labels, network(images))
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdamOptimizer(0.003).minimize(loss, global_step=step)
    now = 0
    with tf.train.MonitoredTrainingSession(
        master=server.target,
        is_chief=FLAGS.task_index == 0,
        checkpoint_dir=FLAGS.folder,
        config=config,
        hooks=[tf.train.StopAtStepHook(last_step=FLAGS.steps)],
    ) as session:
        while not session.should_stop():
            if FLAGS.task_index == 0 and now % 50 == 0:
                # (Hooks see the steps of training, and not this.)
                session.run_step_fn(lambda step_context: batches.report(step_context.session))
            now = session.run([train, step], batches.next())[1]


def synchronous(server, cluster, config):
    """All workers step by step, looked after by a Supervisor."""
    is_chief, count = FLAGS.task_index == 0, len(FLAGS.worker_hosts)
    with placed(cluster):
        images, labels = inputs()
        loss = loss_of(images, labels)
        batches = Batches(images, labels, network(images))
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.AdamOptimizer(0.003), replicas_to_aggregate=count, total_num_replicas=count
        )
        train = optimizer.minimize(loss, global_step=step)
        init = tf.global_variables_initializer()
        local = optimizer.chief_init_op if is_chief else optimizer.local_step_init_op
        # What the chief runs beside: it hands out a token for each step of a worker.
        runner, tokens = optimizer.get_chief_queue_runner(), optimizer.get_init_tokens_op()
        supervisor = tf.train.Supervisor(
            is_chief=is_chief,
            logdir=FLAGS.folder,
            init_op=init,
            local_init_op=local,
            ready_for_local_init_op=optimizer.ready_for_local_init_op,
            global_step=step,
            recovery_wait_secs=1,
        )
    session = supervisor.prepare_or_wait_for_session(server.target, config=config)
    if is_chief:
        supervisor.start_queue_runners(session, [runner])
        session.run(tokens)
    now = 0
    while not supervisor.should_stop() and now < FLAGS.steps:
        now = session.run([train, step], batches.next())[1]
    if is_chief:
        batches.report(session)
    # (The thread of updates waits for gradients that do not come: it ends with the process.)


def in_graph(server, cluster, config):
    """One client; the others' servers compute a part of each batch."""
    if FLAGS.task_index:
        server.join()
    count, losses = len(FLAGS.worker_hosts), []
    with tf.device("/job:worker/task:0"):
        images, labels = inputs()
        parts = list(zip(tf.split(images, count), tf.split(labels, count)))
    for worker, part in enumerate(parts):
        with tf.device(
            tf.train.replica_device_setter(
                worker_device=f"/job:worker/task:{worker}", cluster=cluster
            )
        ):
            losses.append(loss_of(*part))
    # (The weights are there by now; this reads them, on the first worker.)
    with placed(cluster):
        batches = Batches(images, labels, network(images))
        train = tf.train.AdamOptimizer(0.003).minimize(
            tf.add_n(losses) / count, colocate_gradients_with_ops=True
        )
    with tf.Session(server.target) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(FLAGS.steps):
            session.run(train, batches.next())
        batches.report(session)


def main(_):
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts, "worker": FLAGS.worker_hosts})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    # Workers do not wait for each other's servers.
    config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{FLAGS.task_index}"])
    tf.set_random_seed(1)
    styles = {"monitored": monitored, "sync": synchronous, "in-graph": in_graph}
    styles[FLAGS.style](server, cluster, config)


if __name__ == "__main__":
    tf.app.run(main)
