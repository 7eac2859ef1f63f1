# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.solvers`: systems of equations by products with a matrix alone."""
