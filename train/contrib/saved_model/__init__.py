# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.saved_model`: what a SavedModel's folder holds."""
