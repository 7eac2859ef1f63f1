# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.tpu` where there is no TPU: estimators with use_tpu=False, and what they name.

What needs a TPU is stated in train/contrib/unavailable.py.
"""
