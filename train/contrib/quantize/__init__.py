# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.quantize`: graphs changed so that nets learn what eight bits leave of them."""
