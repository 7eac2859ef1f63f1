# SPDX-License-Identifier: Apache-2.0
"""Pictures and sounds, damaged, given to what decodes them; see damage.py."""

from __future__ import annotations

import base64
import json
import random
import struct
import zlib
from pathlib import Path

import numpy as np
from damage import damaged
from damaged_formats import Format

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.audio import wav
from numbaflow.ops.image.codec_samples import with_right_checksums

# Small files of all kinds: of one colour and of many, in turns of lines, of several frames.
_FACTS = Path(__file__).parents[1] / "ops" / "image" / "codec_facts_1_15.json"
# Where a kind of file has its sizes: behind which bytes, and how far.
_SIZES = {"jpeg": (b"\xff\xc0", 5), "png": (b"IHDR", 4), "gif": (b"GIF", 6), "bmp": (b"BM", 18)}


class Pictures(Format):
    """Image files of one kind, given to their decoder and to one that looks what they are."""

    kind = ""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        known = json.loads(_FACTS.read_text())["files"]
        self.session = tf.Session(graph=tf.Graph())
        with self.session.graph.as_default():
            self.text = tf.placeholder(tf.string, [])
            decode = getattr(tf.image, f"decode_{self.kind}")
            self.results = [decode(self.text), tf.image.decode_image(self.text)]
        files = [base64.b64decode(known[name]) for name in known if self.kind in name]
        self.files = [data for data in files if self._is_whole(data)]

    def _is_whole(self, data: bytes) -> bool:
        try:
            self.read((0, data))
        except tf.errors.InvalidArgumentError:
            return False
        return True

    def damaged(self, rng: random.Random) -> tuple[int, bytes]:
        data = bytearray(rng.choice(self.files))
        text, distance = _SIZES[self.kind]
        at = data.find(text) + distance
        if rng.random() < 0.3:  # sizes that are large
            for i in range(rng.choice((2, 4, 8))):
                data[at + i : at + i + 1] = rng.choice((b"\0", b"\x7f", b"\xff"))
        return rng.randrange(2), self.changed(bytes(data), rng)

    def changed(self, data: bytes, rng: random.Random) -> bytes:
        """A file with some damage."""
        return damaged(data, rng)

    def read(self, thing: tuple[int, bytes]) -> None:
        number, data = thing
        with settings.override(jit="never"):
            self.session.run(self.results[number], {self.text: data})


class Jpegs(Pictures):
    kind = "jpeg"


class Pngs(Pictures):
    kind = "png"

    def changed(self, data: bytes, rng: random.Random) -> bytes:
        if rng.random() < 0.4:
            data = _with_other_lines(data, rng)
        found = damaged(data, rng) if rng.random() < 0.7 else data
        return with_right_checksums(found) if rng.random() < 0.7 else found


def _with_other_lines(data: bytes, rng: random.Random) -> bytes:
    """A PNG file with damage to what its pixels are before they are compressed."""
    before, text, behind = data.partition(b"IDAT")
    size = int.from_bytes(before[-4:], "big")
    try:
        lines = zlib.decompress(behind[:size])
    except zlib.error:  # (there is more than one such chunk)
        return data
    pixels = zlib.compress(damaged(lines, rng))
    return before[:-4] + struct.pack(">I", len(pixels)) + text + pixels + behind[size:]


class Gifs(Pictures):
    kind = "gif"


class Bmps(Pictures):
    kind = "bmp"


class Sounds(Format):
    """WAV files, decoded as they are and to numbers of samples and channels."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        sound = np.linspace(-1, 1, 40, dtype=np.float32)
        plain = [wav.encode(sound.reshape(-1, channels), 8000) for channels in (1, 2, 5)]
        self.files = [*plain, *map(_with_more_chunks, plain)]
        self.session = tf.Session(graph=tf.Graph())
        with self.session.graph.as_default():
            self.text = tf.placeholder(tf.string, [])
            decode = tf.audio.decode_wav
            self.results = [
                decode(self.text),
                decode(self.text, desired_channels=3, desired_samples=7),
                decode(self.text, desired_samples=100),
            ]

    def damaged(self, rng: random.Random) -> tuple[int, bytes]:
        return rng.randrange(3), damaged(rng.choice(self.files), rng)

    def read(self, thing: tuple[int, bytes]) -> None:
        number, data = thing
        with settings.override(jit="never"):
            self.session.run(self.results[number], {self.text: data})


def _with_more_chunks(data: bytes) -> bytes:
    """A WAV file with a longer description and chunks that nobody reads before and behind."""
    form, rest = data[20:36], data[36:]
    other = b"LIST" + struct.pack("<I", 4) + b"abcd"
    body = b"WAVEfmt " + struct.pack("<I", 18) + form + b"\0\0" + other + rest + other
    return b"RIFF" + struct.pack("<I", len(body)) + body


FORMATS: dict[str, type[Format]] = {
    "bmps": Bmps,
    "gifs": Gifs,
    "jpegs": Jpegs,
    "pngs": Pngs,
    "sounds": Sounds,
}
