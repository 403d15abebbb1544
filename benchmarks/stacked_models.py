"""Check models of stacked layers with `difftvm.check`, and compare what it says with what TVM does by hand.

    python benchmarks/stacked_models.py [--count 40] [--seed 0] [--first 0] [--show]

Each model is a stack of `stacked/layers.py`, drawn by the seed and its number: norms, attention, sizes that are read
and used to reshape, gates, embeddings, masks, caches. A third of them have an open batch, and an open length of tokens.
By hand, each model is exported by `torch.export` and by `torch.onnx.export`, imported, compiled for llvm and run once,
without difftvm. A result is right there where it differs from PyTorch's by less than 1e-3 of the largest number.

Printed are the models about which the two disagree: false alarms, where TVM is right by hand in both ways and `check`
has a finding, and missed failures, where TVM is wrong by hand in one way, or fails without a refusal, and `check` has
no finding.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from stacked.layers import HEAD, LAYERS, WIDTH, Layer
from torch import nn

import difftvm
from fuzzer.api.checked import NothingRan

RIGHT = "right"
REFUSALS = ("not supported", "Unsupported function", "not handled", "not implemented")
"""Words with which TVM's importers refuse an operator. The comparison by hand needs no more than that."""
MOST_ERROR = 1e-3
MOST_SECONDS = 600
"""How long both ways may take by hand. A TVM that hangs takes for ever."""
FORMS = {
    "ids": lambda drawn: torch.randint(0, 20, (drawn.randint(1, 2), drawn.randint(2, 7))),
    "tokens": lambda drawn: torch.randn(drawn.randint(1, 2), drawn.randint(2, 7), WIDTH),
    "image": lambda drawn: torch.randn(drawn.randint(1, 2), WIDTH, drawn.randint(5, 9), drawn.randint(5, 9)),
}
"""The inputs by their form."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first model")
    parser.add_argument("--show", action="store_true", help="print all models, and what is not judged")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    counts: Counter[str] = Counter()
    for number in range(options.first, options.first + options.count):
        counts[compared(options.seed, number, options.show)] += 1
    for verdict, count in counts.most_common():
        print(f"{count:5} {verdict}")


def compared(seed: int, number: int, is_shown: bool) -> str:
    """Check one model, run it by hand, and say how the two agree."""
    layers, _, _, shapes = model_of(seed, number)
    hand = dict(zip(("exported", "onnx"), by_hand(seed, number), strict=True))
    kind, lines = checked(seed, number)
    is_right = all(words == RIGHT for words in hand.values())
    failing = [way for way, words in hand.items() if words != RIGHT and not any(each in words for each in REFUSALS)]
    verdict = f"{'right' if is_right else 'failing' if failing else 'refused'} by hand, {kind}"
    if is_shown or (is_right and kind == "finding") or (failing and kind != "finding"):
        print(f"{number}: {verdict}{', sizes open' if shapes else ''}: {', '.join(each.name for each in layers)}")
        print("\n".join([f"  by hand, {way}: {words}" for way, words in hand.items() if words != RIGHT]))
        print("\n".join(f"  {line}" for line in lines), flush=True)
    return verdict


# --- a model


def model_of(seed: int, number: int) -> tuple[list[Layer], nn.Module, Any, Any]:
    """The layers, the module, its input, and its `dynamic_shapes`; None where its sizes are fixed."""
    drawn = Random(f"{seed}:{number}")
    torch.manual_seed(drawn.randrange(1 << 30))
    start = drawn.choice(tuple(FORMS))
    layers = list(_stack(drawn, start, drawn.randint(3, 9)))
    model = nn.Sequential(*(layer.make(drawn) for layer in layers)).eval()
    is_open = drawn.random() < 0.33
    axes = {0: torch.export.Dim("b", min=1, max=16)}
    if start != "image":
        axes[1] = torch.export.Dim("t", min=2, max=32)
    inputs = FORMS[start](drawn)
    if is_open and inputs.shape[0] == 1:
        inputs = inputs.repeat(2, *[1] * (inputs.dim() - 1))  # torch.export takes a size of 1 for a fixed one
    return layers, model, inputs, (axes,) if is_open else None


def _stack(drawn: Random, form: str, count: int) -> Iterator[Layer]:
    for _ in range(count):
        layer = drawn.choice([each for each in LAYERS if each.takes == form])
        form = layer.gives
        yield layer
    if form == "vector":
        yield HEAD


# --- by difftvm


def checked(seed: int, number: int) -> tuple[str, list[str]]:
    """What `difftvm.check` says: "nothing", "finding", or "refused", and its words."""
    _, model, inputs, shapes = model_of(seed, number)
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = difftvm.check(model, inputs, folder=Path(folder), reduce=False, dynamic_shapes=shapes)
        except difftvm.FindingError as error:
            return "finding", [f"finding: {each.line}" for each in error.findings]
        except NothingRan as why:
            return "refused", [str(why)]
        except ValueError as why:
            return "invalid", [str(why)]
    lines = [f"not run: {lane}: {why}" for lane, why in found.not_run]
    lines += [f"elsewhere: {each}" for each in found.elsewhere]
    lines += [f"not judged: {each}" for each in found.not_judged]
    lines += [f"{count} not judged: {why}" for why, count in found.unjudged]
    lines += [f"not confirmed: {each}" for each in found.not_confirmed]
    lines += [f"in difftvm's form: {each.line}" for each in found.in_form]
    if found.not_given:
        return "not as it is", [found.not_given, *lines]
    if found.none_judged or not found.judged:
        return "none judged", lines
    return "not whole" if not found.whole else "nothing", lines


# --- by hand

_pool: list[ProcessPoolExecutor] = []


def by_hand(seed: int, number: int) -> tuple[str, str]:
    """How TVM does through the exported program and through the file of ONNX: "right", or what is wrong. It runs in
    another process, which may die."""
    if not _pool:
        _pool.append(ProcessPoolExecutor(1, initializer=_silent))
    try:
        return _pool[0].submit(_both_ways, seed, number).result(MOST_SECONDS)
    except BrokenProcessPool:
        how = "the process died"
    except TimeoutError:
        how = f"no result in {MOST_SECONDS} s"
        for process in _pool[0]._processes.values():
            process.kill()
    _pool.clear()
    return how, how


def _silent() -> None:
    logging.disable(logging.WARNING)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # TVM writes its warnings there


def _both_ways(seed: int, number: int) -> tuple[str, str]:
    warnings.simplefilter("ignore")
    _, model, inputs, shapes = model_of(seed, number)
    with torch.no_grad():
        wanted = model(inputs).numpy()
        return _tried(_through_export, model, inputs, shapes, wanted), _tried(
            _through_onnx, model, inputs, shapes, wanted
        )


def _tried(way: Any, model: nn.Module, inputs: Any, shapes: Any, wanted: Any) -> str:
    try:
        got = way(model, inputs, shapes)
    except Exception as error:  # whatever an exporter or TVM raises
        lines = str(error).strip().splitlines()
        return f"{type(error).__name__}: {lines[-1][:200] if lines else ''}"
    if got.shape != wanted.shape:
        return f"shape {list(got.shape)} instead of {list(wanted.shape)}"
    if got.dtype != wanted.dtype:
        return f"{got.dtype} instead of {wanted.dtype}"
    error = np.abs(got.astype(np.float64) - wanted).max() / max(np.abs(wanted).max(), 1e-6)
    return RIGHT if error < MOST_ERROR else f"wrong by {error:.1e} of the largest number"


def _through_export(model: nn.Module, inputs: Any, shapes: Any) -> Any:
    from tvm.relax.frontend.torch import from_exported_program

    exported = torch.export.export(model, (inputs,), dynamic_shapes=shapes)
    return _compiled(from_exported_program(exported), inputs)


def _through_onnx(model: nn.Module, inputs: Any, shapes: Any) -> Any:
    from tvm.relax.frontend.onnx import from_onnx

    program = torch.onnx.export(model, (inputs,), dynamo=True, dynamic_shapes=shapes, verbose=False)
    return _compiled(from_onnx(program.model_proto), inputs)


def _compiled(module: Any, inputs: Any) -> Any:
    import tvm

    machine = tvm.relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
    result = machine["main"](tvm.runtime.tensor(inputs.numpy()))
    return (result if isinstance(result, tvm.runtime.Tensor) else result[0]).numpy()


if __name__ == "__main__":
    main()
