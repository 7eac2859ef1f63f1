# SPDX-License-Identifier: Apache-2.0
"""Images: resizing, boxes in them, and their files: JPEG, PNG, GIF and BMP.

Imports `math`, `nn` and `random`, besides what every family may import.
"""
