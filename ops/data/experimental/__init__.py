# SPDX-License-Identifier: Apache-2.0
"""`tf.data.experimental`: transformations, sources and sinks beside those of `tf.data`.

Functions for `Dataset.apply`, and classes whose nodes lie in `../nodes/`.
"""
