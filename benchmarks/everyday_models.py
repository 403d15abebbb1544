"""Check thirty everyday models with `difftvm.check`, and print what became of each.

    python benchmarks/everyday_models.py [--names GLOB] [--reduce]

Models are those of `everyday/`: of images, text, sound, detection, recommendations, diffusion and states, recurrent,
quantised, complex, with control flow and with open sizes. For each: whether it was compiled whole, the lanes that are
right, those that fail with the finding, those that refuse it with TVM's words, and what was not judged. A model counts
where a lane compiled all of it, where a finding is reported, and where all lanes refused it: then no lane ran, and the
reasons are printed.
"""

from __future__ import annotations

import argparse
import fnmatch
import tempfile
import time
from pathlib import Path

import torch
from everyday import sequences, unusual, vision

import difftvm
from fuzzer.api.finding_error import FindingError

MODELS = {**vision.MODELS, **sequences.MODELS, **unusual.MODELS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", default="*", metavar="GLOB")
    parser.add_argument("--reduce", action="store_true", help="reduce what fails, which takes longer")
    options = parser.parse_args()
    chosen = [name for name in MODELS if fnmatch.fnmatch(name, options.names)]
    answered = sum([is_answered(name, options.reduce) for name in chosen])
    print(f"{answered} of {len(chosen)} models: compiled whole by a lane, or with a finding, or refused by all lanes")


def is_answered(name: str, reduce: bool) -> bool:
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
            return str(error).startswith("no lane ran: ")
    assert checked is not None
    print(f"{name} ({time.monotonic() - began:.0f} s): {'whole' if checked.whole else 'not whole'}")
    lines = [("right", lane) for lane in checked.ran] + [("fails", each) for each in failures]
    lines += [("refused", f"{lane}: {why}") for lane, why in checked.not_run]
    lines += [("not judged", each) for each in checked.not_judged]
    lines += [("elsewhere", each) for each in checked.elsewhere] + [("not given", checked.not_given)]
    lines += [("in difftvm's form alone", each.line) for each in checked.in_form]
    lines += [("not confirmed", each) for each in checked.not_confirmed]
    lines += [("not covered", each) for each in checked.not_covered]
    print("\n".join(f"  {what}: {text[:300]}" for what, text in lines if text), flush=True)
    return (checked.whole and bool(checked.ran)) or bool(failures)


if __name__ == "__main__":
    main()
