# SPDX-License-Identifier: Apache-2.0
"""Networks of layers and models: what is made of what, and how models are trained."""
