"""Writes what documents and golden files quote of the project itself.

    make docs NAMES='NAME ...' SINCE=COMMIT

NAME is that of a text, as its markers in a document have it; without names, all are written. Before that, the new
names of files that were renamed since a commit (the last one, if none is given) are put into documents. A test
compares each text. Exit codes: 0; 1 if a text could not be made.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from renamed_files import NoGit, mend, renamed
from written_rows import ROWS
from written_text import ROOT, Written


def write(rows: Iterable[Written], root: Path = ROOT) -> bool:
    """Write each text that has changed, and print its place. Return whether all could be made."""
    right = True
    for row in rows:
        try:
            now = row.now(root)
            new = row.text(now)
            if new != now:
                row.write(new, root)
                print(f"{row.file}: {row.name} is written anew", flush=True)
        except Exception as error:  # what else can be written is written
            print(f"{row.file}: {row.name} cannot be made: {type(error).__name__}: {error}", file=sys.stderr)
            right = False
    return right


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write what documents and golden files quote of the project itself.")
    names = sorted({row.name for row in ROWS})
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(names)}")
    parser.add_argument("--since", default="HEAD", metavar="COMMIT", help="look for files that were renamed since then")
    options = parser.parse_args(arguments)
    wanted = set(options.names)
    if unknown := sorted(wanted - set(names)):
        parser.error(f"there is no text {', '.join(unknown)}: the texts are {', '.join(names)}")
    try:
        for name in mend(renamed(options.since)):
            print(f"{name}: has the new names of renamed files")
    except NoGit as error:
        print(f"renamed files are not looked for: {error}", file=sys.stderr)
    return 0 if write(row for row in ROWS if not wanted or row.name in wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
