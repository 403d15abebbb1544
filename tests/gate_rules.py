"""A pytest plugin that holds the tests of the gate to its rule: their result depends on the commit alone. While such a
test and its fixtures run, this process opens no connection but to itself, starts only the programs that .ci/run has on
PATH, and writes neither in the user's home nor under a fixed name in the temporary folder. A test that breaks the rule
fails. So does one without a result after ten minutes.

Child processes are held to it by what they inherit. With `--part gate`, PATH has these programs alone, the home is
empty and must stay so, and where the kernel permits it, the network is the loopback interface alone."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import socket
import struct
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from parts import GATE, part_of_item

ROOT = Path(__file__).parents[1]

MOST_SECONDS, SECONDS_AFTER = 600.0, 30.0
"""When a test is ended, and how often again where it goes on."""

PROGRAMS = ("make", "gcc", "cc", "as", "ld", "cat", "cp", "grep", "rm", "sed", "sleep", "touch")
"""The compiler that the README requires, and what the Makefile and tests call: as in .ci/run."""

MANAGERS = frozenset({"apt", "apt-get", "conda", "dpkg", "npm", "pip", "pip3", "uv"})

LOOPBACK = ("127.", "::1", "localhost", "::ffff:127.")

OF_THIS_RUN = "difftvm-tests-"
"""How the folder in the temporary folder begins that belongs to all workers of a run."""

NEW_NETWORK, SET_FLAGS, UP = 0x40000000, 0x8914, 1
"""CLONE_NEWNET of unshare(2), SIOCSIFFLAGS and IFF_UP of netdevice(7)."""

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

PASSED_ON = frozenset(
    {
        *(
            "CI",
            "COVERAGE_PROCESS_CONFIG",
            "DIFFTVM_CHILD_ENVIRONMENT",
            "DIFFTVM_CHILD_WRITES",
            "HOME",
            "LANG",
            "LOGNAME",
        ),
        *("OMP_NUM_THREADS", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "ORT_DISABLE_TELEMETRY", "PATH", "SHELL", "TERM"),
        *("TMPDIR", "USER", "XDG_CACHE_HOME", "XDG_STATE_HOME"),
    }
)
"""The variables that tests inherit, beside those of pytest. Others make a test depend on who runs it."""


class Broken(PermissionError):
    """A test of the gate did what its rule forbids."""


def leave_out_variables() -> None:
    """Remove the variables that the tests must not depend on, for this process and all that it starts."""
    for name in list(os.environ):
        if name not in PASSED_ON and not name.startswith(("PYTEST_", "HYPOTHESIS_", "MUTANT_")):
            del os.environ[name]


def leave_out_programs(folder: Path) -> None:
    """Let PATH have `PROGRAMS` and python3 alone, for this process and all that it starts."""
    folder.mkdir()
    for name in PROGRAMS:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    (folder / "python3").symlink_to(sys.executable)
    os.environ["PATH"] = str(folder)


def leave_out_network() -> bool:
    """Leave this process, and all that it starts from now on, the loopback interface alone: a network namespace of
    their own (unshare(2), netdevice(7)). Return whether the kernel permits it; most ask for root."""
    libc = ctypes.CDLL(None, use_errno=True)
    if sys.platform != "linux" or libc.unshare(NEW_NETWORK):
        return False
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh", b"lo", UP))
    return True


def has_loopback_alone() -> bool:
    return [name for _, name in socket.if_nameindex()] == ["lo"]


class Home:
    """The home of the tests of a process and their children: it is empty before and after each test."""

    def __init__(self) -> None:
        self.folder: Path | None = None

    def use(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        os.environ["HOME"] = str(folder)

    def check(self) -> None:
        """Raise `Broken` where a test, or a process that it started, has left something, and remove that."""
        left = sorted(self.folder.iterdir()) if self.folder else []
        for path in left:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        if left:
            raise Broken(f"leaves {', '.join(path.name for path in left)} in the home")


class Watch:
    """What the process does while a test of the gate runs."""

    def __init__(self, home: Path, temporary: Path) -> None:
        self.broken: list[str] = []
        self._active = False
        self._home, self._temporary = _prefixes(home), _prefixes(temporary)
        self._commit = (f"{ROOT}{os.sep}", f"{sys.prefix}{os.sep}")
        self._own = (*self._commit, f"{sys.base_prefix}{os.sep}")
        self._drawn: set[str] = set()
        self._checks = {
            "socket.connect": self._connects,
            "socket.sendto": self._connects,
            "socket.sendmsg": self._connects,
            "socket.getaddrinfo": self._looks_up,
            "socket.gethostbyname": self._looks_up,
            "os.system": self._starts_a_shell,
            "subprocess.Popen": self._starts,
            "os.posix_spawn": self._starts,
            "os.exec": self._starts,
            "open": self._opens,
            "os.mkdir": self._makes,
        }

    @contextlib.contextmanager
    def during_a_test(self) -> Iterator[None]:
        """Raises `Broken` at the end, too: what a test calls may take an error for an answer."""
        self.broken.clear()
        self._active = True
        try:
            yield
        finally:
            self._active = False
        if self.broken:
            raise Broken("; ".join(dict.fromkeys(self.broken)))

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook of Python."""
        if event == "tempfile.mkdtemp" or event == "tempfile.mkstemp":
            self._drawn.add(os.path.basename(arguments[0]))
        if self._active and (check := self._checks.get(event)) is not None and (problem := check(*arguments)):
            self.broken.append(problem)
            raise Broken(problem)

    @staticmethod
    def _connects(_socket: object, address: object) -> str:
        if isinstance(address, tuple) and not str(address[0]).startswith(LOOPBACK):
            return f"connects to {address[0]}; the gate has no network"
        return ""

    @staticmethod
    def _looks_up(host: object, *_: object) -> str:
        name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
        return "" if name.startswith((*LOOPBACK, "0.0.0.0")) else f"looks up {name}; the gate has no network"

    @staticmethod
    def _starts_a_shell(command: object) -> str:
        return f"gives {command!r} to a shell; start the program itself"

    def _starts(self, executable: Any, arguments: Sequence[Any], *rest: Any) -> str:
        program = os.fsdecode(executable if executable is not None else arguments[0])
        environment = next((each for each in rest if isinstance(each, Mapping)), os.environ)
        found = shutil.which(program, path=environment.get("PATH"))
        if found is None or found.startswith(self._temporary):  # to look for it is no dependence; the test made it
            return ""
        name = os.path.basename(program)
        words = [os.fsdecode(word) for word in arguments] if isinstance(arguments, list | tuple) else []
        if name in MANAGERS or any(words[place : place + 2] == ["-m", "pip"] for place in range(len(words))):
            return f"starts {name}; the gate installs nothing"
        if name in PROGRAMS or name == "sh" or name.startswith("python") or found.startswith(self._own):
            return ""
        return f"starts {name}, which the README does not require"

    def _opens(self, path: object, _mode: object, flags: object) -> str:
        if not isinstance(flags, int) or not flags & WRITES or not isinstance(path, str | bytes):
            return ""
        return self._makes(path)

    def _makes(self, path: object, *_: object) -> str:
        if not isinstance(path, str | bytes | os.PathLike):
            return ""
        name = os.fsdecode(path)
        if name.startswith(self._commit):
            return ""
        if temporary := next((each for each in self._temporary if name.startswith(each)), None):
            first = name[len(temporary) :].split(os.sep)[0]
            if first.startswith(("pytest-of-", OF_THIS_RUN)) or first in self._drawn or not first:
                return ""
            return f"writes {first} in the temporary folder, a name that is not drawn by tempfile"
        if home := next((each for each in self._home if name.startswith(each)), None):
            return f"writes {name[len(home) :]} in the user's home"
        return ""


def _prefixes(folder: Path) -> tuple[str, ...]:
    """How paths in a folder begin, as it is named and without links."""
    return tuple({f"{folder}{os.sep}", f"{folder.resolve()}{os.sep}"})


def _hangs(_number: int, _frame: object) -> None:
    problem = f"no result after {MOST_SECONDS} s"
    WATCH.broken.append(problem)
    raise Broken(problem)


def take_usual_signals() -> None:
    """nohup(1) and a shell's background leave signals ignored, and children inherit that."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


WATCH = Watch(Path.home(), Path(tempfile.gettempdir()))
HOME = Home()


def pytest_configure(config: pytest.Config) -> None:
    take_usual_signals()
    if not hasattr(config, "workerinput"):  # workers inherit it
        folder = Path(tempfile.mkdtemp(prefix=OF_THIS_RUN))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        leave_out_variables()
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "inductor")
        if config.getoption("--part") == GATE:
            leave_out_programs(folder / "bin")
            os.environ["XDG_CACHE_HOME"] = str(folder / "cache")  # the user's may have toolchains
            HOME.use(folder / "home")
            leave_out_network()
    elif config.getoption("--part") == GATE:
        HOME.use(Path(f"{os.environ['HOME']}-{config.workerinput['workerid']}"))
    sys.addaudithook(WATCH.hook)


def _held(item: pytest.Item) -> Generator[None, None, None]:
    """Hold a test, or its fixtures, to the rule. What takes the alarm for an answer gets it again."""
    if part_of_item(item) != GATE:
        return (yield)
    before = signal.signal(signal.SIGALRM, _hangs)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS, SECONDS_AFTER)
    try:
        with WATCH.during_a_test():
            result = yield
        HOME.check()
        return result
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


pytest_runtest_setup = pytest.hookimpl(wrapper=True)(_held)
pytest_runtest_call = pytest.hookimpl(wrapper=True)(_held)
