# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.mixed_precision`: losses scaled up before gradients, so that small ones stay apart
from 0 in float16.
"""
