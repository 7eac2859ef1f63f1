# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.distributions.bijectors`: functions that can be undone, and how they stretch volumes.

Their base and the identity are in `ops/distributions/bijector.py`.
"""
