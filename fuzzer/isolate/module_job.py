"""What a check of Relax modules writes for its child process, and what the child answers. Both are files of a folder.

`jobs.json` has the jobs, `module-N.json` the modules as TVM writes them, `inputs-N.npz` the given inputs. The child
appends a line to `answers.jsonl` for each job that is done, and the name of each stage that it begins to `stages.txt`,
so that a crash is known by its job and stage. It writes `inputs-N.npz` and `expected-N.npz` for each job.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import ml_dtypes
import msgspec
import numpy as np
from msgspec import Meta

from generators.graph import Array
from generators.plain_file import MOST_DOCUMENT, read_plain
from oracles.lane import DEFAULT_OPT_LEVEL, Pipeline

JOBS, ANSWERS, STAGES = "jobs.json", "answers.jsonl", "stages.txt"
MOST_STAGE, MOST_MESSAGE = 200, 2000
"""Characters of these texts of an answer."""


class ModuleJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One module to check.

    module      the file of the module, and of its inputs: `module-MODULE.json`, `inputs-JOB.npz`
    seed        the seed of the inputs that are not given
    target      what `oracles.targets.target_named` reads; where its code does not run here, it is only compiled
    pipeline    the passes of the compilation; `zero` runs no others
    passes      passes of `oracles/transforms.py` that run first, in this order
    alone       whether the last pass is judged alone: the module without it must be right
    opt_level   that of PassContext
    """

    module: int
    seed: int
    target: str = "llvm"
    pipeline: Pipeline = Pipeline.DEFAULT
    passes: tuple[str, ...] = ()
    alone: bool = False
    opt_level: int = DEFAULT_OPT_LEVEL


class ModuleAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of a job.

    kind      the kind of failure, such as `wrong-value`; "" where the module is right; `refused` where a pass refuses
              it, `invalid` where the module cannot be judged
    stage     what was done then: one of `load`, `evaluate`, `compile`, `run`, or the name of a pass
    message   what happened, in one sentence
    changed   whether the last pass changed the module
    unknown   which part has no definition, so that the program without optional passes is the reference; "" where all
              is evaluated
    operators the operators of Relax in the module
    """

    kind: Annotated[str, Meta(pattern=r"\A[a-z-]{0,40}\Z")]
    stage: Annotated[str, Meta(max_length=MOST_STAGE)] = ""
    message: Annotated[str, Meta(max_length=MOST_MESSAGE)] = ""
    changed: bool = False
    unknown: Annotated[str, Meta(max_length=MOST_MESSAGE)] = ""
    operators: tuple[str, ...] = ()


INVALID, REFUSED = "invalid", "refused"


def write_jobs(folder: Path, jobs: list[ModuleJob]) -> None:
    (folder / JOBS).write_bytes(msgspec.json.encode(jobs))


def read_jobs(folder: Path) -> list[ModuleJob]:
    return msgspec.json.decode((folder / JOBS).read_bytes(), type=list[ModuleJob])


def read_answers(folder: Path, jobs: int) -> list[ModuleAnswer]:
    """The answers to the jobs that are done, in their order, at most one for each. A crash may cut a line, and the
    process may have written anything: what comes from the first line on that is no answer is left out."""
    answers: list[ModuleAnswer] = []
    for line in _written(folder / ANSWERS).splitlines(keepends=True)[:jobs]:
        try:
            if line.endswith(b"\n"):
                answers.append(msgspec.json.decode(line, type=ModuleAnswer))
                continue
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        break
    return answers


def last_stage(folder: Path) -> str:
    lines = _written(folder / STAGES).decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line), "load")[:MOST_STAGE]


def _written(path: Path) -> bytes:
    """What the process has written; nothing where it is no regular file, or is too large."""
    try:
        return read_plain(path, MOST_DOCUMENT)
    except OSError:
        return b""


def write_arrays(path: Path, arrays: dict[str, Array]) -> None:
    """Write arrays as numpy's npz, which lacks bfloat16: such arrays are written as float32, which holds them."""
    np.savez(path, **{name: _plain(array) for name, array in arrays.items()})  # type: ignore[arg-type]


def _plain(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype == ml_dtypes.bfloat16 else array


def read_arrays(path: Path) -> dict[str, Array]:
    if not path.exists():
        return {}
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}
