# SPDX-License-Identifier: Apache-2.0
"""Images: resizing, boxes in them, and their files: JPEG, PNG, GIF and BMP.

Imports what every family may import, and strings as arrays from `strings`.
"""
