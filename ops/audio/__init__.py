# SPDX-License-Identifier: Apache-2.0
"""Sounds: WAV files, spectrograms and cepstra.

Imports what every family may import: `engine`, and the modules of `ops` itself.
"""
