"""Check everyday models with `difftvm.check`, and print what became of each.

    python benchmarks/everyday_models.py [--names GLOB] [--reduce]

Models are those of `everyday/`: of images, text, sound, detection, recommendations, diffusion and states, graphs and
points, recurrent, quantised, complex, with control flow, with open sizes, and by how they are called: with dicts,
lists, data classes, caches, numbers and autocast. For each: whether it was compiled whole, the lanes that ran, the
failures with their titles, what lanes refuse with TVM's words, and what was judged and not judged.

At last, the models are counted by their answer: compiled whole by a lane; a failure that a lane shows; refused by TVM
or by an exporter, as a whole or in part; cut, because difftvm leaves a part out. An error of another kind than `check`
documents is printed and counted as one.
"""

from __future__ import annotations

import argparse
import fnmatch
import tempfile
import time
import traceback
from collections import Counter
from enum import StrEnum
from pathlib import Path

import torch
from everyday import calls, fields, sequences, unusual, vision

import difftvm
from fuzzer.api.checked import NothingRan
from fuzzer.api.finding_error import FindingError

MODELS = {**vision.MODELS, **sequences.MODELS, **unusual.MODELS, **calls.MODELS, **fields.MODELS}
OF_TVM = (": import: ", ": export: ", ": compile: ", "no lane compiled it")
"""How the reason begins why no lane compiled an operator, where it is not difftvm that leaves it out."""


class Answer(StrEnum):
    """What a check says of a model."""

    WHOLE = "compiled whole, and right"
    FAILING = "a failure"
    REFUSED = "refused by TVM or an exporter, as a whole or in part"
    CUT = "difftvm leaves a part out"
    INVALID = "nothing to check"
    ERROR = "an error that check does not document"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", default="*", metavar="GLOB")
    parser.add_argument("--reduce", action="store_true", help="reduce what fails, which takes longer")
    options = parser.parse_args()
    chosen = [name for name in MODELS if fnmatch.fnmatch(name, options.names)]
    counts = Counter(answer_on(name, options.reduce) for name in chosen)
    for answer in Answer:
        print(f"{counts[answer]:4} of {len(chosen)}: {answer}")


def answer_on(name: str, reduce: bool) -> Answer:
    """Check and print one model."""
    kind, inputs, *shapes = MODELS[name]
    torch.manual_seed(0)
    began, failures, checked = time.monotonic(), list[str](), None
    with tempfile.TemporaryDirectory() as folder:
        try:
            model, sizes = kind().eval(), shapes[0] if shapes else None
            checked = difftvm.check(model, inputs, folder=Path(folder), reduce=reduce, dynamic_shapes=sizes)
        except FindingError as error:
            failures, checked = [each.line for each in error.findings], error.checked
        except ValueError as error:  # difftvm checks nothing of it
            print(f"{name} ({time.monotonic() - began:.0f} s)\n  nothing: {error}", flush=True)
            return Answer.REFUSED if isinstance(error, NothingRan) else Answer.INVALID
        except Exception:  # whatever it is, it is a defect of difftvm
            print(f"{name}\n{traceback.format_exc()}", flush=True)
            return Answer.ERROR
    assert checked is not None
    print(f"{name} ({time.monotonic() - began:.0f} s): {'whole' if checked.whole else 'not whole'}")
    _print(checked, failures)
    if failures:
        return Answer.FAILING
    if checked.whole:
        return Answer.WHOLE
    return Answer.REFUSED if all(any(each in why for each in OF_TVM) for why in checked.not_covered) else Answer.CUT


def _print(checked: difftvm.Checked, failures: list[str]) -> None:
    lines = [("ran", ", ".join(checked.ran) or "in no lane"), *(("fails", each) for each in failures)]
    lines += [("judged", str(checked.judged)), *(("not judged", f"{count}: {why}") for why, count in checked.unjudged)]
    lines += [("refused", f"{lane}: {why}") for lane, why in checked.not_run]
    lines += [("not judged", each) for each in checked.not_judged]
    lines += [("elsewhere", each) for each in checked.elsewhere] + [("not given", checked.not_given)]
    lines += [("in difftvm's form alone", each.line) for each in checked.in_form]
    lines += [("not confirmed", each) for each in checked.not_confirmed]
    lines += [("not covered", each) for each in checked.not_covered]
    print("\n".join(f"  {what}: {text[:300]}" for what, text in lines if text), flush=True)


if __name__ == "__main__":
    main()
