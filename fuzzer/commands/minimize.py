"""`fuzz minimize`: reduces a saved finding again, a case that fails, or a model of ONNX that fails."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from fuzzer.campaign import minimize as minimizing
from fuzzer.campaign.minimize import Investigation, Minimized, MinimizeRequest
from fuzzer.campaign.store import Store
from fuzzer.commands.options import JsonFlag, PreloadFile
from fuzzer.commands.progress import Counted, working
from fuzzer.findings import finding_file
from fuzzer.isolate.fleet import Fleet
from fuzzer.system.exit_codes import Exit
from fuzzer.system.terminal import echo, next_line, number_of, print_json, say
from fuzzer.toolchains.registry import finder
from fuzzer.triage.size import Size
from generators.graph import Invalid

MEASURES: Mapping[str, str] = {
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


def minimize(
    source: Annotated[
        Path,
        typer.Argument(metavar="SOURCE", help="A folder of crashes/, any folder with a case.json, or an .onnx file."),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder for results; by default `minimized` beside crashes/.")
    ] = None,
    lanes: Annotated[
        str, typer.Option(metavar="GLOB", help="For a case or a model: the lanes to run; `*`: the plain ones.")
    ] = "*",
    toolchain: Annotated[
        str | None, typer.Option(metavar="NAME", help="A toolchain instead of the finding's own.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Candidates that run at the same time.")] = max(
        1, os.cpu_count() or 1
    ),
    preload: PreloadFile = None,
    json: JsonFlag = False,
) -> None:
    """Reduce a finding again, or an .onnx file: `fuzz minimize crashes/x`. Exit code 78: it does not always fail.

    Of an .onnx file, up to 5,000 nodes are reduced to few that fail in the same way."""
    wanted = minimizing.read(source, lanes, toolchain)
    if wanted.model:
        say(wanted.model.line)
        if line := wanted.model.open_sizes:
            say(line)
    folder = out or _beside(source)
    before = _saved(folder)

    def kept() -> str:
        new = len(_saved(folder) - before)
        return f"{f'{new} reduced findings are in {folder}' if new else 'nothing is saved'}; {source} is unchanged"

    with (
        working("reducing", kept) as shown,
        Store(folder, None) as store,
        Fleet(Path(tempfile.mkdtemp(prefix="difftvm-")), finder(preload)) as fleet,
    ):
        found = minimizing.run(Counted(fleet, shown), store, wanted, workers)
    done = found.minimized
    without_failure = () if done else tuple(_without_failure(found, wanted))
    if json:
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
    beside = (folder.parent if folder.name == "crashes" else folder) / "minimized"
    if beside.is_symlink():
        raise Invalid(f"{beside}: it is a link, and nothing is written through one; name another folder with --out")
    return beside


def _saved(campaign: Path) -> set[Path]:
    return set(campaign.glob(f"crashes/*/{finding_file.NAME}"))


def _without_failure(found: Investigation, request: MinimizeRequest) -> Iterator[str]:
    """Lines about a case on which no lane fails: how the lanes ended, and which nodes of a model they did not have."""
    yield "no lane fails on it"
    yield from (f"  {line}" for line in found.endings)
    if request.model and (line := request.model.left_out):
        yield f"  {line}"


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
        f"  {os.path.relpath(each.folder)}",
    )
