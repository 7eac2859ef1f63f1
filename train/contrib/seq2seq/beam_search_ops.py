# SPDX-License-Identifier: Apache-2.0
"""The op of beam search, as programs import it from here."""

from __future__ import annotations

from ....ops.nn.beam_search import gather_tree as gather_tree
