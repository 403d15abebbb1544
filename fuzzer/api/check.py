"""Check that TVM compiles a model as PyTorch runs it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from fuzzer.api.checked import Checked, NothingJudged, NothingRan, NotWhole
from fuzzer.api.finding_error import FindingError
from fuzzer.api.model_cases import cases_of, require_no
from fuzzer.api.model_check import ModelCheck
from fuzzer.api.module_lanes import cannot_run, module_lanes, only_compiled
from fuzzer.api.progress import WatchedLab, shown
from fuzzer.api.relax_modules import check_modules, is_relax_module
from fuzzer.api.shared_fleet import shared_fleet
from fuzzer.api.tracebacks import is_answer
from fuzzer.cases.open_sizes import lanes_of_given
from fuzzer.isolate.module_job import ModuleJob
from fuzzer.lanes.model_lanes import LaneChoice, choice, lanes_for
from fuzzer.system.files import own_folder
from fuzzer.system.terminal import say
from fuzzer.toolchains.lanes import in_toolchains, named
from fuzzer.toolchains.registry import finder
from generators.graph import Invalid
from oracles.lane import LaneSpec
from oracles.transforms import TRANSFORMS, ModuleForm, own_transform, transform_named

__tracebackhide__ = is_answer

FOLDER = Path(".difftvm")
"""Where findings are saved if the caller names no folder, below the working directory."""


def check(
    model: Any,
    inputs: Any = None,
    *,
    lanes: str | None = None,
    target: Any = None,
    pipeline: str | None = None,
    opt_level: int | None = None,
    passes: Sequence[str] = (),
    toolchain: str = "host",
    preload: str | Path | None = None,
    folder: str | Path | None = None,
    reduce: bool = True,
    aliasing: bool = False,
    strict: bool = False,
    dynamic_shapes: Any = None,
    weights: str | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Checked:
    """Compile a model with TVM in several ways, and compare each result with PyTorch's; that of an ONNX file with
    onnxruntime's.

    Each element may differ by the measured tolerance that campaigns use. TVM runs in other processes: whatever it does,
    this process goes on.

    model      one of
               - a torch.nn.Module. It is exported as it is, so call `model.eval()` first where that matters
               - the path of an .onnx file of at most 5,000 nodes. TVM imports its own nodes, at its opset. Where
                 onnxruntime and the reference evaluator of the onnx package do not agree, its values are not judged
               - the path of a .pt2 file
               - a case, or the path of a folder with case.json
               - a tvm.IRModule of Relax, or the path of the .json that `tvm.ir.save_json` wrote. It is judged by its
                 meaning: what its operators compute by their definitions, before and after the passes
    inputs     for a module a tensor, a tuple of positional tensors, or a dict by name; for a file a dict of numpy
               arrays by name, or the path of an .npz file or of a folder with input_0.pb, input_1.pb, ..., where those
               that are left out are drawn, or for several runs a list of these; for a case nothing; for a Relax
               module a sequence of arrays, or a dict by the names of main's parameters, where those left out are drawn
    lanes      comma-separated globs; `fuzz lanes` lists the names. None: the plain lanes for llvm, through the
               importers that fit: relax-export-llvm and relax-onnx-dynamo-llvm, for an .onnx file
               relax-onnx-model-llvm. "all-plain" or "*": the plain lanes, those for c too, with the file of the
               exporter before (dynamo=False). A Relax module has lanes of its own: relax-module-llvm, relax-module-zero
               without optional passes, and relax-module-c, which is for c
    target     another target for which these lanes run too: a text such as "cuda -arch=sm_90", "opencl", "c" or
               "llvm -mcpu=skylake-avx512", a dictionary, or a tvm.target.Target, whose host is not taken. Where this
               machine has no device for it, or nothing here runs its code, its lanes only compile, and `not_judged`
               says so
    pipeline   the passes of the compilation in all lanes: "default", "zero" or "cpu_generic"
    opt_level  that of tvm.transform.PassContext in all lanes, 0 to 4
    passes     names of passes of `oracles/transforms.py`, which each lane runs on the imported module in this order. A
               pass that requires others gets them before it. `own:NAME` is one that `preload` registers
    toolchain  the TVM to use, by name; `fuzz toolchain list` lists them
    preload    a Python file that each process with TVM executes first, such as one that registers your own pass
    folder     where findings are saved; by default `.difftvm` in the working directory
    reduce     False: a failure is saved as it is, which takes a fraction of the time. That of a Relax module always is
    aliasing   True: an output that shares memory with an input is a failure, where PyTorch's has memory of its own
    strict     True: a model that was not compiled whole, or of which no value was judged, is a failure
    dynamic_shapes
               for a module, as torch.export takes them: these sizes stay open, and the compiled model runs at those of
               the inputs, at 1, 2 and 7, and at the largest that is allowed if that is at most 64, and
               1,024 for all open sizes together
    weights    the numbers of parameters and buffers of floating point: "own" for those of the model, at most 512 MiB,
               or "drawn". By default, a module has its own, and those of a file are drawn
    sizes      numbers for the open sizes of an .onnx file, by their names. Where neither these nor inputs are given,
               they are 2, and the compiled model runs at 1 and 7 too, where the file takes these

    Lanes run the model as it is: the program that torch.export makes of the module. Only where that cannot be written
    (`Checked.not_given`), they run a model of the same calls, whose failures are only listed (`Checked.in_form`). So is
    a failure of an exporter, of onnxruntime or of PyTorch, which is none of TVM's (`Checked.elsewhere`).

    A model is checked as a whole: an operator that difftvm does not know is called as it is in the exported program,
    and sizes that depend on data are those of the inputs. What draws random numbers, is no operator of PyTorch's own,
    or has a value that no case can hold is cut out, and `not_covered` names it. Then the parts before and after it are
    checked, the latter with the values that PyTorch computes there; those of a file with drawn values.

    Raises `FindingError`, an AssertionError, where a lane fails in three of three runs; with `strict`, `NotWhole`, an
    AssertionError, where no lane fails and a part of the model was not compiled, or `NothingJudged` where none of its
    values was judged. Raises `Invalid`, a ValueError,
    where there is nothing to check: no operator is known, the reference refuses the model, or no lane ran. Raises
    `EnvironmentMissing` where the toolchain is not installed or does not start.
    """
    began = time.monotonic()
    wanted, first = choice(lanes, target, pipeline, opt_level), _passes(passes)
    loaded = Path(preload) if preload else None
    if is_relax_module(model):
        useless = {"weights": weights, "sizes": sizes, "dynamic_shapes": dynamic_shapes, "aliasing": aliasing or None}
        require_no("a Relax module", **useless)
        checked = _check_module(model, inputs, module_lanes(wanted, first), toolchain, loaded, _folder(folder))
        return _strictly(checked) if strict else checked
    with shown("difftvm.check") as line:
        found = cases_of(model, inputs, dynamic_shapes, weights, sizes)
        chosen = lanes_of_given(found.cases[0], _lanes(wanted, first, toolchain, found.dialect))
        lab = WatchedLab(shared_fleet(loaded), line)
        run = ModelCheck(lab, chosen, _folder(folder), loaded, reduce, forms=found.forms, drawn=found.drawn)
        run.aliasing = aliasing and not found.not_covered  # what is cut out gives inputs that the model has not
        run.in_form = bool(found.not_given)
        for case in found.cases[: found.samples]:
            run.run(case)
        for case in found.cases[found.samples :]:
            with suppress(Invalid):  # the reference does not take these sizes
                run.run(case)
        checked = run.checked(len(found.cases), found.not_covered, found.not_given, began)
    for each in checked.in_form:
        say(f"seen in difftvm's form of the model, not in yours ({checked.not_given}): {each.line}; {each.folder}")
    if run.of_model:
        raise FindingError(run.of_model, checked)
    if not checked.ran and not checked.not_confirmed and not checked.in_form:
        raise NothingRan(checked)
    return _strictly(checked) if strict else checked


def _strictly(checked: Checked) -> Checked:
    """Raise `NotWhole` unless all of the model was compiled, and `NothingJudged` where no value of it was judged."""
    if not checked.whole:
        raise NotWhole(checked)
    if checked.none_judged:
        raise NothingJudged(checked)
    return checked


def _check_module(
    module: Any, inputs: Any, jobs: Mapping[str, ModuleJob], toolchain: str, preload: Path | None, folder: Path
) -> Checked:
    began = time.monotonic()
    lacking = {name: why for name, job in jobs.items() if (why := cannot_run(job.target))}
    names = [name for name in jobs if name not in lacking]
    found = check_modules([module], inputs, [jobs[name] for name in names], finder(preload)(toolchain), folder, preload)
    if found.failures:
        raise FindingError(found.failures)
    answers = dict(zip(names, (answer for _, answer in found.done), strict=True))
    ran = tuple(name for name, answer in answers.items() if not answer.kind)
    not_run = tuple((name, f"{each.stage}: {each.message}") for name, each in answers.items() if each.kind)
    not_run += tuple(lacking.items())
    unknown = tuple(dict.fromkeys(each.unknown for each in answers.values() if each.unknown))
    compiled = tuple(f"{name}: {only_compiled(jobs[name].target)}" for name in ran if only_compiled(jobs[name].target))
    seconds = time.monotonic() - began
    checked = Checked(ran, not_run, found.not_confirmed, (), 1, seconds, not_judged=unknown + compiled)
    if not ran and not found.not_confirmed:
        raise NothingRan(checked)
    return checked


def _folder(folder: str | Path | None) -> Path:
    return own_folder(Path(folder or FOLDER), FOLDER).resolve()


def _lanes(wanted: LaneChoice, passes: tuple[str, ...], toolchain: str, dialect: str) -> tuple[LaneSpec, ...]:
    chosen = in_toolchains(lanes_for(wanted, dialect), named(toolchain))
    if not passes:
        return chosen
    return tuple(replace(lane, name=f"{lane.name}-passes", passes=passes + lane.passes) for lane in chosen)


def _passes(passes: Sequence[str]) -> tuple[str, ...]:
    """The passes, each after those that it requires. Raise `Invalid` for a name that no row has."""
    if isinstance(passes, str):
        raise Invalid(f"passes is a string: pass a list of names, such as [{passes!r}]")
    known = {row.name for row in TRANSFORMS}
    if unknown := [name for name in passes if name not in known and own_transform(name) is None]:
        raise Invalid(f"there is no pass {unknown[0]!r}; oracles/transforms.py lists them")
    wanted = tuple(_with_required(passes))
    for before, name in pairwise(wanted):
        if _lowers(before) and not _lowers(name):
            raise Invalid(f"the pass {name} cannot follow {before}, which is one of the last steps of a compilation")
    return wanted


def _lowers(name: str) -> bool:
    return transform_named(name).form is ModuleForm.LOWERED


def _with_required(passes: Iterable[str]) -> Iterator[str]:
    """The passes, each after those that it requires."""
    done: set[str] = set()
    for name in passes:
        for each in (*(need for need in transform_named(name).after if need not in done), name):
            done.add(each)
            yield each
