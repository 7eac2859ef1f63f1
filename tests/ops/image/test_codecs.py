# SPDX-License-Identifier: Apache-2.0
"""Pictures as files: what TensorFlow 1.15 made of the same files, and files that are damaged."""

from __future__ import annotations

import base64
import importlib.util
import json
import threading
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings
from numbaflow.ops.image import jpeg_decoding, jpeg_header
from numbaflow.ops.image.codec_samples import BMP, GIF, JPEG, PNG, with_right_checksums
from numbaflow.ops.image.png_chunks import SIGNATURE, chunk, header_chunk

pytestmark = pytest.mark.programs

# Made by TensorFlow 1.15.5: files, and of what each op gives its shape and checksum, or the error.
FACTS = json.loads(Path(__file__).with_name("codec_facts_1_15.json").read_text())
FILES = {name: base64.b64decode(text) for name, text in FACTS["files"].items()}
HAS_TURBO = importlib.util.find_spec("simplejpeg") is not None
DECODERS = {"jpeg": "decode_jpeg", "png": "decode_png", "gif": "decode_gif", "bmp": "decode_bmp"}
SAMPLES = {"jpeg": JPEG, "png": PNG, "gif": GIF, "bmp": BMP}


@pytest.fixture
def session() -> Any:
    # Decoders have no compiled form: tests/ops/test_registry.py runs them within plans.
    with tf.Graph().as_default(), settings.override(jit="never"), tf.Session() as sess:
        yield sess


def run(session: Any, name: str, *inputs: Any, **options: Any) -> Any:
    return session.run(getattr(tf.image, name)(*inputs, **options))


def outcome(session: Any, row: dict[str, Any]) -> dict[str, Any]:
    options = {k: getattr(tf, v) if k == "dtype" else v for k, v in row["kw"].items()}
    try:
        found = run(session, row["op"], FILES[row["file"]], **options)
    except tf.errors.InvalidArgumentError as error:
        return {"error": error.message.partition("\n")[0]}
    crc = zlib.crc32(np.ascontiguousarray(found).tobytes())
    return {"shape": list(found.shape), "dtype": str(found.dtype), "crc": crc}


def of_file(row: dict[str, Any]) -> str:
    return row["file"]


@pytest.mark.parametrize("file", sorted({of_file(row) for row in FACTS["rows"]}))
def test_files_are_decoded_as_by_tensorflow_1_15(session: Any, file: str) -> None:
    rows = [row for row in FACTS["rows"] if row["file"] == file]
    if "jpeg" in file and not HAS_TURBO:
        pytest.skip("exact with simplejpeg alone")
    for row in rows:
        expected = {k: row[k] for k in ("error", "shape", "dtype", "crc") if k in row}
        assert outcome(session, row) == expected, row["kw"]


def smooth(height: int, width: int, depth: int = 3) -> np.ndarray:
    y, x = np.mgrid[:height, :width]
    planes = [(3 * y + 2 * x) % 256, (x * 255) // max(1, width - 1), (y * y // 7) % 256, x * 0 + 9]
    return np.stack(planes[:depth], axis=2).astype(np.uint8)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_png_keeps_every_bit(session: Any, depth: int, dtype: Any) -> None:
    pixels = smooth(13, 11, depth).astype(dtype)
    if dtype == np.uint16:
        pixels = pixels * np.uint16(257) + np.uint16(3)
    for compression in (-1, 0, 9):
        text = tf.image.encode_png(tf.constant(pixels), compression=compression)
        found = session.run(tf.image.decode_png(text, dtype=pixels.dtype))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, pixels)


# Of TensorFlow 1.15.5: a picture, how it is compressed, and the file's length and checksum.
PNG_FILES = [
    (1, 1, 3, "uint8", -1, 69, 1194576122),
    (1, 40, 1, "uint8", -1, 70, 1187376758),
    (40, 1, 2, "uint8", -1, 74, 3364808640),
    (13, 11, 4, "uint16", 9, 113, 3418030219),
    (60, 70, 3, "uint8", 1, 373, 220905325),
    (5, 9, 4, "uint16", 0, 253, 2675359654),
    (600, 500, 4, "uint16", 1, 19513, 2748574124),
    (90, 200, 4, "uint16", -1, 1091, 3706361657),
]


@pytest.mark.skipif("ng" in zlib.ZLIB_RUNTIME_VERSION, reason="zlib-ng compresses otherwise")
@pytest.mark.parametrize(("height", "width", "depth", "dtype", "level", "size", "crc"), PNG_FILES)
def test_png_files_are_those_of_tensorflow(
    session: Any, height: int, width: int, depth: int, dtype: str, level: int, size: int, crc: int
) -> None:
    pixels = smooth(height, width, depth).astype(dtype)
    if dtype == "uint16":
        pixels = pixels * np.uint16(251) + np.uint16(3)
    data = run(session, "encode_png", pixels, compression=level)
    assert (len(data), zlib.crc32(data)) == (size, crc)


@pytest.mark.parametrize(
    "options",
    [{}, {"progressive": True}, {"optimize_size": True}, {"chroma_downsampling": False}],
    ids=str,
)
def test_jpeg_is_near_what_was_encoded(session: Any, options: dict[str, Any]) -> None:
    pixels = smooth(40, 50) // 2
    found = session.run(tf.image.decode_jpeg(tf.image.encode_jpeg(pixels, quality=95, **options)))
    assert np.abs(found.astype(int) - pixels).mean() < 4


def test_jpeg_states_densities_and_metadata(session: Any) -> None:
    options = {"density_unit": "cm", "x_density": 72, "y_density": 3, "xmp_metadata": "hello"}
    data = run(session, "encode_jpeg", smooth(8, 8), **options)
    assert data[:20].hex() == "ffd8ffe000104a464946000101" + "02" + "0048" + "0003" + "0000"
    assert data[20:22] == b"\xff\xe1"
    assert data[24:58] == b"http://ns.adobe.com/xap/1.0/\0hello"
    assert run(session, "decode_jpeg", data).shape == (8, 8, 3)


def test_quality_may_be_a_tensor(session: Any) -> None:
    pixels, quality = smooth(16, 16), tf.placeholder(tf.int32, [])
    text = tf.raw_ops.EncodeJpegVariableQuality(images=pixels, quality=quality)
    assert session.run(text, {quality: 30}) == run(session, "encode_jpeg", pixels, quality=30)


def test_a_crop_is_that_part_of_the_whole_but_for_its_last_column(session: Any) -> None:
    data = run(session, "encode_jpeg", smooth(40, 50))
    whole = run(session, "decode_jpeg", data)
    part = run(session, "decode_and_crop_jpeg", data, [3, 5, 20, 13])
    np.testing.assert_array_equal(part[:, :-1], whole[3:23, 5:17])
    gray = run(session, "decode_and_crop_jpeg", data, [3, 5, 20, 13], channels=1)
    np.testing.assert_array_equal(gray, run(session, "decode_jpeg", data, channels=1)[3:23, 5:18])
    for window in ([0, 0, 41, 50], [-1, 0, 5, 5], [0, 0, 0, 5], [30, 0, 11, 5], [3, 3, -1, 5]):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="Invalid JPEG data or crop window"
        ):
            run(session, "decode_and_crop_jpeg", data, window)


@pytest.mark.pure
def test_shapes_are_told_while_the_graph_is_built() -> None:
    with tf.Graph().as_default():
        text = tf.placeholder(tf.string, [])
        assert tf.image.decode_jpeg(text).shape.as_list() == [None, None, None]
        assert tf.image.decode_png(text, channels=3).shape.as_list() == [None, None, 3]
        assert tf.image.decode_gif(text).shape.as_list() == [None, None, None, 3]
        cropped = tf.image.decode_and_crop_jpeg(text, [1, 2, 3, 4], channels=1)
        assert cropped.shape.as_list() == [3, 4, 1]
        assert tf.image.extract_jpeg_shape(text).shape.as_list() == [3]
        assert tf.image.encode_png(tf.zeros([4, 5, 1], tf.uint8)).shape.as_list() == []
        with pytest.raises(ValueError, match="channels must be non-negative, got -1"):
            tf.image.decode_jpeg(text, channels=-1)
        with pytest.raises(ValueError, match="must be rank 3"):
            tf.image.encode_jpeg(tf.zeros([4, 5], tf.uint8))


def test_each_op_reads_the_formats_of_the_others(session: Any) -> None:
    for op in ("decode_jpeg", "decode_png"):
        for data in (JPEG, PNG, GIF):
            assert run(session, op, data).shape == (6, 7, 3)
    for data in (JPEG, PNG):
        assert run(session, "decode_gif", data).shape == (1, 6, 7, 3)


@pytest.mark.parametrize(
    ("op", "data", "options", "text"),
    [
        ("decode_jpeg", b"", {}, "Expected image (JPEG, PNG, or GIF), got empty file"),
        (
            "decode_png",
            b"a\n\xff",
            {},
            "Expected image (JPEG, PNG, or GIF), got unknown format starting with 'a\\n\\377'",
        ),
        ("decode_jpeg", JPEG, {"channels": 4}, "channels must be 0, 1, or 3 for JPEG, got 4"),
        ("decode_jpeg", JPEG, {"channels": 2}, "channels must be 0, 1, 3, or 4, got 2"),
        ("decode_jpeg", JPEG, {"ratio": 3}, "ratio must be 1, 2, 4, or 8, got 3"),
        (
            "decode_jpeg",
            JPEG,
            {"dct_method": "FLOAT"},
            "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}",
        ),
        ("decode_png", JPEG, {"dtype": tf.uint16}, "JPEG does not support uint16 output"),
        ("extract_jpeg_shape", PNG, {}, f"Invalid JPEG data, size {len(PNG)}"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refusals_have_the_words_of_tensorflow(
    session: Any, op: str, data: bytes, options: dict[str, Any], text: str
) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(session, op, data, **options)
    assert caught.value.message.partition("\n")[0] == text


def claim(kind: str, width: int, height: int) -> bytes:
    """A short file that says it is large."""
    if kind == "png":
        body = zlib.compress(bytes(100))
        return (
            SIGNATURE
            + header_chunk(width, height, 8, 6)
            + chunk(b"IDAT", body)
            + chunk(b"IEND", b"")
        )
    size = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    if kind == "jpeg":
        at = JPEG.index(b"\xff\xc0") + 5
        return JPEG[:at] + size + JPEG[at + 4 :]
    sides = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    if kind == "gif":
        at = GIF.index(b",") + 5
        return GIF[:6] + sides + GIF[10:at] + sides + GIF[at + 4 :]
    return BMP[:18] + width.to_bytes(4, "little") + height.to_bytes(4, "little") + BMP[26:]


@pytest.mark.parametrize("kind", DECODERS)
def test_what_claims_to_be_large_is_refused_before_memory_is_taken(session: Any, kind: str) -> None:
    text = tf.placeholder(tf.string, [])
    image = getattr(tf.image, DECODERS[kind])(text)
    session.run(image, {text: SAMPLES[kind]})
    for side in (20_000, 65_000):
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(image, {text: claim(kind, side, side)})
        tracemalloc.start()
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(image, {text: claim(kind, side, side)})
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4_000_000, (side, peak)


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """A file with bytes changed, taken out, repeated, or its end cut."""
    found = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(found)))
        match int(rng.integers(5)):
            case 0 | 1:
                found[at] = int(rng.integers(256))
            case 2:
                found[at] ^= 1 << int(rng.integers(8))
            case 3:
                del found[at : at + int(rng.integers(1, 9))]
            case 4:
                found[at:at] = found[at : at + int(rng.integers(1, 30))]
        if not found:
            return data
    return bytes(found[: int(rng.integers(len(found))) + 1] if rng.random() < 0.1 else found)


@pytest.mark.parametrize("kind", DECODERS)
def test_damaged_files_are_decoded_or_refused(session: Any, kind: str) -> None:
    rng, text = np.random.default_rng(7), tf.placeholder(tf.string, [])
    image = getattr(tf.image, DECODERS[kind])(text)
    files = [SAMPLES[kind], *(data for name, data in FILES.items() if name.startswith(f"{kind} "))]
    refused = 0
    for turn in range(2000):
        data = mutated(files[turn % len(files)], rng)
        if kind == "png" and turn % 2:
            data = with_right_checksums(data)
        try:
            found = session.run(image, {text: data})
        except tf.errors.InvalidArgumentError:
            refused += 1
        else:
            assert found.dtype == np.uint8 and found.size
    assert 100 < refused < 2000


def test_headers_that_differ_in_size_alone_are_told_apart(session: Any) -> None:
    """The last header is kept, for the next file may begin alike."""
    random = np.random.default_rng(5)
    pictures = [
        random.integers(0, 256, (*size, 3), np.uint8) for size in ((9, 16), (33, 8), (9, 7))
    ]
    files = [run(session, "encode_jpeg", picture) for picture in pictures]
    at = files[0].index(b"\xff\xc0") + 5
    empty = files[0][:at] + bytes(2) + files[0][at + 2 :]
    for file, picture in [*zip(files, pictures), *zip(files[::-1], pictures[::-1])]:
        assert run(session, "decode_jpeg", file).shape == picture.shape
        assert run(session, "extract_jpeg_shape", file).tolist() == list(picture.shape)
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(session, "decode_jpeg", empty)
        header = jpeg_header.read_header(file)
        assert header == jpeg_header._read(file)[0]


@pytest.mark.cpu
def test_threads_decode_at_the_same_time(session: Any) -> None:
    """And each gets its own pixels."""
    pictures = [
        run(session, "encode_jpeg", np.full((64, 64, 3), 20 * i, np.uint8)) for i in range(8)
    ]
    text = tf.placeholder(tf.string, [])
    image = tf.image.decode_jpeg(text)
    wrong: list[int] = []

    def decode(i: int) -> None:
        for _ in range(10):
            found = session.run(image, {text: pictures[i]})
            if abs(int(found.mean()) - 20 * i) > 1:
                wrong.append(i)

    threads = [threading.Thread(target=decode, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_without_simplejpeg_pillow_decodes(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = smooth(40, 50) // 2
    data = run(session, "encode_jpeg", pixels, quality=95)
    monkeypatch.setattr(jpeg_decoding, "_library", lambda: None)
    whole = run(session, "decode_jpeg", data)
    assert np.abs(whole.astype(int) - pixels).mean() < 4
    assert run(session, "decode_jpeg", data, ratio=4).shape == (10, 13, 3)
    assert run(session, "decode_jpeg", data, channels=1).shape == (40, 50, 1)
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(session, "decode_jpeg", data[:-100])
