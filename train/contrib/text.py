# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.text`: pairs of near words, for skip-gram models."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.graph import name_scope
from ...engine.graph.seed import get_seed
from ...engine.types import dtypes
from ...io.files import GFile
from ...ops.lookup.tables import InitializableLookupTableBase, TextFileInitializer
from ...ops.public import raw, tf
from ..inputs.input_batch import batch
from .lookup import HashTable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType

# How much the sum of a vocabulary's frequencies may exceed what is said to be the corpus' size.
_TOLERANCE = 1e-6


@export("contrib.text.skip_gram_sample")
def skip_gram_sample(
    input_tensor: TensorLike,
    min_skips: TensorLike = 1,
    max_skips: TensorLike = 5,
    start: TensorLike = 0,
    limit: TensorLike = -1,
    emit_self_as_target: TensorLike = False,
    vocab_freq_table: object = None,
    vocab_min_count: object = None,
    vocab_subsampling: float | None = None,
    corpus_size: object = None,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Sequence[Tensor]:
    """Words and words near them; how near is drawn for each word (arXiv:1301.3781).

    Args:
        input_tensor: a vector of words: strings or integers.
        min_skips, max_skips: the limits of how far a word looks to both sides.
        start: the first word's place.
        limit: how many words from there are used; -1 for all.
        emit_self_as_target: whether words are near themselves.
        vocab_freq_table: a table from words to their frequencies; others are left out first.
        vocab_min_count: words that are less frequent are left out, too.
        vocab_subsampling: the share of the corpus above which words are left out at random
            (arXiv:1310.4546, equation 5).
        corpus_size: the sum of all frequencies, for that.
        batch_size: the length of the results, by way of a queue; as many as there are if None.
        batch_capacity: how many pairs wait in it; 100 times `batch_size` if None.
        seed: an integer, for what is drawn.
        name: the scope of the operations.

    Returns:
        The words, and as many words near them.

    Raises:
        ValueError: frequencies are spoken of, and not given.

    Example:
        >>> pairs = tf.contrib.text.skip_gram_sample(["a", "b", "c"], min_skips=1, max_skips=1)
        >>> tokens, labels = tf.Session().run(pairs)
        >>> b" ".join(tokens), b" ".join(labels)
        (b'a b b c', b'b a c b')
    """
    facts = (vocab_min_count, vocab_subsampling, corpus_size)
    if vocab_freq_table is None and any(fact is not None for fact in facts):
        raise ValueError(
            f"vocab_freq_table is not provided, but vocab_min_count={vocab_min_count}, "
            f"vocab_subsampling={vocab_subsampling}, or corpus_size={corpus_size} is not None. "
            "These settings are useless without a vocab_freq_table."
        )
    if (vocab_subsampling is None) != (corpus_size is None):
        raise ValueError(
            f"vocab_subsampling is {vocab_subsampling} while corpus_size is {corpus_size} - both "
            "must be provided in order for subsampling to work."
        )
    values = [input_tensor, min_skips, max_skips, start, limit]
    with name_scope(name, "skip_gram_sample", values):
        words = _filter_input(input_tensor, vocab_freq_table, *facts, seed)
        seed1, seed2 = get_seed(seed)
        pairs = raw.SkipGramGenerateCandidates(
            *(words, min_skips, max_skips, start, limit, emit_self_as_target),
            seed=seed1 or 0,
            seed2=seed2 or 0,
        )
        if batch_size is None or batch_size <= 0:
            return pairs
        capacity = batch_capacity if batch_capacity and batch_capacity > 0 else 100 * batch_size
        return batch(list(pairs), batch_size, capacity=capacity, enqueue_many=True)


def _filter_input(
    input_tensor: Any,
    vocab_freq_table: Any,
    vocab_min_count: Any,
    vocab_subsampling: float | None,
    corpus_size: Any,
    seed: int | None,
) -> Any:
    """The words that are in a table, often enough, and not drawn to be left out."""
    words, table, share = input_tensor, vocab_freq_table, vocab_subsampling
    if table is None:
        return words
    if not isinstance(table, InitializableLookupTableBase):
        raise ValueError(
            "vocab_freq_table must be a subclass of InitializableLookupTableBase (such as "
            f"HashTable) instead of type {type(table)}."
        )
    with name_scope("filter_vocab", values=[words, vocab_min_count]):
        frequency = table.lookup(words)
        mask = tf.not_equal(frequency, table.default_value)
        if vocab_min_count is not None:
            enough = tf.greater_equal(frequency, tf.cast(vocab_min_count, frequency.dtype))
            mask = tf.logical_and(mask, enough)
        words, frequency = tf.boolean_mask(words, mask), tf.boolean_mask(frequency, mask)
    if not share:
        return words
    if share < 0 or share > 1:
        raise ValueError(f"Invalid vocab_subsampling={share} - it should be within range [0, 1].")
    with name_scope("subsample_vocab", values=[words, frequency, share]):
        size = tf.cast(corpus_size, dtypes.float64)
        frequency = tf.cast(frequency, dtypes.float64)
        threshold = tf.cast(share, dtypes.float64)
        kept = (tf.sqrt(frequency / (threshold * size)) + 1.0) * (threshold * size / frequency)
        draw = tf.random_uniform(
            tf.shape(frequency), minval=0, maxval=1, dtype=dtypes.float64, seed=seed
        )
        return tf.boolean_mask(words, tf.less_equal(draw, kept))


@export("contrib.text.skip_gram_sample_with_text_vocab")
def skip_gram_sample_with_text_vocab(
    input_tensor: TensorLike,
    vocab_freq_file: str,
    vocab_token_index: int = 0,
    vocab_token_dtype: DType = dtypes.string,
    vocab_freq_index: int = 1,
    vocab_freq_dtype: DType = dtypes.float64,
    vocab_delimiter: str = ",",
    vocab_min_count: object = 0,
    vocab_subsampling: float | None = None,
    corpus_size: object = None,
    min_skips: TensorLike = 1,
    max_skips: TensorLike = 5,
    start: TensorLike = 0,
    limit: TensorLike = -1,
    emit_self_as_target: TensorLike = False,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Sequence[Tensor]:
    """`skip_gram_sample` with a table of frequencies from a text file.

    Args:
        input_tensor: a vector of words.
        vocab_freq_file: a file whose lines have a word and its frequency among their columns.
        vocab_token_index, vocab_freq_index: which columns.
        vocab_token_dtype, vocab_freq_dtype: what they hold.
        vocab_delimiter: what is between columns.
        corpus_size: the sum of all frequencies, if it is more than that of the file.
        vocab_min_count, vocab_subsampling, min_skips, max_skips, start, limit,
            emit_self_as_target, batch_size, batch_capacity, seed, name: as of `skip_gram_sample`.

    Returns:
        The words, and as many words near them.

    Raises:
        ValueError: there are no such columns, or a frequency is below 0.
    """
    if vocab_token_index < 0 or vocab_freq_index < 0:
        raise ValueError(
            f"vocab_token_index={vocab_token_index} and vocab_freq_index={vocab_freq_index} must "
            "both be >= 0."
        )
    if vocab_token_index == vocab_freq_index:
        raise ValueError(
            "vocab_token_index and vocab_freq_index should be different, but are both "
            f"{vocab_token_index}."
        )
    columns = (vocab_token_index, vocab_freq_index)
    with GFile(vocab_freq_file, mode="r") as file:
        rows = csv.reader(file, delimiter=vocab_delimiter)
        frequencies = _frequencies(rows, columns, vocab_freq_dtype)
    total = sum(frequencies)
    if corpus_size and total - corpus_size > _TOLERANCE:
        raise ValueError(
            f"`corpus_size`={corpus_size} must be greater than or equal to the sum of all the "
            f"frequency counts ({total}) of `vocab_freq_file` ({vocab_freq_file})."
        )
    initializer = TextFileInitializer(
        filename=vocab_freq_file,
        key_dtype=vocab_token_dtype,
        key_index=vocab_token_index,
        value_dtype=vocab_freq_dtype,
        value_index=vocab_freq_index,
        vocab_size=len(frequencies),
        delimiter=vocab_delimiter,
    )
    table = HashTable(initializer, default_value=-1)
    size = None if vocab_subsampling is None else corpus_size or total
    return skip_gram_sample(
        *(input_tensor, min_skips, max_skips, start, limit, emit_self_as_target, table),
        *(vocab_min_count, vocab_subsampling, size, batch_size, batch_capacity, seed, name),
    )


def _frequencies(rows: Iterable[list[str]], columns: tuple[int, int], dtype: DType) -> list[Any]:
    found = []
    for row in rows:
        token, place = columns
        if max(columns) >= len(row):
            raise ValueError(
                f"Row in vocab file only has {len(row)} columns, so vocab_token_index={token} or "
                f"vocab_freq_index={place} is out of bounds. Row content: {row}"
            )
        frequency = dtype.as_numpy_dtype(row[place])
        if frequency < 0:
            raise ValueError(
                f"Row in vocab file has negative frequency of {frequency}. Row content: {row}"
            )
        found.append(frequency)
    return found
