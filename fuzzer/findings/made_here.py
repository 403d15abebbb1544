"""Which findings were made here by this user: their folders have a mark. Scripts of other findings run on demand only.

A folder cannot vouch for itself. So the mark is a keyed digest (HMAC-SHA256) of the files that a script is written
from, with a key of this user's. It is one digest of all of them: files of several findings together have none. No other
process gets the key. It stays in the state folder, which a lane is not told.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fuzzer.findings import finding_file, natural_file, record
from fuzzer.findings.record import FindingRecord
from fuzzer.system import temporary
from fuzzer.system.files import make_folder, write_atomically
from fuzzer.system.secrets import blanked
from fuzzer.system.state_folder import state_folder
from generators import case_file
from generators.graph import Invalid
from generators.plain_file import MOST_BYTES, plain_files, read_plain

NAME = "mark.txt"
KEY = "finding-key"
KEY_BYTES = 32
MARKED = frozenset(
    {
        *(finding_file.NAME, case_file.JSON_NAME, case_file.TENSORS_NAME),
        *(record.ONNX, record.BEFORE, record.AFTER, natural_file.NAME, natural_file.TENSORS),
    }
)
"""The files that scripts and reports are written from."""


def mark(files: Mapping[str, bytes]) -> bytes:
    """The mark of the folder of a new finding with these files. Raise OSError where there is no key, and none can be
    made."""
    return _text({_digest(files, _key())})


@dataclass(frozen=True, slots=True)
class Own:
    """A finding that was made here: its marked files, each read once. What was checked is what is signed and decoded,
    also where another process changes the folder meanwhile."""

    folder: Path
    files: dict[str, bytes]
    key: bytes

    def record(self) -> FindingRecord:
        """What these files say. Raise `Invalid`."""
        with temporary.folder() as copy:
            for name, data in self.files.items():
                (copy / name).write_bytes(data)
            try:
                return record.read(copy)
            except Invalid as error:
                raise Invalid(str(error).replace(str(copy), str(self.folder))) from None


class NotMadeHere(Exception):
    """Why a finding counts as one from elsewhere, in words that follow a colon."""


def own(folder: Path) -> Own:
    """Raise `NotMadeHere`."""
    try:
        written = plain_files(folder, {NAME}).get(NAME, b"").decode(errors="replace").split()
        if not written:  # before large files are read
            raise NotMadeHere("it comes from elsewhere, or from an earlier version of difftvm")
        files, key = plain_files(folder, MARKED), _key()
    except OSError as error:
        raise NotMadeHere(f"{error.filename}: {error.strerror}") from None
    if _digest(files, key) not in written:
        raise NotMadeHere("it was changed, or made by another user or on another machine")
    return Own(folder, files, key)


def own_or_none(folder: Path) -> Own | None:
    try:
        return own(folder)
    except NotMadeHere:
        return None


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace files of a finding's folder. Its mark stays valid if it was, even if the process is killed: it has a line
    for the folder before each of the files is written, and one for the end. Raise OSError where the folder is a link,
    or a campaign's folder of findings is one."""
    write_to(folder, own_or_none(folder), files)


def write_to(folder: Path, checked: Own | None, files: Mapping[str, bytes]) -> None:
    """As `write`, where the new files were made of what was checked, or of what has no mark (None)."""
    below = folder.parents[1] if folder.parent.name == finding_file.CRASHES else folder.parent
    if checked:
        there = dict(checked.files)
        digests = {_digest(there, checked.key)}
        for name, data in files.items():
            there[name] = data
            digests.add(_digest(there, checked.key))
        write_atomically(folder / NAME, _text(digests), below)
    for name, data in files.items():
        write_atomically(folder / name, data, below)


def read(folder: Path) -> FindingRecord:
    """As `record.read`. Raise `Invalid` also where the finding was not made here."""
    try:
        return own(folder).record()
    except NotMadeHere as reason:
        raise Invalid(f"{folder}: its scripts are not run: {reason}; --trust runs them") from None


def why_not(folder: Path) -> str:
    """Why the finding counts as one from elsewhere, in words that follow a colon; "" where it was made here."""
    try:
        own(folder)
    except NotMadeHere as reason:
        return str(reason)
    return ""


def _digest(files: Mapping[str, bytes], key: bytes) -> str:
    """The digest of the marked files together, with their names, as they are on the disk."""
    lines = [f"{name} {hashlib.sha256(blanked(files[name])).hexdigest()}\n" for name in sorted(MARKED & files.keys())]
    return hmac.digest(key, "".join(lines).encode(), "sha256").hex()


def _text(digests: set[str]) -> bytes:
    return "".join(f"{digest}\n" for digest in sorted(digests)).encode()


def _key() -> bytes:
    """The key of this user, which is made at the first use. Raise OSError where it cannot be read or made, and where
    other users may read it."""
    path = state_folder() / KEY
    if not path.exists():
        make_folder(path.parent)
        descriptor, new = tempfile.mkstemp(prefix=".tmp-", dir=path.parent)  # only this user may read it
        try:
            with open(descriptor, "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
                file.flush()
                os.fsync(descriptor)
            os.link(new, path)  # unlike a rename, this replaces no key that another process has made meanwhile
        except FileExistsError:
            pass
        finally:
            os.unlink(new)
    key = read_plain(path, MOST_BYTES)
    status = path.stat()
    if status.st_mode & 0o077 or status.st_uid != os.getuid() or len(key) != KEY_BYTES:
        raise OSError(errno.EPERM, "it is no key that only this user may read; remove it to get a new one", str(path))
    return key
