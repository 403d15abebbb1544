"""Records what a process of difftvm does beyond reading the files that it was given. `hostile_files.py` uses it.

An audit hook (PEP 578) gets the events of the interpreter: files that are opened, changed or removed, code that is
compiled from a text, processes, connections, libraries, unpickled classes. Events that every command causes are
allowed: files of the interpreter, of installed packages and of the project, of the folders that were named, and facts
about the machine. Everything else is a fault. What a library does in C without an event, strace shows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

STARTED = 99
"""The exit status of a watched process that would have started a compiler or PyTorch: its files were accepted."""

FOLDERS, LOG = "DIFFTVM_WATCHED_FOLDERS", "DIFFTVM_WATCHED_LOG"

PROJECT = str(Path(__file__).resolve().parents[2])
_CODE = tuple({os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), PROJECT)})
_MACHINE = (
    "/proc/",
    "/sys/",
    "/usr/",
    "/lib",
    "/dev/null",
    "/dev/urandom",
    "/etc/localtime",
    "/etc/ld.so",
    "/etc/OpenCL/vendors/",
    "/etc/vulkan/icd.d/",
)
_KNOWN_TO_LIBRARIES = ("/etc/mime.types", "/etc/os-release", "/etc/terminfo", "/lib/terminfo", "/etc/ssl/", "/dev/tty")

_COMPILERS = frozenset(
    f"fuzzer.children.{name}"
    for name in ("zygote", "device_worker", "validity", "samples", "node", "coverage", "code_table")
)
_READERS = frozenset(
    f"fuzzer.seeds.{name}"
    for name in ("torch.pt2_file", "onnx.reader.reader", "onnx.reader.refusal", "onnx.reader.saved_tensors")
)
_PROBES = frozenset({"nvidia-smi", "rocminfo", "ldconfig", "lscpu", "uname", "gcc", "cc", "clang"})
"""Programs that say what the machine has."""

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = frozenset(
    {
        *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod", "os.chown"),
        *("os.truncate", "os.utime", "os.setxattr", "os.removexattr"),
    }
)
_NEVER = frozenset({"os.system", "os.startfile", "pickle.find_class", "ftplib.connect", "http.client.connect"})
_NETWORK = frozenset({"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"})


def watch(folders: list[str], report: Callable[[str], None], started: Callable[[str], Any]) -> None:
    """Call `report` with a line for each event that is not allowed, from now on, and `started` where a compiler is
    about to start. The named folders may be read and written. An audit hook cannot be removed."""
    given = tuple(os.path.realpath(folder) for folder in folders)
    busy = False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal busy
        if busy:
            return
        busy = True
        try:
            why = _fault(event, arguments, given)
            command = _command(event, arguments)
        finally:
            busy = False
        if command and not _COMPILERS.isdisjoint(command):
            started(" ".join(command))
        elif why:
            report(why)

    sys.addaudithook(hook)


def _fault(event: str, arguments: tuple[Any, ...], given: tuple[str, ...]) -> str:
    """Why an event is not allowed; "" where it is."""
    match event:
        case "open" if arguments[2] & os.O_PATH:
            return ""  # nothing is read or written with it
        case "open":
            return _of_file(arguments[0], _is_write(arguments[1], arguments[2]), arguments[2], given)
        case "sqlite3.connect":
            path = os.fsdecode(arguments[0]).removeprefix("file://").partition("?")[0]
            return "" if path == ":memory:" or path.startswith(given) else f"opens the database {path}"
        case "os.listdir" | "os.scandir":
            path = os.path.realpath(os.fsdecode(arguments[0] or ".")) if not isinstance(arguments[0], int) else given[0]
            known = f"{path}/".startswith((*given, *_CODE, *_MACHINE)) or path in _PARENTS or _is_of_import()
            return "" if known else f"lists {path}"
        case "compile" | "exec":
            return _of_code(event, arguments)
        case _ if event in _CHANGES:
            outside = [path for path in _changed(event, arguments) if not path.startswith(given)]
            return f"{event} of {outside[0]}" if outside else ""
        case _ if event in _NEVER:
            return f"{event} {arguments!r:.200}"
        case _ if event in _NETWORK:
            return (
                "" if event == "socket.bind" and not isinstance(arguments[1], tuple) else f"{event} {arguments!r:.200}"
            )
        case _:
            command = _command(event, arguments)
            return f"runs {' '.join(command)[:200]}" if command and not _may_run(command) else ""


def _changed(event: str, arguments: tuple[Any, ...]) -> list[str]:
    """The paths that an event changes. The last argument may be the descriptor of the folder that they are in."""
    paths = [os.fsdecode(each) for each in arguments if isinstance(each, str | bytes | os.PathLike)]
    if event == "os.symlink":
        paths = paths[1:]  # what it points to is not changed
    folder = arguments[-1] if isinstance(arguments[-1], int) and arguments[-1] >= 0 else None
    return [_in_place(path if folder is None else f"/proc/self/fd/{folder}/{path}") for path in paths]


_CHECKS_A_PROGRAM = ("fuzzer", "system", "named_file.py")
"""It compiles a file that a command line names, to see whether it is Python, and does not execute it."""

_PARENTS = frozenset({PROJECT, os.path.dirname(PROJECT)})


def _is_write(mode: object, flags: object) -> bool:
    return bool(isinstance(flags, int) and flags & _WRITES) or (
        isinstance(mode, str) and not set(mode).isdisjoint("wax+")
    )


def _of_file(path: Any, writes: bool, flags: object, given: tuple[str, ...]) -> str:
    if isinstance(flags, int) and flags & os.O_PATH:  # it names a file, and neither opens nor reads it
        return ""
    if isinstance(path, int) or _caller()[1] == "open_plain":  # its own opener has an event too
        return ""
    real = _in_place(path) if isinstance(flags, int) and flags & os.O_NOFOLLOW else os.path.realpath(os.fsdecode(path))
    if real.startswith((*given, "/dev/null", f"/proc/{os.getpid()}/")):
        return ""
    if writes:
        return "" if "__pycache__" in real and _is_of_import() else f"writes {real}"
    return "" if real.startswith((*_CODE, *_MACHINE, *_KNOWN_TO_LIBRARIES)) else f"reads {real}"


def _in_place(path: Any) -> str:
    """The absolute path where a last part that is a link is not followed."""
    parent, name = os.path.split(os.path.abspath(os.fsdecode(path)))
    return os.path.join(os.path.realpath(parent), name)


def _of_code(event: str, arguments: tuple[Any, ...]) -> str:
    """Code may come from the files of packages; and their modules may make some, as dataclasses do."""
    if event == "exec":
        file = getattr(arguments[0], "co_filename", "")
    else:
        file = os.fsdecode(arguments[1]) if isinstance(arguments[1], str | bytes) else ""
    if (os.path.realpath(file).startswith(_CODE) and os.path.isabs(file)) or file.startswith("<frozen"):
        return ""
    caller, _ = _caller()
    if not caller:  # the interpreter itself, with what its command line names
        return ""
    installed = "/site-packages/" in caller or not os.path.realpath(caller).startswith(PROJECT)
    if event == "compile" and os.path.realpath(caller) == os.path.join(PROJECT, *_CHECKS_A_PROGRAM):
        return ""
    if caller.startswith("<frozen") or (installed and os.path.realpath(caller).startswith(_CODE)):
        return ""
    return f"{event} of {file!r} from {caller}"


def _caller() -> tuple[str, str]:
    """The file and the name of the function that caused the event; empty where there is none."""
    frame: Any = sys._getframe(1)
    while frame and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return (frame.f_code.co_filename, frame.f_code.co_name) if frame else ("", "")


def _is_of_import() -> bool:
    frame: Any = sys._getframe(1)
    while frame:
        if "importlib" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def _command(event: str, arguments: tuple[Any, ...]) -> list[str]:
    match event:
        case "subprocess.Popen":
            words = arguments[1]
        case "os.exec" | "os.posix_spawn" | "os.spawn":
            words = arguments[1]
        case _:
            return []
    return [words] if isinstance(words, str) else [os.fsdecode(word) for word in words]


def _may_run(command: list[str]) -> bool:
    if os.path.basename(command[0]) in _PROBES:
        return True
    return command[1:3] == ["-P", "-m"] and command[3] in _READERS | _COMPILERS
