"""Compare the models that difftvm draws with those of NNSmith, at equal CPU time, on the same lanes of the same TVM.

    python benchmarks/comparison.py --nnsmith PYTHON [--models 1200] [--cpu 200] [--seed 1]

PYTHON is an interpreter of another environment: `pip install torch==2.13.0 'nnsmith[torch,onnx]'`. There
`nnsmith_models.py` writes models with NNSmith's defaults. `fuzz import` reads them as cases: sizes are made smaller,
values are drawn by difftvm, and what has no row of the operator table is left out. All arms run the lanes of a
campaign, without triage. Prints tests, distinct failures of TVM, those of them with a message, and features, after each
fifth of the CPU time; then the number of operators that each arm ran.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from guidance import ARMS, FIGURES, MIX, curve_of_cases

from fuzzer.campaign.cases.cases import Cases, random_cases
from fuzzer.campaign.plan.settings import Settings
from fuzzer.seeds import corpus
from fuzzer.seeds.imported import SIZE, files_of, run
from generators.graph import Case


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nnsmith", type=Path, required=True, metavar="PYTHON")
    parser.add_argument("--models", type=int, default=1200)
    parser.add_argument("--cpu", type=float, default=200.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="difftvm-") as name:
        folder = Path(name)
        cases = models_of_nnsmith(arguments.nnsmith, folder, arguments.models, arguments.seed)
        print(f"after each fifth of {arguments.cpu:g} CPU seconds: {', '.join(FIGURES)}")
        for arm in ("nnsmith", "random", "guided"):
            settings = Settings(folder / arm, arguments.seed, MIX, guided=arm == "guided")
            guidance = ARMS["guided"](settings, arguments.seed) if arm == "guided" else None
            drawn: list[Case] = []
            own = guidance.case if guidance else random_cases(settings, arguments.seed)
            draw = in_order(cases) if arm == "nnsmith" else own
            curve = curve_of_cases(settings, recorded(draw, drawn), guidance, arguments.cpu)
            operators = {op for case in drawn for op in case.graph.ops}
            print(f"{arm:8} {'  '.join(map(str, curve))}  {len(operators)} operators", flush=True)


def models_of_nnsmith(python: Path, folder: Path, count: int, seed: int) -> Sequence[Case]:
    models = folder / "models"
    models.mkdir()
    script = Path(__file__).with_name("nnsmith_models.py")
    words = [python, script, models, count, seed]
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, check=True, text=True, cwd=folder)
    print(f"NNSmith: {done.stdout.strip().splitlines()[-1]}")
    run(files_of(models), folder, SIZE)
    cases = list(corpus.cases(folder).values())
    print(f"{len(cases)} cases of {len({op for case in cases for op in case.graph.ops})} operators", flush=True)
    return cases


def in_order(cases: Sequence[Case]) -> Cases:
    return lambda number: cases[number] if number < len(cases) else None


def recorded(draw: Cases, drawn: list[Case]) -> Cases:
    """Keep each case that is drawn."""

    def case_of(number: int) -> Case | None:
        case = draw(number)
        drawn.extend([case] if case else [])
        return case

    return case_of


if __name__ == "__main__":
    main()
