"""Outputs that documents show, and that follow from the commit alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from snapshots import snapshot
from written_text import ROOT, Written, code_block

from fuzzer.findings import record
from fuzzer.report import issue
from fuzzer.watching.panel import panel

SECONDS = r"\bin \d+ s$"
SPEED = r"^\d+ graphs of 5 operators per CPU second$"
INTERPRETER = r"next: \S+ crashes/"

COPIED = ("benchmarks", "crashes", "docs/examples")

REPLAYED = "fuzz --replay crashes/wrong-value-selu-253a62bf677c"
CHECKED = "fuzz check docs/examples/selu_net.py:net"
REPORTED = "internal-error-sortvalues-bac306df5c76"
RECORD = "internal-error-float-division-zero-9a330c2aab88"


def output(command: str, code: int = 0) -> list[str]:
    """What a command prints in an empty home, in a folder with what the project has in `COPIED`. What it saves is
    removed. Raise `ValueError` where it ends with another exit code."""
    with tempfile.TemporaryDirectory() as folder:
        for name in COPIED:
            shutil.copytree(ROOT / name, Path(folder, name))
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "HOME": folder, "XDG_STATE_HOME": f"{folder}/state"}
        words, both = ["/bin/sh", "-c", command], {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(words, cwd=folder, env=environment, text=True, **both)
    if done.returncode != code:
        raise ValueError(f"{command} ends with {done.returncode}, not {code}:\n{done.stdout}")
    return done.stdout.splitlines()


def with_measured(new: str, now: str, *measured: str) -> str:
    """A new text with what stands now at the places of these patterns: they differ from run to run."""
    for pattern in measured:
        stood = iter(re.findall(pattern, now, re.MULTILINE))
        new = re.sub(pattern, lambda match, stood=stood: next(stood, match[0]), new, flags=re.MULTILINE)
    return new


def shown(command: str, measured: str, code: int, now: str) -> str:
    """A command with its output; it ends with an exit code."""
    line = f"$ {command}\n"
    return code_block(line + with_measured("\n".join(output(command, code)), now.partition(line)[2], measured))


def imported(now: str) -> str:
    """The output of benchmarks/import_models.py alone: the page names the command before it."""
    return with_measured(code_block("\n".join(output("python benchmarks/import_models.py"))), now, r"\bin \d+ s\b")


def numbers_of_the_screen(_: str) -> str:
    """What `--stats` adds to the screen of a campaign that is made by hand, but for the lanes."""
    short, tall = ([text.plain.rstrip() for text in panel(snapshot(), 100.0, 80, 100, stats=s)] for s in (False, True))
    more = tall[len(short) :]
    return code_block("\n".join(more[: next(number for number, line in enumerate(more) if "over time" in line) + 1]))


def beginning_of_issue(_: str) -> str:
    """The title and the summary of the issue of a finding that ships with the project."""
    return code_block(issue.text(record.read(ROOT / "crashes" / REPORTED)).partition("\n\n### ")[0].rstrip())


def end_of_script(_: str) -> str:
    script = (ROOT / "crashes" / REPORTED / "repro.py").read_text()
    return code_block(script[script.index("class Model") :].rstrip(), "python")


def recorded_failure(now: str) -> str:
    """The identity of a record, its first failure, and the last lines of its traceback."""
    text = (ROOT / "tests" / "fuzzer" / "signature" / "records" / f"{RECORD}.txt").read_text()
    first = "\n===".join(text.split("\n===")[:2]).rstrip()
    head, _, traceback = first.rpartition("\n\n")
    return code_block("\n".join([head, "", *traceback.splitlines()[-2:]]))


LONG = ("tvm", "long")

ROWS = (
    Written("replay-of-a-finding", "README.md", partial(shown, REPLAYED, INTERPRETER, 77), marks=LONG),
    Written("check-of-a-model", "README.md", partial(shown, CHECKED, SECONDS, 1), marks=LONG),
    Written(
        "check-in-python",
        "docs/library.md",
        partial(shown, "python docs/examples/check_model.py", SECONDS, 0),
        marks=LONG,
    ),
    Written(
        "reach-of-onnx",
        "docs/dialects.md",
        partial(shown, "python benchmarks/onnx_reach.py", SPEED, 0),
        marks=("long",),
    ),
    Written(
        "reach-of-relax",
        "docs/dialects.md",
        partial(shown, "python benchmarks/relax_reach.py", SPEED, 0),
        marks=("long",),
    ),
    Written("imported-models", "docs/import.md", imported, marks=("long",)),
    Written("numbers-of-the-screen", "docs/watching.md", numbers_of_the_screen),
    Written("beginning-of-an-issue", "docs/reports.md", beginning_of_issue),
    Written("end-of-a-script", "docs/reports.md", end_of_script),
    Written("record-of-a-failure", "docs/signatures.md", recorded_failure),
)
