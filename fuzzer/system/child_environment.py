"""The environment variables that other processes inherit from the user: those of these lists only, and none that is
named like a secret or has a URL with a password.

Processes of lanes run programs that a fuzzer drew, and what they print or raise may be published. So they get none that
tells who the user is, and another home folder.
"""

from __future__ import annotations

import os
import re
import site
from collections.abc import Mapping
from pathlib import Path

from fuzzer.system import telemetry
from fuzzer.system.secrets import is_secret, passwords_in

USER = "DIFFTVM_CHILD_ENVIRONMENT"
"""A variable of the user's: the names of further variables that children inherit, with commas between them."""

NAMES = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TERM", "TMPDIR", "LANG", "LANGUAGE", "TZ"),
        *("VIRTUAL_ENV", "SOURCE_DATE_EPOCH", USER),
        # the loader, and C compilers that lanes call
        *("LD_LIBRARY_PATH", "LD_PRELOAD", "LIBRARY_PATH", "CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS"),
        *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH"),
    }
)
PREFIXES = (
    *("LC_", "XDG_", "PYTHON", "CONDA_", "DIFFTVM_"),
    *("TVM_", "TORCH", "PYTORCH_", "ORT_", "ONNX"),
    *("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "GLIBC_", "MALLOC_"),
    *("ASAN_", "LSAN_", "UBSAN_", "TSAN_", "MSAN_"),
    *("CUDA", "NVIDIA_", "NVCC_", "CUBLAS", "CUDNN", "HIP_", "ROCM_", "ROCR_"),
)

PERSONAL = re.compile(r"HOME|USER|LOGNAME|PWD|XDG_.*")
"""Variables that tell who the user is and where the user works."""

SOMEBODY = "user"
"""The name of the user in the environment of a lane."""

NO_HOME = Path("/nonexistent")
"""The home folder of processes that keep nothing there."""

_FOLDERS = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")


def inherited(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The part of an environment that a process of difftvm may inherit which runs no lanes, without telemetry."""
    chosen = NAMES | _of_user(environment)
    kept = {
        name: text
        for name, text in environment.items()
        if (name in chosen or name.startswith(PREFIXES)) and not is_secret(name) and not passwords_in(text)
    }
    return {**kept, **telemetry.OFF}


def anonymous(home: Path = NO_HOME, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The part of an environment that a lane may inherit, with `home` as its home folder. Lists of folders become
    absolute, because a lane does not work in the user's folder. Packages that the user has installed in the own home
    folder are still found."""
    hidden = {name for name in environment if PERSONAL.fullmatch(name)} - _of_user(environment)
    kept = {name: text for name, text in inherited(environment).items() if name not in hidden}
    kept |= {name: _absolute(kept[name]) for name in _FOLDERS if name in kept}
    if any(Path(site.getuserbase()).glob("lib/python*/site-packages")):
        kept.setdefault("PYTHONUSERBASE", site.getuserbase())
    return {"HOME": str(home), "USER": SOMEBODY, "LOGNAME": SOMEBODY, **kept}


def _of_user(environment: Mapping[str, str]) -> set[str]:
    return set(re.findall(r"[^\s,]+", environment.get(USER, "")))


def _absolute(folders: str) -> str:
    return os.pathsep.join(os.path.abspath(folder) for folder in folders.split(os.pathsep) if folder)
