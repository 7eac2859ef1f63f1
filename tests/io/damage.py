# SPDX-License-Identifier: Apache-2.0
"""Files that are damaged in many ways, and whether each is read or refused as it should be.

`python damage.py FORMAT,FORMAT… 0:200` (or 3,5,8) reads a file of each format for each of these
seeds in a process whose memory is bounded, and writes what became of them as JSON.  The damage is
the same for the same seed.
"""

from __future__ import annotations

import collections
import json
import linecache
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

_MEMORY = 3 << 29  # beyond what the process has when it begins
_SECONDS = 10  # for one file
_NUMBERS = (0, 1, -1, 2, 127, 128, 255, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**40, 2**62)
_NUMBERS += (2**63 - 1, -(2**63))
_TEXTS = ("", "^", ":", "a", "a:0", "^a", "a:99999999999", "x" * 300, "loc:@a", "\u0100", "/", "-1")


class Hang(BaseException):
    """A file took too long."""


# Damage to bytes


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Some bytes with one or a few changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(_CHANGES)(bytearray(data), rng)
    return data


def _flip(data: bytearray, rng: random.Random) -> bytes:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def _set_byte(data: bytearray, rng: random.Random) -> bytes:
    if data:
        data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF))
    return bytes(data)


def _set_number(data: bytearray, rng: random.Random) -> bytes:
    size = rng.choice((4, 8))
    at = rng.randrange(max(len(data) - size, 1))
    number = rng.choice(_NUMBERS) & (1 << 8 * size) - 1
    data[at : at + size] = number.to_bytes(size, rng.choice(("little", "big")))  # type: ignore[arg-type]
    return bytes(data)


def _set_varint(data: bytearray, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    number, text = rng.choice(_NUMBERS) & (1 << 64) - 1, bytearray()
    while number > 0x7F:
        text.append(number & 0x7F | 0x80)
        number >>= 7
    text.append(number)
    data[at : at + rng.choice((0, 1))] = rng.choice((text, b"\xff" * rng.choice((9, 11, 5000))))
    return bytes(data)


def _cut(data: bytearray, rng: random.Random) -> bytes:
    return bytes(data[: rng.randrange(len(data) + 1)])


def _remove(data: bytearray, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    del data[at : at + rng.randrange(1, 20)]
    return bytes(data)


def _double(data: bytearray, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    piece = data[at : at + rng.randrange(1, 60)]
    return bytes(data[:at] + piece * rng.choice((1, 1, 50)) + data[at:])


_CHANGES = (_flip, _set_byte, _set_number, _set_varint, _cut, _remove, _double)


# Damage to messages


def _messages(message: Any) -> Iterator[Any]:
    """A message and all within it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            if field.message_type.fields_by_name["value"].message_type is not None:
                for key in sorted(value):  # a map has them in no order
                    yield from _messages(value[key])
        elif hasattr(value, "ListFields"):
            yield from _messages(value)
        else:
            for item in value:
                yield from _messages(item)


def _text(found: list[str], rng: random.Random) -> str:
    return rng.choice(found) if found and rng.random() < 0.7 else rng.choice(_TEXTS)


def _texts(message: Any) -> list[str]:
    """The texts in a message: names that may be exchanged."""
    found = []
    for one in _messages(message):
        for field, value in one.ListFields():
            if field.type == field.TYPE_STRING:
                found += [value] if isinstance(value, str) else list(value)
    return found


def _scalar(field: Any, texts: list[str], rng: random.Random) -> Any:
    if field.type == field.TYPE_STRING:
        return _text(texts, rng)
    if field.type == field.TYPE_BYTES:
        return rng.choice((b"", b"\xff\xfe", b"loc:@\xff", b"x" * 999, _text(texts, rng).encode()))
    if field.type == field.TYPE_BOOL:
        return rng.random() < 0.5
    if field.type in (field.TYPE_DOUBLE, field.TYPE_FLOAT):
        return rng.choice((0.0, -1.0, float("nan"), float("inf"), 1e30))
    if field.type == field.TYPE_ENUM:
        return rng.choice((0, 1, 2, 3, 7, 20, 21, 23, 101, 999, -1, 2**31 - 1))
    bits = 32 if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_UINT32) else 64
    is_signed = field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64)
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    return max(least, min(most, rng.choice(_NUMBERS)))


def changed(message: Any, rng: random.Random) -> Any:
    """A message with one or a few fields changed, and all that is around them whole."""
    result = type(message)()
    result.CopyFrom(message)
    texts = _texts(message)
    for _ in range(rng.choice((1, 1, 2, 4))):
        _change(rng.choice(list(_messages(result))), texts, rng)
    return result


def _change(message: Any, texts: list[str], rng: random.Random) -> None:
    present = [field for field, _ in message.ListFields()]
    fields = present if present and rng.random() < 0.8 else list(message.DESCRIPTOR.fields)
    if not fields:
        return
    field = rng.choice(fields)
    is_list = getattr(message, field.name).__class__.__name__.startswith("Repeated")
    if rng.random() < 0.15:
        message.ClearField(field.name)
    elif field.message_type is not None and field.message_type.GetOptions().map_entry:
        _change_map(getattr(message, field.name), rng)
    elif is_list:
        _change_list(getattr(message, field.name), field, texts, rng)
    elif field.message_type is not None:
        getattr(message, field.name).SetInParent()
    else:
        setattr(message, field.name, _scalar(field, texts, rng))


def _change_map(entries: Any, rng: random.Random) -> None:
    keys = sorted(entries)
    if not keys:
        return
    if rng.random() < 0.5:
        del entries[rng.choice(keys)]
    elif hasattr(entries[keys[0]], "CopyFrom"):
        entries[rng.choice(keys)].CopyFrom(entries[rng.choice(keys)])


def _change_list(items: Any, field: Any, texts: list[str], rng: random.Random) -> None:
    action = rng.random()
    if items and action < 0.3:
        del items[rng.randrange(len(items))]
    elif field.message_type is not None:
        if items and action < 0.8:
            items.add().CopyFrom(items[rng.randrange(len(items))])
        else:
            items.add()
    elif items and action < 0.7:
        items[rng.randrange(len(items))] = _scalar(field, texts, rng)
    else:
        items.extend([_scalar(field, texts, rng)] * rng.choice((1, 1, 3, 100)))


# What becomes of a file


def outcome(read: Callable[[], Any], allowed: tuple[str, ...]) -> str:
    """ "read", "refused: …" for an error that says what is wrong, or "bare: …" for any other."""
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        read()
        return "read"
    except Exception as error:
        return _judged(error, allowed)
    except Hang:
        return "bare: Hang"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _judged(error: Exception, allowed: tuple[str, ...]) -> str:
    from numbaflow.engine.errors import OpError

    name = type(error).__name__
    if isinstance(error, OpError):
        wrapped = ("MemoryError:", "KeyError:", "IndexError:", "AttributeError:", "AssertionError:")
        is_bare = error.message.startswith(wrapped)
        return f"bare: {error.message[:300]}" if is_bare else f"refused: {name}"
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    assert trace is not None
    code, line = trace.tb_frame.f_code, trace.tb_lineno
    text = linecache.getline(code.co_filename, line).strip()
    is_told = "numbaflow" in trace.tb_frame.f_globals.get("__name__", "") and _raises(code, line)
    if name in allowed and (is_told or name in ("DecodeError", "ParseError")):
        return f"refused: {name}"
    where = f"{os.path.relpath(code.co_filename)}:{line} {text}"
    return f"bare: {name} {str(error)[:200]!r} at {where}"


def _raises(code: Any, line: int) -> bool:
    """Whether a statement that begins at or little before a line raises an error itself."""
    lines = (linecache.getline(code.co_filename, number).strip() for number in range(line, 0, -1))
    return any(text.startswith("raise ") for text, _ in zip(lines, range(8)))


def _hang(*unused: Any) -> None:
    raise Hang


def bound_memory() -> None:
    """From here on the process may take only so much more memory."""
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (taken + _MEMORY, hard))


def main(names: list[str], seeds: Sequence[int]) -> None:
    """Reads damaged files of some formats, a line of JSON for each."""
    import damaged_data
    import damaged_formats
    import damaged_media

    known = {**damaged_formats.FORMATS, **damaged_data.FORMATS, **damaged_media.FORMATS}
    signal.signal(signal.SIGALRM, _hang)
    forms = {name: known[name](tempfile.mkdtemp()) for name in names}
    for form in forms.values():  # what is imported or made once does not count
        outcome(lambda form=form: form.read(form.damaged(random.Random(-1))), ())  # type: ignore[misc]
    bound_memory()
    for name, form in forms.items():
        print(json.dumps({"format": name, **_report(form, seeds)}), flush=True)


def _report(form: Any, seeds: Sequence[int]) -> dict[str, Any]:
    found: collections.Counter[str] = collections.Counter()
    first: dict[str, int] = {}
    start = time.time()
    for number in seeds:
        thing = form.damaged(random.Random(number))
        result = outcome(lambda thing=thing: form.read(thing), form.allowed)  # type: ignore[misc]
        found[result] += 1
        first.setdefault(result, number)
    return {"found": found, "first": first, "seconds": round(time.time() - start, 1)}


if __name__ == "__main__":
    first, is_range, end = sys.argv[2].partition(":")
    numbers = range(int(first), int(end)) if is_range else list(map(int, first.split(",")))
    main(sys.argv[1].split(","), numbers)
