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
from pathlib import Path

from fuzzer.findings import finding_file, natural_file, record
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


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace files of a finding's folder. Its mark stays valid if it was, even if the process is killed: it has a line
    for the folder before each of the files is written, and one for the end. Raise OSError where the folder is a link,
    or a campaign's folder of findings is one."""
    below = folder.parents[1] if folder.parent.name == finding_file.CRASHES else folder.parent
    if not why_not(folder):
        key, there = _key(), plain_files(folder, MARKED)
        digests = {_digest(there, key)}
        for name, data in files.items():
            there[name] = data
            digests.add(_digest(there, key))
        write_atomically(folder / NAME, _text(digests), below)
    for name, data in files.items():
        write_atomically(folder / name, data, below)


def require(folder: Path) -> None:
    """Raise `Invalid` where the finding was not made here."""
    if reason := why_not(folder):
        raise Invalid(f"{folder}: its scripts are not run: {reason}; --trust runs them")


def why_not(folder: Path) -> str:
    """Why the finding counts as one from elsewhere, in words that follow a colon; "" where it was made here."""
    try:
        written = plain_files(folder, {NAME}).get(NAME, b"").decode(errors="replace").split()
        if not written:  # before large files are read
            return "it comes from elsewhere, or from an earlier version of difftvm"
        digest = _digest(plain_files(folder, MARKED), _key())
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    return "" if digest in written else "it was changed, or made by another user or on another machine"


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
        descriptor, temporary = tempfile.mkstemp(prefix=".tmp-", dir=path.parent)  # only this user may read it
        try:
            with open(descriptor, "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
                file.flush()
                os.fsync(descriptor)
            os.link(temporary, path)  # unlike a rename, this replaces no key that another process has made meanwhile
        except FileExistsError:
            pass
        finally:
            os.unlink(temporary)
    key = read_plain(path, MOST_BYTES)
    status = path.stat()
    if status.st_mode & 0o077 or status.st_uid != os.getuid() or len(key) != KEY_BYTES:
        raise OSError(errno.EPERM, "it is no key that only this user may read; remove it to get a new one", str(path))
    return key
