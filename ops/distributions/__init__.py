# SPDX-License-Identifier: Apache-2.0
"""`tf.distributions`: random variables with samples, densities, moments and divergences.

Built from public functions alone; imported when one of its names is first used.
Imports `math` and `nn`, besides what every family may import.
"""
