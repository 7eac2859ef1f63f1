# SPDX-License-Identifier: Apache-2.0
"""Neural networks: convolution, pooling, normalization, activations, losses, embeddings.

Imports `math`, `random`, `sparse` and `state`, besides what every family may import.
"""
