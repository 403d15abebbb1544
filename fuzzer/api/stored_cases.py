"""Cases with which a test failed, each in a folder of its own. Several processes may use them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

from fuzzer.system import untrusted_files
from fuzzer.system.files import make_folder, write_atomically
from generators import case_file
from generators.graph import Case, Invalid


class StoredCases:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: list[Path] = []

    def read(self) -> Iterator[Case]:
        """Give the cases that can be read. Others cause a warning, and stay."""
        for each in sorted(path for path in self._folder.glob("*") if (path / case_file.JSON_NAME).exists()):
            try:
                case = case_file.read(each)
            except Invalid as error:
                warnings.warn(f"a stored case is left out: {error}", stacklevel=2)
                continue
            self._read.append(each)
            yield case

    def add(self, case: Case) -> None:
        """Store a case. Its description is written last: a folder without it is not read."""
        where = self._folder / case_file.digest(case)[:16]
        make_folder(where, self._folder)
        text, tensors = case_file.encode(case)
        write_atomically(where / case_file.TENSORS_NAME, tensors, self._folder)
        write_atomically(where / case_file.JSON_NAME, text, self._folder)

    def clear(self) -> None:
        """Remove those that were read."""
        for each in self._read:
            untrusted_files.remove(untrusted_files.real(each))
        self._read.clear()
