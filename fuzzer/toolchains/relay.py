"""A toolchain with Relay: TVM 0.17 of August 2024 with LLVM 10, which the wheel of another package contains.

TVM removed Relay in release 0.20, and the package index has no older wheel of TVM. The TVM in this wheel is built with
CUDA: it needs the libraries of CUDA's runtime, which are Python packages too, and the library of the driver. A stub
replaces the driver where there is none.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from fuzzer.system.child_environment import inherited
from fuzzer.system.environment import EnvironmentMissing

NAME = "relay"
WHEEL = "bitblas==0.0.1.dev15"
PACKAGES = (
    "numpy<2",
    "onnx==1.16.2",
    *("attrs", "cloudpickle", "decorator", "psutil", "scipy", "tornado", "typing_extensions", "ml_dtypes"),
    *("nvidia-cuda-nvrtc-cu12", "nvidia-cuda-runtime-cu12"),
)
AS_HOST = ("torch", "msgspec", "multiprocess", "safetensors")

NEWEST = (3, 12)
"""The newest Python that numpy 1 and onnx 1.16.2 have wheels for."""

DRIVER = "libcuda.so.1"


def interpreter() -> str:
    """The host's Python where it is old enough, else the newest on the path that is. Raise `EnvironmentMissing`."""
    if sys.version_info[:2] <= NEWEST:
        return sys.executable
    found = shutil.which("python3.12") or shutil.which("python3.11")
    if found is None:
        raise EnvironmentMissing("Relay's TVM needs Python 3.11 or 3.12; neither python3.12 nor python3.11 is on PATH")
    return found


def environment(folder: Path, python: Path) -> dict[str, str]:
    """The variables with which the interpreter finds this TVM. Builds the stub of the driver where there is none."""
    site = next(folder.glob("venv/lib/python*/site-packages"))
    tvm = site / "bitblas" / "3rdparty" / "tvm"
    libraries = sorted(site.glob("nvidia/*/lib"))
    if not _has_driver(python):
        libraries.append(stub(tvm / "build" / "libtvm.so", folder / "stub"))
    return {
        "PYTHONPATH": str(tvm / "python"),
        "TVM_LIBRARY_PATH": str(tvm / "build"),
        "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
    }


def _has_driver(python: Path) -> bool:
    """Whether the library of CUDA's driver loads, tried in a separate process, because it is native code."""
    program = f"import ctypes; ctypes.CDLL({DRIVER!r})"
    return subprocess.run([str(python), "-P", "-c", program], env=inherited(), capture_output=True).returncode == 0


def stub(library: Path, folder: Path) -> Path:
    """Build a driver in `folder` that has all functions which `library` needs, each of which reports that there is no
    device. Return the folder. Raise `EnvironmentMissing`."""
    source, built = folder / "libcuda.c", folder / DRIVER
    functions = "".join(f"int {name}(void) {{ return NO_DEVICE; }}\n" for name in _driver_functions(library))
    folder.mkdir()
    source.write_text(f"enum {{ NO_DEVICE = 100 }}; /* CUDA_ERROR_NO_DEVICE */\n{functions}")
    _tool("cc", "-shared", "-fPIC", f"-Wl,-soname,{DRIVER}", "-o", str(built), str(source))
    return folder


def _driver_functions(library: Path) -> list[str]:
    """The functions of CUDA's driver (cuInit, ...) that a library leaves undefined."""
    listed = _tool("nm", "-D", "--undefined-only", str(library))
    return sorted(set(re.findall(r"\bcu[A-Z]\w*", listed)))


def _tool(name: str, *arguments: str) -> str:
    try:
        done = subprocess.run([name, *arguments], env=inherited(), capture_output=True, text=True)
    except FileNotFoundError:
        package = {"nm": "binutils", "cc": "a C compiler"}[name]
        raise EnvironmentMissing(f"Relay's TVM on a machine without a GPU needs {name} ({package})") from None
    if done.returncode:
        raise EnvironmentMissing(f"{name} failed: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout
