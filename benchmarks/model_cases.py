"""Check each model of a folder with `difftvm.check`, and print a line for each: what it says, and the CPU seconds.

    python benchmarks/model_cases.py FOLDER [--names GLOB] [--seconds 300] [--reduce]

Models are the .onnx and .pt2 files of the folder, and those of its Python files: the values of each dict at the top of
a file that are, or return, a torch.nn.Module, the tuple of its inputs and, where sizes are open, its `dynamic_shapes`.
A file `NAME.npz` or `NAME.WORD.npz` beside `NAME.onnx` has inputs: the model is checked with drawn inputs, and with
each of these. Each check is a process of its own with a limit of wall seconds.

What is said: the lanes that ran, how many elements were judged, and what was not run, not covered and not judged;
`findings` with their lines before that; `nothing` where there was nothing to check, with the reason.
"""

from __future__ import annotations

import argparse
import fnmatch
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import difftvm
from fuzzer.api.shared_fleet import shared_fleet

SHOWN = 200
"""How many characters of a reason are shown."""


@dataclass(frozen=True, slots=True)
class Model:
    """A file, the name of a module in it, and the file with its inputs; "" where it has none."""

    file: Path
    module: str = ""
    inputs: str = ""

    @property
    def name(self) -> str:
        return "/".join(each for each in (self.file.name, self.module, Path(self.inputs).name) if each)


def models_of(folder: Path) -> Iterator[Model]:
    """The models of a folder, by name."""
    for file in sorted(folder.iterdir()):
        if file.suffix in {".onnx", ".pt2"}:
            yield Model(file)
            for inputs in sorted(folder.glob(f"{file.stem}.npz")) + sorted(folder.glob(f"{file.stem}.*.npz")):
                yield Model(file, inputs=str(inputs))
        elif file.suffix == ".py":
            yield from (Model(file, name) for name in modules_of(file))


def modules_of(file: Path) -> dict[str, Any]:
    """What the dicts at the top of a Python file hold, or what makes it, by name."""
    tables = [
        each for name, each in runpy.run_path(str(file)).items() if isinstance(each, dict) and not name.startswith("__")
    ]
    return {
        name: made
        for table in tables
        for name, made in table.items()
        if isinstance(name, str) and (is_model(made) or (callable(made) and not isinstance(made, type)))
    }


def is_model(made: Any) -> bool:
    return isinstance(made, tuple) and bool(made) and isinstance(made[0], torch.nn.Module)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", default="*", metavar="GLOB")
    parser.add_argument("--seconds", type=float, default=300.0, help="the limit of each check")
    parser.add_argument("--reduce", action="store_true", help="reduce what fails, which takes longer")
    parser.add_argument("--one", nargs=2, metavar=("MODULE", "INPUTS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(verdict_of(Model(options.folder, *options.one), options.reduce), flush=True)
        return
    for model in models_of(options.folder):
        if fnmatch.fnmatch(model.name, options.names):
            print(f"{model.name}: {in_a_process(model, options.seconds, options.reduce)}", flush=True)


def in_a_process(model: Model, seconds: float, reduce: bool) -> str:
    """What a process says of a model within a time."""
    command = [sys.executable, __file__, str(model.file), "--one", model.module, model.inputs]
    try:
        done = subprocess.run(
            command + ["--reduce"] * reduce, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return f"no answer in {seconds:.0f} s"
    lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
    return lines[-1] if lines else f"no answer: exit code {done.returncode}"


def verdict_of(model: Model, reduce: bool) -> str:
    """What `difftvm.check` says of a model, in one line."""
    fleet, began = shared_fleet(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        try:
            verdict = of_checked(difftvm.check(*given(model), folder=Path(folder), reduce=reduce, **shapes(model)))
        except difftvm.FindingError as error:
            found = "; ".join(each.line for each in error.findings)
            verdict = f"{len(error.findings)} findings: {found}"
            verdict += f" [{of_checked(error.checked)}]" if error.checked else ""
        except ValueError as error:  # there is nothing to check
            verdict = f"nothing: {error}"
    return f"{' '.join(verdict.split())} ({time.process_time() - began + fleet.cpu_seconds:.0f} CPU s)"


def given(model: Model) -> tuple[Any, Any]:
    """What `difftvm.check` gets: the model and its inputs."""
    if not model.module:
        return model.file, dict(np.load(model.inputs)) if model.inputs else None
    module, inputs, *_ = made_by(model)
    return module, inputs


def shapes(model: Model) -> dict[str, Any]:
    """The `dynamic_shapes` of a module that has them."""
    return {"dynamic_shapes": found[2]} if model.module and len(found := made_by(model)) > 2 else {}


def made_by(model: Model) -> tuple[Any, ...]:
    torch.manual_seed(0)
    made = modules_of(model.file)[model.module]
    found: tuple[Any, ...] = made if is_model(made) else made()
    return found


def of_checked(checked: difftvm.Checked) -> str:
    """What a check ran, in one line."""
    lines = [
        ("ran", ", ".join(checked.ran) or "in no lane"),
        ("cases", str(checked.cases)),
        ("judged", str(checked.judged)),
    ]
    lines += [("unjudged", f"{count}, {why}") for why, count in checked.unjudged]
    lines += [("not run", f"{lane}: {why[:SHOWN]}") for lane, why in checked.not_run]
    lines += [("not covered", each[:SHOWN]) for each in checked.not_covered]
    lines += [("not judged", each[:SHOWN]) for each in checked.not_judged]
    lines += [("not confirmed", each[:SHOWN]) for each in checked.not_confirmed]
    lines += [("elsewhere", each[:SHOWN]) for each in checked.elsewhere]
    lines += [("aliased", each) for each in checked.aliased]
    lines += [("in difftvm's form alone", each.line[:SHOWN]) for each in checked.in_form]
    lines += [("not given", checked.not_given)] * bool(checked.not_given)
    return "; ".join(f"{what}: {text}" for what, text in lines)


if __name__ == "__main__":
    main()
