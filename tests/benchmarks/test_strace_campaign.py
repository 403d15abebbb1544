"""What a trace of strace has: sockets, look-ups and files that are written."""

from __future__ import annotations

from pathlib import Path

import pytest
import strace_campaign
from strace_campaign import summary

FOLDERS = {"campaign": "/c", "temporary": "/t"}

HARMLESS = """\
1 socketpair(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC, 0, [3<socket:[1]>, 4<socket:[2]>]) = 0
1 socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK, 0) = 5<socket:[3]>
1 connect(5<socket:[3]>, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT (No such file)
1 openat(AT_FDCWD</x>, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3</etc/passwd>
1 openat(AT_FDCWD</x>, "/home/y", O_WRONLY|O_CREAT, 0666) = -1 EACCES (Permission denied)
2 openat(AT_FDCWD</c/d>, "f", O_RDWR|O_CREAT, 0600) = 3</c/d/f>
2 openat(AT_FDCWD</x>, "/t", O_RDWR|O_EXCL|O_TMPFILE, 0600 <unfinished ...>
2 <... openat resumed>) = 3</t/#1>(deleted)
2 symlink("/home/y", "/c/link") = 0
3 renameat(3</c/d>, "a", 4</t>, "b") = 0
3 openat(AT_FDCWD</x>, "/proc/self/oom_score_adj", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 5</proc/3/oom_score_adj>
3 mkdir("/p/__pycache__", 0777) = 0
3 +++ exited with 0 +++
"""


def test_what_a_campaign_may_do() -> None:
    found = summary(HARMLESS.splitlines(), FOLDERS)
    assert not found.wrong
    assert len(found.processes) == 3
    assert found.sockets == {"AF_UNIX": 2}
    assert found.connections == {"/var/run/nscd/socket": 1}
    assert found.written == {"campaign": 3, "temporary": 2, "kernel": 1, "compiled Python": 1}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("socket(AF_INET6, SOCK_DGRAM, IPPROTO_IP) = -1 EAFNOSUPPORT", "sockets: AF_INET6 1"),
        ("socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE <unfinished ...>", "sockets: AF_NETLINK 1"),
        ("io_uring_setup(1, 0x1) = 3", "sockets: io_uring_setup 1"),
        ('openat(AT_FDCWD</x>, "/etc/resolv.conf", O_RDONLY) = 3</etc/resolv.conf>', "host: /etc/resolv.conf 1"),
        ('openat(AT_FDCWD</home>, "y", O_WRONLY|O_CREAT, 0666 <unfinished ...>', "elsewhere: /home/y 1"),
        ('mkdir("/home/.cache", 0700) = 0', "elsewhere: /home/.cache 1"),
        ('unlinkat(9</cc>, "f", 0) = 0', "elsewhere: /cc/f 1"),
        ('rename("/c/f", "/home/f") = 0', "elsewhere: /home/f 1"),
        ('openat(AT_FDCWD</c>, "../home/f", O_RDWR) = 3</home/f>', "elsewhere: /home/f 1"),
    ],
)
def test_what_it_may_not(line: str, shown: str) -> None:
    found = summary([f"7 {line}"], FOLDERS)
    assert found.wrong
    assert shown in str(found)


@pytest.mark.slow
@pytest.mark.programs("strace")
def test_a_real_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {name: tmp_path / name for name in ("campaign", "temporary", "home")}
    for folder in folders.values():
        folder.mkdir()
    written = str(tmp_path / "home" / "file")
    (tmp_path / "sitecustomize.py").write_text(f"import socket\nsocket.socket()\nopen({written!r}, 'w')\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[2]}")
    trace = tmp_path / "trace"
    strace_campaign.traced(trace, folders, "--no-such-option")
    with trace.open() as lines:
        found = summary(lines, {"campaign": str(folders["campaign"]), "temporary": str(folders["temporary"])})
    assert found.sockets["AF_INET"] == 1
    assert found.elsewhere[written] == 1
