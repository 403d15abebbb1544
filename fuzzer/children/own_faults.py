"""Decide whether an exception in a lane is a fault of difftvm's own code, or of the compiler that the lane calls.

The innermost frame tells: an exception of a compiler comes out of a function of the compiler. Frames of libraries that
both use, such as numpy, count for the code that called them.
"""

from __future__ import annotations

import re
import sysconfig
import traceback
from pathlib import Path

from fuzzer.lanes.base.compiler_error import CompilerError

ROOT = f"{Path(__file__).parents[2]}/"
_OURS = tuple(f"{ROOT}{package}/" for package in ("fuzzer", "generators", "oracles"))
_PLAY_A_COMPILER = {f"{ROOT}fuzzer/lanes/{name}.py" for name in ("faulty", "abuses")}
_SHARED = (f"{sysconfig.get_path('stdlib')}/", "<frozen ")
_SHARED_PACKAGES = ("numpy/", "ml_dtypes/", "msgspec/")


def is_own_fault(error: BaseException) -> bool:
    """Whether difftvm's own code is at fault. `CompilerError` says that a compiler is."""
    if isinstance(error, CompilerError):
        return False
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    innermost = next((file for file in reversed(files) if not _is_shared(file)), "")
    return innermost.startswith(_OURS) and innermost not in _PLAY_A_COMPILER


def _is_shared(file: str) -> bool:
    package = _INSTALLED.match(file)
    return package[1].startswith(_SHARED_PACKAGES) if package else file.startswith(_SHARED)


_INSTALLED = re.compile(r".*/(?:site|dist)-packages/(.*)")
