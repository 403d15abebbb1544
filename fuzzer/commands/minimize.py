"""`fuzz minimize`: reduces a saved finding again, a case that fails, or a model of ONNX that fails."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign.store.store import Store
from fuzzer.commands.model_options import InputFiles, OpenSizes, open_sizes
from fuzzer.commands.options import FindingCampaign, JsonFlag, PreloadFile
from fuzzer.commands.progress import counting, working
from fuzzer.commands.with_options import with_options
from fuzzer.findings import finding_file
from fuzzer.findings.named import finding_named
from fuzzer.isolate.fleet import Fleet
from fuzzer.lanes.model_lanes import choice
from fuzzer.minimize import minimize as minimizing
from fuzzer.minimize.minimize import Investigation, Minimized
from fuzzer.seeds.own_weights import Weights
from fuzzer.seeds.sample import samples_of
from fuzzer.system import temporary
from fuzzer.system.exit_codes import Exit
from fuzzer.system.terminal import echo, next_line, number_of, print_json, say
from fuzzer.toolchains.registry import finder
from fuzzer.triage.size import Size
from generators.graph import Invalid

FOLDER = "minimized"
"""The campaign of results, beside the one that has the finding."""

MEASURES: Mapping[str, str] = {
    "given": "whole given models",
    "operators": "operators",
    "intricacy": "possible plainer operators",
    "lane": "features of the lane",
    "symbols": "open sizes",
    "outputs": "outputs",
    "inputs": "inputs",
    "elements": "elements",
    "ranks": "dimensions",
    "dtypes": "unusual dtypes",
    "frills": "optional parts",
    "attributes": "numbers in attributes",
    "values": "complexity of values",
}
"""What people read for the fields of `Size`, which are the keys of `--json`. docs/reduction.md explains each."""


@dataclass(frozen=True, slots=True)
class MinimizeOptions:
    """What the user wrote. `fuzz minimize --help` lists the options in this order."""

    source: Annotated[
        Path,
        typer.Argument(metavar="SOURCE", help="A finding, any folder with a case.json, or an .onnx file."),
    ]
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder for results; by default `minimized` beside crashes/.")
    ] = None
    lanes: Annotated[
        str | None,
        typer.Option(
            metavar="GLOB",
            help="For a case or a model: the lanes to run, instead of those for llvm; `*`: the plain ones.",
        ),
    ] = None
    target: Annotated[
        str | None,
        typer.Option(metavar="TARGET", help="Run these lanes for it too, such as 'cuda -arch=sm_90' or c."),
    ] = None
    pipeline: Annotated[
        str | None, typer.Option(metavar="NAME", help="The pipeline of these lanes: default, zero, cpu_generic.")
    ] = None
    opt_level: Annotated[int | None, typer.Option(metavar="N", help="The opt_level of these lanes, 0 to 4.")] = None
    toolchain: Annotated[str | None, typer.Option(metavar="NAME", help="A toolchain instead of the finding's own.")] = (
        None
    )
    weights: Annotated[
        Weights, typer.Option(help="For an .onnx file: draw its weights of floating point, or take its own.")
    ] = Weights.DRAWN
    inputs: InputFiles = None
    sizes: OpenSizes = None
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Candidates that run at the same time.")] = max(
        1, os.cpu_count() or 1
    )
    campaign: FindingCampaign = None
    preload: PreloadFile = None
    json: JsonFlag = False


@with_options(MinimizeOptions)
def minimize(options: MinimizeOptions) -> None:
    """Reduce a finding again, or an .onnx file: `fuzz minimize crashes/x`. Exit code 78: it does not always fail.

    Of an .onnx file, up to 5,000 nodes are reduced to few that fail in the same way."""
    options = replace(options, source=finding_named(options.source, options.campaign))
    source = options.source
    choices = choice(options.lanes, options.target, options.pipeline, options.opt_level)
    own_weights = options.weights is Weights.OWN
    wanted = [
        minimizing.read(source, choices, options.toolchain, own_weights=own_weights, sample=sample)
        for sample in samples_of(options.inputs or (), open_sizes(options.sizes))
    ]
    if model := wanted[0].model:
        say(model.line)
        if line := model.open_sizes:
            say(line)
    folder = options.out or _beside(source)
    before = _saved(folder)

    def kept() -> str:
        new = len(_saved(folder) - before)
        return f"{f'{new} reduced findings are in {folder}' if new else 'nothing is saved'}; {source} is unchanged"

    with (
        working("reducing", kept) as shown,
        Store(folder, None) as store,
        Fleet(temporary.new_folder(), finder(options.preload)) as fleet,
    ):
        lab = counting(fleet, shown)
        found = minimizing.joined([minimizing.run(lab, store, each, options.workers) for each in wanted])
    done = found.minimized
    without_failure = () if done else tuple(_without_failure(found))
    if options.json:
        for line in without_failure:
            say(line)
        print_json([_document(each) for each in done])
    elif not done:
        echo(*without_failure, next_line("lanes"), sep="\n")
    else:
        echo(*(line for each in done for line in lines(each)), sep="\n")
        saved = next((each.folder for each in done if each.folder), None)
        echo(next_line("--replay", os.path.relpath(saved or source)))
    raise typer.Exit(Exit.GONE if done and all(each.folder for each in done) else Exit.DIFFERENT)


def _beside(source: Path) -> Path:
    """A campaign of its own: no running campaign is disturbed, and every verb can read the result."""
    folder = source.resolve().parent
    beside = (folder.parent if folder.name == "crashes" else folder) / FOLDER
    if beside.is_symlink():
        raise Invalid(f"{beside}: it is a link, and nothing is written through one; name another folder with --out")
    return beside


def _saved(campaign: Path) -> set[Path]:
    return set(campaign.glob(f"crashes/*/{finding_file.NAME}"))


def _without_failure(found: Investigation) -> Iterator[str]:
    """Lines about a case on which no lane fails: how the lanes ended."""
    yield "no lane fails on it"
    yield from (f"  {line}" for line in found.endings)


def _document(each: Minimized) -> dict[str, object]:
    plain: dict[str, object] = msgspec.to_builtins(each, enc_hook=str)
    return {**plain, "before": each.before._asdict(), "after": each.after._asdict()}


def lines(each: Minimized) -> Sequence[str]:
    if each.folder is None:
        why = "known behaviour" if each.steps or each.calls else "it does not always fail"
        return (f"{each.kind} on {each.lane}: {each.again} runs fail; nothing is saved: {why}",)
    both = zip(Size._fields, each.before, each.after, strict=True)
    smaller = [f"{MEASURES[name]} {was} -> {now}" for name, was, now in both if was != now]
    ahead = f", and {each.ahead} more that were not needed" if each.ahead else ""
    return (
        f"{each.kind} on {each.lane}: {', '.join(each.ops)}; {number_of(each.calls, 'call')}{ahead}"
        f"{'' if each.finished else '; stopped at the limit of calls or time'}",
        f"  {', '.join(smaller) or 'not smaller than before'}",
        *([f"  known: the same failure as {each.known_as}"] if each.known_as else []),
        f"  {os.path.relpath(each.folder)}",
    )
