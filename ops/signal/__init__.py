# SPDX-License-Identifier: Apache-2.0
"""`tf.signal`: frames, windows, short-time Fourier and cosine transforms, mel spectrograms.

All is made of other ops; the Fourier transforms themselves are ops/math/fourier.py.
Imports `math`, besides what every family may import.
"""
