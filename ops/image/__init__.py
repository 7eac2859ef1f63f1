# SPDX-License-Identifier: Apache-2.0
"""Images: resizing, and boxes in them.

Imports what every family may import: `engine`, and the modules of `ops` itself.
"""
