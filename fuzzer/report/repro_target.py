"""The part of `repro.py` that a target needs beside its name: sanitizers in front, a GPU, a compiler that looks."""

from __future__ import annotations

import re
import textwrap

from fuzzer.availability import checker_of
from fuzzer.report.python_source import quoted
from oracles.finding import Finding, Mismatch
from oracles.lane import Engine
from oracles.outcome import FAILURES, Raised, Stage
from oracles.targets import NAMED as TARGETS
from oracles.targets import Runs, Target

LOOK = "\n    look(executable.mod)\n    return []"
"""The end of a function whose result cannot run."""

_NOTHING = "\n    return []"

_APART = """
if "LD_PRELOAD" not in os.environ:
    # AddressSanitizer must be the first library of the process; a report ends it with status 1
    names = ("libasan.so", "libstdc++.so.6")
    commands = [["@COMPILER@", f"-print-file-name={name}"] for name in names]
    found = [subprocess.run(command, capture_output=True, text=True).stdout.strip() for command in commands]
    asan, ubsan = "detect_leaks=0:exitcode=1", "print_stacktrace=1:exitcode=1"
    options = {"LD_PRELOAD": " ".join(found), "ASAN_OPTIONS": asan, "UBSAN_OPTIONS": ubsan}
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **options})
"""
_ON_A_DEVICE = """
os.environ.update(TVM_CUDA_COMPILE_MODE="nvcc", TVM_CUDA_NVCC_NO_FAST_MATH="1")
"""
_LOOK = """
class Refused(Exception):
    pass


def look(module):
    for each in module.imports:
        look(each)
    if module.kind == "@KIND@":
        for path in written(module):
            done = subprocess.run(@COMMAND@, capture_output=True, text=True)
            if done.returncode:
                raise Refused(done.stdout + done.stderr)
"""
_OBJECT = """
def written(module):
    path = os.path.join(tempfile.mkdtemp(), "written.o")
    module.write_to_file(path)
    return [path]
"""
_SOURCE = """
def written(module):
    source = module.inspect_source()
    parts = @PARTS@
    paths = [os.path.join(tempfile.mkdtemp(), "written@SUFFIX@") for _ in parts]
    for path, part in zip(paths, parts):
        with open(path, "w") as file:
            file.write(part)
    return paths
"""
_EACH = 're.split(r"// Function: \\w+\\n//-+\\n", source)[1:]'
_PACKAGE = """
def node_package(name):
    found = subprocess.run(["npm", "root", "--global"], capture_output=True, text=True)
    return os.path.join(found.stdout.strip(), name, "index.js")
"""


def runs_on_a_device(finding: Finding) -> bool:
    """Whether it takes the device to see the finding: it got there, and not before a checker."""
    evidence = finding.evidence
    refused = isinstance(evidence, Raised) and evidence.type.endswith(".Refused")
    return _runs(finding) is Runs.ON_A_DEVICE and finding.stage in (Stage.LOAD, Stage.RUN) and not refused


def only_built(finding: Finding) -> bool:
    """Whether what the lane compiled is looked at, not run."""
    runs = _runs(finding)
    return runs is Runs.NOWHERE or (runs is Runs.ON_A_DEVICE and not runs_on_a_device(finding))


def ending(finding: Finding) -> str:
    """The end of the script's function where it is not that of a lane that runs. Evidence of other kinds than these is
    there before anything would be looked at."""
    if not only_built(finding) or finding.stage in (Stage.IMPORT, Stage.TRANSFORM, Stage.COMPILE):
        return ""
    return LOOK if isinstance(finding.evidence, (*FAILURES, Mismatch)) else _NOTHING


def _runs(finding: Finding) -> Runs | None:
    return TARGETS[finding.lane.target].runs if finding.lane.engine is Engine.TVM else None


def blocks(finding: Finding) -> list[str]:
    """What stands before the script's functions."""
    row = TARGETS[finding.lane.target]
    if _runs(finding) is Runs.APART:
        return [_APART.replace("@COMPILER@", row.compilers[0])]
    if runs_on_a_device(finding):
        return [_ON_A_DEVICE]
    return _looking(row) if ending(finding) == LOOK else []


def _looking(row: Target) -> list[str]:
    assert row.written is not None
    checker = checker_of(row) or row.written.checkers[0]
    words = {"{file}": "path", "{package}": f'node_package("{checker.package}")'}
    command = ", ".join(words.get(each) or _quoted(each) for each in (checker.program, *checker.arguments))
    parts = _EACH if row.written.each else "[source]"
    source = _SOURCE.replace("@SUFFIX@", row.written.suffix).replace("@PARTS@", parts)
    look = _LOOK.replace("@KIND@", row.written.module)
    return [
        *([_PACKAGE] if checker.package else []),
        _OBJECT if row.written.suffix == ".o" else source,
        look.replace("@COMMAND@", f"[{command}]"),
    ]


def _quoted(text: str) -> str:
    """A Python literal; a long one in pieces."""
    lines = textwrap.wrap(text, 80, drop_whitespace=False, break_on_hyphens=False)
    return " ".join(quoted(line) for line in lines)


def placed(text: str, finding: Finding) -> str:
    """The script's functions, for where the target's code runs."""
    row = TARGETS[finding.lane.target]
    if runs_on_a_device(finding):  # which is asked for its architecture
        device = f'tvm.device("{row.config["kind"]}")'
        text = re.sub(r"tvm\.target\.Target\(\{.*\}\)", f'tvm.target.Target("{row.config["kind"]}")', text)
        return re.sub(r"\btensor\((.+?)\) for ", rf"tensor(\1, {device}) for ", text.replace("tvm.cpu()", device))
    return text.replace("tvm.cpu())", 'tvm.cpu(), memory_cfg="naive")') if _runs(finding) is Runs.APART else text
