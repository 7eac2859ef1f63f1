# SPDX-License-Identifier: Apache-2.0
"""One small picture, 7 by 6, in the formats that ops decode: what their tests run on."""

from __future__ import annotations

import base64

from .png_chunks import chunk

JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZG"
    "NywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09P"
    "T09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAGAAcDASIAAhEBAxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAA"
    "AAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS0fAk"
    "M2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKT"
    "lJWWl5iZmqKjpKWmp6ipqrKztLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QA"
    "HwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgECBAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdh"
    "cRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hp"
    "anN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk"
    "5ebn6Onq8vP09fb3+Pn6/9oADAMBAAIRAxEAPwCrpfh638sDC59aKKK+Ur4mq56s7MuxNX6vH3j/2Q=="
)
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAGCAIAAACAbBMhAAAAIklEQVR4nGNkYGBQwUAsDBoMmAAuegImYsFAUK0F"
    "VlEUAADyjALuniHH5wAAAABJRU5ErkJggg=="
)
GIF = base64.b64decode(
    "R0lGODdhBwAGAIEAAKKgISSgFmxQVmwUACwAAAAABwAGAAAIGwAHCBxIkGCAAAISAgBwMKGAhQcDLIR4cCKAgAA7"
)
# Rows are filled up to 24 bytes, and the last row comes first.
BMP = (
    b"BM"
    + bytes(8)
    + b"\x36\0\0\0"
    + b"\x28\0\0\0"
    + b"\x07\0\0\0"
    + b"\x06\0\0\0"
    + b"\x01\0\x18\0"
    + bytes(24)
    + bytes(range(144))
)


def with_right_checksums(data: bytes) -> bytes:
    """A PNG file whose checksums are right for what was done to it, so that it is read on."""
    parts, at = [data[:8]], 8
    while at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        if end > len(data):
            break
        parts.append(chunk(data[at + 4 : at + 8], data[at + 8 : end - 4]))
        at = end
    return b"".join(parts) + data[at:]
