# SPDX-License-Identifier: Apache-2.0
"""What dataset nodes make: datasets, which are values, and the streams of elements they give.

`dataset.py` says what both are; the modules beside it have the kinds, by what they do.
"""
