# SPDX-License-Identifier: Apache-2.0
"""`tensorflow.contrib.session_bundle`: what models were exported as before SavedModels.

It has no public names: programs import its modules. Imports `engine`, `io` and the rest of `train`.
"""
