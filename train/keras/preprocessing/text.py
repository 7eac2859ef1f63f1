# SPDX-License-Identifier: Apache-2.0
"""Texts as numbers of words."""

from __future__ import annotations

import json
import warnings
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator
from hashlib import md5
from typing import Any

import numpy as np

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(
    text: str, filters: str = _FILTERS, lower: bool = True, split: str = " "
) -> list[str]:
    """The words of a text.

    Args:
        text: the text.
        filters: characters that separate words.
        lower: whether words are made lower case.
        split: what words are separated by.
    """
    text = text.lower() if lower else text
    separators: dict[int, str] = {ord(character): split for character in filters}
    clean = text.translate(separators)
    return [word for word in clean.split(split) if word]


def one_hot(
    text: str, n: int, filters: str = _FILTERS, lower: bool = True, split: str = " "
) -> list[int]:
    """Each word as a number from 1 on below n, by Python's hash; several words may have one."""
    return hashing_trick(text, n, hash, filters, lower, split)


def hashing_trick(
    text: str,
    n: int,
    hash_function: Any = None,
    filters: str = _FILTERS,
    lower: bool = True,
    split: str = " ",
) -> list[int]:
    """Each word as a number from 1 on below n; several words may have one.

    Args:
        text: the text.
        n: above all numbers.
        hash_function: a function of a word, "md5", or Python's hash if None.
        filters, lower, split: as of text_to_word_sequence.
    """
    function: Callable[[str], int] = hash if hash_function is None else hash_function
    if hash_function == "md5":

        def function(word: str) -> int:
            return int(md5(word.encode()).hexdigest(), 16)

    words = text_to_word_sequence(text, filters=filters, lower=lower, split=split)
    return [int(function(word) % (n - 1) + 1) for word in words]


class Tokenizer:
    """Numbers of words by their frequency, the most frequent being 1.

    Args:
        num_words: only numbers below it are used; None for all.
        filters, lower, split: as of text_to_word_sequence.
        char_level: whether characters are counted instead of words.
        oov_token: what stands for words that were not seen; it gets the number 1.
        document_count: the number of texts so far.
    """

    def __init__(
        self,
        num_words: int | None = None,
        filters: str = _FILTERS,
        lower: bool = True,
        split: str = " ",
        char_level: bool = False,
        oov_token: str | None = None,
        document_count: int = 0,
        **kwargs: Any,
    ) -> None:
        if "nb_words" in kwargs:
            warnings.warn(
                "The `nb_words` argument in `Tokenizer` has been renamed `num_words`.", stacklevel=2
            )
            num_words = kwargs.pop("nb_words")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.word_counts: OrderedDict[str, int] = OrderedDict()
        self.word_docs: Any = defaultdict(int)
        self.filters, self.split, self.lower = filters, split, lower
        self.num_words, self.document_count = num_words, document_count
        self.char_level, self.oov_token = char_level, oov_token
        self.index_docs: Any = defaultdict(int)
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}

    def _words(self, text: Any) -> Any:
        if not self.char_level and not isinstance(text, list):
            return text_to_word_sequence(text, self.filters, self.lower, self.split)
        if not self.lower:
            return text
        return [part.lower() for part in text] if isinstance(text, list) else text.lower()

    def fit_on_texts(self, texts: Iterable[Any]) -> None:
        """Counts the words of texts, each a text or a list of words, and numbers them."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        ranked = sorted(self.word_counts.items(), key=lambda item: item[1], reverse=True)
        first = [] if self.oov_token is None else [self.oov_token]
        listed = [*first, *(word for word, _ in ranked)]
        self.word_index = {word: number for number, word in enumerate(listed, 1)}
        self.index_word = {number: word for word, number in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences: Iterable[Any]) -> None:
        """Counts the numbers of words in sequences."""
        for sequence in sequences:
            self.document_count += 1
            for number in set(sequence):
                self.index_docs[number] += 1

    def texts_to_sequences(self, texts: Iterable[Any]) -> list[list[int]]:
        """Texts as lists of numbers; words without one are left out, or are the `oov_token`'s."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[Any]) -> Iterator[list[int]]:
        """The same, text by text."""
        unknown = self.word_index.get(self.oov_token) if self.oov_token is not None else None
        limit = self.num_words
        for text in texts:
            found = []
            for word in self._words(text):
                number = self.word_index.get(word)
                if number is None or (limit and number >= limit):
                    number = unknown
                if number is not None:
                    found.append(number)
            yield found

    def sequences_to_texts(self, sequences: Iterable[Any]) -> list[str]:
        """Lists of numbers as texts."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Iterable[Any]) -> Iterator[str]:
        """The same, list by list."""
        unknown = self.oov_token if self.oov_token in self.word_index else None
        limit = self.num_words
        for sequence in sequences:
            words = []
            for number in sequence:
                word = self.index_word.get(number)
                if word is None or (limit and number >= limit):
                    word = unknown
                if word is not None:
                    words.append(word)
            yield " ".join(words)

    def texts_to_matrix(self, texts: Iterable[Any], mode: str = "binary") -> Any:
        """Texts as rows of an array, a column for each number; modes as of sequences_to_matrix."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences: Any, mode: str = "binary") -> Any:
        """Lists of numbers as rows of an array, a column for each number.

        Args:
            sequences: the lists.
            mode: "binary", "count", "freq" or "tfidf".

        Raises:
            ValueError: the mode is unknown, or there are neither words nor a limit.
        """
        if not self.num_words and not self.word_index:
            raise ValueError(
                "Specify a dimension (`num_words` argument), or fit on some text data first."
            )
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError("Unknown vectorization mode:", mode)
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        width = self.num_words or len(self.word_index) + 1
        rows = np.zeros((len(sequences), width))
        for row, sequence in zip(rows, sequences):
            for number, count in Counter(n for n in sequence if n < width).items():
                if mode == "count":
                    row[number] = count
                elif mode == "freq":
                    row[number] = count / len(sequence)
                elif mode == "binary":
                    row[number] = 1
                else:
                    rarity = self.document_count / (1 + self.index_docs.get(number, 0))
                    row[number] = (1 + np.log(count)) * np.log(1 + rarity)
        return rows

    def get_config(self) -> dict[str, Any]:
        """The arguments and what was counted, as text."""
        return {
            "num_words": self.num_words,
            "filters": self.filters,
            "lower": self.lower,
            "split": self.split,
            "char_level": self.char_level,
            "oov_token": self.oov_token,
            "document_count": self.document_count,
            "word_counts": json.dumps(self.word_counts),
            "word_docs": json.dumps(self.word_docs),
            "index_docs": json.dumps(self.index_docs),
            "index_word": json.dumps(self.index_word),
            "word_index": json.dumps(self.word_index),
        }

    def to_json(self, **kwargs: Any) -> str:
        """The configuration as JSON; arguments as of json.dumps."""
        return json.dumps({"class_name": "Tokenizer", "config": self.get_config()}, **kwargs)


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """The tokenizer of what `to_json` gave."""
    config = json.loads(json_string)["config"]
    counted = {
        name: json.loads(config.pop(name))
        for name in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
    }
    made = Tokenizer(**config)
    for name in ("index_docs", "index_word"):
        counted[name] = {int(number): value for number, value in counted[name].items()}
    for name, value in counted.items():
        setattr(made, name, value)
    return made
