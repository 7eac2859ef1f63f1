# SPDX-License-Identifier: Apache-2.0
"""The op types of `tf.data`: names, attributes and shapes, and which dataset each makes."""
