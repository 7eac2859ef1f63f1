# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.image`: images turned and warped, splines, matches, components, pictures of dots.

Imports `ops`, where the new op types live.
"""
