# SPDX-License-Identifier: Apache-2.0
"""`tf.data`: pipelines of datasets and the iterators that read them.

The Python classes build TensorFlow's own nodes; what these make and run lies in `runtime/`.
"""
