"""Files on a real disk."""

from __future__ import annotations

import os
import tempfile

from fuzzer.system.files import keep_only_tail


def test_what_a_long_log_takes_on_the_disk_is_given_back() -> None:
    with tempfile.TemporaryFile() as log:
        log.write(b"a" * 3_000_000)
        log.flush()
        keep_only_tail(log.fileno(), 5000, 4_000_000)
        assert os.pread(log.fileno(), 3, 0) == b"aaa", "there is room"
        keep_only_tail(log.fileno(), 5000, 1_000_000)
        status = os.fstat(log.fileno())
        assert status.st_size == 3_000_000
        assert 512 * status.st_blocks < 20_000
        log.write(b"the end")
        log.flush()
        assert os.pread(log.fileno(), 6000, 3_000_000 - 5000) == b"a" * 5000 + b"the end"
        assert os.pread(log.fileno(), 3, 0) == b"\0\0\0"
