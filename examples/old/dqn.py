# SPDX-License-Identifier: Apache-2.0
"""Learning to balance a pole by Q-learning with a memory and a second, slower network.

The pole on its cart is simulated here.  Expected: in the last episodes it stands for most of the
200 steps that an episode lasts.

    numbaflow run examples/old/dqn.py
"""

import argparse
import collections

import numpy as np
import tensorflow as tf


class Pole:
    """A cart that is pushed left or right, with a pole on it, 50 times a second."""

    def __init__(self, rng):
        self._rng = rng

    def reset(self):
        self._state, self._age = self._rng.uniform(-0.05, 0.05, 4), 0
        return self._state

    def step(self, action):
        _, speed, angle, turning = self._state
        force = 10.0 if action else -10.0
        push = (force + 0.05 * turning**2 * np.sin(angle)) / 1.1
        spin = (9.8 * np.sin(angle) - np.cos(angle) * push) / (
            0.5 * (4.0 / 3.0 - 0.1 * np.cos(angle) ** 2 / 1.1)
        )
        forward = push - 0.05 * spin * np.cos(angle) / 1.1
        change = np.array([speed, forward, turning, spin])
        self._state, self._age = self._state + 0.02 * change, self._age + 1
        fallen = abs(self._state[0]) > 2.4 or abs(self._state[2]) > 0.21
        return self._state, 1.0, fallen, self._age >= 200


def values(states, scope):
    """What each action is worth."""
    with tf.variable_scope(scope):
        x = tf.layers.dense(states, 64, tf.nn.relu)
        return tf.layers.dense(tf.layers.dense(x, 64, tf.nn.relu), 2)


class Learner:
    """The two networks, and a step of learning."""

    def __init__(self, discount=0.98):
        self.states = tf.placeholder(tf.float32, [None, 4])
        self.next_states = tf.placeholder(tf.float32, [None, 4])
        self.actions = tf.placeholder(tf.int32, [None])
        self.rewards = tf.placeholder(tf.float32, [None])
        self.fallen = tf.placeholder(tf.float32, [None])
        online, slow = values(self.states, "online"), values(self.next_states, "slow")
        self.best = tf.argmax(online, 1)
        worth = tf.reduce_sum(online * tf.one_hot(self.actions, 2), 1)
        target = self.rewards + discount * (1 - self.fallen) * tf.reduce_max(slow, 1)
        self.loss = tf.losses.huber_loss(tf.stop_gradient(target), worth)
        pairs = zip(tf.global_variables("slow"), tf.global_variables("online"))
        self.follow = tf.group(*[a.assign(b) for a, b in pairs])
        optimizer = tf.train.RMSPropOptimizer(1e-3, decay=0.95)
        self.train = optimizer.minimize(self.loss, var_list=tf.trainable_variables("online"))

    def feed(self, batch):
        columns = [np.array(column) for column in zip(*batch)]
        names = (self.states, self.actions, self.rewards, self.next_states, self.fallen)
        return dict(zip(names, columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--every", type=int, default=500, help="steps between printed losses")
    args = parser.parse_args()

    rng = np.random.RandomState(1)
    tf.set_random_seed(1)
    learner, memory, pole = Learner(), collections.deque(maxlen=5000), Pole(rng)
    state, standing, stood = pole.reset(), 0, []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(learner.follow)
        for step in range(1 - 64, args.steps + 1):
            action = rng.randint(2)
            if rng.uniform() > max(0.02, 1 - step / 1500.0):
                action = session.run(learner.best, {learner.states: [state]})[0]
            following, reward, fallen, over = pole.step(action)
            memory.append((state, action, reward, following, float(fallen)))
            state, standing = following, standing + 1
            if fallen or over:
                stood.append(standing)
                state, standing = pole.reset(), 0
            if step < 1:
                continue  # Filling the memory first.
            batch = [memory[i] for i in rng.randint(0, len(memory), 64)]
            loss, _ = session.run([learner.loss, learner.train], learner.feed(batch))
            if step % 100 == 0:
                session.run(learner.follow)
            if step % args.every == 0:
                print(f"step {step}: loss {loss:.6f}")
    print(f"steps that the pole stood in the last episodes: {np.mean(stood[-5:]):.1f}")


if __name__ == "__main__":
    main()
