"""The bytes of protobuf messages as lists of fields, without the onnx package
(https://protobuf.dev/programming-guides/encoding)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from generators.graph import Invalid

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIDTHS = {FIXED64: 8, FIXED32: 4}
MOST_BITS = 64


class Field(NamedTuple):
    """A field: its number, its value, and how it is written. The value of a VARINT is a number, of others bytes."""

    number: int
    value: int | bytes
    kind: int = BYTES

    @property
    def message(self) -> bytes:
        """The bytes. Raise `Invalid` where the field is a number."""
        if not isinstance(self.value, bytes):
            raise Invalid(f"given: its field {self.number} is a number")
        return self.value

    @property
    def text(self) -> str:
        try:
            return self.message.decode()
        except UnicodeDecodeError:
            raise Invalid(f"given: its field {self.number} is no text") from None


def fields(message: bytes) -> list[Field]:
    """The fields of a message, in order. Raise `Invalid` where it is none."""
    return list(_fields(message))


def of(number: int, found: Iterable[Field]) -> Iterator[Field]:
    """Those fields with this number."""
    return (field for field in found if field.number == number)


def texts(number: int, found: Iterable[Field]) -> list[str]:
    return [field.text for field in of(number, found)]


def written(found: Sequence[Field]) -> bytes:
    """The message with these fields."""
    return b"".join(map(_written, found))


def _fields(message: bytes) -> Iterator[Field]:
    place = 0
    while place < len(message):
        key, place = _number(message, place)
        kind = key & 7
        if kind == VARINT:
            value, place = _number(message, place)
            yield Field(key >> 3, value, kind)
            continue
        if kind == BYTES:
            length, place = _number(message, place)
        elif kind in _WIDTHS:
            length = _WIDTHS[kind]
        else:
            raise Invalid(f"given: a field is written in the way {kind}, which ONNX has not")
        if place + length > len(message):
            raise Invalid("given: a field is longer than its message")
        yield Field(key >> 3, message[place : place + length], kind)
        place += length


def _number(message: bytes, place: int) -> tuple[int, int]:
    """The number that begins at this place, and the place after it."""
    number = 0
    for shift in range(0, MOST_BITS + 6, 7):
        if place >= len(message):
            break
        byte, place = message[place], place + 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, place
    raise Invalid("given: a number in it has no end")


def _written(field: Field) -> bytes:
    key = _varint(field.number << 3 | field.kind)
    if field.kind == VARINT:
        assert isinstance(field.value, int)
        return key + _varint(field.value)
    return key + (_varint(len(field.message)) if field.kind == BYTES else b"") + field.message


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)
