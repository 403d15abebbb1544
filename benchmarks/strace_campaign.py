"""Run a campaign under strace: which sockets it asks for, which names it looks up, and where it writes.

    python benchmarks/strace_campaign.py [--seconds 120] [--seed 1] [--trace FILE]

strace follows all processes of the campaign. They may write into its folder, the folder for temporary files, compiled
Python, and what belongs to the kernel (/proc, /dev). In the home folder, which is empty, they may make the key that
marks findings (SECURITY.md), and nothing else. Prints each socket of another family than unix, each file that is read
to look up the name of a host, and each file that is written elsewhere; exits with 1 where there is one. A socket that
was refused counts, a file that could not be written does not.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.system import telemetry

SOCKETS = ("socket", "socketpair", "connect", "io_uring_setup")
OPENS = ("open", "openat", "openat2")
CHANGES = (
    *("creat", "mkdir", "mkdirat", "mknod", "mknodat", "rename", "renameat", "renameat2", "link", "linkat"),
    *("symlink", "symlinkat", "unlink", "unlinkat", "rmdir", "truncate", "chmod", "fchmodat", "chown", "fchownat"),
)
LINE = re.compile(r"(?P<pid>\d+) +(?P<name>\w+)\((?P<arguments>.*)")
FAMILY = re.compile(r"\b(?:AF|PF)_\w+")
WRITES = re.compile(r"\b(?:O_WRONLY|O_RDWR|O_CREAT|O_TRUNC)\b")
PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<(?P<folder>[^>]*)>, )?"(?P<path>(?:[^"\\]|\\.)*)"')
OF_LOOKUPS = re.compile(r"/etc/(?:resolv\.conf|hosts|host\.conf|gai\.conf)|/run/(?:systemd/resolve|nscd)/.*")
OF_THE_KERNEL = re.compile(r"/(?:proc|dev|sys)/.*")
COMPILED_PYTHON = re.compile(r".*/__pycache__(?:/[^/]*)?")


@dataclass
class Found:
    """What a trace has: how often each call was made, by the place or the family."""

    processes: set[str] = field(default_factory=set)
    sockets: Counter[str] = field(default_factory=Counter)
    connections: Counter[str] = field(default_factory=Counter)
    lookups: Counter[str] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)
    elsewhere: Counter[str] = field(default_factory=Counter)

    @property
    def wrong(self) -> bool:
        return bool(self.sockets.keys() - {"AF_UNIX"} or self.lookups or self.elsewhere)

    def __str__(self) -> str:
        rows = [
            ("sockets", self.sockets),
            ("connections to unix sockets", self.connections),
            ("files read to look up a host", self.lookups),
            ("files written", self.written),
            ("files written elsewhere", self.elsewhere),
        ]
        lines = [f"processes: {len(self.processes)}"]
        lines += [f"{name}: {', '.join(f'{place} {n}' for place, n in row.most_common()) or 0}" for name, row in rows]
        return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trace", type=Path, help="keep what strace writes in this file")
    arguments = parser.parse_args()
    if shutil.which("strace") is None:
        sys.exit("strace is missing")
    with tempfile.TemporaryDirectory(prefix="difftvm-") as name:
        folders = {each: Path(name, each) for each in ("campaign", "temporary", "home")}
        for folder in folders.values():
            folder.mkdir()
        state = folders["home"] / ".local" / "state"
        state.mkdir(parents=True)
        places = {"campaign": folders["campaign"], "temporary": folders["temporary"], "key": state / "difftvm"}
        trace = arguments.trace or Path(name, "trace")
        code = traced(trace, folders, "--seconds", str(arguments.seconds), "--seed", str(arguments.seed))
        with trace.open(errors="replace") as lines:
            found = summary(lines, {kind: str(place) for kind, place in places.items()})
    print(found)
    sys.exit(1 if found.wrong or code else 0)


def traced(trace: Path, folders: dict[str, Path], *options: str) -> int:
    """Run the campaign; return its exit status."""
    calls = ",".join(f"?{call}" for call in (*SOCKETS, *OPENS, *CHANGES))  # not every machine has all of them
    strace = ["strace", "-f", "-qq", "-y", "-e", "signal=none", "-e", f"trace={calls}", "-o", str(trace)]
    fuzz = [sys.executable, "-m", "fuzzer.cli", "run", "--campaign", str(folders["campaign"]), *options]
    kept = {name: text for name, text in os.environ.items() if name not in telemetry.OFF and "XDG_" not in name}
    environment = {**kept, "HOME": str(folders["home"]), "TMPDIR": str(folders["temporary"])}
    return subprocess.run([*strace, *fuzz], env=environment).returncode


def summary(lines: Iterable[str], folders: dict[str, str]) -> Found:
    """What a trace has. `folders` are those in which a campaign may write, by their kinds."""
    found = Found()
    for line in filter(None, map(LINE.match, lines)):
        found.processes.add(line["pid"])
        name, arguments = line["name"], line["arguments"]
        if name in ("socket", "socketpair"):
            family = FAMILY.match(arguments)
            found.sockets[family[0] if family else arguments] += 1
        elif name == "io_uring_setup":
            found.sockets[name] += 1
        elif name == "connect":
            found.connections.update(re.findall(r'sun_path=@?"([^"]*)"', arguments))
        elif " = -1 E" in arguments:
            continue
        elif name in OPENS and not WRITES.search(arguments):
            found.lookups.update(filter(OF_LOOKUPS.fullmatch, paths(arguments)))
        else:
            for path in changed(name, arguments):
                kind = kind_of(path, folders)
                (found.written if kind else found.elsewhere)[kind or path] += 1
    return found


def paths(arguments: str) -> Iterator[str]:
    """The paths in the arguments of a call, absolute where strace says in which folder."""
    for each in PATH.finditer(arguments):
        yield os.path.normpath(os.path.join(each["folder"] or "", each["path"]))


def changed(name: str, arguments: str) -> list[str]:
    """The paths that a call changes. What a link points to is not changed."""
    named = list(paths(arguments))
    return named[1:] if name in ("symlink", "symlinkat", "link", "linkat") else named


def kind_of(path: str, folders: dict[str, str]) -> str:
    """The kind of a place in which a campaign may write; "" elsewhere."""
    for kind, folder in folders.items():
        if path == folder or path.startswith(f"{folder}/"):
            return kind
    if OF_THE_KERNEL.fullmatch(path):
        return "kernel"
    return "compiled Python" if COMPILED_PYTHON.fullmatch(path) else ""


if __name__ == "__main__":
    main()
