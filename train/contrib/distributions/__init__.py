# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.distributions`: distributions beyond the core's, of numbers, vectors and mixtures.

What the core has is in `ops/distributions`; `bijectors` holds the functions that transform draws.
"""
