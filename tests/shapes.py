"""What a child may put at a path, by name. Each function is run by a process of its own: `python shapes.py NAME PATH
OUTSIDE`. OUTSIDE is a folder of the user's. It exits with `UNABLE` where this machine does not allow the shape."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import stat
import struct
import sys
from collections.abc import Callable

UNABLE = 77
LONG = "n" * 255
_SET_FLAGS, _IMMUTABLE, _APPEND = 0x40086602, 0x10, 0x20

Shape = Callable[[str, str], None]
SHAPES: dict[str, Shape] = {}


def shape(make: Shape) -> Shape:
    SHAPES[make.__name__] = make
    return make


@shape
def empty_file(path: str, outside: str) -> None:
    open(path, "x").close()


@shape
def file_with_holes(path: str, outside: str) -> None:
    """It says that it has a terabyte."""
    with open(path, "xb") as file:
        file.truncate(1 << 40)


@shape
def file_without_permission(path: str, outside: str) -> None:
    os.close(os.open(path, os.O_CREAT, 0))


@shape
def setuid_file(path: str, outside: str) -> None:
    empty_file(path, outside)
    os.chmod(path, 0o7777)


@shape
def immutable_file(path: str, outside: str) -> None:
    empty_file(path, outside)
    _set_flags(path, _IMMUTABLE)


@shape
def append_only_file(path: str, outside: str) -> None:
    empty_file(path, outside)
    _set_flags(path, _APPEND)


@shape
def hard_link_to_the_users_file(path: str, outside: str) -> None:
    os.link(f"{outside}/mine", path)


@shape
def link_to_a_folder(path: str, outside: str) -> None:
    os.symlink(outside, path)


@shape
def link_to_a_file(path: str, outside: str) -> None:
    os.symlink(f"{outside}/mine", path)


@shape
def dangling_link(path: str, outside: str) -> None:
    os.symlink(f"{outside}/nowhere", path)


@shape
def link_to_itself(path: str, outside: str) -> None:
    os.symlink(path, path)


@shape
def link_to_the_folder_above(path: str, outside: str) -> None:
    os.symlink("..", path)


@shape
def link_to_the_root(path: str, outside: str) -> None:
    os.symlink("/", path)


@shape
def link_to_proc(path: str, outside: str) -> None:
    os.symlink("/proc/self/fd/0", path)


@shape
def pipe(path: str, outside: str) -> None:
    os.mkfifo(path)


@shape
def unix_socket(path: str, outside: str) -> None:
    os.chdir(os.path.dirname(path))  # an address has at most 107 bytes
    socket.socket(socket.AF_UNIX).bind(os.path.basename(path))


@shape
def character_device(path: str, outside: str) -> None:
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(5, 0))  # /dev/tty


@shape
def block_device(path: str, outside: str) -> None:
    os.mknod(path, stat.S_IFBLK | 0o666, os.makedev(7, 0))


@shape
def empty_folder(path: str, outside: str) -> None:
    os.mkdir(path)


@shape
def folder_without_permission(path: str, outside: str) -> None:
    os.makedirs(f"{path}/a/b")
    os.chmod(f"{path}/a", 0)
    os.chmod(path, 0)


@shape
def folder_that_cannot_be_entered(path: str, outside: str) -> None:
    os.makedirs(f"{path}/a/b")
    os.chmod(path, 0o600)


@shape
def read_only_folder(path: str, outside: str) -> None:
    os.makedirs(f"{path}/a/b")
    os.chmod(f"{path}/a", 0o500)
    os.chmod(path, 0o500)


@shape
def sticky_folder(path: str, outside: str) -> None:
    os.makedirs(f"{path}/a")
    os.chmod(path, 0o1777)


@shape
def immutable_folder(path: str, outside: str) -> None:
    os.makedirs(f"{path}/a/b")
    _set_flags(f"{path}/a", _IMMUTABLE)
    _set_flags(path, _IMMUTABLE)


@shape
def folder_of_links(path: str, outside: str) -> None:
    os.mkdir(path)
    for number, target in enumerate((outside, f"{outside}/mine", "/", "..", ".", "/proc/self/root", "/dev/full")):
        os.symlink(target, f"{path}/{number}")


@shape
def folder_of_pipes(path: str, outside: str) -> None:
    os.mkdir(path)
    for number in range(10):
        os.mkfifo(f"{path}/{number}")


@shape
def nested_folders(path: str, outside: str) -> None:
    nested(path, "d", 1200)


@shape
def path_beyond_the_limit(path: str, outside: str) -> None:
    """A path of 10,000 bytes, with a link and a pipe at its end."""
    os.symlink(outside, "link", dir_fd=(end := nested(path, LONG, 40)))
    os.mkfifo("pipe", dir_fd=end)


@shape
def wide_and_deep(path: str, outside: str) -> None:
    """Each folder has another, and a file of each kind."""
    folder = nested(path, "d", 1)
    for _ in range(30):
        os.symlink(outside, "link", dir_fd=folder)
        os.mkfifo("pipe", dir_fd=folder)
        os.close(os.open("file", os.O_CREAT, dir_fd=folder))
        os.mkdir("other", dir_fd=folder)
        folder = _below(folder, "d")


@shape
def many_files(path: str, outside: str) -> None:
    os.mkdir(path)
    os.chdir(path)
    for number in range(100_000):
        os.close(os.open(str(number), os.O_CREAT))


@shape
def long_names(path: str, outside: str) -> None:
    os.mkdir(path)
    os.mkdir(f"{path}/{LONG}")
    empty_file(f"{path}/{LONG}/{LONG}", outside)


@shape
def names_that_are_no_text(path: str, outside: str) -> None:
    os.mkdir(path)
    for name in (b"\xff\xfe", b"new\nline", b"\x1b[31m", b"-rf", b"\xe2\x80\xae", b" ", b"...", b"\\", b"*"):
        os.makedirs(os.fsencode(path) + b"/" + name + b"/" + name)


@shape
def names_of_ours(path: str, outside: str) -> None:
    os.mkdir(path)
    for name in (".tmp-fuzz_stats-1", "campaign.json", "index.sqlite", ".difftvm-scratch", ".difftvm-aside"):
        os.mkdir(f"{path}/{name}")


@shape
def working_folder_of_a_process(path: str, outside: str) -> None:
    """The process goes on in it for a while."""
    os.mkdir(path)
    os.chdir(path)
    if os.fork() == 0:
        os.closerange(0, 3)
        os.execv("/bin/sleep", ["sleep", "5"])


@shape
def mounted_folder(path: str, outside: str) -> None:
    os.makedirs(f"{path}/mount")
    if ctypes.CDLL(None).mount(os.fsencode(outside), os.fsencode(f"{path}/mount"), b"none", 4096, None) != 0:
        sys.exit(UNABLE)  # 4096: MS_BIND


def nested(path: str, name: str, count: int) -> int:
    """Make a folder with folders in each other. Return a descriptor of the deepest."""
    os.mkdir(path)
    folder = os.open(path, os.O_RDONLY)
    for _ in range(count):
        folder = _below(folder, name)
    return folder


def _below(folder: int, name: str) -> int:
    os.mkdir(name, dir_fd=folder)
    inner = os.open(name, os.O_RDONLY, dir_fd=folder)
    os.close(folder)
    return inner


def _set_flags(path: str, flags: int) -> None:
    """As chattr(1)."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(descriptor, _SET_FLAGS, struct.pack("i", flags))
    except OSError:
        sys.exit(UNABLE)
    os.close(descriptor)


if __name__ == "__main__":
    try:
        SHAPES[sys.argv[1]](sys.argv[2], sys.argv[3])
    except PermissionError:
        sys.exit(UNABLE)
