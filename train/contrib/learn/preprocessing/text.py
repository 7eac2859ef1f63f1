# SPDX-License-Identifier: Apache-2.0
"""Texts as rows of numbers: of words, or of bytes."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from .....engine.api import constant, export
from .....io.files import GFile
from . import pickles
from .categorical_vocabulary import CategoricalVocabulary

# Capitals, words within CamelCase, and words with apostrophes and hyphens.
TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)
constant("contrib.learn.preprocessing.TOKENIZER_RE", TOKENIZER_RE)


@export("contrib.learn.preprocessing.tokenizer")
def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of one text after another.

    Args:
        iterator: texts.

    Yields:
        A list of the text's words.
    """
    for value in iterator:
        yield TOKENIZER_RE.findall(value)


@export("contrib.learn.preprocessing.ByteProcessor")
class ByteProcessor:
    """Texts as rows of their bytes.

    Args:
        max_document_length: the length of rows.
    """

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: object) -> None:
        """Does nothing: bytes need not be learned."""

    def fit_transform(self, x: Iterable[str | bytes]) -> Iterator[Any]:
        """`transform`."""
        return self.transform(x)

    def reverse(self, x: Iterable[Any]) -> Iterator[str]:
        """The texts of rows; "" where one is no UTF-8."""
        for data in x:
            document = np.trim_zeros(np.asarray(data).astype(np.uint8), trim="b").tobytes()
            try:
                yield document.decode("utf-8")
            except UnicodeDecodeError:
                yield ""

    def transform(self, x: Iterable[str | bytes]) -> Iterator[Any]:
        """Rows of bytes, cut or filled up with zeros."""
        for document in x:
            data = document.encode("utf-8") if isinstance(document, str) else bytes(document)
            row = np.zeros(self.max_document_length, np.uint8)
            data = data[: self.max_document_length]
            row[: len(data)] = np.frombuffer(data, np.uint8)
            yield row


@export("contrib.learn.preprocessing.VocabularyProcessor")
class VocabularyProcessor:
    """Texts as rows of their words' numbers.

    Args:
        max_document_length: the length of rows.
        min_frequency: words that occur that often, or less, are unknown; 0 keeps all.
        vocabulary: a CategoricalVocabulary; a new one if None.
        tokenizer_fn: a function from texts to their words.

    Example:
        >>> texts = ["a small test", "a test"]
        >>> processor = tf.contrib.learn.preprocessing.VocabularyProcessor(4)
        >>> [row.tolist() for row in processor.fit_transform(texts)]
        [[1, 2, 3, 0], [1, 3, 0, 0]]
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[Any]] | None = None,
    ) -> None:
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: object = None) -> VocabularyProcessor:
        """Learns the words of texts; from then on others are unknown."""
        for tokens in self._tokenizer(raw_documents):
            for token in tokens:
                self.vocabulary_.add(token)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Iterable[str], unused_y: object = None) -> Iterator[Any]:
        """Learns the words of texts, and gives their rows."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[Any]:
        """Rows of words' numbers, cut or filled up with zeros."""
        for tokens in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for place, token in zip(range(self.max_document_length), tokens):
                row[place] = self.vocabulary_.get(token)
            yield row

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """The texts of rows, as far as words are known."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(class_id) for class_id in row)

    def save(self, filename: str) -> None:
        """Writes the processor into a file, which TensorFlow reads where numbaflow stands for it.

        Args:
            filename: the file's path.
        """
        data = pickle.dumps(self)
        with GFile(filename, "wb") as file:
            file.write(data)

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """Reads a processor that `save` wrote, here or in TensorFlow.

        Args:
            filename: the file's path.

        Returns:
            A VocabularyProcessor.

        Raises:
            pickle.UnpicklingError: the file holds something else.
        """
        with GFile(filename, "rb") as file:
            data = file.read()
        made = pickles.loads(data)
        if not isinstance(made, cls):
            raise pickle.UnpicklingError(f"{filename} holds a {type(made)}, no {cls.__name__}")
        return made
