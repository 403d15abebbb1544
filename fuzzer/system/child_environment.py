"""The environment variables that the processes of lanes inherit from the user.

They run programs that a fuzzer drew, and what they print or raise may be published. So they get the variables of these
lists only, and none that is named like a secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from fuzzer.system.secrets import is_secret

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


def inherited(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The part of an environment that a child may inherit."""
    chosen = NAMES | set(re.findall(r"[^\s,]+", environment.get(USER, "")))
    return {
        name: text
        for name, text in environment.items()
        if (name in chosen or name.startswith(PREFIXES)) and not is_secret(name)
    }
