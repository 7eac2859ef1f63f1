# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.legacy_seq2seq`: sequence models unrolled over lists of tensors, one per time step.

Decoders are in seq2seq.py, whole models in models.py, buckets and losses in losses.py.
"""
