"""Reads the frames of a child as they come, without waiting for the rest of one.

A child may stop in the middle of a frame, or announce one of a gigabyte. The supervisor checks the bounds of the lane
between two pieces, and takes no memory for what has not come. The format is that of multiprocess.connection: the size
as four bytes, most significant first, and then the bytes.
"""

from __future__ import annotations

import os
import socket

from fuzzer.isolate.protocol import ProtocolError

HEADER = 4
PIECE = 1 << 20
USUAL = 1 << 14
"""Most frames have fewer bytes: `USUAL` bytes are taken at a time, with what there is of the next frames."""


class Frames:
    """The frames that come in on a socket, each of at most `most` bytes."""

    def __init__(self, descriptor: int) -> None:
        """The descriptor stays open when this object is closed."""
        self._socket = socket.socket(fileno=os.dup(descriptor))
        self._buffer = bytearray()

    def next(self, most: int) -> bytes | None:
        """The next frame if all of it has come, otherwise None. Raise EOFError where the other side is closed, and
        `ProtocolError` where the frame is larger than `most` bytes."""
        while (missing := self._missing(most)) > 0:
            try:
                piece = self._socket.recv(max(USUAL, min(missing, PIECE)), socket.MSG_DONTWAIT)
            except BlockingIOError:
                return None
            if not piece:
                raise EOFError
            self._buffer += piece
        end = len(self._buffer) + missing
        frame = bytes(memoryview(self._buffer)[HEADER:end])
        del self._buffer[:end]
        return frame

    def has_next(self, most: int) -> bool:
        """Whether all of the next frame has come together with an earlier one."""
        return self._missing(most) <= 0

    def _missing(self, most: int) -> int:
        """How many bytes of the size, or of the frame, have not come. Less than 0 where bytes of the frame after it
        have come too."""
        if len(self._buffer) < HEADER:
            return HEADER - len(self._buffer)
        size = int.from_bytes(self._buffer[:HEADER], "big", signed=True)
        if not 0 <= size <= most:
            raise ProtocolError(f"a frame of {size:,} bytes, where at most {most:,} are expected")
        return HEADER + size - len(self._buffer)

    def close(self) -> None:
        self._socket.close()
