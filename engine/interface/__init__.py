# SPDX-License-Identifier: Apache-2.0
"""Public names that belong to no op: `tf.test`, `tf.flags`, `tf.logging`, type specifications.

Imports the rest of engine.
"""
