"""Runs scripts as `python script.py` does, in forks of one process that has imported what they import.

As a program: reads one JSON list [path, folder, log] a line, answers each by the script's exit status. Imports of torch
and tvm cost more than most scripts; a script that starts itself again still pays for them.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Done:
    returncode: int
    output: str


class WarmPython:
    """The process. Ends with its parent, whose end it reads from."""

    def __init__(self) -> None:
        single = {**os.environ, "OMP_NUM_THREADS": "1", "TVM_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=single
        )

    def run(self, script: str, folder: Path, path: str = "") -> Done:
        """`path` goes before PATH."""
        file, log = folder / "repro.py", folder / "repro.log"
        file.write_text(script)
        assert self._process.stdin
        assert self._process.stdout
        print(json.dumps([str(file), str(folder), str(log), path]), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        return Done(int(answer), log.read_text(errors="replace"))

    def close(self) -> None:
        self._process.communicate("")


def _serve() -> None:
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
    import torch
    import tvm
    from onnxscript import optimizer  # noqa: F401
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx  # noqa: F401
    from tvm.relax.frontend.torch import from_exported_program

    torch.set_num_threads(1)
    program = torch.export.export(torch.nn.ReLU(), (torch.ones(1),))  # the first of these takes a second
    relax.VirtualMachine(tvm.compile(from_exported_program(program), "llvm"), tvm.cpu())
    for line in sys.stdin:
        file, folder, log, path = json.loads(line)
        child = os.fork()
        if child == 0:
            os._exit(_as_main(file, folder, log, path))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _as_main(file: str, folder: str, log: str, path: str) -> int:
    """The script's exit status, as the interpreter gives it."""
    os.chdir(folder)
    os.environ["PATH"] = os.pathsep.join(filter(None, [path, os.environ["PATH"]]))
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for end in (1, 2):
        os.dup2(out, end)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = [file]
    try:
        runpy.run_path(file, run_name="__main__")
        code: object = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        code = _hooked()
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else 0 if code is None else 1


def _hooked() -> object:
    try:
        sys.excepthook(*sys.exc_info())
    except SystemExit as end:
        return end.code
    return 1


if __name__ == "__main__":
    _serve()
