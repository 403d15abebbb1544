"""Check Relax modules that the user gives, each by its meaning: what its operators compute by their definitions.

The modules are data for another process (`fuzzer.children.relax_modules`), which a crash of TVM may end.
"""

from __future__ import annotations

import contextlib
import hashlib
import shlex
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from fuzzer.api.found_failure import FoundFailure
from fuzzer.api.tracebacks import is_answer
from fuzzer.isolate import script
from fuzzer.isolate.child_process import Bounds
from fuzzer.isolate.module_job import (
    INVALID,
    REFUSED,
    ModuleAnswer,
    ModuleJob,
    last_stage,
    read_answers,
    write_arrays,
    write_jobs,
)
from fuzzer.isolate.reports import ScriptRun
from fuzzer.report import module_script
from fuzzer.system import temporary
from fuzzer.system.files import make_folder, write_atomically
from fuzzer.toolchains.toolchain import Toolchain
from generators.graph import Array, Invalid
from generators.plain_file import read_plain
from oracles.finding import Kind

__tracebackhide__ = is_answer

SUFFIX = ".json"
MOST_MODULE = 256 << 20
CONFIRMING_RUNS = 2
"""How often a failure must show again."""

Done = tuple[ModuleJob, ModuleAnswer]


def is_relax_module(model: Any) -> bool:
    """Whether it is a tvm.IRModule, or the path of one that `tvm.ir.save_json` has written."""
    if isinstance(model, str | Path):
        return Path(model).suffix == SUFFIX
    tvm = sys.modules.get("tvm")
    return tvm is not None and isinstance(model, tvm.IRModule)


def text_of(module: Any) -> str:
    """The module as TVM writes it. Raise `Invalid` where it cannot be read or written."""
    if isinstance(module, str | Path):
        try:
            return read_plain(Path(module), MOST_MODULE).decode()
        except OSError as error:
            raise Invalid(f"{module}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise Invalid(f"{module}: it is no text") from None
    if not is_relax_module(module):
        raise Invalid(f"a {type(module).__name__} is no Relax module: pass a tvm.IRModule, or the path of its JSON")
    try:
        return str(sys.modules["tvm"].ir.save_json(module))
    except Exception as error:  # TVM may raise anything
        raise Invalid(f"TVM cannot write the module as JSON: {type(error).__name__}: {error}") from None


def given_inputs(inputs: Any) -> dict[str, Array]:
    """Inputs by the name of the parameter, or by place as `x0`. Raise `Invalid`."""
    if inputs is None:
        return {}
    if isinstance(inputs, Mapping):
        return {str(name): np.asarray(value) for name, value in inputs.items()}
    if isinstance(inputs, Sequence):
        return {f"x{place}": np.asarray(value) for place, value in enumerate(inputs)}
    raise Invalid("pass the inputs of a Relax module as a sequence of arrays, or a dict of arrays by name")


def _alike(done: Iterable[Done]) -> Iterable[list[Done]]:
    """The jobs that failed, those together that are one failure for the user: a module, passes, a target, and a kind.
    They differ in the pipeline, and in the numbers of the inputs."""
    found: dict[tuple[object, ...], list[Done]] = {}
    for job, answer in done:
        if failed(answer):
            found.setdefault((job.module, job.passes, job.target, answer.kind), []).append((job, answer))
    return found.values()


class ModuleChecks:
    """Checks of modules in a folder of their own. Use it in a `with`: the folder is removed."""

    def __init__(self, modules: Sequence[Any], inputs: Any, toolchain: Toolchain) -> None:
        self._texts = [text_of(module) for module in modules]
        self._inputs = given_inputs(inputs)
        self._toolchain = toolchain
        self._folder = temporary.new_folder()

    def __enter__(self) -> ModuleChecks:
        return self

    def __exit__(self, *_: object) -> None:
        temporary.remove(self._folder)

    def run(self, jobs: Sequence[ModuleJob]) -> list[Done]:
        """Run each job. A crash ends its own job only."""
        done: list[Done] = []
        while len(done) < len(jobs):
            some = list(jobs[len(done) : len(done) + script.RUNS])
            done += zip(some, self._batch(some), strict=True)
        return done

    def _batch(self, jobs: list[ModuleJob]) -> list[ModuleAnswer]:
        answers: list[ModuleAnswer] = []
        while len(answers) < len(jobs):
            left = jobs[len(answers) :]
            folder = self._prepared(left)
            ran = self._ran(folder, left)
            new = read_answers(folder, len(left))
            if len(new) < len(left):
                new.append(_ending(ran, last_stage(folder)))
            answers += new
        return answers

    def _prepared(self, jobs: list[ModuleJob]) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="jobs-", dir=self._folder))
        for each in {job.module for job in jobs}:
            (folder / f"module-{each}{SUFFIX}").write_text(self._texts[each])
        for number in range(len(jobs)):
            if self._inputs:
                write_arrays(folder / f"inputs-{number}.npz", self._inputs)
        write_jobs(folder, jobs)
        return folder

    def _ran(self, folder: Path, jobs: Sequence[ModuleJob]) -> ScriptRun:
        scratch, targets = self._folder / "scripts", [job.target for job in jobs]
        return script.run(_source(folder), self._toolchain, Bounds(), scratch, [folder], targets=targets)

    def confirmed(self, job: ModuleJob, answer: ModuleAnswer, into: Path, preload: Path | None) -> FoundFailure | None:
        """Run a job that failed again, alone. Save it where it fails each time; else return None."""
        for _ in range(CONFIRMING_RUNS):
            folder = self._prepared([job])
            ran = self._ran(folder, [job])
            again = (read_answers(folder, 1) or [_ending(ran, last_stage(folder))])[0]
            if again.kind != answer.kind:
                return None
        return _saved(folder, job, answer, self._texts[job.module], into, preload)


def failed(answer: ModuleAnswer) -> bool:
    return answer.kind not in ("", INVALID, REFUSED)


def _source(folder: Path) -> str:
    """The script that does the jobs: a preloaded file, which its first argument names, runs before."""
    return (
        "import runpy, sys\n"
        "if len(sys.argv) > 1:\n    runpy.run_path(sys.argv[1])\n"
        "from fuzzer.children import relax_modules\n"
        f"relax_modules.main({str(folder)!r}, 0)\n"
    )


def _ending(ran: ScriptRun, stage: str) -> ModuleAnswer:
    """The answer to a job whose process ended. An exception of difftvm's own is none of TVM's."""
    if ran.exit_code is None:
        return ModuleAnswer(Kind.TIMED_OUT, stage, ran.why)
    if ran.exit_code >= 0:
        return ModuleAnswer(INVALID, stage, f"difftvm's own process ended with status {ran.exit_code}, and no answer")
    return ModuleAnswer(Kind.DIED, stage, f"the process ended by signal {-ran.exit_code}")


def _saved(
    folder: Path, job: ModuleJob, answer: ModuleAnswer, text: str, into: Path, preload: Path | None
) -> FoundFailure:
    """Write a folder with the module, the inputs, what is expected, and a script."""
    identity = hashlib.sha256(msgspec.json.encode((text, job.passes, job.target, answer.kind))).hexdigest()[:12]
    slug = f"{answer.kind}-module-{identity}"
    where = into / "modules" / slug
    make_folder(where, into)
    title = _title(job, answer)
    files = {"module.json": text.encode(), "repro.py": module_script.script(title, job).encode()}
    for name in ("inputs", "expected"):
        with contextlib.suppress(FileNotFoundError):
            files[f"{name}.npz"] = _arrays_of(folder / f"{name}-0.npz")
    for name, data in files.items():
        write_atomically(where / name, data, into)
    replay = shlex.join(["python", str(where / "repro.py"), *([str(preload)] if preload else [])])
    return FoundFailure(slug, title, answer.kind, answer.operators, where, where / "repro.py", replay)


def _arrays_of(path: Path) -> bytes:
    """What the process has written. Raise FileNotFoundError, and `Invalid` where it cannot be read."""
    try:
        return read_plain(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Invalid(f"the check of a module left a file that cannot be read: {path.name}: {error.strerror}") from None


def _title(job: ModuleJob, answer: ModuleAnswer) -> str:
    what = f"the module after {', '.join(job.passes)}" if job.passes else "the module"
    return f"{what}, {answer.stage} for {job.target}: {answer.message or answer.kind}"


@dataclass(frozen=True, slots=True)
class ModulesDone:
    """What checks of modules did: each job with its answer, the failures that were saved, and those that did not show
    again."""

    done: tuple[Done, ...]
    failures: tuple[FoundFailure, ...]
    not_confirmed: tuple[str, ...]


def check_modules(
    modules: Sequence[Any],
    inputs: Any,
    jobs: Sequence[ModuleJob],
    toolchain: Toolchain,
    folder: Path,
    preload: Path | None,
) -> ModulesDone:
    """Run the jobs, and each that fails again. Save what fails each time in `folder/modules`. Raise `Invalid` where a
    module cannot be read."""
    failures, not_confirmed = [], []
    with ModuleChecks(modules, inputs, toolchain) as checks:
        done = checks.run(jobs)
        for alike in _alike(done):
            shown = (checks.confirmed(job, answer, folder, preload) for job, answer in alike)
            if failure := next(filter(None, shown), None):
                failures.append(failure)
            else:
                job, answer = alike[0]
                not_confirmed.append(f"{answer.kind} for {job.target}: it does not show each time")
    return ModulesDone(tuple(done), tuple({each.slug: each for each in failures}.values()), tuple(not_confirmed))
