"""A process that runs lanes has a host name of its own, where the kernel allows it."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from fuzzer.system import host_name

PROGRAM = "import socket; from fuzzer.system import host_name; print(host_name.hide(), socket.gethostname())"
IN_A_USER_NAMESPACE = f"import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0; {PROGRAM}"


def test_it_is_hidden_or_as_before() -> None:
    before = socket.gethostname()
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout in (f"True {host_name.NAME}\n", f"False {before}\n")
    assert socket.gethostname() == before, "this process is not concerned"


def test_it_is_hidden_in_a_user_namespace() -> None:
    """There a process has the rights of root. The zygote enters one (`user_namespace`)."""
    done = subprocess.run([sys.executable, "-c", IN_A_USER_NAMESPACE], capture_output=True, text=True)
    if "AssertionError" in done.stderr or done.stdout.startswith("False"):
        pytest.skip("this machine allows no user namespace, or no rights in it")
    assert done.stdout == f"True {host_name.NAME}\n", done.stderr
