"""A campaign whose lane tells all that it can learn about the user: no shared file, no output for others and no other
process has any of it.

The name of the machine is that of an own UTS namespace, where the kernel allows one. Otherwise Python's functions
return it in each process that reads PYTHONPATH.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fuzzer.system import last_list, process_tree
from fuzzer.system.exit_codes import Exit

pytestmark = [pytest.mark.tvm, pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).parents[2]
CANARY = re.compile(rb"canary-[a-z]+-7f3a91")

HOME, USER, MACHINE, IN_FILE = "canary-home-7f3a91", "canary-user-7f3a91", "canary-machine-7f3a91", "canary-file-7f3a91"
SECRETS = {
    "GITHUB_TOKEN": "canary-token-7f3a91",
    "AWS_SECRET_ACCESS_KEY": "canary-key-7f3a91",
    "PGPASSWORD": "canary-database-7f3a91",
    "DIFFTVM_PAT": "canary-pat-7f3a91",  # its prefix is on the list of what is inherited
    "WALLET_SEED": "canary-wallet-7f3a91",  # no list knows this name
    "https_proxy": "http://me:canary-proxy-7f3a91@proxy.invalid:3128",
    "PIP_INDEX_URL": "https://me:canary-index-7f3a91@packages.invalid/simple",
    "TORCH_MIRROR": "https://canary-mirror-7f3a91@packages.invalid",  # its name is on the list of what is inherited
}

TELLS_ALL = """
import getpass
import os
import socket
from pathlib import Path

import tvm
from tvm import relax


def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def of_processes():
    pid = os.getpid()
    yield from texts(pid, "cmdline")
    while pid > 1:
        yield from texts(pid, "environ")
        pid = parent(pid)


def texts(pid, name):
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes().decode(errors="replace").split(chr(0))
    except OSError as error:
        return [str(error)]


def memory():
    try:
        Path(f"/proc/{parent(os.getppid())}/mem").open("rb").close()
    except OSError as error:
        return error.strerror
    return "open"


def build(*arguments, **more):
    mine = [*os.environ.values(), os.path.expanduser("~"), os.getcwd()]
    found = [*mine, *of_processes(), socket.gethostname(), os.uname().nodename, __file__, @MACHINE@]
    found += [f"NO_CANARY={os.environ.get('NO_CANARY')}", Path(@NOTES@).read_text()]
    text = " ".join(each for each in dict.fromkeys(found) if "canary" in each.lower() and "scratch" not in each)
    print(text, flush=True)
    length = len(socket.gethostname())
    raise tvm.error.InternalError(f"machine of {length} letters, memory: {memory()}; {text} user {getpass.getuser()}")


relax.build = build
"""

LAUNCHER = """
import ctypes, os, socket, sys
if ctypes.CDLL(None).unshare(0x04000000) == 0:  # CLONE_NEWUTS
    socket.sethostname(os.environ["HOSTNAME"])
else:
    os.environ["DIFFTVM_TEST_MACHINE"] = "is named in Python"
os.execv(sys.executable, [sys.executable, "-m", "fuzzer.cli", *sys.argv[1:]])
"""

IN_EACH_PYTHON = """
import os, socket, sys

if "DIFFTVM_TEST_MACHINE" in os.environ:
    names = os.uname()
    socket.gethostname = lambda: @MACHINE@
    os.uname = lambda: type(names)((names[0], @MACHINE@, *names[2:]))


def watch(event, arguments):
    if event == "subprocess.Popen":
        program, words, folder, variables = arguments
        given = os.environ if variables is None else variables
        with open(@STARTED@, "ab") as file:
            texts = [program, *words, folder or "", *(f"{name}={text}" for name, text in given.items())]
            file.write(b"\\0".join(map(os.fsencode, texts)) + b"\\n")


sys.addaudithook(watch)
"""
"""A sitecustomize module. The processes that Python starts are also listed, because some of them end at once."""


def has_own_machine_name() -> bool:
    """Whether this process may have a UTS namespace of its own; tried in a child."""
    program = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x04000000))"
    return subprocess.run([sys.executable, "-c", program]).returncode == 0


def enters_a_namespace() -> bool:
    program = "from fuzzer.system import user_namespace; print(user_namespace.enter())"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "True"


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that has ended, and the texts that /proc has shown of the processes below it: command lines, variables
    and working directories, each with the command line of the process."""

    code: int
    out: str
    err: str
    shown: dict[bytes, bytes]


@dataclass(slots=True)
class User:
    """A user with canaries all over the account."""

    home: Path
    metrics: str = ""
    ended: dict[str, Ended] = field(default_factory=dict)

    @property
    def campaign(self) -> Path:
        return self.home / "night"

    @property
    def preload(self) -> Path:
        return self.home / "preload.py"

    @property
    def token(self) -> Path:
        """A file with a token, for a command."""
        return self.home / "token"

    @property
    def notes(self) -> Path:
        """A file that the lane reads, with a secret of the environment."""
        return self.home / "notes"

    @property
    def watching(self) -> Path:
        """A folder of Python's path."""
        return self.home.parent / "watching"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: text for name, text in os.environ.items() if not name.startswith("XDG_")}
        mine = {"HOME": str(self.home), "USER": USER, "LOGNAME": USER, "PWD": str(self.home), "HOSTNAME": MACHINE}
        more = {"MAIL": f"/var/mail/{USER}", "NO_CANARY": "stays", "DIFFTVM_CHILD_ENVIRONMENT": "NO_CANARY"}
        return {
            **kept,
            **SECRETS,
            **mine,
            **more,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{self.watching}",
        }

    def call(self, *words: object) -> Ended:
        """Run a command in the home folder, and watch the processes below it."""
        started = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, *map(str, words)],
            env=self.environment,
            cwd=self.home,
            stdout=subprocess.PIPE,
            stderr=(log := self.home.parent / "stderr").open("wb"),
            text=True,
        )
        shown: dict[bytes, bytes] = {}
        over = threading.Event()
        watch = threading.Thread(target=self._watch, args=(started.pid, log, over, shown))
        watch.start()
        try:
            out, _ = started.communicate(timeout=200)
        finally:
            started.kill()
            over.set()
            watch.join()
        listed = self.watching / "started"
        for line in listed.read_bytes().splitlines() if listed.exists() else ():
            shown |= dict.fromkeys(line.split(b"\0"), line)
        listed.unlink(missing_ok=True)
        return Ended(started.returncode, out, log.read_text(), shown)

    def _watch(self, pid: int, log: Path, over: threading.Event, shown: dict[bytes, bytes]) -> None:
        while not over.is_set():
            for child in process_tree.descendants(pid):
                with suppress(OSError):
                    folder = Path(f"/proc/{child}")
                    line, variables = ((folder / name).read_bytes() for name in ("cmdline", "environ"))
                    if line != Path(f"/proc/{pid}/cmdline").read_bytes():  # else it has not called execve(2) yet
                        texts = (*line.split(b"\0"), *variables.split(b"\0"), os.readlink(folder / "cwd").encode())
                        shown |= dict.fromkeys(texts, line)
            if not self.metrics and (found := re.search(r"http://\S+/metrics", log.read_text())):
                with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(found[0]) as page:
                    self.metrics = page.read().decode()
            time.sleep(0.02)


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    """A user who has run a campaign of one test, and has looked at it in each way."""
    found = User(tmp_path_factory.mktemp("homes") / HOME)
    found.home.mkdir()
    found.watching.mkdir()
    text = IN_EACH_PYTHON.replace("@STARTED@", repr(str(found.watching / "started"))).replace(
        "@MACHINE@", repr(MACHINE)
    )
    (found.watching / "sitecustomize.py").write_text(text)
    found.token.write_text(IN_FILE)
    found.token.chmod(0o600)
    found.notes.write_text(SECRETS["GITHUB_TOKEN"])
    found.preload.write_text(TELLS_ALL.replace("@NOTES@", repr(str(found.notes))).replace("@MACHINE@", repr(MACHINE)))
    drawn = ("--seed", "1", "--tests", "1", "--workers", "1", "--ops", "relu", "--lanes", "relax-export-llvm")
    preload, campaign = ("--preload", found.preload), ("--campaign", found.campaign)
    found.ended["run"] = found.call("run", *drawn, *campaign, *preload, "--scope-share", 0, "--metrics", 0)
    (finding,) = found.campaign.glob("crashes/*")
    for words in (
        ("status", *campaign),
        ("triage", *campaign),
        ("report", finding, "--format", "html", "--out", found.campaign / "page.html"),
        ("report", finding),
        ("dashboard", *campaign),
        ("file", finding, "--token-file", found.token),
        ("merge", found.campaign, "--into", found.home / "merged"),
        ("replay", finding, *preload),
    ):
        found.ended[str(words[0])] = found.call(*words)
    return found


def test_each_command_does_its_work(user: User) -> None:
    codes = {name: ended.code for name, ended in user.ended.items()}
    assert codes == {**dict.fromkeys(codes, 0), "replay": Exit.SAME}, user.ended


def test_the_lane_has_looked_everywhere(user: User) -> None:
    """Otherwise the other tests prove nothing. What it has found of a secret is asterisks."""
    (issue,) = user.campaign.glob("crashes/*/issue.md")
    text = issue.read_text()
    assert "NO_CANARY=stays" in text
    assert "*" * len(SECRETS["GITHUB_TOKEN"]) in text
    assert "~/preload.py" in text
    assert "user user" in text
    if has_own_machine_name():
        assert f"machine of {len('localhost')} letters" in text
    if os.geteuid() != 0 or enters_a_namespace():
        assert "memory: Permission denied" in text


def canaries(data: bytes) -> set[str]:
    return {found.decode() for found in CANARY.findall(data)}


def contents(path: Path) -> Iterator[bytes]:
    """The bytes of a file, and what is packed in it: rows of a database, members of an archive, compressed bytes."""
    data = path.read_bytes()
    yield data
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(path.absolute().as_uri() + "?mode=ro", uri=True)) as database:
            yield "\n".join(database.iterdump()).encode()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from map(archive.read, archive.namelist())
    if data[:2] == b"\x1f\x8b":
        yield zlib.decompress(data, wbits=31)


def test_no_file_has_a_canary(user: User) -> None:
    """The files of the campaign, its drafts, pages and dashboard, the merged campaign; and what lies beside them in the
    home folder, but for the paths of the list that was shown last, which stay in the user's state folder."""
    own = {user.token, user.notes, user.preload}
    files = [path for path in user.home.rglob("*") if path.is_file() and path not in own]
    files = [path for path in files if path.name != last_list.NAME]
    names = {path.name for path in files}
    assert {"index.sqlite", "campaign.json", "finding.json", "tensors.safetensors"} <= names
    assert {"dashboard.html", "page.html"} <= names
    assert any(path.is_relative_to(user.campaign / "drafts") for path in files)
    holding = {path: found for path in files for part in contents(path) if (found := canaries(part))}
    assert holding == {}
    assert canaries("".join(str(path.relative_to(user.home)) for path in files).encode()) == set()


@pytest.mark.parametrize("name", ["run", "status", "triage", "report", "dashboard", "file", "merge", "replay"])
def test_the_terminal_shows_no_canary_but_the_paths_that_the_user_has_named(user: User, name: str) -> None:
    ended = user.ended[name]
    assert canaries(without_named_paths(user, (ended.out + ended.err).encode())) == set()
    if name in ("report", "file"):
        assert canaries(ended.out.encode()) == set(), "this is meant for others"


def test_the_metrics_show_no_canary(user: User) -> None:
    assert "difftvm_tests_total" in user.metrics
    assert canaries(user.metrics.encode()) == set()


@pytest.mark.parametrize("name", ["run", "replay"])
def test_other_processes_get_no_canary_but_the_paths_that_the_user_has_named(user: User, name: str) -> None:
    """The folder of temporary files lies in the campaign, and the file to preload has a path."""
    shown = user.ended[name].shown
    assert any(b"fuzzer.children.zygote" in text for text in shown), "no child was looked at"
    assert {b"USER=user", b"NO_CANARY=stays"} <= shown.keys()
    holding = {text: line for text, line in shown.items() if canaries(without_named_paths(user, text))}
    assert holding == {}


def without_named_paths(user: User, text: bytes) -> bytes:
    for path in (user.campaign, user.preload, user.home / "merged"):
        text = text.replace(os.fsencode(path), b"")
    return text
