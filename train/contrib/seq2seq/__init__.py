# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.seq2seq`: decoders, what they are fed with, attention, beam search and a loss.

A decoder is a loop around a cell; a helper says what the cell gets next.
"""
