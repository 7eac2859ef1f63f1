# SPDX-License-Identifier: Apache-2.0
"""Training: optimizers and what surrounds them.

Imports `engine`, `ops` and `io`.
"""
