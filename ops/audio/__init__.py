# SPDX-License-Identifier: Apache-2.0
"""Sounds: WAV files, spectrograms and cepstra.

Imports what every family may import, and strings as arrays from `strings`.
"""
