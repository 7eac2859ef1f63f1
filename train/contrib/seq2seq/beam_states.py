# SPDX-License-Identifier: Apache-2.0
"""What a beam search keeps between steps, and what a step gives."""

from __future__ import annotations

from collections import namedtuple

from ....engine.api import export


@export("contrib.seq2seq.BeamSearchDecoderState")
class BeamSearchDecoderState(
    namedtuple(
        "BeamSearchDecoderState",
        ("cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"),
    )
):
    """The state of a beam search (tf.contrib.seq2seq.BeamSearchDecoderState).

    Args:
        cell_state: the cell's, with an axis for the beams.
        log_probs: [batch, beams], the sums of what the steps gave.
        finished: bool [batch, beams].
        lengths: int64 [batch, beams].
        accumulated_attention_probs: [batch, beams, memory], or ().
    """

    __slots__ = ()


@export("contrib.seq2seq.BeamSearchDecoderOutput")
class BeamSearchDecoderOutput(
    namedtuple("BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))
):
    """What a step of a beam search gives (tf.contrib.seq2seq.BeamSearchDecoderOutput).

    Args:
        scores: [batch, beams].
        predicted_ids: int32 [batch, beams], what each beam took.
        parent_ids: int32 [batch, beams], which beam it came from.
    """

    __slots__ = ()
