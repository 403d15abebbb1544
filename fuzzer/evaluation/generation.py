"""`fuzz gen`: generates cases without a compiler, and measures what they cover."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from fuzzer.isolate.validity import CaseVerdict, Validity
from fuzzer.system.files import make_folder, write_folder
from generators import case_file
from generators.builder import Limits
from generators.choice import NumpySource
from generators.dialect import dialect_named
from generators.dialect_names import DEFAULT
from generators.graph import Case, Invalid, Profile
from generators.op import Op
from generators.plain_file import MOST_DOCUMENT, read_plain
from generators.statistics import Coverage


@dataclass(frozen=True, slots=True)
class GenerationOptions:
    """What to generate: cases of `dialect`, of its rows `ops`; None: of all that are drawn. Where `out` is None, none
    is written."""

    count: int
    seed: int
    out: Path | None = None
    ops: tuple[Op, ...] | None = None
    limits: Limits = field(default_factory=Limits)
    profile: Profile | None = None
    dialect: str = DEFAULT


@dataclass(frozen=True, slots=True)
class GenerationReport:
    """`seconds` is the CPU time of generating alone. The rates are None where the references did not run the cases."""

    coverage: Coverage
    seconds: float
    valid_rate: float | None
    finite_rate: float | None
    invalid: tuple[str, ...]

    def summary(self) -> dict[str, object]:
        rates = {"valid_rate": self.valid_rate, "finite_rate": self.finite_rate}
        return {**self.coverage.summary(), "seconds": round(self.seconds, 3), **rates, "invalid": list(self.invalid)}


def run(
    options: GenerationOptions, *, ask_references: bool, on_case: Callable[[int], None] = lambda done: None
) -> GenerationReport:
    """Generate cases and write them. With `ask_references`, run each at each of its sizes in the references of the
    dialect: eager PyTorch, or onnxruntime and the interpreter of the onnx package.

    `on_case` is called with the number of cases that are done. `finite_rate` counts valid cases of the normal
    profile only: other profiles need not stay finite.
    """
    coverage, seconds = Coverage(), 0.0
    verdicts: Counter[CaseVerdict] = Counter()
    finite: Counter[bool] = Counter()
    invalid: list[str] = []
    with Validity() if ask_references else nullcontext() as judge:
        for case, cost in _generated(options):
            seconds += cost
            coverage.add(case)
            if options.out is not None:
                _write(options.out / f"seed{options.seed}-{len(coverage.nodes) - 1:06d}", case)
            for answer in map(judge, case.instances()) if judge else ():
                verdicts[answer.verdict] += 1
                if not answer.verdict.is_valid:
                    invalid.append(f"{case.origin}: {answer.verdict}: {answer.message}")
                elif case.profile is Profile.NORMAL:
                    finite[answer.verdict is CaseVerdict.OK] += 1
            on_case(len(coverage.nodes))
    valid = sum(count for verdict, count in verdicts.items() if verdict.is_valid)
    return GenerationReport(
        coverage,
        seconds,
        valid / verdicts.total() if verdicts else None,
        finite[True] / finite.total() if finite else None,
        tuple(invalid),
    )


def generated(options: GenerationOptions) -> Iterator[Case]:
    """The cases, each drawn when it is asked for."""
    return (case for case, _ in _generated(options))


def _generated(options: GenerationOptions) -> Iterator[tuple[Case, float]]:
    """The cases, each with the CPU seconds that generating it took."""
    dialect = dialect_named(options.dialect)
    ops = dialect.drawn() if options.ops is None else options.ops
    for index in range(options.count):
        began = time.process_time()
        origin = f"seed {options.seed} test {index}"
        source = NumpySource(options.seed, index)
        case = dialect.draw(source, options.limits, ops, origin, profile=options.profile).case()
        yield case, time.process_time() - began


def _write(folder: Path, case: Case) -> None:
    """Write a case to a folder. Raise `Invalid` where the folder contains another case."""
    text, tensors = case_file.encode(case)
    path = folder / case_file.JSON_NAME
    try:
        if not folder.exists():
            if not folder.parent.exists():
                make_folder(folder.parent)
            write_folder(folder, {case_file.JSON_NAME: text, case_file.TENSORS_NAME: tensors})
        elif read_plain(path, MOST_DOCUMENT) != text:
            raise Invalid(f"{folder} contains another case; choose another directory or seed")
    except NotADirectoryError as error:
        raise Invalid(f"{folder}: {error.strerror}") from None
    except OSError as error:
        raise Invalid(f"{error.filename or folder}: {error.strerror}") from None
