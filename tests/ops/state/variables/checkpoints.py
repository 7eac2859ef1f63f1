# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of objects: what is saved, matched, deferred and said."""

# ruff: noqa: B023 - every function is called before the loop goes on
from __future__ import annotations


def _names(tf, path):
    return [[name, shape] for name, shape in tf.train.list_variables(path)]


def saving(tf, say):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    w = tf.Variable(3, name="w")
    root = tf.train.Checkpoint(v=v, w=w)
    say(root.v is v, root.save_counter, sorted(n for n in dir(root) if n[0] != "_"))
    say(
        lambda: tf.train.Checkpoint(v=3),
        lambda: tf.train.Checkpoint(v=None),
        lambda: tf.train.Checkpoint(v=tf.constant(1)),
        lambda: tf.train.Checkpoint(v="x"),
        lambda: tf.train.Checkpoint(v),
        lambda: setattr(root, "z", 3),
        lambda: setattr(root, "t", tf.constant(2)),
    )
    say.session.run([v.initializer, w.initializer, root.save_counter.initializer])
    with say.session.as_default():
        path = say(lambda: root.save(say.folder + "/m"))
        say(
            lambda: root.save(say.folder + "/m"),
            lambda: root.write(say.folder + "/w"),
            lambda: root.save(file_prefix=say.folder + "/k", session=say.session),
        )
        say(lambda: root.save_counter.eval())
    say(
        _names(tf, path),
        tf.train.latest_checkpoint(say.folder),
        tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE"),
        _names(tf, say.folder + "/w"),
    )
    say(tf.train.get_checkpoint_state(say.folder).all_model_checkpoint_paths)
    say(sorted(tf.train.load_checkpoint(path).get_variable_to_shape_map()))


def restoring(tf, say):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    w = tf.Variable(3, name="w")
    root = tf.train.Checkpoint(v=v, w=w)
    say.session.run([v.initializer, w.initializer, root.save_counter.initializer])
    path = root.save(say.folder + "/m", session=say.session)
    say.session.run([tf.assign(w, 5), v.assign([0.0, 0.0])])
    status = root.restore(path)
    say(
        type(status),
        lambda: status.assert_consumed() is status,
        lambda: status.assert_existing_objects_matched() is status,
        lambda: status.assert_nontrivial_match() is status,
        lambda: status.expect_partial() is status,
    )
    say(
        lambda: status.run_restore_ops(say.session),
        lambda: status.initialize_or_restore(say.session),
    )
    say.run(v, w, root.save_counter)
    say(
        lambda: root.restore(say.folder + "/missing"),
        lambda: root.restore(None),
        lambda: root.restore(3),
        lambda: type(root.restore(None)),
    )
    nothing = root.restore(None)
    say(
        lambda: nothing.assert_consumed(),
        lambda: nothing.assert_existing_objects_matched(),
        lambda: nothing.assert_nontrivial_match(),
        lambda: nothing.run_restore_ops(say.session),
        lambda: nothing.initialize_or_restore(say.session),
        lambda: nothing.expect_partial() is nothing,
    )
    other = tf.train.Checkpoint(
        v=tf.Variable([0.0, 0.0], use_resource=True), extra=tf.Variable(1.0, use_resource=True)
    )
    status = other.restore(path)
    say(
        lambda: status.assert_consumed(),
        lambda: status.assert_existing_objects_matched(),
        lambda: status.assert_nontrivial_match() is status,
    )
    say(lambda: status.initialize_or_restore(say.session))
    say.run(other.v, other.extra)
    typed = tf.train.Checkpoint(v=tf.Variable([1, 2], use_resource=True))
    say(lambda: typed.restore(path).run_restore_ops(say.session))
    empty = tf.train.Checkpoint()
    say(
        lambda: empty.restore(path).assert_nontrivial_match(),
        lambda: empty.restore(path).assert_consumed(),
    )


def deferred(tf, say):
    inner = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0], use_resource=True, name="iv"))
    root = tf.train.Checkpoint(inner=inner, w=tf.Variable(7.0, use_resource=True, name="rw"))
    say.init()
    say.session.run(root.save_counter.initializer)
    path = root.save(say.folder + "/m", session=say.session)
    late = tf.train.Checkpoint()
    status = late.restore(path)
    say(lambda: status.assert_consumed(), lambda: status.assert_existing_objects_matched())
    late.w = tf.Variable(0.0, use_resource=True, name="late")
    say(late.w.initializer, late.w.initial_value, lambda: status.assert_consumed())
    late.inner = tf.train.Checkpoint()
    late.inner.v = tf.Variable([0.0, 0.0], use_resource=True, name="later")
    say(
        lambda: status.assert_consumed() is status,
        lambda: status.initialize_or_restore(say.session),
    )
    say.run(late.w, late.inner.v)


def containers(tf, say):
    root = tf.train.Checkpoint()
    root.items = [
        tf.Variable(1.0, use_resource=True, name="a"),
        [tf.Variable(2.0, use_resource=True, name="b")],
    ]
    root.table = {
        "x": tf.Variable(3.0, use_resource=True, name="c"),
        "y": {"z": tf.Variable(4.0, use_resource=True, name="d")},
    }
    root.pair = (tf.Variable(5.0, use_resource=True, name="e"),)
    say(
        type(root.items),
        type(root.table),
        type(root.pair),
        root.items,
        root.table,
        len(root.items),
        list(root.table),
        isinstance(root.items, list),
        isinstance(root.table, dict),
        root.items == list(root.items),
        root.items[0],
    )
    root.items.append(tf.Variable(6.0, use_resource=True, name="f"))
    root.table["n"] = tf.Variable(7.0, use_resource=True, name="g")
    say.init()
    say.session.run(root.save_counter.initializer)
    path = say(lambda: root.save(say.folder + "/m", session=say.session))
    say(_names(tf, path))
    say.session.run(
        [tf.assign(x, 0.0) for x in tf.global_variables() if x.dtype.base_dtype == tf.float32]
    )
    say(lambda: root.restore(path).assert_consumed().run_restore_ops(say.session))
    say.run(*list(tf.global_variables()))
    root.items.insert(0, tf.Variable(8.0, use_resource=True, name="h"))
    say(lambda: root.save(say.folder + "/n", session=say.session))
    root.table.pop("n")
    say(lambda: root.save(say.folder + "/o", session=say.session))
    other = tf.train.Checkpoint()
    other.strange = {1: tf.Variable(1.0, use_resource=True)}
    other.text = ["a", "b"]
    other.mixed = [tf.Variable(1.0, use_resource=True), 3]
    say.init()
    say.session.run(other.save_counter.initializer)
    say(lambda: other.save(say.folder + "/p", session=say.session))


def optimizers(tf, say):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    for i, optimizer in enumerate(
        (
            tf.train.AdamOptimizer(0.1),
            tf.train.MomentumOptimizer(0.1, 0.9),
            tf.train.GradientDescentOptimizer(0.1),
            tf.train.AdagradOptimizer(0.1),
        )
    ):
        step = optimizer.minimize(tf.reduce_sum(v * v))
        root = tf.train.Checkpoint(
            optimizer=optimizer, v=v, step=tf.Variable(0, use_resource=True, name="step")
        )
        say.init()
        say.session.run(root.save_counter.initializer)
        say.session.run(step)
        path = root.save(say.folder + f"/m{i}", session=say.session)
        say(_names(tf, path))
        before = say.session.run(v)
        say.session.run(step)
        say(lambda: root.restore(path).assert_consumed().run_restore_ops(say.session))
        say(lambda: bool((say.session.run(v) == before).all()))
        say.run(step, v)


def partitioned_and_templates(tf, say):
    t = tf.make_template(
        "t", lambda: tf.get_variable("w", [2], initializer=tf.ones_initializer(), use_resource=True)
    )
    t()
    root = tf.train.Checkpoint(t=t)
    say.init()
    say.session.run(root.save_counter.initializer)
    path = say(lambda: root.save(say.folder + "/m", session=say.session))
    say(_names(tf, path))

    class Mine(tf.train.Checkpoint):
        def __init__(self):
            super().__init__()
            self.a = tf.Variable(1.0, use_resource=True, name="ma")
            self.b = tf.train.Checkpoint(c=self.a)

    mine = Mine()
    say.init()
    say.session.run(mine.save_counter.initializer)
    path = say(lambda: mine.save(say.folder + "/n", session=say.session))
    say(_names(tf, path))
    say(lambda: tf.train.Saver([mine.a]).restore(say.session, path))
    saver = tf.train.Saver({"ma": mine.a})
    old = saver.save(say.session, say.folder + "/old")
    say.session.run(mine.a.assign(9.0))
    say(lambda: tf.train.Checkpoint(a=mine.a).restore(old).initialize_or_restore(say.session))
    say.run(mine.a)


def modules(tf, say):
    class Layer(tf.Module):
        def __init__(self, name=None):
            super().__init__(name=name)
            with self.name_scope:
                self.w = tf.Variable([1.0], use_resource=True, name="w")
                self.frozen = tf.Variable([2.0], use_resource=True, trainable=False, name="frozen")

    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            self.layers = [Layer(), Layer("second")]
            self.extra = {"k": Layer()}

    net = Net()
    say(
        net.name,
        net.name_scope.name if hasattr(net.name_scope, "name") else None,
        net.variables,
        net.trainable_variables,
        [m.name for m in net.submodules],
        net.layers[0].name,
        net.layers[1].name,
    )
    root = tf.train.Checkpoint(net=net)
    say.init()
    say.session.run(root.save_counter.initializer)
    path = say(lambda: root.save(say.folder + "/m", session=say.session))
    say(_names(tf, path))
    say(lambda: root.restore(path).assert_consumed().run_restore_ops(say.session))
    say(lambda: Layer("bad name"), lambda: Layer("1x"), lambda: Layer(""))


def managers(tf, say):
    v = tf.Variable(1.0, use_resource=True, name="v")
    root = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(root, say.folder + "/c", max_to_keep=2)
    say.init()
    say.session.run(root.save_counter.initializer)
    say(manager.latest_checkpoint, manager.checkpoints)
    with say.session.as_default():
        for _ in range(3):
            say(lambda: manager.save())
        say(lambda: manager.save(checkpoint_number=20))
    say(
        manager.checkpoints,
        manager.latest_checkpoint,
        tf.train.latest_checkpoint(say.folder + "/c"),
    )
    again = tf.train.CheckpointManager(root, say.folder + "/c", max_to_keep=5)
    say(again.checkpoints)
    say(
        lambda: tf.train.CheckpointManager(root, say.folder + "/d", max_to_keep=0),
        lambda: tf.train.CheckpointManager(
            root, say.folder + "/d", 1, keep_checkpoint_every_n_hours=-1
        ),
    )
