# SPDX-License-Identifier: Apache-2.0
"""What training knows of variables: their kinds, slots, averages, the global step.

Imports `engine`, `ops` and `io`.
"""
