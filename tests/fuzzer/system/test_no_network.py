"""A process without a network, its threads, and the programs that it starts."""

from __future__ import annotations

import errno
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzer.system import no_network

pytestmark = pytest.mark.skipif(
    os.uname().machine not in no_network._MACHINES, reason="there is no filter for this machine"
)

ATTEMPTS = """
import ctypes, errno, json, socket, sys

def error_of(attempt, *arguments):
    try:
        attempt(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    return ""

def call(*arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "")

def connect(path):
    with socket.socket(socket.AF_UNIX) as end:
        end.connect(path)

def attempts(path):
    families = [name for name in dir(socket) if name.startswith("AF_") and name != "AF_UNIX"]
    errors = {name: error_of(socket.socket, getattr(socket, name), socket.SOCK_DGRAM) for name in families}
    errors["pair"] = error_of(socket.socketpair, socket.AF_INET, socket.SOCK_STREAM)
    errors["io_uring"] = error_of(call, 425, 1, 0)
    errors["stream"] = error_of(socket.socketpair)
    errors["packets"] = error_of(socket.socketpair, socket.AF_UNIX, socket.SOCK_SEQPACKET)
    errors["datagrams"] = error_of(socket.socket, socket.AF_UNIX, socket.SOCK_DGRAM)
    errors["raw"] = error_of(socket.socketpair, socket.AF_UNIX, socket.SOCK_RAW)
    errors["connect"] = error_of(connect, path)
    return errors
"""

OF_THE_PROCESS = f"""
{ATTEMPTS}
from fuzzer.system import no_network

assert no_network.enter(connects=bool(int(sys.argv[2])))
print(json.dumps(attempts(sys.argv[1])))
"""

OF_AN_OLDER_THREAD = f"""
import threading
{ATTEMPTS}
from fuzzer.system import no_network

errors, go = {{}}, threading.Event()
thread = threading.Thread(target=lambda: go.wait() and errors.update(attempts(sys.argv[1])))
thread.start()
assert no_network.enter()
go.set()
thread.join()
print(json.dumps(errors))
"""

OF_A_PROGRAM = f"""
import runpy, subprocess, sys

runpy.run_path({no_network.__file__!r})["enter"]()
program = {ATTEMPTS + "print(json.dumps(attempts(sys.argv[1])))"!r}
subprocess.run([sys.executable, "-I", "-c", program, sys.argv[1]], check=True)
"""


def found(tmp_path: Path, program: str, *more: str) -> dict[str, str]:
    path = str(tmp_path / "daemon")
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(path)
        daemon.listen()
        done = subprocess.run([sys.executable, "-c", program, path, *more], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    errors: dict[str, str] = json.loads(done.stdout)
    return errors


@pytest.mark.parametrize("program", [OF_THE_PROCESS, OF_AN_OLDER_THREAD, OF_A_PROGRAM])
def test_only_pairs_of_unix_sockets_are_left(program: str, tmp_path: Path) -> None:
    errors = found(tmp_path, program, "0")
    names = ("stream", "packets", "datagrams", "raw", "connect", "io_uring")
    rest = {name: errors.pop(name) for name in names}
    assert rest == {
        "stream": "",
        "packets": "",
        "datagrams": "ESOCKTNOSUPPORT",
        "raw": "ESOCKTNOSUPPORT",
        "connect": "ECONNREFUSED",
        "io_uring": "ENOSYS",
    }
    assert {"AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "pair"} <= errors.keys()
    assert set(errors.values()) == {"EAFNOSUPPORT"}


def test_a_driver_may_connect_to_its_daemon(tmp_path: Path) -> None:
    errors = found(tmp_path, OF_THE_PROCESS, "1")
    assert {errors[name] for name in ("stream", "packets", "datagrams", "connect")} == {""}
    assert errors["AF_INET"] == "EAFNOSUPPORT"


OTHER_INTERFACES = """
import ctypes, mmap
from fuzzer.system import no_network

code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# push rbx; mov eax, 359 (socket); mov ebx, 2; mov ecx, 1; xor edx, edx; int 0x80; pop rbx; ret
code.write(bytes.fromhex("53 b867010000 bb02000000 b901000000 31d2 cd80 5b c3"))
of_32_bits = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
libc = ctypes.CDLL(None, use_errno=True)
assert no_network.enter()
print(of_32_bits(), libc.syscall(0x40000000 | 41, 2, 1, 0), ctypes.get_errno())
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="no other machine has these interfaces")
def test_other_interfaces_of_the_kernel_are_refused() -> None:
    done = subprocess.run([sys.executable, "-c", OTHER_INTERFACES], capture_output=True, text=True)
    assert done.stdout == f"{-errno.ENOSYS} -1 {errno.ENOSYS}\n", done.stderr


def test_an_unknown_machine_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(no_network, "_MACHINES", {})
    assert not no_network.enter()
    assert "NoNewPrivs:\t0" in Path("/proc/self/status").read_text()
