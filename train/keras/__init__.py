# SPDX-License-Identifier: Apache-2.0
"""`tf.keras`: layers, models that train themselves, and what belongs to them; see names.py."""
